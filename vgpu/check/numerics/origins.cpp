#include "vgpu/check/numerics/origins.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace warpcheck::vgpu {

void ValueOrigins::reset() {
  launch_ = 0;
  origins_.clear();
  nodes_.assign(1, {});  // tag 0 is no node
  made_.clear();
  stores_.clear();
}

Tag ValueOrigins::add(Made made, const Program& program, std::uint32_t pc, std::string what,
                      const Reporter& reporter, ThreadId who) {
  ValueOrigin origin;
  origin.made = made;
  origin.program = &program;
  origin.pc = pc;
  origin.what = std::move(what);
  origin.a = program.code[pc][ComputeOperand::a];
  origin.b = program.code[pc][ComputeOperand::b];
  origin.kernel = kernel_name(program.kernel);
  origin.side = reporter.side("compute", program, pc, who);
  nodes_.push_back(
      {.origin = origins_.size(), .launch = launch_, .kernel = origin.kernel, .side = {}});
  origins_.push_back(std::move(origin));
  return static_cast<Tag>(nodes_.size() - 1);
}

Tag ValueOrigins::stored(Tag tag, const Access& access, unsigned lane, std::uint32_t offset,
                         const Reporter& reporter) {
  // What one launch stores and reads again is one step of the way.
  if (nodes_[tag].parent != 0 && nodes_[tag].launch == launch_) tag = nodes_[tag].parent;
  Tag& known = stores_[{tag, launch_, access.pc}];
  if (known != 0) return known;
  const Program& program = *access.program;
  Node node{.origin = nodes_[tag].origin,
            .parent = tag,
            .launch = launch_,
            .element_bytes = std::max<std::uint32_t>(access.element_bytes, 1),
            .kernel = kernel_name(program.kernel),
            .side = reporter.side(role_name(access.kind), program, access.pc,
                                  thread_of(access.place, lane))};
  ValueOrigin& origin = origins_[node.origin];
  if (origin.stored.empty()) {
    origin.stored = describe(*access.allocation, offset, node.element_bytes);
    origin.stored_by = node.side;
  }
  nodes_.push_back(std::move(node));
  known = static_cast<Tag>(nodes_.size() - 1);
  return known;
}

std::string ValueOrigins::way_of(Tag tag) const {
  std::vector<std::string> kernels;
  for (std::uint32_t launch = ptx::kNone; tag != 0; tag = nodes_[tag].parent) {
    if (nodes_[tag].launch == launch) continue;
    launch = nodes_[tag].launch;
    kernels.push_back(short_kernel_name(nodes_[tag].kernel));
  }
  if (kernels.size() < 2) return {};
  std::ranges::reverse(kernels);
  constexpr std::size_t kShownMax = 4;
  const std::size_t count = kernels.size();
  if (count > kShownMax) {
    kernels.erase(kernels.begin() + 2, kernels.end() - 2);
    kernels.insert(kernels.begin() + 2, "...");
  }
  return fmt::format("through {} kernels ({})", count, fmt::join(kernels, ", "));
}

}  // namespace warpcheck::vgpu
