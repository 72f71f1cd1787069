// The emitter of machine code: its registers, rows of operands, and code for uncommon cases.
// Internal to vgpu/machine/native.
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
  // Constants for marks (noted_rows.hpp).
  alignas(32) std::uint16_t mark_own[16];  // kOwn
  // the number of distances above kOwn that belong to other threads
  alignas(32) std::uint16_t mark_others[16];
  alignas(32) std::uint16_t mark_last[16];     // the last of these distances, minus kOwn
  alignas(32) std::uint16_t mark_written[16];  // kWritten
  alignas(32) std::uint16_t mark_all[16];      // all ones
  alignas(32) std::uint16_t mark_bits[16];     // 1 << lane
  // For marks in the upper halves of words: the bits of a mark that is of this phase and written.
  alignas(32) std::uint32_t mark_state[8];
  alignas(32) std::uint32_t mark_is_written[8];
  alignas(32) std::uint32_t mark_phase[8];  // kPhase, in the lower half
};
extern const Tables kTables;

// Numbers that were counted when a block was entered, but that were not executed because the block
// was left early.
struct Counted {
  std::uint32_t instructions = 0;
  std::uint32_t unguarded = 0;  // included in `instructions`
  std::uint32_t accesses = 0;
};

class Emitter {
 public:
  //   live: for code of all lanes; null: code of some lanes
  Emitter(x86::Assembler& assembler, SimdLevel level, const Program& program, const LiveRows* live,
          const NativeCalls& its_calls)
      : a(assembler),
        calls(its_calls),
        constants_(program.constants.data()),
        is_512_(level == SimdLevel::avx512),
        some_(live == nullptr) {
    if (live != nullptr) {
      rows_.emplace(program.code, *live, kScratch, (is_512_ ? 32 : 16) - kScratch, vector_bytes());
    }
  }

  // Between begin_block() and end_block(), each instruction of the block is begun and ended.
  void begin_block(std::uint32_t end) {
    if (rows_) rows_->begin_block(end);
  }
  // Code that is emitted later, apart from its instruction, finds all rows in memory.
  void end_block() { begin_block(0); }
  void begin_instruction(std::uint32_t pc) {
    if (rows_) rows_->begin_instruction(pc);
  }
  void end_instruction() {
    if (rows_) rows_->end_instruction();
  }
  // Called where code paths with different actions join: afterwards all rows are in memory, and
  // results of the instruction go to memory too.
  void put_rows_away();
  //   returns: the argument for end_one()
  std::uint32_t put_rows_away_for_one(std::uint32_t pc) {
    put_rows_away();
    return rows_ ? std::exchange(rows_->state.end, pc + 1) : 0;
  }
  void end_one(std::uint32_t end) {
    if (rows_) rows_->state.end = end;
  }

  // Emits a compute instruction that all lanes of the fragment execute.  False: there is no code
  // for its form, and nothing was emitted.
  bool compute(const Instr& instr, std::uint32_t pc);
  // Emits a guarded compute instruction for the lanes in r8d; results as compute().
  bool compute_guarded(const Instr& instr, std::uint32_t pc);
  // Emits a load of a kernel parameter.
  bool parameter(const Instr& instr);
  // Emits a move from a special register.
  bool special(const Instr& instr);
  // Emits a weak load or store of one element per lane.  False: it is not of that kind.
  //   rest: the instructions of the block after it
  bool access(const Instr& instr, std::uint32_t pc, const Counted& rest);
  // Emits an atomic of one element of 4 or 8 bytes per lane.  False: it is not of that kind.
  bool atomic(const Instr& instr, std::uint32_t pc, const Counted& rest);
  // Emits a weak load or store for some lanes, those in edx, whose rows are in memory.  False: it
  // is not of that kind.
  bool access_partially(const Instr& instr, std::uint32_t pc, const Counted& rest);
  // Emits a call of the interpreter's function for the instruction, for the lanes in edx.
  void call_execute(const Instr& instr, std::uint32_t pc, const Counted& rest);
  // Emits a call of the function of a compute instruction.
  void call_compute(const Instr& instr, std::uint32_t pc);
  // Emits a jump to the interpreter, which continues at `pc`; `undone` is subtracted from the
  // counts.
  void leave(std::uint32_t pc, const Counted& undone);
  // Emits the code after a call: execution continues here or, in the interpreter, at `pc` or after
  // it.
  void follow(std::uint32_t pc, const Counted& rest);
  void call(const void* function);
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
  void emit_later();

