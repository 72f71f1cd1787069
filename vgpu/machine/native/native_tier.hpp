// When a program gets machine code: as soon as it has run for so long that compiling it pays.
//
// A program carries its tier, so code is there for as long as the program is: for all launches of a
// process, in all trials.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "vgpu/machine/native/native_code.hpp"

namespace warpcheck::vgpu {

// Warp instructions that are interpreted before a program is compiled, for each instruction that it
// has: about as many as take as long as its compilation does.
inline constexpr std::uint64_t kStepsPerInstruction = 128;

class NativeTier {
 public:
  //   instructions: of the program
  NativeTier(SimdLevel level, std::size_t instructions)
      : level_(level), steps_left_(kStepsPerInstruction * instructions) {}

  // Null: there is none yet, or cannot be any.
  [[nodiscard]] const NativeCode* code() const { return code_.get(); }
  // Warp instructions that the interpreter has yet to execute before there is.
  [[nodiscard]] std::uint64_t steps_left() const { return steps_left_; }
  void count(std::uint64_t steps) { steps_left_ -= steps < steps_left_ ? steps : steps_left_; }
  // Code for `program`, which carries this tier; compiled at the first call.
  const NativeCode* make(const Program& program, const NativeCalls& calls) {
    if (!is_made_) code_ = NativeCode::compile(program, level_, calls);
    is_made_ = true;
    return code_.get();
  }

 private:
  SimdLevel level_;
  bool is_made_ = false;
  std::uint64_t steps_left_;
  std::unique_ptr<NativeCode> code_;
};

}  // namespace warpcheck::vgpu
