#include "vgpu/conformance/approximation.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <string_view>

namespace warpcheck::conformance {
namespace {

using Real = long double;

constexpr Real kPi = 3.141592653589793238462643383280L;

// A floating-point format, and the conversion of its bit patterns to reals.
struct Format {
  int exponent_bits = 8;
  int fraction_bits = 23;
  [[nodiscard]] int bias() const { return (1 << (exponent_bits - 1)) - 1; }
  [[nodiscard]] Real smallest_normal() const { return std::ldexp(Real{1}, 1 - bias()); }
  [[nodiscard]] Real largest() const {
    return std::ldexp(Real{2}, bias()) * (1 - ulp_of_one() / 2);
  }
  [[nodiscard]] Real ulp_of_one() const { return std::ldexp(Real{1}, -fraction_bits); }

  [[nodiscard]] Real value(std::uint64_t bits) const {
    const std::uint64_t fraction = bits & ((std::uint64_t{1} << fraction_bits) - 1);
    const auto biased = static_cast<int>(bits >> fraction_bits & ((1u << exponent_bits) - 1));
    const bool negative = (bits >> (exponent_bits + fraction_bits) & 1) != 0;
    Real x = 0;
    if (biased == (1 << exponent_bits) - 1) {
      x = fraction != 0 ? std::numeric_limits<Real>::quiet_NaN()
                        : std::numeric_limits<Real>::infinity();
    } else {
      const Real digits =
          static_cast<Real>(fraction) + (biased == 0 ? 0 : std::ldexp(1.0L, fraction_bits));
      x = std::ldexp(digits, std::max(biased, 1) - bias() - fraction_bits);
    }
    return negative ? -x : x;
  }
  // The distance between neighbours at x, for an unbounded exponent range.
  [[nodiscard]] Real ulp(Real x) const {
    return std::ldexp(Real{1}, std::ilogb(x) - fraction_bits);
  }
};

Format format_of(std::string_view type) {
  if (type.starts_with("bf16")) return {8, 7};
  if (type.starts_with("f16")) return {5, 10};
  return type == "f64" ? Format{11, 52} : Format{};
}

// The error that the PTX ISA allows for an instruction: in ulps, relative to the result, or
// absolute.
struct Promise {
  std::string_view mnemonic;  // prefix of the mnemonic
  std::string_view type;
  Real (*truth)(Real a, Real b);
  Real ulps = 0, relative = 0, absolute = 0;
  bool (*covers)(Real a, Real b) = nullptr;  // the arguments that the row covers; null: all
};

bool within_2_pi(Real a, Real) { return std::fabs(a) <= 2 * kPi; }
bool within_100_pi(Real a, Real) { return std::fabs(a) <= 100 * kPi; }
bool is_ordinary_divisor(Real, Real b) {
  return std::fabs(b) >= 0x1p-126L && std::fabs(b) <= 0x1p126L;
}

// The first matching row applies.  For f64 PTX ISA 9.0 states no error bound, but says how many
// bits of the result are significant (9.7.3.14, 9.7.3.17: 20 bits of the fraction), and that
// rsqrt.approx.f64 is emulated in software.
constexpr std::array kPromises = {
    // 9.7.3.8
    Promise{"div.approx", "f32", [](Real a, Real b) { return a / b; }, 2, 0, 0,
            is_ordinary_divisor},
    Promise{"div.full", "f32", [](Real a, Real b) { return a / b; }, 2},
    // 9.7.3.13, 9.7.3.15, 9.7.3.16: 2^-22.9
    Promise{"rcp.approx", "f32", [](Real a, Real) { return 1 / a; }, 1},
    Promise{"sqrt.approx", "f32", [](Real a, Real) { return std::sqrt(a); }, 0, 0x1p-23L},
    Promise{"rsqrt.approx", "f32", [](Real a, Real) { return 1 / std::sqrt(a); }, 0, 0x1.12p-23L},
    // 9.7.3.18, 9.7.3.19: 2^-20.5 within 2 pi, 2^-14.7 within 100 pi, no bound beyond
    Promise{"sin.approx", "f32", [](Real a, Real) { return std::sin(a); }, 0, 0, 0x1.6ap-21L,
            within_2_pi},
    Promise{"cos.approx", "f32", [](Real a, Real) { return std::cos(a); }, 0, 0, 0x1.6ap-21L,
            within_2_pi},
    Promise{"sin.approx", "f32", [](Real a, Real) { return std::sin(a); }, 0, 0, 0x1.3bp-15L,
            within_100_pi},
    Promise{"cos.approx", "f32", [](Real a, Real) { return std::cos(a); }, 0, 0, 0x1.3bp-15L,
            within_100_pi},
    // 9.7.3.20: the greater of the absolute error, which applies within (0.5, 2), and the relative
    // error, which applies elsewhere
    Promise{"lg2.approx", "f32", [](Real a, Real) { return std::log2(a); }, 0, 0x1p-22L, 0x1p-22L},
    // 9.7.3.21, 9.7.3.22
    Promise{"ex2.approx", "f32", [](Real a, Real) { return std::exp2(a); }, 2},
    Promise{"tanh.approx", "f32", [](Real a, Real) { return std::tanh(a); }, 0, 0x1p-11L},
    Promise{"rcp.approx", "f64", [](Real a, Real) { return 1 / a; }, 0, 0x1p-20L},
    Promise{"rsqrt.approx.ftz", "f64", [](Real a, Real) { return 1 / std::sqrt(a); }, 0, 0x1p-20L},
    Promise{"rsqrt.approx.f64", "f64", [](Real a, Real) { return 1 / std::sqrt(a); }, 2},
    // 9.7.4.10: 2^-9.9; 9.7.4.9: 2^-10.987
    Promise{"ex2.approx", "f16", [](Real a, Real) { return std::exp2(a); }, 0, 0x1.12p-10L},
    Promise{"tanh.approx", "f16", [](Real a, Real) { return std::tanh(a); }, 0, 0, 0x1.025p-11L},
    Promise{"ex2.approx", "bf16", [](Real a, Real) { return std::exp2(a); }, 0, 0x1p-7L},
    Promise{"tanh.approx", "bf16", [](Real a, Real) { return std::tanh(a); }, 0, 0, 0x1p-8L},
};

std::string_view element_of(std::string_view type) {
  return type.ends_with("x2") ? type.substr(0, type.size() - 2) : type;
}

const Promise* find_promise(const ptx::InstructionForm& form, Real a, Real b) {
  const std::string_view type = element_of(form.results[0]);
  for (const Promise& promise : kPromises) {
    const bool is_about = form.mnemonic.starts_with(promise.mnemonic) && promise.type == type;
    if (is_about && (promise.covers == nullptr || promise.covers(a, b))) return &promise;
  }
  return nullptr;
}

// An argument as the instruction reads it: .ftz turns subnormals into zeros, and an f64 instruction
// with .ftz reads only the upper 32 bits.
std::uint64_t seen(const ptx::InstructionForm& form, const Format& format, std::uint64_t bits) {
  if (form.mnemonic.find(".ftz") == std::string::npos) return bits;
  if (format.fraction_bits == 52) bits &= ~std::uint64_t{0xffffffff};
  const bool subnormal = std::fabs(format.value(bits)) < format.smallest_normal();
  return subnormal ? bits & std::uint64_t{1} << (format.exponent_bits + format.fraction_bits)
                   : bits;
}

double share_of_one(const Promise& promise, const Format& format, Real a, Real b, Real result) {
  const Real truth = promise.truth(a, b);
  const auto wrong = [](bool is_wrong) { return is_wrong ? 1e9 : 0.0; };
  if (std::isnan(truth)) return wrong(!std::isnan(result));
  if (std::isinf(truth)) return wrong(result != truth);
  if (std::isnan(result)) return wrong(true);
  // Near the limits of the format two results are accepted: infinity or the greatest number, and a
  // subnormal or zero.
  if (std::fabs(truth) > format.largest()) {
    return wrong(std::fabs(result) < format.largest() * (1 - 4 * format.ulp_of_one()));
  }
  if (std::isinf(result))
    return wrong(std::fabs(truth) < format.largest() * (1 - 4 * format.ulp_of_one()));
  if (std::fabs(truth) < 2 * format.smallest_normal() &&
      std::fabs(result) < 2 * format.smallest_normal()) {
    return wrong(false);
  }
  const Real error = std::fabs(result - truth);
  Real allowed = std::max(promise.absolute, promise.relative * std::fabs(truth));
  if (promise.ulps != 0) allowed = promise.ulps * format.ulp(truth);
  return static_cast<double>(error / allowed);
}

}  // namespace

std::optional<double> error_share(const ptx::InstructionForm& form,
                                  std::span<const std::uint64_t> operands, std::uint64_t result) {
  const Format format = format_of(form.results[0]);
  const bool pair = form.results[0].ends_with("x2");
  std::optional<double> worst;
  for (unsigned shift = 0; shift < (pair ? 32u : 16u); shift += 16) {
    const auto part = [&](std::uint64_t bits) { return pair ? bits >> shift & 0xffff : bits; };
    const auto argument = [&](std::size_t k) {
      return k < operands.size() ? format.value(seen(form, format, part(operands[k]))) : Real{0};
    };
    const Real a = argument(0);
    const Real b = argument(1);
    const Promise* const promise = find_promise(form, a, b);
    if (promise == nullptr) continue;
    const double share = share_of_one(*promise, format, a, b, format.value(part(result)));
    if (!worst || share > *worst) worst = share;
  }
  return worst;
}

}  // namespace warpcheck::conformance
