#include "harness/kernel/expression.hpp"

#include <gtest/gtest.h>

namespace warpcheck {
namespace {

std::optional<std::int64_t> evaluated(std::string_view text) {
  return Expression(text).value([](std::string_view name) -> std::optional<std::int64_t> {
    if (name == "n") return 7;
    if (name == "blockDim.x") return 256;
    if (name == "max") return INT64_MAX;
    return std::nullopt;
  });
}

std::string parse_error_of(std::string_view text) {
  try {
    static_cast<void>(Expression(text));
    return "";
  } catch (const ExpressionError& error) {
    return error.what();
  }
}

TEST(KernelExpression, HasThePrecedenceOfC) {
  EXPECT_EQ(evaluated("2 + 3 * n"), 23);
  EXPECT_EQ(evaluated("(n + blockDim.x - 1) / blockDim.x"), 1);
  EXPECT_EQ(evaluated("10 - 4 - 3"), 3);
  EXPECT_EQ(evaluated("n % 4 == 3 && n < 8 || 1 / 0"), 1);
  EXPECT_EQ(evaluated("n & 3 == 3"), 1);
  EXPECT_EQ(evaluated("1 << n >> 2"), 32);
  EXPECT_EQ(evaluated("n > 8 ? 1 : n > 6 ? 2 : 3"), 2);
  EXPECT_EQ(evaluated("-n + !n"), -7);
  EXPECT_EQ(evaluated("0x10u + true"), 17);
}

TEST(KernelExpression, HasNoValueWithoutOne) {
  EXPECT_EQ(evaluated("m"), std::nullopt);
  EXPECT_EQ(evaluated("n / (n - 7)"), std::nullopt);
  EXPECT_EQ(evaluated("max + 1"), std::nullopt);
  EXPECT_EQ(evaluated("0 && m"), 0);
}

TEST(KernelExpression, NamesItsNames) {
  const std::vector<std::string> names{"n", "gridDim.x"};
  EXPECT_EQ(Expression("n * gridDim.x + n").names(), names);
}

TEST(KernelExpression, IsTheConjunctionOfItsParts) {
  const auto parts_of = [](const char* text) {
    std::string texts;
    for (const Expression& part : Expression(text).conjuncts()) texts += part.text() + "; ";
    return texts;
  };
  EXPECT_EQ(parts_of("(n == (64)) && 0 < m && m <= k"), "n == 64; m > 0; m <= k; ");
  EXPECT_EQ(parts_of("n > 0 & n < 8 & (n & n - 1) == 0"), "n > 0; n < 8; (n & n - 1) == 0; ");
  EXPECT_EQ(parts_of("n & 1"), "n & 1; ");
  EXPECT_EQ(parts_of("n == 1 || n == 2 && m"), "n == 1 || n == 2 && m; ");
  EXPECT_EQ(parts_of("!(n - (m - 1) > -2)"), "!(n - (m - 1) > -2); ");
  EXPECT_EQ(parts_of("n > (m ? 1 : (k ? 2 : 3))"), "n > ((m) ? 1 : ((k) ? 2 : 3)); ");
}

TEST(KernelExpression, ErrorsSayWhatWasExpectedAndWhere) {
  EXPECT_EQ(parse_error_of("n +"), "'n +': expected a number or a name at the end");
  EXPECT_EQ(parse_error_of("n m"), "'n m': expected an operator at 'm'");
  EXPECT_EQ(parse_error_of("(n"), "'(n': expected ')' at the end");
  EXPECT_EQ(parse_error_of("n = 4"), "'n = 4': expected an operator at '= 4'");
  EXPECT_EQ(parse_error_of("12ab"), "'12ab': expected an operator at 'ab'");
  EXPECT_EQ(parse_error_of("99999999999999999999"),
            "'99999999999999999999': expected a number below 2^63 at '99999999999999999999'");
  EXPECT_NE(parse_error_of(std::string(100'000, '(')), "");
}

}  // namespace
}  // namespace warpcheck
