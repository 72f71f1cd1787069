#include "vgpu/cudart/against/launch_comparison.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "vgpu/cudart/against/reproducer.hpp"
#include "vgpu/ptx/shrink.hpp"
#include "vgpu/text/counted.hpp"

namespace warpcheck::cudart {
namespace {

constexpr unsigned kFullOptimization = 4;
constexpr int kRepeats = 3;
constexpr std::size_t kShrinksMax = 400;
// An approximate instruction differs by few units in the last place (PTX ISA 9.7.3: 1 or 2 for most
// of them); what is computed of it, by more.
constexpr std::uint64_t kApproximateUlps = 64;

// Returns the mnemonics of instructions whose results the PTX ISA bounds but does not fix.
std::vector<std::string> approximate_instructions(const vgpu::Program& program) {
  std::set<std::string> found;
  for (const vgpu::Instr& instr : program.code) {
    if (!instr.modifiers.approx && !instr.modifiers.full) continue;
    found.insert(program.sources[instr.source].text);
  }
  return {found.begin(), found.end()};
}

std::string place_text(const MemoryImage& image, std::uint64_t offset, const Element& element) {
  const std::uint64_t index = offset / element.bytes;
  if (!image.variable.empty()) return fmt::format("{}[{}]", image.variable, index);
  return fmt::format("element {} of the allocation of {} at 0x{:x}", index,
                     counted(image.bytes.size(), "byte"), image.address);
}

}  // namespace

bool LaunchComparison::is_same_there(const LaunchImage& image, unsigned level,
                                     const std::vector<MemoryImage>& expected) {
  const LaunchResult there = target_.run(image, level);
  return there.problem.empty() && !find_difference(expected, there.memory, element_);
}

LaunchComparison::Origin LaunchComparison::origin_of(const LaunchImage& before,
                                                     const std::vector<MemoryImage>& left,
                                                     const LaunchResult& there,
                                                     const Difference& difference,
                                                     const LaunchFacts& facts) {
  for (int i = 0; i < kRepeats; ++i) {
    if (is_same_there(before, kFullOptimization, there.memory)) continue;
    return {.is_allowed = !facts.has_findings,
            .text = fmt::format("the device's own runs differ: the order of threads decides{}",
                                facts.order_source.empty() ? "" : ", " + facts.order_source)};
  }
  LaunchImage strict = before;
  strict.ptx = without_contraction(before.ptx);
  if (strict.ptx != before.ptx && is_same_there(strict, kFullOptimization, left)) {
    return {.is_allowed = true,
            .text =
                "the assembler fuses a multiplication and an addition, which PTX allows where "
                "they name no rounding; nvcc -fmad=false makes both results equal"};
  }
  std::vector<std::string> equal, unequal;
  for (unsigned level = 0; level < kFullOptimization; ++level) {
    (is_same_there(before, level, left) ? equal : unequal).push_back(fmt::format("-O{}", level));
  }
  if (!equal.empty()) {
    return {.is_assembler = true,
            .text = fmt::format("the assembler's optimisation changes the result: with {} the "
                                "device agrees with the virtual GPU",
                                fmt::join(equal, ", "))};
  }
  const std::vector<std::string> approximate = approximate_instructions(*facts.program);
  const std::string approximations = fmt::format("{}", fmt::join(approximate, ", "));
  if (!approximate.empty() && difference.ulps.value_or(UINT64_MAX) <= kApproximateUlps) {
    return {.is_allowed = true,
            .text = fmt::format("the results of {} are approximations", approximations)};
  }
  if (facts.has_findings) {
    return {.is_allowed = true,
            .text = "the kernel's result is not defined: see the findings of this launch"};
  }
  std::string text = "the device gives this result at every level of the assembler's optimisation";
  if (!approximate.empty() && difference.ulps) {
    text +=
        fmt::format("; the results of {} are approximations, but this differs by more than {} ulp",
                    approximations, kApproximateUlps);
  }
  return {.text = std::move(text)};
}

std::string LaunchComparison::shrink(const LaunchImage& before) {
  LaunchImage image = before;
  const auto shows = [&](const std::string& text) {
    image.ptx = without_marks(text);
    const auto left = here_.run(image.ptx);
    return left && is_same_there(image, 0, *left) &&
           !is_same_there(image, kFullOptimization, *left);
  };
  std::string small = marked_for_shrinking(before.ptx, before.kernel);
  if (!shows(small)) return before.ptx;
  small = without_marks(ptx::shrink(small, kShrinksMax, shows));
  // Each instruction that becomes a copy of an operand makes others superfluous.
  for (std::size_t tried = 0; tried < kShrinksMax;) {
    std::vector<std::string> copies = with_copies(small);
    const auto found = std::ranges::find_if(
        copies, [&](const std::string& text) { return ++tried <= kShrinksMax && shows(text); });
    if (found == copies.end()) break;
    small =
        without_marks(ptx::shrink(marked_for_shrinking(*found, before.kernel), kShrinksMax, shows));
  }
  return small;
}

LaunchComparison::Answer LaunchComparison::compare(const LaunchImage& before,
                                                   const std::vector<MemoryImage>& left,
                                                   const LaunchFacts& facts) {
  element_ = element_of(*facts.program);
  const LaunchResult there = target_.run(before, kFullOptimization);
  if (!there.problem.empty()) return {.not_compared = there.problem};
  const auto difference = find_difference(left, there.memory, element_);
  if (!difference) return {};

  const Origin origin = origin_of(before, left, there, *difference, facts);
  const MemoryImage& image = left[difference->image];
  const std::uint64_t offset = difference->offset;
  vgpu::Finding finding;
  finding.kind = vgpu::FindingKind::mismatch;
  finding.space = "global";
  finding.lack = vgpu::Lack::other_device;
  finding.severity = origin.is_allowed ? vgpu::Severity::note : vgpu::Severity::error;
  finding.kernel = vgpu::kernel_name(before.kernel);
  finding.object = place_text(image, offset, element_);
  if (auto side = here_.writer(image.address + offset))
    finding.accesses.push_back(std::move(*side));
  finding.message = fmt::format(
      "launch {}: {} here, {} on {}; {} {}{}; {}", facts.number,
      value_text(image, offset, element_),
      value_text(there.memory[difference->image], offset, element_), target_.name(),
      counted(difference->count, "element"), difference->count == 1 ? "differs" : "differ",
      difference->ulps ? fmt::format(", by at most {} ulp", *difference->ulps) : "", origin.text);
  Answer answer{.finding = std::move(finding), .not_compared = {}, .reproducer = {}};
  if (origin.is_assembler) answer.reproducer = shrink(before);
  return answer;
}

}  // namespace warpcheck::cudart
