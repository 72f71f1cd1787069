// Random well-formed PTX programs, for comparing interpreters with each other and with a real GPU.
//
// A program is one kernel, `k(.param .u64 out)`, for one block, and functions that it calls.  It
// contains any exact forms of forms.def, loads, stores and atomics of every width in every space,
// warp operations and barriers, and branches, loops, jump tables and calls (by name, by register,
// recursive) that depend on the thread.  It always ends, it has no data race, and its results are
// defined: float multiplications state their rounding, so no assembler may contract them; warp
// operations name exactly the lanes that reach them; threads share memory only between barriers, or
// by atomics whose order does not matter.
//
// It stores all registers of each thread, kOutputBytes, in `out`.  After them are kPrivateBytes per
// thread that the thread reads and writes, and kCellBytes that all threads access.
//
// Everything between the lines `//+` and `//-`, which nest, may be removed, and the rest is still
// such a program, or refers to a missing label: see shrink.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace warpcheck::vgpu {

inline constexpr std::uint32_t kOutputBytes = 80;
inline constexpr std::uint32_t kPrivateBytes = 32;
inline constexpr std::uint32_t kCellBytes = 64;

struct ProgramOptions {
  int target = 90;           // the sm that must support it
  bool approximate = false;  // also contains instructions whose results may differ from a GPU's
  bool matrices = true;      // also contains matrix products
  bool known = false;        // contains only what the reference supports
};

// Returns the text of the program with this seed; the same on every machine.
std::string random_program(std::uint64_t seed, const ProgramOptions& options = {});

// Returns the number of threads that a program is made for, which is in its first line.  Throws
// std::runtime_error if it is not.
std::uint32_t threads_of(std::string_view text);

// The size of `out` for that many threads, and the initial value of its byte `at`.
inline constexpr std::size_t buffer_bytes(std::uint32_t threads) {
  return std::size_t{threads} * (kOutputBytes + kPrivateBytes) + kCellBytes;
}
inline constexpr std::uint8_t initial_byte(std::size_t at) {
  return static_cast<std::uint8_t>(at * 37 + (at >> 8) * 11 + 5);
}

}  // namespace warpcheck::vgpu
