// Compares the race checker with the definition of a race: in random launches, the definition
// compares every access with all earlier ones that could overlap it.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "vgpu/check/fake_launch.hpp"
#include "vgpu/check/race/race.hpp"

namespace warpcheck::vgpu {
namespace {

// One lane's access, with all data that the definition needs.
struct Operation {
  std::uint64_t memory = 0;  // the object: an allocation, or a block's shared memory
  std::uint32_t launch = 0, block = 0, phase = 0, thread = 0;
  std::uint32_t begin = 0, bytes = 0, scalar_bytes = 0;
  std::uint32_t pc = 0;
  bool write = false, strong = false, block_scope = false, atomic = false;
  std::uint64_t row = 0;
};

bool overlap(const Operation& a, const Operation& b) {
  return a.memory == b.memory && a.begin < b.begin + b.bytes && b.begin < a.begin + a.bytes;
}

// PTX ISA 8.7.1, first sentence.
bool conflict(const Operation& a, const Operation& b) {
  return overlap(a, b) && (a.write || b.write);
}

// PTX ISA 8.7.
bool morally_strong(const Operation& a, const Operation& b) {
  const bool scopes_include = a.block == b.block || (!a.block_scope && !b.block_scope);
  return a.strong && b.strong && scopes_include && a.scalar_bytes == b.scalar_bytes;
}

bool ordered(const Operation& earlier, const Operation& later, WarpModel model) {
  if (earlier.launch != later.launch) return true;
  if (earlier.block != later.block) return false;
  if (earlier.phase != later.phase) return true;
  return model == WarpModel::lockstep ? earlier.thread / 32 == later.thread / 32
                                      : earlier.thread == later.thread;
}

// PTX ISA 8.7.1, second sentence.
bool race(const Operation& earlier, const Operation& later, WarpModel model) {
  return conflict(earlier, later) && !ordered(earlier, later, model) &&
         !morally_strong(earlier, later);
}

bool one_warp(const Operation& a, const Operation& b) {
  return a.block == b.block && a.thread / 32 == b.thread / 32;
}

// Pairs that are reported although they do not race: a load that reads a store's value as data, and
// two stores by different warps, or by lanes that execute one store.
bool hand_over(const Operation& earlier, const Operation& later, WarpModel model) {
  return conflict(earlier, later) && !ordered(earlier, later, model) &&
         morally_strong(earlier, later) && !earlier.atomic && !later.atomic &&
         !(earlier.write && later.write && one_warp(earlier, later) && earlier.row != later.row);
}

using PcPair = std::pair<std::uint32_t, std::uint32_t>;

// A race checker and its reporter.
struct Bench {
  explicit Bench(std::string_view level, const EpochLimits& limits = {})
      : checker(reporter, race_row_functions(level), limits) {}
  void reset(WarpModel model) {
    reporter.reset();
    checker.reset(model);
  }

  Reporter reporter;
  RaceChecker checker;
};

// Random events, which are sent to a checker and recorded for the definition.
class RandomTrace {
 public:
  static constexpr std::uint32_t kBlocks = 4, kWarps = 3, kSlots = 2, kBytes = 1024;
  static constexpr std::uint32_t kBytesTogether = 16;  // the largest access

  enum class Findings { compared_with_definition, kept };

  RandomTrace(std::uint64_t seed, WarpModel model, Bench& bench, bool general = false,
              Findings findings = Findings::compared_with_definition)
      : random_(seed), model_(model), bench_(bench), compared_(findings != Findings::kept) {
    bench.reset(model);
    program_.synchronizes_threads = general;
    for (std::uint32_t slot = 0; slot < kSlots; ++slot) {
      shared_.push_back(std::make_unique<FakeMemory>(slot, ptx::Space::shared, kBytes));
    }
  }

