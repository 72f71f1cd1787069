// The registers of generated code, the lanes that run, and code for uncommon cases.  Internal to
// vgpu/machine/native.
//
// rbx: the frame. r12, r13, r14, r15: the rows of words, wide rows, predicates and constants. rbp:
// the tables. k4 to k7, if the host has mask registers and some lanes do not run: the lanes that
// run, eight lanes in each.  All other registers are free between instructions.
#pragma once

#include <asmjit/x86.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "vgpu/machine/native/flow/uniform_rows.hpp"
#include "vgpu/machine/native/native_code.hpp"
#include "vgpu/machine/native/row_cache.hpp"

namespace warpcheck::vgpu::native {

namespace x86 = asmjit::x86;
namespace Inst = asmjit::x86::Inst;

// Constants that generated code reads through rbp.
struct Tables {
  static constexpr std::size_t kSizes = 5;                   // 1, 2, 4, 8 and 16 bytes
  alignas(64) std::uint64_t wide_lanes[kSizes][kWarpLanes];  // lane * size
  alignas(64) std::uint32_t word_lanes[kSizes][kWarpLanes];
  alignas(64) std::uint32_t word_bits[kWarpLanes];  // 1 << lane
  alignas(64) std::uint64_t wide_bits[kWarpLanes];
  alignas(64) std::uint32_t nan[16];    // 0x7fffffff
  alignas(64) std::uint32_t signs[16];  // the sign bit alone
  alignas(64) std::uint64_t wide_signs[8];
  alignas(64) std::uint32_t low_half[16];    // 0xffff
  alignas(64) std::uint32_t cell_bytes[16];  // of a cell: where it begins in its 16 bytes, 4 times
  alignas(64) std::uint64_t window[8];  // the base of shared memory in the generic address space
  // Constants for marks (access_record.hpp).
  alignas(32) std::uint16_t mark_own[16];  // kOwn
  // the number of distances above kOwn that belong to other threads
  alignas(32) std::uint16_t mark_others[16];
  alignas(32) std::uint16_t mark_last[16];     // the last of these distances, minus kOwn
  alignas(32) std::uint16_t mark_written[16];  // kWritten
  alignas(32) std::uint16_t mark_all[16];      // all ones
  alignas(32) std::uint16_t mark_bits[16];     // 1 << lane
  // the bits of a mark that is of this phase and written
  alignas(32) std::uint16_t mark_state_of_word[16];
  // For marks in the upper halves of words: the bits of a mark that is of this phase and written.
  alignas(32) std::uint32_t mark_state[8];
  alignas(32) std::uint32_t mark_is_written[8];
  alignas(32) std::uint32_t mark_phase[8];  // kPhase, in the lower half
  // For marks of owners: those of threads, for rows with 1, 2 and 4 words per lane; kOwn; the
  // number of distances from kOwn on that belong to others; kWritten; and the bits of a mark that
  // is of this period and written.
  alignas(64) std::uint32_t owner_lanes[3][4 * kWarpLanes];
  alignas(64) std::uint32_t owner_own[16];
  alignas(64) std::uint32_t owner_others[16];
  alignas(64) std::uint32_t owner_written[16];
  alignas(64) std::uint32_t owner_state[16];
};
extern const Tables kTables;

// Host instructions for 32 and 64 bits; 0: there is none.
using Pair = std::pair<asmjit::InstId, asmjit::InstId>;

// The state that the emitters of one program's code share.
struct EmitterState {
  static constexpr std::uint32_t kScratch = 8;  // vector registers that hold no rows

  //   live: for code of all lanes; null: code of some lanes
  EmitterState(x86::Assembler& its_assembler, SimdLevel level, const Program& program, Lanes lanes,
               const LiveRows* live, const NativeCalls& its_calls)
      : assembler(its_assembler),
        calls(its_calls),
        constants(program.constants.data()),
        is_512(level == SimdLevel::avx512),
        logs_loads(program.has_collectives),
        some(live == nullptr) {
    if (live != nullptr) {
      rows.emplace(program.code, *live, kScratch, (is_512 ? 32 : 16) - kScratch, is_512 ? 64 : 32);
      uniform.emplace(*live, lanes == Lanes::in_row);
    }
  }

