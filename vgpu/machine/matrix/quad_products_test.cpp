// mma.m8n8k4 of f16 against the layouts as the ISA words them (PTX ISA 9.0, 9.7.14.5.1), for every
// order of a and b and every type of the sums.  All sums are small integers, which are exact.
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
  Program program = decode(
      ptx::parse(
          ".version 9.0\n.target sm_75\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n"
          ".reg .b32 %r<9>;\n.reg .f32 %f<9>;\n.reg .b16 %h<2>;\n.reg .b64 %data, %own;\n"
          "ld.param.u64 %data, [p];\nmov.u32 %r0, %tid.x;\nmul.wide.u32 %own, %r0, 32;\n"
          "add.u64 %data, %data, %own;\n" +
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
  std::vector<std::int32_t> results(words.size());
  std::memcpy(results.data(), data->data, results.size() * 4);
  return results;
}

class QuadProducts : public testing::TestWithParam<std::tuple<bool, bool, int>> {};

TEST_P(QuadProducts, HaveTheElementsOfTheirQuadPair) {
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

INSTANTIATE_TEST_SUITE_P(Layouts, QuadProducts,
                         testing::Combine(testing::Bool(), testing::Bool(), testing::Range(0, 3)));

}  // namespace
}  // namespace warpcheck::vgpu
