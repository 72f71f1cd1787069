#include "harness/input/tape.hpp"

#include <bit>
#include <utility>

#include "vgpu/schedule/prng.hpp"

namespace warpcheck {

namespace {

// Maps 64 random bits to [0, limit) (Lemire 2019, without the rejection: the bias is at most
// limit / 2^64).
std::uint64_t scale(std::uint64_t random, std::uint64_t limit) {
  if (limit == 0) return random;
  return static_cast<std::uint64_t>((static_cast<unsigned __int128>(random) * limit) >> 64);
}

std::uint64_t modulo(std::uint64_t value, std::uint64_t limit) {
  return limit == 0 ? value : value % limit;
}

}  // namespace

unsigned choice_bytes(std::uint64_t limit) {
  return (static_cast<unsigned>(std::bit_width(limit - 1)) + 7) / 8;
}

Tape Tape::of_bytes(std::span<const std::uint8_t> bytes) {
  Tape tape;
  tape.bytes_.assign(bytes.begin(), bytes.end());
  return tape;
}

Tape Tape::of_seed(std::uint64_t seed) {
  return of_random([random = vgpu::Prng(seed)]() mutable { return random.next(); });
}

Tape Tape::of_random(RandomSource source) {
  Tape tape;
  tape.random_ = std::move(source);
  return tape;
}

Tape Tape::of_choices(std::vector<Choice> choices) {
  Tape tape;
  tape.replay_ = std::move(choices);
  tape.replays_choices_ = true;
  return tape;
}

std::uint64_t Tape::below(std::uint64_t limit) {
  std::uint64_t value = 0;
  if (random_) {
    value = scale(random_(), limit);
  } else if (replays_choices_) {
    if (position_ < replay_.size()) value = modulo(replay_[position_++].value, limit);
  } else {
    value = next_from_bytes(limit);
  }
  record({value, limit});
  return value;
}

std::uint64_t Tape::next_from_bytes(std::uint64_t limit) {
  std::uint64_t value = 0;
  const unsigned count = choice_bytes(limit);
  for (unsigned i = 0; i < count && position_ < bytes_.size(); ++i) {
    value |= std::uint64_t{bytes_[position_++]} << (8 * i);
  }
  return modulo(value, limit);
}

std::vector<std::uint8_t> Tape::recorded() const {
  std::vector<std::uint8_t> bytes;
  for (const Choice& choice : choices_) {
    for (unsigned i = 0; i < choice_bytes(choice.limit); ++i) {
      bytes.push_back(static_cast<std::uint8_t>(choice.value >> (8 * i)));
    }
  }
  return bytes;
}

}  // namespace warpcheck
