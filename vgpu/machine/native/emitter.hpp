// The emitters of one program's machine code.  Internal to vgpu/machine/native.
#pragma once

#include "vgpu/machine/native/access_emitter.hpp"
#include "vgpu/machine/native/atomic_emitter.hpp"
#include "vgpu/machine/native/compute_emitter.hpp"

namespace warpcheck::vgpu::native {

class Emitter : public CallEmitter {
  RecordEmitter recorder_;

 public:
  explicit Emitter(EmitterState& state)
      : CallEmitter(state),
        recorder_(state),
        compute(state),
        accesses(state, recorder_),
        atomics(state, recorder_) {}

  // Emits the code that was registered by later(); called once, after all blocks.
  void emit_later();

  ComputeEmitter compute;
  AccessEmitter accesses;
  AtomicEmitter atomics;
};

}  // namespace warpcheck::vgpu::native
