// What the planted kernels of kernels/specimens/neural.cu are told, and that their clean twins are
// silent for the same inputs, in every build and warp model.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "properties/run_case.hpp"

namespace warpcheck {
namespace {

using NeuralList = std::vector<double>;

Json softmax_row(const Json& row) { return {{"columns", row.size()}, {"in", row}, {"block", 3}}; }
Json variance_of(const NeuralList& in) { return {{"in", in}, {"block", 2}}; }

std::string told_by(const std::string& pair, const Json& input, const Settings& settings) {
  const Verdict verdict = run_case(case_of(pair, input, settings));
  return verdict.findings.empty() ? "" : verdict.findings.front().message;
}

// Expects that the specimen is told this, and its twin nothing.
void expect_told(const std::string& specimen, const std::string& twin, const Json& input,
                 const std::string& text) {
  for (const Settings& settings : kAllSettings) {
    EXPECT_NE(told_by(specimen, input, settings).find(text), std::string::npos)
        << told_by(specimen, input, settings);
    EXPECT_EQ(kinds_for(specimen, input, settings), "mismatch");
    EXPECT_EQ(kinds_for(twin, input, settings), "") << told_by(twin, input, settings);
  }
}

TEST(NeuralSpecimens, PowersOverflowWithoutTheMaximum) {
  for (const char* const twin : {"softmax_three_pass", "softmax_online"}) {
    expect_told("softmax_no_maximum", twin, softmax_row(NeuralList{89}),
                "nan is made at kernels/specimens/neural.cu:44");
  }
}

// Sums that overflow make results 0, and are no excuse for them.
TEST(NeuralSpecimens, ASumThatOverflowsIsNoExcuse) {
  expect_told("softmax_no_maximum", "softmax_online", softmax_row(NeuralList{88.5, 88.5, 88.5}),
              "out[0] = 0, reference 0.33333334");
}

TEST(NeuralSpecimens, AMaskedRowIsNamedWhereItsNanIsMade) {
  const Json masked = softmax_row({"-inf", "-inf"});
  expect_told("softmax_masked_row", "softmax_three_pass", masked,
              "nan is made at kernels/specimens/neural.cu:41");
  EXPECT_EQ(kinds_for("softmax_masked_row", softmax_row({"-inf", 1})), "");
}

TEST(NeuralSpecimens, AnApproximationIsAnotherFormula) {
  expect_told("softmax_fast_power", "softmax_three_pass", softmax_row(NeuralList{0, 1}),
              "it is another formula");
  // Of equal numbers it is right.
  EXPECT_EQ(kinds_for("softmax_fast_power", softmax_row(NeuralList{1, 1})), "");
}

TEST(NeuralSpecimens, SquaresThatCancelLoseDigitsThatTwoPassesKeep) {
  expect_told("variance_of_squares", "variance_two_pass", variance_of({1000, 1001, 1002}),
              "most of its digits were lost at kernels/specimens/neural.cu:");
}

TEST(NeuralSpecimens, SumsInHalfAreNamedAtTheirProduct) {
  std::vector<double> a(256), b(256);
  for (std::size_t i = 0; i < 256; ++i) {
    a[i] = static_cast<double>(i * 37 % 129) / 64;
    b[i] = static_cast<double>(i * 53 % 127) / 64;
  }
  const Json input{{"m", 1}, {"n", 1}, {"k", 1}, {"a", a}, {"b", b}};
  for (const Settings& settings : kAllSettings) {
    EXPECT_NE(told_by("half_product_half_sums", input, settings)
                  .find("most of its digits were lost at kernels/specimens/neural.cu:107"),
              std::string::npos);
    EXPECT_EQ(kinds_for("half_product_half_sums", input, settings), "mismatch");
    EXPECT_EQ(kinds_for("half_product", input, settings), "");
  }
}

TEST(NeuralSpecimens, ATileThatIsMaskedIsNamedWhereItsNanIsMade) {
  const NeuralList ones(std::size_t{10} * 8, 1);
  expect_told("attention_masked_tile", "attention",
              {{"window", 1}, {"queries", ones}, {"keys", ones}, {"values", ones}},
              "nan is made at kernels/specimens/neural.cu:144");
}

// A result whose rounding may be anything (its variance is below it) has no NaN for a bound.
TEST(NeuralPairs, LayerNormsAgreeOfNumbersThatAreFarFromZero) {
  const Json input{{"in", {1000.0, 1000.25, 1000.5, 0.0, 0.0, 0.0}},
                   {"scale", {1.0, 0.0, 2.0}},
                   {"shift", {0.0, 0.0, 0.0}},
                   {"block", 2}};
  for (const Settings& settings : kAllSettings) {
    EXPECT_EQ(kinds_for("layer_norm_two_pass", input, settings), "");
    EXPECT_EQ(kinds_for("layer_norm_welford", input, settings), "");
  }
}

}  // namespace
}  // namespace warpcheck
