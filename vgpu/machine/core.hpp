// The machine's inside: one launch at a time.  Internal to vgpu/machine.
//
//   run.cpp              blocks and warps: how a launch begins, runs and ends
//   turns.cpp            what runs next
//   poll_watch.cpp       blocks and warps that only poll
//   polls.cpp            turns of warps that poll
//   warp.cpp             one warp: fragments, control flow
//   warp_meetings.cpp    operations for which lanes of a warp wait for each other
//   barriers.cpp         barriers of a block
//   progress.cpp         threads that do not get on
//   lookahead*.cpp       whether a launch can still end
//   access.cpp           loads and stores: spaces, allocations, faults, events
//   meant_objects.cpp    which object an address is meant for
//   atomics.cpp          read-modify-write
//   barrier_objects.cpp  mbarriers
//   copies.cpp           asynchronous copies
//   bulk_copies.cpp      the same in bulk, and stores that an mbarrier counts
//   clusters.cpp         thread block clusters
//   heap.cpp             malloc() and free()
//   calls.cpp            calls, returns, jump tables
//   stack.cpp            stacks that grow: recursion and alloca
//   print.cpp            printf() and assert()
//   textures.cpp         textures and surfaces
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "vgpu/machine/machine.hpp"
#include "vgpu/machine/memory/rows.hpp"
#include "vgpu/machine/progress/poll_watch.hpp"
#include "vgpu/machine/state.hpp"
#include "vgpu/machine/texture/texture_sampling.hpp"
#include "vgpu/program/barrier_token.hpp"

namespace warpcheck::vgpu {

inline std::byte* row_of(const LaneBanks& banks, const Ref& ref) {
  return banks.base[static_cast<std::size_t>(ref.bank)] + ref.offset;
}

// One lane's word of a row, of a register or of constants.
inline std::uint32_t word_of(const LaneBanks& banks, const Ref& ref, unsigned lane) {
  std::uint32_t value = 0;
  std::memcpy(&value, row_of(banks, ref) + lane * sizeof value, sizeof value);
  return value;
}

inline std::uint32_t read_predicate(const LaneBanks& banks, const Ref& ref) {
  return word_of(banks, ref, 0);
}

inline std::uint64_t address_of(const AddressRow& row, unsigned lane) {
  std::uint64_t address = 0;
  const std::size_t width = row.wide ? 8 : 4;
  std::memcpy(&address, row.row + lane * width, width);
  address += row.displacement;
  return row.wide ? address : static_cast<std::uint32_t>(address);
}

// The object that addresses of one provenance are meant for, in one launch.
struct MeantObject {
  const Allocation* allocation = nullptr;  // null: of shared memory, or nothing is known
  const Symbol* symbol = nullptr;          // of shared memory
  std::uint32_t begin = 0, end = 0;        // symbol: where in the block's shared memory
  // A parameter that points into the middle of an allocation may be meant for another one (a host
  // that computes `base - first_index`), until an access has been where it points.
  bool is_sure = true;
};

// What the lanes of one fetch look at.
struct FetchState {
  std::array<Footprint, kWarpLanes> footprint;
  // Of each lane and texel: its bytes, up to 16.
  std::array<std::array<std::array<std::byte, 16>, 16>, kWarpLanes> texel;
  std::array<UndefinedLanes, 4> undefined;  // of each channel
};

class Core {
 public:
  explicit Core(DeviceMemory& memory);
  ~Core();
  Core(const Core&) = delete;
  Core& operator=(const Core&) = delete;

  Outcome run(const Launch& launch, WarpModel model, Strategy& strategy,
              std::span<Observer* const> observers, const Limits& limits, bool want_edges);

 private:
  // Why a warp no longer runs.
  enum class Stop : std::uint8_t { blocked, exited, quantum, preempted, released, halted };
  // What became of a fragment's run.
  enum class Step : std::uint8_t { again, quantum, paused, preempted, halted };
  // A fragment while it runs: its fields in locals' reach.
  struct RunningFragment {
    Slot& slot;
    Warp& warp;
    LaneBanks banks;
    FrameRows frame;
    std::uint32_t pc = 0, mask = 0, local_base = 0;
  };

