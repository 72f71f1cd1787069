// Graphs: built by calls, captured, changed and launched; and the orders in which their nodes run.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <set>
#include <utility>
#include <vector>

#include "vgpu/cudart/device/virtual_device.hpp"
#include "vgpu/cudart/testing/append_kernel.hpp"
#include "vgpu/cudart/testing/test_unit.hpp"
#include "vgpu/schedule/strategies.hpp"

namespace warpcheck::cudart {
namespace {

char append;

class Graphs : public testing::Test {
 protected:
  Graphs() {
    unit_.kernel(&append, "append");
    begin({});
  }
  ~Graphs() override {
    if (running_) end_trial();
  }
  void begin(const TrialSettings& settings) {
    if (running_) end_trial();
    begin_trial(settings);
    running_ = true;
    EXPECT_EQ(cudaStreamCreate(&stream_), cudaSuccess);
    EXPECT_EQ(cudaMalloc(reinterpret_cast<void**>(&cell_), 4), cudaSuccess);
    EXPECT_EQ(cudaMemset(cell_, 0, 4), cudaSuccess);
    EXPECT_EQ(cudaGraphCreate(&graph_, 0), cudaSuccess);
  }
  void launch(cudaStream_t stream, unsigned digit) {
    void* arguments[] = {&cell_, &digit};
    EXPECT_EQ(cudaLaunchKernel(&append, dim3(1), dim3(1), arguments, 0, stream), cudaSuccess);
  }
  cudaKernelNodeParams parameters(unsigned digit) {
    digit_ = digit;
    cudaKernelNodeParams given{};
    given.func = &append;
    given.gridDim = given.blockDim = dim3(1);
    given.kernelParams = arguments_;
    return given;
  }
  cudaGraphNode_t add(unsigned digit, const std::vector<cudaGraphNode_t>& after = {}) {
    const cudaKernelNodeParams given = parameters(digit);
    cudaGraphNode_t node = nullptr;
    EXPECT_EQ(cudaGraphAddKernelNode(&node, graph_, after.data(), after.size(), &given),
              cudaSuccess);
    return node;
  }
  cudaGraphExec_t instantiate(cudaGraph_t graph) {
    cudaGraphExec_t executable = nullptr;
    EXPECT_EQ(cudaGraphInstantiate(&executable, graph, 0), cudaSuccess);
    return executable;
  }
  int value() {
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    int number = 0;
    EXPECT_EQ(cudaMemcpy(&number, cell_, 4, cudaMemcpyDeviceToHost), cudaSuccess);
    return number;
  }
  template <typename Program>
  std::set<int> outcomes(Program program) {
    std::set<int> seen;
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
      const auto strategy = vgpu::make_strategy("random", seed);
      TrialSettings settings;
      settings.strategy = strategy.get();
      begin(settings);
      program();
      seen.insert(value());
      end_trial();
      running_ = false;
    }
    return seen;
  }

