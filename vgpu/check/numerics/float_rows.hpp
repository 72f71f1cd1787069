// Rows of registers as floating-point numbers: which lanes hold a NaN or an infinity, and the
// values as text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "vgpu/program/warp_rows.hpp"
#include "vgpu/ptx/vocabulary.hpp"

namespace warpcheck::vgpu {

enum class FloatFormat : std::uint8_t { none, f16, bf16, f16x2, bf16x2, f32, f32x2, f64 };

FloatFormat float_format_of(ptx::Type type);
std::string_view name_of(FloatFormat format);  // "f16", also of a pair
// Returns the number of elements in a register, 1 or 2, and the bytes of one.
std::uint32_t parts_of(FloatFormat format);
std::uint32_t part_bytes_of(FloatFormat format);

// The lanes that hold, in one part at least, an infinity or a NaN, and those that hold a NaN.
struct SpecialLanes {
  std::uint32_t any = 0, nan = 0;
};
SpecialLanes specials_in(FloatFormat format, const std::byte* row);
// Returns whether a row of words has a NaN or an infinity among floats of one byte; false for other
// types.
bool has_special_bytes(ptx::Type type, const std::byte* row);
// Returns whether bytes are those of a NaN or an infinity in some format, or have such a part.
bool may_be_special(const std::byte* bytes, std::size_t count);

// Returns the value of an element, which a double holds exactly.
double float_at(FloatFormat format, const std::byte* row, unsigned lane, std::uint32_t part = 0);
// Returns the shortest text that names the value in its format: "0.1", "inf", "nan".
std::string text_of_float(FloatFormat format, double value);

}  // namespace warpcheck::vgpu
