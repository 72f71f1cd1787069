// One execution: runs the threads in a requested order of events, and records what they do.
//
// A thread is a lane here.  As a strategy, this class is called before every access and, with weak
// memory, before every fence.  It lets the thread whose turn it is continue, and holds all others.
// After all requested events, threads run in the default order, except that a thread which would
// poll in vain waits until what it reads has changed.  As an observer of the same run, it receives
// what the threads do.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "vgpu/check/executions/covered_program.hpp"
#include "vgpu/check/executions/execution_trace.hpp"
#include "vgpu/machine/observer.hpp"
#include "vgpu/schedule/schedule.hpp"

namespace warpcheck::vgpu {

// What is known about programs; kept from one run to the next.
class CoveredPrograms {
 public:
  const CoveredProgram& of(const Program& program);

 private:
  std::map<const Program*, std::unique_ptr<CoveredProgram>> known_;
};

class ExecutionRun final : public Strategy, public Observer {
 public:
  static constexpr std::size_t kItemsMax = 10'000;

  struct Options {
    bool is_weak = true;                // weak memory, as in weak/
    std::uint64_t threads_max = 1'024;  // of a launch
  };
  //   order: the events that the run begins with
  ExecutionRun(std::vector<Event> order, const Options& options, CoveredPrograms& programs);

  // Returns the recorded trace after the run.
  [[nodiscard]] ExecutionTrace take_trace();

  std::uint64_t next_access(std::uint32_t launch, WarpId warp, std::uint64_t from) override;
  std::uint64_t next_fence(std::uint32_t launch, WarpId warp, std::uint64_t from) override;
  [[nodiscard]] bool decides_fences(std::uint32_t) const override { return options_.is_weak; }
  [[nodiscard]] bool decides_stops() const override { return true; }
  [[nodiscard]] bool decides_releases() const override { return true; }
  StartOrder choose_start(const StartPoint& point) override;
  std::optional<Choice> decide(const SchedulePoint& point) override;
  std::uint32_t choose_operation(const OperationPoint& point) override;
  [[nodiscard]] bool chooses_past(std::uint32_t) const override { return options_.is_weak; }
  std::optional<PastChoice> choose_past(const PastPoint& point) override;

  void on_sync(const Sync& sync) override;
  void on_access(const Access& access) override;
  void on_fence(const Fence& fence) override;
  void on_meeting(const Meeting& meeting) override;
  [[nodiscard]] Watched watches() const override {
    return {.trial_end = true, .collectives = true};
  }
  void on_collective(const Collective& event) override;
  void on_trial_end(std::span<const Allocation* const>) override { has_ended_ = true; }

 private:
  // What a thread that may be in an await has read in the current round of the await.
  struct Round {
    std::uint32_t loop = AwaitLoops::kNone;
    std::uint32_t first_pc = 0;
    std::vector<std::size_t> items;
    bool writes = false;
  };

  [[nodiscard]] const Event* turn() const {
    return next_ < order_.size() && !gave_up_ ? &order_[next_] : nullptr;
  }
  std::optional<Choice> decide_in_order(const SchedulePoint& point, const Event& turn);
  std::optional<Choice> decide_freely(const SchedulePoint& point);
  std::optional<Choice> decide_stop(const SchedulePoint& point) const;
  std::optional<Choice> hold(const SchedulePoint& point, std::uint32_t lanes);
  std::optional<Choice> preempt(const SchedulePoint& point, const WarpId& next);
  [[nodiscard]] bool polls_in_vain(const TrialThread& thread, std::uint32_t pc) const;
  void stray();

  void begin_launch(const Sync& sync);
  void add_event(const Event& event);
  void follow_await(const Event& event);
  [[nodiscard]] Event event_of(const Access& access, unsigned lane);
  [[nodiscard]] TrialThread thread_of(const WarpPlace& place, unsigned lane) const {
    return {launch_, {place.block, place.warp}, lane};
  }

  std::vector<Event> order_;
  std::size_t next_ = 0;  // index into order_
  Options options_;
  CoveredPrograms& programs_;
  ExecutionTrace trace_;
  bool has_ended_ = false;

  // State of the running launch.
  std::uint32_t launch_ = 0, launches_ = 0;
  const CoveredProgram* covered_ = nullptr;
  const Program* program_ = nullptr;
  Dim3 block_;
  std::uint32_t blocks_ = 0;
  bool is_weak_launch_ = false;

  bool asks_again_ = false;
  bool gave_up_ = false;     // the requested order; from now on the default order is used
  std::uint32_t asked_ = 0;  // since the last event
  std::set<WarpId> parked_;  // stopped before an access whose turn has not come
  std::optional<PastPoint> past_;
  std::uint32_t past_lanes_ = 0, past_writes_ = 0;  // chosen by the strategy

  std::map<TrialThread, Round> rounds_;
  std::map<std::uint64_t, std::size_t> changed_;  // by word: the number of items at its last write
  std::set<WarpId> vain_warps_;
  std::map<WarpId, std::uint32_t> vain_lanes_;
};

}  // namespace warpcheck::vgpu
