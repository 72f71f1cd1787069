#include "vgpu/machine/native/level_assembler.hpp"

#include <gtest/gtest.h>

namespace warpcheck::vgpu::native {
namespace {

namespace x86 = asmjit::x86;

asmjit::Error error_of(SimdLevel level, void (*emit)(x86::Assembler&)) {
  asmjit::CodeHolder holder;
  if (const auto error = holder.init(asmjit::Environment::host())) return error;
  struct Kept : asmjit::ErrorHandler {
    void handleError(asmjit::Error error, const char* /*message*/,
                     asmjit::BaseEmitter* /*origin*/) override {
      kept = error;
    }
    asmjit::Error kept = asmjit::kErrorOk;
  } errors;
  holder.setErrorHandler(&errors);
  LevelAssembler assembler(&holder, level);
  emit(assembler);
  return errors.kept;
}

TEST(LevelAssembler, RefusesWhatTheLevelLacks) {
  for (const auto emit : {
           +[](x86::Assembler& a) { a.vpmovzxbd(x86::zmm0, x86::ptr_128(x86::rax)); },
           +[](x86::Assembler& a) { a.vpand(x86::ymm16, x86::ymm0, x86::ymm1); },
           +[](x86::Assembler& a) { a.vpternlogd(x86::ymm0, x86::ymm1, x86::ymm2, 1); },
           +[](x86::Assembler& a) { a.kmovw(x86::eax, x86::k1); },
           +[](x86::Assembler& a) { a.kmovw(x86::k1, x86::ptr_16(x86::rax)); },
       }) {
    EXPECT_EQ(error_of(SimdLevel::avx512, emit), asmjit::kErrorOk);
    EXPECT_EQ(error_of(SimdLevel::avx2, emit), asmjit::kErrorFeatureNotEnabled);
  }
}

TEST(LevelAssembler, EmitsWhatTheLevelHas) {
  for (const auto emit : {
           +[](x86::Assembler& a) { a.vpaddd(x86::ymm15, x86::ymm0, x86::ptr_256(x86::rax)); },
           +[](x86::Assembler& a) { a.vmovups(x86::ptr_256(x86::r8), x86::ymm9); },
           +[](x86::Assembler& a) { a.pext(x86::rax, x86::rcx, x86::rdx); },
           +[](x86::Assembler& a) { a.mov(x86::eax, 0x62626262); },
       }) {
    EXPECT_EQ(error_of(SimdLevel::avx2, emit), asmjit::kErrorOk);
    EXPECT_EQ(error_of(SimdLevel::avx512, emit), asmjit::kErrorOk);
  }
}

}  // namespace
}  // namespace warpcheck::vgpu::native
