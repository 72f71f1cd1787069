// Random well-formed PTX programs, for comparing interpreters of them, and a real GPU.
//
// A program is one kernel, `k(.param .u64 out)`, for one block, and functions that it calls.  It
// draws from every form of forms.def that is exact, from loads, stores and atomics of every width
// in every space, from operations of a warp and barriers, and from branches, loops, jump tables
// and calls (by name, by register, recursive) that depend on the thread.  It always ends, it has
// no data race, and what it computes is defined: multiplications of floats say how they are
// rounded, so that no assembler may contract them; operations of a warp name exactly the lanes
// that come to them; threads share memory between barriers alone, or by atomics whose order does
// not matter.
//
// It leaves all registers of each thread, kOutputBytes, in `out`.  Behind them stand kPrivateBytes
// a thread that it reads and writes, and kCellBytes that all threads do.
//
// Everything between the lines `//+` and `//-`, which nest, may be left out, and what is left is
// still such a program, or names a label that is not there: see shrink.hpp.
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
  int target = 90;           // the sm that must be able to run it
  bool approximate = false;  // also instructions whose results may differ from a GPU's
  bool matrices = true;      // also products of matrices
  bool known = false;        // only what the reference knows
};

// The text of the program with this seed; the same on every machine.
std::string random_program(std::uint64_t seed, const ProgramOptions& options = {});

// Threads of the block that a program is made for: its first line says so.  Throws
// std::runtime_error if it does not.
std::uint32_t threads_of(std::string_view text);

// What `out` is made of for so many threads, and what its byte `at` holds before the launch.
inline constexpr std::size_t buffer_bytes(std::uint32_t threads) {
  return std::size_t{threads} * (kOutputBytes + kPrivateBytes) + kCellBytes;
}
inline constexpr std::uint8_t initial_byte(std::size_t at) {
  return static_cast<std::uint8_t>(at * 37 + (at >> 8) * 11 + 5);
}

}  // namespace warpcheck::vgpu
