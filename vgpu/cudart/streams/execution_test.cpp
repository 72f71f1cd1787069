#include "vgpu/cudart/streams/execution.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "vgpu/cudart/device/virtual_clock.hpp"
#include "vgpu/cudart/graphs/graphs.hpp"
#include "vgpu/cudart/streams/idle_progress.hpp"
#include "vgpu/cudart/testing/device_parts.hpp"

namespace warpcheck::cudart {
namespace {

using Numbers = std::vector<std::uint32_t>;

// Records the numbers of the operations that it runs.
class NotingRunner final : public OperationRunner {
 public:
  void run(const Operation& operation, const HostState& host) override {
    ran.push_back(operation.number);
    if (operation.is_alone) were_alone.push_back(operation.number);
    last_host = host;
    if (operation.number == refuses) throw vgpu::Refusal("it cannot be run");
  }
  void run(const CopyWork&, const Operation& operation, const HostState& host) override {
    run(operation, host);
  }
  void bring_out_prints() override { ++brought_out; }
  void all_done(const OperationSet&, std::uint32_t operations) override {
    all_done_at.push_back(operations);
  }
  Numbers ran, were_alone, all_done_at;
  HostState last_host;
  int brought_out = 0;
  std::uint32_t refuses = UINT32_MAX;
};

// Work with an effect, so that its order matters.
Work work() { return FreeWork{}; }

class ExecutionOfStreams : public testing::Test, protected DeviceParts {
 protected:
  Stream& stream() {
    Queues& queues = execution_.queues();
    return *queues.find(queues.create_stream(cudaStreamNonBlocking, 0));
  }

