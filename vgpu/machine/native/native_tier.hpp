// Decides when a program is compiled to machine code: as soon as it has run so long that compiling
// pays.
//
// A program owns its tier, so its code lives as long as the program: for all launches of a process,
// in all trials.  Several machines may run one program at once.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>

#include "vgpu/machine/native/native_code.hpp"

namespace warpcheck::vgpu {

// The number of interpreted warp instructions before a program is compiled, for each of its
// instructions.  They take about as long as the compilation.
inline constexpr std::uint64_t kStepsPerInstruction = 128;

class NativeTier {
 public:
  //   instructions: number of the program's instructions
  NativeTier(SimdLevel level, std::size_t instructions) : level_(level) {
    for (Code& code : codes_) code.steps_left = kStepsPerInstruction * instructions;
  }

  // Returns null if there is no code yet, or if there can be none.
  [[nodiscard]] const NativeCode* code(Lanes lanes) const {
    return of(lanes).made.load(std::memory_order_acquire);
  }
  // The number of warp instructions that the interpreter still has to execute before compilation:
  // those of all fragments for Lanes::all or Lanes::in_row, and then those of partial fragments for
  // Lanes::some.
  [[nodiscard]] std::uint64_t steps_left(Lanes lanes) const { return of(lanes).steps_left; }
  void count(Lanes lanes, std::uint64_t steps) {
    std::atomic<std::uint64_t>& left = of(lanes).steps_left;
    std::uint64_t before = left.load(std::memory_order_relaxed);
    while (!left.compare_exchange_weak(before, before - std::min(steps, before),
                                       std::memory_order_relaxed)) {
    }
  }
  // Returns the code for `program`, which owns this tier; the first call compiles it.
  const NativeCode* make(const Program& program, Lanes lanes, const NativeCalls& calls) {
    Code& code = of(lanes);
    std::call_once(code.is_made, [&] {
      code.code = NativeCode::compile(program, level_, lanes, calls);
      code.made.store(code.code.get(), std::memory_order_release);
    });
    return code.code.get();
  }

 private:
  struct Code {
    std::once_flag is_made;
    std::atomic<std::uint64_t> steps_left = 0;
    std::unique_ptr<NativeCode> code;
    std::atomic<const NativeCode*> made = nullptr;  // set when the code is complete
  };
  [[nodiscard]] const Code& of(Lanes lanes) const {
    return codes_[static_cast<std::size_t>(lanes)];
  }
  [[nodiscard]] Code& of(Lanes lanes) { return codes_[static_cast<std::size_t>(lanes)]; }

  SimdLevel level_;
  std::array<Code, 3> codes_;  // by Lanes
};

}  // namespace warpcheck::vgpu
