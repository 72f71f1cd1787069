// shfl, vote, match, redux, activemask and elect, lane by lane.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <vector>

#include "vgpu/machine/compute/compute_testing.hpp"
#include "vgpu/machine/warp/warp_ops.hpp"
#include "vgpu/ptx/opcode.hpp"

namespace warpcheck::vgpu::testing {
namespace {

using ptx::AtomOp;
using ptx::Opcode;
using ptx::ShuffleMode;
using ptx::Type;
using ptx::VoteMode;

struct Warp {
  alignas(64) std::array<std::array<std::uint32_t, kWarpLanes>, 6> words{};
  alignas(64) std::array<std::array<std::uint64_t, kWarpLanes>, 6> wides{};
  std::array<std::uint32_t, 6> predicates{};
};

constexpr std::uint32_t kUntouched = 0xdeadbeef;

// Runs the instruction with every instruction set from the same state, and passes each result to
// `judge`.
template <class Judge>
void at_all_levels(const Instr& instr, const Warp& before, std::uint32_t active, Judge judge) {
  for (const SimdLevel level : levels()) {
    const WarpFn run = find_warp_op(instr, level);
    ASSERT_NE(run, nullptr);
    Warp after = before;
    LaneBanks banks;
    banks.base[static_cast<std::size_t>(Bank::word)] =
        reinterpret_cast<std::byte*>(after.words.data());
    banks.base[static_cast<std::size_t>(Bank::wide)] =
        reinterpret_cast<std::byte*>(after.wides.data());
    banks.base[static_cast<std::size_t>(Bank::predicate)] =
        reinterpret_cast<std::byte*>(after.predicates.data());
    run(banks, instr, active);
    for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
      if ((active >> lane & 1) != 0) {
        judge(after, lane);
      } else {
        EXPECT_EQ(after.words[0][lane], before.words[0][lane]);
        EXPECT_EQ(after.predicates[4] >> lane & 1, before.predicates[4] >> lane & 1);
        EXPECT_EQ(after.predicates[0] >> lane & 1, before.predicates[0] >> lane & 1);
      }
    }
  }
}

Instr warp_instr(Opcode opcode, Type type) {
  Instr instr;
  instr.opcode = opcode;
  instr.modifiers.type = type;
  instr[WarpOperand::result] = {Bank::word, 0};
  instr[WarpOperand::value] = {type == Type::b64 ? Bank::wide : Bank::word,
                               type == Type::b64 ? kWideRowBytes : kWordRowBytes};
  instr[WarpOperand::lane] = {Bank::word, 2 * kWordRowBytes};
  instr[WarpOperand::clamp] = {Bank::word, 3 * kWordRowBytes};
  instr[WarpOperand::predicate] = {Bank::predicate, 16};
  return instr;
}

std::uint32_t word(std::mt19937& random) { return static_cast<std::uint32_t>(random()); }

std::vector<std::uint32_t> masks(std::mt19937& random) {
  return {0xffffffffu,       1u,
          0x80000000u,       0x0000ffffu,
          word(random) | 1u, (word(random) & word(random)) | 2u};
}

Warp random_warp(std::mt19937& random) {
  Warp warp;
  for (auto& row : warp.words) {
    for (std::uint32_t& cell : row) cell = word(random);
  }
  warp.words[0].fill(kUntouched);
  for (std::uint32_t& bits : warp.predicates) bits = word(random);
  return warp;
}

// The ISA's pseudo-code of shfl for one lane; returns the source lane and whether it is in range.
std::pair<int, bool> shuffle_source(ShuffleMode mode, int lane, std::uint32_t b, std::uint32_t c) {
  const int bval = static_cast<int>(b & 0x1f);
  const int cval = static_cast<int>(c & 0x1f);
  const int mask = static_cast<int>(c >> 8 & 0x1f);
  const int max_lane = (lane & mask) | (cval & ~mask);
  const int min_lane = lane & mask;
  int j = 0;
  bool valid = false;
  switch (mode) {
    case ShuffleMode::up:
      j = lane - bval;
      valid = j >= max_lane;
      break;
    case ShuffleMode::down:
      j = lane + bval;
      valid = j <= max_lane;
      break;
    case ShuffleMode::bfly:
      j = lane ^ bval;
      valid = j <= max_lane;
      break;
    default:
      j = min_lane | (bval & ~mask);
      valid = j <= max_lane;
      break;
  }
  return {valid ? j : lane, valid};
}

TEST(WarpOps, Shuffle) {
  std::mt19937 random(1);
  for (const ShuffleMode mode :
       {ShuffleMode::up, ShuffleMode::down, ShuffleMode::bfly, ShuffleMode::idx}) {
    Instr instr = warp_instr(Opcode::shfl_, Type::b32);
    instr.modifiers.shuffle = mode;
    for (int round = 0; round < 50; ++round) {
      Warp warp = random_warp(random);
      if (round % 2 == 0) {
        const std::uint32_t widths[] = {0x1f, 0x0, 0x181f, 0x1800, 0x1c1f, 0x1e00};
        warp.words[2].fill(1u << (random() % 5));
        warp.words[3].fill(widths[random() % 6]);
      }
      for (const std::uint32_t active : masks(random)) {
        at_all_levels(instr, warp, active, [&](const Warp& after, unsigned lane) {
          const auto [source, valid] = shuffle_source(mode, static_cast<int>(lane),
                                                      warp.words[2][lane], warp.words[3][lane]);
          EXPECT_EQ(after.words[0][lane], warp.words[1][static_cast<std::size_t>(source)]);
          EXPECT_EQ(after.predicates[4] >> lane & 1, valid ? 1u : 0u);
        });
      }
    }
  }
}

TEST(WarpOps, Vote) {
  std::mt19937 random(2);
  for (const VoteMode mode : {VoteMode::all, VoteMode::any, VoteMode::uni, VoteMode::ballot}) {
    Instr instr = warp_instr(Opcode::vote_, mode == VoteMode::ballot ? Type::b32 : Type::pred);
    instr.modifiers.vote = mode;
    if (mode != VoteMode::ballot) instr[WarpOperand::result] = {Bank::predicate, 0};
    instr[WarpOperand::value] = {Bank::predicate, 4};
    for (const std::uint32_t active : masks(random)) {
      for (const std::uint32_t votes : {0u, active, ~active, active & (active - 1), word(random)}) {
        Warp warp = random_warp(random);
        warp.predicates[1] = votes;
        at_all_levels(instr, warp, active, [&](const Warp& after, unsigned lane) {
          const std::uint32_t yes = votes & active;
          if (mode == VoteMode::ballot) {
            EXPECT_EQ(after.words[0][lane], yes);
            return;
          }
          const bool want = mode == VoteMode::all   ? yes == active
                            : mode == VoteMode::any ? yes != 0
                                                    : yes == active || yes == 0;
          EXPECT_EQ(after.predicates[0] >> lane & 1, want ? 1u : 0u);
        });
      }
    }
  }
}

TEST(WarpOps, Match) {
  std::mt19937 random(3);
  for (const Type type : {Type::b32, Type::b64}) {
    for (const VoteMode mode : {VoteMode::any, VoteMode::all}) {
      Instr instr = warp_instr(Opcode::match_, type);
      instr.modifiers.vote = mode;
      for (const std::uint32_t values : {1u, 2u, 5u, 1000u}) {
        Warp warp = random_warp(random);
        const auto held = [&](unsigned lane) -> std::uint64_t {
          return type == Type::b64 ? warp.wides[1][lane] : warp.words[1][lane];
        };
        for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
          warp.words[1][lane] = word(random) % values;
          warp.wides[1][lane] = std::uint64_t{random() % values} << 32 | 7;
        }
        for (const std::uint32_t active : masks(random)) {
          at_all_levels(instr, warp, active, [&](const Warp& after, unsigned lane) {
            std::uint32_t same = 0;
            for (unsigned other = 0; other < kWarpLanes; ++other) {
              if (held(other) == held(lane)) same |= 1u << other;
            }
            same &= active;
            if (mode == VoteMode::any) {
              EXPECT_EQ(after.words[0][lane], same);
            } else {
              EXPECT_EQ(after.words[0][lane], same == active ? active : 0);
              EXPECT_EQ(after.predicates[4] >> lane & 1, same == active ? 1u : 0u);
            }
          });
        }
      }
    }
  }
}