  TestUnit unit_{kAppendPtx};
  cudaStream_t stream_ = nullptr;
  cudaGraph_t graph_ = nullptr;
  unsigned* cell_ = nullptr;
  unsigned digit_ = 0;
  void* arguments_[2] = {&cell_, &digit_};
  bool running_ = false;
};

TEST_F(Graphs, RunTheirNodesAsTheirEdgesSay) {
  EXPECT_EQ(outcomes([&] {
              const cudaGraphNode_t first = add(1);
              const cudaGraphNode_t left = add(2, {first}), right = add(3, {first});
              add(4, {left, right});
              const cudaGraphExec_t executable = instantiate(graph_);
              EXPECT_EQ(cudaGraphLaunch(executable, stream_), cudaSuccess);
              launch(stream_, 5);
            }),
            (std::set{12345, 13245}));
}

TEST_F(Graphs, AreLaunchedAgainAndAgainInOrder) {
  add(2);
  const cudaGraphExec_t executable = instantiate(graph_);
  launch(stream_, 1);
  EXPECT_EQ(cudaGraphLaunch(executable, stream_), cudaSuccess);
  EXPECT_EQ(cudaGraphLaunch(executable, stream_), cudaSuccess);
  EXPECT_EQ(cudaGraphDestroy(graph_), cudaSuccess);
  EXPECT_EQ(cudaGraphExecDestroy(executable), cudaSuccess);  // the launched graph still runs
  EXPECT_EQ(cudaGraphLaunch(executable, stream_), cudaErrorInvalidValue);
  EXPECT_EQ(value(), 122);
}

TEST_F(Graphs, HoldCopiesFillsHostFunctionsAndOtherGraphs) {
  static int calls;
  calls = 0;
  int host = 0;
  const cudaMemsetParams fill{cell_, 0, 0x0101, 2, 2, 1};
  const cudaHostNodeParams count{[](void*) { ++calls; }, nullptr};
  cudaGraphNode_t filled = nullptr, copied = nullptr, counted = nullptr, child = nullptr;
  EXPECT_EQ(cudaGraphAddMemsetNode(&filled, graph_, nullptr, 0, &fill), cudaSuccess);
  EXPECT_EQ(cudaGraphAddMemcpyNode1D(&copied, graph_, &filled, 1, &host, cell_, 4,
                                     cudaMemcpyDeviceToHost),
            cudaSuccess);
  EXPECT_EQ(cudaGraphAddHostNode(&counted, graph_, &copied, 1, &count), cudaSuccess);
  cudaGraph_t outer = nullptr;
  EXPECT_EQ(cudaGraphCreate(&outer, 0), cudaSuccess);
  EXPECT_EQ(cudaGraphAddChildGraphNode(&child, outer, nullptr, 0, graph_), cudaSuccess);
  EXPECT_EQ(cudaGraphLaunch(instantiate(outer), stream_), cudaSuccess);
  EXPECT_EQ(calls, 0);
  EXPECT_EQ(cudaStreamSynchronize(stream_), cudaSuccess);
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(host, 0x01010101);
}

TEST_F(Graphs, TellWhatTheyAre) {
  const cudaGraphNode_t first = add(1), second = add(2, {first});
  std::size_t count = 0;
  EXPECT_EQ(cudaGraphGetNodes(graph_, nullptr, &count), cudaSuccess);
  EXPECT_EQ(count, 2u);
  cudaGraphNode_t roots[2] = {}, from[1] = {}, to[1] = {};
  EXPECT_EQ(cudaGraphGetRootNodes(graph_, roots, &count), cudaSuccess);
  EXPECT_EQ(count, 1u);
  EXPECT_EQ(roots[0], first);
  EXPECT_EQ(roots[1], nullptr);
  EXPECT_EQ(cudaGraphGetEdges(graph_, from, to, nullptr, &count), cudaSuccess);
  EXPECT_EQ(count, 1u);
  EXPECT_EQ(from[0], first);
  EXPECT_EQ(to[0], second);
  cudaGraphNodeType type{};
  EXPECT_EQ(cudaGraphNodeGetType(second, &type), cudaSuccess);
  EXPECT_EQ(type, cudaGraphNodeTypeKernel);
  cudaKernelNodeParams given{};
  EXPECT_EQ(cudaGraphKernelNodeGetParams(second, &given), cudaSuccess);
  EXPECT_EQ(given.func, &append);
  EXPECT_EQ(*static_cast<unsigned*>(given.kernelParams[1]), 2u);
  EXPECT_EQ(cudaGraphDestroyNode(first), cudaSuccess);
  EXPECT_EQ(cudaGraphGetNodes(graph_, nullptr, &count), cudaSuccess);
  EXPECT_EQ(count, 1u);
  EXPECT_EQ(cudaGraphDestroyNode(first), cudaErrorInvalidValue);
}

TEST_F(Graphs, WithACycleCannotBeRun) {
  const cudaGraphNode_t first = add(1), second = add(2, {first});
  EXPECT_EQ(cudaGraphAddDependencies(graph_, &second, &first, nullptr, 1), cudaSuccess);
  cudaGraphExec_t executable = nullptr;
  EXPECT_EQ(cudaGraphInstantiate(&executable, graph_, 0), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGraphRemoveDependencies(graph_, &second, &first, nullptr, 1), cudaSuccess);
  EXPECT_EQ(cudaGraphInstantiate(&executable, graph_, 0), cudaSuccess);
}

TEST_F(Graphs, AreChangedAfterTheyWereInstantiated) {
  const cudaGraphNode_t first = add(1), second = add(2, {first});
  const cudaGraphExec_t executable = instantiate(graph_);
  cudaKernelNodeParams other = parameters(7);
  EXPECT_EQ(cudaGraphExecKernelNodeSetParams(executable, second, &other), cudaSuccess);
  EXPECT_EQ(cudaGraphLaunch(executable, stream_), cudaSuccess);
  EXPECT_EQ(value(), 17);
  EXPECT_EQ(cudaGraphNodeSetEnabled(executable, first, 0), cudaSuccess);
  EXPECT_EQ(cudaGraphLaunch(executable, stream_), cudaSuccess);
  EXPECT_EQ(value(), 177);
  cudaGraphExecUpdateResultInfo result{};
  EXPECT_EQ(cudaGraphExecUpdate(executable, graph_, &result), cudaSuccess);
  EXPECT_EQ(result.result, cudaGraphExecUpdateSuccess);
  EXPECT_EQ(cudaGraphLaunch(executable, stream_), cudaSuccess);
  EXPECT_EQ(value(), 17712);
  add(3, {second});
  EXPECT_EQ(cudaGraphExecUpdate(executable, graph_, &result), cudaErrorGraphExecUpdateFailure);
  EXPECT_EQ(result.result, cudaGraphExecUpdateErrorTopologyChanged);
}

TEST_F(Graphs, AreCapturedFromStreams) {
  const auto program = [&] {
    cudaStream_t other = nullptr;
    cudaEvent_t fork = nullptr, join = nullptr;
    EXPECT_EQ(cudaStreamCreate(&other), cudaSuccess);
    EXPECT_EQ(cudaEventCreate(&fork), cudaSuccess);
    EXPECT_EQ(cudaEventCreate(&join), cudaSuccess);
    EXPECT_EQ(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeGlobal), cudaSuccess);
    launch(stream_, 1);
    EXPECT_EQ(cudaEventRecord(fork, stream_), cudaSuccess);
    EXPECT_EQ(cudaStreamWaitEvent(other, fork, 0), cudaSuccess);
    launch(other, 2);
    launch(stream_, 3);
    EXPECT_EQ(cudaEventRecord(join, other), cudaSuccess);
    EXPECT_EQ(cudaStreamWaitEvent(stream_, join, 0), cudaSuccess);
    launch(stream_, 4);
    cudaGraph_t captured = nullptr;
    EXPECT_EQ(cudaStreamEndCapture(stream_, &captured), cudaSuccess);
    std::size_t nodes = 0;
    EXPECT_EQ(cudaGraphGetNodes(captured, nullptr, &nodes), cudaSuccess);
    EXPECT_EQ(nodes, 4u);
    EXPECT_EQ(cudaGraphLaunch(instantiate(captured), stream_), cudaSuccess);
  };
  EXPECT_EQ(outcomes(program), (std::set{1234, 1324}));
}

