// The look-ahead: finds out whether a launch can still end, by running each thread alone.
//
// The next action of a thread depends on its registers, on what it reads, and on the threads that
// it meets at barriers and warp operations.  While memory does not change, blocks do not depend on
// each other, nor on the schedule (they are a Kahn network).  So each warp is run ahead alone,
// unobserved, one instruction at a time, until it waits for other threads or returns to an earlier
// state.  If all warps of all blocks do that, if none of them changes memory on its way, and if no
// block can start, then no schedule lets any of them do anything else: the launch is deadlocked.
// As soon as one warp ends, prints, or changes memory, the look-ahead proves nothing, and all state
// is restored.
//
// Three kinds of state change although a thread only polls:
//   - Registers that decide nothing: counters of attempts, times, pauses.  Those that differ after
//     a round are followed like undefined values (undefined.hpp).  If they reach no branch, no
//     address and no memory that others see, the round is the same for all their values.  A branch
//     may depend on them if both ways meet again within the round and have no effect (a pause).
//   - Memory that a round changes and changes back: a counter that goes up and down, or a flag that
//     two threads pass to and fro. Other threads may see the values in between, so this proves
//     less: Prospect::repeats.
//   - Memory that the host can write: Launch::host_runs says whether it may be doing so.
// If other work is concurrent with the launch (concurrent_work.hpp), it may change the global
// memory that the launch polls: Prospect::polls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "vgpu/machine/look_costs.hpp"
#include "vgpu/machine/observer.hpp"
#include "vgpu/machine/progress/diamond.hpp"
#include "vgpu/machine/progress/last_reads.hpp"
#include "vgpu/machine/progress/memory_changes.hpp"
#include "vgpu/machine/progress/noted_reads.hpp"
#include "vgpu/machine/progress/snapshot.hpp"
#include "vgpu/machine/progress/strong_writes.hpp"
#include "vgpu/machine/progress/waiting_threads.hpp"
#include "vgpu/machine/progress/warp_state.hpp"
#include "vgpu/machine/running_launch.hpp"
#include "vgpu/machine/sync/cluster_barriers.hpp"
#include "vgpu/machine/undefined/undefined_memory.hpp"
#include "vgpu/machine/warp/warps.hpp"

namespace warpcheck::vgpu {

enum class Prospect : std::uint8_t {
  goes_on,
  unknown,  // nothing is known within the limits of the search
  stuck,    // the launch cannot end, whatever the schedule
  polls,    // it cannot end unless concurrent work changes what it reads
  repeats,  // threads change memory and change it back
};

class Lookahead final : public Observer, private UndefinedMemory {
 public:
  struct Dependencies {
    RunningLaunch& launch;
    Warps& warps;
    ClusterBarriers& cluster_barriers;
    const StrongWrites& strong_writes;
    const WaitingThreads& waiting_threads;
  };
  // The launch is again what it was when this is destroyed.
  //   most: what it may cost, in units of LookCost; it ends without a result if it needs more
  explicit Lookahead(const Dependencies& dependencies, std::uint64_t most = LookCost::kNoLimit);
  Lookahead(const Lookahead&) = delete;
  Lookahead& operator=(const Lookahead&) = delete;

  // Examines all blocks, when no other block can start.  Ends at the first block that makes
  // progress.
  //   first_block: examined first, if it is resident
  Prospect look_at_launch(std::uint32_t first_block);
  // After look_at_launch(): does the same while writes are performed, because threads that change
  // memory for each other may do so in a cycle (Prospect::repeats).
  Prospect look_for_livelock();
  // Runs one warp alone.  Returns whether it only polls as long as what it reads is unchanged.
  //   polled: receives what it reads
  bool polls(Slot& slot, Warp& warp, std::vector<PolledBytes>& polled);
  // The same for the lanes of one fragment, without the other lanes of its warp.
  bool fragment_polls(Slot& slot, Warp& warp, std::size_t fragment);
  // Examines one warp in its present state, for a report, and adds what its lanes do.
  void look_at_warp(Slot& slot, Warp& warp, std::vector<Waiting>& waiting);
  // After look_at_launch(): adds what all threads do.
  void list(std::vector<Waiting>& waiting);

  [[nodiscard]] std::uint64_t steps() const { return steps_; }
  [[nodiscard]] const LookCost& cost() const { return cost_; }
  [[nodiscard]] bool reads_host_memory() const { return reads_host_memory_; }
  // Called before look_at_launch() if other work may be concurrent with the launch.
  void list_reads() { launch_reads_.begin(); }
  // After Prospect::polls: returns the global memory that was read; empty if there is too much.  A
  // thread that reads none of it is stuck, because no concurrent work can write its shared memory.
  [[nodiscard]] std::vector<PolledBytes> read_bytes() const { return launch_reads_.list(); }
  // Returns the block that makes progress; the next examination begins with it.
  [[nodiscard]] std::uint32_t restless_block() const { return restless_block_; }

