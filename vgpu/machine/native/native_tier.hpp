// When a program gets machine code: as soon as it has run for so long that compiling it pays.
//
// A program carries its tier, so code is there for as long as the program is: for all launches of a
// process, in all trials.  Several machines may run one program at once.
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

// Warp instructions that are interpreted before a program is compiled, for each instruction that it
// has: about as many as take as long as its compilation does.
inline constexpr std::uint64_t kStepsPerInstruction = 128;

class NativeTier {
 public:
  //   instructions: of the program
  NativeTier(SimdLevel level, std::size_t instructions) : level_(level) {
    for (Code& code : codes_) code.steps_left = kStepsPerInstruction * instructions;
  }

  // Null: there is none yet, or cannot be any.
  [[nodiscard]] const NativeCode* code(Lanes lanes) const {
    return of(lanes).made.load(std::memory_order_acquire);
  }
  // Warp instructions that the interpreter has yet to execute before there is: of all fragments
  // before there is code for all lanes, and then of those of some lanes.
  [[nodiscard]] std::uint64_t steps_left(Lanes lanes) const { return of(lanes).steps_left; }
  void count(Lanes lanes, std::uint64_t steps) {
    std::atomic<std::uint64_t>& left = of(lanes).steps_left;
    std::uint64_t before = left.load(std::memory_order_relaxed);
    while (!left.compare_exchange_weak(before, before - std::min(steps, before),
                                       std::memory_order_relaxed)) {
    }
  }
  // Code for `program`, which carries this tier; compiled at the first call.
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
    std::atomic<const NativeCode*> made = nullptr;  // it, as soon as it is there
  };
  [[nodiscard]] const Code& of(Lanes lanes) const {
    return codes_[static_cast<std::size_t>(lanes)];
  }
  [[nodiscard]] Code& of(Lanes lanes) { return codes_[static_cast<std::size_t>(lanes)]; }

  SimdLevel level_;
  std::array<Code, 2> codes_;  // by Lanes
};

}  // namespace warpcheck::vgpu
