// The settings of a case, and their names in case files, reports and options.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "vgpu/check/checker_set.hpp"
#include "vgpu/cudart/device/build.hpp"
#include "vgpu/machine/limits.hpp"
#include "vgpu/schedule/schedule.hpp"

namespace warpcheck::ptx {
struct ProgramEdit;
}

namespace warpcheck {

struct Settings {
  cudart::Build build = cudart::Build::optimized;
  vgpu::WarpModel warp_model = vgpu::WarpModel::independent;
  vgpu::CheckerSet checkers{};
  // More steps than any case needs, and few enough that a hang costs about a second.
  vgpu::Limits limits{.steps_max = 20'000'000};
  // Changes of the device code, for an experiment (ptx/edit/program_edit.hpp); null: none.
  std::shared_ptr<const std::vector<ptx::ProgramEdit>> edits{};
};

inline constexpr std::array<std::pair<cudart::Build, std::string_view>, 2> kBuildNames{{
    {cudart::Build::optimized, "optimized"},
    {cudart::Build::unoptimized, "unoptimized"},
}};
inline constexpr std::array<std::pair<vgpu::WarpModel, std::string_view>, 2> kWarpModelNames{{
    {vgpu::WarpModel::independent, "independent"},
    {vgpu::WarpModel::lockstep, "lockstep"},
}};
inline constexpr auto kCheckerNames = [] {
  std::array<std::pair<bool vgpu::CheckerSet::*, std::string_view>, vgpu::kCheckers.size()> names;
  for (std::size_t i = 0; i < names.size(); ++i) {
    names[i] = {vgpu::kCheckers[i].enabled, vgpu::kCheckers[i].name};
  }
  return names;
}();

// Values of CheckerSet::volatile_is_weak.
inline constexpr std::array<std::pair<bool, std::string_view>, 2> kVolatileNames{{
    {false, "strong"},
    {true, "weak"},
}};

std::string_view name_of(cudart::Build build);
std::string_view name_of(vgpu::WarpModel model);

bool same_edits(const Settings& a, const Settings& b);

// Whether two cases with these settings run the same trial.
bool same_settings(const Settings& a, const Settings& b);

// The settings that differ from the default, for a report: "warp model lockstep; build
// unoptimized"; empty if none differ.
std::string settings_summary(const Settings& settings);

}  // namespace warpcheck
