#include <algorithm>
#include <bit>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "harness/generators/generators.hpp"
#include "harness/input/size_classes.hpp"
#include "vgpu/text/counted.hpp"

namespace warpcheck {

namespace {

// A choice of sizes within [min, max].
class Sizes {
 public:
  Sizes(std::int64_t min, std::int64_t max, std::int64_t block)
      : min_(min), max_(max), block_(block) {}

  std::int64_t sample(Draw& draw) const {
    return integers_detail::leaning(draw, min_, max_, min_, [&] {
      const std::int64_t n = lean(draw);
      return n >= min_ && n <= max_ ? n : draw.between(min_, max_);
    });
  }

 private:
  std::int64_t lean(Draw& draw) const {
    switch (draw.below(12)) {
      case 0: return draw.between(min_, std::min(min_ + 16, max_));
      case 1: return draw.between(0, 1);
      case 2:
      case 3: return near_multiple(draw, kWarpSize);
      case 4:
      case 5: return near_power_of_two(draw);
      case 6: return prime(draw);
      case 7: return near_multiple(draw, block_ > 0 ? block_ : kWarpSize);
      case 8: return max_ - draw.between(0, 1);
      case 9: return draw.between(min_, max_);
      default: return of_any_magnitude(draw);
    }
  }

  // With probability 1/2 near one of the first two multiples.
  std::int64_t near_multiple(Draw& draw, std::int64_t period) const {
    const std::int64_t first = std::max<std::int64_t>(1, min_ / period);
    const std::int64_t last = std::max(first, (max_ + 1) / period);
    const std::int64_t near = std::min(first + 1, last);
    const std::int64_t multiple = draw.between(first, draw.below(2) == 0 ? near : last);
    return multiple * period + draw.between(-1, 1);
  }

  std::int64_t near_power_of_two(Draw& draw) const {
    const int first =
        std::bit_width(static_cast<std::uint64_t>(std::max<std::int64_t>(min_, 1))) - 1;
    const int last = std::bit_width(static_cast<std::uint64_t>(std::max<std::int64_t>(max_, 1)));
    return (std::int64_t{1} << draw.between(first, last)) + draw.between(-1, 1);
  }

  std::int64_t prime(Draw& draw) const {
    std::int64_t n = of_any_magnitude(draw);
    while (n > min_ && !is_prime(n)) --n;
    return n;
  }

  std::int64_t of_any_magnitude(Draw& draw) const {
    const auto width =
        static_cast<unsigned>(std::bit_width(static_cast<std::uint64_t>(max_ - min_)));
    const std::int64_t span = (std::int64_t{1} << draw.below(width + 1)) - 1;
    return draw.between(min_, std::min(min_ + span, max_));
  }

  std::int64_t min_, max_, block_;
};

// The largest size for a Draw's size: the logarithm of the range grows with it.
std::int64_t max_at(int size, std::int64_t min, std::int64_t max) {
  const auto range = static_cast<std::uint64_t>(max - min);
  const int bits =
      (std::bit_width(range) * std::clamp(size, 0, kSizeMax) + kSizeMax - 1) / kSizeMax;
  return min + static_cast<std::int64_t>(std::min(range, (std::uint64_t{1} << bits) - 1));
}

// Whether one of `count` numbers of [min, max], from `first` on, belongs to a class.
template <class Contains>
bool admits(std::int64_t first, std::int64_t count, std::int64_t max, Contains contains) {
  for (std::int64_t n = first; n <= max && n < first + count; ++n) {
    if (contains(n)) return true;
  }
  return false;
}

// Whether 2^k + offset lies in [min, max] for some k; near powers of two start at 3.
bool admits_power(std::int64_t min, std::int64_t max, std::int64_t offset) {
  for (int k = offset == 0 ? 0 : 2; k < 31; ++k) {
    const std::int64_t n = (std::int64_t{1} << k) + offset;
    if (n >= min && n <= max) return true;
  }
  return false;
}

template <class T>
std::vector<ValueClass<T>> size_classes(std::int64_t min, std::int64_t max, std::int64_t block) {
  constexpr std::int64_t prime_gap_max = 320;  // more than the gap between any two 31-bit primes
  std::vector<ValueClass<T>> classes;
  const auto add = [&](bool admitted, std::string name, auto contains) {
    if (!admitted) return;
    classes.push_back({std::move(name), [contains](const T& value) {
                         return contains(static_cast<std::int64_t>(value));
                       }});
  };
  const auto is_odd = [](std::int64_t n) { return n % 2 == 1; };
  const auto is_whole_warps = [](std::int64_t n) { return n > 0 && n % kWarpSize == 0; };
  const auto is_warp_edge = [](std::int64_t n) { return is_edge(n, kWarpSize); };
  const auto is_block_edge = [block](std::int64_t n) { return is_edge(n, block); };
  add(min == 0, "zero", [](std::int64_t n) { return n == 0; });
  add(min <= 1 && max >= 1, "one", [](std::int64_t n) { return n == 1; });
  add(admits(min, 2, max, is_odd), "odd", is_odd);
  add(admits(min, prime_gap_max, max, is_prime), "prime", is_prime);
  add(admits_power(min, max, 0), "power of two", is_power_of_two);
  add(admits_power(min, max, -1) || admits_power(min, max, 1), "power of two +-1",
      is_near_power_of_two);
  add(admits(min, 2 * kWarpSize, max, is_warp_edge), "warp edge", is_warp_edge);
  add(admits(min, 2 * kWarpSize, max, is_whole_warps), "multiple of 32", is_whole_warps);
  add(max > min || max % kWarpSize != 0, "not a multiple of 32",
      [](std::int64_t n) { return n % kWarpSize != 0; });
  if (block > 0) add(admits(min, 2 * block, max, is_block_edge), "block edge", is_block_edge);
  add(true, "largest", [max](std::int64_t n) { return n == max; });
  return classes;
}

// The powers of two and the multiples of `period` that are at most one outside [min, max].
struct Edges {
  std::vector<std::int64_t> powers;
  std::int64_t period, first, last;  // multiples, counted in periods; none where first > last

