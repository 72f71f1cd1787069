#include "harness/generators/generators_halves.hpp"

#include <array>
#include <cmath>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace warpcheck {

namespace {

using Bits = std::uint16_t;

// A 16-bit format: a sign, exponent_bits, mantissa_bits.  Magnitudes are patterns without the sign;
// their order is that of their values.
struct Format {
  unsigned mantissa_bits;

  [[nodiscard]] unsigned exponent_bits() const { return 15 - mantissa_bits; }
  [[nodiscard]] Bits mantissa_mask() const { return static_cast<Bits>((1U << mantissa_bits) - 1); }
  [[nodiscard]] Bits infinity() const {
    return static_cast<Bits>(((1U << exponent_bits()) - 1) << mantissa_bits);
  }
  [[nodiscard]] Bits quiet_nan() const {
    return static_cast<Bits>(infinity() | (1U << (mantissa_bits - 1)));
  }
  [[nodiscard]] Bits smallest_normal() const { return static_cast<Bits>(1U << mantissa_bits); }
  [[nodiscard]] int bias() const { return (1 << (exponent_bits() - 1)) - 1; }

  [[nodiscard]] Bits power_of_two(unsigned biased_exponent) const {
    return static_cast<Bits>(biased_exponent << mantissa_bits);
  }
  [[nodiscard]] Bits one() const { return power_of_two(static_cast<unsigned>(bias())); }

  [[nodiscard]] double value_of(Bits magnitude) const {
    const auto exponent = static_cast<int>(magnitude >> mantissa_bits);
    const unsigned mantissa = magnitude & mantissa_mask();
    const unsigned digits = exponent == 0 ? mantissa : mantissa + smallest_normal();
    return std::ldexp(digits,
                      (exponent == 0 ? 1 : exponent) - bias() - static_cast<int>(mantissa_bits));
  }

  // The largest finite magnitude whose value is not above `bound`.
  [[nodiscard]] Bits at_most(double bound) const {
    unsigned low = 0, high = infinity();  // value_of(low) <= bound, and high is above or no number
    while (low + 1 < high) {
      const unsigned middle = (low + high) / 2;
      (value_of(static_cast<Bits>(middle)) <= bound ? low : high) = middle;
    }
    return static_cast<Bits>(low);
  }
};

constexpr Format kHalf{.mantissa_bits = 10};
constexpr Format kBfloat16{.mantissa_bits = 7};

constexpr Bits kSign = 0x8000;
Bits magnitude_of(Bits bits) { return bits & static_cast<Bits>(~kSign); }

class Patterns {
 public:
  Patterns(const Format& format, const FloatOptions& options)
      : format_(format), options_(options), largest_(format.at_most(options.magnitude_max)) {}

  [[nodiscard]] const Format& format() const { return format_; }
  [[nodiscard]] Bits largest() const { return largest_; }

  [[nodiscard]] bool admits(Bits bits) const {
    const Bits magnitude = magnitude_of(bits);
    if (magnitude > format_.infinity()) return options_.nan;
    if (magnitude == format_.infinity()) return options_.infinities;
    if (magnitude == 0) return options_.negative_zero || bits == 0;
    if (magnitude < format_.smallest_normal() && !options_.subnormals) return false;
    return magnitude <= largest_;
  }

  // The tape records the pattern itself; patterns of excluded values are mapped to admitted ones.
  [[nodiscard]] Bits sample(Draw& draw) const {
    const auto bits = static_cast<Bits>(draw.leaning(0x10000, [&]() -> std::uint64_t {
      const Bits sign = draw.below(2) == 1 ? kSign : Bits{0};
      return sign | magnitude(draw);
    }));
    if (admits(bits)) return bits;
    const auto folded =
        static_cast<Bits>((bits & kSign) | (magnitude_of(bits) % (unsigned{largest_} + 1)));
    return admits(folded) ? folded : Bits{0};
  }

