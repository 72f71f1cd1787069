// Emits accesses whose lanes have addresses in any order, and elements of vectors.  The addresses
// are resolved and checked as a row of offsets, and the elements are then gathered, or scattered in
// the order of the lanes.
#include "vgpu/machine/native/emit_access.hpp"

namespace warpcheck::vgpu::native {

using ptx::Space;

// Returns whether code can be generated for the access.
bool Emitter::scatters(const Site& site) const {
  return site.is_load || (is_512_ && site.bytes >= 4);
}

// Jumps to the slow path unless all lanes' addresses are in the memory of the last access; leaves
// their offsets in the frame.
void Emitter::find_offsets(const Site& site) {
  a.mov(x86::rdx, field(offsetof(NativeFrame, sites), 8));
  a.mov(x86::rcx, site.field(offsetof(AccessSite, base)));
  a.test(x86::rcx, x86::rcx);
  a.js(site.slow);  // there was no last access
  const std::int64_t displacement = site.instr.displacement;
  if (displacement == static_cast<std::int32_t>(displacement)) {
    if (displacement != 0) a.sub(x86::rcx, displacement);
  } else {
    a.mov(x86::rax, displacement);
    a.sub(x86::rcx, x86::rax);
  }
  const bool wide = site.wide_address;
  const asmjit::InstId broadcast = wide ? Inst::kIdVpbroadcastq : Inst::kIdVpbroadcastd;
  const auto fill = [&](unsigned number) {  // of the value in rcx
    a.vmovq(x86::xmm0, x86::rcx);
    a.emit(broadcast, vec(number), x86::xmm0);
  };
  fill(2);
  a.mov(x86::rcx, site.field(offsetof(AccessSite, lane_room)));
  fill(3);
  a.mov(x86::ecx, site.lane_bytes() - 1);
  fill(4);
  a.mov(x86::ecx, site.field(offsetof(AccessSite, begin)));
  a.vmovd(x86::xmm0, x86::ecx);
  a.vpbroadcastd(vec(5), x86::xmm0);
  if (!is_512_) {
    load(vec(6), table(wide ? offsetof(Tables, wide_signs) : offsetof(Tables, signs)));
    a.vpxor(vec(3), vec(3), vec(6));
  }
  for_each_part(wide, [&](std::uint32_t byte) { find_part(site, byte); });
  if (is_512_) {
    a.kortestw(x86::k1, x86::k1);
  } else {
    a.vptest(vec(7), vec(7));
  }
  a.jnz(site.slow);
}

// Finds the offsets, reports the access, and leaves the host address of offset 0 in rax.
void Emitter::find_scattered(const Site& site) {
  find_offsets(site);
  const asmjit::Label told = a.newLabel(), untold = a.newLabel();
  a.cmp(field(offsetof(NativeFrame, is_watched), 4), 0);
  a.jne(untold);
  a.bind(told);
  later_with_rows([this, site, told, untold] {
    a.bind(untold);
    if (site.is_load && is_noted(site, true)) call_note_lanes(site, told);
    store_rows();
    tell_lanes(site, Pattern::scattered);
    load_sources();
    a.mov(x86::rdx, field(offsetof(NativeFrame, sites), 8));
    a.jmp(told);
  });
  a.mov(x86::rax, site.field(offsetof(AccessSite, origin)));
  if (site.instr.modifiers.space == Space::shared) {
    a.add(x86::rax, field(offsetof(NativeFrame, shared), 8));
  }
}

// Converts one vector of addresses: subtracts vec(2), checks that the results are at most vec(3)
// and have no bits of vec(4), and adds vec(5). k1, or vec(7), collects violations.
void Emitter::find_part(const Site& site, std::uint32_t byte) {
  const bool wide = site.wide_address;
  const x86::Mem to = field(offsetof(NativeFrame, offsets) + (wide ? byte / 2 : byte), 0);
  a.emit(wide ? Inst::kIdVpsubq : Inst::kIdVpsubd, vec(0), source(site.address(), byte, 0), vec(2));
  if (is_512_) {
    a.emit(wide ? Inst::kIdVpcmpuq : Inst::kIdVpcmpud, byte == 0 ? x86::k1 : x86::k2, vec(0),
           vec(3), asmjit::Imm(x86::VPCmpImm::kGT));
    if (byte != 0) a.korw(x86::k1, x86::k1, x86::k2);
    a.emit(wide ? Inst::kIdVptestmq : Inst::kIdVptestmd, x86::k2, vec(0), vec(4));
    a.korw(x86::k1, x86::k1, x86::k2);
    if (wide) a.vpmovqd(half(0), vec(0));
    const x86::Vec offsets = wide ? half(0) : vec(0);
    a.vpaddd(offsets, offsets, wide ? half(5) : vec(5));
    a.vmovups(to, offsets);
    return;
  }
  a.vpxor(vec(1), vec(0), vec(6));
  a.emit(wide ? Inst::kIdVpcmpgtq : Inst::kIdVpcmpgtd, vec(1), vec(1), vec(3));
  if (byte == 0) {
    a.vmovaps(vec(7), vec(1));
  } else {
    a.vpor(vec(7), vec(7), vec(1));
  }
  a.vpand(vec(1), vec(0), vec(4));
  a.vpor(vec(7), vec(7), vec(1));
  if (wide) {  // the lower halves of four values
    a.vextracti128(x86::xmm1, x86::ymm0, 1);
    a.vshufps(x86::xmm0, x86::xmm0, x86::xmm1, 0x88);
  }
  const x86::Vec offsets = wide ? half(0) : vec(0);
  a.vpaddd(offsets, offsets, wide ? half(5) : vec(5));
  a.vmovups(to, offsets);
}

void Emitter::tell_lanes(const Site& site, Pattern pattern) {
  a.mov(x86::rdi, x86::rbx);
  a.mov(x86::esi, site.pc);
  a.mov(x86::edx, static_cast<std::uint32_t>(pattern));
  call(reinterpret_cast<const void*>(calls.tell_lanes));
  follow(site.pc, site.rest);
}

void Emitter::move_scattered(const Site& site) {
  for (std::uint32_t element = 0; element < site.count; ++element) {
    if (site.value(element).bank == Bank::none) continue;
    move_lanes_at(site, element, field(offsetof(NativeFrame, offsets), 0));
  }
}

// Moves one element of each lane, at rax plus the lane's value in the row `offsets`.
void Emitter::move_lanes_at(const Site& site, std::uint32_t element, const x86::Mem& offsets) {
  const bool wide = site.bytes == 8;
  const auto begin = static_cast<std::int32_t>(element * site.bytes);
  const unsigned unused = site.bytes < 4 ? 32 - 8 * site.bytes : 0;
  const bool is_signed = ptx::is_signed(site.instr.modifiers.type);
  for_each_part(wide, [&](std::uint32_t byte) {
    const x86::Vec at = wide ? half(1) : vec(1);
    a.vmovups(at, offsets.cloneAdjusted(wide ? byte / 2 : byte));
    const x86::Mem memory = x86::ptr(x86::rax, at, 0, begin);
    if (is_512_) {
      a.kxnorw(x86::k1, x86::k1, x86::k1);
    } else {
      a.vpcmpeqd(vec(2), vec(2), vec(2));
    }
    if (!site.is_load) {
      const x86::Vec value = source(site.value(element), byte, 0);
      a.k(x86::k1).emit(wide ? Inst::kIdVpscatterdq : Inst::kIdVpscatterdd, memory, value);
      return;
    }
    a.vpxor(x86::xmm0, x86::xmm0, x86::xmm0);
    const asmjit::InstId gather = wide ? Inst::kIdVpgatherdq : Inst::kIdVpgatherdd;
    if (is_512_) {
      a.k(x86::k1).emit(gather, vec(0), memory);
    } else {
      a.emit(gather, vec(0), memory, vec(2));
    }
    if (unused != 0) {
      a.vpslld(vec(0), vec(0), unused);
      a.emit(is_signed ? Inst::kIdVpsrad : Inst::kIdVpsrld, vec(0), vec(0), asmjit::Imm(unused));
    }
    store_row(site.value(element), byte, wide, vec(0));
  });
}

}  // namespace warpcheck::vgpu::native