  void run() {
    // Every trace has its own random proportions, so that rare combinations occur together.
    narrow_allowed_ = chance(30);
    strong_percent_ = chance(50) || program_.synchronizes_threads ? 0 : below(60);
    write_percent_ = 5 + below(50);
    barrier_percent_ = below(20);
    first_offset_max_ = chance(50) ? 16 : 512;
    patterns_ = chance(50) ? 2 : 4;
    is_long_ = chance(1);
    hands_on_ = chance(50);
    for (std::uint32_t pc = 0; pc < kPcs; ++pc) describe(pc);
    for (std::uint32_t launches = 1 + below(2); launches > 0; --launches) run_launch();
  }

  [[nodiscard]] const std::vector<Finding>& findings() const { return bench_.reporter.findings(); }

 private:
  // The instructions read, write and are atomics in turn; those below kStrongPcs are weak.
  static constexpr std::uint32_t kStrongPcs = 24, kPcs = 48;
  void describe(std::uint32_t pc) {
    Instr& instr = program_.code[pc];
    instr.kind = std::array{InstrKind::load, InstrKind::store, InstrKind::atomic}[pc % 3];
    if (pc >= kStrongPcs && pc % 3 != 2) instr.modifiers.order = ptx::Order::volatile_;
    if (!hands_on_) return;
    program_.data_reads.resize(kPcs, false);
    program_.data_reads[pc] = pc >= kStrongPcs && pc % 3 == 0;
  }

  std::uint32_t below(std::uint32_t bound) { return static_cast<std::uint32_t>(random_() % bound); }
  bool chance(std::uint32_t percent) { return below(100) < percent; }

  void run_launch() {
    ++launch_index_;
    const std::uint32_t blocks = chance(25) ? 1 : kBlocks;
    const std::uint32_t slots = std::min(blocks, kSlots);
    launch_.start({blocks, 1, 1}, {kWarps * 32, 1, 1});
    for (std::uint32_t slot = 0; slot < slots; ++slot) start_block(slot, slot);
    std::uint32_t next_block = slots;
    for (std::uint32_t steps = is_long_ ? 400 : 5 + below(60); steps > 0; --steps) {
      const std::uint32_t slot = below(slots);
      if (next_block < blocks && chance(3)) {
        start_block(next_block++, slot);
      } else if (chance(barrier_percent_)) {
        launch_.barrier(resident_[slot]);
      } else {
        access(slot);
      }
      if (testing::Test::HasFailure()) return;
    }
  }

  void start_block(std::uint32_t block, std::uint32_t slot) {
    resident_[slot] = block;
    launch_.start_block(block, slot, shared_[slot].get());
  }

  // Fills the lanes of `row`.
  void choose_lanes(Access& row) {
    row.mask = chance(40)   ? ~0u
               : chance(50) ? 1u << below(32)
                            : static_cast<std::uint32_t>(random_());
    if (row.mask == 0) row.mask = 1;
    const std::uint32_t last_element = kBytes / row.bytes - 32;
    const std::uint32_t first = std::min(below(first_offset_max_ / row.bytes + 1), last_element);
    switch (below(patterns_)) {
      case 0:
        row.pattern = Pattern::strided;
        for (unsigned lane = 0; lane < 32; ++lane) row.offset[lane] = (first + lane) * row.bytes;
        break;
      case 1:
        row.pattern = Pattern::uniform;
        row.offset.fill(first * row.bytes);
        break;
      case 2: {  // tiles that are narrower than the warp
        row.pattern = Pattern::scattered;
        const std::uint32_t width = 6 + below(11), gap = below(width + 1), step = below(2);
        for (unsigned lane = 0; lane < 32; ++lane) {
          row.offset[lane] = (first + lane / width * gap + lane % width * step) * row.bytes;
        }
        break;
      }
      default:
        row.pattern = Pattern::scattered;
        // Inactive lanes: anything.
        for (unsigned lane = 0; lane < 32; ++lane) {
          const bool active = (row.mask >> lane & 1) != 0;
          row.offset[lane] = active ? (first + below(32)) * row.bytes : 0xfffffff0u;
        }
        break;
    }
  }

