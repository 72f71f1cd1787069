// Integers: small ones, extremes, neighbours of powers of two, and all others.
#pragma once

#include <array>
#include <bit>
#include <concepts>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "harness/input/draw.hpp"

namespace warpcheck {

namespace integers_detail {

template <std::integral T>
using Unsigned = std::make_unsigned_t<T>;

template <std::integral T>
bool is_power_of_two(T value) {
  return value > 0 && std::has_single_bit(static_cast<Unsigned<T>>(value));
}

// The value of [low, high] nearest to 0.
template <std::integral T>
T simplest(T low, T high) {
  return low > 0 ? low : high < 0 ? high : T{0};
}

// The number of choices for [low, high]; 0 means 2^64.
template <std::integral T>
std::uint64_t count(T low, T high) {
  return static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low) + 1;
}

// Choice 0 is `first`; the choices count up from there to high, and continue from low.  Over a
// type's full range from 0, the choice is the value's own bits, so that a fuzzer's compare hooks
// can write it.
template <std::integral T>
T value_of(std::uint64_t choice, T low, T high, T first) {
  const auto above = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(first);
  if (choice <= above) return static_cast<T>(static_cast<std::uint64_t>(first) + choice);
  return static_cast<T>(static_cast<std::uint64_t>(low) + (choice - above - 1));
}

template <std::integral T>
std::uint64_t choice_of(T value, T low, T high, T first) {
  if (value >= first) return static_cast<std::uint64_t>(value) - static_cast<std::uint64_t>(first);
  const auto above = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(first);
  return above + 1 + static_cast<std::uint64_t>(value) - static_cast<std::uint64_t>(low);
}

// A value of [low, high] as lean() draws it; the tape records the value.
template <std::integral T, class Lean>
T leaning(Draw& draw, T low, T high, T first, Lean lean) {
  const auto choose = [&] { return choice_of<T>(lean(), low, high, first); };
  return value_of(draw.leaning(count(low, high), choose), low, high, first);
}

template <std::integral T>
T uniform(Draw& draw, T low, T high) {
  return value_of(draw.below(count(low, high)), low, high, low);
}

// Up to 16 steps from the simplest value, on either side: 0, 1, -1, 2, -2 ...
template <std::integral T>
T small(Draw& draw, T low, T high) {
  const std::uint64_t choice = draw.below(33);
  const auto distance = static_cast<std::uint64_t>((choice + 1) / 2);
  const T from = simplest(low, high);
  const auto above = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(from);
  const auto below = static_cast<std::uint64_t>(from) - static_cast<std::uint64_t>(low);
  const bool up = choice % 2 == 1 ? above >= distance : below < distance;
  if (up) return static_cast<T>(static_cast<std::uint64_t>(from) + std::min(distance, above));
  return static_cast<T>(static_cast<std::uint64_t>(from) - std::min(distance, below));
}

template <std::integral T>
T edge(Draw& draw, T low, T high) {
  const auto above_low = static_cast<T>(low == high ? low : low + 1);
  const auto below_high = static_cast<T>(low == high ? high : high - 1);
  const std::array<T, 4> edges{low, high, above_low, below_high};
  return edges[draw.below(edges.size())];
}

// 2^k - 1, 2^k or 2^k + 1 or its negative; uniform if that is out of range.
template <std::integral T>
T near_power_of_two(Draw& draw, T low, T high) {
  const auto exponent = draw.below(std::numeric_limits<Unsigned<T>>::digits);
  const std::uint64_t magnitude = (std::uint64_t{1} << exponent) + draw.below(3) - 1;
  const bool negative = std::is_signed_v<T> && draw.below(2) == 1;
  const auto value = static_cast<T>(negative ? 0 - magnitude : magnitude);
  return value >= low && value <= high ? value : uniform(draw, low, high);
}

template <std::integral T>
std::vector<ValueClass<T>> classes(T low, T high) {
  std::vector<ValueClass<T>> classes;
  const auto add = [&](bool admitted, std::string name, auto contains) {
    if (admitted) classes.push_back({std::move(name), contains});
  };
  const auto admits = [=](auto value) {
    return std::in_range<T>(value) && std::cmp_greater_equal(value, low) &&
           std::cmp_less_equal(value, high);
  };
  add(true, "lowest", [=](T x) { return x == low; });
  add(true, "highest", [=](T x) { return x == high; });
  add(admits(0), "zero", [](T x) { return x == 0; });
  add(admits(1), "one", [](T x) { return x == 1; });
  add(admits(-1), "minus one", [](T x) { return std::cmp_equal(x, -1); });
  add(low < 0, "negative", [](T x) { return x < 0; });
  add(admits(1) && admits(4), "power of two", [](T x) { return is_power_of_two(x); });
  add(admits(4) && admits(0), "power of two +-1", [](T x) {
    return x > 4 && x < std::numeric_limits<T>::max() &&
           (is_power_of_two(static_cast<T>(x - 1)) || is_power_of_two(static_cast<T>(x + 1)));
  });
  return classes;
}

}  // namespace integers_detail

// All integers of [low, high].
// Classes, as far as the range admits them: "lowest", "highest", "zero", "one", "minus one",
// "negative", "power of two", "power of two +-1".  Throws std::invalid_argument if low > high.
template <std::integral T>
requires(!std::same_as<T, bool>) Gen<T> integers(T low, T high) {
  using namespace integers_detail;  // NOLINT(google-build-using-namespace)
  if (low > high) throw std::invalid_argument("integers: expected low <= high");
  Gen<T> gen = [=](Draw& draw) -> T {
    return leaning(draw, low, high, simplest(low, high), [&]() -> T {
      switch (draw.below(8)) {
        case 0:
        case 1: return small(draw, low, high);
        case 2: return edge(draw, low, high);
        case 3: return near_power_of_two(draw, low, high);
        default: return uniform(draw, low, high);
      }
    });
  };
  return gen.within([=](const T& value) { return low <= value && value <= high; })
      .with_classes(classes(low, high));
}

// All values of T.
template <std::integral T>
Gen<T> integers() {
  return integers<T>(std::numeric_limits<T>::min(), std::numeric_limits<T>::max());
}

}  // namespace warpcheck