  std::mutex mutex_;
  std::unique_lock<std::mutex> lock_{mutex_};
  VirtualClock clock_;
  IdleProgress idle_{[] {}};
  NotingRunner runner_;
  Execution execution_{{.mutex = mutex_,
                        .trial = trial,
                        .devices = devices,
                        .findings = findings,
                        .recording = recording,
                        .clock = clock_,
                        .idle = idle_,
                        .runner = runner_}};
};

TEST_F(ExecutionOfStreams, BeginsWhenTheHostWaits) {
  Stream &first = stream(), &second = stream();
  EXPECT_EQ(execution_.submit(first, work(), false), cudaSuccess);   // 0
  EXPECT_EQ(execution_.submit(second, work(), false), cudaSuccess);  // 1
  EXPECT_EQ(execution_.submit(first, work(), false), cudaSuccess);   // 2
  EXPECT_EQ(runner_.ran, Numbers{});
  execution_.wait_for(second);
  EXPECT_EQ(runner_.ran, (Numbers{0, 1}));
  EXPECT_EQ(runner_.brought_out, 1);
  EXPECT_EQ(runner_.all_done_at, Numbers{});
  EXPECT_EQ(execution_.submit(first, work(), true), cudaSuccess);  // 3
  EXPECT_EQ(runner_.ran, (Numbers{0, 1, 2, 3}));
  EXPECT_EQ(runner_.all_done_at, (Numbers{4}));
  EXPECT_TRUE(runner_.last_host.waits);
  EXPECT_FALSE(runner_.last_host.is_gone);
}

TEST_F(ExecutionOfStreams, MakesProgressByOneOperation) {
  Stream& one = stream();
  execution_.make_progress();
  execution_.submit(one, work(), false);
  execution_.submit(one, work(), false);
  execution_.make_progress();
  EXPECT_EQ(runner_.ran, (Numbers{0}));
}

// Such a copy has a number like any other operation, so that schedules do not depend on it.
TEST_F(ExecutionOfStreams, RunsACopyAtOnceIfEverythingComesBeforeIt) {
  Stream& one = stream();
  CopyWork copy;
  EXPECT_EQ(execution_.run_at_once(one, copy), cudaSuccess);  // 0
  EXPECT_EQ(runner_.ran, Numbers{0});
  EXPECT_EQ(one.last, nullptr);
  EXPECT_EQ(execution_.submit(one, KernelWork{}, false), cudaSuccess);  // 1
  EXPECT_EQ(execution_.submit(one, KernelWork{}, false), cudaSuccess);  // 2
  EXPECT_EQ(execution_.run_at_once(one, copy), cudaSuccess);            // 3
  EXPECT_EQ(runner_.ran, (Numbers{0, 1, 2, 3}));
  EXPECT_EQ(runner_.were_alone, (Numbers{0, 2, 3}));
  EXPECT_EQ(runner_.all_done_at, Numbers{4});
  EXPECT_TRUE(runner_.last_host.runs_alone);
  EXPECT_EQ(execution_.unfinished(), std::nullopt);
  EXPECT_EQ(execution_.submit(one, work(), true), cudaSuccess);  // 4: comes after the copy
  EXPECT_EQ(runner_.were_alone, (Numbers{0, 2, 3, 4}));
}

TEST_F(ExecutionOfStreams, QueuesACopyThatSomethingElseMayPrecedeOrFollow) {
  Stream &first = stream(), &second = stream();
  CopyWork copy;
  const auto expect_queued = [&](Stream& queued) {
    EXPECT_EQ(execution_.run_at_once(queued, copy), std::nullopt);
    EXPECT_EQ(runner_.ran, Numbers{});
  };
  EXPECT_EQ(execution_.submit(first, KernelWork{}, false), cudaSuccess);
  expect_queued(second);
  EXPECT_EQ(execution_.submit(first, work(), false), cudaSuccess);  // it may free memory
  expect_queued(first);
  execution_.reset();
  CallLog log;
  recording.set_log(&log);
  expect_queued(stream());
  recording.set_log(nullptr);
  Stream& captured = stream();
  captured.capture = std::make_shared<Capture>();
  expect_queued(captured);
}

TEST_F(ExecutionOfStreams, RunsNoCopyAfterALaunchHasDied) {
  Stream& one = stream();
  CopyWork copy;
  errors.set_sticky(cudaErrorAssert);
  EXPECT_EQ(execution_.run_at_once(one, copy), cudaErrorAssert);
  EXPECT_EQ(runner_.ran, Numbers{});
}

// Of an operation that is alone, no race is looked for.
TEST_F(ExecutionOfStreams, TellsWhichOperationsAreAlone) {
  Stream &first = stream(), &second = stream();
  EXPECT_EQ(execution_.submit(first, work(), false), cudaSuccess);  // 0
  execution_.wait_for(first);
  EXPECT_EQ(runner_.were_alone, Numbers{0});
  EXPECT_EQ(execution_.submit(first, work(), false), cudaSuccess);  // 1: another one is pending
  EXPECT_EQ(execution_.submit(first, work(), false), cudaSuccess);  // 2
  execution_.wait_for(first);
  EXPECT_EQ(runner_.were_alone, (Numbers{0, 2}));
  EXPECT_EQ(execution_.submit(first, work(), false), cudaSuccess);   // 3: nothing orders it and 4
  EXPECT_EQ(execution_.submit(second, work(), false), cudaSuccess);  // 4
  execution_.wait_for(first);
  execution_.wait_for(second);
  EXPECT_EQ(execution_.submit(first, work(), false), cudaSuccess);  // 5: the host does not wait
  execution_.make_progress();
  EXPECT_EQ(runner_.ran, (Numbers{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(runner_.were_alone, (Numbers{0, 2}));
}

TEST_F(ExecutionOfStreams, BeginsWhereTooManyOperationsWait) {
  Stream& one = stream();
  for (int i = 0; i < 1024; ++i) execution_.submit(one, work(), false);
  EXPECT_EQ(runner_.ran, Numbers{});
  execution_.submit(one, work(), false);
  EXPECT_EQ(runner_.ran, (Numbers{0}));
}

TEST_F(ExecutionOfStreams, OfCallsThatAreRecordedIsAtOnce) {
  CallLog log;
  recording.set_log(&log);
  execution_.submit(stream(), work(), false);
  EXPECT_EQ(runner_.ran, (Numbers{0}));
}

TEST_F(ExecutionOfStreams, EndsWhereALaunchHasDied) {
  Stream& one = stream();
  execution_.submit(one, work(), false);
  errors.set_sticky(cudaErrorAssert);
  EXPECT_EQ(execution_.submit(one, work(), true), cudaErrorAssert);
  EXPECT_EQ(runner_.ran, Numbers{});
  EXPECT_TRUE(one.last->is_done());
}

TEST_F(ExecutionOfStreams, GoesOnForNobody) {
  execution_.submit(stream(), work(), false);
  execution_.run_all_for_nobody();
  EXPECT_EQ(runner_.ran, (Numbers{0}));
  EXPECT_FALSE(runner_.last_host.waits);
  EXPECT_EQ(runner_.brought_out, 1);
  EXPECT_EQ(runner_.all_done_at, Numbers{});  // the host has not been told
}

TEST_F(ExecutionOfStreams, RunsWhatIsLeftWithoutTheHost) {
  trial.begin({});
  Stream& one = stream();
  execution_.submit(one, work(), false);
  execution_.submit(one, work(), false);
  runner_.refuses = 1;
  execution_.submit(one, work(), false);
  execution_.run_what_is_left();
  EXPECT_EQ(runner_.ran, (Numbers{0, 1}));
  EXPECT_TRUE(runner_.last_host.is_gone);
  EXPECT_EQ(trial.result().refusals, (std::vector<std::string>{"it cannot be run"}));
  // number 0 again: the previous operations are forgotten
  execution_.submit(stream(), work(), true);
  EXPECT_EQ(runner_.ran, (Numbers{0, 1, 0}));
  EXPECT_FALSE(runner_.last_host.is_gone);
}

TEST_F(ExecutionOfStreams, NotesWhenOperationsEnd) {
  Stream& one = stream();
  clock_.spend_launch(10);
  execution_.submit(one, work(), true);
  EXPECT_EQ(one.last->ended_at, virtual_gpu::kLaunchCycles + 10);
}

// The legacy stream waits for what blocking streams were asked for, whether or not they still
// exist.
TEST_F(ExecutionOfStreams, OfTheLegacyStreamComesAfterDestroyedStreams) {
  Queues& queues = execution_.queues();
  Stream &gone = *queues.find(queues.create_stream(0, 0)),
         &stays = *queues.find(queues.create_stream(0, 0)),
         &apart = *queues.find(queues.create_stream(cudaStreamNonBlocking, 0));
  for (Stream* const one : {&gone, &stays, &apart}) execution_.submit(*one, work(), false);
  gone.destroyed = apart.destroyed = true;
  Stream& legacy = *queues.find(nullptr);
  for (int i = 0; i < 3; ++i) {
    execution_.submit(legacy, work(), false);
    EXPECT_TRUE(legacy.last->clock.covers(gone.last->stamp)) << i;
    EXPECT_TRUE(legacy.last->clock.covers(stays.last->stamp)) << i;
    EXPECT_FALSE(legacy.last->clock.covers(apart.last->stamp)) << i;
    execution_.submit(stays, work(), false);
  }
}

TEST_F(ExecutionOfStreams, OfTheLegacyStreamFailsWhileADestroyedStreamIsCaptured) {
  Queues& queues = execution_.queues();
  Stream& gone = *queues.find(queues.create_stream(0, 0));
  gone.capture = std::make_shared<Capture>();
  gone.destroyed = true;
  std::vector<OperationPtr> before;
  queues.before_next(*queues.find(nullptr), before);
  EXPECT_TRUE(queues.captures_blocking_stream(0));
  gone.capture = nullptr;
  EXPECT_FALSE(queues.captures_blocking_stream(0));
}

TEST_F(ExecutionOfStreams, KnowsStreamsThatAreDestroyed) {
  const cudaStream_t handle = execution_.queues().create_stream(0, 0);
  ASSERT_NE(execution_.find_stream("cudaStreamQuery", handle), nullptr);
  execution_.queues().find(handle)->destroyed = true;
  EXPECT_EQ(execution_.find_stream("cudaStreamQuery", handle), nullptr);
  ASSERT_EQ(found().size(), 1u);
  EXPECT_EQ(found()[0].message, "cudaStreamQuery uses a stream that has been destroyed");
  execution_.reset();
  EXPECT_EQ(execution_.find_stream("cudaStreamQuery", handle), nullptr);
  EXPECT_EQ(found().size(), 1u);  // the destroyed stream has been forgotten
}

}  // namespace
}  // namespace warpcheck::cudart
