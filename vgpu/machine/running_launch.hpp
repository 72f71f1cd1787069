// The running launch, which all components of the machine share: what is launched and how, who
// observes it, the resident blocks, and the progress.
//
// Every component of the machine holds a reference to it.  What is launched does not change while
// it runs; everything else changes by the functions here alone.  State that only one component
// needs belongs to that component.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include "vgpu/machine/machine.hpp"
#include "vgpu/machine/memory/rows.hpp"
#include "vgpu/machine/state.hpp"

namespace warpcheck::vgpu {

class NativeCode;
class PassedBarriers;
struct RunningFragment;
enum class Step : std::uint8_t;

// The observers of the launch, in the order in which they are called.
struct Observers {
  const ObserverList* list = nullptr;
  std::vector<Observer*> of_accesses;  // those that watch accesses
  std::vector<Observer*> of_rows;      // those that watch them as rows
  // Some of of_rows watch shared memory, too.  Asked once a launch, so that all warps of a round do
  // the same with what they record.
  bool watch_shared_rows = false;
  std::vector<Observer*> of_collectives;        // those that watch collectives
  UndefinedMemory* undefined_memory = nullptr;  // null: no bits of memory are undefined
  bool want_edges = false;
  // from Launch; null while the executed code must not be observed
  WeakMemory* weak_memory = nullptr;
  // Notes which barriers threads pass by; null while the executed code must not be observed, and if
  // the program has no such barriers.
  PassedBarriers* passed_barriers = nullptr;
  Following following{};  // the union of what observers follow
  // Registers that a thread has not written are undefined; set if the program may read one.
  bool mark_unwritten = false;
  bool watch_steps = false;          // some of the list watch steps
  InstrTally* tally = nullptr;       // by pc; null: none of the list watch tallies
  bool tally_rows = false;           // all of of_rows do
  std::size_t watch_throughout = 0;  // how many of of_accesses have watched since the launch began

  // Returns whether an observer was added later: a component watches how a warp or a block
  // proceeds.
  [[nodiscard]] bool is_looked_at() const { return of_accesses.size() != watch_throughout; }
  // Returns whether accesses need to be described.
  [[nodiscard]] bool watch_accesses() const {
    return !of_accesses.empty() || !of_rows.empty() || undefined_memory != nullptr;
  }
  // Returns whether rows of global memory may be appended to the queues of those that watch
  // accesses.  Observers of rows receive them late, so only those that count do not miss them.
  [[nodiscard]] bool may_queue_rows() const {
    return !of_accesses.empty() && !is_looked_at() && (of_rows.empty() || tally_rows) &&
           weak_memory == nullptr;
  }
  // Returns where rows are counted that nobody needs to see; null: all rows are reported.
  [[nodiscard]] InstrTally* tally_of_rows() const {
    const bool are_seen = !of_accesses.empty() || undefined_memory != nullptr;
    return tally_rows && !are_seen ? tally : nullptr;
  }
  //   is_noncoherent: a load of the launch may find what the launch has written before
  //   counts: by pc, for observers that watch tallies
  void begin(const ObserverList& watching, bool edges, const Launch& launch, bool is_noncoherent,
             std::vector<InstrTally>& counts) {
    list = &watching;
    of_accesses.clear();
    of_rows.clear();
    watch_shared_rows = false;
    watching.watch_accesses_of(*launch.program, is_noncoherent, of_accesses, of_rows);
    watch_throughout = of_accesses.size();
    undefined_memory = watching.undefined_memory();
    of_collectives = watching.of_collectives();
    watch_steps = !watching.of_steps().empty();
    if (watching.of_tallies().empty()) {
      tally = nullptr;
    } else {
      counts.assign(launch.program->code.size() + 1, {});
      tally = counts.data();
    }
    tally_rows = tally != nullptr && std::ranges::all_of(of_rows, [](const Observer* observer) {
                   return observer->watches().tallies;
                 });
    want_edges = edges;
    weak_memory = launch.weak_memory;
    following = watching.following();
    mark_unwritten = watching.unwritten_registers() && !launch.program->unwritten_registers.empty();
  }
};

// The quantum of the running warp, in warp instructions.
class Quantum {
 public:
  [[nodiscard]] std::uint32_t left() const { return left_; }
  // Returns what was left when the running fragment began, and how much it has used.
  [[nodiscard]] std::uint32_t before() const { return before_; }
  [[nodiscard]] std::uint32_t used() const { return before_ - left_; }

