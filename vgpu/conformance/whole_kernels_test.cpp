// Compares all builds of the kernels in kernels.cu with the results that an H200 computed.
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "vgpu/conformance/recording.hpp"
#include "vgpu/conformance/replay.hpp"
#include "vgpu/conformance/whole_kernels.hpp"
#include "vgpu/ptx/module.hpp"

namespace warpcheck::conformance {
namespace {

constexpr std::size_t kExactKernelsMin = 200;

const Recording& recording() {
  static const Recording kernels = unpack(read_file(std::filesystem::path(WARPCHECK_SOURCE_DIR) /
                                                    "vgpu/conformance/vectors" / "kernels.vectors"),
                                          kernel_forms());
  return kernels;
}

const Recorded* find_recorded(const std::string& name) {
  const auto found = std::ranges::find(recording().forms, name, &Recorded::text);
  return found == recording().forms.end() ? nullptr : &*found;
}

class Build : public testing::TestWithParam<KernelBuild> {};

TEST_P(Build, AgreesWithTheRecordedGpu) {
  const KernelBuild build = GetParam();
  const std::string file = "kernels." + std::string(build.name) + ".ptx";
  const ptx::Module module =
      ptx::parse(read_file(std::filesystem::path(WARPCHECK_CONFORMANCE_KERNELS) / file), file);
  for (const WholeKernel& kernel : whole_kernels()) {
    if (kernel.form.target > build.target) continue;
    const Recorded* recorded = find_recorded(name_in_build(kernel, build));
    if (recorded == nullptr) recorded = find_recorded(kernel.form.text);
    ASSERT_NE(recorded, nullptr) << kernel.form.text << " has no vectors: record again";
    for (const vgpu::Compile compiled : {vgpu::Compile::never, vgpu::Compile::at_once}) {
      const Comparison comparison =
          compare(kernel.form, *recorded,
                  execute_kernel(module, kernel.form, kernel.form.text, compiled), kernel.ulps);
      EXPECT_EQ(comparison.differences, 0u) << kernel.form.text << ": " << comparison.first;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(WholeKernels, Build, testing::ValuesIn(kKernelBuilds),
                         [](const auto& build) {
                           std::string name(build.param.name);
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

TEST(WholeKernels, AreEnough) {
  std::set<std::string> exact;
  for (const WholeKernel& kernel : whole_kernels()) {
    if (kernel.ulps == 0) exact.insert(kernel.form.text);
  }
  EXPECT_GE(exact.size(), kExactKernelsMin);
}

TEST(WholeKernels, AreComparedInUnitsOfTheLastPlace) {
  EXPECT_EQ(ulps_between("f32", 0x3f800000, 0x3f800002), 2u);
  EXPECT_EQ(ulps_between("f32", 0x80000001, 0x00000001), 2u) << "both zeros are one";
  EXPECT_EQ(ulps_between("f32", 0x7fc00000, 0x7fffffff), 0u);
  EXPECT_EQ(ulps_between("f32", 0x7fc00000, 0x7f800000), UINT64_MAX);
  EXPECT_EQ(ulps_between("f64", 0x3ff0000000000000, 0x3fefffffffffffff), 1u);
  EXPECT_EQ(ulps_between("f16", 0x7bff, 0x7c00), 1u);
  EXPECT_TRUE(is_agreed("f64", 0xfff8000000000015, 0x7ff8000000000023, 0));
  EXPECT_FALSE(is_agreed("f64", 0x8000000000000000, 0, 0));
  EXPECT_FALSE(is_agreed("f32", 0x7fc00000, 0x7fffffff, 0));
  EXPECT_TRUE(is_agreed("f32", 0x3f800000, 0x3f800002, 2));
}

}  // namespace
}  // namespace warpcheck::conformance
