#include "vgpu/cudart/code/ptx_hash.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace warpcheck::cudart {
namespace {

constexpr const char* kUnit = R"(// Compiler
.version 9.0
.target sm_75
.address_size 64
.func (.param .b32 func_retval0) helper(.param .b32 helper_param_0);
.visible .entry first(.param .u64 first_param_0)
{
	.reg .b32 %r<3>;
	.loc	1 7 3
	mov.u32 %r1, %tid.x;
$L__BB0_1:
	bra $L__BB0_1;
}
.func (.param .b32 func_retval0) helper(.param .b32 helper_param_0)
{
	ret;
}
.visible .entry second()
{
	ret;
}
	.file	1 "/home/a/kernel.cu"
.section .debug_str
{
	.b8 47,104
}
)";

std::string edited(std::string_view from, std::string_view to) {
  std::string text = kUnit;
  for (std::size_t at = text.find(from); at != std::string::npos;
       at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
  return text;
}

std::uint64_t hash_of(std::string_view ptx, std::string_view kernel) {
  return KernelHashes(ptx).of(kernel);
}

TEST(PtxHash, ChangesWithTheKernelsCodeOnly) {
  const std::uint64_t hash = hash_of(kUnit, "first");
  EXPECT_EQ(hash_of(kUnit, "first"), hash);
  EXPECT_NE(hash_of(edited("%tid.x", "%tid.y"), "first"), hash);
  EXPECT_EQ(
      hash_of(edited(".visible .entry second()\n{\n\tret;", ".visible .entry second()\n{\n\ttrap;"),
              "first"),
      hash);
  EXPECT_NE(hash_of(edited("helper_param_0)\n{\n\tret;", "helper_param_0)\n{\n\ttrap;"), "first"),
            hash);
  EXPECT_NE(hash_of(kUnit, "second"), hash);
}

TEST(PtxHash, DoesNotSeeLinesPathsCommentsOrNumbersOfFunctions) {
  const std::uint64_t hash = hash_of(kUnit, "first");
  EXPECT_EQ(hash_of(edited("1 7 3", "1 70 9"), "first"), hash);
  EXPECT_EQ(hash_of(edited("/home/a/", "/src/"), "first"), hash);
  EXPECT_EQ(hash_of(edited("// Compiler", "// Another"), "first"), hash);
  EXPECT_EQ(hash_of(edited("$L__BB0_", "$L__BB4_"), "first"), hash);
  EXPECT_EQ(hash_of(edited("47,104", "99,1"), "first"), hash);
  EXPECT_NE(hash_of(edited("$L__BB0_1;", "$L__BB0_2;"), "first"), hash);
}

TEST(PtxHash, DoesNotSeeWhereTheFileOfAnInternalNameIs) {
  const std::string one = "_ZN46_GLOBAL__N__b6cfd072_11_kernel_cu_01ef29575firstEv";
  const std::string other = "_ZN46_GLOBAL__N__0123abcd_11_kernel_cu_01ef29575firstEv";
  const std::uint64_t hash = hash_of(edited("first", one), one);
  EXPECT_EQ(hash_of(edited("first", other), other), hash);
  EXPECT_NE(hash_of(edited("first", one + "i"), one + "i"), hash);
}

}  // namespace
}  // namespace warpcheck::cudart
