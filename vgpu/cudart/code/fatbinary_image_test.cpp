// Fatbinaries without any code that can run.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include "vgpu/cudart/device/virtual_device.hpp"
#include "vgpu/cudart/testing/test_unit.hpp"

namespace warpcheck::cudart {
namespace {

TEST(FatBinary, IsRefusedByNameWhenItHoldsNoPtx) {
  begin_trial({});
  char kernel = 0;
  TestUnit machine_code("not PTX", 2);
  machine_code.kernel(&kernel, "cubin_only");
  EXPECT_EQ(cudaLaunchKernel(&kernel, dim3(1), dim3(1), nullptr, 0, nullptr),
            cudaErrorNotSupported);
  const TrialResult result = end_trial();
  ASSERT_EQ(result.refusals.size(), 1u);
  EXPECT_EQ(result.refusals[0].find("cubin_only: "), 0u) << result.refusals[0];
}

TEST(FatBinary, WithBrokenPtxIsInvalidPtx) {
  begin_trial({});
  char kernel = 0;
  TestUnit broken(".version 9.0\n.target sm_75\n.address_size 64\n.visible .entry k( {");
  broken.kernel(&kernel, "k");
  EXPECT_EQ(cudaLaunchKernel(&kernel, dim3(1), dim3(1), nullptr, 0, nullptr), cudaErrorInvalidPtx);
  EXPECT_EQ(end_trial().refusals.size(), 1u);
}

}  // namespace
}  // namespace warpcheck::cudart
