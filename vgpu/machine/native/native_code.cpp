// Compiles blocks, the transitions between them, and the counting of instructions.
#include "vgpu/machine/native/native_code.hpp"

#include <algorithm>

#include "vgpu/machine/native/emitter.hpp"
#include "vgpu/machine/native/level_assembler.hpp"
#include "vgpu/program/flow/next_instructions.hpp"
#include "vgpu/program/flow/passing_edges.hpp"

namespace warpcheck::vgpu {
namespace native {
namespace {

constexpr std::uint64_t kShared = kSharedWindow;

constexpr Tables make_tables() {
  Tables tables{};
  for (std::uint32_t lane = 0; lane < kWarpLanes; ++lane) {
    for (std::size_t size = 0; size < Tables::kSizes; ++size) {
      tables.wide_lanes[size][lane] = std::uint64_t{lane} << size;
      tables.word_lanes[size][lane] = lane << size;
    }
    tables.word_bits[lane] = 1u << lane;
    tables.wide_bits[lane] = std::uint64_t{1} << lane;
  }
  for (std::uint32_t& word : tables.nan) word = 0x7fffffff;
  for (std::uint32_t& word : tables.signs) word = 0x80000000;
  for (std::uint32_t& word : tables.low_half) word = 0xffff;
  for (std::uint32_t cell = 0; cell < 16; ++cell) {
    tables.cell_bytes[cell] = 0x0404'0404 * (cell % 4);
  }
  for (std::uint64_t& wide : tables.wide_signs) wide = std::uint64_t{1} << 63;
  for (std::uint64_t& wide : tables.window) wide = kShared;
  for (std::uint32_t lane = 0; lane < 16; ++lane) {
    tables.mark_own[lane] = WordMark::kOwn;
    tables.mark_others[lane] = WordMark::kPhase - WordMark::kOwn;
    tables.mark_last[lane] = WordMark::kPhase - WordMark::kOwn - 1;
    tables.mark_written[lane] = WordMark::kWritten;
    tables.mark_all[lane] = 0xffff;
    tables.mark_state_of_word[lane] =
        static_cast<std::uint16_t>(~(WordMark::kPhase - 1) | WordMark::kWritten);
    tables.mark_bits[lane] = static_cast<std::uint16_t>(1u << lane);
  }
  for (std::uint32_t lane = 0; lane < 8; ++lane) {
    tables.mark_state[lane] = (~(WordMark::kPhase - 1) | WordMark::kWritten) << 16;
    tables.mark_is_written[lane] = WordMark::kWritten << 16;
    tables.mark_phase[lane] = WordMark::kPhase;
  }
  for (std::uint32_t size = 0; size < 3; ++size) {
    for (std::uint32_t word = 0; word < 4 * kWarpLanes; ++word) {
      tables.owner_lanes[size][word] = (word >> size) * OwnerMark::kThread;
    }
  }
  for (std::uint32_t lane = 0; lane < 16; ++lane) {
    tables.owner_own[lane] = OwnerMark::kOwn;
    tables.owner_others[lane] = OwnerMark::kPeriod - OwnerMark::kOwn;
    tables.owner_written[lane] = OwnerMark::kWritten;
    tables.owner_state[lane] = ~(OwnerMark::kPeriod - 1) | OwnerMark::kWritten;
  }
  return tables;
}

// The maximal length of a block, so that the rest of a quantum is rarely too short for one.
constexpr std::uint32_t kInstructionsMax = 64;

// What accesses share, and what aligns the stack.
constexpr std::uint32_t kStackBytes =
    SharedAddresses::kPlaces * (kWordRowBytes + sizeof(std::uint32_t)) + 8;

bool is_access(const Instr& instr) { return moves_rows(instr) || instr.kind == InstrKind::atomic; }

// Returns whether the instruction can be executed inside a block.
bool stays(const Instr& instr) {
  switch (instr.kind) {
    case InstrKind::compute:
    case InstrKind::warp:
    case InstrKind::warp_sync:
    case InstrKind::special:
    case InstrKind::param:
    case InstrKind::local_address:
    case InstrKind::load:
    case InstrKind::store:
    case InstrKind::atomic:
    case InstrKind::copy_group:
    case InstrKind::nop: return true;
    case InstrKind::fence: return !instr.modifiers.tensor_map;
    default: return false;
  }
}

// Finds the pcs at which blocks begin.
std::vector<bool> find_leaders(const Program& program) {
  const std::vector<Instr>& code = program.code;
  std::vector<bool> leads(code.size() + 1);
  for (const FunctionCode& function : program.functions) leads[function.entry] = true;
  for (const auto& table : program.jump_tables) {
    for (const std::uint32_t pc : table) leads[pc] = true;
  }
  for (std::uint32_t pc = 0; pc < code.size(); ++pc) {
    if (branches(code[pc])) leads[code[pc].target] = true;
    if (!stays(code[pc])) leads[pc + 1] = true;
  }
  return leads;
}

class Compiler {
 public:
  Compiler(const Program& program, Emitter& emitter)
      : program_(program),
        emit_(emitter),
        leads_(find_leaders(program)),
        label_of_(program.code.size() + 1),
        entry_of_(program.code.size() + 1) {
    std::uint32_t length = 0;
    for (std::uint32_t pc = 0; pc < program.code.size(); ++pc) {
      length = leads_[pc] ? 0 : length + 1;
      if (length == kInstructionsMax) {
        leads_[pc] = true;
        length = 0;
      }
      const bool begins = leads_[pc] && (stays(program.code[pc]) || branches(program.code[pc]));
      if (begins) label_of_[pc] = emit_.a.newLabel();
    }
  }

