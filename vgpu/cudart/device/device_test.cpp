// Two independent systems, which share no state; and two devices of one system.
#include "vgpu/cudart/device/device.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "vgpu/cudart/api/launches.hpp"
#include "vgpu/cudart/code/registry.hpp"
#include "vgpu/cudart/copies/copies.hpp"
#include "vgpu/cudart/testing/test_unit.hpp"

namespace warpcheck::cudart {
namespace {

// add: adds 1 to a variable, and stores the sum.  stop: traps.
constexpr const char* kTwoSystemsPtx = R"(
.version 9.0
.target sm_75
.address_size 64
.visible .global .align 4 .u32 sum;
.visible .entry add(.param .u64 out) {
  .reg .b64 %rd<3>;
  .reg .b32 %r<2>;
  ld.param.u64 %rd1, [out];
  mov.u64 %rd2, sum;
  ld.global.u32 %r1, [%rd2];
  add.u32 %r1, %r1, 1;
  st.global.u32 [%rd2], %r1;
  st.global.u32 [%rd1], %r1;
  ret;
}
.visible .entry stop() {
  trap;
}
)";
char add, stop;  // their addresses stand for the kernels

class TwoSystems : public testing::Test {
 protected:
  TwoSystems() {
    unit_.kernel(&add, "add");
    unit_.kernel(&stop, "stop");
    for (System* const system : {&first_system_, &second_system_}) system->begin_trial({});
  }
  static Stream& stream(Device& device) {
    return *device.execution().find_stream("cudaLaunchKernel", nullptr);
  }
  static cudaError_t launch(Device& device, const void* kernel, const void* out = nullptr) {
    KernelWork work;
    void* arguments[] = {&out};
    const cudaError_t error = prepare(device, kernel, {dim3(1), dim3(1)}, arguments, work);
    if (error != cudaSuccess) return error;
    return device.execution().submit(stream(device), std::move(work), false);
  }
  // Returns the sum that add() has stored.
  static std::uint32_t sum_at(Device& device, const vgpu::Allocation& out) {
    std::uint32_t sum = 0;
    EXPECT_EQ(copy(device, "cudaMemcpy", {&sum}, {reinterpret_cast<void*>(out.address)},
                   {sizeof sum}, cudaMemcpyDeviceToHost, stream(device), Waiting::until_done),
              cudaSuccess);
    return sum;
  }

  TestUnit unit_{kTwoSystemsPtx};
  System first_system_, second_system_;
  Device first_ = first_system_.current(), second_ = second_system_.current();
};

TEST_F(TwoSystems, HaveVariablesOfTheirOwn) {
  const vgpu::Allocation* const out = first_.allocations().allocate(4);
  const vgpu::Allocation* const other = second_.allocations().allocate(4);
  const auto* const target = reinterpret_cast<const void*>(out->address);
  const auto* const other_target = reinterpret_cast<const void*>(other->address);
  EXPECT_EQ(launch(first_, &add, target), cudaSuccess);
  EXPECT_EQ(launch(second_, &add, other_target), cudaSuccess);
  EXPECT_EQ(launch(first_, &add, target), cudaSuccess);
  EXPECT_EQ(sum_at(first_, *out), 2u);
  EXPECT_EQ(sum_at(second_, *other), 1u);
  EXPECT_EQ(first_system_.end_trial().launches, 2u);
  EXPECT_EQ(second_system_.end_trial().launches, 1u);
}

TEST_F(TwoSystems, DieEachByItself) {
  EXPECT_EQ(launch(first_, &stop), cudaSuccess);
  first_.execution().wait_for_all();
  EXPECT_EQ(first_.errors().sticky(), cudaErrorLaunchFailure);
  EXPECT_EQ(second_.errors().sticky(), cudaSuccess);
  EXPECT_EQ(first_system_.end_trial().findings.size(), 1u);
  EXPECT_TRUE(second_system_.end_trial().findings.empty());
}

TEST_F(TwoSystems, FindWhatIsLeftOnThem) {
  first_.allocations().allocate(16);
  second_.host_blocks().add({.start = 0x1000, .bytes = 8});
  EXPECT_EQ(first_.host_blocks().find(reinterpret_cast<const void*>(0x1000)), nullptr);
  EXPECT_EQ(first_system_.end_trial().findings.size(), 1u);
  EXPECT_TRUE(second_system_.end_trial().findings.empty());
}

// A new system has no state of a destroyed one, even if it has the same address.
TEST_F(TwoSystems, KnowNothingOfOneThatWasThereBefore) {
  Kernel& kernel = *Registry::instance().find_kernel(&add);
  std::optional<System> system;
  for (int i = 0; i < 2; ++i) {
    system.emplace();
    system->begin_trial({});
    Device device = system->current();
    EXPECT_EQ(kernel.attributes_on(device.allocations()).carveout, -1);
    kernel.attributes_on(device.allocations()).carveout = 50;
    const vgpu::Allocation* const out = device.allocations().allocate(4);
    EXPECT_EQ(launch(device, &add, reinterpret_cast<const void*>(out->address)), cudaSuccess);
    EXPECT_EQ(sum_at(device, *out), 1u);
    system->end_trial();
  }
}

TEST_F(TwoSystems, HaveKernelAttributesOfTheirOwn) {
  Kernel& kernel = *Registry::instance().find_kernel(&add);
  kernel.attributes_on(first_.allocations()).carveout = 50;
  EXPECT_EQ(kernel.attributes_on(second_.allocations()).carveout, -1);
  EXPECT_EQ(kernel.attributes_on(first_.allocations()).carveout, 50);
  first_.reset();
  EXPECT_EQ(kernel.attributes_on(first_.allocations()).carveout, -1);
}

}  // namespace
}  // namespace warpcheck::cudart
