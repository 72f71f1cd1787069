// Floods of one finding.
#include "vgpu/check/reporter.hpp"

#include <gtest/gtest.h>

#include <cstdint>

#include "vgpu/check/checker.hpp"
#include "vgpu/check/fake_launch.hpp"

namespace warpcheck::vgpu {
namespace {

// After its first report, a place costs a comparison and an addition.
TEST(FloodTest, AFloodOfReportsIsCountedExactlyAndMadeOnce) {
  Reporter reporter;
  const Program program = fake_program();
  const Reporter::Key first{&program, 1, 2, 3}, second{&program, 1, 2, 4};
  std::uint64_t made = 0, heard = 0, again = 0;
  reporter.set_listener([&](std::size_t) { ++heard; });
  const auto make = [&] {
    ++made;
    Finding finding;
    finding.message = "(1)";
    return finding;
  };
  for (int i = 0; i < 10'000; ++i) reporter.report(first, make);
  for (int i = 0; i < 10'000; ++i) again += std::uint64_t{reporter.count_again(first)};
  EXPECT_FALSE(reporter.count_again(second)) << "was never reported";
  for (int i = 0; i < 10'000; ++i) {
    reporter.report(second, Relation::warps, make);
    reporter.report(first, make, 2);
  }
  ASSERT_EQ(reporter.findings().size(), 2u);
  EXPECT_EQ(reporter.findings()[0].count, 40'000u);
  EXPECT_EQ(reporter.findings()[1].count, 10'000u);
  EXPECT_EQ(again, 10'000u);
  EXPECT_EQ(made, 2u);
  EXPECT_EQ(heard, 2u);
  reporter.reset();
  EXPECT_FALSE(reporter.count_again(first)) << "is of another trial";
}

TEST(FloodTest, OfFaultsIsCounted) {
  Reporter reporter;
  const std::unique_ptr<Checker> checker = make_bounds_checker(reporter);
  const Program program = fake_program();
  Fault fault;
  fault.program = &program;
  fault.pc = 7;
  fault.space = ptx::Space::global;
  fault.bytes = 4;
  for (int i = 0; i < 5'000; ++i) {
    fault.kind = Fault::Kind::out_of_bounds;
    checker->on_fault(fault);
    fault.kind = Fault::Kind::misaligned;
    checker->on_fault(fault);
    fault.kind = Fault::Kind::use_after_free;  // is the lifetime checker's
    checker->on_fault(fault);
  }
  ASSERT_EQ(reporter.findings().size(), 2u);
  EXPECT_EQ(reporter.findings()[0].count, 5'000u);
  EXPECT_EQ(reporter.findings()[1].count, 5'000u);
}

}  // namespace
}  // namespace warpcheck::vgpu
