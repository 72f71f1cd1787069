// mma.m8n8k4 of f16 against the layouts as the ISA words them (PTX ISA 9.0, 9.7.14.5.1), for every
// order of a and b and every type of the sums, with sums of small integers, which are exact; and
// the rounding of other sums.
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "vgpu/machine/machine.hpp"
#include "vgpu/machine/observer.hpp"
#include "vgpu/program/program.hpp"
#include "vgpu/ptx/module.hpp"
#include "vgpu/schedule/schedule.hpp"

namespace warpcheck::vgpu {
namespace {

constexpr int kLanes = 32, kWords = 8;  // of a lane: its elements, and its results

int a_at(int quad, int row, int k) { return (5 * quad + 3 * row + 2 * k) % 7 - 3; }
int b_at(int quad, int k, int column) { return (2 * quad + 4 * column + 3 * k) % 5 - 2; }
int c_at(int quad, int row, int column) { return (quad + row + 2 * column) % 3 - 1; }

// Returns the bits of a half.
std::uint32_t half_of(int x) {
  if (x == 0) return 0;
  const auto magnitude = static_cast<std::uint32_t>(std::abs(x));
  std::uint32_t exponent = 0;
  while (magnitude >> (exponent + 1) != 0) ++exponent;
  const std::uint32_t fraction = magnitude << 10 >> exponent & 0x3ff;
  return (x < 0 ? 0x8000u : 0u) | (exponent + 15) << 10 | fraction;
}

struct Place {
  int row, column;
};
// The i-th element of c or d.
Place sum_place(std::string_view type, int lane, int i) {
  const int upper = lane < 16 ? 0 : 4;
  if (type == "f16") return {lane % 4 + upper, i};
  return {(lane & 1) + (i & 2) + upper, (i & 4) + (lane & 2) + (i & 1)};
}

// Runs a kernel in which %data is the address of a lane's words, of which there are `words_a_lane`.
// Returns the words after it.
std::vector<std::uint32_t> run(const std::string& body, std::vector<std::uint32_t> words,
                               int words_a_lane) {
  Program program = decode(
      ptx::parse(
          ".version 9.0\n.target sm_75\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n"
          ".reg .b32 %r<40>;\n.reg .f32 %f<40>;\n.reg .b16 %h<2>;\n.reg .b64 %data, %own;\n"
          "ld.param.u64 %data, [p];\nmov.u32 %r0, %tid.x;\n" +
              fmt::format("mul.wide.u32 %own, %r0, {};\nadd.u64 %data, %data, %own;\n",
                          4 * words_a_lane) +
              body + "ret;\n}\n",
          "quads.ptx"),
      "k");
  link(program);
  DeviceMemory memory;
  Allocation* const data = memory.allocate(words.size() * 4);
  std::memcpy(data->data, words.data(), words.size() * 4);
  struct Fixed final : Strategy {
    std::uint64_t next_access(std::uint32_t, WarpId, std::uint64_t) override { return UINT64_MAX; }
    std::optional<Choice> decide(const SchedulePoint&) override { return std::nullopt; }
  } policy;
  Launch launch;
  launch.program = &program;
  launch.grid = {1, 1, 1};
  launch.block = {kLanes, 1, 1};
  launch.parameters = std::as_bytes(std::span(&data->address, 1));
  Machine machine(memory);
  const Outcome outcome =
      machine.run(launch, WarpModel::independent, policy, std::span<Observer* const>{}, Limits{});
  EXPECT_EQ(outcome.end, Outcome::End::completed);
  std::memcpy(words.data(), data->data, words.size() * 4);
  return words;
}

// Executes the instruction with two words of each of a and b, and four of c, for each lane.
// Returns eight integers of each lane.
std::vector<std::int32_t> products(const std::string& name, std::string_view d, std::string_view c,
                                   const std::vector<std::uint32_t>& words) {
  std::string body;
  for (int i = 0; i < kWords; ++i)
    body += fmt::format("ld.global.b32 %r{}, [%data+{}];\n", i, 4 * i);
  for (int i = 0; i < 4; ++i) {
    body +=
        fmt::format("mov.b32 {{%h0, %h1}}, %r{};\ncvt.f32.f16 %f{}, %h0;\ncvt.f32.f16 %f{}, %h1;\n",
                    4 + i, 2 * i, 2 * i + 1);
  }
  const std::string floats = "{%f0, %f1, %f2, %f3, %f4, %f5, %f6, %f7}";
  const std::string halves = "{%r4, %r5, %r6, %r7}";
  body += fmt::format("{} {}, {{%r0, %r1}}, {{%r2, %r3}}, {};\n", name,
                      d == "f32" ? floats : halves, c == "f32" ? floats : halves);
  for (int i = 0; d == "f16" && i < 4; ++i) {
    body +=
        fmt::format("mov.b32 {{%h0, %h1}}, %r{};\ncvt.f32.f16 %f{}, %h0;\ncvt.f32.f16 %f{}, %h1;\n",
                    4 + i, 2 * i, 2 * i + 1);
  }
  for (int i = 0; i < kWords; ++i) {
    body += fmt::format("cvt.rni.s32.f32 %r0, %f{};\nst.global.b32 [%data+{}], %r0;\n", i, 4 * i);
  }
  const std::vector<std::uint32_t> bits = run(body, words, kWords);
  std::vector<std::int32_t> results(bits.size());
  std::memcpy(results.data(), bits.data(), bits.size() * 4);
  return results;
}

class QuadLayouts : public testing::TestWithParam<std::tuple<bool, bool, int>> {};

TEST_P(QuadLayouts, HaveTheElementsOfTheirQuadPair) {
  const auto& [a_is_row, b_is_row, sums] = GetParam();
  const std::string d = sums == 0 ? "f16" : "f32", c = sums == 2 ? "f32" : "f16";
  std::vector<std::uint32_t> words;
  std::vector<std::int32_t> expected;
  for (int lane = 0; lane < kLanes; ++lane) {
    const int quad = lane / 4 % 4, upper = lane < 16 ? 0 : 4, in_quad = lane % 4;
    std::vector<std::uint32_t> halves;
    for (int i = 0; i < 4; ++i) {
      halves.push_back(
          half_of(a_is_row ? a_at(quad, in_quad + upper, i) : a_at(quad, i + upper, in_quad)));
    }
    for (int i = 0; i < 4; ++i) {
      halves.push_back(
          half_of(b_is_row ? b_at(quad, in_quad, i + upper) : b_at(quad, i, in_quad + upper)));
    }
    for (int i = 0; i < 8; ++i) {
      const auto [c_row, c_column] = sum_place(c, lane, i);
      halves.push_back(half_of(c_at(quad, c_row, c_column)));
      const auto [row, column] = sum_place(d, lane, i);
      int sum = c_at(quad, row, column);
      for (int k = 0; k < 4; ++k) sum += a_at(quad, row, k) * b_at(quad, k, column);
      expected.push_back(sum);
    }
    for (std::size_t i = 0; i < halves.size(); i += 2) {
      words.push_back(halves[i] | halves[i + 1] << 16);
    }
  }
  const std::string name = fmt::format("mma.sync.aligned.m8n8k4.{}.{}.{}.f16.f16.{}",
                                       a_is_row ? "row" : "col", b_is_row ? "row" : "col", d, c);
  EXPECT_EQ(products(name, d, c, words), expected) << name;
}

// The rounding, as an H200 does it: what lane 5 gets of sums of f32 with c of f32, of f16 with f16,
// and of f32 with f16.
struct RecordedQuads {
  std::string_view layout;
  std::array<std::uint32_t, 20> words;
};
constexpr RecordedQuads kRecordedQuads[] = {
    {"row.row", {0x40ee1da7, 0xc470e33b, 0xbdf3095c, 0xbd76d29e, 0x44388341, 0x441a176c, 0xbfe6372b,
                 0x3e81fab3, 0xe3814786, 0x54b75d29, 0x336761c4, 0xa7c355a7, 0x40f0c377, 0xc47025b8,
                 0xbe8d4c2f, 0xc1921dc7, 0x4438703c, 0x3e6cead0, 0x3fe22ef9, 0x3f88cb78}},
    {"row.col", {0xbd9adda8, 0x462f425b, 0xbde3a6ff, 0xbe65ebd6, 0x4224d3e2, 0x441a1059, 0xc0583fa8,
                 0xbe6c099f, 0x717a1f4b, 0xb7707223, 0x2fbc511d, 0x378345e3, 0x3be96720, 0x462f4e34,
                 0xbe897397, 0xc1936e35, 0x4223a396, 0x3df775ed, 0x3e3f36a0, 0x3f159730}},
    {"col.row", {0xbf4e308f, 0xc07e1df7, 0xc0813ae4, 0xc06ae4df, 0xbf6c22e4, 0x4417ac49, 0xc06e3a7a,
                 0x42574d29, 0xbc0ab9c8, 0x42becdd5, 0xc8b9bce1, 0x376df042, 0xbf39020c, 0xbf8135b0,
                 0xc0864381, 0xc1aefefa, 0xbf9c1afc, 0xc1171519, 0xbe207682, 0x425a8f8f}},
    {"col.col", {0xbf53693f, 0x42030b69, 0xbfbc3945, 0xc06b18f2, 0xbf73c740, 0x441a12ff, 0x40823be3,
                 0x42574d1e, 0x5077b9f2, 0xc90d5252, 0x3131bcff, 0x339dfc00, 0xbf3e3abc, 0x420ee39b,
                 0xbfd05bbb, 0xc1af057c, 0xbf9fed2a, 0x3e261ad0, 0x40f4556c, 0x425a8f84}},
};
constexpr int kInputs = 16, kRecordedLane = 5;

// Operands of a fixed generator: halves below 256.
std::uint32_t halves_of(std::uint32_t x) {
  x ^= x >> 16;
  x *= 0x7feb352d;
  x ^= x >> 15;
  x *= 0x846ca68b;
  x ^= x >> 16;
  if ((x & 0x7c00) >= 0x6000) x &= ~0x4000u;
  if ((x & 0x7c000000) >= 0x60000000) x &= ~0x40000000u;
  return x;
}

TEST(QuadProducts, AreRoundedAsOnAnH200) {
  for (const auto& [layout, recorded] : kRecordedQuads) {
    constexpr int kWordsALane = kInputs + 20;
    std::vector<std::uint32_t> words(kLanes * kWordsALane);
    for (int lane = 0; lane < kLanes; ++lane) {
      for (int i = 0; i < 12; ++i) {
        words[lane * kWordsALane + i] = halves_of(static_cast<std::uint32_t>(16 * lane + i));
      }
    }
    // %r0 - %r3: a and b; %r4 - %r11: c; the c of f32 are the lower halves of c times pi.
    std::string body = "add.u64 %own, %data, 64;\n";
    for (int i = 0; i < 12; ++i) {
      body += fmt::format("ld.global.b32 %r{}, [%data+{}];\n", i, 4 * i);
    }
    for (int i = 0; i < 8; ++i) {
      body += fmt::format(
          "mov.b32 {{%h0, %h1}}, %r{0};\ncvt.f32.f16 %f{1}, %h0;\n"
          "mul.rn.f32 %f{1}, %f{1}, 0f40490FDB;\n",
          4 + i, i);
    }
    const auto rows = [](char bank, int first, int count) {
      std::string text;
      for (int i = 0; i < count; ++i) {
        text += fmt::format("{}%{}{}", i == 0 ? "" : ", ", bank, first + i);
      }
      return text;
    };
    const auto product = [&, layout = layout](std::string_view d, std::string_view c,
                                              const std::string& to, const std::string& addend) {
      return fmt::format(
          "mma.sync.aligned.m8n8k4.{}.{}.f16.f16.{} {{{}}}, {{%r0, %r1}}, {{%r2, %r3}}, {{{}}};\n",
          layout, d, c, to, addend);
    };
    body += product("f32", "f32", rows('f', 8, 8), rows('f', 0, 8));
    body += product("f16", "f16", rows('r', 12, 4), rows('r', 4, 4));
    body += product("f32", "f16", rows('f', 16, 8), rows('r', 4, 4));
    for (int i = 0; i < 20; ++i) {
      const std::string from = i < 8    ? fmt::format("%f{}", 8 + i)
                               : i < 12 ? fmt::format("%r{}", 4 + i)
                                        : fmt::format("%f{}", 4 + i);
      body += fmt::format("st.global.b32 [%own+{}], {};\n", 4 * i, from);
    }
    const std::vector<std::uint32_t> results = run(body, words, kWordsALane);
    for (int i = 0; i < 20; ++i) {
      EXPECT_EQ(results[kRecordedLane * kWordsALane + kInputs + i], recorded[i]) << layout << i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Types, QuadLayouts,
                         testing::Combine(testing::Bool(), testing::Bool(), testing::Range(0, 3)));

}  // namespace
}  // namespace warpcheck::vgpu
