// Atomics.  Internal to vgpu/machine/native.
#pragma once

#include <cstdint>
#include <optional>

#include "vgpu/machine/native/record_emitter.hpp"
#include "vgpu/machine/native/site_emitter.hpp"

namespace warpcheck::vgpu::native {

class AtomicEmitter : public SiteEmitter {
 public:
  AtomicEmitter(EmitterState& state, RecordEmitter& recorder)
      : SiteEmitter(state), recorder_(recorder) {}

  // Emits an atomic of one element of 4 or 8 bytes per lane.  False: it is not of that kind.
  //   rest: the instructions of the block after it
  bool emit(const Instr& instr, std::uint32_t pc, const Counted& rest);

 private:
  struct Combination;
  [[nodiscard]] std::optional<Combination> combination_of(const Site& site) const;
  void perform_told(const Site& site);
  [[nodiscard]] Ref old_of(const Site& site) const;
  void go_unless_private(const Site& site, asmjit::Label otherwise);
  void go_unless_exclusive(const Site& site, asmjit::Label otherwise);
  void go_unless_recorded(const Site& site, asmjit::Label otherwise);
  void perform_adjacent(const Site& site, const Combination& combination, asmjit::Label otherwise);
  void perform_row(const Site& site, const Combination& combination);
  void perform_lanes(const Site& site, const Combination& combination);

  RecordEmitter& recorder_;
};

}  // namespace warpcheck::vgpu::native
