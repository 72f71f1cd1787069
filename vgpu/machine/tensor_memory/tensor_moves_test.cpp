// Loads, stores, copies and shifts of every shape against tables of their own: which thread,
// register, byte of shared memory and word of tensor memory belong together (figures of 9.7.16.2.3
// and 9.7.16.9).
#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "vgpu/machine/tensor_memory/tensor_bench.hpp"

namespace warpcheck::vgpu {
namespace {

using Place = std::pair<std::uint32_t, std::uint32_t>;  // lane of the warp, column

struct Shape {
  std::string name;
  std::uint32_t registers = 1;  // of .x1
  std::uint32_t lanes = 16, columns = 1;
  // Which thread and register (of .x1) have a word.
  std::function<Place(std::uint32_t lane, std::uint32_t column)> holder;
};

// By rows of a figure: the threads in the order of their words.
const std::vector<Shape>& shapes() {
  static const std::vector<Shape> all{
      {"32x32b", 1, 32, 1,
       [](auto lane, auto) {
         return Place{lane, 0};
       }},
      // Lanes 0 to 7: threads 0 2 | 4 6 | ...; lanes 8 to 15: threads 1 3 | 5 7 | ...
      {"16x64b", 1, 16, 2,
       [](auto lane, auto column) {
         return Place{lane % 8 * 4 + lane / 8 + 2 * column, 0};
       }},
      // As a row-major matrix of 8 x 4 words for each register.
      {"16x128b", 2, 16, 4,
       [](auto lane, auto column) {
         return Place{lane % 8 * 4 + column, lane / 8};
       }},
      // As the accumulators of mma.m16n8.
      {"16x256b", 4, 16, 8,
       [](auto lane, auto column) {
         return Place{lane % 8 * 4 + column / 2, column % 2 + 2 * (lane / 8)};
       }},
  };
  return all;
}

std::string registers_text(std::uint32_t count) {
  std::string text = "%r0";
  for (std::uint32_t i = 1; i < count; ++i) text += fmt::format(", %r{}", i);
  return "{" + text + "}";
}

std::uint32_t word_at(std::uint32_t lane, std::uint32_t column) {
  return 0x10000u * (lane + 1) + 7 * column + 3;
}

// The registers of all threads after a load, or before a store: by register, then by thread.
std::string move_data(std::uint32_t count, bool to_registers) {
  std::string text;
  for (std::uint32_t i = 0; i < count; ++i) {
    text += to_registers ? fmt::format("ld.global.b32 %r{}, [%data+{}];\n", i, i * 512)
                         : fmt::format("st.global.b32 [%data+{}], %r{};\n", i * 512, i);
  }
  return text;
}

class Moves : public testing::TestWithParam<std::tuple<std::uint32_t, std::uint32_t>> {};

TEST_P(Moves, LoadAndStoreFollowTheTables) {
  const auto [number, repetitions] = GetParam();
  const Shape& shape = shapes()[number];
  const std::uint32_t count = shape.registers * repetitions;
  const std::uint32_t width = shape.columns * repetitions;
  if (count > 128) return;  // the ISA has no such form
  const std::uint32_t columns = std::max(32u, width);
  // Where the word of a thread's register lies.
  std::map<Place, Place> places;
  for (std::uint32_t lane = 0; lane < shape.lanes; ++lane) {
    for (std::uint32_t column = 0; column < width; ++column) {
      const auto [thread, reg] = shape.holder(lane, column % shape.columns);
      places[{thread, column / shape.columns * shape.registers + reg}] = {lane, column};
    }
  }
  ASSERT_EQ(places.size(), std::size_t{32} * count);

  TensorBench load(1, columns);
  for (std::uint32_t lane = 0; lane < 128; ++lane) {
    for (std::uint32_t c = 0; c < columns; ++c) load.images[0].at(lane, c) = word_at(lane, c);
  }
  load.data.resize(std::size_t{128} * count);
  const std::string name = fmt::format("sync.aligned.{}.x{}", shape.name, repetitions);
  load.lines_of_all = fmt::format("tcgen05.ld.{}.b32 {}, [%own];\n{}", name, registers_text(count),
                                  move_data(count, false));
  load.run();
  TensorBench store(1, columns);
  store.data.resize(std::size_t{128} * count);
  for (std::size_t i = 0; i < store.data.size(); ++i) {
    store.data[i] = static_cast<std::uint32_t>(3 * i + 1);
  }
  store.lines_of_all = fmt::format("{}tcgen05.st.{}.b32 [%own], {};\n", move_data(count, true),
                                   name, registers_text(count));
  store.run();
  for (std::uint32_t warp = 0; warp < 4; ++warp) {
    for (const auto& [holder, place] : places) {
      const auto [thread, reg] = holder;
      const std::size_t at = std::size_t{reg} * 128 + warp * 32 + thread;
      const std::uint32_t lane = warp * 32 + place.first;
      ASSERT_EQ(load.data[at], word_at(lane, place.second)) << thread << " " << reg;
      ASSERT_EQ(store.images[0].at(lane, place.second), store.data[at]) << thread << " " << reg;
    }
    if (shape.lanes == 32) continue;
    EXPECT_EQ(store.images[0].at(warp * 32 + 16, 0), 0u);  // other lanes keep their words
  }
}

INSTANTIATE_TEST_SUITE_P(Tensor, Moves,
                         testing::Combine(testing::Range(0u, 4u),
                                          testing::Values(1u, 2u, 8u, 32u, 128u)));

TEST(TensorMoves, PacksAndUnpacksPairsOfHalves) {
  TensorBench bench(1, 32);
  for (std::uint32_t lane = 0; lane < 128; ++lane) {
    for (std::uint32_t c = 0; c < 4; ++c) bench.images[0].at(lane, c) = 0xabcd0000 + 10 * lane + c;
  }
  bench.data.resize(256);
  bench.lines_of_all = "tcgen05.ld.sync.aligned.32x32b.x2.pack::16b.b32 {%r0, %r1}, [%own];\n" +
                       move_data(2, false) +
                       "tcgen05.st.sync.aligned.32x32b.x2.unpack::16b.b32 [%own+8], {%r0, %r1};\n";
  bench.run();
  for (std::uint32_t lane = 0; lane < 128; ++lane) {
    EXPECT_EQ(bench.data[lane], (10 * lane + 1) << 16 | 10 * lane);
    EXPECT_EQ(bench.data[128 + lane], (10 * lane + 3) << 16 | (10 * lane + 2));
    for (std::uint32_t c = 0; c < 4; ++c) EXPECT_EQ(bench.images[0].at(lane, 8 + c), 10 * lane + c);
  }
}

TEST(TensorMoves, TwoHalvesLieApart) {
  TensorBench bench(1, 32);
  for (std::uint32_t lane = 0; lane < 128; ++lane) {
    for (std::uint32_t c = 0; c < 32; ++c) bench.images[0].at(lane, c) = word_at(lane, c);
  }
  bench.data.resize(256);
  bench.lines_of_all =
      "tcgen05.ld.sync.aligned.16x32bx2.x2.b32 {%r0, %r1}, [%own], 9;\n" + move_data(2, false);
  bench.run();
  for (std::uint32_t thread = 0; thread < 128; ++thread) {
    const std::uint32_t lane = thread / 32 * 32 + thread % 16;
    const std::uint32_t first = thread % 32 < 16 ? 0 : 9;
    EXPECT_EQ(bench.data[thread], word_at(lane, first));
    EXPECT_EQ(bench.data[128 + thread], word_at(lane, first + 1));
  }
}

TEST(TensorMoves, ReduceTheWordsOfAThread) {
  constexpr std::uint32_t kNan = 0x7fff'ffff;
  struct Case {
    std::string name;
    std::uint32_t x, y, result;
  };
  const std::vector<Case> cases{{"min.u32", 0xffff'fff0, 5, 5},
                                {"u32.max", 0xffff'fff0, 5, 0xffff'fff0},
                                {"min.s32", 0xffff'fff0, 5, 0xffff'fff0},
                                {"max.s32", 0xffff'fff0, 5, 5},
                                {"min.f32", 0xc000'0000, 0x3f80'0000, 0xc000'0000},
                                {"max.f32", 0xc000'0000, 0x3f80'0000, 0x3f80'0000},
                                {"max.f32", 0xc000'0000, 0xbf80'0000, 0xbf80'0000},
                                {"max.abs.f32", 0xc000'0000, 0x3f80'0000, 0x4000'0000},
                                {"min.abs.f32", 0xc000'0000, 0x3f80'0000, 0x3f80'0000},
                                {"max.f32", 0x8000'0000, 0, 0},
                                {"min.f32", 0, 0x8000'0000, 0x8000'0000},
                                {"max.f32", 0xffc0'0001, 0xbf80'0000, 0xbf80'0000},
                                {"min.f32", 0xffc0'0001, 0x7fc0'0000, kNan},
                                {"max.NaN.f32", 0xbf80'0000, 0xffc0'0001, kNan},
                                {"max.abs.NaN.f32", 0xbf80'0000, 0xc000'0000, 0x4000'0000}};
  const auto count = static_cast<std::uint32_t>(cases.size());
  for (const bool has_half : {false, true}) {
    TensorBench bench(1, 64);
    bench.target = "sm_103a";
    for (std::uint32_t i = 0; i < count; ++i) {
      for (std::uint32_t lane = 0; lane < 128; ++lane) {
        for (const std::uint32_t half : {0u, 32u}) {
          bench.images[0].at(lane, half + 2 * i) = cases[i].x;
          bench.images[0].at(lane, half + 2 * i + 1) = cases[i].y;
        }
      }
      bench.lines_of_all +=
          fmt::format("tcgen05.ld.red.sync.aligned.{}.x2.{} {{%r{}, %r{}}}, %r{}, [%own+{}]{};\n",
                      has_half ? "16x32bx2" : "32x32b", cases[i].name, 3 * i, 3 * i + 1, 3 * i + 2,
                      2 * i, has_half ? ", 32" : "");
    }
    bench.data.resize(std::size_t{3} * 128 * count);
    bench.lines_of_all += move_data(3 * count, false);
    bench.run();
    for (std::uint32_t i = 0; i < count; ++i) {
      SCOPED_TRACE(cases[i].name);
      for (std::uint32_t thread = 0; thread < 128; ++thread) {
        const std::size_t at = std::size_t{3} * 128 * i + thread;
        ASSERT_EQ(bench.data[at], cases[i].x);
        ASSERT_EQ(bench.data[at + 128], cases[i].y);
        ASSERT_EQ(bench.data[at + 256], cases[i].result);
      }
    }
  }
}

// Shared memory without swizzling: tiles of 8 rows of 16 bytes; LBO 128 bytes, SBO 256.
std::string descriptor(std::uint32_t offset) {
  return fmt::format(
      "mov.u32 %x, S;\nadd.u32 %x, %x, {};\nshr.u32 %x, %x, 4;\ncvt.u64.u32 %d0, %x;\n"
      "or.b64 %d0, %d0, 0x401000080000;\n",
      offset);
}
std::size_t byte_of(std::uint32_t row, std::uint32_t byte) {
  return std::size_t{row / 8} * 256 + byte / 16 * 128 + row % 8 * 16 + byte % 16;
}

struct CopyShape {
  std::string name;
  std::uint32_t rows = 0, bytes = 0;
  std::vector<std::uint32_t> firsts;  // where the rows 0 to 31, then 32 to 63 ... begin: lanes
};

// The lanes that receive a row.
std::set<std::uint32_t> lanes_of(const CopyShape& shape, std::uint32_t row) {
  if (shape.name.starts_with("128")) return {row};
  if (shape.name.starts_with("4x")) return {32 * row};
  if (shape.name.starts_with("32")) return {row, row + 32, row + 64, row + 96};
  if (shape.name.ends_with("02_13")) return {row, row + 64};
  return row < 32 ? std::set{row, row + 32} : std::set{row + 32, row + 64};
}

TEST(TensorCopies, FillTheLanesOfTheirShape) {
  const std::vector<CopyShape> all{{"128x256b", 128, 32, {}},
                                   {"4x256b", 4, 32, {}},
                                   {"128x128b", 128, 16, {}},
                                   {"64x128b.warpx2::02_13", 64, 16, {}},
                                   {"64x128b.warpx2::01_23", 64, 16, {}},
                                   {"32x128b.warpx4", 32, 16, {}}};
  for (const std::uint32_t blocks : {1u, 2u}) {
    for (const CopyShape& shape : all) {
      SCOPED_TRACE(shape.name);
      TensorBench bench(blocks, 32);
      for (std::uint32_t block = 0; block < blocks; ++block) {
        bench.shared[block].resize(4096);
        for (std::size_t i = 0; i < 4096; ++i) {
          bench.shared[block][i] = static_cast<std::uint8_t>(i * 7 + i / 256 + 31 * block);
        }
      }
      bench.lines = descriptor(0) + fmt::format("tcgen05.cp.cta_group::{}.{} [%base+2], %d0;\n",
                                                blocks, shape.name);
      bench.run();
      ASSERT_EQ(bench.trap, "");
      for (std::uint32_t block = 0; block < blocks; ++block) {
        TensorImage expected(32);
        for (std::uint32_t row = 0; row < shape.rows; ++row) {
          for (std::uint32_t word = 0; word < shape.bytes / 4; ++word) {
            std::uint32_t value = 0;
            std::memcpy(&value, &bench.shared[block][byte_of(row, word * 4)], 4);
            for (const std::uint32_t lane : lanes_of(shape, row)) {
              expected.at(lane, 2 + word) = value;
            }
          }
        }
        EXPECT_EQ(bench.images[block].words, expected.words);
      }
    }
  }
}

TEST(TensorCopies, UnpackElementsOfSixAndFourBits) {
  for (const std::uint32_t bits : {6u, 4u}) {
    TensorBench bench(1, 32);
    bench.shared[0].resize(4096);
    std::vector<std::uint32_t> elements(128 * 16);
    for (std::uint32_t row = 0; row < 128; ++row) {
      for (std::uint32_t i = 0; i < 16; ++i) {
        const std::uint32_t element = (row * 5 + i * 3) & ((1u << bits) - 1);
        elements[row * 16 + i] = element;
        for (std::uint32_t bit = 0; bit < bits; ++bit) {
          const std::uint32_t at = i * bits + bit;
          if ((element >> bit & 1) != 0) bench.shared[0][byte_of(row, at / 8)] |= 1u << at % 8;
        }
      }
    }
    bench.lines = descriptor(0) +
                  fmt::format("tcgen05.cp.cta_group::1.128x128b.b8x16.b{}x16_p{} [%base], %d0;\n",
                              bits, bits == 6 ? 32 : 64);
    bench.run();
    for (std::uint32_t row = 0; row < 128; ++row) {
      for (std::uint32_t i = 0; i < 16; ++i) {
        const std::uint32_t byte = bench.images[0].at(row, i / 4) >> 8 * (i % 4) & 0xff;
        EXPECT_EQ(byte, elements[row * 16 + i] << (bits == 6 ? 0 : 2)) << row << " " << i;
      }
    }
  }
}

TEST(TensorShift, EachLaneTakesTheWordsOfTheNext) {
  for (const std::uint32_t blocks : {1u, 2u}) {
    TensorBench bench(blocks, 32);
    for (std::uint32_t block = 0; block < blocks; ++block) {
      for (std::uint32_t lane = 0; lane < 128; ++lane) {
        for (std::uint32_t c = 0; c < 32; ++c) {
          bench.images[block].at(lane, c) = word_at(lane, c) + block;
        }
      }
    }
    bench.lines = fmt::format(
        "add.u32 %x, %base, 0x400003;\ntcgen05.shift.cta_group::{}.down [%x];\n", blocks);
    bench.run();
    for (std::uint32_t block = 0; block < blocks; ++block) {
      for (std::uint32_t lane = 0; lane < 128; ++lane) {
        for (std::uint32_t c = 0; c < 32; ++c) {
          const bool moves = lane >= 64 && lane < 95 && c >= 3 && c < 11;
          EXPECT_EQ(bench.images[block].at(lane, c), word_at(lane + (moves ? 1 : 0), c) + block);
        }
      }
    }
  }
}

}  // namespace
}  // namespace warpcheck::vgpu