 private:
  Bits magnitude(Draw& draw) const {
    const auto any = [&](unsigned limit) { return static_cast<Bits>(draw.below(limit)); };
    switch (draw.below(12)) {
      case 0: return 0;
      case 1: return integer(1 + any(16));
      case 2: {
        const unsigned exponent = any(1U << format_.exponent_bits());
        return static_cast<Bits>(format_.power_of_two(exponent) + draw.below(3) - 1) & 0x7fff;
      }
      case 3: return extreme(draw);
      case 4: return 1 + any(format_.mantissa_mask());
      case 5: return format_.infinity();
      case 6: return draw.below(2) == 0 ? format_.quiet_nan() : not_a_number(draw);
      case 7: return integer(1 + any(16)) - 3 * format_.smallest_normal();  // n / 8
      default: return static_cast<Bits>(draw.below(unsigned{largest_} + 1));
    }
  }

  [[nodiscard]] Bits integer(unsigned n) const { return format_.at_most(n); }

  Bits extreme(Draw& draw) const {
    const std::array<Bits, 4> extremes{largest_, static_cast<Bits>(largest_ > 0 ? largest_ - 1 : 0),
                                       format_.smallest_normal(), 1};
    return extremes[draw.below(extremes.size())];
  }

  Bits not_a_number(Draw& draw) const {
    return static_cast<Bits>(format_.infinity() + 1 + draw.below(format_.mantissa_mask()));
  }

  Format format_;
  FloatOptions options_;
  Bits largest_;
};

std::vector<ValueClass<Bits>> pattern_classes(const Patterns& patterns) {
  const Format format = patterns.format();
  const Bits infinity = format.infinity(), normal = format.smallest_normal();
  std::vector<ValueClass<Bits>> classes;
  // The class is admitted if this pattern, which belongs to it, is.
  const auto add = [&](Bits witness, std::string name, auto contains) {
    if (patterns.admits(witness)) classes.push_back({std::move(name), contains});
  };
  const auto is_integer = [format](Bits bits) {
    const double value = format.value_of(magnitude_of(bits));
    return std::trunc(value) == value;
  };
  const auto is_number = [infinity](Bits bits) {
    return magnitude_of(bits) != 0 && magnitude_of(bits) < infinity;
  };
  const Bits half = format.power_of_two(static_cast<unsigned>(format.bias() - 1));
  const Bits largest = patterns.largest();
  add(0, "zero", [](Bits x) { return x == 0; });
  add(kSign, "negative zero", [](Bits x) { return x == kSign; });
  add(format.one(), "integer", [=](Bits x) { return is_number(x) && is_integer(x); });
  add(half, "fraction", [=](Bits x) { return is_number(x) && !is_integer(x); });
  add(kSign | normal, "negative", [=](Bits x) { return is_number(x) && (x & kSign) != 0; });
  add(normal, "power of two",
      [=](Bits x) { return x >= normal && x < infinity && (x & format.mantissa_mask()) == 0; });
  add(normal, "smallest normal", [=](Bits x) { return magnitude_of(x) == normal; });
  add(1, "subnormal", [=](Bits x) { return magnitude_of(x) > 0 && magnitude_of(x) < normal; });
  add(1, "smallest subnormal", [](Bits x) { return magnitude_of(x) == 1; });
  add(largest, "largest", [=](Bits x) { return magnitude_of(x) == largest; });
  add(infinity, "infinity", [=](Bits x) { return x == infinity; });
  add(kSign | infinity, "negative infinity", [=](Bits x) { return x == (kSign | infinity); });
  add(format.quiet_nan(), "NaN", [=](Bits x) { return magnitude_of(x) > infinity; });
  add(format.quiet_nan(), "NaN with payload",
      [=](Bits x) { return magnitude_of(x) > infinity && magnitude_of(x) != format.quiet_nan(); });
  return classes;
}

Gen<Bits> patterns_of(const Format& format, const FloatOptions& options) {
  if (!(options.magnitude_max >= 0)) {
    throw std::invalid_argument("halves, bfloats: expected magnitude_max of at least 0");
  }
  const Patterns patterns(format, options);
  const Gen<Bits> gen = [patterns](Draw& draw) { return patterns.sample(draw); };
  return gen.within([patterns](const Bits& bits) { return patterns.admits(bits); })
      .with_classes(pattern_classes(patterns));
}

}  // namespace

Gen<Bits> halves(FloatOptions options) { return patterns_of(kHalf, options); }
Gen<Bits> bfloats(FloatOptions options) { return patterns_of(kBfloat16, options); }

}  // namespace warpcheck
