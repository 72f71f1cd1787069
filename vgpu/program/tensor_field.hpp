// The fields of tensor maps that tensormap.replace names, and how an instruction holds one.
// Source: PTX ISA 9.0, 9.7.9.28.
#pragma once

#include <cstdint>
#include <string_view>

namespace warpcheck::vgpu {

enum class TensorField : std::uint8_t {
  address,
  rank,
  box,
  size,
  stride,
  element_step,
  element,
  interleave,
  swizzle,
  atomicity,
  fill,
};

struct TensorFieldRow {
  std::string_view word;
  TensorField field;
  std::uint32_t dimensions = 0;  // have one such field each, by ordinal
  std::uint64_t values = 0;      // limit of a constant value; 0: any value, also from a register
  bool is_wide = false;          // .b64
};

// The tensor maps here do not support swizzling by 96 bytes.
inline constexpr TensorFieldRow kTensorFields[] = {
    {"global_address", TensorField::address, 0, 0, true},
    {"rank", TensorField::rank, 0, 0, false},
    {"box_dim", TensorField::box, 5, 0, false},
    {"global_dim", TensorField::size, 5, 0, false},
    {"global_stride", TensorField::stride, 4, 0, true},
    {"element_stride", TensorField::element_step, 5, 0, false},
    {"elemtype", TensorField::element, 0, 16, false},
    {"interleave_layout", TensorField::interleave, 0, 3, false},
    {"swizzle_mode", TensorField::swizzle, 0, 4, false},
    {"swizzle_atomicity", TensorField::atomicity, 0, 4, false},
    {"fill_mode", TensorField::fill, 0, 2, false},
};

constexpr const TensorFieldRow* find_tensor_field(std::string_view word) {
  for (const TensorFieldRow& row : kTensorFields) {
    if (row.word == word) return &row;
  }
  return nullptr;
}

// In Instr::packed.
struct TensorReplacement {
  TensorField field = TensorField::address;
  std::uint32_t ordinal = 0;
};
constexpr std::int64_t pack(const TensorReplacement& replacement) {
  return std::int64_t{replacement.ordinal} << 8 | static_cast<std::int64_t>(replacement.field);
}
constexpr TensorReplacement tensor_replacement_of(std::int64_t packed) {
  return {static_cast<TensorField>(packed & 0xff), static_cast<std::uint32_t>(packed >> 8)};
}

}  // namespace warpcheck::vgpu
