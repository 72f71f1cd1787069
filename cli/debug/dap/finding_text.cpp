#include "cli/debug/dap/finding_text.hpp"

#include <fmt/format.h>

#include "cli/debug/dap/thread_requests.hpp"
#include "vgpu/check/finding_groups.hpp"

namespace warpcheck::dap {
namespace {

bool is_of_host(const vgpu::AccessSide& side) { return side.ptx.empty() && side.instruction == 0; }

std::string side_text(const vgpu::AccessSide& side) {
  std::string text = side.role;
  if (!is_of_host(side)) text += " by " + thread_name({side.block, side.thread});
  if (!side.file.empty()) text += fmt::format(", {}:{}", side.file, side.line);
  if (!side.ptx.empty()) text += ", " + side.ptx;
  return text;
}

}  // namespace

std::vector<std::string> finding_lines(const debug::FoundFinding& found) {
  std::vector<std::string> lines;
  const auto& sides = found.finding.accesses;
  for (std::size_t i = 0; i < sides.size(); ++i) {
    std::string line = fmt::format("({}) {}", i + 1, side_text(sides[i]));
    if (i < found.side_positions.size() && found.side_positions[i] != 0) {
      line += fmt::format(", position {}", found.side_positions[i]);
    }
    lines.push_back(std::move(line));
  }
  if (!found.finding.message.empty()) lines.push_back(found.finding.message);
  if (!found.finding.cause.empty()) lines.push_back(found.finding.cause);
  return lines;
}

std::string finding_text(const debug::FoundFinding& found) {
  std::string text = vgpu::headline_of(found.finding);
  for (const std::string& line : finding_lines(found)) text += "\n  " + line;
  return text;
}

}  // namespace warpcheck::dap
