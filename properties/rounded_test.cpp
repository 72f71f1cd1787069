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