  // run.cpp
  void begin_launch(const Launch& launch);
  void allocate_workspace();
  void free_workspace();
  [[nodiscard]] std::uint64_t workspace_address() const {
    return workspace_ != nullptr ? workspace_->address : 0;
  }
  void dispatch(std::uint32_t block);
  void start_warp(Slot& slot, Warp& warp);
  Outcome::End loop();
  void end_block(Slot& slot);
  [[nodiscard]] Slot* slot_of(std::uint32_t block);

  // turns.cpp
  [[nodiscard]] bool has_clusters() const {
    return launch_->cluster.count() != 1 || program_->uses_clusters;
  }
  void admit_blocks();
  [[nodiscard]] std::uint32_t blocks_not_begun() const;
  void choose_order();
  void begin_block(std::uint32_t block);
  [[nodiscard]] std::uint64_t rank_of(const WarpId& id) const;
  template <class Visit>
  bool visit_in_order(Visit visit) const;
  [[nodiscard]] std::optional<WarpId> first_admitted() const;
  void list_ready();
  [[nodiscard]] bool default_next(bool after_current, WarpId& next);
  [[nodiscard]] bool search_next(bool after_current, WarpId& next);
  bool choose_after_stop(Stop stop, Slot* slot, const WarpId& stopped, std::uint64_t stop_index,
                         WarpId& next);
  void choose_at_release(const Slot& slot, const Warp& warp, WarpId& next);
  [[nodiscard]] SchedulePoint point_of(const WarpId& at, Decision::Point point,
                                       std::uint64_t index);
  [[nodiscard]] bool can_run(const WarpId& id);
  bool ends_turn(Slot& slot);
  void begin_watch(Slot& slot);
  void end_watch();
  void record(const SchedulePoint& point, const Choice& choice);
  template <class Function>
  void notify(Function function) {
    for (Observer* observer : observers_) function(*observer);
  }

  // barriers.cpp
  using Waiter = std::pair<Warp*, Fragment*>;
  void arrive(RunningFragment& run, std::size_t index, const Instr& instr, std::uint32_t lanes);
  void recheck_barriers(Slot& slot);  // after an exit
  void complete_if_all_wait(Slot& slot);
  [[nodiscard]] std::vector<Waiter> waiters_of(Slot& slot, std::uint32_t number);
  void release_block(Slot& slot);
  bool report_divergence(const Slot& slot);
  void reduce(const std::vector<Waiter>& waiters);

  // named_barriers.cpp
  void arrive_at_named(RunningFragment& run, std::size_t index, const Instr& instr,
                       std::uint32_t lanes);
  void check_use(RunningFragment& run, const Instr& instr, NamedBarrier& barrier, unsigned lane,
                 std::uint32_t count);
  void report_misuse(const RunningFragment& run, unsigned lane, BarrierDivergence::Reason reason);
  void count_arrival(Slot& slot, Warp& warp, std::uint32_t number);
  [[nodiscard]] bool is_complete(const Slot& slot, const NamedBarrier& barrier) const;
  void complete_named(Slot& slot, std::uint32_t number);
  void recount_named(Slot& slot);
  bool release_stuck_barriers(Slot& slot);

  // clusters.cpp
  [[nodiscard]] std::uint32_t first_of_cluster(std::uint32_t block) const;
  [[nodiscard]] std::uint32_t block_of_rank(std::uint32_t cluster, std::uint32_t rank) const;
  void dispatch_cluster(std::uint32_t first);
  void renew_reserved_shared(Slot& slot);
  [[nodiscard]] std::uint32_t special_of_cluster(const Slot& slot,
                                                 ptx::SpecialRegister special) const;
  Step come_to_cluster_barrier(RunningFragment& run, std::size_t index, const Instr& instr,
                               std::uint32_t lanes);
  void tell_cluster_barrier(const Slot& slot, const Warp& warp, ClusterBarrier::Kind kind,
                            std::uint32_t lanes, std::uint64_t phase, bool relaxed);
  void complete_cluster_barrier(std::uint32_t first);
  void leave_cluster(Slot& slot, Warp& warp, std::uint32_t lanes);
  [[nodiscard]] bool waits_for_cluster(const Slot& slot) const;
  [[nodiscard]] Slot& owner_of(const RunningFragment& run, const Allocation* shared);

