// Emits weak loads and stores whose addresses are consecutive or all equal.  The code resolves the
// address by the site of the instruction's last access, reports the access, and moves the row.
// Scattered lanes are in emit_scattered.cpp; the interpreter executes everything else.
#include "vgpu/machine/native/access_emitter.hpp"

namespace warpcheck::vgpu::native {

using ptx::Space;

// Leaves the host address of the first lane's bytes in rax.
void AccessEmitter::find_and_tell(const Site& site, bool strided) {
  find_row(site, strided);
  const asmjit::Label done = a.newLabel(), reported = a.newLabel();
  a.cmp(field(offsetof(NativeFrame, is_watched), 4), 0);
  if (RecordEmitter::is_recorded(site, strided)) {
    a.je(done);
    recorder_.record(site, strided ? RecordedAs::row : RecordedAs::uniform, reported);
  } else {
    a.jne(reported);
  }
  a.bind(done);
  later_with_rows([this, site, strided, done, reported] {
    a.bind(reported);
    if (RecordEmitter::may_queue(site)) {
      recorder_.queue_read(site, strided ? Pattern::strided : Pattern::uniform, false, done);
    } else if (RecordEmitter::may_own(site, Pattern::strided)) {
      recorder_.queue_write(site, Pattern::strided, done);
    }
    tally_row(site, strided, done);
    a.mov(field(offsetof(NativeFrame, offset), 8), x86::rax);
    store_rows();
    call_report(site, strided ? Pattern::strided : Pattern::uniform);
    load_sources();
    a.mov(x86::rax, field(offsetof(NativeFrame, offset), 8));
    a.mov(x86::rdx, field(offsetof(NativeFrame, sites), 8));
    a.jmp(done);
  });
  add_origin(site, offsetof(AccessSite, data));
}

// Counts the row and jumps to `done` if nobody needs to see it; preserves rax and rdx.
void AccessEmitter::tally_row(const Site& site, bool strided, asmjit::Label done) {
  const bool is_global = site.instr.modifiers.space == Space::global;
  if (!is_global && site.instr.modifiers.space != Space::shared) return;
  if (runs_some() || site.lane_bytes() < 4) return;
  const asmjit::Label seen = a.newLabel(), shifted = a.newLabel();
  const auto count = [&](std::size_t offset) {
    a.inc(x86::ptr(x86::r9, static_cast<std::int32_t>(site.pc * sizeof(InstrTally) + offset), 8));
    a.jmp(done);
  };
  a.mov(x86::r9, field(offsetof(NativeFrame, tally_of_rows), 8));
  a.test(x86::r9, x86::r9);
  a.jz(seen);
  if (strided && is_global) {
    a.mov(x86::ecx, site.field(offsetof(AccessSite, row_base)).cloneResized(4));
    a.add(x86::ecx, x86::eax);
    a.test(x86::ecx, kTallySector - 1);
    a.jnz(shifted);
  }
  count(strided ? offsetof(InstrTally, rows) : offsetof(InstrTally, uniform_rows));
  a.bind(shifted);
  if (strided && is_global) count(offsetof(InstrTally, shifted_rows));
  a.bind(seen);
}

// The elements of a vector are in separate rows.
void AccessEmitter::move_vector(const Site& site, bool strided) {
  const bool wide = site.bytes == 8;
  for (std::uint32_t element = 0; element < site.count; ++element) {
    if (site.value(element).bank == Bank::none) continue;
    if (strided) {
      move_lanes_at(site, element,
                    table(offsetof(Tables, word_lanes) + site.log2() * kWordRowBytes));
      continue;
    }
    const x86::Mem one(x86::rax, static_cast<std::int32_t>(element * site.bytes), site.bytes);
    a.emit(wide ? Inst::kIdVpbroadcastq : Inst::kIdVpbroadcastd, vec(0), one);
    for_each_part(wide,
                  [&](std::uint32_t byte) { store_row(site.value(element), byte, wide, vec(0)); });
  }
}

void AccessEmitter::move_row(const Site& site, bool strided) {
  if (site.count != 1) return move_vector(site, strided);
  const bool is_signed = ptx::is_signed(site.instr.modifiers.type);
  const bool wide = site.bytes == 8;
  const bool narrow = site.bytes < 4;
  for_each_part(wide, [&](std::uint32_t byte) {
    const std::uint32_t lane = byte / (wide ? 8 : 4);
    const x86::Mem memory(x86::rax, static_cast<std::int32_t>(lane * site.bytes), 0);
    if (!site.is_load) {
      const x86::Vec value = source(site.value(), byte, 0);
      if (narrow) {
        a.emit(site.bytes == 1 ? Inst::kIdVpmovdb : Inst::kIdVpmovdw, memory, value);
      } else {
        store(memory, value);
      }
      return;
    }
    x86::Vec to = vec(0);
    if (!strided && byte == 0 && narrow) {
      const x86::Mem one(x86::rax, 0, site.bytes);
      if (is_signed) {
        a.movsx(x86::eax, one);
      } else {
        a.movzx(x86::eax, one);
      }
      a.vmovd(x86::xmm0, x86::eax);
      a.vpbroadcastd(vec(0), x86::xmm0);
    } else if (!strided && byte == 0) {
      const x86::Mem one(x86::rax, 0, site.bytes);
      a.emit(wide ? Inst::kIdVpbroadcastq : Inst::kIdVpbroadcastd, vec(0), one);
    } else if (strided && narrow) {
      asmjit::InstId id = site.bytes == 1 ? Inst::kIdVpmovzxbd : Inst::kIdVpmovzxwd;
      if (is_signed) id = site.bytes == 1 ? Inst::kIdVpmovsxbd : Inst::kIdVpmovsxwd;
      a.emit(id, vec(0), memory);
    } else if (strided) {
      to = result(site.value(), byte, 0);
      load(to, memory);
    }
    store_row(site.value(), byte, wide, to);
  });
}

namespace {

// Returns whether the rows that the instruction loads or stores have the width of its type.
bool has_rows(const Instr& instr, std::uint32_t bytes, std::uint32_t count, bool is_load) {
  for (std::uint32_t element = 0; element < count; ++element) {
    const Ref& value = instr[MemoryOperand::value + element];
    const bool fits = value.bank == (bytes == 8 ? Bank::wide : Bank::word) ||
                      (!is_load && value.bank == Bank::constant) ||
                      (is_load && count != 1 && value.bank == Bank::none);
    if (!fits) return false;
  }
  return true;
}

}  // namespace

// Leaves the access to a call, for all lanes.
void AccessEmitter::execute_slowly(const Site& site) {
  a.bind(site.slow);
  a.mov(x86::edx, -1);
  call_execute(site.instr, site.pc, site.rest);
  load_results();
  a.jmp(site.done);
}

// Emits an access whose addresses are known to be consecutive or all equal.
bool AccessEmitter::emit_known(const Site& site, bool strided) {
  find_and_tell(site, strided);
  emit_results([&] {
    move_row(site, strided);
    return true;
  });
  a.bind(site.done);
  later_with_rows([this, site] { execute_slowly(site); });
  return true;
}

// Returns what the access shares, if it is the first of its group or the first one's code leaves
// how its addresses lie.
std::optional<SiteEmitter::Share> AccessEmitter::take_share(std::uint32_t pc) {
  const std::optional<Share> share = shared_.find(pc);
  if (!share) return std::nullopt;
  if (share->first == pc) shaped_[share->place] = pc;
  return shaped_[share->place] == share->first ? share : std::nullopt;
}

bool AccessEmitter::emit(const Instr& instr, std::uint32_t pc, const Counted& rest) {
  const ptx::Modifiers& m = instr.modifiers;
  const Ref& address = instr[MemoryOperand::address];
  const std::uint32_t bytes = ptx::bytes_of(m.type), count = m.vector;
  const bool is_load = instr.kind == InstrKind::load;
  const bool is_whole = bytes == 4 || bytes == 8;
  const bool is_plain =
      instr.kind != InstrKind::atomic && m.order == ptx::Order::weak &&
      (count == 1 ? is_whole || bytes == 1 || bytes == 2 : is_whole && bytes * count <= 16);
  const bool is_known = m.space == Space::shared || m.space == Space::global ||
                        m.space == Space::generic || m.space == Space::constant;
  // Stores that need the host's mask registers and scatter instructions.
  const bool needs_512 = !is_load && (bytes < 4 || count != 1);
  if (!is_plain || !is_known || (needs_512 && !is_512_)) return false;
  if (!has_rows(instr, bytes, count, is_load)) return false;
  const Site site{instr,   pc,           rest,        bytes, count, address.bank != Bank::word,
                  is_load, a.newLabel(), a.newLabel()};
  if (is_load && is_uniform(address)) return emit_known(site, false);
  if (is_row(instr)) return emit_known(site, true);
  const asmjit::Label unstrided = a.newLabel();
  const std::optional<Share> share = take_share(pc);
  check_lanes(site, share, true, unstrided);
  find_and_tell(site, true);
  move_row(site, true);
  a.bind(site.done);
  later_with_rows([this, site, share, unstrided] {
    a.bind(unstrided);
    if (site.is_load) {
      const asmjit::Label different = a.newLabel();
      check_lanes(site, share, false, different);
      find_and_tell(site, false);
      give_up_rows();
      move_row(site, false);
      a.jmp(site.done);
      a.bind(different);
    }
    if (share && share->first == site.pc) put_shape(*share, Shape::scattered);
    if (scatters(site)) {
      find_scattered(site, share);
      give_up_rows();
      move_scattered(site);
      a.jmp(site.done);
    }
    execute_slowly(site);
  });
  return true;
}

}  // namespace warpcheck::vgpu::native
