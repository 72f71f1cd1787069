// Products in tensor memory against a reference in exact arithmetic (MPFR), which decodes elements,
// scale factors and metadata from their definitions and shares nothing with the machine.
//
// The ISA leaves the order and the width of sums of floats open, and promises at least single
// precision for what is accumulated.  A sum of the exact products t of n terms, with the
// accumulator, is then in error by at most (n + 1) 2^-23 sum|t|, whatever is truncated or rounded,
// and a result of f16 by its own rounding more.  Every result must lie within that; and where all
// partial sums in any order are floats, it must be the exact sum.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "vgpu/machine/tensor_memory/tensor_bench.hpp"
#include "vgpu/machine/tensor_memory/tensor_product_case.hpp"

namespace warpcheck::vgpu {
namespace {

class Products : public testing::TestWithParam<Case> {
 protected:
  // A sparse row: for each stored element, its place in the whole row.
  std::vector<std::uint32_t> places;  // by rows
  std::vector<std::uint32_t> a, b, scale_a, scale_b;
  std::vector<double> d;
  std::mt19937 random{7};

  void draw(const Case& c) {
    a.resize(c.rows * c.stored());
    b.resize((c.columns + c.shift) * c.depth);
    for (std::uint32_t& code : a) code = draw_code(c, c.a, random);
    for (std::uint32_t& code : b) code = draw_code(c, c.b, random);
    d.resize(c.rows * c.columns);
    for (double& one : d) {
      const auto small = static_cast<double>(static_cast<int>(random() % 17) - 8);
      one = c.is_integer() || c.is_small ? small
                                         : std::ldexp(small, static_cast<int>(random() % 8) - 4);
    }
    const auto draw_scale = [&] {
      if (c.is_small) return c.has_e4m3_scales ? 0x38u + 8 * (random() % 2) : 127u + random() % 2;
      return c.has_e4m3_scales ? random() % 0x7f : 117u + random() % 20;
    };
    scale_a.resize(c.rows * std::max(1u, c.scales));
    scale_b.resize(c.columns * std::max(1u, c.scales));
    for (std::uint32_t& code : scale_a) code = draw_scale();
    for (std::uint32_t& code : scale_b) code = draw_scale();
    if (c.is_sparse) draw_places(c);
  }
  // tf32: one of two; 4-bit kinds: two pairs of four pairs; others: two of four.
  void draw_places(const Case& c) {
    places.clear();
    for (std::uint32_t row = 0; row < c.rows; ++row) {
      for (std::uint32_t at = 0; at < c.stored();) {
        const std::uint32_t first = random() % 3, second = first + 1 + random() % (3 - first);
        if (c.kind == "tf32") {
          places.push_back(2 * at + random() % 2);
          at += 1;
        } else if (c.is_packed()) {
          for (const std::uint32_t pair : {first, second}) {
            places.push_back(2 * at + 2 * pair);
            places.push_back(2 * at + 2 * pair + 1);
          }
          at += 4;
        } else {
          places.push_back(2 * at + first);
          places.push_back(2 * at + second);
          at += 2;
        }
      }
    }
  }
  // The four bits of metadata for each chunk of a row.
  [[nodiscard]] std::vector<std::uint32_t> metadata(const Case& c, std::uint32_t row) const {
    std::vector<std::uint32_t> chunks;
    const std::uint32_t* const of_row = &places[row * c.stored()];
    const std::uint32_t step = c.kind == "tf32" ? 1 : c.is_packed() ? 4 : 2;
    for (std::uint32_t at = 0; at < c.stored(); at += step) {
      if (step == 1) {
        chunks.push_back(of_row[at] % 2 == 0 ? 0x4 : 0xe);
      } else if (step == 2) {
        chunks.push_back(of_row[at] % 4 | of_row[at + 1] % 4 << 2);
      } else {
        chunks.push_back(of_row[at] % 8 / 2 | of_row[at + 2] % 8 / 2 << 2);
      }
    }
    return chunks;
  }
};

TEST_P(Products, LieWithinWhatTheIsaAllows) {
  const Case& c = GetParam();
  draw(c);
  constexpr std::uint32_t kColumnOfA = 256, kColumnOfScaleA = 272, kColumnOfScaleB = 280,
                          kColumnOfMetadata = 288;
  const bool is_wide = c.columns > 64 || c.a_is_here || c.scales != 0 || c.is_sparse;
  TensorBench bench(c.blocks, is_wide ? 296 : 64);
  std::uint64_t fields_a = 0, fields_b = 0;
  std::size_t first_of_b = 0;
  for (std::uint32_t block = 0; block < c.blocks; ++block) {
    const std::uint32_t rows = c.rows / c.blocks, columns = c.columns / c.blocks + c.shift;
    const auto part = [&](const std::vector<std::uint32_t>& all, std::uint32_t count,
                          std::uint32_t depth) {
      return std::vector<std::uint32_t>(all.begin() + block * count * depth,
                                        all.begin() + (block + 1) * count * depth);
    };
    const SharedMatrix of_a =
        shared_matrix(c, c.a, c.a_across, part(a, rows, c.stored()), rows, c.stored());
    const SharedMatrix of_b =
        shared_matrix(c, c.b, c.b_across, part(b, columns, c.depth), columns, c.depth);
    fields_a = of_a.fields;
    fields_b = of_b.fields;
    first_of_b = (of_a.bytes.size() + 127) / 128 * 128;
    bench.shared[block] = of_a.bytes;
    bench.shared[block].resize(first_of_b);
    bench.shared[block].insert(bench.shared[block].end(), of_b.bytes.begin(), of_b.bytes.end());
  }
  const auto put_d = [&](std::uint32_t row, std::uint32_t column) {
    const Word at = place_of(c, row, column);
    const double value = d[row * c.columns + column];
    std::uint32_t& word = bench.images[at.block].at(at.lane, at.column);
    word = c.is_integer() ? static_cast<std::uint32_t>(static_cast<std::int32_t>(value))
                          : bits_of_float(value);
    if (c.d == "f16") {
      word = half_of(value);
    }
  };
  for (std::uint32_t row = 0; row < c.rows; ++row) {
    for (std::uint32_t column = 0; column < c.columns; ++column) put_d(row, column);
  }
  for (std::uint32_t row = 0; row < c.rows; ++row) {
    const Word at = place_of(c, row, 0);
    TensorImage& image = bench.images[at.block];
    const std::uint32_t own = c.rows / c.blocks;
    if (c.a_is_here) {
      const Packing packing = packing_of(c, c.a, true);
      std::array<std::uint8_t, 64> bytes{};
      for (std::uint32_t k = 0; k < c.stored(); ++k) {
        put_bits(&bytes[k / packing.elements * 16],
                 k % packing.elements * packing.bits + packing.shift, packing.bits - packing.shift,
                 a[row * c.stored() + k]);
      }
      for (std::uint32_t word = 0; word < 8; ++word) {
        std::uint32_t value = 0;
        std::memcpy(&value, &bytes[word * 4], 4);
        // The parts of layouts B, E and G have copies.
        const bool has_copies =
            own < 128 && at.lane == row % own && (c.by_columns || c.blocks == 2);
        for (std::uint32_t lane = at.lane; lane < 128; lane += has_copies ? own : 128) {
          image.at(lane, kColumnOfA + word) = value;
        }
      }
    }
    const std::vector<std::uint32_t> chunks =
        c.is_sparse ? metadata(c, row) : std::vector<std::uint32_t>{};
    for (std::uint32_t i = 0; i < chunks.size(); ++i) {
      const bool is_shared = c.kind == "tf32" || c.kind == "f16";
      std::uint32_t lane = at.lane, column = i / 8, shift = i % 8 * 4;
      if (is_shared) {  // rows 0-7 and 8-15 of 16 share words; two lanes for the halves of k
        const std::uint32_t base = at.lane - at.lane % 16;
        lane = base + row % 8 + i / 4 * 8;
        column = c.selector;
        shift = row % 16 / 8 * 16 + i % 4 * 4;
      }
      const bool has_copies = own < 128 && c.by_columns;
      for (; lane < 128; lane += has_copies ? own : 128) {
        image.at(lane, kColumnOfMetadata + column) |= chunks[i] << shift;
      }
    }
  }
  for (std::uint32_t block = 0; c.scales != 0 && block < c.blocks; ++block) {
    const auto put = [&](std::uint32_t first, std::uint32_t line, std::uint32_t id,
                         const std::uint32_t* codes) {
      for (std::uint32_t i = 0; i < c.scales; ++i) {
        for (std::uint32_t part = 0; part < 4; ++part) {
          bench.images[block].at(part * 32 + line % 32, first + line / 32) |= codes[i]
                                                                              << 8 * (id + i);
        }
      }
    };
    const std::uint32_t rows = c.rows / c.blocks;
    for (std::uint32_t row = 0; row < rows; ++row) {
      put(kColumnOfScaleA, row, c.scale_a_id, &scale_a[(block * rows + row) * c.scales]);
    }
    for (std::uint32_t column = 0; column < c.columns; ++column) {
      put(kColumnOfScaleB, column, c.scale_b_id, &scale_b[column * c.scales]);
    }
  }
  const auto descriptor = [](std::string_view to, std::size_t offset, std::uint64_t fields) {
    return fmt::format(
        "mov.u32 %x, S;\nadd.u32 %x, %x, {};\nshr.u32 %x, %x, 4;\ncvt.u64.u32 {}, %x;\n"
        "or.b64 {}, {}, {:#x};\n",
        offset, to, to, to, fields);
  };
  std::string name =
      fmt::format("tcgen05.mma{}{}.cta_group::{}.kind::{}", c.by_columns ? ".ws" : "",
                  c.is_sparse ? ".sp" : "", c.blocks, c.kind);
  if (c.scales != 0) name += fmt::format(".block_scale.scale_vec::{}X", c.scales);
  if (c.shifts_a) name += ".ashift";
  name += c.collector;
  std::string masks;
  for (std::size_t i = 0; i < c.disabled.size(); ++i)
    masks += fmt::format("{}%r{}", i == 0 ? "" : ", ", i);
  bench.lines = descriptor("%d0", 0, fields_a) + descriptor("%d1", first_of_b, fields_b);
  for (std::size_t i = 0; i < c.disabled.size(); ++i) {
    bench.lines += fmt::format("mov.b32 %r{}, {:#x};\n", i, c.disabled[i]);
  }
  if (!c.mask.empty()) bench.lines += fmt::format("mov.b64 %d2, {};\n", c.mask);
  bench.lines += fmt::format(
      "mov.b32 %y, {:#x};\nadd.u32 %r10, %base, {};\nadd.u32 %r11, %base, {};\n"
      "add.u32 %r12, %base, {};\nadd.u32 %r13, %base, {};\n{} [%base], {}, %d1, {}%y, "
      "{}{}{}{}{};\n",
      description(c), kColumnOfA, kColumnOfScaleA, kColumnOfScaleB, kColumnOfMetadata, name,
      c.a_is_here ? "[%r10]" : "%d0", c.is_sparse ? "[%r13], " : "",
      c.scales != 0 ? "[%r11], [%r12], " : "", masks.empty() ? "" : "{" + masks + "}, ",
      c.adds ? "%yes" : "%no", c.scale_shift != 0 ? fmt::format(", {}", c.scale_shift) : "",
      c.mask.empty() ? "" : ", %d2");
  bench.run();
  ASSERT_EQ(bench.trap, "");

  // Some rows of every 32, and some columns: the reference takes its time.
  for (std::uint32_t row = 0; row < c.rows; row += row % 32 == 30 ? 1 : 15) {
    for (std::uint32_t column = 0; column < c.columns; column += column < 8 ? 3 : 13) {
      Exact sum, sizes;
      const auto add = [&](const Exact& term) {
        sum.add(term);
        sizes.add_absolute(term);
      };
      Exact from = Exact::of(c.adds ? d[row * c.columns + column] : 0);
      from.scale(-static_cast<int>(c.scale_shift));
      add(from);
      const std::uint32_t last = c.rows / c.blocks - 1;
      const std::uint32_t row_of_a = c.shifts_a && row % (last + 1) != last ? row + 1 : row;
      const bool is_zero = column < c.zero_columns.size() && c.zero_columns[column] == '1';
      for (std::uint32_t k = 0; k < (is_zero ? 0 : c.stored()); ++k) {
        const std::uint32_t at = c.is_sparse ? places[row_of_a * c.stored() + k] : k;
        Exact term = Exact::of(value_of(c.a, a[row_of_a * c.stored() + k]));
        term.multiply(Exact::of(value_of(c.b, b[(column + c.shift) * c.depth + at])));
        if (c.negates_a != c.negates_b) term.multiply(Exact::of(-1));
        if (c.scales != 0) {
          const std::uint32_t of_k = at / (c.depth / c.scales);
          term.multiply(Exact::of(value_of_scale(c, scale_a[row * c.scales + of_k])));
          term.multiply(Exact::of(value_of_scale(c, scale_b[column * c.scales + of_k])));
        }
        add(term);
      }
      const Word at = place_of(c, row, column);
      const std::uint32_t word = bench.images[at.block].at(at.lane, at.column);
      const std::size_t of_block = std::size_t{at.block} * 4 + at.lane / 32;
      if (of_block < c.disabled.size() && (c.disabled[of_block] >> at.lane % 32 & 1) != 0) {
        ASSERT_EQ(word, bits_of_float(d[row * c.columns + column]));
        continue;
      }
      if (c.is_integer()) {
        ASSERT_EQ(static_cast<std::int32_t>(word), sum.value()) << row << " " << column;
        continue;
      }
      const double got = c.d == "f16" ? formats().at("f16").value(word)
                                      : static_cast<double>(std::bit_cast<float>(word));
      if (c.is_small) {
        ASSERT_EQ(got, sum.value()) << row << " " << column;
        continue;
      }
      Exact bound(sizes);
      bound.multiply(Exact::of((c.stored() + 2) * 0x1p-23));
      if (c.d == "f16") bound.add(Exact::of(std::abs(sum.value()) * 0x1p-10 + 0x1p-24));
      ASSERT_TRUE(sum.is_near(got, bound))
          << row << " " << column << ": " << got << ", exactly " << sum.value();
    }
  }
}

std::vector<Case> dense_cases() {
  std::vector<Case> all;
  const auto add = [&](Case c) {
    all.push_back(c);
    c.is_small = true;
    all.push_back(c);
  };
  add({.kind = "f16", .a = "f16", .b = "f16", .depth = 16});
  add({.kind = "f16", .a = "f16", .b = "f16", .d = "f16", .depth = 16});
  add({.kind = "f16", .a = "bf16", .b = "bf16", .columns = 8, .depth = 16, .negates_a = true});
  add({.kind = "tf32", .a = "tf32", .b = "tf32", .depth = 8});
  for (const char* a : {"e4m3", "e5m2", "e2m3", "e3m2", "e2m1"}) {
    for (const char* b : {"e4m3", "e5m2", "e2m3", "e3m2", "e2m1"}) {
      add({.kind = "f8f6f4", .a = a, .b = b, .columns = 8});
      add({.kind = "mxf8f6f4", .a = a, .b = b, .columns = 8, .scales = 1});
    }
  }
  for (const char* a : {"s8", "u8"}) {
    for (const char* b : {"s8", "u8"}) all.push_back({.kind = "i8", .a = a, .b = b, .d = "s32"});
  }
  const Case four{.kind = "mxf4", .a = "e2m1", .b = "e2m1", .depth = 64, .scales = 2};
  add(four);
  Case c = four;
  c.kind = "mxf4nvf4";
  add(c);
  c.scales = 4;
  add(c);
  c.has_e4m3_scales = true;
  add(c);
  c.negates_b = true;
  c.columns = 40;
  c.adds = false;
  add(c);
  return all;
}

std::vector<Case> form_cases() {
  std::vector<Case> all;
  const Case half{.kind = "f16", .a = "f16", .b = "f16", .depth = 16};
  const auto add = [&](const Case& from, auto change) {
    Case c = from;
    change(c);
    all.push_back(c);
  };
  add(half, [](Case& c) { c.rows = 64; });
  add(half, [](Case& c) { c.columns = 256; });
  add(half, [](Case& c) { c.scale_shift = 5; });
  add(half, [](Case& c) { c.a_is_here = true; });
  add(half, [](Case& c) { c.a_is_here = true, c.rows = 64; });
  add(half, [](Case& c) { c.a_across = true; });
  add(half, [](Case& c) { c.b_across = true, c.negates_b = true; });
  add(half, [](Case& c) { c.disabled = {1u, 0xffff0000u, ~0u, 0x80000000u}; });
  for (const char* use : {"fill", "use", "lastuse", "discard"}) {
    add(half, [&](Case& c) { c.collector = fmt::format(".collector::a::{}", use); });
  }
  for (const std::uint32_t rows : {32u, 64u, 128u}) {
    add(half, [&](Case& c) { c.by_columns = true, c.rows = rows, c.columns = 64; });
    add(half, [&](Case& c) {
      c.by_columns = c.a_is_here = true, c.rows = rows, c.columns = 128;
      c.collector = ".collector::b2::fill";
    });
  }
  for (const std::uint32_t rows : {128u, 256u}) {
    add(half, [&](Case& c) { c.blocks = 2, c.rows = rows, c.columns = 32; });
    add(half, [&](Case& c) { c.blocks = 2, c.rows = rows, c.columns = 32, c.a_is_here = true; });
    add({.kind = "mxf8f6f4", .a = "e4m3", .b = "e2m1", .scales = 1},
        [&](Case& c) { c.blocks = 2, c.rows = rows, c.columns = 32; });
    add({.kind = "i8", .a = "s8", .b = "u8", .d = "s32"},
        [&](Case& c) { c.blocks = 2, c.rows = rows, c.columns = 64; });
  }
  add(half, [](Case& c) {
    c.blocks = 2, c.rows = 256, c.columns = 32;
    c.disabled = {1u, 2u, 3u, 4u, 5u, 6u, 7u, 0xf0u};
  });
  for (const char* type : {"e4m3", "e2m3", "e2m1"}) {
    add({.kind = "f8f6f4", .a = type, .b = "e5m2"}, [](Case& c) { c.a_is_here = true; });
    add({.kind = "mxf8f6f4", .a = type, .b = "e5m2", .scales = 1},
        [](Case& c) { c.a_is_here = true, c.scale_a_id = 3, c.scale_b_id = 2, c.columns = 72; });
  }
  add({.kind = "f8f6f4", .a = "e4m3", .b = "e5m2"},
      [](Case& c) { c.a_across = c.b_across = true; });
  add({.kind = "i8", .a = "s8", .b = "s8", .d = "s32"},
      [](Case& c) { c.a_across = c.b_across = true; });
  const Case four{
      .kind = "mxf4nvf4", .a = "e2m1", .b = "e2m1", .columns = 136, .depth = 64, .scales = 2};
  add(four, [](Case& c) { c.scale_a_id = 2; });
  add(four, [](Case& c) { c.scale_b_id = 2, c.a_is_here = true; });
  add(four, [](Case& c) { c.scales = 4, c.has_e4m3_scales = true, c.a_is_here = true; });
  return all;
}

std::vector<Case> sparse_cases() {
  std::vector<Case> all;
  const auto add = [&](Case c) {
    c.is_sparse = true;
    c.depth *= 2;
    all.push_back(c);
    c.is_small = true;
    all.push_back(c);
  };
  const Case half{.kind = "f16", .a = "f16", .b = "f16", .depth = 16};
  add(half);
  add({.kind = "tf32", .a = "tf32", .b = "tf32", .depth = 8});
  add({.kind = "f8f6f4", .a = "e4m3", .b = "e2m1"});
  add({.kind = "f8f6f4", .a = "e2m3", .b = "e5m2", .a_is_here = true});
  add({.kind = "mxf8f6f4", .a = "e5m2", .b = "e4m3", .scales = 1});
  add({.kind = "mxf4", .a = "e2m1", .b = "e2m1", .depth = 64, .scales = 2});
  add({.kind = "mxf4nvf4",
       .a = "e2m1",
       .b = "e2m1",
       .depth = 64,
       .scales = 4,
       .has_e4m3_scales = true});
  add({.kind = "i8", .a = "s8", .b = "u8", .d = "s32"});
  Case c = half;
  c.a_is_here = true;
  c.rows = 64;
  add(c);
  c = half;
  c.blocks = 2, c.rows = 256, c.columns = 32;
  add(c);
  c.rows = 128;
  add(c);
  for (const std::uint32_t rows : {32u, 64u, 128u}) {
    c = half;
    c.by_columns = true, c.rows = rows, c.columns = 64;
    add(c);
  }
  c = half;
  c.selector = 1;
  add(c);
  add({.kind = "tf32", .a = "tf32", .b = "tf32", .depth = 8, .selector = 1});
  return all;
}

// The examples 2, 3 and 4 of 9.7.16.4.3, the first column first, and rows that are shifted.
std::vector<Case> column_cases() {
  const Case half{
      .kind = "f16", .a = "f16", .b = "f16", .columns = 64, .depth = 16, .by_columns = true};
  std::vector<Case> all;
  Case c = half;
  c.mask = "0x0003028000000000";
  c.zero_columns =
      "00001110000111000011100001110000"
      "11100001110000111000011100001110";
  all.push_back(c);
  c = half;
  c.rows = 64;
  c.mask = "0x0003028100000000";
  c.zero_columns =
      "11100001110000111000011100001110"
      "00001110000111000011100001110000";
  all.push_back(c);
  c = half;
  c.rows = 32;
  c.mask = "0x0203028301020100";
  c.shift = 2;
  c.zero_columns =
      "1110000111000011"
      "1100001110000111"
      "0011100001110000"
      "0001110000111000";
  all.push_back(c);
  c = {.kind = "f16", .a = "f16", .b = "f16", .depth = 16, .a_is_here = true};
  c.shifts_a = true;
  all.push_back(c);
  c.blocks = 2, c.rows = 256, c.columns = 32;
  c.collector = ".collector::a::lastuse";
  all.push_back(c);
  return all;
}

INSTANTIATE_TEST_SUITE_P(Sparse, Products, testing::ValuesIn(sparse_cases()));
INSTANTIATE_TEST_SUITE_P(Columns, Products, testing::ValuesIn(column_cases()));
INSTANTIATE_TEST_SUITE_P(Dense, Products, testing::ValuesIn(dense_cases()));
INSTANTIATE_TEST_SUITE_P(Forms, Products, testing::ValuesIn(form_cases()));

}  // namespace
}  // namespace warpcheck::vgpu
