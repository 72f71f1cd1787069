#include "vgpu/cudart/against/reproducer.hpp"

#include <gtest/gtest.h>

#include <string>

#include "vgpu/ptx/module.hpp"
#include "vgpu/ptx/shrink.hpp"

namespace warpcheck::cudart {
namespace {

TEST(WithoutContraction, OnlyOperationsWithoutARoundingGetOne) {
  EXPECT_EQ(without_contraction("\tmul.f32 \t%f1, %f2, %f3;\n"
                                "\tadd.ftz.f32 %f1, %f2, %f3;\n"
                                "@%p1 sub.f64 %fd1, %fd2, %fd3;\n"
                                "\tadd.rz.f32 %f1, %f2, %f3;\n"
                                "\tadd.s32 %r1, %r2, %r3;\n"
                                "\tmul.wide.s32 %rd1, %r2, 4;\n"
                                "\tadd.f16x2 %r1, %r2, %r3;\n"
                                "{.reg .f32 p; mul.f32 p, %f1, %f2; @%p1 sub.f32 %f3, p, %f1;}\n"
                                "\tmov.b64 {%r1, %r2}, %rd1;\n"),
            "\tmul.rn.f32 \t%f1, %f2, %f3;\n"
            "\tadd.rn.ftz.f32 %f1, %f2, %f3;\n"
            "@%p1 sub.rn.f64 %fd1, %fd2, %fd3;\n"
            "\tadd.rz.f32 %f1, %f2, %f3;\n"
            "\tadd.s32 %r1, %r2, %r3;\n"
            "\tmul.wide.s32 %rd1, %r2, 4;\n"
            "\tadd.rn.f16x2 %r1, %r2, %r3;\n"
            "{.reg .f32 p; mul.rn.f32 p, %f1, %f2; @%p1 sub.rn.f32 %f3, p, %f1;}\n"
            "\tmov.b64 {%r1, %r2}, %rd1;\n");
}

constexpr const char* kModule = R"(
.version 8.0
.target sm_75
.address_size 64
	.file	1 "a.cu"
.global .align 4 .b8 table[8];

.visible .entry other()
{
	ret;
}

.func  (.param .b32 func_retval0) helper(
	.param .b32 helper_param_0
)
{
	.reg .b32 %r<3>;
	ld.param.u32 %r1, [helper_param_0];
	add.s32 %r2, %r1, 1;
	st.param.b32 [func_retval0+0], %r2;
	ret;
}

.visible .entry k(
	.param .u64 k_param_0
)
{
	.reg .pred %p<2>;
	.reg .b32 %r<6>;
	.reg .b64 %rd<3>;
	.loc	1 3 0
	ld.param.u64 %rd1, [k_param_0];
	cvta.to.global.u64 %rd2, %rd1;
	mov.u32 %r1, %tid.x;
	setp.gt.s32 %p1, %r1, 3;
	@%p1 bra $L__BB1_2;
	{ // callseq 0, 0
	.param .b32 param0;
	st.param.b32 [param0+0], %r1;
	.param .b32 retval0;
	call.uni (retval0), helper, (param0);
	ld.param.b32 %r2, [retval0+0];
	} // callseq 0
	add.s32 %r3, %r2, 5;
	add.s32 %r4, %r3, 7;
	st.global.u32 [%rd2], %r4;

$L__BB1_2:
	ret;
}
	.section	.debug_str
	{
$L__info_string0:
.b8 95,90,0
	}
)";

TEST(MarkedForShrinking, EveryRemovalOfOneRegionIsStillAModule) {
  const std::string marked = marked_for_shrinking(kModule, "k");
  EXPECT_EQ(marked.find("other"), std::string::npos);
  EXPECT_EQ(marked.find(".loc"), std::string::npos);
  EXPECT_EQ(marked.find("info_string"), std::string::npos);
  std::size_t parsed = 0;
  const std::string small = ptx::shrink(marked, 100, [&](const std::string& text) {
    const ptx::Module module = ptx::parse(without_marks(text), "smaller");
    ++parsed;
    return module.find_function("k") != nullptr && text.find("st.global") != std::string::npos;
  });
  EXPECT_GT(parsed, 3u);
  const std::string left = without_marks(small);
  EXPECT_NE(left.find("st.global.u32"), std::string::npos);
  for (const char* gone : {"helper", "callseq", "add.s32", "setp", "bra"}) {
    EXPECT_EQ(left.find(gone), std::string::npos) << gone;
  }
  EXPECT_NE(left.find("$L__BB1_2:"), std::string::npos) << "labels stay";
}

TEST(WithCopies, AnInstructionBecomesACopyOfAnOperandOfItsBank) {
  EXPECT_EQ(with_copies("ld.global.u32 %r1, [%rd1];\n"
                        "\tadd.s32 %r2, %r1, 5;\n"
                        "mov.u32 %r3, %r2;\n"
                        "setp.lt.s32 %p1, %r2, %r3;\n"
                        "mad.wide.u32 %rd2, %r2, %r3, %rd1;\n"
                        "@%p1 bra L;\n"),
            (std::vector<std::string>{"ld.global.u32 %r1, [%rd1];\n"
                                      "mov.b32 %r2, %r1;\n"
                                      "mov.u32 %r3, %r2;\n"
                                      "setp.lt.s32 %p1, %r2, %r3;\n"
                                      "mad.wide.u32 %rd2, %r2, %r3, %rd1;\n"
                                      "@%p1 bra L;\n",
                                      "ld.global.u32 %r1, [%rd1];\n"
                                      "\tadd.s32 %r2, %r1, 5;\n"
                                      "mov.u32 %r3, %r2;\n"
                                      "setp.lt.s32 %p1, %r2, %r3;\n"
                                      "mov.b64 %rd2, %rd1;\n"
                                      "@%p1 bra L;\n"}));
}

}  // namespace
}  // namespace warpcheck::cudart