  [[nodiscard]] Watched watches() const override { return {.launches = false, .blocks = false}; }
  void on_access(const Access& access) override;
  void on_print(const Print& /*print*/) override { has_effect_ = true; }

 private:
  // The result of running a warp alone.
  enum class Fate : std::uint8_t {
    runs,      // continues, so far
    waits,     // waits for others of its block
    spins,     // returns to an earlier state
    releases,  // releases threads that waited for it
    acts,      // ends, prints or changes memory
    unknown,   // none of these within the limits
  };
  using LocalWord = std::pair<const Allocation*, std::uint32_t>;  // and offset / 4
  // A branch that depends on an indifferent register, until both its ways have met.
  struct Fork {
    std::vector<Return> callers;
    std::uint32_t meets_at = 0, lanes = 0;
    std::vector<Ref> registers;  // that either way may write
    std::set<LocalWord> words;   // that either way may write
    FrameRows frame;
  };
  using Marks = std::vector<std::pair<std::size_t, unsigned>>;  // row and lane

  // Undefined are the words of local memory that hold indifferent values.
  void read(Access& access) override;
  void write(const Access& access) override;
  template <typename Visit>
  void for_each_word(const Access& access, Visit visit);

  bool save(Slot& slot, std::uint32_t first_warp, std::uint32_t warps);
  bool only_polls(Slot& slot, Warp& warp, std::vector<PolledBytes>& polled);
  Fate look_at_unit(const std::vector<Slot*>& unit);
  Fate run_until_settled(Slot& slot, Warp& warp);
  Fate step(Slot& slot, Warp& warp);
  Fate act_of(const Slot& slot, Warp& warp, const Fragment& fragment) const;
  [[nodiscard]] WarpState state_of(const Slot& slot, const Warp& warp);
  [[nodiscard]] bool is_in(const WarpState& state, const Slot& slot, const Warp& warp);
  [[nodiscard]] bool are_undone(const MemoryChanges::State& since);
  [[nodiscard]] std::uint64_t hash_of(const std::vector<Slot*>& blocks);
  void list_polls(const Slot& slot, Warp& warp, std::vector<Waiting>& waiting);

  // lookahead_fragments.cpp
  Fate run_fragments_alone(Slot& slot, Warp& warp);

  // lookahead_livelock.cpp
  Fate run_until_idle(Slot& slot, Warp& warp);

  // lookahead_polls.cpp
  [[nodiscard]] static bool concerns_others(const Instr& instr);

  // lookahead_periods.cpp
  Fate run_periodically(Slot& slot, Warp& warp);

  // lookahead_rounds.cpp
  Fate run_indifferently(Slot& slot, Warp& warp);
  Fate run_round(Slot& slot, Warp& warp, WarpState& head);
  bool mark_differences(const WarpState& before, Warp& warp);
  Marks marks_of(const Warp& warp);
  bool may_execute(Slot& slot, Warp& warp, const Fragment& fragment);

  // lookahead_forks.cpp
  bool open_fork(Slot& slot, Warp& warp, const Fragment& fragment);
  bool run_ways(Slot& slot, Warp& warp, Fragment branch, Fork& fork);
  bool run_way(Slot& slot, Warp& warp, const Fork& fork);
  void pass_time();
  void leave_assertions(Warp& warp);
  bool close_forks(Warp& warp);

  Dependencies dependencies_;
  RunningLaunch& launch_;
  ObserverList only_this_;
  Observers observers_;  // only this
  Snapshot snapshot_;
  std::uint64_t steps_ = 0;
  LookCost cost_;
  LastReads last_reads_;
  std::uint32_t restless_block_ = 0;
  bool reads_host_memory_ = false;
  bool has_effect_ = false;
  bool repeats_ = false;         // memory changes, and changes back
  bool reads_time_ = false;      // the running warp reads the time
  bool is_alone_ = false;        // a single fragment runs, and the others of its warp are set aside
  bool is_following_ = false;    // indifferent registers are being followed
  bool has_strayed_ = false;     // an indifferent register reached a place where it matters
  bool is_anchored_ = false;     // the rounds begin where a fork has closed
  bool has_moved_ = false;       // that place, in this round
  bool is_inside_fork_ = false;  // it lies between another fork and the end of that
  std::uint64_t steps_of_round_ = 16'384;
  // visits of the round's first pc in a round, not counting the beginning
  std::size_t visits_of_round_ = 1;
  PolledReads polled_;                         // used by polls()
  LaunchReads launch_reads_;                   // used by look_at_launch()
  std::map<std::uint32_t, Diamond> diamonds_;  // by the pc of the branch
  std::vector<Fork> forks_;
  std::vector<Fragment> branches_;  // the forks whose ways are being run
  std::uint64_t steps_of_ways_ = 0;
  std::set<LocalWord> indifferent_words_;
};

}  // namespace warpcheck::vgpu
