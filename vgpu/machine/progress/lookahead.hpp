// Whether a launch can still end: what every thread would do if nothing but itself happened.
//
// What a thread does next follows from its registers, from what it reads, and from those that it
// meets at barriers and operations of its warp.  While nobody changes memory, blocks do not depend
// on each other, nor on who runs first (they are a Kahn network).  So each warp is run ahead by
// itself, unseen, an instruction at a time, until it waits for others or comes back to a state in
// which it has been.  If all warps of all blocks do so, if none of them changes memory on its way,
// and if no block can start, then no schedule lets any of them do anything else: the launch is
// deadlocked.  As soon as one warp ends, prints, or changes memory, nothing follows, and
// all is put back as it was.
//
// Three kinds of things change although a thread only polls:
//   - Registers that decide nothing: counters of attempts, times, pauses.  Those that differ after
//     a round are followed like undefined values (undefined.hpp).  If they reach no branch, no
//     address and no memory, the round is the same whatever they hold.  A branch may depend on
//     them where both ways meet again within the round and do nothing else (a pause).
//   - Memory that a round puts back: a counter that goes up and down, or a flag that two threads
//     pass to and fro.  Others may see what is between, so this proves less: Prospect::repeats.
//   - Memory that the host can write: Launch::host_runs says whether it may be doing so.
// Where other work is concurrent with the launch (concurrent_work.hpp), what the launch polls in
// global memory may change, whoever would do that: Prospect::polls.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "vgpu/machine/progress/strong_writes.hpp"
#include "vgpu/machine/progress/waiting_threads.hpp"
#include "vgpu/machine/running_launch.hpp"
#include "vgpu/machine/sync/cluster_barriers.hpp"
#include "vgpu/machine/warp/warps.hpp"

namespace warpcheck::vgpu {

enum class Prospect : std::uint8_t {
  goes_on,
  unknown,  // nothing is known as far as it was looked
  stuck,    // for ever, whatever the schedule
  polls,    // the same, unless concurrent work changes what it reads
  repeats,  // threads change memory and change it back
};

class Lookahead final : public Observer {
 public:
  struct Parts {
    RunningLaunch& launch;
    Warps& warps;
    ClusterBarriers& cluster_barriers;
    const StrongWrites& strong_writes;
    const WaitingThreads& waiting_threads;
  };
  // Takes the place of the launch's observers, until it ends.
  explicit Lookahead(const Parts& parts);
  ~Lookahead() override;
  Lookahead(const Lookahead&) = delete;
  Lookahead& operator=(const Lookahead&) = delete;

  // All blocks, where no other one can start.  Ends at the first one that goes on.
  //   first_block: with which it begins, if it is resident
  Prospect look_at_launch(std::uint32_t first_block);
  // The same, after look_at_launch(), with writes that count: threads that change memory for each
  // other may do so in a circle (Prospect::repeats).
  Prospect look_for_livelock();
  // One warp, on its own: whether it only polls, as long as what it reads is as it is.
  //   polled: becomes that
  bool polls(Slot& slot, Warp& warp, std::vector<PolledBytes>& polled);
  // One warp as it is now, for a report: adds what its lanes do.
  void look_at_warp(Slot& slot, Warp& warp, std::vector<Waiting>& waiting);
  // After look_at_launch(): what all threads do.
  void list(std::vector<Waiting>& waiting);

  [[nodiscard]] std::uint64_t steps() const { return steps_; }
  [[nodiscard]] bool reads_host_memory() const { return reads_host_memory_; }
  // Before look_at_launch(), where other work may be concurrent with the launch.
  void list_reads() { lists_reads_ = true; }
  // After it, with Prospect::polls: what was read of global memory; empty where that
  // is too much.  Who reads none of it is stuck: no concurrent work has its shared memory.
  [[nodiscard]] std::vector<PolledBytes> read_bytes() const;
  // The block that goes on; the next look begins with it.
  [[nodiscard]] std::uint32_t restless_block() const { return restless_block_; }

  void on_access(Access& access) override;
  void on_print(const Print& /*print*/) override { has_effect_ = true; }

