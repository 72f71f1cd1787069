#include "vgpu/machine/memory/rows.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <random>
#include <span>
#include <vector>

#include "vgpu/machine/compute/compute.hpp"
#include "vgpu/program/program.hpp"

namespace warpcheck::vgpu {
namespace {

constexpr std::array<std::uint32_t, 9> kMasks{~0u,          1u,           0x8000'0000u,
                                              0xffff'fff0u, 0x0fff'ffffu, 0x5555'5555u,
                                              0x0001'0000u, 0x8000'0001u, 0x0006'0030u};

std::vector<const MemoryRowFunctions*> functions_of_levels() {
  std::vector<const MemoryRowFunctions*> functions;
  for (const SimdLevel level : {SimdLevel::baseline, SimdLevel::avx2, SimdLevel::avx512}) {
    if (level <= host_simd_level()) functions.push_back(&memory_row_functions(level));
  }
  return functions;
}

bool is_active(std::uint32_t mask, unsigned lane) { return (mask >> lane & 1) != 0; }

// Classifies a row directly by the definition of Pattern.
template <class Address>
Pattern pattern_by_lanes(std::span<const Address> row, std::uint32_t bytes, std::uint32_t mask) {
  const auto lead = static_cast<unsigned>(__builtin_ctz(mask));
  bool strided = (mask & (mask - 1)) != 0, uniform = true;
  for (unsigned lane = lead; lane < kWarpLanes; ++lane) {
    if (!is_active(mask, lane)) continue;
    uniform &= row[lane] == row[lead];
    strided &= row[lane] == static_cast<Address>(row[lead] + (lane - lead) * bytes);
  }
  if (uniform) return Pattern::uniform;
  return strided ? Pattern::strided : Pattern::scattered;
}

// Tests rows that are in order except for one lane, which may be inactive.
template <class Address>
void expect_patterns(Pattern (*pattern_of)(const std::byte*, std::uint32_t, std::uint32_t)) {
  for (const std::uint32_t bytes : {1u, 2u, 4u, 8u, 16u}) {
    for (const std::uint32_t step : {0u, bytes}) {
      for (const std::uint32_t mask : kMasks) {
        for (unsigned odd = 0; odd <= kWarpLanes; ++odd) {  // kWarpLanes: no lane
          alignas(64) std::array<Address, kWarpLanes> row{};
          for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
            row[lane] = static_cast<Address>(Address{0} - 8 * bytes + lane * step);  // wraps
          }
          if (odd < kWarpLanes) row[odd] ^= Address{1} << (8 * sizeof(Address) - 1);
          EXPECT_EQ(pattern_of(reinterpret_cast<const std::byte*>(row.data()), bytes, mask),
                    pattern_by_lanes<Address>(row, bytes, mask))
              << bytes << " bytes, step " << step << ", mask " << mask << ", odd lane " << odd;
        }
      }
    }
  }
}

TEST(MemoryRows, KnowTheOrderOfAddresses) {
  for (const MemoryRowFunctions* functions : functions_of_levels()) {
    expect_patterns<std::uint32_t>(functions->pattern_of_words);
    expect_patterns<std::uint64_t>(functions->pattern_of_wides);
  }
}

TEST(MemoryRows, CountUp) {
  for (const MemoryRowFunctions* functions : functions_of_levels()) {
    alignas(64) std::array<std::uint32_t, kWarpLanes> offsets{};
    functions->count_up(offsets.data(), ~0u - 7, 4);
    for (unsigned lane = 0; lane < kWarpLanes; ++lane) EXPECT_EQ(offsets[lane], 4 * lane - 8);
  }
}

struct Move {
  std::uint32_t width = 0;
  bool wide_row = false, is_signed = false, uniform = false;
};

// The bytes of a register and of memory for 32 lanes, filled with old contents.
struct Sides {
  alignas(64) std::array<std::byte, 8 * kWarpLanes> row{};
  alignas(64) std::array<std::byte, 8 * kWarpLanes> memory{};
  friend bool operator==(const Sides&, const Sides&) = default;
};

Sides random_sides(std::mt19937& random) {
  Sides sides;
  for (std::byte& byte : sides.row) byte = static_cast<std::byte>(random());
  for (std::byte& byte : sides.memory) byte = static_cast<std::byte>(random());
  return sides;
}

// Moves one lane after the other, in ascending order.
void move_lanes(Sides& sides, const Move& move, std::uint32_t mask, bool is_load) {
  const std::size_t cell = move.wide_row ? 8 : 4;
  for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
    if (!is_active(mask, lane)) continue;
    std::byte* const place = sides.memory.data() + (move.uniform ? 0 : lane * move.width);
    std::byte* const value = sides.row.data() + lane * cell;
    if (!is_load) {
      std::memcpy(place, value, std::min<std::size_t>(move.width, cell));
      continue;
    }
    std::uint64_t loaded = 0;
    std::memcpy(&loaded, place, move.width);
    const unsigned unused = 64 - 8 * move.width;
    if (move.is_signed) {
      loaded = static_cast<std::uint64_t>(static_cast<std::int64_t>(loaded << unused) >> unused);
    }
    std::memcpy(value, &loaded, cell);
  }
}

TEST(MemoryRows, MoveWhatLanesMoveOneByOne) {
  std::mt19937 random(1);
  for (const MemoryRowFunctions* functions : functions_of_levels()) {
    for (unsigned form = 0; form < 32; ++form) {
      const Move move{1u << (form & 3), (form & 4) != 0, (form & 8) != 0, (form & 16) != 0};
      if (move.width == 8 && !move.wide_row) continue;
      for (const std::uint32_t mask : kMasks) {
        for (const bool is_load : {true, false}) {
          if (!is_load && move.is_signed) continue;
          Sides moved = random_sides(random), expected = moved;
          move_lanes(expected, move, mask, is_load);
          const auto& table =
              is_load ? (move.uniform ? functions->uniform_load : functions->strided_load)
                      : (move.uniform ? functions->uniform_store : functions->strided_store);
          table[row_move_index(move.width, move.wide_row, move.is_signed)](
              moved.row.data(), moved.memory.data(), mask);
          EXPECT_EQ(moved, expected)
              << "form " << form << ", mask " << mask << ", " << (is_load ? "load" : "store");
        }
      }
    }
  }
}

// Finds the offsets of a row lane after lane.
template <class Address>
void expect_scan(const MemoryRowFunctions& functions, std::mt19937& random, std::uint32_t mask) {
  constexpr std::uint32_t kBegin = 64, kLimit = 4096, kBase = 0x1000;
  const std::uint32_t bytes = 1u << random() % 5;
  alignas(64) std::array<Address, kWarpLanes> row{};
  const std::uint32_t places = (kLimit - kBegin) / bytes;
  for (Address& address : row) address = kBase - 8 + kBegin + random() % places * bytes;
  // In half of the rows, one lane is just inside or outside, or misaligned.
  const std::array<std::uint32_t, 6> edges{
      kBegin, kBegin - bytes, kLimit - bytes, kLimit - bytes + 1, kLimit, kBegin + bytes / 2};
  if (random() % 2 == 0) row[random() % kWarpLanes] = kBase - 8 + edges[random() % edges.size()];
  bool inside = true;
  for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
    const std::uint64_t offset = std::uint64_t{static_cast<Address>(row[lane] + 8)} - kBase;
    const bool fits = offset >= kBegin && offset + bytes <= kLimit && offset % bytes == 0;
    inside &= fits || !is_active(mask, lane);
  }
  const bool wide = sizeof(Address) == 8;
  const AddressRow addresses{reinterpret_cast<const std::byte*>(row.data()), wide, 8, kBase,
                             kBegin};
  alignas(64) std::array<std::uint32_t, kWarpLanes> offsets{};
  const RowScan scan = functions.scan(addresses, kLimit, bytes, mask, offsets.data());
  ASSERT_EQ(scan.inside, inside) << bytes << " bytes, mask " << mask;
  if (!inside) return;
  const auto lead = static_cast<unsigned>(__builtin_ctz(mask));
  for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
    if (scan.strided && !is_active(mask, lane)) continue;
    const unsigned from = is_active(mask, lane) ? lane : lead;
    EXPECT_EQ(offsets[lane], static_cast<std::uint32_t>(row[from] + 8 - kBase)) << lane;
  }
}

