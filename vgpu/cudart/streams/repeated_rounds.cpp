#include "vgpu/cudart/streams/repeated_rounds.hpp"

#include <algorithm>

namespace warpcheck::cudart {

bool RepeatedRounds::add(std::uint64_t hash, Kind kind,
                         const std::function<std::uint64_t()>& memory) {
  if (!round_.empty() && round_[at_].hash == hash) {
    const bool is_proven = at_ == 0 && !is_told_ && rounds_ >= compare_at_ && compare(memory);
    if (++at_ == round_.size()) {
      at_ = 0;
      ++rounds_;
    }
    return is_proven;
  }
  if (!round_.empty()) interrupt();
  latest_[count_++ % latest_.size()] = {hash, kind};
  find_round();
  return false;
}

// Looks for a round: the latest operations are those before them once more.
void RepeatedRounds::find_round() {
  const auto back = [&](std::size_t distance) -> const Entry& {
    return latest_[(count_ - 1 - distance) % latest_.size()];
  };
  for (std::size_t length = 1; length <= kOperationsMax && 2 * length <= count_; ++length) {
    std::size_t same = 0;
    while (same < length && back(same).hash == back(same + length).hash) ++same;
    if (same != length) continue;
    for (std::size_t i = length; i-- > 0;) round_.push_back(back(i));
    const auto has = [&](Kind kind) {
      return std::ranges::any_of(round_, [&](const Entry& one) { return one.kind == kind; });
    };
    // A launch that is repeated within a round is no round of its own.
    if (has(Kind::launch) && has(Kind::read)) {
      rounds_ = 2;
      return;
    }
    round_.clear();
  }
}

// Returns whether the memory is the same as at the beginning of the rounds before.
bool RepeatedRounds::compare(const std::function<std::uint64_t()>& memory) {
  const std::uint64_t now = memory();
  ++looks_;
  const bool has_changed = same_ != 0 && now != memory_;
  same_ = has_changed ? 0 : same_ + 1;
  memory_ = now;
  compare_at_ = has_changed ? 2 * rounds_ : rounds_ + 1;
  is_told_ = same_ == kSame;
  return is_told_;
}

}  // namespace warpcheck::cudart