 private:
  // What became of a warp.
  enum class Fate : std::uint8_t {
    runs,      // on, so far
    waits,     // for others of its block
    spins,     // comes back to where it was
    releases,  // others, that waited for it
    acts,      // ends, prints or changes memory
    unknown,   // nothing of that as far as it was followed
  };
  struct Change {  // of memory
    std::byte* at = nullptr;
    const Allocation* allocation = nullptr;
    std::uint32_t offset = 0;
    std::uint8_t bytes = 0;
    bool is_local = false;
    std::array<std::byte, 16> old{};
  };
  struct WarpState {
    std::vector<Fragment> fragments;
    RowBank words, wides, predicates;
    std::size_t changes = 0;  // there were so many
    std::uint32_t cluster_arrived = 0;
    std::vector<NamedBarrier> barriers;  // where the program has them
  };
  struct Saved {  // a block as it was
    Slot* slot = nullptr;
    std::uint32_t phase = 0, live_lanes = 0, waiting_lanes = 0, ready_warps = 0, yielded_warps = 0;
    std::array<NamedBarrier, 16> barriers;
    std::vector<BarrierObjectState> objects;
    std::uint32_t first_warp = 0;
    std::vector<Warp> warps;
  };
  // What a lane read last; polls are mostly strong or atomic, so such a read counts before weak
  // ones.
  struct Read {
    std::uint32_t pc = ptx::kNone;
    const Allocation* allocation = nullptr;
    std::uint32_t offset = 0, bytes = 0;
    bool is_strong = false;
  };
  using Reads = std::array<Read, kWarpLanes>;
  // A branch that depends on what is indifferent, until both its ways have met.
  struct Fork {
    std::vector<Return> callers;
    std::uint32_t meets_at = 0, lanes = 0;
    std::vector<Ref> writes;  // what either way may write
    FrameRows frame;
  };
  using Marks = std::vector<std::pair<std::size_t, unsigned>>;  // row and lane

  Fate look_at_unit(const std::vector<Slot*>& unit);
  Fate run_until_settled(Slot& slot, Warp& warp);
  Fate step(Slot& slot, Warp& warp);
  Fate act_of(Warp& warp, const Fragment& fragment) const;
  [[nodiscard]] bool changes_back(std::size_t since) const;
  void keep_changes(std::size_t since);
  [[nodiscard]] WarpState state_of(const Slot& slot, Warp& warp) const;
  static bool is_at(const WarpState& state, const Warp& warp);
  [[nodiscard]] bool is_in(const WarpState& state, const Slot& slot, Warp& warp) const;
  [[nodiscard]] std::uint64_t hash_of(const std::vector<Slot*>& unit) const;
  void save(Slot& slot);
  void save(Slot& slot, std::uint32_t first_warp, std::uint32_t warps);
  void put_back();
  void describe(const Read& read, Waiting& waiting) const;
  void list_polls(const Slot& slot, Warp& warp, std::vector<Waiting>& waiting);

  // lookahead_fragments.cpp
  Fate run_fragments_alone(Slot& slot, Warp& warp);

  // lookahead_livelock.cpp
  Fate run_until_idle(Slot& slot, Warp& warp);
  [[nodiscard]] std::uint64_t hash_of_changes() const;

  // lookahead_polls.cpp
  void note_polled(const Access& access);
  void note_read(const Access& access);
  [[nodiscard]] static bool concerns_others(const Instr& instr);

  // lookahead_periods.cpp
  Fate run_periodically(Slot& slot, Warp& warp);

  // lookahead_rounds.cpp
  Fate run_indifferently(Slot& slot, Warp& warp);
  Fate run_round(Slot& slot, Warp& warp, WarpState& head);
  bool mark_differences(const WarpState& before, Warp& warp);
  static Marks marks_of(const Warp& warp);
  bool may_execute(Warp& warp, const Fragment& fragment);
  bool open_fork(const Fragment& fragment);
  bool close_forks(Warp& warp);

  Parts parts_;
  RunningLaunch& launch_;
  std::vector<std::unique_ptr<Saved>> saved_;
  std::vector<Change> changes_;
  std::size_t foreign_changes_ = 0;  // so many of them were not of local memory
  std::map<const Warp*, Reads> reads_;
  Reads* current_reads_ = nullptr;
  std::uint64_t steps_ = 0;
  std::uint32_t restless_block_ = 0;
  bool reads_host_memory_ = false;
  bool has_effect_ = false;
  bool repeats_ = false;       // memory changes, and comes back
  bool reads_time_ = false;    // the warp that is run
  bool is_alone_ = false;      // a fragment of a warp whose others are put aside
  bool is_following_ = false;  // what is indifferent
  bool has_strayed_ = false;   // what is indifferent went where it matters
  bool is_anchored_ = false;   // the head of the rounds is where a fork has closed
  std::uint64_t steps_of_round_ = 16'384;
  std::size_t visits_of_round_ = 1;             // of its head, the one that it begins with left out
  std::vector<PolledBytes>* polled_ = nullptr;  // of polls()
  const Allocation* polled_shared_ = nullptr;   // the block's own
  bool is_too_much_ = false;                    // to be polled
  bool lists_reads_ = false;                    // of look_at_launch()
  std::map<const std::byte*, PolledBytes> read_bytes_;  // too many: nothing
  std::vector<Fork> forks_;
  std::set<std::pair<const Allocation*, std::uint32_t>> indifferent_words_;

  // What the launch had.
  Observers observers_;
  Observer* self_ = this;
  Outcome outcome_;
  ClusterBarriers::States clusters_;
};

}  // namespace warpcheck::vgpu