TEST(MemoryRows, ScanScatteredLanes) {
  std::mt19937 random(1);
  for (const MemoryRowFunctions* functions : functions_of_levels()) {
    for (unsigned trial = 0; trial < 2000; ++trial) {
      expect_scan<std::uint32_t>(*functions, random, kMasks[trial % kMasks.size()]);
      expect_scan<std::uint64_t>(*functions, random, kMasks[trial % kMasks.size()]);
    }
  }
}

TEST(MemoryRows, LoadScatteredLanes) {
  std::mt19937 random(1);
  for (const MemoryRowFunctions* functions : functions_of_levels()) {
    for (const std::uint32_t mask : kMasks) {
      for (const bool wide : {false, true}) {
        std::array<std::uint32_t, 256> memory{};
        std::array<std::uint32_t, kWarpLanes> offsets{};
        std::array<std::uint64_t, kWarpLanes> row{}, expected{};
        for (std::uint32_t& word : memory) word = random();
        for (std::uint32_t& offset : offsets) offset = random() % 255 * 4;
        auto* const words = reinterpret_cast<std::byte*>(expected.data());
        for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
          if (!is_active(mask, lane)) continue;
          const std::size_t cell = wide ? 8 : 4;
          std::memcpy(words + lane * cell,
                      reinterpret_cast<const std::byte*>(memory.data()) + offsets[lane], cell);
        }
        functions->load({.data = reinterpret_cast<std::byte*>(memory.data()),
                         .offsets = offsets.data(),
                         .mask = mask,
                         .row = reinterpret_cast<std::byte*>(row.data()),
                         .wide_row = wide,
                         .width = static_cast<std::uint8_t>(wide ? 8 : 4)});
        EXPECT_EQ(row, expected) << "mask " << mask << ", wide " << wide;
      }
    }
  }
}

TEST(MemoryRows, InterleaveLocalMemory) {
  std::mt19937 random(1);
  for (const MemoryRowFunctions* functions : functions_of_levels()) {
    for (const std::uint32_t mask : kMasks) {
      std::array<std::uint32_t, kWarpLanes> offsets{}, places{};
      for (std::uint32_t& offset : offsets) offset = random() % 4096;
      functions->interleave(offsets.data(), 4, mask, places.data());
      const auto lead = static_cast<unsigned>(__builtin_ctz(mask));
      for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
        const unsigned from = is_active(mask, lane) ? lane : lead;
        const std::uint32_t offset = offsets[from] + 4;
        EXPECT_EQ(places[lane], offset / 4 * 128 + 4 * from + offset % 4);
      }
    }
  }
}

}  // namespace
}  // namespace warpcheck::vgpu
