// A program as machine code of the host, beside what the interpreter executes.
//
// The unit is the basic block.  A block is entered only if nothing can come between its
// instructions: the quantum lasts, no other fragment waits inside, the strategy is not asked before
// any of its accesses, and no register is undefined.  Fragments of all lanes have code that is
// shorter than that of other fragments.  What the generated code does
// not do itself is a call of what the interpreter would call; where that is not enough, it leaves
// to the interpreter, which goes on at any pc.  So both give the same events in the same order, and
// whoever looks at a launch cannot tell which of them ran.
//
// Code knows a program's layout and nothing of its launches: pcs, offsets of rows, constants'
// places.  It serves every launch of the program, in this trial and in later ones.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <vector>

#include "vgpu/machine/access.hpp"
#include "vgpu/machine/compute/compute.hpp"
#include "vgpu/machine/native/access_site.hpp"
#include "vgpu/machine/native/noted_rows.hpp"
#include "vgpu/program/program.hpp"

namespace warpcheck::vgpu {

class FragmentLoop;
struct RunningFragment;

// Which lanes of a warp code is for.
enum class Lanes : std::uint8_t { all, some };

struct NativeFrame;

// The turns of warps of a block that generated code goes through by itself: where one comes to a
// barrier, or exits, the next one begins.
struct NativeRound {
  NativeFrame* running = nullptr;
  const void* entry = nullptr;     // where each begins
  std::uint64_t* steps = nullptr;  // of the launch: what a turn has executed is added at its end
  std::uint64_t until = 0;         // and when the round stops behind it
};

// What generated code works on: a fragment.
struct NativeFrame {
  LaneBanks banks;              // first: compute functions are given the frame
  NativeFrame* next = nullptr;  // whose turn comes next; null: no round, or its end
  NativeRound* round = nullptr;
  std::uint32_t quantum_before = 0;  // what was left of the quantum when the turn's run began
  std::uint32_t stopped_at = 0;      // the pc at which the turn ended
  const Instr* code = nullptr;
  AccessSite* sites = nullptr;  // by pc
  std::byte* shared = nullptr;  // the block's
  const std::byte* parameters = nullptr;
  const Dim3* position = nullptr;  // of the block in the grid
  const Dim3* block = nullptr;
  const Dim3* grid = nullptr;
  const std::uint32_t* threads = nullptr;  // rows of %tid.x, .y and .z of the warp
  std::uint64_t offset = 0;                // of the access that is being told
  std::uint64_t accesses_left = 0;         // before the strategy is asked
  std::uint64_t unguarded = 0;             // instructions, which all lanes of the fragment executed
  std::uint64_t lane_steps = 0;            // of the others
  std::uint32_t lanes = 0;                 // of the fragment
  std::uint32_t quantum_left = 0;
  std::uint32_t limit = 0;       // the pc at which another fragment waits
  std::uint32_t is_watched = 0;  // accesses are told
  NotedRows* notes = nullptr;    // with which rows of shared memory are noted; null: they are told
  const NotedStates* states = nullptr;         // RowNotes::states, not null
  const Allocation* shared_memory = nullptr;   // the block's
  std::uint32_t stored = 0;                    // RowNotes::stored, in each byte
  std::uint32_t warp = 0;                      // its index in the block
  NotedStates all_settled;                     // where nobody asks
  const Observer* const* noted_for = nullptr;  // those who have been asked, and how many they are
  std::size_t noted_for_count = 0;
  std::uint32_t wants_edges = 0;
  FragmentLoop* loop = nullptr;
  RunningFragment* run = nullptr;
  std::exception_ptr thrown;  // by an observer: generated code cannot be unwound
  // Scattered: where the lanes' bytes lie in the allocation.
  alignas(64) std::array<std::uint32_t, kWarpLanes> offsets{};
  // Lanes::some, without masks: all ones in the cells of `lanes`, written by the code itself.
  alignas(64) std::array<std::uint32_t, kWarpLanes> word_lanes{};
  alignas(64) std::array<std::uint64_t, kWarpLanes> wide_lanes{};
};

// How generated code goes on after a call.
enum class NativeStep : std::uint32_t {
  go_on,
  leave_after,   // the interpreter goes on behind this instruction
  leave_before,  // nothing was done: the interpreter executes it
};

// The functions that generated code calls.
struct NativeCalls {
  // Executes the instruction at `pc` as the interpreter does.
  //   after: instructions of the block behind it, which are counted already
  NativeStep (*execute)(NativeFrame*, std::uint32_t pc, std::uint32_t active, std::uint32_t after);
  // The same of a load or a store, which may go where it went last.
  NativeStep (*access)(NativeFrame*, std::uint32_t pc, std::uint32_t active, std::uint32_t after);
  // Tells the access at `pc`, whose lanes lie from NativeFrame::offset bytes behind its site's base
  // on.  leave_after: it has been made, too.
  NativeStep (*tell)(NativeFrame*, std::uint32_t pc, std::uint32_t strided);
  // The same of a vector a lane, and of lanes that are scattered: of NativeFrame::offsets.
  NativeStep (*tell_lanes)(NativeFrame*, std::uint32_t pc, Pattern pattern);
  // Tells and performs the atomic at `pc`, whose lanes lie at NativeFrame::offsets.
  NativeStep (*perform_atomic)(NativeFrame*, std::uint32_t pc);
  void (*edge)(NativeFrame*, std::uint32_t from, std::uint32_t to);
};

class NativeCode {
 public:
  // Null: this host has no vectors that code is generated for, or gives no executable memory.
  static std::unique_ptr<NativeCode> compile(const Program& program, SimdLevel level, Lanes lanes,
                                             const NativeCalls& calls);
  ~NativeCode();
  NativeCode(const NativeCode&) = delete;
  NativeCode& operator=(const NativeCode&) = delete;

  [[nodiscard]] bool begins_at(std::uint32_t pc) const { return entries_[pc] != nullptr; }
  // Runs from a pc at which a block begins; returns the pc that is next.  Of a round, its warps
  // from `frame`'s on, until one stops otherwise than at a barrier or its exit, or is the last;
  // kNone: it is over behind the turn of the running one.
  std::uint32_t run(NativeFrame& frame, std::uint32_t pc) const {
    return enter_(&frame, entries_[pc]);
  }
  // Whether the program may read what a register holds when a kernel begins; true: perhaps.
  [[nodiscard]] bool reads_unwritten_registers() const { return reads_unwritten_registers_; }
  // What a round is given of where it begins.
  [[nodiscard]] const void* entry(std::uint32_t pc) const { return entries_[pc]; }

 private:
  NativeCode() = default;
  using Enter = std::uint32_t (*)(NativeFrame*, const void* at);
  Enter enter_ = nullptr;
  bool reads_unwritten_registers_ = true;
  std::vector<const void*> entries_;  // by pc
};

}  // namespace warpcheck::vgpu