  void begin(std::uint32_t steps) { left_ = steps; }
  // A fragment begins to run.
  void begin_run() { before_ = left_; }
  void use(std::uint32_t steps = 1) { left_ -= steps; }
  // The instruction that was counted last has not been executed.
  void give_back() { ++left_; }
  // Machine code has counted in its frame.
  void set(std::uint32_t left, std::uint32_t before) {
    left_ = left;
    before_ = before;
  }

 private:
  std::uint32_t left_ = 0, before_ = 0;
};

class RunningLaunch {
 public:
  explicit RunningLaunch(DeviceMemory& device_memory)
      : memory_(device_memory), rows_(memory_row_functions(device_memory.is_shared())) {}
  RunningLaunch(const RunningLaunch&) = delete;
  RunningLaunch& operator=(const RunningLaunch&) = delete;

  // Begins the launch.  Observers are set separately.
  void begin(const Launch& launch, WarpModel model, Strategy& strategy, const Limits& limits);

  // What is launched, and how.
  [[nodiscard]] DeviceMemory& memory() const { return memory_; }
  [[nodiscard]] const MemoryRowFunctions& rows() const { return rows_; }
  [[nodiscard]] const Launch& request() const { return *request_; }
  [[nodiscard]] const Program& program() const { return *program_; }
  [[nodiscard]] WarpModel model() const { return model_; }
  [[nodiscard]] Strategy& strategy() const { return *strategy_; }
  [[nodiscard]] const Limits& limits() const { return limits_; }
  // Returns the number of launches so far.
  [[nodiscard]] std::uint64_t number() const { return number_; }
  [[nodiscard]] std::uint32_t block_count() const { return block_count_; }
  [[nodiscard]] std::uint32_t warps_per_block() const { return warps_per_block_; }
  [[nodiscard]] std::uint32_t threads() const { return threads_; }  // per block
  // Returns the warps of a block, one bit each.
  [[nodiscard]] std::uint32_t all_warps() const {
    return warps_per_block_ == 32 ? ~0u : (1u << warps_per_block_) - 1;
  }
  // Returns whether blocks form clusters, or the program can access other blocks as in a cluster.
  [[nodiscard]] bool has_clusters() const {
    return request_->cluster.count() != 1 || program_->uses_clusters;
  }
  [[nodiscard]] bool may_use(const Allocation& allocation) const {
    return allocation.is_open_to(request_->device, request_->peers);
  }
  [[nodiscard]] bool is_enough() const { return limits_.enough != nullptr && *limits_.enough; }

