// The slow ways of the race checker that the kernels of the benchmark take.
//
// A kernel whose rows leave the fast way gives the same findings, only later, and tests measure no
// time.  So each kernel has bounds here for the counts of RaceWork: those of the day when it was
// last looked at, and no more.  If a change exceeds one, a kind of row has lost its fast way.  If a
// change makes counts smaller, lower the bounds, so that what was gained stays.  The counts of all
// kernels: build/bench/race_work_test --gtest_output=xml:/dev/stdout, with WARPCHECK_SIMD=avx2 and
// without.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "bench/measured_kernels.hpp"
#include "harness/pair/device.hpp"
#include "vgpu/check/race/race.hpp"
#include "vgpu/cudart/device/virtual_device.hpp"
#include "vgpu/machine/compute/simd.hpp"

namespace warpcheck {
namespace {

using vgpu::RaceWork;

constexpr int kSmall = 32'768;  // elements

// The bounds of a launch over kSmall elements.
const std::map<std::string, RaceWork> kBounds{
    {"block_scan", {168, 0, 0, 0}},
    {"block_scan_fenced", {168, 0, 0, 0}},
    {"histogram", {137, 9, 0, 0}},
    {"histogram_fenced", {137, 9, 0, 0}},
    {"histogram_releasing", {137, 9, 0, 0}},
    {"tree_reduction", {289, 0, 0, 0}},
    {"matrix_product", {2861, 35, 0, 0}},
    {"half_product", {6639, 1044, 0, 512}},
    {"stencil", {810, 0, 0, 0}},
    {"bodies", {136, 11, 0, 0}},
    {"byte_filter", {411, 10, 0, 0}},
    {"warp_ranks", {12929, 8200, 19840, 0}},
    {"gather", {292, 7, 0, 0}},
    {"constant_table", {16, 0, 0, 0}},
    {"rotation", {71, 6, 0, 0}},
    {"lattice", {942, 99, 0, 0}},
    {"hash_table", {5, 2371, 0, 0}},
    {"structs", {76, 13, 0, 0}},
    {"polygon", {42, 42, 0, 0}},
    {"softmax", {151, 0, 0, 0}},
    {"two_products", {631, 72, 0, 0}},
    {"ticket_lock", {1536, 700415, 0, 3073}},
    {"matrix_f16", {4, 0, 0, 0}},
    {"matrix_tf32", {4, 0, 0, 0}},
    {"matrix_s8", {4, 0, 0, 0}},
    {"matrix_f64", {4, 0, 0, 0}},
    {"warpgroup", {400, 256, 0, 256}},
    {"tensor", {672, 432, 0, 432}},
};

// Those that differ on hosts without AVX-512, whose machine code leaves some accesses to calls.
const std::map<std::string, RaceWork> kBoundsOfAvx2{
    {"bodies", {9, 138, 0, 0}},           {"lattice", {561, 480, 0, 0}},
    {"matrix_product", {4829, 35, 0, 0}}, {"polygon", {11, 73, 0, 0}},
    {"rotation", {803, 6, 0, 0}},         {"structs", {832, 13, 0, 0}},
    {"two_products", {13792, 72, 0, 0}},
};

RaceWork bound_of(const std::string& kernel) {
  const auto of_avx2 = kBoundsOfAvx2.find(kernel);
  if (vgpu::simd_level() != "avx512" && of_avx2 != kBoundsOfAvx2.end()) return of_avx2->second;
  const auto found = kBounds.find(kernel);
  return found == kBounds.end() ? RaceWork{} : found->second;
}

RaceWork work_of(const bench::BenchKernel& kernel) {
  vgpu::Reporter reporter;
  vgpu::RaceChecker races(reporter, vgpu::race_row_functions(vgpu::simd_level()));
  races.reset(vgpu::WarpModel::independent);
  cudart::TrialSettings settings;
  settings.checkers.race = false;  // `races` is in its place
  settings.limits.compile = vgpu::Compile::at_once;
  settings.extra_observer = &races;
  cudart::begin_trial(settings);
  {
    Device device;
    const DeviceArray<int> values = device.upload(bench::numbers(bench::kElements));
    DeviceArray<int> out = device.array<int>(kernel.out_size);
    out.fill_bytes(0);
    check(kernel.launch(values.data(), out.data(), kSmall));
    check(cudaDeviceSynchronize());
  }
  const cudart::TrialResult result = cudart::end_trial();
  EXPECT_EQ(result.launches, 1u);
  EXPECT_TRUE(result.findings.empty() && reporter.findings().empty());
  return races.work();
}

TEST(RaceWork, OfTheBenchmarkStaysWithinItsBounds) {
  for (const bench::BenchKernel& kernel : bench::kKernels) {
    SCOPED_TRACE(kernel.name);
    const RaceWork work = work_of(kernel);
    const RaceWork bound = bound_of(kernel.name);
    EXPECT_LE(work.rows, bound.rows);
    EXPECT_LE(work.accesses, bound.accesses);
    EXPECT_LE(work.followed, bound.followed);
    EXPECT_LE(work.in_cells, bound.in_cells);
    RecordProperty(kernel.name, fmt::format("{}, {}, {}, {}", work.rows, work.accesses,
                                            work.followed, work.in_cells));
  }
}

}  // namespace
}  // namespace warpcheck
