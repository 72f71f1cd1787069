#include "cli/kernel/assumptions.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <regex>
#include <set>

#include "cli/cli.hpp"
#include "cli/kernel/assumed_lengths.hpp"
#include "cli/kernel/assumption_notes.hpp"
#include "cli/kernel/kernel_code.hpp"
#include "cli/kernel/probes.hpp"
#include "harness/kernel/kernel_conditions.hpp"
#include "vgpu/symbolic/prove_kernel.hpp"

namespace warpcheck {
namespace {

constexpr int kQuickRuns = 6;
constexpr std::int64_t kLargest = 1000;  // of integers that nobody bounds
// Larger ones are for proofs and sparse runs: trials hold arrays of that many elements.
constexpr std::int64_t kLargestOfTrials = 1 << 24;
constexpr std::uint64_t kRowsOfRun =
    60'000;  // of a trial run, on average; several hundred are made

// The blocks that are tried in this order, by the number of dimensions.
std::vector<Dim3> usual_blocks(int dims) {
  if (dims <= 1) return {Dim3(256), Dim3(128), Dim3(64), Dim3(32), Dim3(512), Dim3(1024)};
  if (dims == 2) return {Dim3(16, 16), Dim3(32, 32), Dim3(8, 8), Dim3(32, 8), Dim3(64, 4)};
  return {Dim3(8, 8, 4), Dim3(4, 4, 4), Dim3(8, 8, 8), Dim3(16, 4, 4)};
}

std::string shown(const Dim3& extents) {
  if (extents.z > 1) return fmt::format("{},{},{}", extents.x, extents.y, extents.z);
  if (extents.y > 1) return fmt::format("{},{}", extents.x, extents.y);
  return std::to_string(extents.x);
}

KernelDescription whose_assertions_do_nothing(KernelDescription kernel) {
  kernel.optimized = without_assertions(std::move(kernel.optimized));
  kernel.unoptimized = without_assertions(std::move(kernel.unoptimized));
  return kernel;
}

class Assuming {
 public:
  Assuming(KernelDescription kernel, const ptx::Module& module, const Given& given)
      : given_(given),
        module_(module),
        pair_(whose_assertions_do_nothing(kernel)),
        prober_(pair_, shared_bytes_of(module, kernel.mangled)) {
    made_.kernel = std::move(kernel);
  }

  Assumptions all() {
    take_what_is_given();
    choose_dimensions();
    // Contracts and options count from here on, so that probes keep to them.
    choose_block();
    find_items();
    choose_ranges();
    find_index_arrays(prober_, kernel());
    find_endless_contents();
    find_lengths();
    report_assumptions(made_, given_, free_);
    if (uses_unset_constants(module_, kernel().mangled)) {
      made_.notes.push_back("constant memory that host code sets is zero");
    }
    made_.runs = prober_.runs();
    return std::move(made_);
  }

 private:
  KernelDescription& kernel() { return made_.kernel; }

  void take_what_is_given() {
    std::set<std::string> known;
    for (ScalarParameter& scalar : kernel().scalars) {
      known.insert(scalar.name);
      const auto given = given_.values.find(scalar.name);
      if (given == given_.values.end()) {
        // Bytes and enumerations have few values; they are no sizes.
        if (is_integer(scalar.element) && bytes_of(scalar.element) > 1 &&
            scalar.range == range_of(scalar.element)) {
          free_.insert(scalar.name);
        }
        continue;
      }
      take_range(scalar, given->second);
    }
    for (ArrayParameter& array : kernel().arrays) {
      known.insert(array.name);
      if (const auto given = given_.values.find(array.name); given != given_.values.end()) {
        array.values = given->second.range;
        array.order = given->second.order;
        if (array.columns.size() > 1 && array.order != ArrayParameter::Order::any) {
          throw UsageError(
              fmt::format("--let {}: elements of several numbers have no order", array.name));
        }
      }
      if (array.length.text() != "0") with_length_.insert(array.name);
    }
    for (const auto& [name, values] : given_.values) check_known(known, "--let", name);
    take_bounds();
    if (given_.shared_bytes) kernel().launch.shared_bytes = *given_.shared_bytes;
  }

