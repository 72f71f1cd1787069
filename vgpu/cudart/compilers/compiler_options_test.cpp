#include "vgpu/cudart/compilers/compiler_options.hpp"

#include <gtest/gtest.h>

namespace warpcheck::cudart {
namespace {

using Words = std::vector<std::string>;

TEST(OptionsOfNvrtc, ARealArchitectureBecomesTheVirtualOneOfItsNumber) {
  for (const Words& words :
       {Words{"--gpu-architecture=sm_90a", "-lineinfo"}, Words{"-lineinfo", "-arch=sm_90a"}}) {
    const CompilerOptions options = nvrtc_options_for_the_virtual_gpu(words);
    EXPECT_TRUE(options.wants_machine_code);
    EXPECT_EQ(options.words.size(), 2u);
    EXPECT_NE(options.words[0] + options.words[1], words[0] + words[1]);
    EXPECT_NE((options.words[0] + options.words[1]).find("=compute_90a"), std::string::npos);
  }
  const CompilerOptions apart = nvrtc_options_for_the_virtual_gpu({"-arch", "sm_120", "-G"});
  EXPECT_TRUE(apart.wants_machine_code);
  EXPECT_EQ(apart.words, (Words{"-arch", "compute_120", "-G"}));
}

TEST(OptionsOfNvrtc, AVirtualArchitectureAndWhatOnlyLooksLikeOneStay) {
  const Words words{"-arch=compute_75", "-DNAME=sm_90", "-I", "sm_80", "--generate-line-info"};
  const CompilerOptions options = nvrtc_options_for_the_virtual_gpu(words);
  EXPECT_FALSE(options.wants_machine_code);
  EXPECT_EQ(options.words, words);
}

TEST(OptionsOfNvrtc, LinesAreAskedForOnce) {
  EXPECT_EQ(nvrtc_options_for_the_virtual_gpu({"-w"}).words, (Words{"-w", "-lineinfo"}));
  EXPECT_EQ(nvrtc_options_for_the_virtual_gpu({"--device-debug"}).words, Words{"--device-debug"});
  EXPECT_EQ(nvrtc_options_for_the_virtual_gpu({"--optix-ir"}).words, Words{"--optix-ir"});
  EXPECT_FALSE(nvrtc_options_for_the_virtual_gpu({}).wants_machine_code);
}

TEST(OptionsOfNvrtc, CodeForLinkTimeOptimisationBecomesPtxThatCanBeLinked) {
  for (const char* const word : {"-dlto", "--dlink-time-opt"}) {
    const CompilerOptions options =
        nvrtc_options_for_the_virtual_gpu({"-arch=sm_90", word, "-gen-opt-lto", "-lineinfo"});
    EXPECT_TRUE(options.wants_link_time_code);
    EXPECT_EQ(options.words, (Words{"-arch=compute_90", "-rdc=true", "-lineinfo"}));
  }
  EXPECT_FALSE(nvrtc_options_for_the_virtual_gpu({"-rdc=true"}).wants_link_time_code);
}

TEST(OptionsOfNvvm, CodeForLinkTimeOptimisationBecomesPtx) {
  const CompilerOptions options =
      nvvm_options_for_the_virtual_gpu({"-arch=compute_90", "-gen-lto", "-opt=3"});
  EXPECT_TRUE(options.wants_link_time_code);
  EXPECT_EQ(options.words, (Words{"-arch=compute_90", "-opt=3"}));
  EXPECT_FALSE(nvvm_options_for_the_virtual_gpu({"-opt=0"}).wants_link_time_code);
}

}  // namespace
}  // namespace warpcheck::cudart
