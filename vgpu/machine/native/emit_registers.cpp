// Emits the masks of the lanes that run, in registers and in the frame.
#include "vgpu/machine/native/register_emitter.hpp"

namespace warpcheck::vgpu::native {

void RegisterEmitter::load_lanes() {
  if (!some_ || !is_512_) return;
  a.kmovd(lanes_at(0), field(offsetof(NativeFrame, lanes), 4));
  spread_masks();
}

void RegisterEmitter::spread_masks() {
  a.kshiftrd(lanes_at(1), lanes_at(0), 8);
  a.kshiftrd(lanes_at(2), lanes_at(0), 16);
  a.kshiftrd(lanes_at(3), lanes_at(0), 24);
}

void RegisterEmitter::spread_lanes() {
  if (!some_ || is_512_) return;
  a.vpbroadcastd(vec(0), field(offsetof(NativeFrame, lanes), 4));
  a.vpmovzxdq(vec(1), half(0));
  for (const bool wide : {false, true}) {
    const std::size_t bits = wide ? offsetof(Tables, wide_bits) : offsetof(Tables, word_bits);
    const std::size_t lanes =
        wide ? offsetof(NativeFrame, wide_lanes) : offsetof(NativeFrame, word_lanes);
    for_each_part(wide, [&](std::uint32_t byte) {
      load(vec(2), table(bits + byte));
      a.vpand(vec(3), vec(2), vec(wide ? 1 : 0));
      a.emit(wide ? Inst::kIdVpcmpeqq : Inst::kIdVpcmpeqd, vec(3), vec(3), vec(2));
      store(field(lanes + byte, 0), vec(3));
    });
  }
}

void RegisterEmitter::move_lanes(const x86::Gp& to) {
  if (some_) {
    a.mov(to, field(offsetof(NativeFrame, lanes), 4));
  } else {
    a.mov(to, -1);
  }
}

void RegisterEmitter::move_lanes(const x86::Gp& to, const Instr& guarded) {
  a.mov(to, predicate(guarded.guard));
  if (guarded.guard_negated) a.not_(to);
  if (some_) a.and_(to, field(offsetof(NativeFrame, lanes), 4));
}

// Must be called before lane_mask().
void RegisterEmitter::begin_lane_masks(bool wide) {
  if (is_512_) {
    a.kmovd(lanes_at(0), x86::r8d);
    return spread_masks();
  }
  a.vmovq(x86::xmm7, x86::r8);
  a.emit(wide ? Inst::kIdVpbroadcastq : Inst::kIdVpbroadcastd, vec(7), x86::xmm7);
}

// On a host without mask registers: returns all ones in the cells that belong to lanes in r8d.
x86::Vec RegisterEmitter::lane_mask(bool wide, std::uint32_t byte) {
  load(vec(6), table((wide ? offsetof(Tables, wide_bits) : offsetof(Tables, word_bits)) + byte));
  a.vpand(vec(5), vec(6), vec(7));
  a.emit(wide ? Inst::kIdVpcmpeqq : Inst::kIdVpcmpeqd, vec(5), vec(5), vec(6));
  return vec(5);
}

}  // namespace warpcheck::vgpu::native
