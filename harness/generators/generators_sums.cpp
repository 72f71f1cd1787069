#include "harness/generators/generators_sums.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <stdexcept>
#include <utility>

#include "harness/input/data_classes.hpp"

namespace warpcheck {

namespace {

// Magnitudes are in 2^-kExponentMax .. 2^kExponentMax, or 0.  Sums of a million of them are far
// from overflow, and their rounding errors are far above the subnormal numbers.
constexpr int kExponentMax = 60;

template <class T>
constexpr int kDigits = std::numeric_limits<T>::digits;

template <class T>
T number(Draw& draw, int exponent_min, int exponent_max) {
  const std::uint64_t digits = draw.below(std::uint64_t{1} << (kDigits<T> - 1));
  const T mantissa = 1 + std::ldexp(static_cast<T>(digits), 1 - kDigits<T>);
  const auto exponent = static_cast<int>(draw.between(exponent_min, exponent_max - 1));
  const T value = std::ldexp(mantissa, exponent);
  return draw.below(2) == 1 ? -value : value;
}

template <class T>
void shuffle(Draw& draw, std::vector<T>& values) {
  for (std::size_t i = values.size(); i > 1; --i) std::swap(values[i - 1], values[draw.below(i)]);
}

// The extra element of an odd length is so small that it is lost when it is added to any other.
template <class T>
std::vector<T> pairs(Draw& draw, std::size_t n) {
  std::vector<T> values;
  for (std::size_t i = 0; i + 1 < n; i += 2) {
    values.push_back(number<T>(draw, 0, kExponentMax));
    values.push_back(-values.back());
  }
  if (values.size() < n) values.push_back(number<T>(draw, -kExponentMax, -kExponentMax + 2));
  shuffle(draw, values);
  return values;
}

// Between the two huge numbers every small one is lost.
template <class T>
std::vector<T> small_between_huge(Draw& draw, std::size_t n) {
  std::vector<T> values(n);
  for (T& value : values) value = number<T>(draw, -kExponentMax, -kExponentMax + 8);
  if (n < 2) return values;
  const std::size_t first = draw.below(n - 1);
  const std::size_t last = first + 1 + draw.below(n - 1 - first);
  values[first] = number<T>(draw, kExponentMax - 8, kExponentMax);
  values[last] = -values[first];
  return values;
}

template <class T>
std::vector<T> all_but_a_rounding_error(Draw& draw, std::size_t n) {
  std::vector<T> values;
  T sum = 0;
  for (std::size_t i = 0; i + 1 < n; ++i) {
    values.push_back(number<T>(draw, 0, kExponentMax / 2));
    sum += values.back();
  }
  if (n > 0) values.push_back(-sum);
  return values;
}

template <class T>
std::vector<T> sample(Draw& draw, std::size_t n) {
  switch (draw.below(3)) {
    case 0: return pairs<T>(draw, n);
    case 1: return small_between_huge<T>(draw, n);
    default: return all_but_a_rounding_error<T>(draw, n);
  }
}

template <class T>
bool is_summand(T value) {
  const T magnitude = std::fabs(value);
  return magnitude == 0 || (magnitude >= std::ldexp(T{1}, -kExponentMax - 2 * kDigits<T>) &&
                            magnitude <= std::ldexp(T{1}, kExponentMax + 20));
}

template <class T>
bool pairs_cancel(const std::vector<T>& values) {
  std::vector<T> negated(values);
  for (T& value : negated) value = -value;
  std::vector<T> ascending(values);
  std::ranges::sort(ascending);
  std::ranges::sort(negated);
  std::vector<T> alone;
  std::ranges::set_difference(ascending, negated, std::back_inserter(alone));
  return alone.size() <= 1;
}

template <class T>
bool has_huge_beside_tiny(const std::vector<T>& values) {
  T largest = 0, smallest = std::numeric_limits<T>::infinity();
  for (const T value : values) {
    const T magnitude = std::fabs(value);
    largest = std::max(largest, magnitude);
    if (magnitude > 0) smallest = std::min(smallest, magnitude);
  }
  return largest + smallest == largest && smallest <= largest;
}

template <class T>
bool is_ill_conditioned(const std::vector<T>& values) {
  long double sum = 0, magnitudes = 0;
  for (const T value : values) {
    sum += value;
    magnitudes += std::fabs(value);
  }
  return std::fabs(sum) < magnitudes * 0x1p-16L;
}

}  // namespace

template <std::floating_point T>
Gen<std::vector<T>> cancelling_sums(std::int64_t n) {
  if (n < 0) throw std::invalid_argument("cancelling_sums: expected a length of at least 0");
  const auto length = static_cast<std::size_t>(n);
  Gen<std::vector<T>> gen = [length](Draw& draw) { return sample<T>(draw, length); };
  gen = gen.within([length](const std::vector<T>& values) {
    return values.size() == length && std::ranges::all_of(values, is_summand<T>);
  });
  if (n < vectors_detail::kLengthWithClasses) return gen;
  return gen.with_classes({{"pairs cancel", pairs_cancel<T>},
                           {"huge beside tiny", has_huge_beside_tiny<T>},
                           {"ill-conditioned", is_ill_conditioned<T>}});
}

template Gen<std::vector<float>> cancelling_sums<float>(std::int64_t);
template Gen<std::vector<double>> cancelling_sums<double>(std::int64_t);

}  // namespace warpcheck