  // The largest number of elements that the ranges of integers allow, about.
  [[nodiscard]] std::int64_t elements_said() const {
    std::int64_t elements = 1;
    for (const ScalarParameter& scalar : made_.kernel.scalars) {
      const auto given = given_.values.find(scalar.name);
      if (given == given_.values.end() || !given->second.range) continue;
      const std::int64_t high = std::max<std::int64_t>(given->second.range->high, 1);
      if (__builtin_mul_overflow(elements, high, &elements)) return INT64_MAX;
    }
    return elements;
  }

  void take_range(ScalarParameter& scalar, const Values& given) {
    if (!is_integer(scalar.element) || !given.range) {
      throw UsageError(fmt::format("--let {}: {}", scalar.name,
                                   given.range ? "it is no integer" : "it is no array"));
    }
    const ValueRange all = range_of(scalar.element);
    if (given.range->low < all.low || given.range->high > all.high) {
      throw UsageError(
          fmt::format("--let {}: its type holds {}..{}", scalar.name, all.low, all.high));
    }
    scalar.range = *given.range;
    if (is_given_by_equation(kernel(), scalar.name)) {
      kernel().conditions.emplace_back(fmt::format("{} <= {}", scalar.name, scalar.range.high));
    }
    if (elements_said() <= kLargestOfTrials || given.range->high <= kLargest ||
        given.range->low > kLargest) {
      return;
    }
    free_.insert(scalar.name);
    lows_[scalar.name] = given.range->low;
  }

  // Conditions like `n > 0` and `n == 64` bound what is drawn, so that most of it is used.
  void take_bounds() {
    static const std::regex kBound(R"(^\s*([\w.]+)\s*(==|>=|<=|>|<)\s*([^=<>!&|?]+)$)");
    const auto of_launch = [&](std::string_view name) { return fixed_extent(name); };
    for (const Expression& condition : kernel().conditions) {
      std::smatch match;
      if (!std::regex_match(condition.text(), match, kBound)) continue;
      const auto scalar = std::ranges::find(kernel().scalars, match[1], &ScalarParameter::name);
      if (scalar == kernel().scalars.end() || given_.values.contains(scalar->name)) continue;
      const std::string relation = match[2];
      const auto value = Expression(match[3].str()).value(of_launch);
      if (!value) continue;
      const std::int64_t number = *value;
      std::int64_t& low = lows_[scalar->name];
      if (relation == "==" || relation == ">=") low = std::max(low, number);
      if (relation == ">") low = std::max(low, number + 1);
      if (relation == "==" || relation == "<=")
        scalar->range.high = std::min(scalar->range.high, number);
      if (relation == "<") scalar->range.high = std::min(scalar->range.high, number - 1);
    }
  }

  // blockDim.x and its like, where the launch is said.
  [[nodiscard]] std::optional<std::int64_t> fixed_extent(std::string_view name) const {
    if (!is_launch_name(name)) return std::nullopt;
    const LaunchRule& rule = made_.kernel.launch;
    const auto& extents = name.starts_with("block") ? rule.block : rule.grid;
    const auto& extent = extents[static_cast<std::size_t>(name.back() - 'x')];
    if (!extent) return std::nullopt;
    return extent->value([](std::string_view) { return std::nullopt; });
  }

  static void check_known(const std::set<std::string>& known, const char* option,
                          const std::string& name) {
    if (known.contains(name)) return;
    throw UsageError(
        fmt::format("{} {}: the kernel has no such parameter; it has {}", option, name,
                    known.empty() ? "none" : fmt::format("{}", fmt::join(known, ", "))));
  }

  void choose_dimensions() {
    const Dimensions used = dimensions_of(module_, kernel().mangled);
    kernel().launch.grid_dims = used.grid;
    kernel().launch.block_dims = used.block;
    const bool is_drawn = !kernel().launch.grid[0];
    if (used.grid == 0 && is_drawn && has_global_tickets(module_, kernel().mangled)) {
      // Blocks may take their numbers from a counter, in the order in which they begin.
      kernel().launch.grid_dims = 1;
      made_.has_blocks_by_ticket = true;
    } else if (used.grid == 0 && is_drawn) {
      made_.notes.push_back("the code does not ask for its block, so there is one");
    }
  }

