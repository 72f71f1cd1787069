// Emits accesses whose lanes have addresses in any order, and elements of vectors.  The addresses
// are resolved and checked as a row of offsets, and the elements are then gathered, or scattered in
// the order of the lanes.
#include "vgpu/machine/native/access_emitter.hpp"

namespace warpcheck::vgpu::native {

using ptx::Space;

// Returns whether code can be generated for the access.
bool AccessEmitter::scatters(const Site& site) const {
  return site.is_load || (is_512_ && site.bytes >= 4);
}

// Finds the offsets, reports the access, and leaves the host address of offset 0 in rax.
void AccessEmitter::find_scattered(const Site& site, const std::optional<Share>& share) {
  if (!share || !share->is_near) {
    find_offsets(site);
  } else {
    const asmjit::Label alone = a.newLabel(), found = a.newLabel();
    if (share->first == site.pc) {
      find_offsets_of_all(site, *share, alone);
      put_shape(*share, Shape::found);
    } else {
      find_offsets_again(site, *share, alone);
    }
    a.bind(found);
    later_with_rows([this, site, alone, found] {
      a.bind(alone);
      find_offsets(site);
      a.jmp(found);
    });
  }
  const asmjit::Label done = a.newLabel(), reported = a.newLabel();
  a.cmp(field(offsetof(NativeFrame, is_watched), 4), 0);
  a.jne(reported);
  a.bind(done);
  later_with_rows([this, site, done, reported] {
    a.bind(reported);
    if (RecordEmitter::records_lanes(site)) recorder_.call_record_lanes(site, done);
    if (RecordEmitter::may_queue(site)) {
      recorder_.queue_read(site, Pattern::scattered, false, done);
    } else if (RecordEmitter::may_own(site, Pattern::scattered)) {
      recorder_.queue_write(site, Pattern::scattered, done);
    }
    store_rows();
    call_report(site, Pattern::scattered);
    load_sources();
    a.mov(x86::rdx, field(offsetof(NativeFrame, sites), 8));
    a.jmp(done);
  });
  a.mov(x86::rax, site.field(offsetof(AccessSite, origin)));
  if (site.instr.modifiers.space == Space::shared) {
    a.add(x86::rax, field(offsetof(NativeFrame, shared), 8));
  }
}

void AccessEmitter::call_report(const Site& site, Pattern pattern) {
  a.mov(x86::rdi, x86::rbx);
  a.mov(x86::esi, site.pc);
  a.mov(x86::edx, static_cast<std::uint32_t>(pattern));
  call(reinterpret_cast<const void*>(calls.report));
  follow(site.pc, site.rest);
}

void AccessEmitter::move_scattered(const Site& site) {
  for (std::uint32_t element = 0; element < site.count; ++element) {
    if (site.value(element).bank == Bank::none) continue;
    move_lanes_at(site, element, field(offsetof(NativeFrame, offsets), 0));
  }
}

// Moves one element of each lane, at rax plus the lane's value in the row `offsets`.
void AccessEmitter::move_lanes_at(const Site& site, std::uint32_t element,
                                  const x86::Mem& offsets) {
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
