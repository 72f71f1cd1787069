// What the text of a litmus program expects; see litmus.hpp.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "vgpu/check/finding.hpp"
#include "vgpu/cudart/device/virtual_device.hpp"
#include "vgpu/schedule/schedule.hpp"

namespace warpcheck::litmus {

struct Expectation {
  vgpu::FindingKind kind = vgpu::FindingKind::data_race;
  std::string space;
  vgpu::Severity severity = vgpu::Severity::error;
  std::optional<vgpu::WarpModel> model;  // nothing: both
  std::optional<cudart::Build> build;    // nothing: both
};

// A role at a line; line 0 is the host.
using Mark = std::pair<std::uint32_t, std::string>;

struct Listing {
  std::string name;                       // the argument of its LITMUS
  std::vector<Expectation> expectations;  // empty: clean
  std::set<Mark> marks;
};

// Reads the programs of one source text.  Throws std::runtime_error, with the line, if the text
// violates the rules.
std::vector<Listing> read_listings(std::string_view text);

}  // namespace warpcheck::litmus
