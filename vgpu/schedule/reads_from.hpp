// Scheduling guided by reads-from pairs: Wolff, Shi, Duck, Mathur, Roychoudhury, "Greybox Fuzzing
// for Concurrency Testing", ASPLOS 2024.
//
// Two runs in which every read sees the same write behave alike, so a new pair is worth more than
// another run with known pairs.  The paper contributes: pairs as feedback, a random schedule with
// the constraint of one pair, and partial order sampling (pos.hpp) for the random part.  Each
// launch aims at one of the pairs that the search has seen, and aimed at, least often: the read
// waits until the write was made, and other writes then wait until it was read.  A read that is to
// find the initial value comes before all writes.  An event waits only by a low priority, until the
// pair was seen or a warp makes no progress, so no schedule is excluded.
//
// The paper keeps and mutates a corpus of sets of such constraints.  Here each launch has one
// constraint, and only the number of times that each pair was seen is kept.
//
// The strategy is deterministic: a trial is a function of its seed and of the earlier trials of the
// search.  Its decisions are recorded and replayed like those of every other strategy.
#pragma once

#include <cstdint>
#include <optional>

#include "vgpu/schedule/pos.hpp"
#include "vgpu/schedule/reads_from_seen.hpp"

namespace warpcheck::vgpu {

class ReadsFrom final : public Pos {
 public:
  // seen: the pairs seen by earlier trials of the search, to which this trial adds; null: this is
  // the first trial.
  explicit ReadsFrom(std::uint64_t seed, ReadsFromSeen* seen = nullptr)
      : Pos(seed), seen_(seen == nullptr ? &own_ : seen) {}

  void begin(std::uint32_t launch, std::uint32_t blocks, std::uint32_t warps_per_block) override;
  std::optional<Choice> decide(const SchedulePoint& point) override;

 private:
  [[nodiscard]] bool waits(const Event& event) const override;
  void runs(const Event& event) override;
  [[nodiscard]] std::uint32_t lanes_behind(const SchedulePoint& point, const Event& event) override;
  void note_read(const Event& event, const Toucher& reader, const TouchedWords::Word* word);

  ReadsFromSeen own_;
  ReadsFromSeen* seen_;
  std::optional<ReadsFromPair> aim_;
  ReadsFromPair last_{};  // lanes of a row mostly have the same pair
};

}  // namespace warpcheck::vgpu