  // warp_meetings.cpp
  [[nodiscard]] bool all_members_are(const RunningFragment& run, const Instr& instr,
                                     std::uint32_t active) const;
  void meet(RunningFragment& run, std::size_t index, const Instr& instr, std::uint32_t active);
  bool meet_if_complete(Slot& slot, Warp& warp, std::size_t index);
  void meet_now(Slot& slot, Warp& warp, const std::vector<std::size_t>& here);
  void operate(RunningFragment& run, const Instr& instr, std::uint32_t lanes);
  void tell_collective(const RunningFragment& run, std::uint32_t pc, std::uint32_t lanes,
                       std::uint32_t members);
  void operate_across(Warp& warp, const std::vector<std::size_t>& here);
  void recheck_meetings(Slot& slot, Warp& warp);
  bool release_stuck_meeting(Slot& slot);
  [[nodiscard]] std::vector<std::size_t> fragments_beside(const Warp& warp,
                                                          std::size_t index) const;
  void undefined_across_lanes(RunningFragment& run, const Instr& instr, std::uint32_t active);

  // progress.cpp
  bool unblock(Slot& slot);
  void list_waiting(const Slot& slot, std::vector<Waiting>& waiting) const;
  void list_exited(const Slot& slot, std::vector<Waiting>& waiting) const;
  void complete_list(std::vector<Waiting>& waiting) const;
  bool cannot_end();
  bool look_ahead(std::uint64_t& cost);

  // polls.cpp
  void begin_watched_quantum(Warp& warp);
  void end_quantum(Warp& warp) const;
  Stop run_suspect(Slot& slot, Warp& warp, bool is_new_quantum);
  bool stops_polling(Slot& slot, Warp& warp, std::size_t index);
  [[nodiscard]] static bool polls_in_vain(const Warp& warp);
  [[nodiscard]] static std::uint32_t vain_warps(const Slot& slot);
  Outcome::End end_at_step_limit(Slot& slot, Warp& warp);
  void note_strong_writes(const RunningFragment& run, std::uint32_t mask);
  void note_swaps(const RunningFragment& run, const Instr& instr, std::uint32_t mask);

  // lookahead.cpp
  enum class Prospect : std::uint8_t {
    goes_on,
    unknown,  // nothing is known as far as it was looked
    stuck,    // for ever, whatever the schedule
    repeats,  // threads change memory and change it back
  };
  class Lookahead;

  // warp.cpp
  Stop run_warp(Slot& slot, Warp& warp);
  Stop run_fragments(Slot& slot, Warp& warp);
  std::size_t pick(Warp& warp, std::uint32_t& limit);
  Step run_fragment(Slot& slot, Warp& warp, std::size_t index, std::uint32_t limit);
  Step branch(RunningFragment& run, std::size_t index, const Instr& instr, std::uint32_t taken);
  Step leave(RunningFragment& run, std::size_t index, const Instr& instr, std::uint32_t lanes);
  Step yield(Fragment& fragment);
  Step ask(RunningFragment& run, std::size_t index, std::uint32_t active);
  static std::size_t split(Warp& warp, std::size_t index, std::uint32_t lanes);
  void bind(RunningFragment& run, const Fragment& fragment);
  [[nodiscard]] LaneBanks banks_of(Warp& warp, const Fragment& fragment) const;
  [[nodiscard]] static FrameRows frame_of(const Fragment& fragment);
  std::uint32_t guarded_lanes(const RunningFragment& run, const Instr& instr);
  void compute(RunningFragment& run, const Instr& instr, std::uint32_t active);
  void move_scalar(RunningFragment& run, const Instr& instr, std::uint32_t active);
  bool jump(RunningFragment& run, const Instr& instr, std::uint32_t taken);
  void read_special(RunningFragment& run, const Instr& instr, std::uint32_t mask);
  void fence(const RunningFragment& run, const Instr& instr, std::uint32_t lanes);
  // Warp instructions of the launch, the running one included.
  [[nodiscard]] std::uint64_t steps_so_far() const {
    return outcome_.steps + (fragment_steps_left_ - launch_steps_left_);
  }
  void edge(std::uint32_t from, std::uint32_t to) {
    if (want_edges_) notify([&](Observer& o) { o.on_edge(from, to, *program_); });
  }
  void use_of_undefined(const RunningFragment& run, UndefinedUse::Kind kind, const Ref& ref,
                        std::uint32_t lanes);
  [[nodiscard]] WarpPlace place_of(const Slot& slot, const Warp& warp) const {
    return {slot.block, warp.index, slot.index, slot.phase};
  }

