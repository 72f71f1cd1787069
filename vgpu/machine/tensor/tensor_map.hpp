// Tensor maps: the 128 bytes that describe a tensor in global memory, a box of it, and the layout
// of the box in shared memory (PTX ISA 9.0, 5.5; CUtensorMap of the driver API).
//
// For programs the bytes are opaque.  The layout here is our own; it contains a checksum, so that
// bytes which are no map are detected.  128 zero bytes are a map without fields, as a kernel makes
// it in shared memory in order to set them all by tensormap.replace.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "vgpu/program/tensor_field.hpp"
#include "vgpu/ptx/vocabulary.hpp"

namespace warpcheck::vgpu {

inline constexpr std::size_t kTensorMapBytes = 128;
inline constexpr std::uint32_t kTensorDimensionsMax = 5;
inline constexpr std::uint32_t kIm2colRankMin = 3;

// Returns the bit of a field in TensorMap::unset.
//   ordinal: of the dimension, for a field that each has
constexpr std::uint32_t field_bit(TensorField field, std::uint32_t ordinal) {
  std::uint32_t bit = 0;
  for (const TensorFieldRow& row : kTensorFields) {
    if (row.field == field) break;
    bit += row.dimensions == 0 ? 1 : row.dimensions;
  }
  return 1u << (bit + ordinal);
}

// In the order of CUtensorMapDataType.
enum class TensorElement : std::uint8_t {
  u8,
  u16,
  u32,
  s32,
  u64,
  s64,
  f16,
  f32,
  f64,
  bf16,
  f32_ftz,
  tf32,
  tf32_ftz,
  u4,         // 16 of them in 8 bytes
  u4_padded,  // in shared memory 8 bytes follow each 16 of them
  u6_padded,  // in shared memory 4 bytes follow each 16 of them
};
// In the order of CUtensorMapSwizzle.
enum class TensorSwizzle : std::uint8_t {
  none,
  bytes_32,
  bytes_64,
  bytes_128,
  bytes_128_of_32,            // in units of 32 bytes
  bytes_128_of_32_and_flips,  // not supported here
  bytes_128_of_64,
};

// The fewest elements that are moved as a whole, and their bytes in both memories.
struct TensorUnit {
  std::uint32_t elements = 1, global_bytes = 4, shared_bytes = 4;
  [[nodiscard]] bool is_padded() const { return global_bytes != shared_bytes; }
};

// In the order of CUtensorMapInterleave.
enum class TensorInterleave : std::uint8_t { none, slices_16, slices_32 };

// A map of the mode im2col (5.5.4): the tensor is a batch of images with channels, innermost, and
// one to three dimensions.  A copy takes `box[1]` pixels with `box[0]` channels each, one after the
// other from all images.  The base of a filter goes through a box of each image, and the pixel is
// at an offset from it.
//
// An interleaved map (5.5.1.2: NC/8DHWC8, NC/16DHWC16) cuts channels into slices of 16 or 32 bytes:
// a pixel of a slice is the smallest unit, dimension 0 is the width, and the dimension before the
// images is that of slices.  As recorded on an H200, a copy takes pixels of one slice, whatever the
// box says of slices or channels.
struct TensorMap {
  std::uint64_t address = 0;
  TensorElement element = TensorElement::u8;
  TensorSwizzle swizzle = TensorSwizzle::none;
  bool fills_with_nan = false;  // elements outside the tensor are NaN; otherwise zero
  std::uint32_t rank = 1;
  std::array<std::uint64_t, kTensorDimensionsMax> size{};         // elements
  std::array<std::uint64_t, kTensorDimensionsMax - 1> stride{};   // bytes, for dimensions 1 to 4
  std::array<std::uint16_t, kTensorDimensionsMax> box{};          // elements
  std::array<std::uint8_t, kTensorDimensionsMax> element_step{};  // unused for dimension 0
  TensorInterleave interleave = TensorInterleave::none;
  bool is_im2col = false;
  // im2col, for the dimensions of an image: the corners of the box, from the first and from the
  // last pixel.
  std::array<std::int16_t, kTensorDimensionsMax - 2> lower{}, upper{};
  // Fields that nothing has set (field_bit()).
  static constexpr std::uint32_t kAllUnset = 2 * field_bit(TensorField::fill, 0) - 1;
  std::uint32_t unset = 0;

