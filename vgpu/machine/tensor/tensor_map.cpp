#include "vgpu/machine/tensor/tensor_map.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include <fmt/format.h>

namespace warpcheck::vgpu {
namespace {

using ptx::AtomOp;
using ptx::Type;

constexpr std::uint64_t kMark = 0x5041'4d52'4f53'4e45;

struct Packed {
  std::uint64_t mark = kMark;  // with the bits of fields that nothing has set flipped
  std::uint64_t address = 0;
  std::array<std::uint64_t, kTensorDimensionsMax> size{};
  std::array<std::uint64_t, kTensorDimensionsMax - 1> stride{};
  std::array<std::uint16_t, kTensorDimensionsMax> box{};
  std::array<std::uint8_t, kTensorDimensionsMax> element_step{};
  std::uint8_t rank = 0, element = 0, swizzle = 0, fills_with_nan = 0;
  std::uint8_t mode = 0;                      // bit 0: im2col; above: the interleaved layout
  std::array<std::byte, 6> lower{}, upper{};  // three 16-bit integers each, not aligned
  std::uint64_t check = 0;
};
static_assert(sizeof(Packed) == kTensorMapBytes);

// FNV-1a over all bytes before the checksum.
std::uint64_t check_of(const TensorMapBytes& bytes) {
  std::uint64_t hash = 0xcbf2'9ce4'8422'2325;
  for (std::size_t at = 0; at < offsetof(Packed, check); ++at) {
    hash = (hash ^ std::to_integer<std::uint64_t>(bytes[at])) * 0x100'0000'01b3;
  }
  return hash;
}

constexpr std::uint32_t kSign = 0x8000'0000, kExponent = 0x7f80'0000;

// Rounds to the nearest tf32, ties to even; infinities stay, and like an H200 all NaNs become one
// NaN.
std::uint32_t to_tf32(std::uint32_t word) {
  constexpr std::uint32_t kCut = 13;
  if ((word & ~kSign) > kExponent) return 0x7fff'e000;
  if ((word & kExponent) == kExponent) return word;
  const std::uint32_t odd = word >> kCut & 1u;
  return (word + (1u << (kCut - 1)) - 1 + odd) >> kCut << kCut;
}

}  // namespace

std::string TensorMap::unset_field() const {
  const std::uint32_t dimensions = std::clamp(rank, 1u, kTensorDimensionsMax);
  for (const TensorFieldRow& row : kTensorFields) {
    // Units of 16 bytes are the first of the values of .swizzle_atomicity.
    if (row.field == TensorField::atomicity) continue;
    const std::uint32_t count = row.field == TensorField::stride ? dimensions - 1
                                : row.dimensions != 0            ? dimensions
                                                                 : 1;
    for (std::uint32_t ordinal = 0; ordinal < count; ++ordinal) {
      if ((unset & field_bit(row.field, ordinal)) == 0) continue;
      return row.dimensions == 0 ? std::string(row.word) : fmt::format("{} {}", row.word, ordinal);
    }
  }
  return {};
}

TensorUnit TensorMap::unit() const {
  switch (element) {
    case TensorElement::u8: return {1, 1, 1};
    case TensorElement::u16:
    case TensorElement::f16:
    case TensorElement::bf16: return {1, 2, 2};
    case TensorElement::u64:
    case TensorElement::s64:
    case TensorElement::f64: return {1, 8, 8};
    case TensorElement::u4: return {2, 1, 1};
    case TensorElement::u4_padded: return {16, 8, 16};
    case TensorElement::u6_padded: return {16, 12, 16};
    default: return {1, 4, 4};
  }
}

std::uint32_t TensorMap::count(std::uint32_t dimension) const {
  if (!is_interleaved() && dimension == 0) return box[0];
  if (is_interleaved() && dimension == rank - 2) return 1;
  const std::uint32_t step = element_step[dimension];
  return (box[dimension] + step - 1) / step;
}

std::uint32_t TensorMap::row_bytes() const {
  if (is_interleaved()) return is_im2col ? slice_bytes() : count(0) * slice_bytes();
  return box[0] / unit().elements * unit().shared_bytes;
}

std::uint32_t TensorMap::bytes(std::uint32_t rows) const {
  if (is_interleaved()) return rows * row_bytes();
  return rows * (box[0] / unit().elements) * unit().global_bytes;
}

// The pixels of a slice are adjacent.
std::uint32_t TensorMap::row_pitch() const {
  if (is_interleaved()) return row_bytes();
  return std::max(row_bytes(), span());
}

std::uint32_t TensorMap::rows() const {
  if (is_im2col) return box[1];
  std::uint32_t rows = 1;
  for (std::uint32_t dimension = 1; dimension < rank; ++dimension) rows *= count(dimension);
  return rows;
}

std::uint64_t TensorMap::swizzled(std::uint64_t plain) const {
  if (has_short_rows()) return plain;
  if (swizzle == TensorSwizzle::bytes_128_of_32) return plain ^ ((plain >> 7 & 3) << 5);
  if (swizzle == TensorSwizzle::bytes_128_of_64) return plain ^ ((plain >> 7 & 1) << 6);
  const std::uint64_t mask = (std::uint64_t{1} << static_cast<unsigned>(swizzle)) - 1;
  return plain ^ ((plain >> 7 & mask) << 4);
}

// Recorded on an H200; for 16-bit floats it is the value that fma.oob treats as out of bounds.
std::uint64_t TensorMap::fill() const {
  if (!fills_with_nan) return 0;
  const std::uint64_t bytes = unit().global_bytes;
  constexpr std::uint64_t kNan = 0x7ff7'7ff7'7ff7'7ff7;
  return bytes == 8 ? kNan : kNan & ((std::uint64_t{1} << 8 * bytes) - 1);
}

bool TensorMap::converts() const {
  return element == TensorElement::tf32 || element == TensorElement::tf32_ftz;
}

// The types whose name ends in FTZ keep subnormals, as on an H200.
std::uint32_t TensorMap::converted(std::uint32_t word) const {
  return converts() ? to_tf32(word) : word;
}

// The same types as for cp.reduce.async.bulk (PTX ISA 9.0, 9.7.9.25.4.2).
Type TensorMap::atomic_type(AtomOp op) const {
  const bool is_logic = op == AtomOp::and_ || op == AtomOp::or_ || op == AtomOp::xor_;
  switch (element) {
    case TensorElement::u32: return is_logic ? Type::b32 : Type::u32;
    case TensorElement::s32:
      return is_logic ? Type::b32 : op == AtomOp::inc || op == AtomOp::dec ? Type::none : Type::s32;
    case TensorElement::u64:
    case TensorElement::s64:
      if (is_logic) return Type::b64;
      if (op == AtomOp::inc || op == AtomOp::dec) return Type::none;
      return element == TensorElement::s64 && op != AtomOp::add ? Type::s64 : Type::u64;
    case TensorElement::f16:
    case TensorElement::bf16:
      if (op != AtomOp::add && op != AtomOp::min && op != AtomOp::max) return Type::none;
      return element == TensorElement::f16 ? Type::f16 : Type::bf16;
    case TensorElement::f32:
    case TensorElement::f32_ftz: return op == AtomOp::add ? Type::f32 : Type::none;
    case TensorElement::f64: return op == AtomOp::add ? Type::f64 : Type::none;
    default: return Type::none;
  }
}

TensorMapBytes pack(const TensorMap& map) {
  Packed packed;
  packed.mark = kMark ^ map.unset;
  packed.address = map.address;
  packed.size = map.size;
  packed.stride = map.stride;
  packed.box = map.box;
  packed.element_step = map.element_step;
  packed.rank = static_cast<std::uint8_t>(map.rank);
  packed.element = static_cast<std::uint8_t>(map.element);
  packed.swizzle = static_cast<std::uint8_t>(map.swizzle);
  packed.fills_with_nan = map.fills_with_nan ? 1 : 0;
  packed.mode = static_cast<std::uint8_t>((map.is_im2col ? 1u : 0u) |
                                          static_cast<unsigned>(map.interleave) << 1);
  packed.lower = std::bit_cast<std::array<std::byte, 6>>(map.lower);
  packed.upper = std::bit_cast<std::array<std::byte, 6>>(map.upper);
  TensorMapBytes bytes = std::bit_cast<TensorMapBytes>(packed);
  packed.check = check_of(bytes);
  std::memcpy(bytes.data() + offsetof(Packed, check), &packed.check, sizeof packed.check);
  return bytes;
}

std::optional<TensorMap> unpack_tensor_map(const TensorMapBytes& bytes) {
  TensorMap map;
  if (bytes == TensorMapBytes{}) {
    map.unset = TensorMap::kAllUnset;
    return map;
  }
  const auto packed = std::bit_cast<Packed>(bytes);
  const std::uint64_t unset = packed.mark ^ kMark;
  if (unset >= TensorMap::kAllUnset || packed.check != check_of(bytes)) return {};
  map.unset = static_cast<std::uint32_t>(unset);
  map.address = packed.address;
  map.size = packed.size;
  map.stride = packed.stride;
  map.box = packed.box;
  map.element_step = packed.element_step;
  map.rank = packed.rank;
  map.element = static_cast<TensorElement>(packed.element);
  map.swizzle = static_cast<TensorSwizzle>(packed.swizzle);
  map.fills_with_nan = packed.fills_with_nan != 0;
  map.is_im2col = (packed.mode & 1) != 0;
  map.interleave = static_cast<TensorInterleave>(packed.mode >> 1);
  map.lower = std::bit_cast<decltype(map.lower)>(packed.lower);
  map.upper = std::bit_cast<decltype(map.upper)>(packed.upper);
  return map;
}

}  // namespace warpcheck::vgpu
