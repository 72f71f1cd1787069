// Partial order sampling: Yuan, Yang, Gu, "Partial Order Aware Concurrency Sampling", CAV 2018.
//
// Every pending event, the next access of a warp, has a random priority of its own, and the highest
// runs.  When an event has run, those that race with it draw anew; so orders that matter are drawn
// evenly, and those of events that commute are not drawn at all.  Of two accesses that race, each
// behind accesses that race with nothing, either comes first with a probability that falls with the
// number of those, not exponentially as in a random walk.
//
// What a warp is about to touch is known when it gets there, so in launches of up to 64 warps each
// goes on to its next access before any of them makes one.  In others a warp that was not chosen
// yet keeps its priority until it has come to its access.
//
// Asking costs, so it is not asked where nothing is to be decided: an access of a number at which
// the accesses of several warps of the launch raced with nothing is no event, unless it turns out
// that one of them did.  A launch in which it would be asked often is thinned out: each time that
// it was asked 256 times, half of the accesses that were left count.
//
// Lanes are threads, too: under `independent` most launches hold back some of the lanes that are
// about to access memory, now and then.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "vgpu/schedule/prng.hpp"
#include "vgpu/schedule/schedule.hpp"
#include "vgpu/schedule/touched_words.hpp"

namespace warpcheck::vgpu {

class Pos : public Strategy {
 public:
  explicit Pos(std::uint64_t seed) : prng_(seed), seed_(seed) {}

  void begin(std::uint32_t launch, std::uint32_t blocks, std::uint32_t warps_per_block) override;
  std::uint64_t next_access(std::uint32_t launch, WarpId warp, std::uint64_t from) override;
  StartOrder choose_start(const StartPoint& point) override;
  [[nodiscard]] bool decides_stops() const override { return true; }
  [[nodiscard]] bool decides_releases() const override { return true; }
  [[nodiscard]] bool sees_words() const override { return true; }
  std::optional<Choice> decide(const SchedulePoint& point) override;
  std::uint32_t choose_operation(const OperationPoint& point) override;

 protected:
  // An access, or what a warp will do next.
  struct Event {
    std::uint64_t priority = 0;
    std::uint64_t drawn_at = 0;  // time
    bool is_known = false;       // an access, before which its warp waits
    bool is_stuck = false;       // its warp has yielded since its last access
    bool reads = false, writes = false;
    Toucher toucher;                   // of no certain lane
    std::vector<std::uint64_t> words;  // as in AccessedWords; empty: races with nothing
    std::vector<std::uint8_t> lanes;
    std::uint64_t low = 0, high = 0;  // of `words`, where there are any
    std::size_t place = 0;            // is_known: in `waiting_`

    [[nodiscard]] bool races_with(const Event& other) const;
  };

  // For strategies that steer.  Whether a known event had better come after all that do not wait;
  // that it runs now; which lanes stay behind at it, 0: none.
  [[nodiscard]] virtual bool waits(const Event& /*event*/) const { return false; }
  virtual void runs(const Event& /*event*/) {}
  [[nodiscard]] virtual std::uint32_t lanes_behind(const SchedulePoint& point, const Event& event);

  [[nodiscard]] const TouchedWords& touched() const { return touched_; }

  Prng prng_;

 private:
  Event& event_of(WarpId warp);
  [[nodiscard]] std::uint64_t priority_of(WarpId warp) const;
  void draw(Event& event);
  Event& arrive(const SchedulePoint& point);
  void run(WarpId warp);
  bool touch(const Event& event);
  void learn(std::uint64_t index, bool races);
  [[nodiscard]] bool has_raced(const Event& event) const;
  // Does not wait; has to come to its next access first; by priority.
  using Rank = std::tuple<bool, bool, std::uint64_t>;
  [[nodiscard]] Rank rank_of(WarpId warp) const;
  [[nodiscard]] WarpId highest(const SchedulePoint& point) const;

  std::uint64_t seed_;
  std::uint64_t salt_ = 0;             // priorities at first are a hash of it and the warp
  std::uint64_t top_ = UINT64_MAX;     // of those, the one of the warp that comes first
  std::optional<WarpId> first_;        // that warp
  bool follows_all_ = false;           // every warp is to come to its access first
  std::uint64_t lowest_ = 0;           // priority so far, of warps that did not get on
  std::uint64_t hold_odds_ = 0;        // at one event in so many lanes are held; 0: at none
  std::uint64_t time_ = 0;             // events that ran
  std::uint64_t asked_ = 0, gap_ = 0;  // since the launch was thinned out; accesses left out
  std::vector<std::uint8_t> learned_;  // by index of the access
  std::unordered_map<std::uint64_t, Event> events_;  // of warps that were asked
  std::vector<Event*> waiting_;                      // those that are known
  TouchedWords touched_;
};

}  // namespace warpcheck::vgpu
