#include "harness/input/fields.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "harness/generators/generators.hpp"
#include "harness/input/json.hpp"
#include "harness/input/tape.hpp"

namespace sample {

enum class Order { sorted, reversed, shuffled };
ENUM_NAMES(Order, Order::sorted, Order::reversed, Order::shuffled);

struct Part {
  std::int64_t low = 0;
  std::uint64_t high = 0;
};
FIELDS(Part, low, high);

struct Input {
  std::vector<float> values{};
  warpcheck::LaunchConfig launch{};
  Part part{};
  std::array<bool, 2> flags{};
  std::string name{};
  Order order = Order::sorted;
};
FIELDS(Input, values, launch, part, flags, name, order);

struct Sixteen {
  int a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p;
};
FIELDS(Sixteen, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p);

struct One {
  double x;
};
FIELDS(One, x);

}  // namespace sample

namespace warpcheck {
namespace {

using sample::Input;
using sample::Order;

template <class T>
T round_trip(const T& value) {
  return from_json<T>(Json::parse(to_json(value).dump()));
}

template <class T>
std::string error_of(const std::string& text) {
  try {
    static_cast<void>(from_json<T>(Json::parse(text)));
  } catch (const FieldError& error) {
    return error.what();
  }
  return "no error";
}

// A list is a field if its elements are.
static_assert(is_field_type<std::vector<std::array<Input, 2>>>);
static_assert(!is_field_type<std::optional<int>>);
static_assert(!is_field_type<std::vector<std::optional<int>>>);
static_assert(!is_field_type<std::array<int*, 2>>);

float float_of(std::uint32_t bits) { return std::bit_cast<float>(bits); }
double double_of(std::uint64_t bits) { return std::bit_cast<double>(bits); }

TEST(Fields, AreVisitedInOrderOfDeclaration) {
  std::string names;
  sample::Sixteen value{};
  for_each_field(value, [&](const char* name, int& member) {
    names += name;
    member = static_cast<int>(names.size());
  });
  EXPECT_EQ(names, "abcdefghijklmnop");
  EXPECT_EQ(value.p, 16);
}

TEST(Fields, OneIsEnough) { EXPECT_EQ(to_json(sample::One{0.5}).dump(), R"({"x":0.5})"); }

TEST(Fields, PrintAsJson) {
  const Input input{.values = {1, -0.0F, 0.1F},
                    .launch = {.grid = 2, .block = {33, 2}, .shared_bytes = 64},
                    .part = {.low = INT64_MIN, .high = UINT64_MAX},
                    .flags = {true, false},
                    .name = "n\"",
                    .order = Order::reversed};
  std::ostringstream out;
  out << input;
  EXPECT_EQ(out.str(), R"({"values":[1.0,"-0",0.1],)"
                       R"("launch":{"grid":[2,1,1],"block":[33,2,1],"shared_bytes":64},)"
                       R"("part":{"low":-9223372036854775808,"high":18446744073709551615},)"
                       R"("flags":[true,false],"name":"n\"","order":"reversed"})");
  EXPECT_EQ(round_trip(input), input);
}

TEST(Fields, CompareFloatsByTheirBits) {
  Input a{.values = {float_of(0x7fc00001)}};
  Input b = a;
  EXPECT_TRUE(a == b);
  b.values[0] = float_of(0x7fc00002);
  EXPECT_FALSE(a == b);
  a.values[0] = 0.0F;
  b.values[0] = -0.0F;
  EXPECT_FALSE(a == b);
}

TEST(Fields, LaunchesMayBeShortInAFileEditedByHand) {
  const auto launch =
      from_json<LaunchConfig>(Json::parse(R"({"grid": 3, "block": [33, 2], "shared_bytes": 0})"));
  EXPECT_EQ(launch, (LaunchConfig{.grid = 3, .block = {33, 2}}));
}

TEST(Json, KeepsEveryFloatToTheBit) {
  const std::uint32_t bits[] = {0x00000000, 0x80000000, 0x00000001, 0x80000001, 0x007fffff,
                                0x00800000, 0x00800001, 0x3f800000, 0x3f7fffff, 0x3f800001,
                                0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000, 0x7fc00000,
                                0xffc00000, 0x7f800001, 0xff800001, 0x7fc00001, 0x7fffffff,
                                0x4b800000, 0x4b800001, 0x3dcccccd, 0x5f000000, 0x6b8f29ad};
  for (const std::uint32_t pattern : bits) {
    const float value = float_of(pattern);
    EXPECT_TRUE(identical(round_trip(value), value)) << std::hex << pattern;
  }
  Tape tape = Tape::of_seed(7);
  for (int i = 0; i < 100'000; ++i) {
    const float value = float_of(static_cast<std::uint32_t>(tape.below(std::uint64_t{1} << 32)));
    ASSERT_TRUE(identical(round_trip(value), value)) << to_json(value);
  }
}

TEST(Json, KeepsEveryDoubleToTheBit) {
  const std::uint64_t bits[] = {0x0000000000000000, 0x8000000000000000, 0x0000000000000001,
                                0x000fffffffffffff, 0x0010000000000000, 0x3ff0000000000000,
                                0x3fefffffffffffff, 0x7fefffffffffffff, 0xffefffffffffffff,
                                0x7ff0000000000000, 0xfff0000000000000, 0x7ff8000000000000,
                                0xfff8000000000000, 0x7ff0000000000001, 0xffffffffffffffff,
                                0x4340000000000001, 0x3fb999999999999a};
  for (const std::uint64_t pattern : bits) {
    const double value = double_of(pattern);
    EXPECT_TRUE(identical(round_trip(value), value)) << std::hex << pattern;
  }
  Tape tape = Tape::of_seed(8);
  for (int i = 0; i < 100'000; ++i) {
    const double value = double_of(tape.below(0));
    ASSERT_TRUE(identical(round_trip(value), value)) << to_json(value);
  }
}

TEST(Json, WritesFloatsShortly) {
  EXPECT_EQ(to_json(0.1F).dump(), "0.1");
  EXPECT_EQ(to_json(0.1).dump(), "0.1");
  EXPECT_EQ(to_json(1e30F).dump(), "1e+30");
  EXPECT_EQ(to_json(3.4028235e38F).dump(), "3.4028235e+38");
  EXPECT_EQ(to_json(0.0F).dump(), "0.0");
  EXPECT_EQ(to_json(-0.0).dump(), R"("-0")");
  EXPECT_EQ(to_json(float_of(0x7fc00001)).dump(), R"("nan:0x7fc00001")");
  EXPECT_EQ(to_json(double_of(0xfff0000000000001)).dump(), R"("nan:0xfff0000000000001")");
  EXPECT_EQ(to_json(-std::numeric_limits<float>::infinity()).dump(), R"("-inf")");
}

TEST(Json, KeepsIntegersExact) {
  for (const std::int64_t value : {INT64_MIN, INT64_MIN + 1, std::int64_t{-1}, INT64_MAX}) {
    EXPECT_EQ(round_trip(value), value);
  }
  for (const std::uint64_t value : {std::uint64_t{0}, (std::uint64_t{1} << 53) + 1, UINT64_MAX}) {
    EXPECT_EQ(round_trip(value), value);
  }
}

TEST(Json, KeepsTextsOfAnyBytes) {
  std::string all;
  for (int byte = 0; byte < 256; ++byte) all += static_cast<char>(byte);
  for (const std::string& text : {std::string(), std::string("grün"), std::string("hex:00"), all}) {
    EXPECT_EQ(round_trip(text), text);
  }
  EXPECT_EQ(to_json(std::string("\xff\x01")).dump(), R"("hex:ff01")");
}

TEST(FieldError, NamesPlaceExpectationAndFinding) {
  struct Row {
    std::string text, error;
  };
  const Row rows[] = {
      {R"({"low": 0})", "input.high: missing"},
      {R"({"low": 0, "high": 0, "hihg": 1})", "input.hihg: no such field"},
      {R"([1])", "input: expected an object, found [1]"},
      {R"({"low": "x", "high": 0})",
       R"(input.low: expected an integer in [-2^63, 2^63), found "x")"},
      {R"({"low": 9223372036854775808, "high": 0})",
       "input.low: expected an integer in [-2^63, 2^63), found 9223372036854775808"},
      {R"({"low": 0, "high": -1})", "input.high: expected an integer in [0, 2^64), found -1"},
      {R"({"low": 0.5, "high": 0})", "input.low: expected an integer in [-2^63, 2^63), found 0.5"}};
  for (const Row& row : rows) EXPECT_EQ(error_of<sample::Part>(row.text), row.error);
  EXPECT_EQ(error_of<std::vector<int>>(R"([1, 2, 3, "x"])"),
            R"(input[3]: expected an integer in [-2^31, 2^31), found "x")");
  EXPECT_EQ(error_of<std::vector<signed char>>("[128]"),
            "input[0]: expected an integer in [-128, 128), found 128");
  EXPECT_EQ(error_of<float>(R"("nan:0x7f800000")"),
            R"(input: expected a number, "-0", "inf", "-inf" or "nan:0x" with 8 digits, )"
            R"(found "nan:0x7f800000")");
  EXPECT_EQ(error_of<float>("1e39"), "input: expected a number of 32 bits, found 1e+39");
  EXPECT_EQ(error_of<Order>(R"("upside down")"),
            R"(input: expected one of sorted, reversed, shuffled, found "upside down")");
  EXPECT_EQ(error_of<Dim3>("[]"), "input: expected a list of extents [x, y, z], found []");
  EXPECT_EQ((error_of<std::array<bool, 2>>("[true]")),
            "input: expected a list of 2 values, found [true]");
  EXPECT_EQ(error_of<bool>("1"), "input: expected true or false, found 1");
  EXPECT_EQ(error_of<std::string>(R"("hex:f")"),
            R"(input: expected pairs of hexadecimal digits after "hex:", found "hex:f")");
}

TEST(FieldError, NamesAPathThroughStructsAndLists) {
  Json json = to_json(Input{.values = {1, 2}});
  json["values"][1] = "x";
  EXPECT_EQ(error_of<Input>(json.dump()),
            R"(input.values[1]: expected a number, "-0", "inf", "-inf" or "nan:0x" with 8 digits,)"
            R"( found "x")");
  json = to_json(Input{});
  json["launch"]["block"][1] = -1;
  EXPECT_EQ(error_of<Input>(json.dump()),
            "input.launch.block[1]: expected an integer in [0, 2^32), found -1");
}

TEST(FieldError, CutsLongFindings) {
  const std::string error = error_of<int>(to_json(std::vector<int>(1000)).dump());
  EXPECT_EQ(error,
            "input: expected an integer in [-2^31, 2^31), found "
            "[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0...");
}

}  // namespace
}  // namespace warpcheck