TEST_F(Graphs, WhatIsCapturedDoesNotRun) {
  EXPECT_EQ(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeGlobal), cudaSuccess);
  launch(stream_, 1);
  cudaGraph_t captured = nullptr;
  EXPECT_EQ(cudaStreamEndCapture(stream_, &captured), cudaSuccess);
  EXPECT_EQ(value(), 0);
}

TEST_F(Graphs, CapturesThatWaitAreSpoilt) {
  EXPECT_EQ(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeGlobal), cudaSuccess);
  EXPECT_EQ(cudaStreamSynchronize(stream_), cudaErrorStreamCaptureUnsupported);
  cudaStreamCaptureStatus status{};
  EXPECT_EQ(cudaStreamIsCapturing(stream_, &status), cudaSuccess);
  EXPECT_EQ(status, cudaStreamCaptureStatusInvalidated);
  cudaGraph_t captured = nullptr;
  EXPECT_EQ(cudaStreamEndCapture(stream_, &captured), cudaErrorStreamCaptureInvalidated);
  EXPECT_EQ(captured, nullptr);
  EXPECT_EQ(cudaStreamEndCapture(stream_, &captured), cudaErrorIllegalState);
  EXPECT_EQ(cudaStreamBeginCapture(nullptr, cudaStreamCaptureModeGlobal),
            cudaErrorStreamCaptureUnsupported);
}