  // Until they are chosen, integers have values with which runs are short.
  [[nodiscard]] KernelDescription with_ranges_up_to(std::int64_t high) {
    KernelDescription tried = kernel();
    for (ScalarParameter& scalar : tried.scalars) {
      if (!free_.contains(scalar.name)) continue;
      const std::int64_t low = lows_[scalar.name];
      scalar.range = {low, std::min(scalar.range.high, std::max(high, low))};
    }
    return tried;
  }

  std::vector<Probe> probe(const KernelDescription& tried, int runs, const std::vector<Fill>& fill,
                           std::uint64_t seed = 0, Builds builds = Builds::shipped) {
    return probes(prober_, tried, runs, fill, {.seed = seed}, builds);
  }

  [[nodiscard]] std::vector<Fill> all(Fill fill) { return all_of(kernel(), fill); }

  void choose_block() {
    LaunchRule& launch = kernel().launch;
    const ptx::Function& function = *module_.find_function(kernel().mangled);
    if (launch.block[0]) return;
    const auto said = launch.block;
    const auto fix = [&](const Dim3& block) {
      launch.block = {Expression::number(block.x), said[1].value_or(Expression::number(block.y)),
                      said[2].value_or(Expression::number(block.z))};
    };
    if (function.required_threads[0] != 0) {
      return fix(Dim3(function.required_threads[0], std::max(1U, function.required_threads[1]),
                      std::max(1U, function.required_threads[2])));
    }
    if (launch.block_dims == 0) {
      made_.notes.push_back("the code does not ask for its thread, so a block has one");
      return fix(Dim3(1));
    }
    const std::vector<Dim3> blocks = usual_blocks(launch.block_dims);
    std::optional<Dim3> first;
    for (const Dim3& block : blocks) {
      if (function.max_threads != 0 && block.count() > function.max_threads) continue;
      if (!first) first = block;
      fix(block);
      const bool leaves = leaves_shared();
      if (leaves && !nearly_stays(block, fix)) continue;
      fix(block);
      if (leaves) {
        made_.notes.push_back(fmt::format(
            "with {} threads of a block the kernel leaves its shared memory, with a few less it "
            "does not; that is taken for a defect (--block gives other blocks)",
            shown(block)));
      } else if (!(block == *first)) {
        made_.notes.push_back(fmt::format(
            "blocks of {} threads: with {} the kernel leaves its shared memory (--block gives "
            "others)",
            shown(block), shown(*first)));
      }
      return;
    }
    fix(first.value_or(Dim3(32)));
  }

  void find_items() {
    LaunchRule& launch = kernel().launch;
    std::array<std::int64_t, 3> block{};
    for (std::size_t i = 0; i < 3; ++i) {
      const auto nothing = [](std::string_view) { return std::nullopt; };
      block[i] = launch.block[i] ? launch.block[i]->value(nothing).value_or(0) : 0;
    }
    launch.has_block_for_each = blocks_are_items(module_, kernel().mangled, block);
  }

  // Whether a few threads less stay in shared memory: the memory is as large as the block, and an
  // index is off by few.
  bool nearly_stays(const Dim3& block, const auto& fix) {
    for (const std::uint32_t less : {1U, 2U, 4U, 8U}) {
      for (const Dim3& fewer : {Dim3(block.x - std::min(less, block.x - 1), block.y, block.z),
                                Dim3(block.x, block.y - std::min(less, block.y - 1), block.z)}) {
        if (fewer == block || 2 * fewer.count() <= block.count()) continue;
        fix(fewer);
        if (!leaves_shared()) return true;
      }
    }
    return false;
  }

  // The more integers, the longer are arrays of their products.
  [[nodiscard]] std::int64_t usual_high() const {
    const std::size_t integers = free_.size();
    return integers <= 1 ? kLargest : integers == 2 ? 100 : 40;
  }

  bool leaves_shared() {
    const auto leaves = [&](std::int64_t high) {
      const auto seen = probe(with_ranges_up_to(high), kQuickRuns, all(Fill::zeros));
      return std::ranges::any_of(seen, [](const auto& run) { return run.second.leaves_shared; });
    };
    try {
      return leaves(usual_high());
    } catch (const NoInput&) {
      return leaves(kLargest);
    }
  }

