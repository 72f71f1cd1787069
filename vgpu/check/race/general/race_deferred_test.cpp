// Atomics, and volatile or relaxed accesses to shared memory, that the race checker defers until
// another access needs them (atomic_log.hpp).  The same
// random executions, with and without deferral and mostly of converged warps, must give the same
// findings.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "vgpu/check/fake_launch.hpp"
#include "vgpu/check/race/race.hpp"
#include "vgpu/machine/compute/simd.hpp"
#include "vgpu/ptx/opcode.hpp"

namespace warpcheck::vgpu {
namespace {

using ptx::Order;
using ptx::Scope;

// Two race checkers; the second one defers at most a given number of rows.
struct Twins {
  Reporter reporter, other_reporter;
  RaceChecker checker;
  RaceChecker other;
  explicit Twins(const EpochLimits& limits, std::uint32_t deferred)
      : checker(reporter, race_row_functions(simd_level()), limits),
        other(other_reporter, race_row_functions(simd_level()),
              {.segments = limits.segments, .deferred = deferred, .queue_chunks = 0}) {}
  template <typename Tell>
  void tell(Tell tell) {
    tell(checker);
    tell(other);
  }
};

class Launches {
 public:
  static constexpr std::uint32_t kBlocks = 4, kWarps = 2, kWords = 128;

  Launches(std::uint64_t seed, WarpModel model, Twins& twins) : random_(seed), twins_(twins) {
    twins_.tell([&](RaceChecker& checker) { checker.reset(model); });
    program_.synchronizes_threads = true;
    places_ = 1 + below(8);
    atomics_percent_ = std::array{96, 75, 20}[below(3)];
    shared_percent_ = chance(50) ? 30 : 80;
    are_apart_ = chance(50);
    const std::uint32_t strong = chance(50) ? 30 : 80, data = chance(50) ? 0 : 50;
    for (Instr& instr : program_.code) {
      program_.data_reads.push_back(chance(data));
      instr.modifiers.order = !chance(strong) ? Order::weak
                              : chance(50)    ? Order::volatile_
                                              : Order::relaxed;
    }
    wide_percent_ = chance(60) ? 0 : 8;
    narrow_percent_ = chance(60) ? 0 : 10;
  }

  void run() {
    for (std::uint32_t launch = 0, count = 1 + below(4); launch < count; ++launch) {
      std::vector<std::uint32_t> unordered;
      for (std::uint32_t earlier = 0; earlier < launch; ++earlier) {
        if (chance(15)) unordered.push_back(earlier);
      }
      launch_.start({kBlocks, 1, 1}, {40, 1, 1}, unordered);
      for (std::uint32_t block = 0; block < kBlocks / 2; ++block) begin(block);
      for (std::uint32_t steps = 5 + below(40); steps > 0; --steps) step();
      if (chance(50)) host(unordered);
    }
  }

 private:
  std::uint32_t below(std::uint32_t bound) { return static_cast<std::uint32_t>(random_() % bound); }
  bool chance(std::uint32_t percent) { return below(100) < percent; }

  void begin(std::uint32_t block) {
    present_[block % 2] = block;
    launch_.start_block(block, block % 2, &shared_[block % 2]);
  }

  void step() {
    const std::uint32_t block = present_[below(2)], warp = below(kWarps);
    const std::uint32_t what = below(100);
    if (what < 78) return access(block, warp);
    if (what < 86) return fence(block, warp);
    if (what < 92) return launch_.barrier(block);
    if (what < 96) return sync_warp(block, warp);
    if (block + 2 < kBlocks) begin(block + 2);
  }

  std::uint32_t mask(std::uint32_t warp) {
    const std::uint32_t all = warp == 0 ? ~0u : 0xff;
    if (chance(60)) return all;
    return 1u << below(chance(50) ? 2 : 8);
  }

