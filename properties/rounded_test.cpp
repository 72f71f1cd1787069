// within_rounding() accepts kernels whatever way their numbers take (halves through calls and in
// pairs, bits that the toolkit's functions take apart), and refuses other formulas.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "harness/pair/pair.hpp"
#include "kernels/specimens/planted/rounded.hpp"
#include "properties/run_case.hpp"
#include "reference/neural.hpp"

namespace warpcheck {

struct RoundedInput {
  std::vector<float> in;
};
FIELDS(RoundedInput, in);

struct RoundedFunction {
  std::vector<float> in;
  int way = 0;
};
FIELDS(RoundedFunction, in, way);

namespace {

using RoundedList = std::vector<float>;

template <RoundedKernel kernel>
RoundedList run_rounded(Device& device, const RoundedInput& input) {
  const auto in = device.upload(input.in);
  auto out = device.array<float>(input.in.size());
  out.fill_bytes(0);
  device.check(kernel(in.data(), out.data(), static_cast<int>(input.in.size())));
  return out.download();
}

// The references, for doubles and for exact numbers.
template <class T>
std::vector<T> polynomial_of(std::vector<T> list) {
  for (T& x : list) x = x * x + x;
  return list;
}
template <class T>
std::vector<T> logarithm_of(const std::vector<T>& list) {
  using std::log;
  std::vector<T> out;
  for (const T& x : list) out.push_back(log(x * list[0] * list[1]));
  return out;
}
template <class T>
std::vector<T> norm_of(const std::vector<T>& list) {
  const std::vector<T> ones(list.size(), T(1)), zeros(list.size(), T(0));
  return reference::layer_norm(list, ones, zeros, list.empty() ? 0 : 1, 1e-5F);
}
template <class T>
std::vector<T> products_of(const std::vector<T>& list) {
  std::vector<T> out(list.size(), T(0));
  for (std::size_t i = 0; i < list.size(); ++i) out[0] += list[i] * list[(i + 1) % list.size()];
  return out;
}

// The functions of kernels/specimens/planted/rounded.cu.
template <class T>
T function_of(int way, const T& x) {
  using std::cos, std::exp, std::exp2, std::log, std::log2, std::sin, std::sqrt, std::tanh;
  const T one(1), two(2), ten(10);
  const auto power = [](const T& base, const T& exponent) { return exp(exponent * log(base)); };
  switch (way) {
    case 0:
    case 1:
    case 32:
    case 39: return one / sqrt(x);
    case 2:
    case 38: return sqrt(x);
    case 3: return two * sqrt(x);
    case 4:
    case 6:
    case 37: return x * x + x;
    case 5: return x * x - T(static_cast<double>(0.1F));
    case 7: return (T(static_cast<double>(1.1F)) - one) / x;
    case 8: return x / (x + one);
    case 9:
    case 15:
    case 33:
    case 41: return exp(x);
    case 10:
    case 34:
    case 42: return log(x);
    case 11: return log2(x) + log(x) / log(ten);
    case 12:
    case 31:
    case 51: return x * sqrt(x);
    case 13:
    case 29: return sin(x);
    case 14:
    case 30: return cos(x);
    case 16: return exp2(x) + exp(x * log(ten));
    case 17: return log2(x);
    case 18: return log(x) / log(ten);
    case 19: return log(one + x);
    case 20: return exp(x) - one;
    case 21:
    case 35: return power(x, one / T(3));
    case 22: return power(x, -one / T(3));
    case 23: return sqrt(x * x + T(4));
    case 24: return one / sqrt(x * x + T(4));
    case 25: return sqrt(x * x + T(5));
    case 26:
    case 50: return (exp(x) - exp(-x)) / two;
    case 27: return (exp(x) + exp(-x)) / two;
    case 28: return tanh(x);
    case 36: return sqrt(x) + one / x;
    case 40: return one / x;
    case 43: return exp2(x);
    case 44: return x / T(3);
    case 45: return two * x;
    case 46:
    case 47: return sin(x) / cos(x);
    case 48: return log(x + sqrt(x * x + one));
    case 49: return log(x + one + sqrt((x + one) * (x + one) - one));
    default: return T(8) * x + x / T(4);
  }
}
template <class T>
std::vector<T> functions_of(int way, std::vector<T> list) {
  for (T& x : list) x = function_of(way % kRoundedWrong, x);
  return list;
}

RoundedList as_floats(const std::vector<double>& list) {
  RoundedList floats;
  for (const double x : list) floats.push_back(static_cast<float>(x));
  return floats;
}

}  // namespace

#define ROUNDED_PAIR(name, of, arithmetic)                                               \
  KERNEL_PAIR(name, RoundedInput, std::vector<float>) = {                                \
      .family = "rounded",                                                               \
      .domain = [](const RoundedInput& in) { return in.in.size() <= 64; },               \
      .arbitrary = [](Draw&) { return RoundedInput{}; },                                 \
      .kernel = run_rounded<::name>,                                                     \
      .reference =                                                                       \
          [](const RoundedInput& input) {                                                \
            return as_floats(of(std::vector<double>(input.in.begin(), input.in.end()))); \
          },                                                                             \
      .agreement = within_rounding(arithmetic),                                          \
      .exact_reference = [](const RoundedInput& input,                                   \
                            const ExactData& data) { return of(data(input.in)); },       \
  }

ROUNDED_PAIR(rounded_half_polynomial, polynomial_of, Arithmetic::of_half);
ROUNDED_PAIR(rounded_half_pairs, polynomial_of, Arithmetic::of_half);
ROUNDED_PAIR(rounded_logarithm, logarithm_of, Arithmetic::of_float);
ROUNDED_PAIR(rounded_norm, norm_of, Arithmetic::of_float);
ROUNDED_PAIR(rounded_norm_wrong_epsilon, norm_of, Arithmetic::of_float);
ROUNDED_PAIR(rounded_norm_of_n_minus_one, norm_of, Arithmetic::of_float);
ROUNDED_PAIR(rounded_products, products_of, Arithmetic::of_float);
ROUNDED_PAIR(rounded_products_without_last, products_of, Arithmetic::of_float);

#define FUNCTION_PAIR(name, arithmetic)                                                          \
  KERNEL_PAIR(name, RoundedFunction, std::vector<float>) = {                                     \
      .family = "rounded",                                                                       \
      .arbitrary = [](Draw&) { return RoundedFunction{}; },                                      \
      .kernel =                                                                                  \
          [](Device& device, const RoundedFunction& input) {                                     \
            const auto in = device.upload(input.in);                                             \
            auto out = device.array<float>(input.in.size());                                     \
            device.check(::rounded_function(in.data(), out.data(),                               \
                                            static_cast<int>(input.in.size()), input.way));      \
            return out.download();                                                               \
          },                                                                                     \
      .reference =                                                                               \
          [](const RoundedFunction& input) {                                                     \
            return as_floats(                                                                    \
                functions_of(input.way, std::vector<double>(input.in.begin(), input.in.end()))); \
          },                                                                                     \
      .agreement = within_rounding(arithmetic),                                                  \
      .exact_reference =                                                                         \
          [](const RoundedFunction& input, const ExactData& data) {                              \
            return functions_of(input.way, data(input.in));                                      \
          },                                                                                     \
  }
FUNCTION_PAIR(rounded_function, Arithmetic::of_float);
FUNCTION_PAIR(rounded_half_function, Arithmetic::of_half);

namespace {

const RoundedList kRoundedNumbers{0.1F, 3.7F, 0.33333334F, 1.9F, 7.3F, 0.015F};

std::string said_of(const std::string& pair, const RoundedList& in, const Settings& settings) {
  const Verdict verdict = run_case(case_of(pair, {{"in", in}}, settings));
  return verdict.findings.empty() ? "" : verdict.findings.front().message;
}

void expect_silence(const std::string& pair, const RoundedList& in) {
  for (const Settings& settings : kAllSettings) EXPECT_EQ(said_of(pair, in, settings), "") << pair;
}

void expect_refusal(const std::string& pair, const RoundedList& in, const std::string& says) {
  for (const Settings& settings : kAllSettings) {
    const std::string said = said_of(pair, in, settings);
    EXPECT_EQ(said.find(says), 0) << said;
    EXPECT_NE(said.find("it is another formula"), std::string::npos) << said;
  }
}

constexpr int kRoundedFunctions = 53;
bool is_of_halves(int way) { return way >= 38 && way <= 45; }

std::string said_of_function(int way, const Settings& settings) {
  const RoundedList in{0.1F, 3.7F, 0.33333334F, 1.9F, 0.75F, 1e-3F};
  const char* const pair =
      is_of_halves(way % kRoundedWrong) ? "rounded_half_function" : "rounded_function";
  const Verdict verdict = run_case(case_of(pair, {{"in", in}, {"way", way}}, settings));
  return verdict.findings.empty() ? "" : verdict.findings.front().message;
}

TEST(Rounded, FunctionsAreFollowed) {
  for (const Settings& settings : {kAllSettings[0], kAllSettings[2]}) {
    for (int way = 0; way < kRoundedFunctions; ++way)
      EXPECT_EQ(said_of_function(way, settings), "") << way;
  }
}

TEST(Rounded, AWrongFactorIsAnotherFormula) {
  for (int way = 0; way < kRoundedFunctions; ++way) {
    // Halves have fewer digits.  In log(), sinh() and pow() of doubles exponents are taken off by
    // integers: their rounding has no bound, so that only results without an error are accepted.
    if (is_of_halves(way) || way == 34 || way == 50 || way == 51) continue;
    const std::string said = said_of_function(kRoundedWrong + way, kAllSettings[0]);
    EXPECT_NE(said.find("it is another formula"), std::string::npos) << way << ": " << said;
  }
}

TEST(Rounded, HalvesPassThroughCalls) {
  expect_silence("rounded_half_polynomial", kRoundedNumbers);
}

TEST(Rounded, HalvesPassInPairs) { expect_silence("rounded_half_pairs", kRoundedNumbers); }

TEST(Rounded, TheToolkitsLogarithmIsFollowed) {
  expect_silence("rounded_logarithm", kRoundedNumbers);
}

TEST(Rounded, AnotherEpsilonIsAnotherFormula) {
  const RoundedList in{0.01F, -0.01F, 0.02F, 0.03F};
  expect_silence("rounded_norm", in);
  expect_refusal("rounded_norm_wrong_epsilon", in, "out[1] = ");
  expect_refusal("rounded_norm_of_n_minus_one", in, "out[");
}

TEST(Rounded, ADroppedTermIsAnotherFormula) {
  RoundedList in(40);
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = 0.5F + 0.01F * static_cast<float>(i);
  expect_silence("rounded_products", in);
  expect_refusal("rounded_products_without_last", in, "out[0] = ");
  in.resize(31);  // no term is dropped
  expect_silence("rounded_products_without_last", in);
}

}  // namespace
}  // namespace warpcheck
