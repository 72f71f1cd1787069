#include "harness/pair/agreement.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace warpcheck {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

template <class Output>
std::string exact(const Output& out, const Output& reference) {
  const Agreement<int, Output> agreement = exactly();
  return agreement.difference(0, out, reference).value_or("agrees");
}

TEST(Exactly, ReportsTheFirstWrongElement) {
  using Ints = std::vector<int>;
  EXPECT_EQ(exact(Ints{1, 2, 3}, Ints{1, 2, 3}), "agrees");
  EXPECT_EQ(exact(Ints{1, 2, 3}, Ints{1, 1, 1}), "out[1] = 2, reference 1");
  EXPECT_EQ(exact(Ints{1}, Ints{1, 2}), "out has 1 element, reference 2");
  EXPECT_EQ(exact(7u, 8u), "out = 7, reference 8");
}

TEST(Exactly, NansAgreeAndNothingElseThatDiffers) {
  using Floats = std::vector<float>;
  EXPECT_EQ(exact(Floats{kNan}, Floats{kNan}), "agrees");
  EXPECT_EQ(exact(Floats{0.1F}, Floats{0.2F}), "out[0] = 0.1, reference 0.2");
}

enum class Colour { red, green };
struct Opaque {
  int a = 0;
  friend bool operator==(const Opaque&, const Opaque&) = default;
};
struct Streamed {
  int a = 0;
  friend bool operator==(const Streamed&, const Streamed&) = default;
  friend std::ostream& operator<<(std::ostream& out, const Streamed& value) {
    return out << "a=" << value.a;
  }
};

TEST(Exactly, ShowsElementsThatAreNoNumbers) {
  using Pairs = std::vector<std::pair<unsigned, float>>;
  EXPECT_EQ(exact(Pairs{{1, 2.5F}}, Pairs{{1, 3}}), "out[0] = (1, 2.5), reference (1, 3)");
  EXPECT_EQ(exact(std::vector<std::vector<int>>{{1, 2}, {}}, {{1, 2}, {3, 4}}),
            "out[1] = {}, reference {3, 4}");
  EXPECT_EQ(exact(std::vector<std::string>{"ab"}, {"ac"}), "out[0] = ab, reference ac");
  EXPECT_EQ(exact(std::vector<Colour>{Colour::red}, {Colour::green}), "out[0] = 0, reference 1");
  EXPECT_EQ(exact(std::vector<bool>{true}, {false}), "out[0] = true, reference false");
  EXPECT_EQ(exact(true, false), "out = true, reference false");
  EXPECT_EQ(exact(std::vector<Streamed>{{1}}, {{2}}), "out[0] = a=1, reference a=2");
  EXPECT_EQ(exact(Opaque{1}, Opaque{2}),
            "out = (a value of a type without FIELDS or operator<<), reference (a value of a type "
            "without FIELDS or operator<<)");
  EXPECT_EQ(exact(std::vector<std::string>{std::string(300, 'x')}, {"y"}),
            "out[0] = " + std::string(200, 'x') + "..., reference y");
}

TEST(Exactly, NansWithinPairsAndListsAgree) {
  using Pairs = std::vector<std::pair<float, std::vector<double>>>;
  EXPECT_EQ(exact(Pairs{{kNan, {1, kNan}}}, Pairs{{kNan, {1, kNan}}}), "agrees");
  EXPECT_EQ(exact(Pairs{{kNan, {1, kNan}}}, Pairs{{kNan, {1, 2}}}),
            "out[0] = (nan, {1, nan}), reference (nan, {1, 2})");
  EXPECT_EQ(exact(Pairs{{1, {1}}}, Pairs{{1, {1, 1}}}), "out[0] = (1, {1}), reference (1, {1, 1})");
}

std::string bounded(std::vector<float> out, std::vector<float> reference,
                    std::vector<double> bounds) {
  const Agreement<std::vector<double>, std::vector<float>> agreement =
      within_error_bound([](const std::vector<double>& in) { return in; });
  return agreement.difference(bounds, out, reference).value_or("agrees");
}