  [[nodiscard]] static x86::Mem field(std::size_t offset, std::uint32_t size) {
    return x86::Mem(x86::rbx, static_cast<std::int32_t>(offset), size);
  }
  [[nodiscard]] static x86::Mem predicate(const Ref& ref) {
    return x86::Mem(base_of(ref.bank), static_cast<std::int32_t>(ref.offset), 4);
  }

  x86::Assembler& a;  // NOLINT(readability-identifier-length): what assembler code looks like
  const NativeCalls& calls;
  asmjit::Label epilogue;

 private:
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
  // emit_rows.cpp
  [[nodiscard]] asmjit::Operand part(const Ref& ref, std::uint32_t byte) const;
  [[nodiscard]] asmjit::Operand half_part(const Ref& ref, std::uint32_t byte, unsigned scratch);
  [[nodiscard]] asmjit::Operand first_lane(const Ref& ref, bool wide) const;
  [[nodiscard]] x86::Vec source(const Ref& ref, std::uint32_t byte, unsigned scratch);
  [[nodiscard]] x86::Vec result(const Ref& ref, std::uint32_t byte, unsigned scratch);
  RowPlan plan(const Ref& ref);
  bool keep_constant(const Ref& ref, const Ref& constant);
  void store_guarded(const Ref& ref, std::uint32_t byte, bool wide, const x86::Vec& from);
  void store_cached(const CachedRow& cached);
  void load_cached(const CachedRow& cached);
  void store_rows();
  void load_sources();
  void load_results();
  void give_up_rows();
  // Like later(), for code that begins or ends in the middle of this instruction's code.
  void later_with_rows(std::function<void()> emit);
  // Stores a part of a result row for the lanes that run.
  void store_row(const Ref& ref, std::uint32_t byte, bool wide, const x86::Vec& from);
  // Stores the lower half of a vector to a row of words.
  void store_half_row(const Ref& ref, std::uint32_t byte, const x86::Vec& from);
  void store_predicate(const Ref& ref, const x86::Gp& bits);
  // The mask register for eight lanes from number 8 * `part` on.
  [[nodiscard]] static x86::KReg lanes_at(std::uint32_t part) {
    constexpr unsigned kMasks[] = {6, 4, 7, 5};
    return x86::KReg(kMasks[part]);
  }
  // Calls emit(byte offset in the row) for each vector of a row.
  template <class Emit>
  void for_each_part(bool wide, Emit emit) {
    const std::uint32_t bytes = wide ? kWideRowBytes : kWordRowBytes;
    for (std::uint32_t byte = 0; byte < bytes; byte += vector_bytes()) emit(byte);
  }

  // The width of an instruction's operands: 4-byte values in word registers, or 8-byte values in
  // wide registers. neither: no code is generated for it.
  enum class Width : std::uint8_t { neither, word, wide };
  [[nodiscard]] static Width width_of(const Instr& instr, std::uint32_t sources);
  // Host instructions for 32 and 64 bits; 0: there is none.
  using Pair = std::pair<asmjit::InstId, asmjit::InstId>;

