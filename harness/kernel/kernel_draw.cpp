// How inputs of a kernel without host code are drawn.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "harness/generators/generators.hpp"
#include "harness/kernel/kernel_conditions.hpp"
#include "harness/kernel/kernel_pair.hpp"

namespace warpcheck {
namespace {

// Integers of ranges up to this are sizes: their edges are those of warps and blocks.
constexpr std::int64_t kSizesMax = 1 << 20;
// Elements beyond these repeat: one value in the middle of a million is seldom a defect's cause.
constexpr std::size_t kDrawnElementsMax = 4096;
// Along an axis of a drawn grid.
constexpr std::int64_t kBlocksMax = 64;

std::int64_t draw_integer(const ScalarParameter& scalar, bool any_size, Draw& draw) {
  const ValueRange& range = scalar.range;
  if (!any_size && range.low >= 0 && range.high <= kSizesMax && range.high > 1) {
    return sizes({.min = static_cast<int>(range.low), .max = static_cast<int>(range.high)})
        .sample(draw);
  }
  return integers<std::int64_t>(range.low, range.high).sample(draw);
}

double draw_float(ElementType element, Draw& draw) {
  if (element == ElementType::f64) return floats<double>().sample(draw);
  if (element == ElementType::f16) return float_of_half(halves().sample(draw));
  if (element == ElementType::bf16) return float_of_bfloat16(bfloats().sample(draw));
  return floats<float>().sample(draw);
}

template <class T>
Gen<T> elements(ElementType element, const std::optional<ValueRange>& values) {
  if constexpr (std::integral<T>) {
    const ValueRange all = values ? *values : range_of(element);
    if (!values && element == ElementType::u64) return integers<T>();
    return integers<T>(static_cast<T>(all.low), static_cast<T>(all.high));
  } else if (values) {
    return map(integers<std::int64_t>(values->low, values->high),
               [](std::int64_t value) { return static_cast<T>(value); });
  } else if (element == ElementType::f16) {
    return map(halves(), [](std::uint16_t bits) { return static_cast<T>(float_of_half(bits)); });
  } else if (element == ElementType::bf16) {
    return map(bfloats(),
               [](std::uint16_t bits) { return static_cast<T>(float_of_bfloat16(bits)); });
  } else {
    return floats<T>();
  }
}

// Different numbers: of the range, or of those below the length.
template <class T>
void draw_distinct(std::vector<T>& values, const std::optional<ValueRange>& range, Draw& draw) {
  const auto size = static_cast<std::int64_t>(values.size());
  const ValueRange all = range ? *range : ValueRange{0, size - 1};
  // Of a range that is much longer than the array any part will do.
  const std::int64_t count = std::min(all.high - all.low + 1, std::max<std::int64_t>(2 * size, 64));
  std::vector<std::int64_t> numbers(static_cast<std::size_t>(std::max<std::int64_t>(count, 0)));
  std::iota(numbers.begin(), numbers.end(), all.low);
  for (std::size_t i = 0; i < values.size() && i < numbers.size(); ++i) {
    std::swap(numbers[i], numbers[i + draw.below(numbers.size() - i)]);
    values[i] = static_cast<T>(numbers[i]);
  }
}

template <class T>
void draw_column(std::vector<T>& values, const ArrayParameter& array, ElementType element,
                 Draw& draw) {
  using Order = ArrayParameter::Order;
  if (array.order == Order::distinct) return draw_distinct(values, array.values, draw);
  const std::size_t size = values.size();
  const std::size_t drawn = std::min(size, kDrawnElementsMax);
  values = vectors(drawn, elements<T>(element, array.values)).sample(draw);
  values.reserve(size);
  while (values.size() < size) values.push_back(values[values.size() - drawn]);
  if (array.order == Order::ascending) {
    // A NaN is neither above nor below its neighbour.
    std::ranges::replace_if(
        values, [](T value) { return value != value; }, T{});
    std::ranges::sort(values);
    // Offsets of rows mostly end where the array ends into which they lead.
    if (array.values && !values.empty() && draw.below(2) == 0) {
      values.back() = static_cast<T>(array.values->high);
    }
  }
}

// Blocks that cover the largest scalar, or few.  Blocks that are items mostly cover it, because few
// say little of lengths; and there may be two more, because `i > n` takes one too many.
std::uint32_t draw_blocks(std::int64_t largest, const Dim3& block, const LaunchRule& rule,
                          std::size_t axis, Draw& draw) {
  const bool are_items = rule.has_block_for_each[axis];
  const std::int64_t threads = are_items ? 1 : axis == 0 ? block.x : block.y;
  const std::int64_t covering =
      std::clamp<std::int64_t>((largest + threads - 1) / threads, 1, kBlocksMax);
  const auto few = [&] { return static_cast<std::uint32_t>(1 + draw.below(3)); };
  if (are_items) {
    const std::uint64_t chosen = draw.below(8);
    if (chosen == 0) return few();
    return static_cast<std::uint32_t>(covering) +
           (chosen < 3 ? 0 : static_cast<std::uint32_t>(1 + draw.below(2)));
  }
  switch (draw.below(4)) {
    case 0: return static_cast<std::uint32_t>(covering);
    case 1: return static_cast<std::uint32_t>(covering + 1);
    default: return few();
  }
}

// Returns whether the blocks along an axis are drawn, and are items.
bool draws_items(const LaunchRule& rule, std::size_t axis) {
  return !rule.grid[axis] && static_cast<int>(axis) < rule.grid_dims &&
         rule.has_block_for_each[axis];
}

// Blocks that cover items along both axes would be thousands, whose runs do not end: one axis, of
// items, has fewer then.
void limit_blocks_of_items(const LaunchRule& rule, Draw& draw, Dim3& grid) {
  constexpr std::uint32_t kMost = kBlocksMax / 2;
  const bool along_x = draws_items(rule, 0), along_y = draws_items(rule, 1);
  const bool is_line = grid.x == 1 || grid.y == 1;
  if (is_line || (!along_x && !along_y) || std::uint64_t{grid.x} * grid.y <= kMost) return;
  const bool has_less_x = along_x && (!along_y || draw.below(2) == 0);
  std::uint32_t& fewer = has_less_x ? grid.x : grid.y;
  fewer = std::max(1u, kMost / (has_less_x ? grid.y : grid.x));
}

void draw_launch(const KernelDescription& kernel, Draw& draw, KernelInput& input) {
  const LaunchRule& rule = kernel.launch;
  std::int64_t largest = 1;
  for (std::size_t i = 0; i < kernel.scalars.size(); ++i) {
    if (is_integer(kernel.scalars[i].element)) largest = std::max(largest, input.integers[i]);
  }
  Dim3& block = input.launch.block;
  block = Dim3();
  const auto threads_left = [&] { return std::max<std::uint64_t>(1, 1024 / block.count()); };
  if (!rule.block[0] && rule.block_dims > 0) {
    const auto most = static_cast<std::uint32_t>(rule.block_dims > 1 ? 32 : threads_left());
    block.x = blocks(most).sample(draw);
  }
  if (!rule.block[1] && rule.block_dims > 1)
    block.y = blocks(static_cast<std::uint32_t>(std::min<std::uint64_t>(32, threads_left())))
                  .sample(draw);
  if (!rule.block[2] && rule.block_dims > 2)
    block.z =
        blocks(static_cast<std::uint32_t>(std::min<std::uint64_t>(8, threads_left()))).sample(draw);
  input.launch.grid = Dim3();
  if (!fit_launch(kernel, input)) return;
  Dim3& grid = input.launch.grid;
  if (!rule.grid[0] && rule.grid_dims > 0) grid.x = draw_blocks(largest, block, rule, 0, draw);
  if (!rule.grid[1] && rule.grid_dims > 1) grid.y = draw_blocks(largest, block, rule, 1, draw);
  limit_blocks_of_items(rule, draw, grid);
  if (!rule.grid[2] && rule.grid_dims > 2) {
    grid.z = static_cast<std::uint32_t>(1 + draw.below(3));
  }
}

// Indices beside the numbers that may guard them: `id > rows` shows at `rows` alone.
template <class T>
void add_guarded(std::vector<T>& values, const ValueRange& range,
                 const std::vector<std::int64_t>& integers, Draw& draw) {
  std::vector<T> edges;
  for (const std::int64_t integer : integers) {
    for (const std::int64_t edge : {integer - 1, integer}) {
      if (edge >= range.low && edge <= range.high) edges.push_back(static_cast<T>(edge));
    }
  }
  if (edges.empty() || draw.below(2) == 0) return;
  const std::size_t first = draw.below(8), step = 5 + draw.below(8);
  for (std::size_t i = first; i < values.size(); i += step) {
    values[i] = edges[i / step % edges.size()];
  }
}

}  // namespace

bool has_drawn_items(const LaunchRule& rule) {
  return draws_items(rule, 0) || draws_items(rule, 1);
}

ValueRange coverable(const ValueRange& range) {
  constexpr std::int64_t kMost = kBlocksMax - 4;
  return range.low > kMost ? range : ValueRange{range.low, std::min(range.high, kMost)};
}

bool draw_shape(const KernelDescription& kernel, Draw& draw, KernelInput& input, bool any_size) {
  input.integers.clear();
  input.floats.clear();
  const bool are_covered = has_drawn_items(kernel.launch) && draw.below(2) == 0;
  for (ScalarParameter scalar : kernel.scalars) {
    const bool is_whole = is_integer(scalar.element);
    if (are_covered) scalar.range = coverable(scalar.range);
    input.integers.push_back(is_whole ? draw_integer(scalar, any_size, draw) : 0);
    input.floats.push_back(is_whole ? 0 : draw_float(scalar.element, draw));
  }
  input.arrays.clear();
  for (const ArrayParameter& array : kernel.arrays) {
    std::vector<Column>& columns = input.arrays.emplace_back();
    for (const auto& column : array.columns) columns.push_back(empty_column(column.element));
  }
  draw_launch(kernel, draw, input);
  settle_integers(kernel, input);
  if (!fit_launch(kernel, input)) return false;
  return std::ranges::all_of(kernel.conditions, [&](const Expression& condition) {
    return condition.value(names_of(kernel, input)).value_or(0) != 0;
  });
}

void draw_contents_of(const KernelDescription& kernel, std::size_t array, Draw& draw,
                      KernelInput& input) {
  const ArrayParameter& parameter = kernel.arrays[array];
  for (std::size_t c = 0; c < parameter.columns.size(); ++c) {
    std::visit(
        [&]<class T>(std::vector<T>& values) {
          draw_column(values, parameter, parameter.columns[c].element, draw);
          const bool are_indices =
              std::integral<T> && parameter.values && parameter.order == ArrayParameter::Order::any;
          if (are_indices) add_guarded(values, *parameter.values, input.integers, draw);
        },
        input.arrays[array][c]);
  }
}

void draw_contents(const KernelDescription& kernel, Draw& draw, KernelInput& input) {
  for (std::size_t i = 0; i < kernel.arrays.size(); ++i) draw_contents_of(kernel, i, draw, input);
}

AnyInput KernelPair::draw(Draw& draw) const {
  // Conditions may exclude all sizes that are small enough for this draw.
  constexpr int kShapesMax = 400, kSmallShapes = 20;
  KernelInput input;
  for (int i = 0; i < kShapesMax && !draw_shape(kernel_, draw, input, i > kSmallShapes); ++i)
    continue;
  if (fit(kernel_, input)) draw_contents(kernel_, draw, input);
  return std::make_shared<const KernelInput>(std::move(input));
}

}  // namespace warpcheck
