// Padding that kernels move: struct copies, sorts of structs, stagings through shared memory.
// Padding that a program copies unchanged is still padding.
#pragma once

#include <cstdint>
#include <map>
#include <memory>

#include "vgpu/machine/access.hpp"
#include "vgpu/machine/undefined/memory_shadow.hpp"
#include "vgpu/machine/undefined/moved_values.hpp"
#include "vgpu/machine/undefined/store_shapes.hpp"

namespace warpcheck::vgpu {

class MovedPadding {
 public:
  explicit MovedPadding(const StoreShapes& shapes) : shapes_(shapes) {}

  void clear() { of_programs_.clear(); }
  // Records for a load whether it reads only padding; it has read undefined bytes in `lanes`.
  void see(const Access& load, std::uint32_t lanes, const MemoryShadow& shadow);
  // Returns whether a store writes only padding into an element, and no value calculated from it.
  bool is_stored(const Access& store, std::uint32_t element);

 private:
  struct OfProgram {
    std::unique_ptr<MovedValues> values;          // null: not needed so far
    std::map<std::uint32_t, bool> reads_padding;  // by pc of a load: it has read only padding
  };
  [[nodiscard]] bool is_padding(const MemoryShadow& shadow, ptx::Space space,
                                std::uint32_t at) const;
  template <typename States>
  [[nodiscard]] bool is_in_gap(const States& states, std::uint32_t at) const;

  const StoreShapes& shapes_;
  std::map<const Program*, OfProgram> of_programs_;
};

}  // namespace warpcheck::vgpu
