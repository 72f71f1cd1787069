// within_rounding() accepts formulas of learning and statistics in other words than the
// reference's, and refuses each with another constant, term or step (kernels/specimens/planted).
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "harness/pair/pair.hpp"
#include "kernels/specimens/planted/rounded_formulas.hpp"
#include "properties/run_case.hpp"
#include "reference/neural.hpp"

namespace warpcheck {

struct FormulaInput {
  std::vector<float> in;
  int way = 0;
};
FIELDS(FormulaInput, in, way);

namespace {

template <class T>
T rounded_number(int way, const T& x) {
  using std::exp, std::log, std::sqrt, std::tanh;
  const T one(1), half(0.5);
  switch (way) {
    case 0: return half * x * (one + tanh(T(0.75) * (x + T(0.046875) * x * x * x)));
    case 1: return x / (one + exp(-x));
    case 2: return log(one + exp(x));
    case 3: return T(2) * x * x * x - T(3) * x * x + half * x - T(7);
    case 4: return x * x - T(4);
    case 5: return (one - x) * T(3) + x * T(5);
    case 6: return log(one + exp(x)) - x * T(0.25);
    case 7: return one / sqrt(x);
    case 8: return exp(T(0.25) * log(x * (x + one)));
    default: return sqrt(x * x + one);
  }
}

template <class T>
T sum_of_list(const std::vector<T>& list) {
  T sum(0);
  for (const T& x : list) sum += x;
  return sum;
}

template <class T>
T rounded_element(int way, const std::vector<T>& in, std::size_t i) {
  using std::exp, std::log, std::sqrt;
  const std::size_t n = in.size();
  const T count(static_cast<double>(n));
  T sum(0), other(0);
  switch (way) {
    case 10: return in[i] / sqrt(reference::dot_product(in, in) / count + T(1e-5F));
    case 11:
      for (std::size_t k = 0; k < n; ++k) sum += in[k] * in[n - 1 - k];
      return sum / reference::dot_product(in, in);
    case 12:
      for (std::size_t k = 0; k < n; ++k) {
        sum += T(static_cast<double>(k + 1)) * in[k];
        other += T(static_cast<double>(k + 1));
      }
      return sum / other;
    case 13:
      for (std::size_t k = 0; k < n; ++k) sum += (in[k] - sum) * T(0.125);
      return sum;
    case 14: return (in[i == 0 ? 0 : i - 1] + T(2) * in[i] + in[std::min(i + 1, n - 1)]) / T(4);
    case 15: return sum_of_list(std::vector<T>(in.begin(), in.begin() + static_cast<long>(i) + 1));
    case 16: return reference::variance_of(in);
    case 17:
      for (const T& x : in) sum += exp(x);
      return log(sum);
    case 18: return reference::weights_of(in)[i];
    case 19: return sum_of_list(in);
    default:
      for (const T& x : in) sum += (x - in[i]) * (x - in[i]);
      return sqrt(sum);
  }
}

template <class T>
std::vector<T> formula_in_other_words(int way, const std::vector<T>& in) {
  const int one = way % kRoundedWrongFormula;
  std::vector<T> out;
  for (std::size_t i = 0; i < in.size(); ++i)
    out.push_back(one < 10 ? rounded_number(one, in[i]) : rounded_element(one, in, i));
  return out;
}

}  // namespace

KERNEL_PAIR(rounded_formula, FormulaInput, std::vector<float>) = {
    .family = "rounded",
    .arbitrary = [](Draw&) { return FormulaInput{}; },
    .kernel =
        [](Device& device, const FormulaInput& input) {
          const auto in = device.upload(input.in);
          auto out = device.array<float>(input.in.size());
          device.check(::rounded_formula(in.data(), out.data(), static_cast<int>(input.in.size()),
                                         input.way));
          return out.download();
        },
    .reference =
        [](const FormulaInput& input) {
          std::vector<float> out;
          const std::vector<double> in(input.in.begin(), input.in.end());
          for (const double x : formula_in_other_words(input.way, in))
            out.push_back(static_cast<float>(x));
          return out;
        },
    .agreement = within_rounding(),
    .exact_reference =
        [](const FormulaInput& input, const ExactData& data) {
          return formula_in_other_words(input.way, data(input.in));
        },
};

namespace {

std::string said_of_formula(int way, const Settings& settings) {
  std::vector<float> in;
  for (int i = 0; i < 32; ++i) in.push_back(0.3F + 0.07F * static_cast<float>(i * 5 % 32));
  const Verdict verdict =
      run_case(case_of("rounded_formula", {{"in", in}, {"way", way}}, settings));
  return verdict.findings.empty() ? "" : verdict.findings.front().message;
}

TEST(RoundedFormulas, OtherWordsAreAccepted) {
  for (const Settings& settings : {kAllSettings[0], kAllSettings[2]}) {
    for (int way = 0; way < kRoundedFormulas; ++way)
      EXPECT_EQ(said_of_formula(way, settings), "") << way;
  }
}

TEST(RoundedFormulas, OthersAreRefused) {
  for (int way = 0; way < kRoundedFormulas; ++way) {
    // Errors count as independent, so that the bound of a compensated sum grows with each number.
    if (way == 19) continue;
    const std::string said = said_of_formula(kRoundedWrongFormula + way, kAllSettings[0]);
    EXPECT_NE(said.find("it is another formula"), std::string::npos) << way << ": " << said;
  }
}

}  // namespace
}  // namespace warpcheck