  void compile() {
    emit_.epilogue = emit_.a.newLabel();
    turn_end_ = emit_.a.newLabel();
    prologue();
    for (std::uint32_t pc = 0; pc < program_.code.size(); ++pc) {
      if (label_of_[pc].isValid()) block(pc);
    }
    emit_.emit_later();
    end_turn();
    epilogue();
  }
  // Returns where code is entered from outside; not valid: no block begins at `pc`.
  [[nodiscard]] asmjit::Label entry_of(std::uint32_t pc) const { return entry_of_[pc]; }

 private:
  void prologue();
  void load_banks();
  void epilogue();
  void end_turn();
  void stop(std::uint32_t pc);
  void block(std::uint32_t first);
  void entry(std::uint32_t first, asmjit::Label refused);
  void instruction(std::uint32_t pc, const Counted& rest);
  void unguarded(std::uint32_t pc, const Counted& rest);
  void branch(std::uint32_t pc);
  void tally_edge(std::uint32_t from, std::uint32_t to);
  void go_to(std::uint32_t from, std::uint32_t to);

  const Program& program_;
  Emitter& emit_;
  std::vector<bool> leads_;
  std::vector<asmjit::Label> label_of_;  // by pc; not valid: no block begins there
  std::vector<asmjit::Label> entry_of_;  // likewise
  asmjit::Label turn_end_;
};

void Compiler::prologue() {
  x86::Assembler& a = emit_.a;
  for (const x86::Gp& kept : {x86::rbx, x86::rbp, x86::r12, x86::r13, x86::r14, x86::r15}) {
    a.push(kept);
  }
  a.sub(x86::rsp, kStackBytes);
  a.mov(x86::rbx, x86::rdi);
  a.mov(x86::rbp, asmjit::Imm(reinterpret_cast<std::uint64_t>(&kTables)));
  load_banks();
  emit_.load_lanes();
  emit_.spread_lanes();
  a.jmp(x86::rsi);
}

void Compiler::load_banks() {
  const auto load = [&](const x86::Gp& to, Bank bank) {
    const std::size_t offset = offsetof(NativeFrame, banks) + 8 * static_cast<std::size_t>(bank);
    emit_.a.mov(to, Emitter::field(offset, 8));
  };
  load(x86::r12, Bank::word);
  load(x86::r13, Bank::wide);
  load(x86::r14, Bank::predicate);
  load(x86::r15, Bank::constant);
}

// In a round: the warp has arrived at the barrier or the exit at the pc in eax, and the next warp
// begins.  If there is no next warp, or if others have arrived elsewhere, the caller executes the
// instruction.
void Compiler::end_turn() {
  x86::Assembler& a = emit_.a;
  const asmjit::Label goes_on = a.newLabel(), is_first = a.newLabel(), together = a.newLabel();
  a.bind(turn_end_);
  a.mov(x86::rcx, Emitter::field(offsetof(NativeFrame, next), 8));
  a.test(x86::rcx, x86::rcx);
  a.jz(emit_.epilogue);
  a.mov(x86::rdi, Emitter::field(offsetof(NativeFrame, round), 8));
  const x86::Mem stopped_at = x86::ptr(x86::rdi, offsetof(NativeRound, stopped_at), 4);
  a.cmp(stopped_at, x86::eax);
  a.jne(is_first);
  a.bind(together);
  a.mov(x86::edx, Emitter::field(offsetof(NativeFrame, quantum_left), 4));
  a.sub(x86::edx, 1);
  a.jb(emit_.epilogue);
  a.mov(Emitter::field(offsetof(NativeFrame, quantum_left), 4), x86::edx);
  a.mov(Emitter::field(offsetof(NativeFrame, stopped_at), 4), x86::eax);
  a.inc(Emitter::field(offsetof(NativeFrame, unguarded), 8));
  a.mov(x86::esi, Emitter::field(offsetof(NativeFrame, quantum_before), 4));
  a.sub(x86::esi, x86::edx);
  const auto of_round = [](std::size_t offset) {
    return x86::Mem(x86::rdi, static_cast<std::int32_t>(offset), 8);
  };
  a.mov(x86::rdx, of_round(offsetof(NativeRound, steps)));
  a.add(x86::rsi, x86::ptr(x86::rdx, 0, 8));
  a.mov(x86::ptr(x86::rdx, 0, 8), x86::rsi);
  a.cmp(x86::rsi, of_round(offsetof(NativeRound, until)));
  a.jb(goes_on);
  a.mov(x86::eax, ptx::kNone);
  a.jmp(emit_.epilogue);
  a.bind(goes_on);
  a.mov(x86::edx, x86::ptr(x86::rdi, offsetof(NativeRound, quantum), 4));
  a.mov(of_round(offsetof(NativeRound, running)), x86::rcx);
  a.mov(x86::rbx, x86::rcx);
  a.mov(Emitter::field(offsetof(NativeFrame, quantum_left), 4), x86::edx);
  a.mov(Emitter::field(offsetof(NativeFrame, quantum_before), 4), x86::edx);
  load_banks();
  a.jmp(of_round(offsetof(NativeRound, entry)));
  a.bind(is_first);
  a.cmp(stopped_at, static_cast<int>(ptx::kNone));
  a.jne(emit_.epilogue);
  a.mov(stopped_at, x86::eax);
  a.jmp(together);
}

// Stops at `pc`, where no block begins.
void Compiler::stop(std::uint32_t pc) {
  const bool ends =
      pc < program_.code.size() && !emit_.runs_some() && ends_turn(program_, program_.code[pc]);
  if (!ends) return emit_.leave(pc, {});
  emit_.a.mov(x86::eax, pc);
  emit_.a.jmp(turn_end_);
}

void Compiler::epilogue() {
  x86::Assembler& a = emit_.a;
  a.bind(emit_.epilogue);
  a.vzeroupper();
  a.add(x86::rsp, kStackBytes);
  for (const x86::Gp& kept : {x86::r15, x86::r14, x86::r13, x86::r12, x86::rbp, x86::rbx}) {
    a.pop(kept);
  }
  a.ret();
}

void Compiler::block(std::uint32_t first) {
  std::uint32_t end = first;
  Counted counted;
  std::uint32_t accesses_max = 0;
  bool ends_in_branch = false;
  while (end < program_.code.size() && (end == first || !leads_[end])) {
    const Instr& instr = program_.code[end];
    ends_in_branch = branches(instr);
    if (!ends_in_branch && !stays(instr)) break;
    ++end;
    ++counted.instructions;
    accesses_max += is_access(instr) ? 1 : 0;
    if (instr.guard.bank == Bank::none) {
      ++counted.unguarded;
      counted.accesses += is_access(instr) ? 1 : 0;
    }
    if (ends_in_branch) break;
  }
  x86::Assembler& a = emit_.a;
  a.bind(label_of_[first]);
  const asmjit::Label refused = a.newLabel();
  a.cmp(Emitter::field(offsetof(NativeFrame, quantum_left), 4), counted.instructions);
  a.jb(refused);
  a.cmp(Emitter::field(offsetof(NativeFrame, limit), 4), end);
  a.jb(refused);
  if (accesses_max != 0) {
    a.cmp(Emitter::field(offsetof(NativeFrame, accesses_left), 8), accesses_max);
    a.jb(refused);
  }
  entry(first, refused);
  emit_.later([this, refused, first] {
    emit_.a.bind(refused);
    emit_.leave(first, {});
  });
  a.sub(Emitter::field(offsetof(NativeFrame, quantum_left), 4), counted.instructions);
  if (counted.unguarded != 0) {
    a.add(Emitter::field(offsetof(NativeFrame, unguarded), 8), counted.unguarded);
  }
  if (counted.accesses != 0) {
    a.sub(Emitter::field(offsetof(NativeFrame, accesses_left), 8), counted.accesses);
  }
  emit_.begin_block(first, end);
  if (!emit_.runs_some()) emit_.accesses.begin_block(program_.code, first, end);
  for (std::uint32_t pc = first; pc < end; ++pc) {
    const Instr& instr = program_.code[pc];
    emit_.begin_instruction(pc);
    --counted.instructions;
    if (instr.guard.bank == Bank::none) {
      --counted.unguarded;
      counted.accesses -= is_access(instr) ? 1 : 0;
    }
    if (branches(instr)) {
      branch(pc);
    } else {
      instruction(pc, counted);
    }
    emit_.end_instruction();
  }
  emit_.end_block();
  if (!ends_in_branch) {
    if (label_of_[end].isValid()) return;  // follows
    stop(end);
  }
}

// Emits the checks of rows that the block's code takes for uniform or ascending, for entering it
// from outside.
void Compiler::entry(std::uint32_t first, asmjit::Label refused) {
  const std::vector<UniformRows::Unproven> rows = emit_.unproven(first);
  entry_of_[first] = label_of_[first];
  if (rows.empty()) return;
  entry_of_[first] = emit_.a.newLabel();
  emit_.later([this, first, refused, rows] {
    emit_.a.bind(entry_of_[first]);
    for (const UniformRows::Unproven& row : rows) emit_.check_unproven(row, refused);
    emit_.a.jmp(label_of_[first]);
  });
}

// Counts that a run goes from one instruction to another.
void Compiler::tally_edge(std::uint32_t from, std::uint32_t to) {
  x86::Assembler& a = emit_.a;
  const auto count = [](std::uint32_t pc, std::size_t offset) {
    return x86::ptr(x86::rcx, static_cast<std::int32_t>(pc * sizeof(InstrTally) + offset), 8);
  };
  a.mov(x86::rcx, Emitter::field(offsetof(NativeFrame, tally), 8));
  if (!emit_.runs_some()) {
    a.dec(count(from + 1, offsetof(InstrTally, whole_runs)));
    a.inc(count(to, offsetof(InstrTally, whole_runs)));
    return;
  }
  a.popcnt(x86::eax, Emitter::field(offsetof(NativeFrame, lanes), 4));
  a.dec(count(from + 1, offsetof(InstrTally, part_runs)));
  a.sub(count(from + 1, offsetof(InstrTally, part_lanes)), x86::rax);
  a.inc(count(to, offsetof(InstrTally, part_runs)));
  a.add(count(to, offsetof(InstrTally, part_lanes)), x86::rax);
}

void Compiler::go_to(std::uint32_t from, std::uint32_t to) {
  x86::Assembler& a = emit_.a;
  const asmjit::Label reported = a.newLabel(), unreported = a.newLabel();
  const auto report = [this, from, to] {
    emit_.a.mov(x86::rdi, x86::rbx);
    emit_.a.mov(x86::esi, from);
    emit_.a.mov(x86::edx, to);
    emit_.call(reinterpret_cast<const void*>(emit_.calls.edge));
  };
  const auto go = [this, to] {
    if (label_of_[to].isValid()) {
      emit_.a.jmp(label_of_[to]);
    } else {
      stop(to);
    }
  };
  const PassingEdges* const passing = program_.passing_edges.get();
  if (passing != nullptr && passing->find(from, to) != nullptr) {
    report();
    return go();
  }
  a.cmp(Emitter::field(offsetof(NativeFrame, wants_edges), 4), 0);
  a.jne(unreported);
  a.bind(reported);
  go();
  emit_.later([this, reported, unreported, report, from, to] {
    const asmjit::Label tallied = emit_.a.newLabel();
    emit_.a.bind(unreported);
    emit_.a.cmp(Emitter::field(offsetof(NativeFrame, wants_edges), 4), NativeFrame::kTallyEdges);
    emit_.a.je(tallied);
    report();
    emit_.a.jmp(reported);
    emit_.a.bind(tallied);
    tally_edge(from, to);
    emit_.a.jmp(reported);
  });
}

void Compiler::branch(std::uint32_t pc) {
  const Instr& instr = program_.code[pc];
  x86::Assembler& a = emit_.a;
  if (instr.guard.bank == Bank::none) return go_to(pc, instr.target);
  const asmjit::Label all = a.newLabel(), some = a.newLabel();
  if (emit_.is_uniform(instr.guard)) {
    a.cmp(Emitter::predicate(instr.guard), 0);
    a.emit(instr.guard_negated ? Inst::kIdJz : Inst::kIdJnz, all);
    go_to(pc, pc + 1);
    a.bind(all);
    a.inc(Emitter::field(offsetof(NativeFrame, unguarded), 8));
    return go_to(pc, instr.target);
  }
  if (emit_.runs_some()) {
    emit_.move_lanes(x86::edx, instr);
    a.cmp(x86::edx, Emitter::field(offsetof(NativeFrame, lanes), 4));
    a.je(all);
    a.test(x86::edx, x86::edx);
  } else {
    a.mov(x86::eax, Emitter::predicate(instr.guard));
    a.cmp(x86::eax, instr.guard_negated ? 0 : -1);
    a.je(all);
    a.cmp(x86::eax, instr.guard_negated ? -1 : 0);
  }
  a.jne(some);
  go_to(pc, pc + 1);
  a.bind(all);
  a.inc(Emitter::field(offsetof(NativeFrame, unguarded), 8));
  go_to(pc, instr.target);
  emit_.later([this, some, pc] {
    emit_.a.bind(some);
    emit_.leave(pc, {.instructions = 1});
  });
}

void Compiler::instruction(std::uint32_t pc, const Counted& rest) {
  const Instr& instr = program_.code[pc];
  if (instr.kind == InstrKind::nop && instr.guard.bank == Bank::none) return;
  if (instr.guard.bank == Bank::none) return unguarded(pc, rest);
  x86::Assembler& a = emit_.a;
  const asmjit::Label skip = a.newLabel();
  emit_.move_lanes(x86::r8d, instr);
  a.popcnt(x86::eax, x86::r8d);
  a.add(Emitter::field(offsetof(NativeFrame, lane_steps), 8), x86::rax);
  if (instr.kind == InstrKind::compute && emit_.compute.emit_guarded(instr, pc)) return;
  const std::uint32_t end = emit_.put_rows_away_for_one(pc);
  a.mov(x86::edx, x86::r8d);
  a.test(x86::edx, x86::edx);
  a.jz(skip);
  if (is_access(instr)) a.dec(Emitter::field(offsetof(NativeFrame, accesses_left), 8));
  if (instr.kind == InstrKind::compute) {
    emit_.call_compute(instr, pc);
  } else if (instr.kind != InstrKind::nop) {
    const asmjit::Label partial = a.newLabel(), done = a.newLabel();
    const bool may_be_whole = is_access(instr) && !emit_.runs_some();
    const bool is_row = emit_.accesses.is_row(instr);
    if (may_be_whole) {
      a.cmp(x86::edx, -1);
      a.jne(partial);
    }
    if (may_be_whole && emit_.accesses.emit(instr, pc, rest)) {
      a.bind(done);
      emit_.later([this, partial, done, pc, rest, is_row] {
        emit_.a.bind(partial);
        const Instr& of_some = program_.code[pc];
        if (!emit_.accesses.emit_partially(of_some, pc, rest, is_row))
          emit_.call_execute(of_some, pc, rest);
        emit_.a.jmp(done);
      });
    } else {
      a.bind(partial);
      if (!emit_.accesses.emit_partially(instr, pc, rest, is_row))
        emit_.call_execute(instr, pc, rest);
      a.bind(done);
    }
  }
  a.bind(skip);
  emit_.end_one(end);
}

void Compiler::unguarded(std::uint32_t pc, const Counted& rest) {
  const Instr& instr = program_.code[pc];
  emit_.check_widened(pc, rest);
  if (emit_.emit_results([&] { return emit_.compute.emit_any(instr, pc); })) return;
  if (is_access(instr) && !emit_.runs_some()) {
    if (emit_.accesses.emit(instr, pc, rest) || emit_.atomics.emit(instr, pc, rest)) return;
  }
  emit_.put_rows_away();
  emit_.move_lanes(x86::edx);
  if (instr.kind == InstrKind::compute) {
    emit_.call_compute(instr, pc);
  } else if (!emit_.runs_some() || !emit_.accesses.emit_partially(instr, pc, rest, false)) {
    emit_.call_execute(instr, pc, rest);
  }
}

// The code is kept until the process ends, because programs call the runtime in destructors.
asmjit::JitRuntime& runtime() {
  static auto* const made = new asmjit::JitRuntime;
  return *made;
}

}  // namespace

constexpr Tables kTables = make_tables();

void Emitter::emit_later() {
  while (!later_.empty()) {
    const std::vector<std::function<void()>> now = std::move(later_);
    later_.clear();
    for (const auto& emit : now) emit();
  }
  recorder_.emit_subroutines();
}

}  // namespace native

std::unique_ptr<NativeCode> NativeCode::compile(const Program& program, SimdLevel level,
                                                Lanes lanes, const NativeCalls& calls) {
  if (level == SimdLevel::baseline) return nullptr;
  asmjit::CodeHolder holder;
  if (holder.init(native::runtime().environment()) != asmjit::kErrorOk) return nullptr;
  struct Failure : asmjit::ErrorHandler {
    void handleError(asmjit::Error /*error*/, const char* /*message*/,
                     asmjit::BaseEmitter* /*origin*/) override {
      failed = true;
    }
    bool failed = false;
  } failure;
  holder.setErrorHandler(&failure);
  native::LevelAssembler assembler(&holder, level);
  std::unique_ptr<const LiveRows> live;
  if (lanes != Lanes::some) live = std::make_unique<const LiveRows>(program);
  native::EmitterState state(assembler, level, program, lanes, live.get(), calls);
  native::Emitter emitter(state);
  native::Compiler compiler(program, emitter);
  compiler.compile();
  void* begin = nullptr;
  if (failure.failed || native::runtime().add(&begin, &holder) != asmjit::kErrorOk) return nullptr;
  std::unique_ptr<NativeCode> code(new NativeCode);
  code->enter_ = reinterpret_cast<Enter>(begin);
  code->bytes_ = holder.codeSize();
  if (live != nullptr && live->is_known()) {
    code->initial_rows_ = {.all = false,
                           .words = live->live_at_begin(Bank::word, program.words_max),
                           .wides = live->live_at_begin(Bank::wide, program.wides_max)};
  }
  code->live_ = std::move(live);
  code->entries_.resize(program.code.size() + 1);
  for (std::uint32_t pc = 0; pc < program.code.size(); ++pc) {
    if (!compiler.entry_of(pc).isValid()) continue;
    code->entries_[pc] =
        static_cast<const std::byte*>(begin) + holder.labelOffsetFromBase(compiler.entry_of(pc));
  }
  return code;
}

std::string_view NativeCode::why_none(SimdLevel level) {
  if (level == SimdLevel::baseline) return "it needs AVX2, FMA and BMI2 (see WARPCHECK_SIMD)";
  asmjit::CodeHolder holder;
  if (holder.init(native::runtime().environment()) != asmjit::kErrorOk) return "AsmJit failed";
  asmjit::x86::Assembler assembler(&holder);
  assembler.ret();
  void* begin = nullptr;
  if (native::runtime().add(&begin, &holder) != asmjit::kErrorOk) {
    return "there is no executable memory";
  }
  native::runtime().release(begin);
  return "";
}

NativeCode::~NativeCode() { native::runtime().release(reinterpret_cast<void*>(enter_)); }

}  // namespace warpcheck::vgpu