  void access(std::uint32_t block, std::uint32_t warp) {
    constexpr std::array kKinds{AccessKind::atomic, AccessKind::read, AccessKind::write};
    const AccessKind kind = kKinds[chance(atomics_percent_) ? 0 : 1 + below(2)];
    const bool wide = chance(wide_percent_);
    const std::uint32_t pc = 1 + below(8) * 3 + static_cast<std::uint32_t>(kind);
    const FakeMemory& memory = chance(shared_percent_) ? shared_[block % 2] : global_[below(2)];
    Access row = launch_.access(kind, memory, block, warp, pc, wide ? 8 : 4);
    row.mask = mask(warp);
    place(row);
    row.order = kind == AccessKind::atomic ? Order::relaxed : program_.code[pc].modifiers.order;
    if (row.order != Order::weak) {
      row.scope = chance(narrow_percent_) ? Scope::cta : Scope::gpu;
      if (chance(5)) row.order = kind == AccessKind::read ? Order::acquire : Order::release;
    }
    const bool reduces = kind == AccessKind::atomic && pc % 2 == 0;
    program_.code[pc].opcode = reduces ? ptx::Opcode::red_ : ptx::Opcode::atom_;
    const bool is_row = row.kind == AccessKind::read && row.order == Order::weak && chance(80);
    twins_.tell([&](RaceChecker& checker) {
      if (!is_row || !checker.takes_row(row_of(row))) checker.on_access(row);
    });
  }

  void place(Access& row) {
    const std::uint32_t words = row.bytes / 4;
    const std::uint32_t at = below(places_) * 2;
    const std::uint32_t of_warp = are_apart_ ? row.place.warp * 40 : 0;
    const std::uint32_t how = below(3);
    row.pattern = how == 0 ? Pattern::uniform : how == 1 ? Pattern::strided : Pattern::scattered;
    // Lanes of a weak write do not overlap, because this checker reports no such race.
    const bool is_scattered = how == 2 && row.kind == AccessKind::atomic;
    if (how == 2 && !is_scattered) row.pattern = Pattern::strided;
    if (how == 0 && row.kind == AccessKind::write) row.mask &= 0u - row.mask;
    for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
      const std::uint32_t word = is_scattered ? below(places_) * 2
                                 : how == 0   ? at
                                              : of_warp + at % 4 + lane * words;
      row.offset[lane] = word * 4;
    }
  }

  void fence(std::uint32_t block, std::uint32_t warp) {
    constexpr std::array kOrders{Order::sc, Order::acq_rel, Order::acquire, Order::release};
    Fence fence;
    fence.program = &program_;
    fence.place = launch_.place(block, warp);
    fence.mask = mask(warp);
    fence.order = kOrders[below(4)];
    fence.scope = chance(20) ? Scope::cta : Scope::gpu;
    twins_.tell([&](RaceChecker& checker) { checker.on_fence(fence); });
  }

  void sync_warp(std::uint32_t block, std::uint32_t warp) {
    const std::array party{WarpLanes{warp, mask(warp)}};
    twins_.tell([&](RaceChecker& checker) {
      checker.on_meeting({&program_, launch_.place(block, warp), party, party});
    });
  }

  // The host fills, copies or reads memory, either ordered after all launches or not ordered after
  // the given ones.
  void host(const std::vector<std::uint32_t>& unordered) {
    HostAccess access;
    access.allocation = &global_[below(2)].allocation();
    access.offset = chance(50) ? 0 : 8;
    access.bytes = kWords * 4 - access.offset;
    access.write = chance(60);
    if (chance(30)) access.unordered_launches = unordered;
    twins_.tell([&](RaceChecker& checker) { checker.on_host_access(access); });
  }

