// Emits the resolution of addresses by the site of the instruction's last access: of addresses that
// are consecutive, all equal, or in any order.
#include "vgpu/machine/native/site_emitter.hpp"

namespace warpcheck::vgpu::native {

using ptx::Space;

// Jumps to `otherwise` unless all lanes' addresses are consecutive, or all are equal.
void SiteEmitter::check_lanes(const Site& site, const std::optional<Share>& share, bool strided,
                              asmjit::Label otherwise) {
  const std::uint32_t step = strided ? site.lane_bytes() : 0;
  const Shape shape = strided ? Shape::strided : Shape::uniform;
  if (share && share->first != site.pc) {
    a.cmp(shape_of(*share), static_cast<int>(shape));
    a.jne(otherwise);
    return;
  }
  if (!ascends(site.address(), step)) check_row(site.address(), site.wide_address, step, otherwise);
  if (share) put_shape(*share, shape);
}

// Leaves in rax the offset of the first lane's bytes from the site's base, and in rdx the sites.
void SiteEmitter::find_row(const Site& site, bool strided) {
  const asmjit::Operand first = first_lane(site.address(), site.wide_address);
  const std::int64_t displacement = site.instr.displacement;
  if (site.wide_address) {
    a.emit(first.isReg() ? Inst::kIdVmovq : Inst::kIdMov, x86::rax, first);
    if (displacement != 0 && displacement == static_cast<std::int32_t>(displacement)) {
      a.add(x86::rax, displacement);
    } else if (displacement != 0) {
      a.mov(x86::rcx, displacement);
      a.add(x86::rax, x86::rcx);
    }
  } else {
    a.emit(first.isReg() ? Inst::kIdVmovd : Inst::kIdMov, x86::eax, first);
    if (displacement != 0) a.add(x86::eax, static_cast<std::int32_t>(displacement));
  }
  a.mov(x86::rdx, field(offsetof(NativeFrame, sites), 8));
  a.sub(x86::rax,
        site.field(strided ? offsetof(AccessSite, row_base) : offsetof(AccessSite, base)));
  a.cmp(x86::rax,
        site.field(strided ? offsetof(AccessSite, row_room) : offsetof(AccessSite, lane_room)));
  a.ja(site.slow);
  if (site.lane_bytes() != 1) {
    a.test(x86::al, site.lane_bytes() - 1);
    a.jnz(site.slow);
  }
}

// Adds the field of the site at `offset` to rax, which makes it a host address.
void SiteEmitter::add_origin(const Site& site, std::size_t offset) {
  a.add(x86::rax, site.field(offset));
  if (site.instr.modifiers.space == Space::shared) {
    a.add(x86::rax, field(offsetof(NativeFrame, shared), 8));
  }
}

// Jumps to the slow path unless all lanes' addresses are in the memory of the last access; leaves
// their offsets in the frame.
void SiteEmitter::find_offsets(const Site& site) { find_offsets(site, nullptr, site.slow); }

// Jumps to `otherwise` unless the near accesses of the whole group are there too; leaves the
// offsets of this access, its first, in the frame and on the stack.
void SiteEmitter::find_offsets_of_all(const Site& site, const Share& share,
                                      asmjit::Label otherwise) {
  find_offsets(site, &share, otherwise);
}

// Leaves the offsets of a near access in the frame if the first access of its group has left its
// own on the stack and was in the same memory, else jumps to `otherwise`.
void SiteEmitter::find_offsets_again(const Site& site, const Share& share,
                                     asmjit::Label otherwise) {
  a.cmp(shape_of(share), static_cast<int>(Shape::found));
  a.jne(otherwise);
  a.mov(x86::rdx, field(offsetof(NativeFrame, sites), 8));
  for (const std::size_t offset : {offsetof(AccessSite, base), offsetof(AccessSite, lane_room)}) {
    a.mov(x86::rcx, site.field(offset));
    a.cmp(x86::rcx, site.of(share.first, offset));
    a.jne(otherwise);
  }
  a.mov(x86::ecx, share.distance);
  a.vmovd(x86::xmm0, x86::ecx);
  a.vpbroadcastd(vec(0), x86::xmm0);
  for (std::uint32_t byte = 0; byte < kWordRowBytes; byte += vector_bytes()) {
    a.vpaddd(vec(1), vec(0), shared_offsets(share).cloneAdjusted(byte));
    store(field(offsetof(NativeFrame, offsets) + byte, 0), vec(1));
  }
}

//   share: of the first access of a group; null: for this access alone
void SiteEmitter::find_offsets(const Site& site, const Share* share, asmjit::Label otherwise) {
  a.mov(x86::rdx, field(offsetof(NativeFrame, sites), 8));
  a.mov(x86::rcx, site.field(offsetof(AccessSite, base)));
  a.test(x86::rcx, x86::rcx);
  a.js(otherwise);  // there was no last access
  // From the lowest address of the group.
  const std::int64_t low = share == nullptr ? 0 : share->low;
  const auto displacement = static_cast<std::int64_t>(
      static_cast<std::uint64_t>(site.instr.displacement) + static_cast<std::uint64_t>(low));
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
  if (share != nullptr && share->span != 0) {
    a.sub(x86::rcx, share->span);
    a.jb(otherwise);
  }
  fill(3);
  a.mov(x86::ecx, site.lane_bytes() - 1);
  fill(4);
  a.mov(x86::ecx, site.field(offsetof(AccessSite, begin)).cloneResized(4));
  if (low != 0) a.sub(x86::ecx, static_cast<std::int32_t>(low));
  a.vmovd(x86::xmm0, x86::ecx);
  a.vpbroadcastd(vec(5), x86::xmm0);
  if (!is_512_) {
    load(vec(6), table(wide ? offsetof(Tables, wide_signs) : offsetof(Tables, signs)));
    a.vpxor(vec(3), vec(3), vec(6));
  }
  for_each_part(wide, [&](std::uint32_t byte) { find_part(site, share, byte); });
  if (is_512_) {
    a.kortestw(x86::k1, x86::k1);
  } else {
    a.vptest(vec(7), vec(7));
  }
  a.jnz(otherwise);
}

// Converts one vector of addresses: subtracts vec(2), checks that the results are at most vec(3)
// and have no bits of vec(4), and adds vec(5). k1, or vec(7), collects violations.
void SiteEmitter::find_part(const Site& site, const Share* share, std::uint32_t byte) {
  const bool wide = site.wide_address;
  const std::uint32_t byte_of_offsets = wide ? byte / 2 : byte;
  const auto put = [&](const x86::Vec& offsets) {
    a.vmovups(field(offsetof(NativeFrame, offsets) + byte_of_offsets, 0), offsets);
    if (share != nullptr) a.vmovups(shared_offsets(*share).cloneAdjusted(byte_of_offsets), offsets);
  };
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
    put(offsets);
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
  put(offsets);
}

}  // namespace warpcheck::vgpu::native