TEST_F(Graphs, CapturesMustBeJoined) {
  cudaStream_t other = nullptr;
  cudaEvent_t fork = nullptr;
  EXPECT_EQ(cudaStreamCreate(&other), cudaSuccess);
  EXPECT_EQ(cudaEventCreate(&fork), cudaSuccess);
  EXPECT_EQ(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeRelaxed), cudaSuccess);
  EXPECT_EQ(cudaEventRecord(fork, stream_), cudaSuccess);
  EXPECT_EQ(cudaStreamWaitEvent(other, fork, 0), cudaSuccess);
  launch(other, 1);
  cudaGraph_t captured = nullptr;
  EXPECT_EQ(cudaStreamEndCapture(other, &captured), cudaErrorStreamCaptureUnmatched);
  EXPECT_EQ(cudaStreamEndCapture(stream_, &captured), cudaErrorStreamCaptureUnjoined);
}

// As programs do that put a node of their own into what a stream captures.
TEST_F(Graphs, GetNodesOfTheProgramWhileTheyAreCaptured) {
  EXPECT_EQ(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeGlobal), cudaSuccess);
  launch(stream_, 1);
  cudaStreamCaptureStatus status{};
  cudaGraph_t graph = nullptr;
  const cudaGraphNode_t* last = nullptr;
  std::size_t count = 0;
  EXPECT_EQ(cudaStreamGetCaptureInfo(stream_, &status, nullptr, &graph, &last, nullptr, &count),
            cudaSuccess);
  EXPECT_EQ(count, 1u);
  std::size_t nodes = 0;
  EXPECT_EQ(cudaGraphGetNodes(graph, nullptr, &nodes), cudaSuccess);
  EXPECT_EQ(nodes, 1u);
  cudaGraphNode_t added = nullptr;
  EXPECT_EQ(cudaGraphAddEmptyNode(&added, graph, last, count), cudaSuccess);
  EXPECT_EQ(cudaGraphDestroyNode(added), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGraphDestroy(graph), cudaErrorInvalidValue);
  EXPECT_EQ(cudaStreamUpdateCaptureDependencies(stream_, &added, nullptr, 1,
                                                cudaStreamSetCaptureDependencies),
            cudaSuccess);
  launch(stream_, 2);
  cudaGraph_t captured = nullptr;
  EXPECT_EQ(cudaStreamEndCapture(stream_, &captured), cudaSuccess);
  EXPECT_EQ(captured, graph);
  EXPECT_EQ(cudaGraphGetNodes(graph, nullptr, &nodes), cudaSuccess);
  EXPECT_EQ(nodes, 3u);
  EXPECT_EQ(cudaGraphLaunch(instantiate(captured), stream_), cudaSuccess);
  EXPECT_EQ(value(), 12);
  EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
}

TEST_F(Graphs, OfSpoiltCapturesAreGone) {
  EXPECT_EQ(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeGlobal), cudaSuccess);
  cudaStreamCaptureStatus status{};
  cudaGraph_t graph = nullptr;
  EXPECT_EQ(cudaStreamGetCaptureInfo(stream_, &status, nullptr, &graph, nullptr, nullptr, nullptr),
            cudaSuccess);
  EXPECT_EQ(cudaStreamSynchronize(stream_), cudaErrorStreamCaptureUnsupported);
  cudaGraph_t captured = nullptr;
  EXPECT_EQ(cudaStreamEndCapture(stream_, &captured), cudaErrorStreamCaptureInvalidated);
  std::size_t nodes = 0;
  EXPECT_EQ(cudaGraphGetNodes(graph, nullptr, &nodes), cudaErrorInvalidValue);
}

// Ends the trial and returns its findings.
std::vector<vgpu::Finding> findings_of_trial() { return end_trial().findings; }

