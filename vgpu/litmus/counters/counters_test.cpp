// Compares the counters of memory with those of an H200, kernel by kernel.
//
// h200.csv holds what Nsight Compute counts there, summed over loads, stores and atomics:
//
//   requests, sectors   l1tex__t_{requests,sectors}_pipe_lsu_mem_global_op_*
//   ideal_sectors       memory_l2_theoretical_sectors_global_ideal
//   local_sectors       l1tex__t_sectors_pipe_lsu_mem_local_op_*
//   wavefronts          l1tex__data_pipe_lsu_wavefronts_mem_shared_op_*
//   ideal_wavefronts    wavefronts, less l1tex__data_bank_conflicts_pipe_lsu_mem_shared
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <string>

#include "vgpu/check/counters/memory_counters.hpp"
#include "vgpu/cudart/device/virtual_device.hpp"
#include "vgpu/litmus/counters/access_kernels.hpp"

namespace warpcheck::litmus {
namespace {

// What a GPU does otherwise by design: the row that the virtual GPU has, and the reason.
struct Difference {
  const char* row;
  const char* reason;
};
const std::map<std::string, Difference> kDifferences{
    {"shared_atomic_known_place",
     {"0,0,0,0,32,1",
      "where the assembler sees that all lanes have one address, the warp adds up its values first "
      "and one lane performs the atomic; PTX has an atomic of 32 lanes"}},
};

std::string row_of(const vgpu::MemoryCounts& counts) {
  return fmt::format("{},{},{},{},{},{}", counts.requests, counts.sectors, counts.ideal_sectors,
                     counts.local_sectors, counts.wavefronts, counts.ideal_wavefronts);
}

std::map<std::string, std::string> rows_of_gpu() {
  std::map<std::string, std::string> rows;
  std::ifstream file(WARPCHECK_COUNTERS_OF_GPU);
  for (std::string line; std::getline(file, line);) {
    const std::size_t comma = line.find(',');
    rows[line.substr(0, comma)] = line.substr(comma + 1);
  }
  return rows;
}

// Beside checkers, machine code notes rows of shared memory in place of reporting them.
vgpu::MemoryCounts counted(const AccessKernel& kernel, vgpu::Compile compile, bool checks) {
  vgpu::MemoryCounters counters;
  cudart::TrialSettings settings;
  settings.limits.compile = compile;
  settings.extra_observer = &counters;
  for (const auto& row : vgpu::kCheckers) settings.checkers.*row.enabled = checks && row.by_default;
  cudart::begin_trial(settings);
  run(kernel);
  EXPECT_TRUE(cudart::end_trial().refusals.empty()) << kernel.name;
  return counters.total();
}

class CountersOfGpu : public testing::TestWithParam<vgpu::Compile> {};

TEST_P(CountersOfGpu, AreThoseOfTheVirtualGpu) {
  std::map<std::string, std::string> rows = rows_of_gpu();
  ASSERT_GE(access_kernels().size(), 40u);
  ASSERT_EQ(rows.size(), access_kernels().size() + 1) << "a row for each kernel, and the head";
  for (const AccessKernel& kernel : access_kernels()) {
    const auto difference = kDifferences.find(kernel.name);
    const bool differs = difference != kDifferences.end();
    const std::string expected = differs ? difference->second.row : rows[kernel.name];
    for (const bool checks : {false, true}) {
      EXPECT_EQ(row_of(counted(kernel, GetParam(), checks)), expected) << kernel.name;
    }
    EXPECT_EQ(rows[kernel.name] != expected, differs) << kernel.name;
  }
}

INSTANTIATE_TEST_SUITE_P(Compiled, CountersOfGpu,
                         testing::Values(vgpu::Compile::never, vgpu::Compile::at_once));

}  // namespace
}  // namespace warpcheck::litmus
