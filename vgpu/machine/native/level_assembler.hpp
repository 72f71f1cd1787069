// An assembler that emits instructions of AVX-512 for no host without it.
#pragma once

#include <asmjit/x86.h>

#include <cstdint>

#include "vgpu/machine/compute/compute.hpp"

namespace warpcheck::vgpu::native {

// AsmJit chooses an encoding by the operands: with 64 bytes of memory, or a vector register above
// the 15th, a move is one of AVX-512.  A host that has no more than AVX2 ends such code by SIGILL,
// and a wider host that was asked for AVX2 runs it unnoticed.  So here it is an error, on any host.
class LevelAssembler final : public asmjit::x86::Assembler {
 public:
  LevelAssembler(asmjit::CodeHolder* holder, SimdLevel level)
      : Assembler(holder), is_512_(level == SimdLevel::avx512) {}

 private:
  // In 64-bit code a first byte of 0x62 is an EVEX prefix and nothing else (Intel SDM volume 2,
  // 2.7.1), which only instructions of AVX-512 have; those of mask registers alone have another.
  static constexpr std::uint8_t kEvex = 0x62;

  asmjit::Error _emit(asmjit::InstId id, const asmjit::Operand_& first,
                      const asmjit::Operand_& second, const asmjit::Operand_& third,
                      const asmjit::Operand_* others) override {
    const std::size_t begin = offset();
    const asmjit::Error error = Assembler::_emit(id, first, second, third, others);
    if (error != asmjit::kErrorOk || is_512_ || offset() == begin) return error;
    if (bufferData()[begin] != kEvex && !is_mask(first) && !is_mask(second)) return error;
    return reportError(asmjit::kErrorFeatureNotEnabled);
  }
  static bool is_mask(const asmjit::Operand_& operand) {
    return operand.isReg(asmjit::RegType::kX86_KReg);
  }

  bool is_512_;
};

}  // namespace warpcheck::vgpu::native