  // The largest of usual ranges with which accesses stay in arrays of any sensible length, and runs
  // end soon; or, if none of them is short, the largest of those that are no longer than others.
  void choose_ranges() {
    if (free_.empty()) return;
    find_lows();
    const std::int64_t usual = usual_high();
    std::optional<KernelDescription> largest;
    std::vector<std::pair<KernelDescription, std::uint64_t>> fitting;  // and their accesses
    for (const std::int64_t high : {usual, std::int64_t{100}, std::int64_t{30}, std::int64_t{8}}) {
      if (high > usual) continue;
      const KernelDescription tried = with_ranges_up_to(high);
      try {
        // Of both builds: what ends soon if it is optimised may take long without.
        const auto seen = probe(tried, 2 * kQuickRuns, all(Fill::zeros), 0, Builds::all);
        if (!largest) largest = tried;
        std::uint64_t rows = 0;
        bool are_fit = true;
        for (const Probe& run : seen) {
          rows += run.second.rows;
          are_fit &= run.second.ends && !run.second.leaves_arrays;
        }
        if (!are_fit) continue;
        fitting.emplace_back(tried, rows);
        if (rows <= kRowsOfRun * seen.size()) break;
      } catch (const NoInput&) {
        // Conditions exclude such small numbers.
      }
    }
    if (!fitting.empty()) {
      const std::uint64_t enough = 2 * fitting.back().second;
      largest = std::ranges::find_if(fitting, [&](const auto& one) {
                  return one.second <= enough;
                })->first;
    }
    kernel() = largest ? *largest : with_ranges_up_to(kLargest);
  }

  // Integers of which 0 is no size: steps of loops, with which the kernel does not end, and
  // extents, of which it takes 1 (the last row is number -1).
  void find_lows() {
    for (const ScalarParameter& scalar : kernel().scalars) {
      if (!free_.contains(scalar.name) || lows_[scalar.name] > 0) continue;
      const std::string& name = scalar.name;
      const auto says = [](bool Extents::*what, bool value) {
        return [=](const Probe& run) { return run.second.*what == value; };
      };
      try {
        if (divides_by(module_, kernel().mangled, scalar.place)) {
          lows_[name] = 1;
          made_.notes.push_back(fmt::format("{0} is at least 1: the kernel divides by {0}", name));
        } else if (std::ranges::any_of(probe_with(name, 0), says(&Extents::ends, false))) {
          lows_[name] = 1;
          made_.notes.push_back(
              fmt::format("{0} is at least 1: with {0} = 0 the kernel does not end", name));
        } else if (std::ranges::any_of(probe_with(name, 0, 1),
                                       says(&Extents::leaves_arrays, true)) &&
                   std::ranges::all_of(probe_with(name, 1, 1),
                                       says(&Extents::leaves_arrays, false))) {
          lows_[name] = 1;
          made_.notes.push_back(
              fmt::format("{0} is at least 1: with {0} = 0 the kernel leaves its arrays (--let "
                          "{0}=0..{1} shows it)",
                          name, kLargest));
        }
      } catch (const NoInput&) {
        // A condition or a grid without blocks excludes 0.
      }
    }
  }

  // Runs with one value of an integer, and small ones of the others.
  std::vector<Probe> probe_with(const std::string& name, std::int64_t value,
                                std::int64_t low_of_others = 0) {
    KernelDescription tried = with_ranges_up_to(30);
    for (ScalarParameter& scalar : tried.scalars) {
      if (scalar.name == name) {
        scalar.range = {value, value};
      } else if (free_.contains(scalar.name)) {
        scalar.range.low = std::min(std::max(scalar.range.low, low_of_others), scalar.range.high);
      }
    }
    return probe(tried, kQuickRuns, all(Fill::zeros));
  }