  // emit_compute.cpp
  bool binary(const Instr& instr, Pair of_avx2, Pair of_avx512);
  bool multiply(const Instr& instr);
  void multiply_part(const Instr& instr, std::uint32_t byte, const x86::Vec& to);
  bool shift(const Instr& instr);
  bool minimum(const Instr& instr);
  bool negate(const Instr& instr);
  bool move(const Instr& instr);
  bool convert(const Instr& instr);
  bool logic_of_predicates(const Instr& instr);
  bool lop3(const Instr& instr);
  // emit_compare.cpp
  bool compare(const Instr& instr);
  bool set_predicate(const Instr& instr);
  bool select(const Instr& instr);
  bool float_arithmetic(const Instr& instr, std::uint32_t pc);
  bool double_arithmetic(const Instr& instr, std::uint32_t pc);
  void make_nan_canonical();
  bool float_sign(const Instr& instr);
  bool float_extreme(const Instr& instr);
  bool truncate_float(const Instr& instr);
  // emit_narrow.cpp
  [[nodiscard]] static bool is_narrow(ptx::Type type);
  [[nodiscard]] static bool are_words(const Instr& instr, std::uint32_t sources);
  void extend(const x86::Vec& to, const x86::Vec& from, unsigned bits, bool is_signed);
  x86::Vec extended(const Instr& instr, const Ref& ref, std::uint32_t byte, unsigned scratch);
  void store_narrow(const Ref& ref, std::uint32_t byte);
  bool narrow_binary(const Instr& instr, asmjit::InstId id, bool extends);
  bool narrow_multiply(const Instr& instr);
  bool narrow_shift(const Instr& instr);
  bool narrow_unary(const Instr& instr);
  bool narrow(const Instr& instr);
  bool convert_narrow(const Instr& instr);
  void store_words_of(const Ref& to, const Ref& from, bool high);
  bool move_parts(const Instr& instr);
  bool pack_parts(const Instr& instr, bool wide);
  bool permute_bytes(const Instr& instr);
  // emit_access.cpp
  struct Site;
  void check_lanes(const Site& site, bool strided, asmjit::Label otherwise);
  void find_and_tell(const Site& site, bool strided);
  void move_row(const Site& site, bool strided);
  void move_vector(const Site& site, bool strided);
  void find_row(const Site& site, bool strided);
  void add_origin(const Site& site, std::size_t offset);
  // emit_atomic.cpp
  struct Combination;
  [[nodiscard]] std::optional<Combination> combination_of(const Site& site) const;
  void perform_told(const Site& site);
  [[nodiscard]] Ref old_of(const Site& site) const;
  void go_unless_private(const Site& site, asmjit::Label otherwise);
  void go_unless_exclusive(const Site& site, asmjit::Label otherwise);
  void go_unless_noted(const Site& site, asmjit::Label otherwise);
  void perform_row(const Site& site, const Combination& combination);
  void perform_lanes(const Site& site, const Combination& combination);
  // emit_partial.cpp
  void begin_lane_masks(bool wide);
  x86::Vec lane_mask(bool wide, std::uint32_t byte);
  void check_some_lanes(const Site& site);
  void find_some_lanes(const Site& site);
  void note_some_lanes(const Site& site);
  void move_some_lanes(const Site& site);
  // emit_notes.cpp
  enum class NotedAs : std::uint8_t { row, uniform, some, single };  // some, single: lanes in r8d
  [[nodiscard]] static bool is_noted(const Site& site, bool strided);
  void note(const Site& site, NotedAs as, asmjit::Label untold);
  void put_row(const Site& site, NotedAs as);
  void note_states(const Site& site, bool strided, asmjit::Label untold);
  void note_some_states(const Site& site, asmjit::Label untold);
  void note_single(const Site& site, asmjit::Label untold, asmjit::Label done);
  void find_mark_of_warp();
  void mark_uniform(asmjit::Label untold);
  void mark_row(const Site& site, bool some, asmjit::Label untold);
  void keep_written();
  void mark_met(asmjit::Label untold);
  void note_update(const Site& site, asmjit::Label untold);
  // emit_noted_lanes.cpp
  void call_note_lanes(const Site& site, asmjit::Label noted);
  void emit_note_lanes();
  void note_lanes_states(asmjit::Label untold);
  void find_marks_of_lanes();
  void refuse_written_lanes(asmjit::Label untold);
  void put_scattered_row();
  void note_lanes_alone(asmjit::Label many, asmjit::Label row);
  // emit_scattered.cpp
  [[nodiscard]] bool scatters(const Site& site) const;
  void find_offsets(const Site& site);
  void find_scattered(const Site& site);
  void find_part(const Site& site, std::uint32_t byte);
  void tell_lanes(const Site& site, Pattern pattern);
  void move_scattered(const Site& site);
  void move_lanes_at(const Site& site, std::uint32_t element, const x86::Mem& offsets);

  static constexpr std::uint32_t kScratch = 8;  // vector registers that hold no rows

  const std::byte* constants_;  // the program's rows of constants
  bool is_512_;
  bool some_;                     // some lanes do not run
  bool guarded_ = false;          // results apply only to the lanes in r8d
  std::optional<RowCache> rows_;  // absent if some_
  std::vector<std::function<void()>> later_;
  asmjit::Label note_lanes_;  // a subroutine; not valid: not called so far
};

}  // namespace warpcheck::vgpu::native
