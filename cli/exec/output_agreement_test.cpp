#include "cli/exec/output_agreement.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "vgpu/cudart/testing/temporary_directory.hpp"

namespace warpcheck {
namespace {

using cudart::Arrival;

constexpr int kSummingProcess = 7;

class RoundingDifference : public ::testing::Test {
 protected:
  // A run that brings numbers to the host by one copy, and keeps them if `kept`.
  template <typename Number>
  RunOutput run_with(const std::vector<Number>& numbers, const std::string& sees_order,
                     bool kept = true) {
    const std::string bytes(reinterpret_cast<const char*>(numbers.data()),
                            numbers.size() * sizeof(Number));
    ProgramRun run;
    run.records_file = directory_.path() / ("records-" + std::to_string(++runs_));
    run.records = {{kSummingProcess, cudart::StartRecord{"/program"}},
                   {kSummingProcess, cudart::KernelRecord{"_Z3sumPf", sees_order}},
                   {kSummingProcess, cudart::CallRecord{"cudaMemcpy"}}};
    run.logs[kSummingProcess].arrivals.push_back(
        {Arrival::Kind::copy, 10, bytes.size(), std::hash<std::string>{}(bytes), 1, 0});
    if (kept) {
      std::ofstream(
          cudart::kept_bytes_path(run.records_file, kSummingProcess, Arrival::Kind::copy, 10),
          std::ios::binary)
          << bytes;
    }
    return output_of(run);
  }

  template <typename Number>
  bool near(const std::vector<Number>& a, const std::vector<Number>& b,
            const std::string& sees_order = "sum.cu:12 red.global.add.f32", bool kept = true) {
    const RunOutput first = run_with(a, sees_order, kept), other = run_with(b, sees_order, kept);
    const std::vector<OutputKey> keys = differences(first, other);
    EXPECT_EQ(keys.size(), 1u);
    return differ_in_rounding(first, other, keys);
  }

 private:
  TemporaryDirectory directory_;
  int runs_ = 0;
};

TEST_F(RoundingDifference, SumsOfAnotherOrderAreNear) {
  EXPECT_TRUE(near<float>({1000, 31.680002f}, {1000, 31.680004f}));
  EXPECT_TRUE(near<float>({1000, 0}, {1000, -1e-5f}));  // beside large terms
  EXPECT_TRUE(near<double>({3, 1e9 + 1e-6}, {3, 1e9}, "sum.cu:12 atom.global.add.f64"));
}

TEST_F(RoundingDifference, ALostTermIsNoRounding) {
  EXPECT_FALSE(near<float>({1000, 31}, {1000, 30}));
  EXPECT_FALSE(near<float>({1, 2}, {1, NAN}));
  EXPECT_FALSE(near<int>({5, 600}, {5, 601})) << "integers are no sums of floats";
  EXPECT_FALSE(near<float>({1, 31.680002f}, {1, 31.680004f}, "sum.cu:12 atom.global.add.u32"));
  EXPECT_FALSE(near<float>({1, 31.680002f}, {1, 31.680004f}, "sum.cu:12 ld.volatile.global.f32"));
  EXPECT_FALSE(near<float>({1, 2.0f}, {1, 2.0000002f}, "sum.cu:12 red.global.add.f32", false))
      << "without the bytes it is not known";
}

TEST_F(RoundingDifference, AgreementLeavesOutWhatTheScheduleDoesNotDecide) {
  const std::string sees_none;
  const auto agree_if_repeated = [&](std::vector<int> first, std::vector<int> other) {
    RunOutput a = run_with<int>({1, 2}, sees_none), b = run_with<int>({1, 3}, sees_none);
    return agree(a, b, [&](std::span<const OutputKey> keys) {
      EXPECT_EQ(keys.size(), 1u);
      return std::pair(run_with(first, sees_none), run_with(other, sees_none));
    });
  };
  EXPECT_FALSE(agree_if_repeated({1, 2}, {1, 3})) << "both schedules are steady";
  EXPECT_TRUE(agree_if_repeated({1, 7}, {1, 3})) << "the first one is not";
  EXPECT_TRUE(agree_if_repeated({1, 2}, {1, 7})) << "the other one is not";
  RunOutput same = run_with<int>({1, 2}, sees_none);
  EXPECT_TRUE(agree(same, same, nullptr)) << "nothing has to be repeated";
}

}  // namespace
}  // namespace warpcheck