  std::mt19937_64 random_;
  Twins& twins_;
  Program program_ = fake_program();
  FakeLaunch launch_{program_,
                     {&twins_.reporter, &twins_.checker, &twins_.other_reporter, &twins_.other}};
  std::array<FakeMemory, 2> shared_{FakeMemory{0, ptx::Space::shared, 512, "s"},
                                    FakeMemory{1, ptx::Space::shared, 512, "t"}};
  std::array<FakeMemory, 2> global_{FakeMemory{2, ptx::Space::global, 512, "g"},
                                    FakeMemory{3, ptx::Space::global, 512, "h"}};
  std::array<std::uint32_t, 2> present_{};  // the present blocks, by slot
  std::uint32_t places_ = 1, wide_percent_ = 0, narrow_percent_ = 0;
  std::uint32_t atomics_percent_ = 0, shared_percent_ = 0;
  bool are_apart_ = false;  // the rows of warps
};

// Thread 0 of a block writes data[0] and releases g[1]; a thread of another block reads g[1] by an
// atomic and acquires.  The deferred release must be applied before.
class DeferredMessage : public testing::Test {
 protected:
  DeferredMessage() {
    checker.reset(WarpModel::independent);
    program.synchronizes_threads = true;
  }
  void start(std::uint32_t blocks, std::span<const std::uint32_t> unordered = {}) {
    launch.start({blocks, 1, 1}, {64, 1, 1}, unordered);
    for (std::uint32_t block = 0; block < blocks; ++block)
      launch.start_block(block, block, &shared);
  }
  void write_data() { launch.one(AccessKind::write, data, 0, 0, 1, 0); }
  void read_data(std::uint32_t block, std::uint32_t thread) {
    launch.one(AccessKind::read, data, block, thread, 10, 0);
  }
  void atomic(const FakeMemory& memory, std::uint32_t block, std::uint32_t thread, std::uint32_t pc,
              std::uint32_t element = 1) {
    launch.strong(AccessKind::atomic, memory, block, thread, pc, element, Order::relaxed,
                  Scope::gpu);
  }
  void fence(std::uint32_t block, std::uint32_t thread) {
    launch.fence(block, thread / kWarpLanes, 1u << thread % kWarpLanes, Order::sc);
  }
  void host_writes(std::uint32_t offset, std::uint32_t bytes) {
    HostAccess access;
    access.allocation = &global.allocation();
    access.offset = offset;
    access.bytes = bytes;
    access.write = true;
    checker.on_host_access(access);
  }
  std::vector<std::string> messages() {
    std::vector<std::string> all;
    for (const Finding& finding : reporter.findings()) all.push_back(finding.message);
    return all;
  }
  using Messages = std::vector<std::string>;

