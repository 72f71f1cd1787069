// Native code: a program compiled to machine code of the host, used beside the interpreter.
//
// The unit is the basic block.  A block is entered only if nothing can happen between its
// instructions: the quantum lasts, no other fragment waits inside the block, the strategy is not
// asked before any of its accesses, and no register is undefined.  Fragments of all lanes have
// separate code, which is shorter than the code for other fragments.  For everything that generated
// code does not do itself, it calls the interpreter's functions; if that is not enough, it returns
// to the interpreter, which can continue at any pc.  So both produce the same events in the same
// order, and observers cannot tell which of them ran.
//
// The code depends on a program's layout and not on its launches: on pcs, offsets of rows, places
// of constants.  It serves every launch of the program, in all trials.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <vector>

#include "vgpu/machine/access/row_batches.hpp"
#include "vgpu/machine/compute/compute.hpp"
#include "vgpu/machine/native/access_site.hpp"
#include "vgpu/machine/native/flow/live_rows.hpp"
#include "vgpu/machine/observer.hpp"
#include "vgpu/machine/undefined/undefined_memory.hpp"
#include "vgpu/machine/warp/running_fragment.hpp"
#include "vgpu/program/program.hpp"

namespace warpcheck::vgpu {

class FragmentLoop;
struct Observers;
struct RunningFragment;

// The lanes of a warp that code is for. in_row: all, which lie in one row of the block, so that
// their %tid.x ascends, and %tid.y and %tid.z are the same.
enum class Lanes : std::uint8_t { all, in_row, some };

struct NativeFrame;

// A round: generated code runs the turns of the warps of a block by itself.  When a warp arrives at
// a barrier or exits, the next one begins.
struct NativeRound {
  NativeFrame* running = nullptr;
  const void* entry = nullptr;     // the code of that place
  std::uint64_t* steps = nullptr;  // of the launch; each turn adds its steps at its end
  std::uint64_t until = 0;         // the number of steps at which the round stops
  std::uint32_t quantum = 0;       // with which the next turn begins
  // Where the turns of this round end: at one barrier or exit.  kNone: none has ended.
  std::uint32_t stopped_at = 0;
  std::uint32_t begins_at = 0;  // where each turn begins
};

// Returns whether a warp whose lanes are together ends its turn at the instruction: at a barrier of
// the whole block, or at its exit.
inline bool ends_turn(const Program& program, const Instr& instr) {
  return instr.guard.bank == Bank::none &&
         (instr.kind == InstrKind::exit ||
          (instr.kind == InstrKind::barrier && !program.has_named_barriers));
}

// The state of a fragment on which generated code works.
struct NativeFrame {
  LaneBanks banks;              // first, because compute functions get a pointer to the frame
  NativeFrame* next = nullptr;  // the next turn; null: no round, or its end
  NativeRound* round = nullptr;
  std::uint32_t quantum_before = 0;  // the rest of the quantum when this run began
  std::uint32_t stopped_at = 0;      // the pc at which the turn ended
  const Instr* code = nullptr;
  AccessSite* sites = nullptr;  // by pc
  std::byte* shared = nullptr;  // the block's shared memory
  const std::byte* parameters = nullptr;
  const Dim3* position = nullptr;  // of the block in the grid
  const Dim3* block = nullptr;
  const Dim3* grid = nullptr;
  const std::uint32_t* threads = nullptr;  // rows of %tid.x, .y and .z of the warp
  std::uint64_t offset = 0;                // of the access that is being reported
  std::uint64_t accesses_left = 0;         // until the strategy is asked
  std::uint64_t unguarded = 0;             // instructions that all lanes of the fragment executed
  std::uint64_t lane_steps = 0;            // of guarded instructions
  std::uint32_t lanes = 0;                 // lanes of the fragment
  std::uint32_t quantum_left = 0;
  std::uint32_t limit = 0;         // the pc at which another fragment waits
  std::uint32_t is_watched = 0;    // 1: accesses are reported
  AccessRecord* record = nullptr;  // of the block's shared memory; null: rows are reported
  // AccessRecord::time of the block; null: rows of global memory are reported.
  const std::uint64_t* queue_time = nullptr;
  RowBatches* batches = nullptr;        // hands over what is recorded; null: no observer wants rows
  const NotedStates* states = nullptr;  // of the launch's UndefinedMemory; not null
  const Allocation* shared_memory = nullptr;  // the block's
  // Members of NotedStates, in each byte.
  std::uint32_t stored = 0, stored_apart = 0;
  std::uint32_t warp = 0;   // its index in the block
  NotedStates all_settled;  // used if no observer needs states
  // Those of the launch or of a look-ahead, for which the fields are set; and of them, those that
  // were asked for the record, and their number.
  const Observers* observers = nullptr;
  const Observer* const* recorded_for = nullptr;
  std::size_t recorded_for_count = 0;
  static constexpr std::uint32_t kReportEdges = 1, kTallyEdges = 2;
  std::uint32_t wants_edges = 0;
  InstrTally* tally = nullptr;          // by pc; null: nothing is counted
  InstrTally* tally_of_rows = nullptr;  // null: rows are reported
  FragmentLoop* loop = nullptr;
  RunningFragment* run = nullptr;
  std::exception_ptr thrown;  // by an observer; generated code cannot be unwound
  // Scattered lanes: the offsets of their bytes in the allocation.
  alignas(64) std::array<std::uint32_t, kWarpLanes> offsets{};
  // Lanes::some on a host without mask registers: all ones in the cells of `lanes`, written by the
  // generated code.
  alignas(64) std::array<std::uint32_t, kWarpLanes> word_lanes{};
  alignas(64) std::array<std::uint64_t, kWarpLanes> wide_lanes{};
};

// How generated code continues after a call.
enum class NativeStep : std::uint32_t {
  go_on,
  leave_after,   // the interpreter continues after this instruction
  leave_before,  // nothing was done: the interpreter executes the instruction
};

// The functions that generated code calls.
struct NativeCalls {
  // Executes the instruction at `pc` as the interpreter does.
  //   after: the number of instructions after it in the block, which are already counted
  NativeStep (*execute)(NativeFrame*, std::uint32_t pc, std::uint32_t active, std::uint32_t after);
  // The same for a load or a store, which may go where it went last.
  NativeStep (*access)(NativeFrame*, std::uint32_t pc, std::uint32_t active, std::uint32_t after);
  // Reports the access at `pc` to the observers.  The offset of its first lane from the base of the
  // access site is NativeFrame::offset; scattered lanes are at NativeFrame::offsets.  leave_after:
  // the access has also been executed.
  NativeStep (*report)(NativeFrame*, std::uint32_t pc, Pattern pattern);
  // Reports and executes the atomic at `pc` of the lanes at NativeFrame::offsets.
  NativeStep (*perform_atomic)(NativeFrame*, std::uint32_t pc);
  void (*edge)(NativeFrame*, std::uint32_t from, std::uint32_t to);
};

class NativeCode {
 public:
  // Compiles the program.  Null: this host has no vector instructions that code is generated for,
  // or provides no executable memory.
  static std::unique_ptr<NativeCode> compile(const Program& program, SimdLevel level, Lanes lanes,
                                             const NativeCalls& calls);
  // Returns why compile() gives no code for any program; empty: it does.
  static std::string_view why_none(SimdLevel level);
  ~NativeCode();
  NativeCode(const NativeCode&) = delete;
  NativeCode& operator=(const NativeCode&) = delete;