  x86::Assembler& assembler;
  const NativeCalls& calls;
  asmjit::Label epilogue;
  const std::byte* constants;  // the program's rows of constants
  bool is_512;
  bool logs_loads;                     // some observer may need to know them (load_log.hpp)
  bool some;                           // some lanes do not run
  bool guarded = false;                // results apply only to the lanes in r8d
  bool once = false;                   // results are uniform: only their first vectors are computed
  std::optional<RowCache> rows;        // absent if some
  std::optional<UniformRows> uniform;  // likewise
  std::vector<std::function<void()>> later;
};

class RegisterEmitter {
 public:
  explicit RegisterEmitter(EmitterState& state)
      : a(state.assembler),
        calls(state.calls),
        epilogue(state.epilogue),
        is_512_(state.is_512),
        some_(state.some),
        once_(state.once),
        later_(state.later) {}

  // Loads the mask of the lanes that run.  It must be loaded where a block begins, and again after
  // each call, because a call overwrites its registers.
  void load_lanes();
  // Distributes the lane mask in k6 to the other mask registers.
  void spread_masks();
  // Without mask registers: stores the cells of those lanes in the frame.
  void spread_lanes();
  // Moves the mask of the running lanes to a register; with `guarded`, without the lanes for which
  // its guard is false.
  void move_lanes(const x86::Gp& to);
  void move_lanes(const x86::Gp& to, const Instr& guarded);
  [[nodiscard]] bool runs_some() const { return some_; }
  // Registers code that hardly ever runs, to be emitted after all blocks.
  void later(std::function<void()> emit) { later_.push_back(std::move(emit)); }

  [[nodiscard]] static x86::Mem field(std::size_t offset, std::uint32_t size) {
    return x86::Mem(x86::rbx, static_cast<std::int32_t>(offset), size);
  }
  [[nodiscard]] static x86::Mem predicate(const Ref& ref) {
    return x86::Mem(base_of(ref.bank), static_cast<std::int32_t>(ref.offset), 4);
  }

  x86::Assembler& a;  // NOLINT(readability-identifier-length): what assembler code looks like
  const NativeCalls& calls;
  asmjit::Label& epilogue;

 protected:
  [[nodiscard]] static x86::Gp base_of(Bank bank) {
    switch (bank) {
      case Bank::wide: return x86::r13;
      case Bank::predicate: return x86::r14;
      case Bank::constant: return x86::r15;
      default: return x86::r12;
    }
  }
  [[nodiscard]] static x86::Mem row(const Ref& ref, std::uint32_t byte = 0) {
    return x86::Mem(base_of(ref.bank), static_cast<std::int32_t>(ref.offset + byte), 0);
  }
  [[nodiscard]] static x86::Mem table(std::size_t offset) {
    return x86::Mem(x86::rbp, static_cast<std::int32_t>(offset), 0);
  }
  // A whole vector register, and one of half its size.
  [[nodiscard]] x86::Vec vec(unsigned number) const {
    return is_512_ ? x86::Vec(x86::zmm(number)) : x86::Vec(x86::ymm(number));
  }
  [[nodiscard]] x86::Vec half(unsigned number) const {
    return is_512_ ? x86::Vec(x86::ymm(number)) : x86::Vec(x86::xmm(number));
  }
  [[nodiscard]] std::uint32_t vector_bytes() const { return is_512_ ? 64 : 32; }
  void load(const x86::Vec& to, const x86::Mem& from) { a.vmovups(to, from); }
  void store(const x86::Mem& to, const x86::Vec& from) { a.vmovups(to, from); }
  // Calls emit(byte offset in the row) for each vector of a row that must be computed.
  template <class Emit>
  void for_each_part(bool wide, Emit emit) {
    const std::uint32_t bytes = once_ ? 1 : wide ? kWideRowBytes : kWordRowBytes;
    for (std::uint32_t byte = 0; byte < bytes; byte += vector_bytes()) emit(byte);
  }
  // The mask register for eight lanes from number 8 * `part` on.
  [[nodiscard]] static x86::KReg lanes_at(std::uint32_t part) {
    constexpr unsigned kMasks[] = {6, 4, 7, 5};
    return x86::KReg(kMasks[part]);
  }
  // Masks of the lanes in r8d; lane_mask() may be called after begin_lane_masks().
  void begin_lane_masks(bool wide);
  x86::Vec lane_mask(bool wide, std::uint32_t byte);

  const bool is_512_, some_;  // EmitterState
  bool& once_;
  std::vector<std::function<void()>>& later_;
};

}  // namespace warpcheck::vgpu::native
