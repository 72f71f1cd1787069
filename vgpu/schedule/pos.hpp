// Partial order sampling: Yuan, Yang, Gu, "Partial Order Aware Concurrency Sampling", CAV 2018.
//
// Every pending event, the next access of a warp, has a random priority, and the event with the
// highest priority runs.  When an event has run, the events that race with it draw new priorities.
// So orders that matter are drawn evenly, and the order of events that commute is not drawn at all.
// If each of two racing accesses follows accesses that race with nothing, each order of the two has
// a probability that falls with the number of those, but not exponentially as in a random
// walk.
//
// The words that a warp is about to touch are known only when it reaches its access.  So in
// launches of up to 64 warps, each warp runs to its next access before any of them executes one.
// In larger launches, a warp that was not chosen yet keeps its priority until it reaches its
// access.
//
// Each call of decide() has a cost, so it is avoided where nothing has to be decided.  If the
// accesses with a certain number raced with nothing in several warps of the launch, accesses with
// that number are not events, unless one of them later races.  A launch with many events is thinned
// out: after every 256 calls, only half of the remaining accesses count.
//
// Lanes are threads too: under `independent`, most launches occasionally hold some of the lanes
// that are about to access memory.
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
  // An access, or the unknown next access of a warp.
  struct Event {
    std::uint64_t priority = 0;
    std::uint64_t drawn_at = 0;  // in time_
    bool is_known = false;       // it is an access that its warp waits to execute
    bool is_stuck = false;       // its warp has yielded since its last access
    bool reads = false, writes = false;
    Toucher toucher;                   // its lane is not set
    std::vector<std::uint64_t> words;  // as in AccessedWords; empty: it races with nothing
    std::vector<std::uint8_t> lanes;
    std::uint64_t low = 0, high = 0;  // the range of `words`, if there are any
    std::size_t place = 0;            // if is_known: its index in waiting_

    [[nodiscard]] bool races_with(const Event& other) const;
  };

  // Hooks for strategies that steer. waits(): a known event should come after all events that do
  // not wait.  runs(): the event runs now.  lanes_behind(): the lanes to hold at the event; 0:
  // none.
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
  // (does not wait; must reach its next access first; priority)
  using Rank = std::tuple<bool, bool, std::uint64_t>;
  [[nodiscard]] Rank rank_of(WarpId warp) const;
  [[nodiscard]] WarpId highest(const SchedulePoint& point) const;

  std::uint64_t seed_;
  std::uint64_t salt_ = 0;             // initial priorities are a hash of this and the warp
  std::uint64_t top_ = UINT64_MAX;     // the initial priority of the warp that comes first
  std::optional<WarpId> first_;        // that warp
  bool follows_all_ = false;           // every warp runs to its access first
  std::uint64_t lowest_ = 0;           // the lowest priority so far, of warps that made no progress
  std::uint64_t hold_odds_ = 0;        // one event in this many holds lanes; 0: none does
  std::uint64_t time_ = 0;             // number of events that have run
  std::uint64_t asked_ = 0, gap_ = 0;  // calls since the last thinning; accesses left out
  std::vector<std::uint8_t> learned_;  // by number of the access
  std::unordered_map<std::uint64_t, Event> events_;  // by warp, for warps that were asked about
  std::vector<Event*> waiting_;                      // the known events
  TouchedWords touched_;
};

}  // namespace warpcheck::vgpu
