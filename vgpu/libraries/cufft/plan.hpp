// A cuFFT plan: its transforms, its stream and its work area.
//
// The vendor's transforms need a work area of an undocumented size.  Here it is as large as the
// complex side of the transforms, and each execution writes to it.  So unordered executions of one
// plan race on it, as the guide says of concurrent executions that share a work area, and an area
// provided by the user is checked for its size and its lifetime.
#pragma once

#include <cufft.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "vgpu/libraries/cufft/transforms.hpp"
#include "vgpu/libraries/stand_in.hpp"

namespace warpcheck::libraries::fourier {

// A call that the documentation forbids.
struct Rejected {
  cufftResult result = CUFFT_INVALID_VALUE;
  std::string why;
};

// The arguments of cufftPlanMany and similar functions.
struct Request {
  int rank = 1;
  Lengths lengths{1, 1, 1};  // of `rank` dimensions
  // Nothing: the basic layout.
  std::optional<Storage> input, output;
  Transform transform = Transform::complex_to_complex;
  Precision precision = Precision::single;
  std::int64_t batch = 1;
};
// Throws Rejected if the sizes are invalid.
Shape shape_of(const Request& request);
std::size_t work_bytes(const Shape& shape);

class Plan {
 public:
  Plan() = default;
  ~Plan();
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;

  // Throws Rejected if there is already a shape.
  void make(const Shape& shape);
  [[nodiscard]] bool is_made() const { return transforms_ != nullptr; }

  void set_stream(cudaStream_t stream) { stream_ = stream; }
  void set_auto_allocation(bool allocates) { allocates_ = allocates; }
  void set_work_area(void* area);
  [[nodiscard]] std::size_t work_bytes() const;
  [[nodiscard]] std::array<long long, 2>& properties() { return properties_; }

  // The transform that `function` computes; nothing: that of the plan.
  struct Use {
    std::optional<Transform> transform;
    std::optional<Precision> precision;
  };
  void execute(const Call& call, const Use& use, void* input, void* output, int direction) const;

 private:
  void free_work_area();
  void require(const Use& use, const void* input, const void* output, int direction) const;

  std::shared_ptr<const Transforms> transforms_;
  cudaStream_t stream_ = nullptr;
  bool allocates_ = true;
  void* work_area_ = nullptr;
  bool owns_work_area_ = false;
  std::array<long long, 2> properties_{};
};

}  // namespace warpcheck::libraries::fourier
