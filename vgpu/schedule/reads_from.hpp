// Guided by reads-from pairs: Wolff, Shi, Duck, Mathur, Roychoudhury, "Greybox Fuzzing for
// Concurrency Testing", ASPLOS 2024.
//
// Two runs in which every read sees the same write behave alike, so what a search has not seen yet
// is worth more than another run of what it has.  From the paper are: pairs as feedback, a schedule
// that is random but for what one pair asks of it, and partial order sampling (pos.hpp) for the
// random part.  Each launch aims at one pair that the search has seen, and aimed at, least often:
// the read waits until the write was made, and other writes then wait until it was read; a read
// that is to find what was there before comes before all writes.  Waiting is a low priority and no
// more, and ends when the pair was seen or somebody does not get on, so nothing is ruled out.
//
// The paper keeps a corpus of sets of such constraints and mutates them; here is one constraint a
// launch, and of what was seen only how often.
//
// Deterministic: a trial is a function of its seed and of the trials that the search made before.
// What it decides is recorded and replayed as that of every other strategy.
#pragma once

#include <cstdint>
#include <optional>

#include "vgpu/schedule/pos.hpp"
#include "vgpu/schedule/reads_from_seen.hpp"

namespace warpcheck::vgpu {

class ReadsFrom final : public Pos {
 public:
  // seen: by the trials of the search so far, which this one adds to; null: this is the first one.
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
  ReadsFromPair last_{};  // lanes of a row mostly repeat it
};

}  // namespace warpcheck::vgpu