  // Observers: those of the launch, or of the look-ahead that is running it ahead.
  [[nodiscard]] const Observers& observers() const { return *observers_; }
  void begin_observers(const ObserverList& list, bool want_edges, bool is_noncoherent) {
    own_observers_.begin(list, want_edges, *request_, is_noncoherent, tally_);
  }
  // Observers of accesses that watch how a warp or a block proceeds.
  void add_watch(Observer& watch) { own_observers_.of_accesses.push_back(&watch); }
  void remove_watch(Observer& watch) { std::erase(own_observers_.of_accesses, &watch); }
  void count_crossings_by(PassedBarriers* passed) { own_observers_.passed_barriers = passed; }
  template <class Function>
  void notify(Function function) const {
    for (Observer* const observer : observers_->list->all()) function(*observer);
  }
  // Reports that the launch begins.
  void notify_of_begin(const Sync& sync);
  // Reports that the launch ends, and what was counted of it.
  void notify_of_end(const Sync& sync);
  // Reports what was counted since the last report.  No lanes run.
  void report_tally();
  // Reports that a block begins or ends, or that its threads have met.
  void notify_of_block(const Sync& sync) const {
    for (Observer* const observer : observers_->list->of_blocks()) observer->on_sync(sync);
  }
  void edge(std::uint32_t from, std::uint32_t to) const {
    if (observers_->want_edges) notify([&](Observer& o) { o.on_edge(from, to, *program_); });
  }
  // Count that lanes begin to execute consecutive instructions, that they leave off, and that they
  // execute one instruction alone.
  void begin_run(std::uint32_t pc, std::uint32_t lanes) const {
    if (observers_->tally != nullptr) [[unlikely]]
      observers_->tally[pc].add_run(lanes, 1);
  }
  void end_run(std::uint32_t pc, std::uint32_t lanes) const {
    if (observers_->tally != nullptr) [[unlikely]]
      observers_->tally[pc].add_run(lanes, -1);
  }
  void run_once(std::uint32_t pc, std::uint32_t lanes) const {
    begin_run(pc, lanes);
    end_run(pc + 1, lanes);
  }
  // All lanes of a run go from one instruction to another.
  void move_run(std::uint32_t from, std::uint32_t to, std::uint32_t lanes) const {
    begin_run(to, lanes);
    end_run(from + 1, lanes);
  }
  void diverge_at(std::uint32_t pc) const {
    if (observers_->tally != nullptr) [[unlikely]]
      ++observers_->tally[pc].divergences;
  }
  // Lanes go from one instruction to another, which need not be the next one.
  void cross(const Slot& slot, const Warp& warp, std::uint32_t lanes, std::uint32_t from,
             std::uint32_t to) const {
    edge(from, to);
    pass(slot, warp, lanes, from, to);
  }
  // The same, without a report to observers.
  void pass(const Slot& slot, const Warp& warp, std::uint32_t lanes, std::uint32_t from,
            std::uint32_t to) const {
    if (observers_->passed_barriers != nullptr) [[unlikely]]
      note_crossing(slot, warp, lanes, from, to);
  }
  // Marks the registers of a frame that begins as undefined, if the program may read them before it
  // writes them.
  //   function: the one that begins, an index into Program::functions
  void mark_unwritten(Warp& warp, const Fragment& fragment, std::uint32_t function) const {
    if (observers_->mark_unwritten) [[unlikely]]
      mark(warp, fragment, function);
  }
  // Reports a use of undefined bits, if `ref` has any in `lanes`.
  void use_of_undefined(const RunningFragment& run, UndefinedUse::Kind kind, const Ref& ref,
                        std::uint32_t lanes) const;
  // Reports that a lane breaks a rule of barriers without a second side.
  void report_misuse(const RunningFragment& run, unsigned lane,
                     BarrierDivergence::Reason reason) const;

  // Resident blocks, ascending.
  [[nodiscard]] const std::vector<Slot*>& resident() const { return resident_; }
  void add_resident(Slot& slot);
  void remove_resident(const Slot& slot) { std::erase(resident_, &slot); }
  // Returns null if the block is not resident.
  [[nodiscard]] Slot* slot_of(std::uint32_t block) const;
  // Lets more blocks be resident.
  void allow_resident(std::uint32_t blocks) { limits_.resident_blocks = blocks; }
  [[nodiscard]] WarpPlace place_of(const Slot& slot, const Warp& warp) const {
    return {slot.block, warp.index, slot.index, slot.phase};
  }
  [[nodiscard]] CodePlace code_place(const RunningFragment& run, unsigned lane) const;

  // Machine code of the program for fragments of all lanes, and of some lanes; null: interpreted.
  [[nodiscard]] const NativeCode* native() const { return native_; }
  [[nodiscard]] const NativeCode* native_some() const { return native_some_; }
  void use_native(const NativeCode* code) { native_ = code; }
  void use_native_some(const NativeCode* code) { native_some_ = code; }

