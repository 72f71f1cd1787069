// The tape of choices: the only source of everything that is generated.
//
// After minithesis: a generated value is a pure function of a sequence of choices, so a saved
// sequence reproduces it.  A tape reads its choices from
// - bytes (recorded earlier, or libFuzzer's), decoded from the front; past their end every choice
//   is 0, and choice 0 is by convention the simplest one; or
// - a source of random numbers (a seed of our own, or RapidCheck's Random by its adaptor).
// It records every choice, so `Tape::of_bytes(tape.recorded())` gives the same choices again,
// whatever the first source was.
//
// A random choice may lean (towards edges, towards small numbers).  Only its outcome is recorded,
// so that bytes represent values and not the way in which they were drawn: a fuzzer edits numbers,
// and shrinking a recorded choice shrinks a number.
//
// A choice among n takes the fewest whole bytes that hold n - 1, little endian.  So a choice among
// 2^32 is four literal bytes, which a fuzzer's compare hooks can write directly.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

namespace warpcheck {

// One recorded choice: `value` out of [0, limit); limit 0 means 2^64.
struct Choice {
  std::uint64_t value = 0;
  std::uint64_t limit = 0;
  friend bool operator==(const Choice&, const Choice&) = default;
};

class Tape {
 public:
  // Yields uniformly distributed 64-bit numbers.
  using RandomSource = std::function<std::uint64_t()>;

  static Tape of_bytes(std::span<const std::uint8_t> bytes);  // copies the bytes
  static Tape of_seed(std::uint64_t seed);
  static Tape of_random(RandomSource source);
  // Replays the values of choices; a value that is too large for a choice is taken modulo its
  // limit.
  static Tape of_choices(std::vector<Choice> choices);

  // The next choice: uniform in [0, limit) from a random source; limit 0 means 2^64.
  std::uint64_t below(std::uint64_t limit);

  // The next choice, in [0, limit).  On a random tape, lean() makes it from choices of its own, and
  // only the outcome is recorded.  A replaying tape reads the outcome.
  template <class Lean>
  std::uint64_t leaning(std::uint64_t limit, Lean lean) {
    if (!random_) return below(limit);
    const bool outermost = std::exchange(recording_, false);
    const std::uint64_t value = lean();
    recording_ = outermost;
    record({value, limit});
    return value;
  }

  [[nodiscard]] const std::vector<Choice>& choices() const { return choices_; }
  // The choices so far as bytes for of_bytes().
  [[nodiscard]] std::vector<std::uint8_t> recorded() const;
  // Bytes read so far from the front; the schedule may use the bytes after them.
  [[nodiscard]] std::size_t bytes_read() const { return position_; }

 private:
  Tape() = default;
  std::uint64_t next_from_bytes(std::uint64_t limit);
  void record(Choice choice) {
    if (recording_) choices_.push_back(choice);
  }

  RandomSource random_;  // empty: read from bytes_ or replay_
  std::vector<std::uint8_t> bytes_;
  std::vector<Choice> replay_;
  bool replays_choices_ = false;
  bool recording_ = true;
  std::size_t position_ = 0;  // in bytes_ or replay_
  std::vector<Choice> choices_;
};

// Number of bytes that a choice among `limit` takes: 0 for limit 1, 8 for limit 0 (2^64).
[[nodiscard]] unsigned choice_bytes(std::uint64_t limit);

}  // namespace warpcheck