  // access.cpp
  struct Target {  // what the lanes of one access group touch
    Allocation* allocation = nullptr;
    ptx::Space space = ptx::Space::generic;
    std::uint64_t base = 0;   // subtracted from the addresses
    std::uint32_t limit = 0;  // end of the bytes that may be touched
    std::uint32_t begin = 0;
  };
  void access(RunningFragment& run, const Instr& instr, std::uint32_t active);
  [[nodiscard]] Target target_of(const RunningFragment& run, const Instr& instr,
                                 std::uint64_t address);
  [[nodiscard]] std::uint32_t lanes_inside(const AddressRow& row, const Target& target,
                                           std::uint32_t bytes, std::uint32_t mask) const;
  void fault(const RunningFragment& run, const Instr& instr, const Target& target,
             std::uint64_t address, unsigned lane, std::uint32_t bytes);
  void perform(RunningFragment& run, const Instr& instr, const Target& target, const RowScan& scan,
               std::uint32_t mask);
  void perform_local(RunningFragment& run, const Instr& instr, const Target& target,
                     std::uint32_t mask);
  void move_local_word(RunningFragment& run, const Instr& instr,
                       const std::array<std::uint32_t, 32>& at, const Ref& ref, std::uint32_t half,
                       std::uint32_t mask);
  struct Elements {  // of a vector access, that one Access is about
    std::uint32_t first = 0, count = 1;
    std::uint32_t byte = 0;  // of a part of one element: where in its register it begins
  };
  void announce(RunningFragment& run, const Instr& instr, const Target& target, Pattern pattern,
                std::uint32_t bytes, std::uint32_t mask, const Elements& elements);
  void take_undefined(const RunningFragment& run, const Instr& instr, const Elements& elements,
                      std::uint32_t mask);
  UndefinedLanes take_undefined_of(const RunningFragment& run, const Ref& ref,
                                   std::uint32_t register_byte, std::uint32_t access_byte,
                                   std::uint32_t bytes, std::uint32_t mask);
  void give_undefined(RunningFragment& run, const Instr& instr, const Ref& ref,
                      std::uint32_t element, std::uint32_t mask);
  void give_undefined_word(RunningFragment& run, const Instr& instr, const Ref& ref,
                           std::uint32_t half, std::uint32_t mask);
  void zero_destinations(RunningFragment& run, const Instr& instr, std::uint32_t mask);

  // meant_objects.cpp
  void find_meant_objects(const Launch& launch);
  [[nodiscard]] MeantObject object_of(const Root& root, const Launch& launch) const;
  // Takes from `target` what does not belong to the object: all, if it is in another one.
  static void keep_to_object(const RunningFragment& run, MeantObject& meant, Target& target) {
    if (meant.symbol != nullptr) {
      if (target.allocation == run.slot.shared) [[likely]] {
        target.limit = std::min(target.limit, meant.end);
        target.begin = std::min(target.limit, meant.begin);
      } else {
        target.limit = 0;
      }
    } else if (target.allocation == meant.allocation) [[likely]] {
      meant.is_sure = true;
    } else if (meant.allocation != nullptr && meant.is_sure) {
      target.limit = 0;
    }
  }

  Target cluster_target(const RunningFragment& run, std::uint64_t address, const Target& own);
  void explain_fault_in_cluster(const RunningFragment& run, const Target& target,
                                Fault& fault) const;

