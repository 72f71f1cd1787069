// Unordered streams: the orders in which operations may run, the events that observers receive, and
// the schedules that reproduce an order.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <array>
#include <set>
#include <string>
#include <vector>

#include "vgpu/cudart/device/virtual_device.hpp"
#include "vgpu/cudart/streams/order.hpp"
#include "vgpu/cudart/testing/append_kernel.hpp"
#include "vgpu/cudart/testing/test_unit.hpp"
#include "vgpu/machine/observer.hpp"
#include "vgpu/schedule/replay.hpp"
#include "vgpu/schedule/strategies.hpp"

// The header declares these functions under other names, or not at all.
extern "C" {
cudaError_t cudaLaunchKernel_ptsz(const void* function, dim3 grid, dim3 block, void** arguments,
                                  size_t dynamic_shared_bytes, cudaStream_t stream);
cudaError_t cudaMemcpy_ptds(void* target, const void* source, size_t bytes, cudaMemcpyKind kind);
}

namespace warpcheck::cudart {
namespace {

char append, dies;

// Records for each launch what it is unordered with.
class OrderLog final : public vgpu::Observer {
 public:
  void on_sync(const vgpu::Sync& sync) override {
    if (sync.kind == vgpu::Sync::Kind::kernel_start) add("kernel", sync.unordered_launches);
  }
  void on_host_access(const vgpu::HostAccess& access) override {
    add(access.write ? "write" : "read", access.unordered_launches);
  }
  void on_late_host_access(const vgpu::HostAccess& access) override {
    add(access.write ? "late write" : "late read", access.unordered_launches);
  }
  void on_device_copy(const vgpu::DeviceCopy& copy) override {
    add("copy", copy.unordered_launches);
  }
  std::vector<std::string> lines;

 private:
  void add(std::string line, std::span<const std::uint32_t> launches) {
    for (const std::uint32_t launch : launches) line += ' ' + std::to_string(launch);
    lines.push_back(std::move(line));
  }
};
using Lines = std::vector<std::string>;

class Streams : public testing::Test {
 protected:
  Streams() {
    unit_.kernel(&append, "append");
    unit_.kernel(&dies, "dies");
    begin({});
  }
  ~Streams() override {
    if (running_) end_trial();
  }
  void begin(TrialSettings settings) {
    if (running_) end_trial();
    settings.extra_observer = &log_;
    begin_trial(settings);
    running_ = true;
    EXPECT_EQ(cudaStreamCreate(&a_), cudaSuccess);
    EXPECT_EQ(cudaStreamCreate(&b_), cudaSuccess);
    EXPECT_EQ(cudaMalloc(reinterpret_cast<void**>(&cell_), 4), cudaSuccess);
    EXPECT_EQ(cudaMemset(cell_, 0, 4), cudaSuccess);
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    log_.lines.clear();
  }
  TrialResult finish() {
    EXPECT_EQ(cudaFree(cell_), cudaSuccess);
    running_ = false;
    return end_trial();
  }
  void launch(cudaStream_t stream, unsigned digit) {
    void* arguments[] = {&cell_, &digit};
    EXPECT_EQ(cudaLaunchKernel(&append, dim3(1), dim3(1), arguments, 0, stream), cudaSuccess);
  }
  int value() {
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    int number = 0;
    EXPECT_EQ(cudaMemcpy(&number, cell_, 4, cudaMemcpyDeviceToHost), cudaSuccess);
    return number;
  }
  // Returns the values that a program leaves under many schedules; each schedule must replay.
  template <typename Program>
  std::set<int> outcomes(Program program) {
    std::set<int> seen;
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
      const auto strategy = vgpu::make_strategy("random", seed);
      TrialSettings settings;
      settings.strategy = strategy.get();
      begin(settings);
      program();
      const int recorded = value();
      const TrialResult result = finish();
      seen.insert(recorded);

      vgpu::Replay replay(result.schedule);
      settings.strategy = &replay;
      begin(settings);
      program();
      EXPECT_EQ(value(), recorded) << seed;
      const TrialResult replayed = finish();
      EXPECT_EQ(replayed.schedule, result.schedule) << seed;
      EXPECT_EQ(replayed.decisions_ignored, 0u) << seed;
    }
    begin({});
    return seen;
  }