TEST(WarpOps, Reduce) {
  std::mt19937 random(4);
  const std::pair<AtomOp, Type> rows[] = {
      {AtomOp::add, Type::u32},  {AtomOp::add, Type::s32}, {AtomOp::min, Type::u32},
      {AtomOp::min, Type::s32},  {AtomOp::max, Type::u32}, {AtomOp::max, Type::s32},
      {AtomOp::and_, Type::b32}, {AtomOp::or_, Type::b32}, {AtomOp::xor_, Type::b32}};
  for (const auto& [op, type] : rows) {
    Instr instr = warp_instr(Opcode::redux_, type);
    instr.modifiers.atom_op = op;
    const Warp warp = random_warp(random);
    for (const std::uint32_t active : masks(random)) {
      std::vector<std::uint32_t> values;
      for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
        if ((active >> lane & 1) != 0) values.push_back(warp.words[1][lane]);
      }
      std::uint32_t want = values[0];
      for (std::size_t i = 1; i < values.size(); ++i) {
        const std::uint32_t x = values[i];
        const auto as_signed = [](std::uint32_t v) { return static_cast<std::int32_t>(v); };
        const bool less = type == Type::s32 ? as_signed(x) < as_signed(want) : x < want;
        switch (op) {
          case AtomOp::add: want += x; break;
          case AtomOp::min: want = less ? x : want; break;
          case AtomOp::max: want = less ? want : x; break;
          case AtomOp::and_: want &= x; break;
          case AtomOp::or_: want |= x; break;
          default: want ^= x; break;
        }
      }
      at_all_levels(instr, warp, active, [&](const Warp& after, unsigned lane) {
        EXPECT_EQ(after.words[0][lane], want);
      });
    }
  }
}