TEST_F(Graphs, MemoryOfAGraphBeginsAnewInEachLaunch) {
  // The graph allocates its own cell, sets it to 0, appends to it, copies it and frees it.
  unsigned *out = cell_, *inner = nullptr;
  EXPECT_EQ(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeGlobal), cudaSuccess);
  EXPECT_EQ(cudaMallocAsync(reinterpret_cast<void**>(&inner), 4, stream_), cudaSuccess);
  EXPECT_EQ(cudaMemsetAsync(inner, 0, 4, stream_), cudaSuccess);
  cell_ = inner;
  launch(stream_, 7);
  cell_ = out;
  EXPECT_EQ(cudaMemcpyAsync(out, inner, 4, cudaMemcpyDeviceToDevice, stream_), cudaSuccess);
  EXPECT_EQ(cudaFreeAsync(inner, stream_), cudaSuccess);
  cudaGraph_t captured = nullptr;
  EXPECT_EQ(cudaStreamEndCapture(stream_, &captured), cudaSuccess);
  const cudaGraphExec_t executable = instantiate(captured);
  std::uint64_t used = 1, reserved = 0;
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(cudaGraphLaunch(executable, stream_), cudaSuccess);
    EXPECT_EQ(value(), 7);
  }
  EXPECT_EQ(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrUsedMemCurrent, &used), cudaSuccess);
  EXPECT_EQ(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrReservedMemCurrent, &reserved),
            cudaSuccess);
  EXPECT_EQ(used, 0u);
  EXPECT_EQ(reserved, 4u);
  EXPECT_EQ(cudaFree(out), cudaSuccess);
  running_ = false;
  EXPECT_TRUE(findings_of_trial().empty());
}

TEST_F(Graphs, WhatWasInAGraphsMemoryIsGoneInTheNextLaunch) {
  cudaMemAllocNodeParams given{};
  given.bytesize = 4;
  cudaGraphNode_t allocate = nullptr, free = nullptr;
  EXPECT_EQ(cudaGraphAddMemAllocNode(&allocate, graph_, nullptr, 0, &given), cudaSuccess);
  unsigned* const out = std::exchange(cell_, static_cast<unsigned*>(given.dptr));
  const cudaGraphNode_t kernel = add(7, {allocate});  // reads it first
  cudaGraphNode_t copy = nullptr;
  EXPECT_EQ(
      cudaGraphAddMemcpyNode1D(&copy, graph_, &kernel, 1, out, cell_, 4, cudaMemcpyDeviceToDevice),
      cudaSuccess);
  EXPECT_EQ(cudaGraphAddMemFreeNode(&free, graph_, &copy, 1, cell_), cudaSuccess);
  EXPECT_EQ(cudaGraphAddMemFreeNode(&free, graph_, &copy, 1, out), cudaErrorInvalidValue);
  const cudaGraphExec_t executable = instantiate(graph_);
  EXPECT_EQ(cudaGraphLaunch(executable, stream_), cudaSuccess);
  cell_ = out;
  value();
  EXPECT_EQ(cudaFree(cell_), cudaSuccess);
  running_ = false;
  const std::vector<vgpu::Finding> found = findings_of_trial();
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].kind, vgpu::FindingKind::uninitialized_read);
}

TEST_F(Graphs, MemoryOfAGraphIsFreedOnce) {
  cudaMemAllocNodeParams given{};
  given.bytesize = 4;
  cudaGraphNode_t allocate = nullptr;
  EXPECT_EQ(cudaGraphAddMemAllocNode(&allocate, graph_, nullptr, 0, &given), cudaSuccess);
  const cudaGraphExec_t executable = instantiate(graph_);
  EXPECT_EQ(cudaGraphLaunch(executable, stream_), cudaSuccess);
  EXPECT_EQ(cudaFreeAsync(given.dptr, stream_), cudaSuccess);
  EXPECT_EQ(cudaFree(given.dptr), cudaErrorInvalidValue);  // it has been freed already
  EXPECT_EQ(cudaGraphLaunch(executable, stream_), cudaSuccess);
  EXPECT_EQ(cudaFree(cell_), cudaSuccess);
  running_ = false;
  const std::vector<vgpu::Finding> found = findings_of_trial();
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].kind, vgpu::FindingKind::invalid_free);
  EXPECT_EQ(found[1].kind, vgpu::FindingKind::leak);  // of the second launch
}

}  // namespace
}  // namespace warpcheck::cudart
