#include "harness/generators/generators_floats.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace warpcheck {

namespace {

// IEEE 754 binary32 and binary64: sign, exponent, mantissa.
template <class T>
struct Format {
  using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  static constexpr int mantissa_bits = std::numeric_limits<T>::digits - 1;
  static constexpr Bits mantissa_mask = (Bits{1} << mantissa_bits) - 1;
  static constexpr Bits quiet_bit = Bits{1} << (mantissa_bits - 1);
  static constexpr Bits exponent_max = (Bits{1} << (8 * sizeof(T) - 1 - mantissa_bits)) - 1;
  static constexpr Bits sign_bit = Bits{1} << (8 * sizeof(T) - 1);

  static T make(bool negative, std::uint64_t exponent, std::uint64_t mantissa) {
    return std::bit_cast<T>(static_cast<Bits>((negative ? sign_bit : 0) |
                                              (static_cast<Bits>(exponent) << mantissa_bits) |
                                              static_cast<Bits>(mantissa)));
  }
  static Bits exponent(T value) {
    return (std::bit_cast<Bits>(value) & ~sign_bit) >> mantissa_bits;
  }
  static Bits mantissa(T value) { return std::bit_cast<Bits>(value) & mantissa_mask; }
};

// The largest T not above `bound`.
template <class T>
T at_most(double bound) {
  if (bound >= static_cast<double>(std::numeric_limits<T>::max())) {
    return std::numeric_limits<T>::max();
  }
  const auto value = static_cast<T>(bound);
  return static_cast<double>(value) > bound ? std::nextafter(value, T{0}) : value;
}

template <class T>
bool is_subnormal(T value) {
  return std::fpclassify(value) == FP_SUBNORMAL;
}

template <class T>
class Floats {
 public:
  using F = Format<T>;
  using Bits = typename F::Bits;

  explicit Floats(const FloatOptions& options)
      : options_(options), largest_(at_most<T>(options.magnitude_max)) {}

  [[nodiscard]] T largest() const { return largest_; }

  [[nodiscard]] bool admits(T value) const {
    if (std::isnan(value)) return options_.nan;
    if (std::isinf(value)) return options_.infinities;
    if (is_subnormal(value) && !options_.subnormals) return false;
    if (value == 0) return options_.negative_zero || !std::signbit(value);
    return std::abs(value) <= largest_;
  }

  // The tape records the value's own bits, for a fuzzer's compare hooks.
  [[nodiscard]] T sample(Draw& draw) const {
    const std::uint64_t bits = draw.leaning(std::uint64_t{F::sign_bit} << 1, [&] {
      const T value = lean(draw);
      return std::bit_cast<Bits>(admits(value) ? value : normal(draw));
    });
    return admitted(static_cast<Bits>(bits));
  }

 private:
  // The value of these bits; bits of excluded values are mapped to admitted ones.
  T admitted(Bits bits) const {
    const auto value = std::bit_cast<T>(bits);
    if (admits(value)) return value;
    const bool negative = (bits & F::sign_bit) != 0;
    const Bits magnitudes = std::bit_cast<Bits>(largest_) + 1;  // finite ones, in order
    const auto folded = F::make(negative, 0, (bits & ~F::sign_bit) % magnitudes);
    return admits(folded) ? folded : T{0};
  }

  static bool sign(Draw& draw) { return draw.below(2) == 1; }

  T lean(Draw& draw) const {
    switch (draw.below(16)) {
      case 0:
      case 1: return small_integer(draw);
      case 2: return F::make(sign(draw), 0, 0);
      case 3: return near_power_of_two(draw);
      case 4: return extreme(draw);
      case 5: return F::make(sign(draw), 0, draw.below(4) == 0 ? 1 : mantissa(draw));
      case 6: return F::make(sign(draw), F::exponent_max, 0);
      case 7: return not_a_number(draw);
      case 8:
      case 9:  // few binary digits: their sums are exact
        return (static_cast<T>(draw.below(2001)) - T{1000}) / T{8};
      default: return normal(draw);
    }
  }

  static std::uint64_t mantissa(Draw& draw) {
    return draw.below(std::uint64_t{F::mantissa_mask} + 1);
  }

  // 0, 1, -1, 2, -2 ... 16, -16
  static T small_integer(Draw& draw) {
    const std::uint64_t choice = draw.below(33);
    const std::uint64_t rank = (choice + 1) / 2;
    const auto magnitude = static_cast<T>(rank);
    return choice == 0 || choice % 2 == 1 ? magnitude : -magnitude;
  }

