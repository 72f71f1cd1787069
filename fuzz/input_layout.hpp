// What a fuzzer's bytes mean:
//
//   [ data ... ][ decision n-1 ] ... [ decision 1 ][ decision 0 ][ n ][ tail ][ mode ]
//     front                                                                  back
//
//   data      the tape that the input is drawn from
//   decision  kDecisionBytes each: see byte_schedule.hpp
//   n         how many decisions (as many of them as there are bytes for)
//   tail      0: past the end of the data every choice is 0, the simplest.  Else the data goes on
//             with pseudo-random bytes, so that a short input can draw a long vector whose
//             elements differ.  Each depends on this seed and its own place in the tape alone, so
//             that data can be added in front of the tail without changing the rest of it.
//   mode      build and warp model: two bits each; all ones choose the unoptimised build, and
//             lockstep
//
// As the schedule is counted from the back, bytes that a fuzzer inserts into the data do not
// shift it.  Any bytes are a valid input; missing ones are 0.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace warpcheck::fuzz {

inline constexpr std::size_t kDecisionBytes = 8;
inline constexpr std::size_t kDecisionsMax = 64;
inline constexpr std::size_t kTrailerBytes = 3;
// How long the tape is when `tail` is not 0.
inline constexpr std::size_t kTailBytes = 8 * 1024;

struct InputLayout {
  std::span<const std::uint8_t> data = {};
  std::span<const std::uint8_t> decisions = {};  // a multiple of kDecisionBytes; decision 0 is last
  std::uint8_t tail = 0;
  std::uint8_t mode = 0;

  [[nodiscard]] std::size_t decision_count() const { return decisions.size() / kDecisionBytes; }
  [[nodiscard]] std::span<const std::uint8_t> decision(std::size_t i) const {
    return decisions.subspan(decisions.size() - (i + 1) * kDecisionBytes, kDecisionBytes);
  }
  [[nodiscard]] bool unoptimized() const { return (mode & 0b0011) == 0b0011; }
  [[nodiscard]] bool lockstep() const { return (mode & 0b1100) == 0b1100; }
};

// A view of `bytes`.
InputLayout split_input(std::span<const std::uint8_t> bytes);
std::vector<std::uint8_t> join_input(const InputLayout& input);

// What follows the data at `place` of the tape.
std::uint8_t tail_byte(std::uint8_t tail, std::size_t place);

// The bytes of the tape: the data, and its tail if it has one, kTailBytes in all or as many as
// there are data.
std::vector<std::uint8_t> tape_bytes(const InputLayout& input);

}  // namespace warpcheck::fuzz
