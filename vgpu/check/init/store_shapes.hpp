// What stores tell about the objects that they write: which gaps between written bytes may be
// padding, and which are elements that nothing has written.
//
// Padding follows from alignment (C++, [basic.align]; the layout of the Itanium C++ ABI, 2.4, which
// nvcc and the host compiler share).  A gap before a member is shorter than the member's alignment.
// One at the end of a struct is shorter than the alignment of the struct, at a multiple of which it
// ends.  Members are scalars and the vectors of CUDA, whose alignment is their size, so the widths
// of the stores beside a gap bound it.  alignas() can make a struct's alignment larger than that of
// all members: then the lanes of a warp, which write a struct each, are farther apart than a store
// is wide, and more than one store fills what lies between.
//
// Everything else is an element: the rest of an array of ints, a struct that nobody has filled, and
// also a tail of a buffer that is larger than what is used.  Nobody but the program knows whether
// the host looks at that; to copy what is there and no more is the mend, and costs less.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "vgpu/check/init/init_shadow.hpp"
#include "vgpu/machine/access.hpp"

namespace warpcheck::vgpu {

// One row of lanes that store.
struct StoreShape {
  std::uint8_t width = 1;    // bytes of a lane's store; of an element where elements tile memory
  std::uint32_t stride = 0;  // bytes from lane to lane; 0: only one lane, or no regular distance

  [[nodiscard]] bool is_spaced() const { return stride > width; }
  friend bool operator==(const StoreShape&, const StoreShape&) = default;
};

class StoreShapes {
 public:
  StoreShapes();
  // Forgets all but the ordinary shapes.
  void reset();
  // What InitShadow keeps of a byte that `access` writes: one of its states.
  std::uint8_t state_for(const Access& access) {
    const bool is_alone =
        access.pattern == Pattern::uniform || (access.mask & (access.mask - 1)) == 0;
    if (is_alone) return state_of_alone(access.bytes);
    if (access.pattern != Pattern::strided) return state_for_spaced(access);
    const bool is_vector = access.element_bytes != 0 && access.element_bytes < access.bytes;
    return state_of_row(is_vector ? access.element_bytes : access.bytes);
  }
  // The same of a row of lanes that are side by side, and of one lane, or of all in one place.
  static std::uint8_t state_of_row(std::uint32_t width) {
    return static_cast<std::uint8_t>(InitShadow::kFirstShape + std::countr_zero(width));
  }
  static std::uint8_t state_of_alone(std::uint32_t width) {
    return static_cast<std::uint8_t>(state_of_row(width) + kAlone);
  }
  // Whether that is a state that earlier stores have had.
  [[nodiscard]] bool knows(const Access& access) const;
  // There may be shapes that nobody remembers.
  [[nodiscard]] bool is_full() const { return known_ == InitShadow::kShapes; }
  // Whether the bytes from `begin` up to `end`, which nothing has written, may be padding of what
  // is copied from byte `first` on.
  [[nodiscard]] bool may_be_padding(const InitShadow& shadow, std::uint32_t begin,
                                    std::uint32_t end, std::uint32_t first) const;

 private:
  // Widths are 1, 2, 4, 8, 16: first the rows without gaps, then single stores.
  static constexpr std::uint32_t kWidths = 5;
  static constexpr std::uint32_t kAlone = kWidths;

  std::uint8_t state_for_spaced(const Access& access);
  [[nodiscard]] StoreShape shape_at(const InitShadow& shadow, std::uint32_t offset) const;
  [[nodiscard]] bool ends_struct(const InitShadow& shadow, std::uint32_t begin,
                                 std::uint32_t end) const;
  [[nodiscard]] static bool is_gap_of_lanes(const InitShadow& shadow, const StoreShape& shape,
                                            std::uint32_t begin, std::uint32_t end);

  std::array<StoreShape, InitShadow::kShapes> shapes_{};
  std::uint32_t known_ = 0;
};

}  // namespace warpcheck::vgpu
