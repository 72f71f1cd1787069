// The layout of a fuzzer's bytes:
//
//   [ data ... ][ decision n-1 ] ... [ decision 1 ][ decision 0 ][ n ][ tail ][ mode ]
//     front                                                                  back
//
//   data      the tape from which the input is drawn
//   decision  kDecisionBytes each: see byte_schedule.hpp
//   n         the number of decisions (as many of them as there are bytes for)
//   tail      0: past the end of the data every choice is 0, the simplest.  Otherwise the data
//             continues with pseudo-random bytes, so that a short input can draw a long vector of
//             different elements.  Each byte depends on this seed and its position in the tape
//             alone, so that adding data does not change the rest of the tail.
//   mode      build, warp model and claim: two bits each; all ones choose the unoptimised build,
//             lockstep, and a claim of the pair in place of its reference.  Two more bits and the
//             tail say which claim.  So a quarter of random inputs are trials of claims
//
// The schedule is counted from the back, so bytes that a fuzzer inserts into the data do not shift
// it.  Any bytes are a valid input; missing ones are 0.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace warpcheck::fuzz {

inline constexpr std::size_t kDecisionBytes = 8;
inline constexpr std::size_t kDecisionsMax = 64;
inline constexpr std::size_t kTrailerBytes = 3;
// The length of the tape if `tail` is not 0.
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
  // Which of a pair's `count` claims is tried; none: that it agrees with its reference.
  [[nodiscard]] std::optional<std::size_t> claim(std::size_t count) const {
    if (count == 0 || (mode & 0b1100'0000) != 0b1100'0000) return std::nullopt;
    return (tail + (mode >> 4 & 0b11)) % count;
  }
};

// A view of `bytes`.
InputLayout split_input(std::span<const std::uint8_t> bytes);
std::vector<std::uint8_t> join_input(const InputLayout& input);

// The tail's byte at `place` of the tape.
std::uint8_t tail_byte(std::uint8_t tail, std::size_t place);

// The bytes of the tape: the data, extended by its tail, if it has one, to kTailBytes in all.
std::vector<std::uint8_t> tape_bytes(const InputLayout& input);

}  // namespace warpcheck::fuzz
