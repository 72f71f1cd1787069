#include "cli/kernel/conditions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

#include "cli/kernel/kernel_code.hpp"

namespace warpcheck {
namespace {

bool is_of_two_stores(const vgpu::Finding& finding) {
  if (finding.severity != vgpu::Severity::error) return true;
  return finding.kind == vgpu::FindingKind::data_race && finding.space == "global" &&
         finding.accesses.size() == 2 &&
         std::ranges::all_of(finding.accesses,
                             [](const vgpu::AccessSide& side) { return side.role == "write"; });
}

constexpr std::int64_t kThreadsOfBlockMax = 1024;  // of a block

std::string block_text(std::int64_t x, std::int64_t y) {
  return y == 1 ? std::to_string(x) : fmt::format("{},{}", x, y);
}

}  // namespace

std::vector<std::string> indices_that_may_differ(const CompiledKernels& compiled,
                                                 const AssumedKernel& kernel,
                                                 const std::vector<Report>& failures) {
  const bool are_stores = std::ranges::all_of(failures, [](const Report& failure) {
    return failure.verdict.refusals.empty() &&
           std::ranges::all_of(failure.verdict.findings, is_of_two_stores);
  });
  if (failures.empty() || !are_stores) return {};
  std::vector<std::string> names;
  const KernelDescription& description = kernel.assumptions.kernel;
  for (const ArrayParameter& array : description.arrays) {
    if (array.order == ArrayParameter::Order::ascending) return {};
    const bool may_differ = array.values && array.values->high > 0 &&
                            array.order == ArrayParameter::Order::any &&
                            array.columns.size() == 1 && !kernel.is_range_given(array.name);
    if (may_differ &&
        elements_are_indices_of_stores(compiled.module, description.mangled, array.place)) {
      names.push_back(array.name);
    }
  }
  return names;
}

std::vector<std::string> blocks_of_constants(const CompiledKernels& compiled,
                                             const AssumedKernel& kernel) {
  const KernelDescription& description = kernel.assumptions.kernel;
  const ptx::Function& function = *compiled.module.find_function(description.mangled);
  const int dims = description.launch.block_dims;
  if (kernel.is_block_given || function.required_threads[0] != 0 || dims < 1 || dims > 2) return {};
  const std::array<std::int64_t, 3> constants =
      constants_of_blocks(compiled.module, description.mangled);
  const std::int64_t x = constants[0];
  if (x == 0) return {};
  // Rows of a tile are often taken by fewer threads than there are, in a loop.
  const std::vector<std::int64_t> rows =
      dims == 1 ? std::vector<std::int64_t>{1} : std::vector<std::int64_t>{8, constants[1], 4, 16};
  const std::int64_t threads_max =
      function.max_threads == 0 ? kThreadsOfBlockMax : std::int64_t{function.max_threads};
  const auto nothing = [](std::string_view) { return std::nullopt; };
  const auto& assumed = description.launch.block;
  const std::string known = assumed[0] && assumed[1]
                                ? block_text(assumed[0]->value(nothing).value_or(0),
                                             assumed[1]->value(nothing).value_or(0))
                                : "";
  std::vector<std::string> blocks;
  for (const std::int64_t y : rows) {
    if (y == 0 || x * y > threads_max) continue;
    std::string block = block_text(x, y);
    if (block != known && std::ranges::find(blocks, block) == blocks.end())
      blocks.push_back(std::move(block));
  }
  return blocks;
}

}  // namespace warpcheck
