// A batch of transforms: what cufftExec* computes.
#pragma once

#include <memory>
#include <vector>

#include "vgpu/libraries/cufft/layout.hpp"
#include "vgpu/libraries/cufft/line_transform.hpp"

namespace warpcheck::libraries::fourier {

class Transforms {
 public:
  explicit Transforms(const Shape& shape);

  // Reads the elements of the input regions and writes those of the output regions, which may
  // overlap.  The views are those of the regions.
  //   direction: of complex-to-complex transforms; the others have only one
  struct Memory {
    const std::vector<Region>& regions;
    const LibraryView* views;
  };
  void compute(const Memory& input, const Memory& output, Direction direction) const;

  [[nodiscard]] const Shape& shape() const { return shape_; }

 private:
  struct Line;  // scratch of one computation
  void transform(std::vector<Complex>& values, Direction direction, Line& line) const;
  void real_to_half(std::vector<Complex>& values, Line& line) const;
  void half_to_real(std::vector<Complex>& values, Line& line) const;
  void along(int axis, Lengths counts, std::vector<Complex>& values, Direction direction,
             Line& line) const;

  Shape shape_;
  std::array<std::shared_ptr<const LineTransform>, 3> axes_;
};

}  // namespace warpcheck::libraries::fourier