  // Arrays with whose values a kernel does not end soon: locks that somebody holds, and nobody
  // leaves, and numbers that loops count down.
  void find_endless_contents() {
    // Contents of one shape come first, one by one: a run that does not end takes long.
    const auto ends = [&](const std::vector<Fill>& fill) {
      const auto run_ends = [](const Probe& run) { return run.second.ends; };
      for (std::uint64_t seed = 0; seed < kQuickRuns; ++seed) {
        if (!std::ranges::all_of(probe(kernel(), 1, fill, seed), run_ends)) return false;
      }
      return std::ranges::all_of(probe(kernel(), kQuickRuns, fill), run_ends);
    };
    const bool has_locks = has_atomic_results(module_, kernel().mangled);
    if (!has_locks && ends(all(Fill::drawn))) return;
    if (!ends(all(Fill::zeros))) return;
    for (std::size_t i = 0; i < kernel().arrays.size(); ++i) {
      ArrayParameter& array = kernel().arrays[i];
      if (given_.values.contains(array.name) || (array.values && !has_locks)) continue;
      std::vector<Fill> fill = all(Fill::zeros);
      fill[i] = Fill::drawn;
      if (ends(fill)) continue;
      if (has_locks) {
        array.values = ValueRange{0, 0};
        made_.notes.push_back(fmt::format(
            "{0} begins with zeros: with others the kernel does not end (--let {0}=LOW..HIGH)",
            array.name));
        continue;
      }
      array.values = few_rounds(array);
      if (!ends(fill)) {
        array.values.reset();
        continue;
      }
      counted_.insert(array.name);
      made_.notes.push_back(
          fmt::format("{0} has values of {1}..{2} in trials: with larger ones the kernel runs long "
                      "(--let {0}=LOW..HIGH)",
                      array.name, array.values->low, array.values->high));
    }
  }

  // Values that a loop counts down soon.
  static ValueRange few_rounds(const ArrayParameter& array) {
    constexpr std::int64_t kRounds = 64;
    const bool is_signed = std::ranges::all_of(array.columns, [](const auto& column) {
      return !is_integer(column.element) || range_of(column.element).low < 0;
    });
    return {is_signed ? -kRounds : 0, kRounds};
  }

  void find_lengths() {
    KnownOfArrays known{.lengths = with_length_, .values = {}, .counted = counted_, .bordered = {}};
    for (const ScalarParameter& scalar : kernel().scalars) {
      if (multiplies_by_one_more(module_, kernel().mangled, scalar.place)) {
        known.bordered.insert(scalar.name);
      }
    }
    for (const auto& [name, values] : given_.values) known.values.insert(name);
    AssumedLengths found = assume_lengths(prober_, kernel(), known, [&] { return lower_ranges(); });
    std::ranges::move(found.notes, std::back_inserter(made_.notes));
    made_.conditions = std::move(found.conditions);
    made_.written = std::move(found.written);
    if (found.is_shared_guessed) made_.guessed.emplace(vgpu::symbolic::kDynamicSharedMemory);
    for (const ArrayParameter& array : kernel().arrays) {
      if (array.is_open) made_.guessed.insert(array.name);
    }
  }

  // Returns whether smaller integers are left, and runs with the smallest ones end.
  bool lower_ranges() {
    const auto all_end = [](const std::vector<Probe>& seen) {
      return std::ranges::all_of(seen, [](const Probe& run) { return run.second.ends; });
    };
    std::int64_t high = 0;
    for (const ScalarParameter& scalar : kernel().scalars) {
      if (free_.contains(scalar.name)) high = std::max(high, scalar.range.high);
    }
    constexpr std::int64_t kHighs[] = {100, 30, 8};
    const auto* const next = std::ranges::find_if(kHighs, [&](auto one) { return one < high; });
    if (next == std::end(kHighs)) return false;
    try {
      if (!all_end(probe(with_ranges_up_to(kHighs[2]), kQuickRuns, all(Fill::zeros)))) return false;
      (void)probe(with_ranges_up_to(*next), kQuickRuns, all(Fill::zeros));
    } catch (const NoInput&) {
      return false;
    }
    kernel() = with_ranges_up_to(*next);
    return true;
  }

  const Given& given_;
  const ptx::Module& module_;
  const KernelPair pair_;
  Prober prober_;
  Assumptions made_;
  std::set<std::string> free_;                // integers whose range is chosen here
  std::set<std::string> with_length_;         // arrays of which somebody has said it
  std::set<std::string> counted_;             // arrays whose values are few rounds of loops
  std::map<std::string, std::int64_t> lows_;  // 0 where there is none
};

}  // namespace

Assumptions assumed(KernelDescription kernel, const ptx::Module& module, const Given& given) {
  return Assuming(std::move(kernel), module, given).all();
}

}  // namespace warpcheck
