#include "cli/all_sizes/suspect_runs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "cli/all_sizes/kernel_contract.hpp"
#include "harness/input/tape.hpp"
#include "vgpu/check/finding.hpp"

namespace warpcheck {
namespace {

using vgpu::symbolic::Suspect;

constexpr int kContents = 3;  // that are drawn for a suspected launch
// Elements of all arrays, and threads, of a case that is run whole.
constexpr std::uint64_t kElementsRun = 1 << 20;
constexpr std::uint64_t kThreadsRun = 1 << 18;
// Of all arrays of a sparse run: more than any device has, less than a host can map.
constexpr std::uint64_t kSparseBytes = std::uint64_t{1} << 42;
constexpr std::int64_t kJustBeyond[] = {(std::int64_t{1} << 31) + (1 << 20),
                                        (std::int64_t{1} << 32) + (1 << 20),
                                        (std::int64_t{1} << 34) + (1 << 20)};
// A condition like `n % 64 == 0` leaves out so many values in a row, at most.
constexpr std::int64_t kStepsToDomain = 256;

// Warp instructions of a sparse run: enough for thousands of blocks, and few where a loop goes
// through all numbers.
constexpr std::uint64_t kSparseSteps = 4'000'000;

// What a proof is about: sparse runs say nothing of results, of steps or of unwritten values.
bool is_refutation(const vgpu::Finding& finding) {
  using Kind = vgpu::FindingKind;
  return finding.severity == vgpu::Severity::error &&
         (finding.kind == Kind::data_race || finding.kind == Kind::out_of_bounds ||
          finding.kind == Kind::misaligned_access || finding.kind == Kind::barrier_divergence);
}

vgpu::CheckerSet only_checker_of(vgpu::FindingKind kind) {
  using vgpu::CheckerSet;
  CheckerSet checkers = vgpu::no_checkers();
  bool CheckerSet::*const by_kind[] = {
#define FINDING_KIND(enumerator, name, checker) checker,
#include "vgpu/check/finding_kinds.def"
#undef FINDING_KIND
  };
  if (const auto checker = by_kind[static_cast<std::size_t>(kind)]) checkers.*checker = true;
  return checkers;
}

KernelInput shape_of(const KernelDescription& kernel, const Suspect& suspect) {
  KernelInput input;
  for (const ScalarParameter& scalar : kernel.scalars) {
    const auto known = suspect.scalars.find(scalar.name);
    const std::int64_t value = known == suspect.scalars.end() ? scalar.range.low : known->second;
    input.integers.push_back(is_integer(scalar.element) ? value : 0);
    input.floats.push_back(is_integer(scalar.element) ? 0 : 1);
  }
  for (const ArrayParameter& array : kernel.arrays) {
    std::vector<Column>& columns = input.arrays.emplace_back();
    for (const auto& column : array.columns) columns.push_back(empty_column(column.element));
  }
  input.launch.grid = suspect.grid;
  input.launch.block = suspect.block;
  return input;
}

// Elements of all arrays; nothing: a length has no value.
std::optional<std::uint64_t> elements_of(const KernelDescription& kernel,
                                         const KernelInput& input) {
  std::uint64_t elements = 0;
  for (const ArrayParameter& array : kernel.arrays) {
    const auto length = length_of(kernel, array, input);
    if (!length) return std::nullopt;
    elements += *length;
  }
  return elements;
}

bool is_function_of_place(const ArrayParameter& array) {
  return array.order == ArrayParameter::Order::any && (!array.values || array.values->low == 0);
}

}  // namespace

void SuspectRuns::shrink_grid(KernelInput& input) const {
  const std::vector<ScalarParameter>& scalars = pair_.kernel().scalars;
  std::int64_t largest = 1;
  for (std::size_t i = 0; i < scalars.size(); ++i) {
    if (is_integer(scalars[i].element)) largest = std::max(largest, input.integers[i]);
  }
  const auto fit_axis = [&](std::size_t axis, std::uint32_t& grid, std::uint32_t block) {
    const std::int64_t needed =
        has_block_for_each_[axis] ? largest : std::max<std::int64_t>(1, (largest - 1) / block + 1);
    grid = static_cast<std::uint32_t>(std::min({std::int64_t{grid}, needed, kGridMost[axis]}));
  };
  fit_axis(0, input.launch.grid.x, input.launch.block.x);
  fit_axis(1, input.launch.grid.y, input.launch.block.y);
  fit_axis(2, input.launch.grid.z, input.launch.block.z);
}

Case SuspectRuns::case_of(AnyInput input, const Settings& settings) const {
  Case a_case;
  a_case.pair = &pair_;
  a_case.input = std::move(input);
  a_case.schedule = vgpu::Schedule{};
  a_case.settings = settings;
  return a_case;
}

std::optional<Case> SuspectRuns::failing_whole(const KernelInput& shape) {
  const KernelDescription& kernel = pair_.kernel();
  for (std::uint64_t seed = 1; seed <= kContents; ++seed) {
    KernelInput input = shape;
    if (!fit(kernel, input)) return std::nullopt;
    Tape tape = Tape::of_seed(seed);
    Draw draw(tape);
    draw_contents(kernel, draw, input);
    const AnyInput drawn = std::make_shared<const KernelInput>(std::move(input));
    if (!pair_.in_domain(drawn)) return std::nullopt;
    for (const Settings& one : settings_) {
      Case a_case = case_of(drawn, one);
      if (runner_.run(a_case).failed()) return a_case;
    }
  }
  return std::nullopt;
}

std::optional<Case> SuspectRuns::failing_sparsely(KernelInput shape,
                                                  std::vector<std::uint32_t> blocks) {
  const KernelDescription& kernel = pair_.kernel();
  shape.blocks = std::move(blocks);
  if (!fit(kernel, shape) || !std::ranges::all_of(kernel.arrays, is_function_of_place)) {
    return std::nullopt;
  }
  std::uint64_t bytes = 0;
  for (const ArrayParameter& array : kernel.arrays) {
    bytes += *length_of(kernel, array, shape) * array.element_bytes;
  }
  if (bytes > kSparseBytes) return std::nullopt;
  const AnyInput input = std::make_shared<const KernelInput>(std::move(shape));
  if (!pair_.in_domain(input)) return std::nullopt;
  Case a_case = case_of(input, settings_.front());
  a_case.settings.limits.steps_max = std::min(a_case.settings.limits.steps_max, kSparseSteps);
  // From one failure on it is that kind which is looked for.
  if (kind_) a_case.settings.checkers = only_checker_of(*kind_);
  for (const vgpu::Finding& finding : runner_.run(a_case).findings) {
    if (!is_refutation(finding) || (kind_ && finding.kind != *kind_)) continue;
    last_kind_ = finding.kind;
    a_case.settings = settings_.front();
    return a_case;
  }
  return std::nullopt;
}

std::optional<Case> SuspectRuns::failing_wider(const KernelInput& shape,
                                               const std::vector<std::uint32_t>& blocks) {
  for (const auto axis : {&Dim3::x, &Dim3::y, &Dim3::z}) {
    KernelInput wider = shape;
    wider.launch.grid.*axis = UINT32_MAX;
    shrink_grid(wider);
    if (wider.launch.grid.*axis <= shape.launch.grid.*axis) continue;
    if (auto found = failing_sparsely(std::move(wider), blocks)) return found;
  }
  return std::nullopt;
}

// Just beyond 32 bits an index wraps as it does far beyond, and more is touched.
std::optional<Case> SuspectRuns::failing_just_beyond(const KernelInput& shape,
                                                     const std::vector<std::string>& wide) {
  const KernelDescription& kernel = pair_.kernel();
  for (const std::int64_t most : kJustBeyond) {
    KernelInput nearer = shape;
    bool is_changed = false;
    for (std::size_t i = 0; i < kernel.scalars.size(); ++i) {
      const ScalarParameter& scalar = kernel.scalars[i];
      if (!is_integer(scalar.element)) continue;
      const bool is_wide = std::ranges::find(wide, scalar.name) != wide.end();
      if (nearer.integers[i] <= most && !is_wide) continue;
      const std::int64_t value = std::min(most, scalar.range.high);
      is_changed |= value != nearer.integers[i];
      nearer.integers[i] = value;
    }
    if (!is_changed) continue;
    nearer.launch.grid.x = UINT32_MAX;
    shrink_grid(nearer);
    if (auto found = failing_sparsely(std::move(nearer), {})) return found;
  }
  return std::nullopt;
}

std::optional<Case> SuspectRuns::failing(const Suspect& suspect,
                                         const std::vector<std::string>& wide) {
  const KernelDescription& kernel = pair_.kernel();
  kind_.reset();
  KernelInput shape = shape_of(kernel, suspect);
  if (!fit_launch(kernel, shape)) return std::nullopt;
  const auto elements = elements_of(kernel, shape);
  if (elements && *elements <= kElementsRun && shape.launch.threads() <= kThreadsRun) {
    auto found = failing_whole(shape);
    return found || wide.empty() ? found : failing_just_beyond(shape, wide);
  }
  const Dim3& grid = shape.launch.grid;
  if (grid.count() > UINT32_MAX) return std::nullopt;
  std::vector<std::uint32_t> blocks;
  for (const Suspect::Thread& thread : suspect.threads) {
    if (thread.block.x < grid.x && thread.block.y < grid.y && thread.block.z < grid.z) {
      blocks.push_back(static_cast<std::uint32_t>(grid.linear(thread.block)));
    }
  }
  std::ranges::sort(blocks);
  blocks.erase(std::unique(blocks.begin(), blocks.end()), blocks.end());
  auto found = failing_sparsely(shape, blocks);
  // Few blocks may take long to come to what many show at once.
  if (!found) found = failing_wider(shape, blocks);
  return found ? found : failing_just_beyond(shape, wide);
}

std::optional<Case> SuspectRuns::smallest_failing(const Suspect& suspect,
                                                  const std::vector<std::string>& wide) {
  auto found = failing(suspect, wide);
  if (found) found = smallest(*found);
  return found;
}

std::optional<Case> SuspectRuns::smallest_failing_large(
    const std::map<std::string, std::int64_t>& largest) {
  const LaunchRule& rule = pair_.kernel().launch;
  kind_.reset();
  KernelInput shape = shape_of(pair_.kernel(), {.scalars = largest});
  if (!fit_launch(pair_.kernel(), shape)) return std::nullopt;
  Dim3& grid = shape.launch.grid;
  const std::array axes{&grid.x, &grid.y, &grid.z};
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const bool is_drawn = !rule.grid[i] && static_cast<int>(i) < rule.grid_dims;
    if (is_drawn) *axes[i] = UINT32_MAX;
  }
  shrink_grid(shape);
  auto found = failing_sparsely(std::move(shape), {});
  if (found) found = smallest(*found);
  return found;
}