  Program program = fake_program();
  Reporter reporter;
  RaceChecker checker{reporter, race_row_functions(simd_level())};
  FakeLaunch launch{program, {&reporter, &checker}};
  FakeMemory shared{0, ptx::Space::shared, 512, "s"};
  FakeMemory global{1, ptx::Space::global, 512, "g"};
  FakeMemory data{2, ptx::Space::global, 512, "data"};
};

TEST_F(DeferredMessage, IsTakenByAnotherBlock) {
  start(2);
  write_data();
  fence(0, 0);
  atomic(global, 0, 0, 2);
  atomic(global, 1, 0, 3);
  fence(1, 0);
  read_data(1, 0);
  EXPECT_EQ(messages(), Messages{});
}

TEST_F(DeferredMessage, IsTakenThroughSharedMemory) {
  start(1);
  write_data();
  fence(0, 0);
  atomic(shared, 0, 0, 2);
  atomic(shared, 0, 32, 3);
  fence(0, 32);
  read_data(0, 32);
  EXPECT_EQ(messages(), Messages{});
}

TEST_F(DeferredMessage, IsNoneIfTheFenceComesAfterTheAtomic) {
  start(2);
  write_data();
  atomic(global, 0, 0, 2);
  fence(0, 0);
  atomic(global, 1, 0, 3);
  fence(1, 0);
  read_data(1, 0);
  EXPECT_EQ(messages(), (Messages{"(1)'s thread wrote a flag that was read before (2), but no "
                                  "release (a fence, or a release order) comes between (1) and "
                                  "that write"}));
}

// A ticket that the block has taken before its data was written says nothing about the data.
TEST_F(DeferredMessage, IsNotLookedForInAnAtomicOfAnEarlierPhase) {
  start(2);
  atomic(global, 0, 32, 2);
  launch.barrier(0);
  write_data();
  atomic(global, 1, 0, 3);
  read_data(1, 0);
  EXPECT_EQ(messages(), Messages{"nothing orders blocks of one kernel launch"});
}

TEST_F(DeferredMessage, IsNotLookedForInAnAtomicBeforeAFenceBeforeTheData) {
  start(2);
  atomic(global, 0, 0, 2);
  fence(0, 0);
  write_data();
  atomic(global, 1, 0, 3);
  read_data(1, 0);
  EXPECT_EQ(messages(), Messages{"nothing orders blocks of one kernel launch"});
}

TEST_F(DeferredMessage, IsTakenFromALaunchThatNothingOrdersBefore) {
  start(1);
  write_data();
  fence(0, 0);
  atomic(global, 0, 0, 2);
  start(1, std::array{0u});
  atomic(global, 0, 0, 3);
  fence(0, 0);
  read_data(0, 0);
  EXPECT_EQ(messages(), Messages{});
}

TEST_F(DeferredMessage, IsLostWhenTheHostWritesTheFlag) {
  for (const std::uint32_t bytes : {512u, 8u}) {  // all deferred atomics, and a part of them
    checker.reset(WarpModel::independent);
    start(1);
    write_data();
    fence(0, 0);
    atomic(global, 0, 0, 2);
    atomic(global, 0, 0, 4, 5);
    host_writes(0, bytes);
    start(1, std::array{0u});
    atomic(global, 0, 0, 3);
    fence(0, 0);
    read_data(0, 0);
  }
  EXPECT_EQ(messages(), (Messages{"nothing orders these two kernel launches: no stream, event, "
                                  "edge of a graph or wait of the host leads from one to the "
                                  "other"}));
  EXPECT_EQ(reporter.findings()[0].count, 2u);
}

class DeferredAtomics : public testing::TestWithParam<WarpModel> {};

// With lockstep warps the lanes of a warp are one thread, so a finding may name any of the lanes
// that made the same access.
std::string text_of(const std::vector<Finding>& findings, WarpModel model) {
  const std::uint32_t lanes = model == WarpModel::lockstep ? kWarpLanes : 1;
  std::string text;
  for (const Finding& finding : findings) {
    for (const AccessSide& side : finding.accesses) {
      text += side.role + " " + std::to_string(side.line) + " of " + std::to_string(side.block.x) +
              "." + std::to_string(side.thread.x / lanes) + ", ";
    }
    text += finding.object + " x" + std::to_string(finding.count) + "\n";
  }
  return text;
}

TEST_P(DeferredAtomics, AreFoundToBeTheSame) {
  std::size_t silent = 0, told = 0;
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    Twins twins({.segments = seed % 3 == 0 ? 3 : 1u << 21}, seed % 2 == 0 ? 0 : 3);
    Launches(seed, GetParam(), twins).run();
    ASSERT_EQ(text_of(twins.reporter.findings(), GetParam()),
              text_of(twins.other_reporter.findings(), GetParam()))
        << "seed " << seed;
    ++(twins.reporter.findings().empty() ? silent : told);
  }
  // The generator must produce executions with and without findings.
  EXPECT_GT(silent, 50);
  EXPECT_GT(told, 300);
}

INSTANTIATE_TEST_SUITE_P(Models, DeferredAtomics,
                         testing::Values(WarpModel::independent, WarpModel::lockstep),
                         [](const auto& test) {
                           return test.param == WarpModel::lockstep ? "lockstep" : "independent";
                         });

}  // namespace
}  // namespace warpcheck::vgpu
