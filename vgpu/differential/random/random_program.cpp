#include "vgpu/differential/random/random_program.hpp"

#include <fmt/format.h>

#include <charconv>
#include <stdexcept>

#include "vgpu/conformance/kernel_text.hpp"
#include "vgpu/differential/random/generator.hpp"

namespace warpcheck::vgpu {
namespace {

constexpr std::string_view kFirstLine = "// threads: ";
constexpr unsigned kWords = 8, kWides = 4, kHalves = 4, kPredicates = 4;

constexpr std::uint32_t kSeeds[] = {
    0,          1,          0xffffffff, 0x80000000, 0x7fffffff, 0x3f800000, 0x7f800000, 0x7fc00001,
    0x00000001, 0xff7fffff, 0x4b000001, 0x00010000, 0x3c003c01, 0x7bff0001, 0xfc008001, 0x3f80bf80};

}  // namespace

Generator::Generator(std::uint64_t seed, const ProgramOptions& options)
    : prng_(seed), options_(options) {
  constexpr std::uint32_t kThreads[] = {32, 45, 64, 77, 96, 128};
  threads_ = kThreads[prng_.below(std::size(kThreads))];
  functions_ = prng_.one_in(2) ? 0 : 1 + static_cast<unsigned>(prng_.below(3));
  matrices_left_ = options.matrices && threads_ % 32 == 0 ? 2 : 0;
}

std::string Generator::run() {
  std::string text = head();
  for (unsigned i = 0; i < functions_; ++i) text += function(i);
  return text + kernel();
}

std::string Generator::head() {
  std::string text =
      fmt::format("{}{}\n{}", kFirstLine, threads_, conformance::module_head(options_.target));
  for (unsigned i = 0; i < functions_; ++i) {
    text += fmt::format(
        ".func (.param .b32 r) f{}(.param .b32 depth, .param .b32 x, .param .b64 y);\n", i);
  }
  if (functions_ > 0) {
    text += fmt::format(".global .align 8 .u64 table[2] = {{f0, f{}}};\n", functions_ - 1);
  }
  text += ".global .align 8 .u64 none;\n";  // zero, which only the program knows
  text += ".const .align 16 .b8 fixed[64] = {";
  for (unsigned i = 0; i < 64; ++i)
    text += fmt::format("{}{}", i == 0 ? "" : ",", prng_.below(256));
  return text + "};\n";
}

std::string Generator::declarations() const {
  return fmt::format(
      ".reg .pred %p<{}>, %t<1>;\n.reg .b16 %h<{}>;\n.reg .b32 %r<{}>, %u<2>, %self, %warp;\n"
      ".reg .b64 %d<{}>, %local, %mine, %slot, %cells;\n.reg .b16 %none2;\n.reg .b32 %none4;\n"
      ".reg .b64 %none8;\n.local .align 16 .b8 here[{}];\n",
      kPredicates, kHalves, kWords, kWides, kLocalBytes);
}

// Gives registers and local memory values that depend on the thread and on the inputs: %r0, %r1 and
// %d0.
std::string Generator::beginning() {
  std::string text;
  for (unsigned i = 2; i < kWords; ++i) {
    text += fmt::format("mad.lo.u32 %r{}, %r{}, {}, {};\n", i, i - 2, prng_.next() & 0xffff,
                        kSeeds[prng_.below(std::size(kSeeds))]);
  }
  for (unsigned i = 1; i < kWides; ++i) {
    text += fmt::format("mul.wide.u32 %d{0}, %r{1}, {2};\nxor.b64 %d0, %d0, %d{0};\n", i, i + 2,
                        prng_.next() >> 33);
  }
  for (unsigned i = 0; i < kHalves; ++i) {
    text +=
        fmt::format("shr.u32 %u1, %r{}, {};\ncvt.u16.u32 %h{}, %u1;\n", i + 4, prng_.below(17), i);
  }
  for (unsigned i = 0; i < kPredicates; ++i) {
    text += fmt::format("setp.gt.u32 %p{}, %r{}, {};\n", i, i + 2, prng_.next() >> 32);
  }
  text +=
      "ld.volatile.global.u64 %none8, [none];\ncvt.u32.u64 %none4, %none8;\n"
      "cvt.u16.u64 %none2, %none8;\nmov.u64 %local, here;\n";
  for (unsigned i = 0; i < kLocalBytes / 4; ++i) {
    text += fmt::format("st.local.u32 [%local+{}], %r{};\n", i * 4, i % kWords);
  }
  return text;
}

std::string Generator::function(unsigned index) {
  calls_left_ = 2;
  const std::string code = statements({.budget = 3});
  return fmt::format(
      ".func (.param .b32 r) f{}(.param .b32 depth, .param .b32 x, .param .b64 y)\n{{\n{}"
      "ld.param.b32 %u0, [depth];\nld.param.b32 %r0, [x];\nld.param.b64 %d0, [y];\n"
      "mov.u32 %r1, {};\nst.param.b32 [r], %r0;\nsetp.eq.u32 %t0, %u0, 0;\n@%t0 ret;\n"
      "sub.u32 %u0, %u0, 1;\n{}{}{}st.param.b32 [r], %u1;\nret;\n}}\n",
      index, declarations(), index * 77 + 5, beginning(), code, folded());
}

std::string Generator::kernel() {
  std::string text = ".visible .entry k(.param .u64 out)\n{\n" + declarations() +
                     fmt::format(".shared .align 16 .b8 slots[{}];\n", threads_ * kPrivateBytes) +
                     "mov.u32 %self, %tid.x;\nmov.u32 %r0, %self;\nmov.u32 %u0, 2;\n"
                     "mul.lo.u32 %r1, %r0, 0x9e3779b9;\ncvt.u64.u32 %d0, %r1;\n" +
                     beginning();
  text += fmt::format(
      "ld.param.u64 %mine, [out];\nmad.wide.u32 %mine, %self, {}, %mine;\nadd.u64 %mine, %mine, "
      "{};\nld.param.u64 %cells, [out];\nadd.u64 %cells, %cells, {};\n"
      "mov.u64 %slot, slots;\nmad.wide.u32 %slot, %self, {}, %slot;\n",
      kPrivateBytes, threads_ * kOutputBytes, threads_ * (kOutputBytes + kPrivateBytes),
      kPrivateBytes);
  for (unsigned i = 0; i < kPrivateBytes / 8; ++i) {
    text += fmt::format("st.shared.u64 [%slot+{}], %d{};\n", i * 8, i % kWides);
  }
  // The existing lanes of this warp.
  text += fmt::format(
      "and.b32 %warp, %self, 0xffffffe0;\nsub.u32 %warp, {}, %warp;\nmin.u32 %warp, %warp, 32;\n"
      "sub.u32 %warp, 32, %warp;\nshr.u32 %warp, 0xffffffff, %warp;\n",
      threads_);
  text += statements({.in_kernel = true,
                      .uniform = true,
                      .lanes = "%warp",
                      .budget = 1 + static_cast<unsigned>(prng_.below(8))});
  // Some threads exit early, if no later operation waits for them.
  if (prng_.one_in(4)) {
    text += fmt::format("//+\n{}exit;\n//-\n", guard(1));
    text += statements({.in_kernel = true, .budget = 4});
  }
  return text + results() + "ret;\n}\n";
}

std::string Generator::results() const {
  std::string text = fmt::format(
      "{{\n.reg .b64 at;\n.reg .b32 t, all;\nld.param.u64 at, [out];\nmad.wide.u32 at, %self, {}, "
      "at;\nmov.u32 all, 0;\n",
      kOutputBytes);
  unsigned offset = 0;
  for (unsigned i = 0; i < kWords; ++i, offset += 4) {
    text += fmt::format("st.global.u32 [at+{}], %r{};\n", offset, i);
  }
  for (unsigned i = 0; i < kWides; ++i, offset += 8) {
    text += fmt::format("st.global.u64 [at+{}], %d{};\n", offset, i);
  }
  for (unsigned i = 0; i < kHalves; ++i, offset += 2) {
    text += fmt::format("st.global.u16 [at+{}], %h{};\n", offset, i);
  }
  for (unsigned i = 0; i < kPredicates; ++i) {
    text += fmt::format("selp.u32 t, {}, 0, %p{};\nor.b32 all, all, t;\n", 1u << i, i);
  }
  return text + fmt::format("st.global.u32 [at+{}], all;\n}}\n", offset);
}

// Combines all registers in %u1.
std::string Generator::folded() {
  std::string text = "cvt.u32.u64 %u1, %d0;\n";
  for (unsigned i = 0; i < kWords; ++i) {
    text += fmt::format("mad.lo.u32 %u1, %u1, 31, %r{};\n", i);
  }
  return text;
}

std::string Generator::state(std::size_t bytes) {
  switch (bytes) {
    case 1: return fmt::format("%p{}", prng_.below(kPredicates));
    case 2: return fmt::format("%h{}", prng_.below(kHalves));
    case 4: return fmt::format("%r{}", prng_.below(kWords));
    default: return fmt::format("%d{}", prng_.below(kWides));
  }
}

std::string Generator::guard(unsigned rarity) {
  if (!prng_.one_in(rarity)) return {};
  return fmt::format("@{}{} ", prng_.one_in(2) ? "!" : "", predicate());
}

std::string random_program(std::uint64_t seed, const ProgramOptions& options) {
  return Generator(seed, options).run();
}

std::uint32_t threads_of(std::string_view text) {
  std::uint32_t threads = 0;
  if (text.starts_with(kFirstLine)) {
    text.remove_prefix(kFirstLine.size());
    std::from_chars(text.data(), text.data() + text.size(), threads);
  }
  if (threads == 0) {
    throw std::runtime_error(fmt::format("expected '{}N' in the first line", kFirstLine));
  }
  return threads;
}

}  // namespace warpcheck::vgpu
