// Chains of instructions that pass the carry flag on, in any order and width.
#include <fmt/format.h>

#include "vgpu/differential/random/generator.hpp"

namespace warpcheck::vgpu {
namespace {

struct CarryStep {
  std::string_view name;
  unsigned sources;
};
constexpr CarryStep kFirst[] = {{"add", 2}, {"sub", 2}, {"mad.lo", 3}, {"mad.hi", 3}};
// madc.hi of 64 bits is left out: see is_changed_by_optimization().
constexpr CarryStep kNext[] = {{"addc", 2}, {"subc", 2}, {"madc.lo", 3}, {"madc.hi", 3}};

}  // namespace

std::string Generator::carry_chain() {
  constexpr std::string_view kWords[] = {"u32", "s32"}, kWides[] = {"u64", "s64"};
  std::string text = "{\n";
  const std::uint64_t steps = 2 + prng_.below(5);
  for (std::uint64_t at = 0; at < steps; ++at) {
    const std::uint64_t which = prng_.below(std::size(kFirst));
    const CarryStep step = at == 0 ? kFirst[which] : kNext[which];
    const bool is_wide = prng_.one_in(2) && step.name != "madc.hi";
    const bool is_last = at + 1 == steps;
    const std::string to = is_wide ? wide() : word();
    text += fmt::format("{}{}.{} {}", step.name, is_last ? "" : ".cc",
                        is_wide ? one_of(kWides) : one_of(kWords), to);
    for (unsigned i = 0; i < step.sources; ++i) {
      const bool is_literal = i > 0 && prng_.one_in(6);
      text += ", " + (is_literal ? fmt::format("{}", prng_.below(3)) : is_wide ? wide() : word());
    }
    text += ";\n";
  }
  return text + "}\n";
}

}  // namespace warpcheck::vgpu
