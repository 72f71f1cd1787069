// Formats the text of a printf() of device code (CUDA C++ Programming Guide, "Formatted Output").
//
// Conversions, flags, widths and precisions are those of C, except that a precision cannot be an
// argument: an H200 prints `%.*f` unchanged.  Arguments are in a buffer in nvcc's layout: each at a
// multiple of its size; integers of up to 4 bytes take 4 bytes, all others 8.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace warpcheck::vgpu {

struct PrintArguments {
  // Returns the value of `bytes` (4 or 8) at `offset` in the buffer.
  std::function<std::uint64_t(std::uint32_t offset, std::uint32_t bytes)> value;
  // Returns the string at a device address.
  std::function<std::string(std::uint64_t address)> text;
};

struct PrintedText {
  std::string text;
  int arguments = 0;               // the result of printf()
  std::uint32_t record_bytes = 0;  // size of the format's address, the arguments and their strings
};

inline constexpr int kPrintArgumentsMax = 32;  // further conversions are printed unchanged

// Formats the text.  Throws Refusal for %n.
PrintedText format_printf(std::string_view format, const PrintArguments& arguments);

}  // namespace warpcheck::vgpu
