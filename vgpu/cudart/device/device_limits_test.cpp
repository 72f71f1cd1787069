#include "vgpu/cudart/device/device_limits.hpp"

#include <gtest/gtest.h>

#include "vgpu/cudart/device/virtual_gpu.hpp"

namespace warpcheck::cudart {
namespace {

class Limits : public testing::Test {
 protected:
  vgpu::DeviceMemory memory_;
  PrintBuffer prints_;
  DeviceLimits limits_{memory_, prints_};
};

TEST_F(Limits, OfAStackAreRoundedUpAndBounded) {
  EXPECT_EQ(limits_.get(cudaLimitStackSize), 1024u);
  EXPECT_EQ(limits_.set(cudaLimitStackSize, 1025), cudaSuccess);
  EXPECT_EQ(limits_.get(cudaLimitStackSize), 1040u);
  EXPECT_EQ(limits_.set(cudaLimitStackSize, virtual_gpu::kThreadLocalBytes + 1),
            cudaErrorInvalidValue);
  EXPECT_EQ(limits_.get(cudaLimitStackSize), 1040u);
  limits_.reset();
  EXPECT_EQ(limits_.get(cudaLimitStackSize), 1024u);
}

TEST_F(Limits, OfTheHeapHoldUntilAKernelUsesIt) {
  EXPECT_EQ(limits_.set(cudaLimitMallocHeapSize, 32), cudaSuccess);
  EXPECT_NE(memory_.allocate_on_heap(32), nullptr);
  EXPECT_EQ(memory_.allocate_on_heap(16), nullptr);
  limits_.use_heap();
  EXPECT_EQ(limits_.set(cudaLimitMallocHeapSize, 64), cudaErrorInvalidValue);
  EXPECT_EQ(limits_.get(cudaLimitMallocHeapSize), 32u);
}

TEST_F(Limits, OfTheHeapAreAtMostTheMemory) {
  memory_.set_capacity(1 << 20);
  EXPECT_EQ(limits_.set(cudaLimitMallocHeapSize, std::size_t{1} << 40), cudaSuccess);
  EXPECT_EQ(limits_.get(cudaLimitMallocHeapSize), std::size_t{1} << 20);
}

TEST_F(Limits, OfPrintfHoldUntilSomethingIsPrinted) {
  EXPECT_EQ(limits_.set(cudaLimitPrintfFifoSize, 10), cudaSuccess);
  vgpu::Print print;
  print.text = "text";
  print.record_bytes = 8;
  prints_.on_print(print);
  prints_.on_print(print);
  EXPECT_EQ(prints_.lost(), 1u);
  EXPECT_EQ(limits_.set(cudaLimitPrintfFifoSize, 100), cudaErrorInvalidValue);
  EXPECT_EQ(limits_.get(cudaLimitPrintfFifoSize), 10u);
}

}  // namespace
}  // namespace warpcheck::cudart