TEST(WithinErrorBound, ReportsTheWorstElementInUlps) {
  EXPECT_EQ(bounded({1, 2}, {1.1F, 2}, {0.2, 0}), "agrees");
  EXPECT_EQ(bounded({1, 2, 4}, {1, 2.5F, 4.5F}, {0.1, 0.1, 0.2}),
            "out[1] = 2, reference 2.5 (2,097,152 ulps, 5 times the bound)");
  EXPECT_EQ(bounded({-0.0F}, {0.0F}, {0}), "agrees");
}

TEST(WithinErrorBound, WhatIsNotFiniteMustBeTheSame) {
  EXPECT_EQ(bounded({kNan, kInf}, {kNan, kInf}, {0.1, 0.1}), "agrees");
  EXPECT_EQ(bounded({1}, {kNan}, {0.1}), "out[0] = 1, reference nan");
  EXPECT_EQ(bounded({kInf}, {-kInf}, {0.1}), "out[0] = inf, reference -inf");
  EXPECT_EQ(bounded({kNan}, {1}, {static_cast<double>(kInf)}), "agrees");
}

TEST(WithinErrorBound, TellsTheErrorInUlpsAndAsAShareOfTheBound) {
  EXPECT_EQ(bounded({1.5F}, {1.25F}, {0.08}),
            "out[0] = 1.5, reference 1.25 (2,097,152 ulps, 3.1 times the bound)");
  EXPECT_EQ(bounded({-1}, {1}, {1.999}),
            "out[0] = -1, reference 1 (2,130,706,432 ulps, just over the bound)");
  EXPECT_EQ(bounded({std::nextafter(1.0F, 2.0F)}, {1}, {0}),
            "out[0] = 1.0000001, reference 1 (1 ulp, where none is allowed)");
}

TEST(WithinErrorBound, CountsUlpsOfTheTypeThatTheKernelComputedIn) {
  using Doubles = std::vector<double>;
  const auto difference = [](auto bounds) {
    const Agreement<int, Doubles> agreement = bounds;
    return agreement.difference(0, {static_cast<double>(0.1F)}, {0.125}).value_or("agrees");
  };
  const auto nothing = [](int) { return Doubles{0.01}; };
  EXPECT_EQ(difference(within_error_bound<float>(nothing)),
            "out[0] = 0.1, reference 0.125 (3,355,443 ulps, 2.5 times the bound)");
  EXPECT_EQ(difference(within_error_bound(nothing)),
            "out[0] = 0.10000000149011612, reference 0.125 (1,801,439,743,574,016 ulps, "
            "2.5 times the bound)");
}

template <class Kind, class Output>
std::string differs(Kind kind, const Output& out, const Output& reference) {
  const Agreement<int, Output> agreement = kind;
  return agreement.difference(0, out, reference).value_or("agrees");
}

TEST(Ulps, ReportsTheWorstElement) {
  using Floats = std::vector<float>;
  const float above = std::nextafter(1.0F, 2.0F);
  EXPECT_EQ(differs(ulps(1), Floats{above, 0.0F, kNan, kInf}, Floats{1, -0.0F, kNan, kInf}),
            "agrees");
  EXPECT_EQ(differs(ulps(0), Floats{above}, Floats{1}),
            "out[0] = 1.0000001, reference 1 (1 ulp, at most 0 allowed)");
  EXPECT_EQ(differs(ulps(4), Floats{1.5F, 2}, Floats{1.25F, 1}),
            "out[1] = 2, reference 1 (8,388,608 ulps, at most 4 allowed)");
  EXPECT_EQ(differs(ulps(4), std::vector<double>{0x1p-1074}, std::vector<double>{-0x1.4p-1072}),
            "out[0] = 5e-324, reference -2.5e-323 (6 ulps, at most 4 allowed)");
  const float max = std::numeric_limits<float>::max();
  EXPECT_EQ(differs(ulps(4), Floats{max}, Floats{kInf}), "out[0] = 3.4028235e+38, reference inf");
}