  void access(std::uint32_t slot) {
    const bool is_shared = chance(50);
    const FakeMemory& memory = is_shared ? *shared_[slot] : global_;
    AccessKind kind = chance(write_percent_) ? AccessKind::write : AccessKind::read;
    const bool strong = chance(strong_percent_);
    if (strong && chance(60)) kind = AccessKind::atomic;
    constexpr std::array<std::uint8_t, 8> kSizes{4, 4, 4, 8, 16, 1, 2, 4};
    const std::uint8_t bytes = kSizes[below(narrow_allowed_ ? 8 : 5)];

    Access row = launch_.access(
        kind, memory, resident_[slot], below(kWarps),
        below(8) * 3 + static_cast<std::uint32_t>(kind) + (strong ? kStrongPcs : 0), bytes);
    choose_lanes(row);
    if (strong && kind != AccessKind::atomic) row.order = ptx::Order::volatile_;
    if (strong && chance(20)) row.scope = ptx::Scope::cta;
    if (compared_) {
      check(row, is_shared, strong);
    } else {
      launch_.emit(row);
    }
  }

  // Sends the row to the checker and compares its report with the definition.
  void check(Access& row, bool is_shared, bool strong) {
    std::set<PcPair> expected, notes;
    for (unsigned lane = 0; lane < 32; ++lane) {
      if ((row.mask >> lane & 1) == 0) continue;
      Operation now;
      now.memory = is_shared ? 1 + row.place.block : 0;
      now.launch = launch_index_;
      now.block = row.place.block;
      now.phase = row.place.phase;
      now.thread = row.place.warp * 32 + lane;
      now.begin = row.offset[lane];
      now.bytes = now.scalar_bytes = row.bytes;
      now.pc = row.pc;
      now.write = row.kind != AccessKind::read;
      now.strong = strong;
      now.block_scope = strong && row.scope == ptx::Scope::cta;
      now.atomic = row.kind == AccessKind::atomic;
      now.row = rows_;
      // Operations that overlap are in the same 16 bytes, because each is aligned.
      std::vector<Operation>& nearby = operations_[now.memory].at(now.begin / kBytesTogether);
      for (const Operation& earlier : nearby) {
        if (race(earlier, now, model_)) expected.insert(std::minmax(earlier.pc, now.pc));
        if (!hands_on_ || !hand_over(earlier, now, model_)) continue;
        const bool both_write = earlier.write && now.write;
        (is_shared && one_warp(earlier, now) && !both_write ? expected : notes)
            .insert(std::minmax(earlier.pc, now.pc));
      }
      nearby.push_back(now);
    }
    const std::uint64_t before = total();
    launch_.emit(row);
    ++rows_;
    ASSERT_EQ(total() > before, !expected.empty() || !notes.empty())
        << "row " << rows_ << " of the trace";
    all_expected_.insert(expected.begin(), expected.end());
    all_notes_.insert(notes.begin(), notes.end());
    for (const Finding& finding : findings()) {
      const PcPair pair =
          std::minmax(finding.accesses[0].line - 100, finding.accesses[1].line - 100);
      const bool is_hand_over = finding.message.find("volatile or relaxed") != std::string::npos;
      ASSERT_TRUE((is_hand_over ? all_notes_ : all_expected_).contains(pair))
          << pair.first << " and " << pair.second;
      ASSERT_TRUE(!is_hand_over || finding.severity == Severity::note);
    }
  }

  [[nodiscard]] std::uint64_t total() const {
    std::uint64_t sum = 0;
    for (const Finding& finding : findings()) sum += finding.count;
    return sum;
  }

