// The text that a printf() of device code writes (CUDA C++ Programming Guide, "Formatted Output").
//
// Conversions, flags, widths and precisions are C's, but that a precision cannot be an argument:
// an H200 prints `%.*f` as it stands.  Arguments lie in a buffer as nvcc writes it:
// each at a multiple of its size, integers of up to 4 bytes in 4, all others in 8.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace warpcheck::vgpu {

struct PrintArguments {
  // The value of `bytes` (4 or 8) at `offset` in the buffer.
  std::function<std::uint64_t(std::uint32_t offset, std::uint32_t bytes)> value;
  // The string at a device address.
  std::function<std::string(std::uint64_t address)> text;
};

struct PrintedText {
  std::string text;
  int arguments = 0;               // what printf() returns
  std::uint32_t record_bytes = 0;  // of the format's address, the arguments and their strings
};

inline constexpr int kPrintArgumentsMax = 32;  // further conversions are written as they stand

// Throws Refusal for %n.
PrintedText format_printf(std::string_view format, const PrintArguments& arguments);

}  // namespace warpcheck::vgpu