  Edges(std::int64_t min, std::int64_t max, std::int64_t a_period)
      : period(a_period),
        first(std::max<std::int64_t>(1, (min - 1 + period - 1) / period)),
        last((max + 1) / period) {
    for (std::int64_t power = 1; power <= max + 1; power *= 2) {
      if (power + 1 >= min) powers.push_back(power);
    }
  }

  [[nodiscard]] bool has_multiples() const { return first <= last; }
  [[nodiscard]] bool contain(std::int64_t n) const {
    const bool near_multiple = has_multiples() && is_edge(n, period);
    return near_multiple || std::ranges::any_of(powers, [n](std::int64_t power) {
             return n >= power - 1 && n <= power + 1;
           });
  }
};

constexpr std::int64_t kBlockClassesMax = 32;

std::vector<ValueClass<int>> edge_classes(const Edges& edges, int block) {
  std::vector<ValueClass<int>> classes;
  const auto around = [](std::int64_t edge) {
    return [edge](const int& n) { return n >= edge - 1 && n <= edge + 1; };
  };
  for (const std::int64_t power : edges.powers) {
    classes.push_back({"around " + std::to_string(power), around(power)});
  }
  if (block == 0 || edges.last - edges.first >= kBlockClassesMax) return classes;
  for (std::int64_t count = edges.first; count <= edges.last; ++count) {
    classes.push_back(
        {"around " + counted(static_cast<std::uint64_t>(count), "block"), around(count * block)});
  }
  return classes;
}

}  // namespace

Gen<int> sizes(SizeOptions options) {
  const std::int64_t min = options.min;
  const std::int64_t max = options.max;
  const std::int64_t block = options.block;
  if (min < 0 || min > max) throw std::invalid_argument("sizes: expected 0 <= min <= max");
  const Gen<int> gen = [=](Draw& draw) {
    const std::int64_t limit = max_at(draw.size(), min, max);
    return static_cast<int>(Sizes(min, limit, block).sample(draw));
  };
  return gen.within([=](const int& n) { return min <= n && n <= max; })
      .with_classes(size_classes<int>(min, max, block));
}

Gen<int> edge_sizes(SizeOptions options) {
  const std::int64_t min = options.min;
  const std::int64_t max = options.max;
  if (min < 0 || min > max || options.block < 0) {
    throw std::invalid_argument("edge_sizes: expected 0 <= min <= max and a block of at least 0");
  }
  const Edges edges(min, max, options.block > 0 ? options.block : kWarpSize);
  if (edges.powers.empty() && !edges.has_multiples()) {
    throw std::invalid_argument("edge_sizes: expected an edge within [min, max]");
  }
  const Gen<int> gen = [=](Draw& draw) {
    // With probability 1/2 a power of two, because there are few of them among many multiples.
    const bool power = !edges.has_multiples() || (!edges.powers.empty() && !draw.once_in(2));
    const std::int64_t edge = power ? edges.powers[draw.below(edges.powers.size())]
                                    : edges.period * draw.between(edges.first, edges.last);
    return static_cast<int>(std::clamp(edge + draw.between(-1, 1), min, max));
  };
  return gen.within([=](const int& n) { return min <= n && n <= max && edges.contain(n); })
      .with_classes(edge_classes(edges, options.block));
}

Gen<std::uint32_t> blocks(std::uint32_t max) {
  if (max == 0) throw std::invalid_argument("blocks: expected a block of at least one thread");
  const Gen<std::uint32_t> gen = [=](Draw& draw) {
    return static_cast<std::uint32_t>(Sizes(1, max, 0).sample(draw));
  };
  return gen.within([=](const std::uint32_t& threads) { return threads > 0 && threads <= max; })
      .with_classes(size_classes<std::uint32_t>(1, max, 0));
}

}  // namespace warpcheck
