// The speed of the virtual GPU, and the number of checked cases a second.
//
//   engine/KERNEL/MODE     one launch over 262,144 elements, one core; the rate is in thread
//                          instructions a second.  MODE: off (no checkers), race, all; off_counted
//                          and all_counted: with counters of memory besides.
//                          KERNEL_fenced: the same kernel with a fence, so that its races are
//                          checked by the memory model of PTX ISA chapter 8.
//                          KERNEL_releasing: with a fence first, so that its atomic operations
//                          release what came before.
//                          matrix_KIND, warpgroup, tensor: a loop over one instruction of the
//                          tensor cores; multiply-adds a second are counted, too.
//   interpreted/KERNEL/MODE   the same without machine code.
//   strategies/KERNEL/STRATEGY   engine/KERNEL/all under a strategy, each iteration another seed.
//   growth/KERNEL/BLOCKS   blocks that communicate, races checked: microseconds a block, which
//                          must not grow with the number of blocks.
//   cases/scan/N           whole trials of a clean pair, all checkers on: upload, launch, download,
//                          reference, comparison; the rate is in cases a second.
//
// bench/run runs this and Oclgrind.
#include <benchmark/benchmark.h>
#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/kernels/communication.hpp"
#include "bench/measured_kernels.hpp"
#include "harness/input/json.hpp"
#include "harness/pair/device.hpp"
#include "harness/pair/registry.hpp"
#include "harness/trial/trial.hpp"
#include "vgpu/check/counters/memory_counters.hpp"
#include "vgpu/cudart/device/virtual_device.hpp"
#include "vgpu/schedule/strategies.hpp"