  [[nodiscard]] Quantum& quantum() { return quantum_; }
  [[nodiscard]] const Quantum& quantum() const { return quantum_; }
  // Lets other fragments run, because spinning lanes must not starve the lanes that they wait for:
  // first the other fragments of the same warp, then other warps.
  Step yield(Fragment& fragment) const;
  // Whether the running warp was the last to arrive at a barrier.
  [[nodiscard]] bool came_last() const { return came_last_; }
  void note_last() { came_last_ = true; }
  void forget_last() { came_last_ = false; }

  // Progress.
  [[nodiscard]] const Outcome& outcome() const { return outcome_; }
  // Returns the warp instructions of the turns that have ended.
  [[nodiscard]] std::uint64_t steps() const { return outcome_.steps; }
  // Machine code counts the instructions of the turns of a round itself.
  [[nodiscard]] std::uint64_t* step_counter() { return &outcome_.steps; }
  // Returns the warp instructions of the launch so far, including the running one.
  [[nodiscard]] std::uint64_t steps_so_far() const { return outcome_.steps + quantum_.used(); }
  // Counts what a fragment has executed.
  void count_run(std::uint64_t lane_steps) {
    outcome_.steps += quantum_.used();
    outcome_.lane_steps += lane_steps;
  }
  void count_block() { ++outcome_.blocks; }
  void count_lane_steps(std::uint64_t lane_steps) { outcome_.lane_steps += lane_steps; }
  void count_fault() { ++outcome_.faults; }
  void record(const Decision& decision) { outcome_.decisions.push_back(decision); }
  void charge_look(const LookCost& cost) { outcome_.look_units += cost.units(); }
  void refund_looks(std::uint64_t units) { outcome_.look_units -= units; }
  // Returns the time that clocks show, and how far it is ahead of the steps
  // (progress/time_waits.hpp).
  [[nodiscard]] std::uint64_t time() const { return steps_so_far() + time_ahead_; }
  [[nodiscard]] std::uint64_t time_ahead() const { return time_ahead_; }
  void pass_time(std::uint64_t steps) { time_ahead_ += steps; }

  // Ends the launch.
  Step halt(const RunningFragment& run, std::uint32_t lanes, Trap::Cause cause,
            std::string_view detail = {}, std::string_view object = {});
  void halt(const Trap& trap);
  Step refuse(std::string_view why);
  // Returns the outcome; the launch has ended like this if nothing has ended it before.
  Outcome finish(Outcome::End end);

  // What a look-ahead must restore of the launch.
  struct Progress {
    Outcome outcome;
    std::uint64_t time_ahead = 0;
  };
  // Runs ahead from here: only `observers` are called, and progress is counted anew.
  [[nodiscard]] Progress run_ahead(const Observers& observers);
  // Time is again what it was.
  void restore_time(const Progress& before) { time_ahead_ = before.time_ahead; }
  void end_run_ahead(Progress before);

 private:
  void mark(Warp& warp, const Fragment& fragment, std::uint32_t function) const;
  void note_crossing(const Slot& slot, const Warp& warp, std::uint32_t lanes, std::uint32_t from,
                     std::uint32_t to) const;

  DeviceMemory& memory_;
  const MemoryRowFunctions& rows_;

  const Launch* request_ = nullptr;
  const Program* program_ = nullptr;
  WarpModel model_ = WarpModel::independent;
  Strategy* strategy_ = nullptr;
  Limits limits_;
  std::uint64_t number_ = 0;
  std::uint32_t block_count_ = 0, warps_per_block_ = 0, threads_ = 0;

  Observers own_observers_;
  const Observers* observers_ = &own_observers_;
  std::vector<InstrTally> tally_;
  std::vector<Slot*> resident_;
  const NativeCode* native_ = nullptr;
  const NativeCode* native_some_ = nullptr;
  Quantum quantum_;
  bool came_last_ = false;
  Outcome outcome_;
  std::uint64_t time_ahead_ = 0;
};

}  // namespace warpcheck::vgpu