  T near_power_of_two(Draw& draw) const {
    const bool negative = sign(draw);
    const T power = F::make(negative, exponent(draw), 0);
    const auto bits = std::bit_cast<Bits>(power);
    return std::bit_cast<T>(static_cast<Bits>(bits + draw.below(3) - 1));
  }

  T extreme(Draw& draw) const {
    using Limits = std::numeric_limits<T>;
    const std::array extremes{largest_, std::nextafter(largest_, T{0}), Limits::min(),
                              Limits::epsilon()};
    const T value = extremes[draw.below(extremes.size())];
    return sign(draw) ? -value : value;
  }

  static T not_a_number(Draw& draw) {
    const bool negative = sign(draw);
    const bool canonical = draw.below(3) == 0;
    const std::uint64_t payload = canonical ? F::quiet_bit : mantissa(draw);
    return F::make(negative, F::exponent_max, payload == 0 ? F::quiet_bit : payload);
  }

  // A biased exponent of a normal number, uniform: huge and tiny numbers occur together.
  std::uint64_t exponent(Draw& draw) const {
    const std::uint64_t last = F::exponent(largest_);
    return last == 0 ? 0 : 1 + draw.below(last);
  }

  T normal(Draw& draw) const {
    const bool negative = sign(draw);
    const T value = F::make(negative, exponent(draw), mantissa(draw));
    if (admits(value)) return value;
    const T half = value / 2;
    return admits(half) ? half : T{0};
  }

  FloatOptions options_;
  T largest_;
};

template <class T>
bool has_payload(T value) {
  return std::isnan(value) && Format<T>::mantissa(value) != Format<T>::quiet_bit;
}

template <class T>
std::vector<ValueClass<T>> float_classes(const Floats<T>& floats) {
  using Limits = std::numeric_limits<T>;
  std::vector<ValueClass<T>> classes;
  // The class is admitted if `witness`, which belongs to it, is.
  const auto add = [&](T witness, std::string name, auto contains) {
    if (floats.admits(witness)) classes.push_back({std::move(name), contains});
  };
  const auto is_finite_nonzero = [](T x) { return std::isfinite(x) && x != 0; };
  add(T{0}, "zero", [](T x) { return x == 0 && !std::signbit(x); });
  add(-T{0}, "negative zero", [](T x) { return x == 0 && std::signbit(x); });
  add(T{1}, "integer", [=](T x) { return is_finite_nonzero(x) && std::trunc(x) == x; });
  add(T{0.5}, "fraction", [](T x) { return std::isfinite(x) && std::trunc(x) != x; });
  add(-Limits::min(), "negative", [](T x) { return x < 0; });
  add(Limits::min(), "power of two",
      [](T x) { return std::isnormal(x) && x > 0 && Format<T>::mantissa(x) == 0; });
  add(Limits::min(), "smallest normal", [](T x) { return std::abs(x) == Limits::min(); });
  add(Limits::denorm_min(), "subnormal", is_subnormal<T>);
  add(Limits::denorm_min(), "smallest subnormal",
      [](T x) { return std::abs(x) == Limits::denorm_min(); });
  add(floats.largest(), "largest",
      [largest = floats.largest()](T x) { return std::abs(x) == largest; });
  add(Limits::infinity(), "infinity", [](T x) { return std::isinf(x) && x > 0; });
  add(-Limits::infinity(), "negative infinity", [](T x) { return std::isinf(x) && x < 0; });
  add(Limits::quiet_NaN(), "NaN", [](T x) { return std::isnan(x); });
  add(Limits::quiet_NaN(), "NaN with payload", has_payload<T>);
  return classes;
}

}  // namespace

template <std::floating_point T>
Gen<T> floats(FloatOptions options) {
  if (!(options.magnitude_max >= 0)) {
    throw std::invalid_argument("floats: expected magnitude_max of at least 0");
  }
  const Floats<T> source(options);
  const Gen<T> gen = [source](Draw& draw) { return source.sample(draw); };
  return gen.within([source](const T& value) { return source.admits(value); })
      .with_classes(float_classes(source));
}

template Gen<float> floats<float>(FloatOptions);
template Gen<double> floats<double>(FloatOptions);

}  // namespace warpcheck
