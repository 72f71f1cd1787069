#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include "vgpu/differential/compare.hpp"
#include "vgpu/differential/coverage.hpp"
#include "vgpu/differential/random/random_program.hpp"
#include "vgpu/program/program.hpp"
#include "vgpu/ptx/shrink.hpp"

namespace warpcheck::vgpu {
namespace {

Comparison compared(std::uint64_t seed, const ProgramOptions& options) {
  return compare(random_program(seed, options), "seed-" + std::to_string(seed), {});
}

TEST(Differential, TheMachineAgreesWithTheReference) {
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    const Comparison found = compared(seed, {.known = true});
    EXPECT_EQ(found.difference, "");
    EXPECT_EQ(found.unknown, "");
  }
}

TEST(Differential, TheMachineAgreesWithItselfOnAllForms) {
  for (std::uint64_t seed = 0; seed < 150; ++seed) EXPECT_EQ(compared(seed, {}).difference, "");
}

// Checks that random programs use all features that they are made for; otherwise the comparison
// shows little.
TEST(Differential, ProgramsUseWhatTheyAreMadeFor) {
  std::set<InstrKind> kinds;
  bool recursion = false;
  FormCoverage coverage({});
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    const std::string text = random_program(seed);
    coverage.add(text);
    const Program program = decode(ptx::parse(text, "random"), "k");
    recursion |= program.dynamic_stack;
    for (const Instr& instr : program.code) kinds.insert(instr.kind);
  }
  EXPECT_TRUE(recursion);
  for (const InstrKind kind :
       {InstrKind::branch, InstrKind::jump, InstrKind::jump_table, InstrKind::call,
        InstrKind::call_register, InstrKind::ret, InstrKind::exit, InstrKind::load,
        InstrKind::store, InstrKind::atomic, InstrKind::compute, InstrKind::warp_sync,
        InstrKind::barrier}) {
    EXPECT_TRUE(kinds.contains(kind)) << static_cast<int>(kind);
  }
  EXPECT_GT(coverage.count(), 1200u);
}

TEST(Differential, ProgramsHoldSequencesAndChainsOfCarries) {
  std::string all;
  for (std::uint64_t seed = 0; seed < 150; ++seed) all += random_program(seed);
  std::size_t carries = 0;
  for (std::size_t at = all.find(".cc."); at != std::string::npos; at = all.find(".cc.", at + 1)) {
    ++carries;
  }
  EXPECT_GT(carries, 300u);
  EXPECT_NE(all.find("mul.rn.f32 p"), std::string::npos) << "floats without error";
  EXPECT_NE(all.find("mov.b32 {p, q}, %r"), std::string::npos) << "halves of words";
}

// The assembler of CUDA 13.0 reads c after it has written parts of the result.
TEST(Differential, ProductsOfByteFloatsDoNotOverwriteTheirSources) {
  std::size_t products = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    const std::string text = random_program(seed);
    for (std::size_t at = text.find("mma.sync"); at != std::string::npos;
         at = text.find("mma.sync", at + 1)) {
      const std::string line = text.substr(at, text.find(';', at) - at);
      if (line.find("e4m3") == std::string::npos && line.find("e5m2") == std::string::npos)
        continue;
      ++products;
      EXPECT_EQ(line.find('%', line.find('}')), std::string::npos) << line;
    }
  }
  EXPECT_GT(products, 0u);
}

TEST(Differential, ASeedGivesOneProgram) {
  EXPECT_EQ(random_program(7), random_program(7));
  EXPECT_NE(random_program(7), random_program(8));
}

TEST(Differential, AFileSaysForHowManyThreads) {
  EXPECT_EQ(threads_of("// threads: 45\n.version 8.3\n"), 45u);
  EXPECT_THROW(threads_of(".version 8.3\n"), std::runtime_error);
}

// Tests the comparison itself: all threads store to one place.
TEST(Differential, ADifferenceIsFoundAndNamed) {
  std::string text = random_program(1, {.known = true});
  const std::size_t at = text.find("ret;\n}\n", text.find(".visible .entry k"));
  text.insert(at, "ld.param.u64 %d0, [out];\nst.global.u32 [%d0+4], %self;\n");
  const std::string found = compare(text, "edited", {}).difference;
  EXPECT_TRUE(found.starts_with("edited: the checked machine: data-race on allocation") ||
              found.find("by a random schedule") != std::string::npos)
      << found;
}

std::size_t lines_of(std::string_view text) {
  std::size_t lines = 0;
  for (const char c : text) lines += c == '\n' ? 1 : 0;
  return lines;
}

// After any shrinking, the rest of a program is still a valid program on which the engines agree,
// or it is refused because something is missing.
TEST(Differential, WhatIsLeftOfAProgramIsOne) {
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    const std::string whole = random_program(seed, {.known = true});
    const std::string small = ptx::shrink(whole, 150, [&](const std::string& text) {
      const Comparison found = compare(text, "smaller", {});
      const bool is_program = found.parties != "an error of the text";
      EXPECT_TRUE(!is_program || found.difference.empty()) << found.difference;
      return is_program;
    });
    EXPECT_LT(lines_of(small), lines_of(whole));
  }
}

TEST(Shrink, KeepsWhatShows) {
  const std::string text = "a\n//+\nb\n//+\nc\n//-\nd\n//-\n//+\ne\n//-\nf\n";
  const auto holds = [](std::string_view line) {
    return [line](const std::string& t) { return t.find(line) != std::string::npos; };
  };
  EXPECT_EQ(ptx::shrink(text, 100, holds("c")), "a\n//+\nc\n//-\nf\n");
  EXPECT_EQ(ptx::shrink(text, 100, holds("e")), "a\n//+\ne\n//-\nf\n");
  EXPECT_EQ(ptx::shrink(text, 100, holds("d")), "a\n//+\nb\nd\n//-\nf\n");
  EXPECT_EQ(ptx::shrink(text, 0, holds("a")), text);
}

}  // namespace
}  // namespace warpcheck::vgpu