  TestUnit unit_{std::string(kAppendPtx) + ".visible .entry dies() { trap; }\n"};
  OrderLog log_;
  cudaStream_t a_ = nullptr, b_ = nullptr;
  unsigned* cell_ = nullptr;
  bool running_ = false;
};

TEST(OperationSet, CoversWhatComesBefore) {
  Chains chains;
  OperationSet first, second, third;
  const Stamp one = chains.extend({});
  first.add(one);
  const Stamp two = chains.extend({});  // unordered with the first
  second.add(two);
  EXPECT_NE(one.chain, two.chain);
  EXPECT_FALSE(first.covers(two));
  third.join(first);
  third.join(second);
  const Stamp three = chains.extend(third);
  EXPECT_EQ(three.chain, one.chain);
  third.add(three);
  EXPECT_TRUE(third.covers(one));
  EXPECT_TRUE(third.covers(two));
  EXPECT_FALSE(second.covers(three));
  EXPECT_NE(chains.extend(first).chain, one.chain);  // another stamp has extended that chain
}

// Many chains, whose operations are unordered.
TEST(OperationSet, CoversManyBesideEachOther) {
  Chains chains;
  OperationSet all;
  std::vector<Stamp> stamps;
  for (std::uint32_t i = 0; i < 9; ++i) {
    stamps.push_back(chains.extend({}));
    EXPECT_EQ(stamps.back().chain, i);
    OperationSet alone;
    alone.add(stamps.back());
    EXPECT_FALSE(all.includes(alone));
    const OperationSet before = all;
    all.join(alone);
    EXPECT_TRUE(all.includes(alone));
    EXPECT_TRUE(all.includes(before));
    EXPECT_FALSE(before.includes(all));
  }
  for (const Stamp& stamp : stamps) EXPECT_TRUE(all.covers(stamp));
  const Stamp next = chains.extend(all);
  EXPECT_EQ(next.position, 2u);
  EXPECT_FALSE(all.covers(next));
}

TEST_F(Streams, RunInTheOrderOfTheCallsByDefault) {
  launch(a_, 1);
  launch(b_, 2);
  launch(a_, 3);
  EXPECT_EQ(value(), 123);
  EXPECT_TRUE(finish().schedule.decisions.empty());
}

TEST_F(Streams, RunInEveryOrderThatKeepsEachStreams) {
  EXPECT_EQ(outcomes([&] {
              launch(a_, 1);
              launch(b_, 2);
              launch(a_, 3);
            }),
            (std::set{123, 132, 213}));
}

TEST_F(Streams, AreOrderedByEvents) {
  const auto program = [&] {
    cudaEvent_t event = nullptr;
    EXPECT_EQ(cudaEventCreate(&event), cudaSuccess);
    launch(a_, 1);
    EXPECT_EQ(cudaEventRecord(event, a_), cudaSuccess);
    launch(a_, 2);
    EXPECT_EQ(cudaStreamWaitEvent(b_, event, 0), cudaSuccess);
    launch(b_, 3);
  };
  EXPECT_EQ(outcomes(program), (std::set{123, 132}));
  program();
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(log_.lines, (Lines{"kernel", "kernel", "kernel 1"}));
}

// A supposition is a setting of the trial: the next trial supposes nothing.
TEST_F(Streams, AreOneInATrialThatSupposesIt) {
  for (const bool one : {true, false}) {
    TrialSettings settings;
    settings.supposed.one_stream = one;
    begin(settings);
    launch(a_, 1);
    launch(b_, 2);
    EXPECT_EQ(value(), 12);
    log_.lines.resize(2);
    EXPECT_EQ(log_.lines, (Lines{"kernel", one ? "kernel" : "kernel 0"}));
  }
}

TEST_F(Streams, AreWaitedForInATrialThatSupposesIt) {
  for (const bool waits : {true, false}) {
    TrialSettings settings;
    settings.supposed.host_waits = waits;
    begin(settings);
    launch(a_, 1);
    EXPECT_EQ(log_.lines, waits ? Lines{"kernel"} : Lines{});
  }
}

TEST_F(Streams, TheLegacyStreamWaitsForTheBlockingOnesAndTheyForIt) {
  EXPECT_EQ(outcomes([&] {
              launch(a_, 1);
              launch(nullptr, 2);
              launch(b_, 3);
            }),
            std::set{123});
}

TEST_F(Streams, NonBlockingOnesDoNotWaitForTheLegacyStream) {
  EXPECT_EQ(outcomes([&] {
              cudaStream_t free = nullptr;
              EXPECT_EQ(cudaStreamCreateWithFlags(&free, cudaStreamNonBlocking), cudaSuccess);
              launch(nullptr, 1);
              launch(free, 2);
            }),
            (std::set{12, 21}));
}

TEST_F(Streams, APerThreadStreamIsBlocking) {
  EXPECT_EQ(outcomes([&] {
              launch(cudaStreamPerThread, 1);
              launch(a_, 2);
              launch(nullptr, 3);
            }),
            (std::set{123, 213}));
}

TEST_F(Streams, NullMeansThePerThreadStreamToProgramsThatAreCompiledSo) {
  const auto launch_per_thread = [&](unsigned digit) {
    void* arguments[] = {&cell_, &digit};
    EXPECT_EQ(cudaLaunchKernel_ptsz(&append, dim3(1), dim3(1), arguments, 0, nullptr), cudaSuccess);
  };
  EXPECT_EQ(outcomes([&] {
              launch_per_thread(1);
              launch(a_, 2);
            }),
            (std::set{12, 21}));
  launch_per_thread(3);
  int number = 0;
  EXPECT_EQ(cudaMemcpy_ptds(&number, cell_, 4, cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_EQ(number, 3);
}

TEST_F(Streams, TheHostOrdersWhatItHasWaitedFor) {
  launch(a_, 1);
  EXPECT_EQ(cudaStreamSynchronize(a_), cudaSuccess);
  launch(b_, 2);
  launch(a_, 3);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  launch(b_, 4);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(log_.lines, (Lines{"kernel", "kernel", "kernel 1", "kernel"}));
}

TEST_F(Streams, TellWhichLaunchesNothingOrders) {
  launch(a_, 1);
  launch(b_, 2);
  EXPECT_EQ(cudaMemsetAsync(cell_, 0, 4, a_), cudaSuccess);
  EXPECT_EQ(cudaMemcpyAsync(cell_, cell_, 4, cudaMemcpyDeviceToDevice, b_), cudaSuccess);
  launch(b_, 3);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  // The memset follows launch 0; the copy and launch 2 follow launch 1.
  EXPECT_EQ(log_.lines,
            (Lines{"kernel", "kernel 0", "write 1", "copy 0", "kernel 0", "late write 2"}));
  const TrialResult result = finish();
  // Launches 0 and 1 race with each other, the host's operations with the launches, and the host's
  // operations with each other.
  ASSERT_EQ(result.findings.size(), 7u);
  for (const vgpu::Finding& finding : result.findings) {
    EXPECT_EQ(finding.kind, vgpu::FindingKind::data_race);
    ASSERT_EQ(finding.accesses.size(), 2u);
  }
  const auto roles = [&](std::size_t index) {
    const vgpu::Finding& finding = result.findings[index];
    return finding.accesses[0].role + ", " + finding.accesses[1].role;
  };
  const std::string launches =
      "nothing orders these two kernel launches: no stream, event, edge of a graph or wait of the "
      "host leads from one to the other";
  const auto host = [](const std::string& call) {
    return "nothing orders the kernel of (1) and " + call + " (2): they are in different streams";
  };
  const std::string fill = host("cudaMemsetAsync"), copy = host("cudaMemcpyAsync");
  const std::string operations =
      "nothing orders cudaMemsetAsync (1) and cudaMemcpyAsync (2): they are in different streams";
  const std::array messages{launches, launches, fill, copy, copy, operations, operations};
  for (std::size_t i = 0; i < messages.size(); ++i) {
    EXPECT_EQ(result.findings[i].message, messages[i]);
  }
  EXPECT_EQ(roles(0), "write, read");
  EXPECT_EQ(roles(1), "write, write");
  EXPECT_EQ(roles(2), "write, host write");
  EXPECT_EQ(roles(3), "write, host copy");
  EXPECT_EQ(roles(4), "read, host write");
  EXPECT_EQ(roles(5), "host write, host copy");
  EXPECT_EQ(roles(6), "host write, host write");
}

TEST_F(Streams, CopiesOfDifferentBytesDoNotRace) {
  char* two = nullptr;
  ASSERT_EQ(cudaMalloc(reinterpret_cast<void**>(&two), 8), cudaSuccess);
  EXPECT_EQ(cudaMemsetAsync(two, 0, 4, a_), cudaSuccess);
  EXPECT_EQ(cudaMemsetAsync(two + 4, 0, 4, b_), cudaSuccess);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(cudaFree(two), cudaSuccess);
  EXPECT_TRUE(finish().findings.empty());
}

// Repeated races of two streams are one finding.
TEST_F(Streams, RepeatedRacesOfCopiesAreCounted) {
  unsigned one = 1, two = 2;
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(cudaMemcpyAsync(cell_, &one, 4, cudaMemcpyHostToDevice, a_), cudaSuccess);
    EXPECT_EQ(cudaMemcpyAsync(cell_, &two, 4, cudaMemcpyHostToDevice, b_), cudaSuccess);
  }
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  const TrialResult result = finish();
  ASSERT_EQ(result.findings.size(), 1u);
  EXPECT_EQ(result.findings[0].severity, vgpu::Severity::error);
  EXPECT_EQ(result.findings[0].lack, vgpu::Lack::order_of_launches);
  EXPECT_GT(result.findings[0].count, 99u);
  // each is only compared with new operations of the other stream
  EXPECT_LT(result.findings[0].count, 400u);
}

TEST_F(Streams, CopiesOfTheSameBytesFromTheSameMemoryAreANote) {
  unsigned one = 1, other = 1;
  const auto race = [&](const unsigned* first, const unsigned* second) {
    EXPECT_EQ(cudaMemcpyAsync(cell_, first, 4, cudaMemcpyHostToDevice, a_), cudaSuccess);
    EXPECT_EQ(cudaMemcpyAsync(cell_, second, 4, cudaMemcpyHostToDevice, b_), cudaSuccess);
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  };
  race(&one, &one);
  race(&one, &other);
  EXPECT_EQ(cudaMemsetAsync(cell_, 7, 4, a_), cudaSuccess);
  EXPECT_EQ(cudaMemsetAsync(cell_, 7, 4, b_), cudaSuccess);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(cudaMemcpyAsync(cell_, &one, 4, cudaMemcpyHostToDevice, a_), cudaSuccess);
  one = 2;  // the bytes have been read already
  EXPECT_EQ(cudaMemcpyAsync(cell_, &one, 4, cudaMemcpyHostToDevice, b_), cudaSuccess);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  const TrialResult result = finish();
  ASSERT_EQ(result.findings.size(), 3u);
  EXPECT_EQ(result.findings[0].severity, vgpu::Severity::note);
  EXPECT_EQ(result.findings[0].message,
            "nothing orders cudaMemcpyAsync (1) and cudaMemcpyAsync (2): they are in different "
            "streams; both bring the same bytes");
  EXPECT_EQ(result.findings[1].severity, vgpu::Severity::error);
  EXPECT_EQ(result.findings[1].count, 2u);  // for other memory, and for other bytes
  EXPECT_EQ(result.findings[2].severity, vgpu::Severity::note);
}

TEST_F(Streams, PageableMemoryIsTakenAtOnceAndPageLockedMemoryLater) {
  unsigned pageable = 5, *locked = nullptr;
  ASSERT_EQ(cudaMallocHost(reinterpret_cast<void**>(&locked), 4), cudaSuccess);
  *locked = 5;
  EXPECT_EQ(cudaMemcpyAsync(cell_, &pageable, 4, cudaMemcpyHostToDevice, a_), cudaSuccess);
  pageable = 6;
  EXPECT_EQ(value(), 5);
  EXPECT_EQ(cudaMemcpyAsync(cell_, locked, 4, cudaMemcpyHostToDevice, a_), cudaSuccess);
  *locked = 6;  // too early
  EXPECT_EQ(value(), 6);
  EXPECT_EQ(cudaMemcpyAsync(&pageable, cell_, 4, cudaMemcpyDeviceToHost, a_), cudaSuccess);
  EXPECT_EQ(pageable, 6u);
  *locked = 0;
  EXPECT_EQ(cudaMemcpyAsync(locked, cell_, 4, cudaMemcpyDeviceToHost, a_), cudaSuccess);
  EXPECT_EQ(*locked, 0u);  // too early
  EXPECT_EQ(cudaStreamSynchronize(a_), cudaSuccess);
  EXPECT_EQ(*locked, 6u);
  EXPECT_EQ(cudaFreeHost(locked), cudaSuccess);
}

TEST_F(Streams, QueriesLetTheDeviceGoOn) {
  cudaEvent_t event = nullptr;
  EXPECT_EQ(cudaEventCreate(&event), cudaSuccess);
  launch(a_, 1);
  launch(a_, 2);
  EXPECT_EQ(cudaEventRecord(event, a_), cudaSuccess);
  EXPECT_EQ(cudaEventQuery(event), cudaErrorNotReady);
  EXPECT_EQ(cudaEventQuery(event), cudaErrorNotReady);
  EXPECT_EQ(cudaEventQuery(event), cudaSuccess);
  EXPECT_EQ(cudaStreamQuery(a_), cudaSuccess);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);  // not being ready is no error
}

TEST_F(Streams, ErrorsOfLaunchesAppearWhenTheyAreWaitedFor) {
  EXPECT_EQ(cudaLaunchKernel(&dies, dim3(1), dim3(1), nullptr, 0, a_), cudaSuccess);
  launch(b_, 1);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  EXPECT_EQ(cudaStreamSynchronize(b_), cudaErrorLaunchFailure);
  EXPECT_EQ(cudaGetLastError(), cudaErrorLaunchFailure);
}

TEST_F(Streams, AFreeInAnotherStreamRacesWithAKernel) {
  unsigned* cell = nullptr;
  ASSERT_EQ(cudaMallocAsync(reinterpret_cast<void**>(&cell), 4, a_), cudaSuccess);
  ASSERT_EQ(cudaMemsetAsync(cell, 0, 4, a_), cudaSuccess);
  unsigned digit = 1;
  void* arguments[] = {&cell, &digit};
  EXPECT_EQ(cudaLaunchKernel(&append, dim3(1), dim3(1), arguments, 0, a_), cudaSuccess);
  EXPECT_EQ(cudaFreeAsync(cell, b_), cudaSuccess);
  EXPECT_EQ(cudaFreeAsync(cell, b_), cudaErrorInvalidValue);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(log_.lines, (Lines{"write", "kernel", "write 0"}));
  const TrialResult result = finish();
  ASSERT_EQ(result.findings.size(), 4u);
  EXPECT_EQ(result.findings[0].kind, vgpu::FindingKind::invalid_free);
  for (const std::size_t index : {1u, 2u, 3u}) {
    EXPECT_EQ(result.findings[index].kind, vgpu::FindingKind::data_race);
  }
  EXPECT_EQ(result.findings[1].accesses[0].role, "write");
  EXPECT_EQ(result.findings[2].accesses[0].role, "read");
  for (const std::size_t index : {1u, 2u, 3u}) {
    EXPECT_EQ(result.findings[index].accesses[1].role, "host free");
  }
  EXPECT_EQ(
      result.findings[2].message,
      "nothing orders the kernel of (1) and cudaFreeAsync (2): they are in different streams");
  EXPECT_EQ(result.findings[3].message,
            "nothing orders cudaMemsetAsync (1) and cudaFreeAsync (2): they are in different "
            "streams");
}

TEST_F(Streams, UseAfterTheirEndIsFound) {
  EXPECT_EQ(cudaStreamDestroy(a_), cudaSuccess);
  EXPECT_EQ(cudaMemsetAsync(cell_, 0, 4, a_), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaStreamDestroy(a_), cudaErrorInvalidResourceHandle);
  const TrialResult result = finish();
  ASSERT_EQ(result.findings.size(), 2u);
  EXPECT_EQ(result.findings[0].kind, vgpu::FindingKind::use_after_free);
  EXPECT_EQ(result.findings[0].message, "cudaMemsetAsync uses a stream that has been destroyed");
  EXPECT_EQ(result.findings[1].kind, vgpu::FindingKind::invalid_free);
}

TEST_F(Streams, WorkOfADestroyedStreamIsDone) {
  launch(a_, 1);
  EXPECT_EQ(cudaStreamDestroy(a_), cudaSuccess);
  launch(nullptr, 2);  // waits for it nevertheless
  EXPECT_EQ(value(), 12);
  EXPECT_TRUE(finish().findings.empty());
}

TEST_F(Streams, WhatIsNeverWaitedForRunsBeforeTheTrialEnds) {
  launch(a_, 1);
  const auto never = [](void*) { FAIL(); };  // its argument may no longer exist
  EXPECT_EQ(cudaLaunchHostFunc(a_, never, nullptr), cudaSuccess);
  running_ = false;
  const TrialResult result = end_trial();
  EXPECT_EQ(result.launches, 1u);
}

TEST_F(Streams, MoreWorkThanCanWaitIsDoneInBetween) {
  cudaEvent_t event = nullptr;
  EXPECT_EQ(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), cudaSuccess);
  for (int i = 0; i < 5000; ++i) EXPECT_EQ(cudaEventRecord(event, a_), cudaSuccess);
  launch(a_, 7);
  EXPECT_EQ(value(), 7);
}

}  // namespace
}  // namespace warpcheck::cudart