  std::mt19937_64 random_;
  WarpModel model_;
  Program program_ = fake_program();
  Bench& bench_;
  bool compared_;
  FakeLaunch launch_{program_, {&bench_.reporter, &bench_.checker}};
  FakeMemory global_{kSlots, ptx::Space::global, kBytes};
  std::vector<std::unique_ptr<FakeMemory>> shared_;
  std::array<std::uint32_t, kSlots> resident_{};
  std::uint32_t launch_index_ = 0;
  std::uint32_t rows_ = 0;
  bool narrow_allowed_ = false;
  std::uint32_t strong_percent_ = 0, write_percent_ = 0, barrier_percent_ = 0;
  std::uint32_t first_offset_max_ = 0;
  std::uint32_t patterns_ = 4;  // 2: no scattered rows
  bool is_long_ = false;
  // by Operation::memory, and by the place in it
  std::array<std::array<std::vector<Operation>, kBytes / kBytesTogether>, 1 + kBlocks> operations_;
  // the launch's loads read their values as data
  bool hands_on_ = false;
  std::set<PcPair> all_expected_, all_notes_;
};

bool host_has(std::string_view level) {
  if (level == "avx512")
    return __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  if (level == "avx2") return __builtin_cpu_supports("avx2");
  return true;
}

class RaceOracleTest : public testing::TestWithParam<std::pair<WarpModel, const char*>> {};

TEST_P(RaceOracleTest, ReportsExactlyWhatTheDefinitionCallsARace) {
  const auto [model, level] = GetParam();
  if (!host_has(level)) GTEST_SKIP() << "this host has no " << level;
  std::size_t racy = 0;
  constexpr std::uint64_t kTraces = 2'000;
  Bench used(level);  // thousands of launches old at the end
  for (std::uint64_t seed = 0; seed < kTraces; ++seed) {
    RandomTrace trace(seed, model, used);
    trace.run();
    ASSERT_FALSE(HasFailure()) << "seed " << seed;
    racy += trace.findings().empty() ? 0 : 1;

    Bench fresh("baseline", {.deferred = 0, .has_rows = false});  // keeps cells only
    RandomTrace again(seed, model, fresh, false, RandomTrace::Findings::kept);
    again.run();
    ASSERT_EQ(trace.findings(), again.findings()) << "seed " << seed;
  }
  // The generator must often produce traces with and without races.
  EXPECT_GT(racy, kTraces / 10);
  EXPECT_LT(racy, kTraces * 99 / 100);
}

// No race is lost if the numbers of an epoch run out every few events.
TEST(ShortEpochOracleTest, ReportsTheSame) {
  for (const WarpModel model : {WarpModel::independent, WarpModel::lockstep}) {
    Bench used("baseline", {.launches = 4, .phases = 3, .segments = 4});
    for (std::uint64_t seed = 0; seed < 1'000; ++seed) {
      RandomTrace trace(seed, model, used, seed % 2 == 1);
      trace.run();
      ASSERT_FALSE(HasFailure()) << "seed " << seed;
    }
  }
}

// Programs with more synchronisation than barriers are checked by the general checker, which must
// agree with the other one for programs that have barriers only.  (Strong accesses:
// race_general_oracle_test.cpp.)
TEST(GeneralRaceOracleTest, TheGeneralCheckerReportsTheSame) {
  for (const WarpModel model : {WarpModel::independent, WarpModel::lockstep}) {
    Bench used("baseline");
    for (std::uint64_t seed = 0; seed < 500; ++seed) {
      RandomTrace trace(seed, model, used, true);
      trace.run();
      ASSERT_FALSE(HasFailure()) << "seed " << seed;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Levels, RaceOracleTest,
                         testing::Values(std::pair{WarpModel::independent, "baseline"},
                                         std::pair{WarpModel::independent, "avx2"},
                                         std::pair{WarpModel::independent, "avx512"},
                                         std::pair{WarpModel::lockstep, "baseline"},
                                         std::pair{WarpModel::lockstep, "avx2"},
                                         std::pair{WarpModel::lockstep, "avx512"}),
                         [](const auto& test) {
                           const bool lockstep = test.param.first == WarpModel::lockstep;
                           return std::string(lockstep ? "lockstep_" : "independent_") +
                                  test.param.second;
                         });

}  // namespace
}  // namespace warpcheck::vgpu