Case SuspectRuns::smallest(const Case& failing_case, std::size_t scalar, std::int64_t passes) {
  const KernelDescription& kernel = pair_.kernel();
  Case best = failing_case;
  if (!kernel_input_of(best).blocks) return best;
  kind_ = last_kind_;
  const auto failing_with = [&](std::int64_t value) {
    KernelInput input = kernel_input_of(best);
    input.integers[scalar] = value;
    shrink_grid(input);
    return failing_sparsely(input, *input.blocks);
  };
  // Far beyond 2^32 what wraps twice may be right, so that bisection would miss what is nearer.
  for (const std::int64_t value : kJustBeyond) {
    if (value <= passes || value >= kernel_input_of(best).integers[scalar]) continue;
    if (auto found = failing_with(value)) best = *std::move(found);
  }
  while (kernel_input_of(best).integers[scalar] - passes > 1) {
    const std::int64_t high = kernel_input_of(best).integers[scalar];
    const std::int64_t middle = passes + (high - passes) / 2;
    std::optional<Case> found;
    std::int64_t tried = middle;
    for (; tried < high && tried < middle + kStepsToDomain && !found; ++tried) {
      KernelInput input = kernel_input_of(best);
      input.integers[scalar] = tried;
      shrink_grid(input);
      if (!fit(kernel, input)) continue;
      const AnyInput candidate = std::make_shared<const KernelInput>(input);
      if (!pair_.in_domain(candidate)) continue;
      found = failing_sparsely(input, *input.blocks);
      break;
    }
    if (found) {
      best = *std::move(found);
    } else {
      passes = std::min(tried, high - 1);
    }
  }
  return best;
}