  [[nodiscard]] bool begins_at(std::uint32_t pc) const { return entries_[pc] != nullptr; }
  // Runs from a pc at which a block begins; returns the next pc.  In a round, runs its warps from
  // the one of `frame` on, until one stops otherwise than at a barrier or its exit, or is the last.
  // kNone: the round ends after the turn of the running warp.
  std::uint32_t run(NativeFrame& frame, std::uint32_t pc) const {
    if (frame.batches == nullptr) [[likely]]
      return enter_(&frame, entries_[pc]);
    frame.batches->begin(*frame.record);
    const std::uint32_t next = enter_(&frame, entries_[pc]);
    frame.batches->hand_over(*frame.record, frame.run->slot);
    return next;
  }
  // The registers whose initial value the program may read.
  struct InitialRows {
    bool all = true;  // it is not known which
    std::vector<std::uint32_t> words, wides;
  };
  [[nodiscard]] const InitialRows& initial_rows() const { return initial_rows_; }
  // Returns whether the value that a row of the warp's stack has before the instruction at `pc` may
  // be read, by that instruction or later.
  [[nodiscard]] bool is_live(std::uint32_t pc, Bank bank, std::uint32_t row) const {
    return live_ == nullptr || live_->is_live(pc, bank, row);
  }
  // Returns the size of the code.
  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  // Returns the entry for a round that begins at `pc`.
  [[nodiscard]] const void* entry(std::uint32_t pc) const { return entries_[pc]; }

 private:
  NativeCode() = default;
  using Enter = std::uint32_t (*)(NativeFrame*, const void* at);
  Enter enter_ = nullptr;
  InitialRows initial_rows_;
  std::unique_ptr<const LiveRows> live_;  // null: not known
  std::size_t bytes_ = 0;
  std::vector<const void*> entries_;  // by pc
};

}  // namespace warpcheck::vgpu