  friend bool operator==(const TensorMap&, const TensorMap&) = default;

  [[nodiscard]] bool is_empty() const { return unset == kAllUnset; }
  // Returns the name in tensormap.replace of a field that a copy needs and that nothing has set;
  // empty: there is none.
  [[nodiscard]] std::string unset_field() const;
  [[nodiscard]] TensorUnit unit() const;
  // Returns the elements in 16 bytes of shared memory.
  [[nodiscard]] std::uint32_t chunk_elements() const {
    return 16 / unit().shared_bytes * unit().elements;
  }
  // Returns the bytes of a pixel of a slice; 0: the map is not interleaved.
  [[nodiscard]] std::uint32_t slice_bytes() const {
    return interleave == TensorInterleave::none ? 0 : 8u << static_cast<std::uint32_t>(interleave);
  }
  [[nodiscard]] bool is_interleaved() const { return interleave != TensorInterleave::none; }
  // The dimensions of an image, without channels: the width's, and the one behind the last.
  [[nodiscard]] std::uint32_t width_dimension() const { return is_interleaved() ? 0 : 1; }
  [[nodiscard]] std::uint32_t image_end() const { return rank - (is_interleaved() ? 2 : 1); }
  // Returns the first and the last position of the base of a filter along a dimension of images.
  [[nodiscard]] std::int64_t first(std::uint32_t dimension) const {
    return lower[dimension - width_dimension()];
  }
  [[nodiscard]] std::int64_t last(std::uint32_t dimension) const {
    return static_cast<std::int64_t>(size[dimension]) - 1 + upper[dimension - width_dimension()];
  }
  // Returns how many elements of a dimension a box contains.
  [[nodiscard]] std::uint32_t count(std::uint32_t dimension) const;
  // The rows of a box along dimension 0: the bytes of a row, the distance between rows in shared
  // memory, and the number of rows.
  [[nodiscard]] std::uint32_t row_bytes() const;
  [[nodiscard]] std::uint32_t row_pitch() const;
  [[nodiscard]] std::uint32_t rows() const;
  // Returns the bytes that an mbarrier counts for so many rows: padding is not counted.
  [[nodiscard]] std::uint32_t bytes(std::uint32_t rows) const;
  [[nodiscard]] std::uint32_t bytes() const { return bytes(rows()); }

  // Returns the number of bytes within which swizzling permutes; 0: no swizzling.
  [[nodiscard]] std::uint32_t span() const {
    if (swizzle > TensorSwizzle::bytes_128) return 128;
    return swizzle == TensorSwizzle::none ? 0 : 16u << static_cast<unsigned>(swizzle);
  }
  // Rows of an interleaved map that are shorter than that: an H200 leaves one and two pixels of 16
  // bytes as they are.  Others have no known layout.
  [[nodiscard]] bool has_short_rows() const {
    return is_interleaved() && !is_im2col && row_bytes() < span();
  }
  [[nodiscard]] bool has_known_layout() const {
    return !has_short_rows() || (interleave == TensorInterleave::slices_16 && row_bytes() <= 32);
  }
  // Returns the address, after swizzling, of 16 bytes of shared memory whose address without
  // swizzling is `plain`.
  [[nodiscard]] std::uint64_t swizzled(std::uint64_t plain) const;
  // Returns the bits of an element outside the tensor.
  [[nodiscard]] std::uint64_t fill() const;
  // Returns what a load converts a word of memory to.
  [[nodiscard]] std::uint32_t converted(std::uint32_t word) const;
  [[nodiscard]] bool converts() const;
  // Returns the element type for an atomic operation; none: the type does not support it.
  [[nodiscard]] ptx::Type atomic_type(ptx::AtomOp op) const;
};

using TensorMapBytes = std::array<std::byte, kTensorMapBytes>;
TensorMapBytes pack(const TensorMap& map);
// Decodes a map.  Empty: the bytes are no tensor map.
std::optional<TensorMap> unpack_tensor_map(const TensorMapBytes& bytes);

}  // namespace warpcheck::vgpu