TEST(WarpOps, ActiveMaskAndElection) {
  std::mt19937 random(5);
  for (const std::uint32_t active : masks(random)) {
    const Warp warp = random_warp(random);
    at_all_levels(
        warp_instr(Opcode::activemask_, Type::b32), warp, active,
        [&](const Warp& after, unsigned lane) { EXPECT_EQ(after.words[0][lane], active); });
    at_all_levels(warp_instr(Opcode::elect_, Type::none), warp, active,
                  [&](const Warp& after, unsigned lane) {
                    const auto leader = static_cast<std::uint32_t>(__builtin_ctz(active));
                    EXPECT_EQ(after.words[0][lane], leader);
                    EXPECT_EQ(after.predicates[4] >> lane & 1, lane == leader ? 1u : 0u);
                  });
  }
}

// sm_100a. NaN counts only with .NaN, or if nothing else is there; -0 comes before +0.
TEST(WarpOps, ReducesFloats) {
  constexpr std::uint32_t kNan = 0xffc00001, kCanonicalNan = 0x7fffffff, kMinusZero = 0x80000000;
  constexpr std::uint32_t kOne = 0x3f800000, kMinusTwo = 0xc0000000, kTwo = 0x40000000;
  struct Row {
    AtomOp op;
    bool absolute, nan;
    std::array<std::uint32_t, 4> values;
    std::uint32_t want;
  };
  const Row rows[] = {
      {AtomOp::min, false, false, {kOne, kMinusTwo, kNan, 0}, kMinusTwo},
      {AtomOp::max, false, false, {kOne, kMinusTwo, kNan, 0}, kOne},
      {AtomOp::max, true, false, {kOne, kMinusTwo, kNan, 0}, kTwo},
      {AtomOp::min, false, true, {kOne, kMinusTwo, kNan, 0}, kCanonicalNan},
      {AtomOp::min, false, false, {kNan, kNan, kNan, kNan}, kCanonicalNan},
      {AtomOp::min, false, false, {0, kMinusZero, kOne, 0}, kMinusZero},
      {AtomOp::max, false, false, {kMinusZero, 0, kMinusTwo, kMinusZero}, 0},
      {AtomOp::min, true, false, {kMinusZero, kOne, kMinusTwo, kOne}, 0},
  };
  for (const Row& row : rows) {
    Instr instr = warp_instr(Opcode::redux_, Type::f32);
    instr.modifiers.atom_op = row.op;
    instr.modifiers.absolute = row.absolute;
    instr.modifiers.nan = row.nan;
    Warp warp;
    std::copy(row.values.begin(), row.values.end(), warp.words[1].begin() + 3);
    at_all_levels(instr, warp, 0x78, [&](const Warp& after, unsigned lane) {
      EXPECT_EQ(after.words[0][lane], row.want);
    });
  }
}

TEST(WarpOps, RefusesWhatIsNoWarpOperation) {
  EXPECT_EQ(find_warp_op(warp_instr(Opcode::add_, Type::u32)), nullptr);
  Instr instr = warp_instr(Opcode::redux_, Type::f32);
  instr.modifiers.atom_op = AtomOp::add;
  EXPECT_EQ(find_warp_op(instr), nullptr);
}

}  // namespace
}  // namespace warpcheck::vgpu::testing
