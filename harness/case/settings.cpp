#include "harness/case/settings.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "vgpu/ptx/edit/program_edit.hpp"

namespace warpcheck {

std::string_view name_of(cudart::Build build) {
  return std::ranges::find(kBuildNames, build, &decltype(kBuildNames)::value_type::first)->second;
}

std::string_view name_of(vgpu::WarpModel model) {
  return std::ranges::find(kWarpModelNames, model, &decltype(kWarpModelNames)::value_type::first)
      ->second;
}

bool same_edits(const Settings& a, const Settings& b) {
  if (a.edits == b.edits) return true;
  return a.edits != nullptr && b.edits != nullptr && *a.edits == *b.edits;
}

bool same_settings(const Settings& a, const Settings& b) {
  return a.build == b.build && a.warp_model == b.warp_model &&
         a.checkers.volatile_is_weak == b.checkers.volatile_is_weak &&
         std::ranges::all_of(
             kCheckerNames,
             [&](const auto& row) { return a.checkers.*row.first == b.checkers.*row.first; }) &&
         a.checkers.portable == b.checkers.portable && a.limits.steps_max == b.limits.steps_max &&
         a.limits.quantum == b.limits.quantum &&
         a.limits.resident_blocks == b.limits.resident_blocks && same_edits(a, b);
}

std::string settings_summary(const Settings& settings) {
  const Settings normal;
  std::vector<std::string> parts;
  if (settings.warp_model != normal.warp_model) {
    parts.push_back(fmt::format("warp model {}", name_of(settings.warp_model)));
  }
  if (settings.build != normal.build)
    parts.push_back(fmt::format("build {}", name_of(settings.build)));
  if (settings.checkers.volatile_is_weak) parts.emplace_back("volatile accesses weak");
  for (const auto& [checker, name] : kCheckerNames) {
    const bool is_on = settings.checkers.*checker;
    if (is_on == normal.checkers.*checker) continue;
    parts.push_back(fmt::format("checker {} {}", name, is_on ? "on" : "off"));
  }
  if (settings.checkers.portable) parts.emplace_back("portable");
  const auto limit = [&](std::string_view name, auto value, auto usual) {
    if (value != usual) parts.push_back(fmt::format("{} {}", name, value));
  };
  if (settings.limits.steps_max != vgpu::kNoLimit) {  // the usual one of `exec`
    limit("steps_max", settings.limits.steps_max, normal.limits.steps_max);
  }
  limit("quantum", settings.limits.quantum, normal.limits.quantum);
  limit("resident_blocks", settings.limits.resident_blocks, normal.limits.resident_blocks);
  if (settings.edits != nullptr) {
    for (const ptx::ProgramEdit& edit : *settings.edits) parts.push_back(ptx::describe(edit));
  }
  return fmt::format("{}", fmt::join(parts, "; "));
}

}  // namespace warpcheck
