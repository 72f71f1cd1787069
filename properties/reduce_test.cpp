// Where exactly the published reductions are wrong; the results of the correct ones with NaN.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "harness/pair/device.hpp"
#include "harness/shrink/shrink.hpp"
#include "harness/trial/engine.hpp"
#include "harness/trial/schedule_search.hpp"
#include "kernels/reduce.hpp"
#include "properties/float_values.hpp"
#include "properties/run_case.hpp"

namespace warpcheck {
namespace {

constexpr const char* kPublished = "reduce_max_published";

Json launch_of(int grid, int block) {
  return {{"grid", {grid, 1, 1}}, {"block", {block, 1, 1}}, {"shared_bytes", 0}};
}

Json array_input(const std::vector<int>& in, int length, int block) {
  return {{"in", in}, {"length", length}, {"launch", launch_of(1, block)}};
}

template <class T>
Json launch_input(const std::vector<T>& in, int grid, int block) {
  return {{"in", in}, {"launch", launch_of(grid, block)}};
}

// --- reduce_max_published -----------------------------------------------------------------------

TEST(ReduceMaxPublished, TakesTheZeroOfAnIdleThreadForTheLargest) {
  for (const Settings& settings : kAllSettings) {
    EXPECT_EQ(kinds_for(kPublished, array_input({-1}, 2, 2), settings), "mismatch");
    EXPECT_EQ(kinds_for(kPublished, array_input({0}, 2, 2), settings), "");
    EXPECT_EQ(kinds_for(kPublished, array_input({-1}, 1, 1), settings), "");
    EXPECT_EQ(kinds_for(kPublished, array_input({-5, -1}, 2, 2), settings), "");
  }
}

TEST(ReduceMaxPublished, StepsOverTheEndOfArraysThatAreNoPowerOfTwo) {
  for (const Settings& settings : kAllSettings) {
    for (int length = 1; length <= 65; ++length) {
      const bool is_power = std::has_single_bit(static_cast<unsigned>(length));
      EXPECT_EQ(kinds_for(kPublished, array_input({0}, length, length), settings),
                is_power ? "" : "out-of-bounds")
          << length;
    }
  }
}

TEST(ReduceMaxPublished, ReadsWhatNoThreadHasWritten) {
  for (const Settings& settings : kAllSettings) {
    for (const int length : {2, 4, 8}) {
      for (int block = length / 2; block <= length; ++block) {
        EXPECT_EQ(kinds_for(kPublished, array_input({0}, length, block), settings),
                  block < length ? "uninitialized-read" : "")
            << length << " elements, " << block << " threads";
      }
    }
  }
}

TEST(ReduceMaxPublished, FailsAtOneLine) {
  for (const auto& [length, block] : {std::pair{3, 3}, {2, 1}}) {
    const Verdict verdict = run_case(case_of(kPublished, array_input({0}, length, block)));
    ASSERT_EQ(verdict.findings.size(), 1U);
    EXPECT_EQ(verdict.findings[0].space, "shared");
    EXPECT_EQ(verdict.findings[0].accesses[0].role, "read");
    EXPECT_EQ(verdict.findings[0].accesses[0].file, "kernels/specimens/reduce_max.cu");
    EXPECT_EQ(verdict.findings[0].accesses[0].line, 15U);
  }
}

// --- reduce_max_host_finish_published -----------------------------------------------------------

TEST(ReduceMaxHostFinishPublished, CopiesTooMuchWhereThereAreFewerBlocksThanElements) {
  for (const Settings& settings : kAllSettings) {
    for (const auto& [n, grid, block] : {std::tuple{1, 1, 1}, {2, 1, 2}, {2, 2, 1}, {9, 8, 2}}) {
      const Json input =
          launch_input(std::vector<int>(static_cast<std::size_t>(n), 4), grid, block);
      EXPECT_EQ(kinds_for("reduce_max_host_finish_published", input, settings),
                n > grid ? "out-of-bounds" : "")
          << n << " elements, " << grid << " blocks";
    }
  }
}

// --- sum_by_atomics_planted ---------------------------------------------------------------------

// In order of index the two ones are lost when added to 2^24; added before it they are not.
Case atomic_sum(std::vector<float> values, int grid, int block, const Settings& settings = {}) {
  return case_of("sum_by_atomics_planted", launch_input(values, grid, block), settings);
}

TEST(SumByAtomicsPlanted, DependsOnTheScheduleByOneDecision) {
  Case a_case = atomic_sum({0x1p24F, 1, 1}, 1, 3);
  EXPECT_EQ(kinds_of(run_case(a_case)), "");
  // Thread 0 is held back; access 0 is the load of `in`, 1 the addition.
  a_case.schedule = vgpu::Schedule{{{.at = {}, .index = 1, .held = 0b001, .next = {}}}};
  const Verdict verdict = run_case(a_case);
  ASSERT_EQ(verdict.findings.size(), 1U);
  EXPECT_EQ(kinds_of(verdict), "schedule-dependent");
  EXPECT_EQ(verdict.findings[0].message,
            "out[0] = 16777218, under the default schedule 16777216; the order of (1) decides it; "
            "under 16 schedules, out[0] has 2 values from 16777216 to 16777218, 1 ulp apart");
  ASSERT_EQ(verdict.findings[0].accesses.size(), 1U);
  EXPECT_EQ(verdict.findings[0].accesses[0].file, "kernels/specimens/planted_atomic_sum.cu");
  EXPECT_EQ(verdict.findings[0].accesses[0].line, 7U);
}

TEST(SumByAtomicsPlanted, NeedsThreeElements) {
  TrialRunner runner;
  for (const Settings& settings : kAllSettings) {
    for (const int block : {1, 2}) {
      Case a_case = atomic_sum({1e30F, 1.5e-7F}, 2 / block, block, settings);
      for (std::uint64_t i = 0; i < 100; ++i) {
        a_case.schedule = policy(i);
        EXPECT_FALSE(runner.run(a_case).failed());
      }
    }
  }
}

TEST(SumByAtomicsPlanted, IsShrunkToThreeElementsAndOneDecision) {
  std::vector<float> values(40, 1);
  values[7] = 0x1p24F;  // includes the elements before it, and loses those after it
  for (const Settings& settings : kAllSettings) {
    Case a_case = atomic_sum(values, 3, 16, settings);
    TrialRunner runner;
    for (std::uint64_t i = 0; i < 50 && !runner.run(a_case).failed(); ++i) {
      a_case.schedule = policy(i);
    }
    const ShrunkCase shrunk = shrink(a_case, runner);
    EXPECT_TRUE(shrunk.kept);
    EXPECT_EQ(kinds_of(shrunk.verdict), "schedule-dependent");
    const CaseSize size = size_of(shrunk.a_case, shrunk.verdict.schedule);
    EXPECT_EQ(size.elements, 3U);
    EXPECT_EQ(size.threads, 3U);
    EXPECT_EQ(size.decisions, 1U);
    EXPECT_EQ(kinds_of(run_case(shrunk.a_case)), "schedule-dependent");  // again
  }
}

// --- the NaN policy -----------------------------------------------------------------------------

using Floats = std::vector<float>;

// The results of both finishes, which must be the same bits unless NaN.
template <auto on_device, auto on_host>
float reduced(const Floats& in, const Settings& settings) {
  float finished_on_host = 0, finished_on_device = 0;
  const TrialResult result =
      virtual_gpu().run({.build = settings.build, .warp_model = settings.warp_model}, [&] {
        Device device;
        const int n = static_cast<int>(in.size());
        const auto values = device.upload(in);
        auto out = device.array<float>(1);
        auto scratch = device.array<float>(reduce_scratch(n, dim3(2)) + 3);
        device.check(on_device(values.data(), out.data(), scratch.data(), n, dim3(2)));
        finished_on_device = out.download()[0];
        device.check(
            on_host(values.data(), &finished_on_host, scratch.data(), n, dim3(3), dim3(5)));
      });
  EXPECT_TRUE(result.findings.empty() && result.refusals.empty());
  EXPECT_EQ(std::isnan(finished_on_host), std::isnan(finished_on_device));
  if (!std::isnan(finished_on_host)) {
    EXPECT_EQ(std::bit_cast<std::uint32_t>(finished_on_host),
              std::bit_cast<std::uint32_t>(finished_on_device));
  }
  return finished_on_device;
}

using OnDevice = cudaError_t (*)(const float*, float*, float*, int, dim3);
using OnHost = cudaError_t (*)(const float*, float*, float*, int, dim3, dim3);
constexpr auto kMaximum = reduced<OnDevice{reduce_max}, OnHost{reduce_max_host_finish}>;
constexpr auto kMinimum = reduced<OnDevice{reduce_min}, OnHost{reduce_min_host_finish}>;
constexpr auto kSum = reduced<OnDevice{reduce_sum}, OnHost{reduce_sum_host_finish}>;

TEST(FloatExtremes, LeaveNanOut) {
  for (const Settings& settings : kAllSettings) {
    EXPECT_EQ(kMaximum({kNan, -3, kNan, -1, kNan}, settings), -1);
    EXPECT_EQ(kMinimum({kNan, -3, kNan, -1, kNan}, settings), -3);
    EXPECT_EQ(kMaximum({kNan, -kInfinity}, settings), -kInfinity);
    EXPECT_EQ(kMinimum({kInfinity, kNan}, settings), kInfinity);
    EXPECT_TRUE(std::isnan(kMaximum({kNan, -kNan, kNan}, settings)));
    EXPECT_TRUE(std::isnan(kMinimum({kNan, -kNan, kNan}, settings)));
  }
}

TEST(FloatExtremes, OfNothingAreNoNumber) {
  for (const Settings& settings : kAllSettings) {
    EXPECT_TRUE(std::isnan(kMaximum({}, settings)));
    EXPECT_TRUE(std::isnan(kMinimum({}, settings)));
  }
}

TEST(FloatExtremes, TakePositiveZeroForTheGreaterOne) {
  for (const Settings& settings : kAllSettings) {
    EXPECT_FALSE(std::signbit(kMaximum({-0.0F, 0, -0.0F}, settings)));
    EXPECT_FALSE(std::signbit(kMaximum({0, -0.0F, -1}, settings)));
    EXPECT_TRUE(std::signbit(kMinimum({0, -0.0F, 0}, settings)));
    EXPECT_TRUE(std::signbit(kMinimum({-0.0F, 0, 1}, settings)));
  }
}

TEST(FloatSums, SpreadNan) {
  for (const Settings& settings : kAllSettings) {
    EXPECT_TRUE(std::isnan(kSum({1, kNan, 2}, settings)));
    EXPECT_TRUE(std::isnan(kSum({kInfinity, 1, -kInfinity}, settings)));
    EXPECT_EQ(kSum({kInfinity, 1, 2}, settings), kInfinity);
    EXPECT_EQ(kSum({}, settings), 0);
  }
}

TEST(IntSums, WrapAround) {
  const std::vector<int> largest(3, std::numeric_limits<int>::max());
  for (const Settings& settings : kAllSettings) {
    EXPECT_EQ(kinds_for("reduce_sum", {{"in", largest}, {"block", 2}}, settings), "");
    EXPECT_EQ(kinds_for("reduce_sum_host_finish", launch_input(largest, 2, 2), settings), "");
  }
}

}  // namespace
}  // namespace warpcheck