Case SuspectRuns::smallest_grid(const Case& failing_case, std::uint32_t Dim3::*axis) {
  Case best = failing_case;
  std::uint32_t passes = 0;
  while (kernel_input_of(best).launch.grid.*axis - passes > 1) {
    const std::uint32_t high = kernel_input_of(best).launch.grid.*axis;
    KernelInput input = kernel_input_of(best);
    input.launch.grid.*axis = passes + (high - passes) / 2;
    const std::uint32_t tried = input.launch.grid.*axis;
    if (auto found = failing_sparsely(input, *input.blocks);
        found && kernel_input_of(*found).launch.grid.*axis == tried) {
      best = *std::move(found);
    } else {
      passes = tried;
    }
  }
  return best;
}

Case SuspectRuns::smallest(const Case& failing_case) {
  const KernelDescription& kernel = pair_.kernel();
  Case best = failing_case;
  if (!kernel_input_of(best).blocks) return best;
  for (std::size_t i = 0; i < kernel.scalars.size(); ++i) {
    const ScalarParameter& scalar = kernel.scalars[i];
    if (is_integer(scalar.element)) best = smallest(best, i, scalar.range.low - 1);
  }
  for (const auto axis : {&Dim3::x, &Dim3::y, &Dim3::z}) best = smallest_grid(best, axis);
  return best;
}

std::string SuspectRuns::wrap_of(const Case& failing_case) {
  Case watched = failing_case;
  watched.settings.checkers = only_checker_of(vgpu::FindingKind::wrapped_integer);
  for (const vgpu::Finding& finding : runner_.run(watched).findings) {
    if (finding.kind != vgpu::FindingKind::wrapped_integer || finding.accesses.empty()) continue;
    const vgpu::AccessSide& side = finding.accesses.front();
    return fmt::format("{}:{} ({})", side.file.substr(side.file.rfind('/') + 1), side.line,
                       finding.message);
  }
  return {};
}

}  // namespace warpcheck
