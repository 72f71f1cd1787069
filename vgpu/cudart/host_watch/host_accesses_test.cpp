// What the accesses of a plain program show, as a watch of the test's own has seen them.
#include "vgpu/cudart/host_watch/host_accesses.hpp"

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "vgpu/cudart/device/device.hpp"
#include "vgpu/cudart/testing/test_unit.hpp"

namespace warpcheck::cudart {
namespace {

// signal: data[0] = 42; __threadfence_system(); *(volatile int*)flag = 1;
// signal_early: *(volatile int*)flag = 1; data[0] = 42;
constexpr const char* kSignalPtx = R"(
.version 9.0
.target sm_75
.address_size 64
.visible .entry signal(.param .u64 data, .param .u64 flag)
{
	.reg .b64 %rd<3>;
	ld.param.u64 %rd1, [data];
	ld.param.u64 %rd2, [flag];
	st.global.u32 [%rd1], 42;
	fence.sc.sys;
	st.volatile.global.u32 [%rd2], 1;
	ret;
}
.visible .entry signal_early(.param .u64 data, .param .u64 flag)
{
	.reg .b64 %rd<3>;
	ld.param.u64 %rd1, [data];
	ld.param.u64 %rd2, [flag];
	st.volatile.global.u32 [%rd2], 1;
	st.global.u32 [%rd1], 42;
	ret;
}
)";

// A host that makes its accesses after the last kernel has run, before the device records its end.
class ScriptedWatch final : public HostWatch {
 public:
  std::vector<SeenAccess> script;
  unsigned kernels = 1;

  void count_launches(std::uint32_t launches) override { launches_ = launches; }
  void watch_again() override {
    // Called when a kernel begins, and when it ends.
    const bool has_run = !script.empty() && ++looks_ == 2 * kernels;
    if (!has_run) return;
    for (SeenAccess& access : script) access.launches = launches_;
    seen_ = std::exchange(script, {});
  }
  std::vector<SeenAccess> take() override { return std::exchange(seen_, {}); }
  std::vector<const void*> code(std::uint32_t) override { return {__builtin_return_address(0)}; }
  void watch(const std::vector<AddressRange>&) override {}
  void stop() override {}
  void watch_freed(const AddressRange&) override {}
  void watch_edges(const std::vector<AddressRange>&) override {}
  void forget_all() override {}
  void watch_device_memory(void (*)()) override {}
  bool takes_polls() override { return false; }
  [[nodiscard]] bool never_reads_result(const std::vector<const void*>&) const override {
    return false;
  }
  [[nodiscard]] std::string why_incomplete() const override { return {}; }

 private:
  std::vector<SeenAccess> seen_;
  std::uint32_t launches_ = 0;
  unsigned looks_ = 0;
};

class HostAccessesOfPrograms : public testing::Test {
 protected:
  HostAccessesOfPrograms() {
    set_host_watch(&watch_);
    unit_.kernel(&signal_, "signal");
    unit_.kernel(&signal_early_, "signal_early");
    for (int** const word : {&data_, &flag_, &other_data_, &other_flag_}) {
      cudaMallocHost(reinterpret_cast<void**>(word), sizeof(int));
    }
  }
  ~HostAccessesOfPrograms() override {
    for (int* const word : {data_, flag_, other_data_, other_flag_}) cudaFreeHost(word);
    set_host_watch(nullptr);
  }
  static SeenAccess read(const int* word) {
    SeenAccess access;
    access.address = reinterpret_cast<std::uint64_t>(word);
    access.bytes = sizeof(int);
    return access;
  }
  static SeenAccess page_of(const int* word, SeenAccess::Kind kind) {
    SeenAccess change;
    change.kind = kind;
    change.address = reinterpret_cast<std::uint64_t>(word) & ~std::uint64_t{4095};
    change.bytes = 4096;
    return change;
  }
  struct Launched {
    const char* kernel;
    int *data, *flag;
  };
  // Of kernels in one stream.
  std::vector<vgpu::Finding> findings_of(const std::vector<Launched>& kernels,
                                         const std::vector<SeenAccess>& script) {
    const std::size_t before = findings().size();
    watch_.script = script;
    watch_.kernels = static_cast<unsigned>(kernels.size());
    for (Launched each : kernels) {
      void* arguments[] = {&each.data, &each.flag};
      EXPECT_EQ(cudaLaunchKernel(each.kernel, 1, 1, arguments, 0, nullptr), cudaSuccess);
    }
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    std::vector<vgpu::Finding> found = findings();
    found.erase(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(before));
    return found;
  }
  std::vector<vgpu::Finding> findings_of(const std::vector<SeenAccess>& script) {
    return findings_of({{&signal_, data_, flag_}}, script);
  }
  static std::vector<vgpu::Finding> findings() {
    return with_device([](Device& device) { return device.system().peek_result().findings; });
  }

  ScriptedWatch watch_;
  TestUnit unit_{kSignalPtx};
  char signal_ = 0, signal_early_ = 0;
  int *data_ = nullptr, *flag_ = nullptr, *other_data_ = nullptr, *other_flag_ = nullptr;
};

TEST_F(HostAccessesOfPrograms, RaceWithTheKernelWithoutASignal) {
  const std::vector<vgpu::Finding> found = findings_of({read(data_)});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].kind, vgpu::FindingKind::data_race);
}

TEST_F(HostAccessesOfPrograms, AreOrderedByASignalThatTheHostHasRead) {
  EXPECT_TRUE(findings_of({read(flag_), read(data_)}).empty());
}

TEST_F(HostAccessesOfPrograms, MayHaveReadASignalInAPageThatWasNotWatched) {
  EXPECT_TRUE(findings_of({page_of(flag_, SeenAccess::Kind::unseen_begin), read(data_),
                           page_of(flag_, SeenAccess::Kind::unseen_end)})
                  .empty());
}

TEST_F(HostAccessesOfPrograms, HaveReadNoUnseenSignalOnceThePageIsWatched) {
  const std::vector<vgpu::Finding> found =
      findings_of({read(data_), page_of(flag_, SeenAccess::Kind::unseen_begin),
                   page_of(flag_, SeenAccess::Kind::unseen_end)});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].kind, vgpu::FindingKind::data_race);
}

TEST_F(HostAccessesOfPrograms, KnowNothingBehindTheLastReleaseOfAKernel) {
  const std::vector<vgpu::Finding> found =
      findings_of({{&signal_early_, data_, flag_}}, {read(flag_), read(data_)});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].kind, vgpu::FindingKind::data_race);
  EXPECT_EQ(found[0].lack, vgpu::Lack::host_release);
}

TEST_F(HostAccessesOfPrograms, KnowAllOfAKernelByTheSignalOfOneBehindIt) {
  EXPECT_TRUE(findings_of({{&signal_early_, data_, flag_}, {&signal_, other_data_, other_flag_}},
                          {read(other_flag_), read(data_)})
                  .empty());
}

}  // namespace
}  // namespace warpcheck::cudart
