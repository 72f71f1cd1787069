#include "cli/kernel/probes.hpp"

#include <algorithm>
#include <utility>

#include "harness/input/tape.hpp"

namespace warpcheck {
namespace {

constexpr int kDrawsMax = 400;
constexpr int kRunsAlone = 16;  // of one array with values
// Of an array that decides what is accessed, and is no index.
constexpr ValueRange kSmall{-64, 63};
constexpr int kRunsBehind = 40;  // of one array behind others: what they lead to is rarer

bool is_of_bytes(const ArrayParameter& array) {
  return std::ranges::all_of(array.columns, [](const ArrayParameter::Column& column) {
    return bytes_of(column.element) == 1;
  });
}

bool touch_the_same(const std::vector<Probe>& a, const std::vector<Probe>& b) {
  return std::ranges::equal(a, b, [](const Probe& x, const Probe& y) {
    return x.second.elements == y.second.elements &&
           x.second.leaves_arrays == y.second.leaves_arrays;
  });
}

bool is_signed(const ArrayParameter& array) {
  return std::ranges::all_of(array.columns, [](const ArrayParameter::Column& column) {
    return is_integer(column.element) && range_of(column.element).low < 0;
  });
}

bool leaves(const std::vector<Probe>& seen) {
  return std::ranges::any_of(seen, [](const Probe& run) { return run.second.leaves_arrays; });
}

// An array that decides something when it has values, and those that `fill` names have them, too.
bool find_one(Prober& prober, KernelDescription& kernel, std::vector<Fill> fill, int runs) {
  const std::vector<Probe> known = probes(prober, kernel, runs, fill);
  for (std::size_t i = 0; i < kernel.arrays.size(); ++i) {
    ArrayParameter& array = kernel.arrays[i];
    const bool is_permutation = array.order == ArrayParameter::Order::distinct;
    if (array.values || is_permutation || fill[i] == Fill::drawn || is_of_bytes(array)) continue;
    fill[i] = Fill::drawn;
    const std::vector<Probe> filled = probes(prober, kernel, runs, fill);
    fill[i] = Fill::zeros;
    if (touch_the_same(known, filled)) continue;
    array.values = kSmall;
    fill[i] = Fill::drawn;
    if (!is_signed(array) || leaves(probes(prober, kernel, runs, fill))) array.values = kIndices;
    return true;
  }
  return false;
}

void find_in_drawn_shapes(Prober& prober, KernelDescription& kernel) {
  while (find_one(prober, kernel, all_of(kernel, Fill::zeros), kRunsAlone)) continue;
  // Offsets that are drawn may first lead to the indices: columns after rows of a sparse matrix.
  for (;;) {
    std::vector<Fill> fill = all_of(kernel, Fill::zeros);
    for (std::size_t i = 0; i < fill.size(); ++i) {
      if (kernel.arrays[i].values || is_of_bytes(kernel.arrays[i])) fill[i] = Fill::drawn;
    }
    if (!find_one(prober, kernel, std::move(fill), kRunsBehind)) return;
  }
}

}  // namespace

std::vector<Probe> probes(Prober& prober, const KernelDescription& kernel, int runs,
                          const std::vector<Fill>& fill, Drawn drawn, Builds builds) {
  std::vector<Probe> seen;
  for (std::uint64_t i = 0; std::cmp_less(i, runs); ++i) {
    Tape tape = Tape::of_seed(drawn.first_shape + i + 1);
    Draw draw(tape);
    KernelInput input;
    int draws = 0;
    while (!draw_shape(kernel, draw, input, draws > kDrawsMax / 2)) {
      if (++draws < kDrawsMax) continue;
      throw NoInput(
          "no input satisfies the conditions and ranges; give ranges by --let, and extents by "
          "--block and --grid");
    }
    Extents extents = prober.run(kernel, input, fill, drawn.seed + i, builds);
    seen.emplace_back(std::move(input), std::move(extents));
  }
  return seen;
}

void find_index_arrays(Prober& prober, KernelDescription& kernel) {
  find_in_drawn_shapes(prober, kernel);
  const auto has_values = [](const ArrayParameter& array) { return array.values.has_value(); };
  const auto may_be_more = [](const ArrayParameter& array) {
    return !array.values && !is_of_bytes(array) && is_integer(array.columns.front().element);
  };
  // Of data that have to equal a number, as the level of a search, zeros do so where it is 0.
  for (const ScalarParameter& scalar : kernel.scalars) {
    if (std::ranges::none_of(kernel.arrays, has_values) ||
        std::ranges::none_of(kernel.arrays, may_be_more)) {
      return;
    }
    if (!is_integer(scalar.element) || scalar.range.low > 0 || scalar.range.high <= 0) continue;
    KernelDescription of_zero = kernel;
    of_zero.scalars[static_cast<std::size_t>(&scalar - kernel.scalars.data())].range = {0, 0};
    try {
      find_in_drawn_shapes(prober, of_zero);
    } catch (const NoInput&) {
      continue;  // a condition excludes 0
    }
    kernel.arrays = std::move(of_zero.arrays);
  }
}

}  // namespace warpcheck
