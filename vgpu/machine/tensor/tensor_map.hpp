// Tensor maps: the 128 bytes that describe a tensor in global memory, a box of it, and how the box
// lies in shared memory (PTX ISA 9.0, 5.5; CUtensorMap of the driver API).
//
// To programs the bytes are opaque.  The layout here is our own, with a check of all of it, so that
// bytes that are no map are known as such.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "vgpu/ptx/opcode.hpp"

namespace warpcheck::vgpu {

inline constexpr std::size_t kTensorMapBytes = 128;
inline constexpr std::uint32_t kTensorDimensionsMax = 5;

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
};
// In the order of CUtensorMapSwizzle.
enum class TensorSwizzle : std::uint8_t { none, bytes_32, bytes_64, bytes_128 };

struct TensorMap {
  std::uint64_t address = 0;
  TensorElement element = TensorElement::u8;
  TensorSwizzle swizzle = TensorSwizzle::none;
  bool fills_with_nan = false;  // what lies outside of the tensor; else with zeros
  std::uint32_t rank = 1;
  std::array<std::uint64_t, kTensorDimensionsMax> size{};         // elements
  std::array<std::uint64_t, kTensorDimensionsMax - 1> stride{};   // bytes, of dimensions 1 to 4
  std::array<std::uint16_t, kTensorDimensionsMax> box{};          // elements
  std::array<std::uint8_t, kTensorDimensionsMax> element_step{};  // of dimension 0: not used

  friend bool operator==(const TensorMap&, const TensorMap&) = default;

  [[nodiscard]] std::uint32_t element_bytes() const;
  // How many elements of a dimension a box has.
  [[nodiscard]] std::uint32_t count(std::uint32_t dimension) const;
  // Of the rows of a box along dimension 0: bytes of one, how far apart they begin in shared
  // memory, and how many there are.
  [[nodiscard]] std::uint32_t row_bytes() const { return box[0] * element_bytes(); }
  [[nodiscard]] std::uint32_t row_pitch() const;
  [[nodiscard]] std::uint32_t rows() const;
  [[nodiscard]] std::uint32_t bytes() const { return rows() * row_bytes(); }

  // Bytes that swizzling stays within; 0: there is none.
  [[nodiscard]] std::uint32_t span() const {
    return swizzle == TensorSwizzle::none ? 0 : 16u << static_cast<unsigned>(swizzle);
  }
  // Where 16 bytes that lie at this address of shared memory without swizzling are with it.
  [[nodiscard]] std::uint64_t swizzled(std::uint64_t plain) const;
  // The bits of an element outside of the tensor.
  [[nodiscard]] std::uint64_t fill() const;
  // What a load makes of a word of memory.
  [[nodiscard]] std::uint32_t converted(std::uint32_t word) const;
  [[nodiscard]] bool converts() const;
  // The type of an element to an atomic operation; none: it has no such operation.
  [[nodiscard]] ptx::Type atomic_type(ptx::AtomOp op) const;
};

using TensorMapBytes = std::array<std::byte, kTensorMapBytes>;
TensorMapBytes pack(const TensorMap& map);
// Empty: no tensor map.
std::optional<TensorMap> unpack_tensor_map(const TensorMapBytes& bytes);

}  // namespace warpcheck::vgpu