  // calls.cpp
  [[nodiscard]] std::uint64_t lane_value(const RunningFragment& run, const Ref& ref,
                                         unsigned lane) const;
  Step enter(RunningFragment& run, std::size_t index, std::uint32_t function);
  Step enter_by_register(RunningFragment& run, std::size_t index, const Instr& instr);
  Step return_to_caller(RunningFragment& run, std::size_t index);
  Step jump_by_table(RunningFragment& run, std::size_t index, const Instr& instr);
  Step halt(const RunningFragment& run, std::uint32_t lanes, Trap::Cause cause,
            std::string_view detail = {}, std::string_view object = {});
  Step refuse(const RunningFragment& run, std::string_view why);

  // stack.cpp
  void start_stack(Warp& warp);
  bool grow_stack(RunningFragment& run, const Fragment& fragment, std::uint64_t local_top);
  void drop_local_pieces(Warp& warp);
  [[nodiscard]] std::uint32_t stack_limit() const;
  Step move_stack(RunningFragment& run, std::size_t index, const Instr& instr);
  [[nodiscard]] Target local_target(const Warp& warp, std::uint64_t base,
                                    std::uint64_t address) const;

  // print.cpp
  Step print(RunningFragment& run, std::size_t index, const Instr& instr);
  Step fail_assertion(RunningFragment& run, std::size_t index, const Instr& instr);
  std::size_t read_bytes(const RunningFragment& run, unsigned lane, std::uint64_t address,
                         std::span<std::byte> to);
  std::string read_string(const RunningFragment& run, unsigned lane, std::uint64_t address);

  // textures.cpp
  Step use_texture(RunningFragment& run, const Instr& instr, std::uint32_t lanes);
  void destroyed_object(const RunningFragment& run, const TextureInstr& texture, unsigned lane);
  void fetch_texels(RunningFragment& run, const TextureInstr& instr, const Texture& texture,
                    std::uint32_t lanes);
  [[nodiscard]] Footprint footprint_of_lane(const RunningFragment& run, const TextureInstr& instr,
                                            const Texture& texture, unsigned lane) const;
  void read_texels(RunningFragment& run, const Texture& texture, std::uint32_t use,
                   std::uint32_t lanes);
  Step access_surface(RunningFragment& run, const TextureInstr& instr, const Surface& surface,
                      std::uint32_t lanes);
  void move_elements(RunningFragment& run, const TextureInstr& instr, const Surface& surface,
                     const std::array<std::uint64_t, kWarpLanes>& offsets, std::uint32_t lanes);
  void zero_values(RunningFragment& run, const TextureInstr& instr, std::uint32_t lanes);

  // atomics.cpp
  void perform_atomic(RunningFragment& run, const Instr& instr, std::uint32_t mask);
  void perform_elements(RunningFragment& run, const Instr& instr, const Target& target,
                        std::uint32_t mask);
  [[nodiscard]] std::uint32_t lanes_that_compare_unequal(const RunningFragment& run,
                                                         const Instr& instr,
                                                         std::uint32_t mask) const;

  // barrier_objects.cpp
  void access_objects(RunningFragment& run, const Instr& instr, std::uint32_t active);
  void announce_object(RunningFragment& run, const Instr& instr, const Target& target,
                       const RowScan& scan, std::uint32_t mask);
  void perform_on_objects(RunningFragment& run, const Instr& instr, std::uint32_t mask);
  void perform_on_object(RunningFragment& run, const Instr& instr, unsigned lane,
                         BarrierObject& event);
  void arrive_on_object(RunningFragment& run, const Instr& instr, unsigned lane,
                        BarrierToken& token);
  static std::uint64_t state_of(const RunningFragment& run, const Instr& instr, unsigned lane);
  static void finish_object(const RunningFragment& run, const Instr& instr, unsigned lane,
                            std::uint64_t state, bool is_done);

  // copies.cpp
  void copy(RunningFragment& run, const Instr& instr, std::uint32_t active);
  void fetch(RunningFragment& run, const Instr& instr, std::uint32_t bytes, std::uint32_t lanes);
  void put_byte(RunningFragment& run, const Ref& from, const Ref& to, std::uint32_t position,
                std::uint32_t lanes);
  void discard(RunningFragment& run, const Instr& instr, std::uint32_t active);
  void copy_group(const RunningFragment& run, const Instr& instr, std::uint32_t active);

