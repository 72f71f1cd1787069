// Which launches a host access races with, wherever in an allocation they and the host have
// accessed it: the checker examines only bytes that a launch may have accessed.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <vector>

#include "vgpu/check/fake_launch.hpp"
#include "vgpu/check/race/race.hpp"
#include "vgpu/machine/compute/simd.hpp"
#include "vgpu/machine/machine.hpp"

namespace warpcheck::vgpu {
namespace {

constexpr auto kRead = AccessKind::read;
constexpr auto kWrite = AccessKind::write;
constexpr std::uint32_t kBytes = 512;

// Up to four launches that come one after the other and access different bytes.
struct LaunchesInSequence {
  struct Part {
    std::uint32_t launch, begin, end;
  };
  //   synchronizes: the general checker knows of the accesses from the beginning
  //   has_bytes: launch 1 also writes a single byte
  LaunchesInSequence(std::uint32_t count, bool synchronizes, bool has_bytes) {
    program.synchronizes_threads = synchronizes;
    checker.reset(WarpModel::independent);
    start();
    launch.strided(kWrite, global, 0, 0, 1, 0, 0x00ffff00);
    parts.push_back({0, 4 * 8, 4 * 24});
    if (count == 1) return;
    start();
    launch.one(kRead, global, 0, 5, 2, 40);
    parts.push_back({1, 4 * 40, 4 * 41});
    if (has_bytes) {
      launch.one(kWrite, global, 0, 7, 3, 170, 1);
      parts.push_back({1, 170, 171});
    }
    if (count == 2) return;
    start();
    launch.uniform(kWrite, global, 0, 0, 4, 30, 1u << 9);
    parts.push_back({2, 4 * 30, 4 * 31});
    launch.strided(kRead, global, 0, 1, 5, 25, 3, 8);
    parts.push_back({2, 8 * 25, 8 * 27});
    if (count == 3) return;
    start();
    Access add = launch.access(AccessKind::atomic, global, 0, 0, 6);
    add.mask = 0xf0;
    add.pattern = Pattern::strided;
    for (unsigned lane = 0; lane < kWarpLanes; ++lane) add.offset[lane] = 4 * (56 + lane);
    add.order = ptx::Order::relaxed;
    add.scope = ptx::Scope::gpu;
    launch.emit(add);
    parts.push_back({3, 4 * 60, 4 * 64});
  }
  void start() {
    launch.start({1, 1, 1}, {64, 1, 1});
    launch.start_block(0, 0, &shared);
  }
  // The host writes bytes that the launches may have accessed at the same time.
  bool races(std::uint32_t begin, std::uint32_t end, const std::vector<std::uint32_t>& unordered,
             bool late) {
    HostAccess access;
    access.allocation = &global.allocation();
    access.offset = begin;
    access.bytes = end - begin;
    access.write = true;
    access.unordered_launches = unordered;
    late ? checker.on_late_host_access(access) : checker.on_host_access(access);
    return !reporter.findings().empty();
  }
  [[nodiscard]] bool have_accessed(std::uint32_t begin, std::uint32_t end,
                                   const std::vector<std::uint32_t>& launches) const {
    return std::ranges::any_of(parts, [&](const Part& part) {
      return begin < part.end && part.begin < end &&
             std::ranges::binary_search(launches, part.launch);
    });
  }

  Program program = fake_program();
  Reporter reporter;
  RaceChecker checker{reporter, race_row_functions(simd_level())};
  FakeLaunch launch{program, {&reporter, &checker}};
  FakeMemory shared{0, ptx::Space::shared, 512, "s"};
  FakeMemory global{1, ptx::Space::global, kBytes, "g"};
  std::vector<Part> parts;
};

class HostRacesOfLaunches : public testing::TestWithParam<std::array<bool, 2>> {};

TEST_P(HostRacesOfLaunches, AreThoseOfTheBytesThatTheyHaveAccessed) {
  const auto [synchronizes, has_bytes] = GetParam();
  std::mt19937 random(7);
  std::array<int, 2> found{};
  for (int i = 0; i < 6000; ++i) {
    std::vector<std::uint32_t> unordered;
    const auto count = 1 + static_cast<std::uint32_t>(random() % 4);
    const auto set = 1 + random() % ((1u << count) - 1);
    for (std::uint32_t one = 0; one < count; ++one) {
      if ((set >> one & 1) != 0) unordered.push_back(one);
    }
    const auto begin = static_cast<std::uint32_t>(random() % 300);
    const std::uint32_t bytes = i % 2 == 0 ? 1 + static_cast<std::uint32_t>(random() % 4)
                                           : 1 + static_cast<std::uint32_t>(random() % 200);
    LaunchesInSequence launches(count, synchronizes, has_bytes);
    const bool is_race = launches.have_accessed(begin, begin + bytes, unordered);
    ASSERT_EQ(launches.races(begin, begin + bytes, unordered, random() % 2 == 0), is_race)
        << "bytes " << begin << " to " << begin + bytes << ", launches " << set;
    ++found[is_race ? 1 : 0];
  }
  EXPECT_GT(found[0], 1000);
  EXPECT_GT(found[1], 1000);
}

INSTANTIATE_TEST_SUITE_P(All, HostRacesOfLaunches,
                         testing::Values(std::array{false, false}, std::array{false, true},
                                         std::array{true, false}, std::array{true, true}));

}  // namespace
}  // namespace warpcheck::vgpu