namespace warpcheck {
namespace {

using bench::BenchKernel, bench::kElements, bench::kKernels;

struct Mode {
  const char* name;
  vgpu::CheckerSet checkers;
  bool is_counted = false;
};

constexpr vgpu::CheckerSet kNoCheckers{false, false, false, false, false};
constexpr std::array<Mode, 5> kModes{{
    {"off", kNoCheckers},
    {"off_counted", kNoCheckers, true},
    {"race", {true, false, false, false, false}},
    {"all", {}},
    {"all_counted", {}, true},
}};
constexpr const Mode& kAll = kModes[3];

// The time of a run with a wrong result must not be reported.
void require(bool holds, const std::string& what) {
  if (holds) return;
  fmt::print(stderr, "warpcheck_bench: {}\n", what);
  std::exit(1);
}

void run_engine(benchmark::State& state, const BenchKernel& kernel, const Mode& mode,
                vgpu::Compile compile, std::string_view strategy = "default") {
  const std::vector<int> in = bench::numbers(kElements);
  std::uint64_t lane_steps = 0, seed = 0;
  vgpu::ReadsFromSeen seen;
  vgpu::MemoryCounters counters;
  for (auto _ : state) {
    const auto decides = vgpu::make_strategy(strategy, seed++, &seen);
    cudart::TrialSettings settings;
    settings.strategy = decides.get();
    settings.checkers = mode.checkers;
    settings.limits.compile = compile;
    if (mode.is_counted) settings.extra_observer = &counters;
    cudart::begin_trial(settings);
    {
      Device device;
      const DeviceArray<int> values = device.upload(in);
      DeviceArray<int> out = device.array<int>(kernel.out_size);
      out.fill_bytes(0);
      const auto start = std::chrono::steady_clock::now();
      check(kernel.launch(values.data(), out.data(), kElements));
      check(cudaDeviceSynchronize());
      const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
      state.SetIterationTime(taken.count());
    }
    const cudart::TrialResult result = cudart::end_trial();
    require(result.refusals.empty() && result.findings.empty() && result.launches == 1,
            fmt::format("{} did not run cleanly", kernel.name));
    lane_steps += result.lane_steps;
  }
  state.counters["thread_instructions"] =
      benchmark::Counter(static_cast<double>(lane_steps), benchmark::Counter::kIsRate);
  if (kernel.multiply_adds == 0) return;
  state.counters["multiply_adds"] = benchmark::Counter(
      static_cast<double>(kernel.multiply_adds), benchmark::Counter::kIsIterationInvariantRate);
}

struct Growth {
  const char* name;
  cudaError_t (*launch)(const int* in, int* out, int n);
};

constexpr std::array<Growth, 6> kGrowths{{
    {"last_block_sum", bench::last_block_sum},
    {"volatile_sum", bench::volatile_sum},
    {"locked_sum", bench::locked_sum},
    {"chained_sum", bench::chained_sum},
    {"grid_barrier_sum", bench::grid_barrier_sum},
    {"histogram_releasing", bench::histogram_releasing},
}};

void run_growth(benchmark::State& state, const Growth& growth, bool races) {
  const auto blocks = static_cast<int>(state.range(0));
  const int n = blocks * bench::kCommunicationGroup;
  const std::vector<int> in = bench::numbers(static_cast<std::size_t>(n));
  for (auto _ : state) {
    cudart::TrialSettings settings;
    settings.checkers = {races, false, false, false, false};
    settings.limits.steps_max = UINT64_MAX;
    cudart::begin_trial(settings);
    {
      Device device;
      const DeviceArray<int> values = device.upload(in);
      DeviceArray<int> out =
          device.array<int>(static_cast<std::size_t>(bench::kBins + bench::kCommunicationHead) +
                            static_cast<std::size_t>(blocks));
      out.fill_bytes(0);
      check(growth.launch(values.data(), out.data(), n));
      check(cudaDeviceSynchronize());
    }
    const cudart::TrialResult result = cudart::end_trial();
    require(result.refusals.empty() && result.findings.empty() && result.launches == 1,
            fmt::format("{} did not run cleanly", growth.name));
  }
  state.counters["per_block"] = benchmark::Counter(
      blocks, benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

// Two inputs in turn, because the runner caches the reference of the last one.
std::array<Case, 2> scan_cases(int n) {
  const AnyPair* pair = Registry::global().find("scan_hillis_steele");
  require(pair != nullptr, "there is no pair scan_hillis_steele");
  std::array<Case, 2> cases;
  for (Case& a_case : cases) {
    std::vector<int> values = bench::numbers(static_cast<std::size_t>(n));
    if (&a_case == &cases.back()) values.front() = 1;
    Json input;
    input["in"] = values;
    input["launch"] = to_json(LaunchConfig{.grid = 1, .block = n});
    a_case.pair = pair;
    a_case.input = pair->from_json(input);
  }
  return cases;
}

void run_cases(benchmark::State& state) {
  const std::array<Case, 2> cases = scan_cases(static_cast<int>(state.range(0)));
  TrialRunner runner;
  std::size_t next = 0;
  for (auto _ : state) {
    const Verdict verdict = runner.run(cases[next ^= 1]);
    require(!verdict.failed() && verdict.refusals.empty(), "a scan did not run cleanly");
  }
  state.counters["cases"] =
      benchmark::Counter(static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
}

void register_engine(const char* name, vgpu::Compile compile) {
  for (const BenchKernel& kernel : kKernels) {
    for (const Mode& mode : kModes) {
      benchmark::RegisterBenchmark(
          // benchmark 1.7 requires a C string.  NOLINTNEXTLINE(readability-redundant-string-cstr)
          fmt::format("{}/{}/{}", name, kernel.name, mode.name).c_str(),
          [&kernel, &mode, compile](benchmark::State& state) {
            run_engine(state, kernel, mode, compile);
          })
          ->UseManualTime()
          ->Unit(benchmark::kMillisecond);
    }
  }
}

void register_strategies() {
  for (const BenchKernel& kernel : kKernels) {
    for (const vgpu::StrategyRow& row : vgpu::strategies()) {
      benchmark::RegisterBenchmark(
          // benchmark 1.7 requires a C string.  NOLINTNEXTLINE(readability-redundant-string-cstr)
          fmt::format("strategies/{}/{}", kernel.name, row.name).c_str(),
          [&kernel, &row](benchmark::State& state) {
            run_engine(state, kernel, kAll, vgpu::Compile::when_it_pays, row.name);
          })
          ->UseManualTime()
          ->Unit(benchmark::kMillisecond);
    }
  }
}

void register_all() {
  register_strategies();
  register_engine("engine", vgpu::Compile::when_it_pays);
  register_engine("interpreted", vgpu::Compile::never);
  for (const Growth& growth : kGrowths) {
    for (const bool races : {false, true}) {
      benchmark::RegisterBenchmark(
          // benchmark 1.7 requires a C string.  NOLINTNEXTLINE(readability-redundant-string-cstr)
          fmt::format("growth/{}/{}", growth.name, races ? "race" : "off").c_str(),
          [&growth, races](benchmark::State& state) { run_growth(state, growth, races); })
          ->Arg(256)
          ->Arg(2'048)
          ->Arg(16'384)
          ->Unit(benchmark::kMillisecond);
    }
  }
  benchmark::RegisterBenchmark("cases/scan", run_cases)
      ->Arg(64)
      ->Arg(256)
      ->Arg(1024)
      ->Unit(benchmark::kMicrosecond);
}

}  // namespace
}  // namespace warpcheck

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  warpcheck::register_all();
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
