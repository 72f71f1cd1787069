#include "vgpu/cudart/nvrtc/nvrtc_options.hpp"

#include <gtest/gtest.h>

namespace warpcheck::cudart {
namespace {

using Words = std::vector<std::string>;

TEST(OptionsOfNvrtc, ARealArchitectureBecomesTheVirtualOneOfItsNumber) {
  for (const Words& words :
       {Words{"--gpu-architecture=sm_90a", "-lineinfo"}, Words{"-lineinfo", "-arch=sm_90a"}}) {
    const NvrtcOptions options = options_for_the_virtual_gpu(words);
    EXPECT_TRUE(options.wants_machine_code);
    EXPECT_EQ(options.words.size(), 2u);
    EXPECT_NE(options.words[0] + options.words[1], words[0] + words[1]);
    EXPECT_NE((options.words[0] + options.words[1]).find("=compute_90a"), std::string::npos);
  }
  const NvrtcOptions apart = options_for_the_virtual_gpu({"-arch", "sm_120", "-G"});
  EXPECT_TRUE(apart.wants_machine_code);
  EXPECT_EQ(apart.words, (Words{"-arch", "compute_120", "-G"}));
}

TEST(OptionsOfNvrtc, AVirtualArchitectureAndWhatOnlyLooksLikeOneStay) {
  const Words words{"-arch=compute_75", "-DNAME=sm_90", "-I", "sm_80", "--generate-line-info"};
  const NvrtcOptions options = options_for_the_virtual_gpu(words);
  EXPECT_FALSE(options.wants_machine_code);
  EXPECT_EQ(options.words, words);
}

TEST(OptionsOfNvrtc, LinesAreAskedForOnce) {
  EXPECT_EQ(options_for_the_virtual_gpu({"-w"}).words, (Words{"-w", "-lineinfo"}));
  EXPECT_EQ(options_for_the_virtual_gpu({"--device-debug"}).words, Words{"--device-debug"});
  EXPECT_EQ(options_for_the_virtual_gpu({"-dlto"}).words, Words{"-dlto"});
  EXPECT_FALSE(options_for_the_virtual_gpu({}).wants_machine_code);
}

}  // namespace
}  // namespace warpcheck::cudart
