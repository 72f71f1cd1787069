// Relocatable device code (nvcc -rdc=true), whose parts the runtime links.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "vgpu/cudart/device/virtual_device.hpp"
#include "vgpu/cudart/testing/test_unit.hpp"

namespace warpcheck::cudart {
namespace {

const std::string kHeader = ".version 9.0\n.target sm_75\n.address_size 64\n";

const std::string kCaller =
    kHeader +
    ".extern .func (.param .b32 r) twice(.param .b32 x)\n;\n.extern .global .u32 offset;\n"
    ".visible .entry k(.param .u64 out, .param .u32 x)\n{\n.reg .b32 %r<5>;\n.reg .b64 %rd<3>;\n"
    "ld.param.u64 %rd1, [out];\nld.param.u32 %r1, [x];\n"
    "{\n.param .b32 p;\n.param .b32 q;\nst.param.b32 [p], %r1;\ncall.uni (q), twice, (p);\n"
    "ld.param.b32 %r2, [q];\n}\nld.global.u32 %r3, [offset];\nadd.u32 %r4, %r2, %r3;\n"
    "st.global.u32 [%rd1], %r4;\nret;\n}\n";

const std::string kCallee =
    kHeader +
    ".visible .global .u32 offset = 100;\n"
    ".visible .func (.param .b32 r) twice(.param .b32 x)\n{\n.reg .b32 %r<3>;\n"
    "ld.param.b32 %r1, [x];\nadd.u32 %r2, %r1, %r1;\nst.param.b32 [r], %r2;\nret;\n}\n"
    ".visible .entry alone()\n{\nret;\n}\n";

TrialResult run(TestUnit& unit, const char* kernel, int x, int* result) {
  unit.kernel(kernel, kernel);  // the name's address represents the host function
  begin_trial({});
  int* out = nullptr;
  cudaMalloc(reinterpret_cast<void**>(&out), sizeof *out);
  cudaMemset(out, 0, sizeof *out);
  void* arguments[] = {&out, &x};
  cudaLaunchKernel(kernel, dim3(1), dim3(1), arguments, 0, nullptr);
  cudaMemcpy(result, out, sizeof *result, cudaMemcpyDeviceToHost);
  cudaFree(out);
  return end_trial();
}

TEST(SeparateCompilation, PartsAreLinked) {
  TestUnit unit(std::vector<std::string_view>{kCaller, kCallee});
  int value = 0;
  const TrialResult result = run(unit, "k", 21, &value);
  EXPECT_EQ(result.refusals, std::vector<std::string>{});
  EXPECT_TRUE(result.findings.empty());
  EXPECT_EQ(value, 142);
}

TEST(SeparateCompilation, AMissingFunctionStopsOnlyTheKernelThatCallsIt) {
  const std::string alone = kHeader + ".visible .entry alone()\n{\nret;\n}\n";
  TestUnit unit(std::vector<std::string_view>{kCaller, alone});
  int value = 0;
  EXPECT_EQ(
      run(unit, "k", 21, &value).refusals,
      (std::vector<std::string>{"embedded PTX:17: the called function 'twice' has no body and "
                                "is not supported"}));
  const TrialResult result = run(unit, "alone", 0, &value);
  EXPECT_EQ(result.refusals, std::vector<std::string>{});
  EXPECT_EQ(result.launches, 1u);
}

TEST(SeparateCompilation, WhatIsDefinedTwiceIsNamed) {
  TestUnit unit(std::vector<std::string_view>{kCaller, kCallee, kCallee});
  int value = 0;
  EXPECT_EQ(run(unit, "k", 21, &value).refusals,
            (std::vector<std::string>{"embedded PTX: multiple definition of 'offset' in embedded "
                                      "PTX, part 3, first defined in embedded PTX, part 2"}));
}

}  // namespace
}  // namespace warpcheck::cudart