  // bulk_copies.cpp
  Step bulk_copy(RunningFragment& run, const Instr& instr, std::uint32_t lanes);
  void copy_in_bulk(RunningFragment& run, const Instr& instr, unsigned lane);
  Step async_store(RunningFragment& run, const Instr& instr, std::uint32_t lanes);
  void begin_asynchronous(const RunningFragment& run, const Ref& object, unsigned lane,
                          bool async_proxy);
  void end_asynchronous();
  void complete_bytes(RunningFragment& run, const Instr& instr, const Ref& object, const Ref& bytes,
                      std::uint32_t constant_bytes, unsigned lane);

  // heap.cpp
  void call_heap(RunningFragment& run, const Instr& instr, std::uint32_t active);
  std::uint64_t allocate_on_heap(const RunningFragment& run, unsigned lane, std::uint64_t bytes);
  void free_on_heap(const RunningFragment& run, unsigned lane, std::uint64_t address);
  [[nodiscard]] CodePlace code_place(const RunningFragment& run, unsigned lane) const;

  DeviceMemory& memory_;
  const MemoryRowFunctions& rows_;

  const Launch* launch_ = nullptr;
  const Program* program_ = nullptr;
  WarpModel model_ = WarpModel::independent;
  Strategy* strategy_ = nullptr;
  std::span<Observer* const> observers_;
  std::vector<Observer*> access_observers_;      // those that watch accesses
  std::vector<Observer*> collective_observers_;  // and those that watch collectives
  Limits limits_;
  bool want_edges_ = false;
  Outcome outcome_;
  std::uint32_t block_count_ = 0, warps_per_block_ = 0, threads_ = 0;
  std::uint64_t run_ = 0;                           // launches so far
  std::uint32_t next_block_ = 0;                    // the first not yet admitted
  std::map<std::uint32_t, ClusterState> clusters_;  // by first block, where the program uses them
  std::uint32_t launch_steps_left_ = 0;             // of the running warp's quantum
  std::uint32_t fragment_steps_left_ = 0;           // the same, when the running fragment began

  std::vector<std::unique_ptr<Slot>> slots_;
  std::vector<Slot*> resident_;  // by ascending block
  // Blocks that fit and have not begun, ascending; of a cluster the first.
  std::vector<std::uint32_t> admitted_;
  StartOrder order_;           // of the default policy
  std::vector<WarpId> ready_;  // scratch of list_ready()
  WarpId preempted_to_;        // after Stop::preempted
  bool came_last_ = false;     // the running warp has completed a barrier
  PollWatch watch_;            // of the accesses of one block
  Slot* watched_ = nullptr;    // it is on, for this one
  PollWatch warp_watch_;       // of the accesses of the running warp
  Allocation* parameters_ = nullptr;
  Allocation* workspace_ = nullptr;       // of a cooperative launch
  std::vector<Allocation*> last_target_;  // by pc: where its last access went
  std::vector<MeantObject> meant_;        // by Instr::provenance
  Access access_;                         // scratch: too large to build anew each time
  bool asynchronous_ = false;             // accesses are those of a copy
  bool is_reported_ = false;              // the object's bytes are undefined
  std::unique_ptr<FetchState> fetch_;     // scratch of fetch_texels()
  const std::byte* written_ = nullptr;    // the row that mbarrier.init or .inval writes
  bool must_yield_ = false;               // the instruction waits for others, who must run

  // When it is looked whether the launch can end: after so many warp instructions.
  std::uint64_t look_at_ = 0;
  std::uint32_t blocks_ended_ = 0, blocks_ended_at_look_ = 0;
  std::uint32_t looks_ = 0;
  std::uint32_t repeating_looks_ = 0;  // the last so many saw memory come back
  std::uint64_t repeats_since_ = 0;    // steps
  std::uint32_t restless_block_ = 0;
  StrongWrites strong_writes_;
};

}  // namespace warpcheck::vgpu
