// Emits weak loads and stores of some lanes, if the addresses are consecutive in the lane number
// and no observer needs the access or the code can record it.  The code resolves the address by the
// site of the instruction's last access, and moves the lanes of r8d under a mask.  Everything else
// is a call.
#include "vgpu/machine/native/access_emitter.hpp"

namespace warpcheck::vgpu::native {

using ptx::Space;

// Jumps to the slow path unless the addresses of those lanes are consecutive.  Leaves the address
// of the first of them in rax, and its distance from lane 0 in rcx.
void AccessEmitter::check_some_lanes(const Site& site, bool is_row) {
  const bool wide = site.wide_address;
  const Ref& address = site.address();
  a.bsf(x86::ecx, x86::r8d);
  const x86::Mem first = x86::ptr(base_of(address.bank), x86::rcx, wide ? 3 : 2,
                                  static_cast<std::int32_t>(address.offset), wide ? 8 : 4);
  if (wide) {
    a.mov(x86::rax, first);
  } else {
    a.mov(x86::eax, first);
  }
  a.shl(x86::ecx, static_cast<std::uint32_t>(site.log2()));
  if (is_row) return begin_lane_masks(wide);
  a.mov(x86::rsi, x86::rax);
  a.sub(x86::rsi, x86::rcx);
  a.vmovq(x86::xmm0, x86::rsi);
  a.emit(wide ? Inst::kIdVpbroadcastq : Inst::kIdVpbroadcastd, vec(0), x86::xmm0);
  begin_lane_masks(wide);
  const std::size_t lanes = wide ? offsetof(Tables, wide_lanes) + site.log2() * kWideRowBytes
                                 : offsetof(Tables, word_lanes) + site.log2() * kWordRowBytes;
  for_each_part(wide, [&](std::uint32_t byte) {
    a.emit(wide ? Inst::kIdVpaddq : Inst::kIdVpaddd, vec(1), vec(0), table(lanes + byte));
    if (is_512_) {
      a.k(lanes_at(byte / (wide ? 64 : 32)))
          .emit(wide ? Inst::kIdVpcmpq : Inst::kIdVpcmpd, byte == 0 ? x86::k1 : x86::k2, vec(1),
                row(address, byte), asmjit::Imm(x86::VPCmpImm::kNE));
      if (byte != 0) a.korw(x86::k1, x86::k1, x86::k2);
      return;
    }
    a.emit(Inst::kIdVpxor, vec(1), vec(1), row(address, byte));
    a.vpand(byte == 0 ? vec(2) : vec(1), vec(1), lane_mask(wide, byte));
    if (byte != 0) a.vpor(vec(2), vec(2), vec(1));
  });
  if (is_512_) {
    a.kortestw(x86::k1, x86::k1);
  } else {
    a.vptest(vec(2), vec(2));
  }
  a.jnz(site.slow);
}

// Computes from that the offset of lane 0's bytes, even if it is inactive, from the site's base;
// leaves the sites in rdx.
void AccessEmitter::find_some_lanes(const Site& site) {
  const std::int64_t displacement = site.instr.displacement;
  if (!site.wide_address) {
    a.add(x86::eax, static_cast<std::int32_t>(displacement));
  } else {
    a.mov(x86::rdi, displacement);
    a.add(x86::rax, x86::rdi);
  }
  a.mov(x86::rdx, field(offsetof(NativeFrame, sites), 8));
  a.sub(x86::rax, site.field(offsetof(AccessSite, base)));
  a.cmp(x86::rax, site.field(offsetof(AccessSite, lane_room)));
  a.ja(site.slow);
  a.test(x86::al, site.bytes - 1);
  a.jnz(site.slow);
  a.bsr(x86::edi, x86::r8d);
  a.shl(x86::edi, static_cast<std::uint32_t>(site.log2()));
  a.sub(x86::edi, x86::ecx);
  a.add(x86::rdi, x86::rax);
  a.cmp(x86::rdi, site.field(offsetof(AccessSite, lane_room)));
  a.ja(site.slow);
  a.sub(x86::rax, x86::rcx);
}

// Jumps to the slow path if the access must be reported.
void AccessEmitter::record_some_lanes(const Site& site) {
  const asmjit::Label unwatched = a.newLabel(), watched = a.newLabel();
  a.cmp(field(offsetof(NativeFrame, is_watched), 4), 0);
  a.jne(watched);
  a.bind(unwatched);
  later([this, site, unwatched, watched] {
    a.bind(watched);
    if (RecordEmitter::may_queue(site)) {
      a.lea(x86::ecx, x86::ptr(x86::r8, -1));  // one lane alone is uniform
      a.test(x86::ecx, x86::r8d);
      a.jz(site.slow);
      recorder_.queue_read(site, Pattern::strided, true, unwatched);
      a.jmp(site.slow);
      return;
    }
    recorder_.record(site, RecordedAs::some, site.slow);
    a.jmp(unwatched);
  });
}

void AccessEmitter::move_some_lanes(const Site& site) {
  const bool wide = site.bytes == 8;
  if (!is_512_) begin_lane_masks(wide);
  for_each_part(wide, [&](std::uint32_t byte) {
    const x86::Mem memory(x86::rax, static_cast<std::int32_t>(byte), 0);
    const x86::Mem value = row(site.value(), byte);
    const x86::Mem& from = site.is_load ? memory : value;
    const x86::Mem& to = site.is_load ? value : memory;
    if (is_512_) {
      const asmjit::InstId move = wide ? Inst::kIdVmovdqu64 : Inst::kIdVmovdqu32;
      const x86::KReg lanes = lanes_at(byte / (wide ? 64 : 32));
      a.k(lanes).z().emit(move, vec(1), from);
      a.k(lanes).emit(move, to, vec(1));
      return;
    }
    const x86::Vec lanes = lane_mask(wide, byte);
    a.vpmaskmovd(vec(1), lanes, from);
    a.vpmaskmovd(to, lanes, vec(1));
  });
}

bool AccessEmitter::emit_partially(const Instr& instr, std::uint32_t pc, const Counted& rest,
                                   bool is_row) {
  const ptx::Modifiers& m = instr.modifiers;
  const std::uint32_t bytes = ptx::bytes_of(m.type);
  const bool is_load = instr.kind == InstrKind::load;
  const Ref& value = instr[MemoryOperand::value];
  const bool has_row = value.bank == (bytes == 8 ? Bank::wide : Bank::word) ||
                       (!is_load && value.bank == Bank::constant);
  const bool is_known = m.space == Space::shared || m.space == Space::global ||
                        m.space == Space::generic || m.space == Space::constant;
  const bool is_plain = (is_load || instr.kind == InstrKind::store) &&
                        m.order == ptx::Order::weak && m.vector == 1 && (bytes == 4 || bytes == 8);
  if (!is_plain || !is_known || !has_row) return false;
  const bool wide_address = instr[MemoryOperand::address].bank != Bank::word;
  const Site site{instr, pc, rest, bytes, 1, wide_address, is_load, a.newLabel(), a.newLabel()};
  const bool may_be_recorded = RecordEmitter::is_recorded(site, true);
  const bool may_queue = RecordEmitter::may_queue(site) && m.space != Space::constant;
  a.mov(x86::r8d, x86::edx);
  if (may_queue) {
    const asmjit::Label may_go_on = a.newLabel();
    a.cmp(field(offsetof(NativeFrame, is_watched), 4), 0);
    a.je(may_go_on);
    a.mov(x86::rdx, field(offsetof(NativeFrame, sites), 8));
    a.cmp(site.field(offsetof(AccessSite, queue)), 0);
    a.je(site.slow);
    a.bind(may_go_on);
  } else if (!may_be_recorded) {
    a.cmp(field(offsetof(NativeFrame, is_watched), 4), 0);
    a.jne(site.slow);
  }
  check_some_lanes(site, is_row);
  find_some_lanes(site);
  if (may_be_recorded || may_queue) record_some_lanes(site);
  add_origin(site, offsetof(AccessSite, data));
  move_some_lanes(site);
  load_lanes();
  a.bind(site.done);
  later([this, site] {
    a.bind(site.slow);
    a.mov(x86::edx, x86::r8d);
    call_execute(site.instr, site.pc, site.rest);
    a.jmp(site.done);
  });
  return true;
}

}  // namespace warpcheck::vgpu::native