TEST(Bitwise, ToldApartArePayloadsAndSignsOfZero) {
  using Floats = std::vector<float>;
  const float payload = std::bit_cast<float>(0x7fc00001U);
  EXPECT_EQ(differs(bitwise(), Floats{1, payload}, Floats{1, payload}), "agrees");
  EXPECT_EQ(differs(bitwise(), Floats{-0.0F}, Floats{0.0F}),
            "out[0] = -0 (0x80000000), reference 0 (0x00000000)");
  EXPECT_EQ(differs(bitwise(), Floats{1, payload}, Floats{1, kNan}),
            "out[1] = nan (0x7fc00001), reference nan (0x7fc00000)");
  EXPECT_EQ(differs(exactly(), Floats{-0.0F, payload}, Floats{0.0F, kNan}), "agrees");
  EXPECT_EQ(differs(bitwise(), std::vector<double>{-0.0}, std::vector<double>{0.0}),
            "out[0] = -0 (0x8000000000000000), reference 0 (0x0000000000000000)");
  EXPECT_EQ(differs(bitwise(), std::vector<int>{2}, std::vector<int>{1}),
            "out[0] = 2, reference 1");
}

TEST(AsMultiset, ReportsTheSmallestElementThatIsNotAsOften) {
  using Ints = std::vector<int>;
  EXPECT_EQ(differs(as_multiset(), Ints{3, 1, 2, 1}, Ints{1, 1, 2, 3}), "agrees");
  EXPECT_EQ(differs(as_multiset(), Ints{3, 1, 2, 2}, Ints{1, 1, 2, 3}),
            "1 is in out once, in the reference twice");
  EXPECT_EQ(differs(as_multiset(), Ints{7, 7, 7}, Ints{7, 8, 9}),
            "7 is in out 3 times, in the reference once");
  EXPECT_EQ(differs(as_multiset(), Ints{5}, Ints{4}), "4 is in out never, in the reference once");
  EXPECT_EQ(differs(as_multiset(), Ints{}, Ints{4}), "out has 0 elements, reference 1");
  using Floats = std::vector<float>;
  EXPECT_EQ(differs(as_multiset(), Floats{kNan, 1, kInf}, Floats{1, kInf, kNan}), "agrees");
  EXPECT_EQ(differs(as_multiset(), Floats{kNan, kNan}, Floats{1, kNan}),
            "1 is in out never, in the reference once");
}

struct KeyValue {
  unsigned key;
  int value;
};

TEST(StableOrder, TellsWrongKeysFromWrongValuesFromWrongOrder) {
  using Pairs = std::vector<KeyValue>;
  const Pairs sorted{{1, 10}, {2, 20}, {2, 21}};
  EXPECT_EQ(differs(stable_order(), sorted, sorted), "agrees");
  EXPECT_EQ(differs(stable_order(), Pairs{{1, 10}, {2, 21}, {2, 20}}, sorted),
            "out[1] = (2, 21), reference (2, 20): equal keys are not in the order of the input");
  EXPECT_EQ(differs(stable_order(), Pairs{{2, 20}, {1, 10}, {2, 21}}, sorted),
            "out[0] = (2, 20), reference (1, 10)");
  EXPECT_EQ(differs(stable_order(), Pairs{{1, 10}, {2, 20}, {2, 10}}, sorted),
            "out[2] = (2, 10), reference (2, 21)");
  using StdPairs = std::vector<std::pair<int, int>>;
  EXPECT_EQ(differs(stable_order(), StdPairs{{1, 2}, {1, 1}}, StdPairs{{1, 1}, {1, 2}}),
            "out[0] = (1, 2), reference (1, 1): equal keys are not in the order of the input");
}

TEST(Agreement, SaysWhetherSchedulesNeedComparing) {
  using Floats = std::vector<float>;
  const auto of = [](Agreement<int, Floats> agreement) { return agreement; };
  EXPECT_TRUE(of(exactly()).exact);
  EXPECT_TRUE(of(bitwise()).exact);
  EXPECT_FALSE(of(ulps(1)).exact);
  EXPECT_FALSE(of(as_multiset()).exact);
  EXPECT_FALSE(of(as_multiset()).order_sensitive);
  const auto free_order = of(order_sensitive(ulps(1)));
  EXPECT_FALSE(free_order.exact);
  EXPECT_TRUE(free_order.order_sensitive);
  EXPECT_EQ(free_order.difference(0, {1}, {1}), std::nullopt);
}

}  // namespace
}  // namespace warpcheck
