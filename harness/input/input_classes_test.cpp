#include "harness/input/input_classes.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <set>
#include <string>
#include <vector>

namespace warpcheck {

enum class ClassesOrder { up, down };
ENUM_NAMES(ClassesOrder, ClassesOrder::up, ClassesOrder::down);

struct ClassesInner {
  std::vector<float> weights{};
};
FIELDS(ClassesInner, weights);

struct ClassesInput {
  std::vector<int> in{};
  LaunchConfig launch{};
  int block = 0;
  bool stable = false;
  ClassesOrder order = ClassesOrder::up;
  ClassesInner inner{};
};
FIELDS(ClassesInput, in, launch, block, stable, order, inner);

namespace {

std::set<std::string> classes_of(const ClassesInput& input, const std::string& field) {
  std::set<std::string> names;
  for_each_input_class(input, [&](const std::string& name, bool holds) {
    if (holds && name.starts_with(field + ": ")) names.insert(name.substr(field.size() + 2));
  });
  return names;
}

using Names = std::set<std::string>;

TEST(InputClasses, OfSizes) {
  ClassesInput input;
  EXPECT_EQ(classes_of(input, "in.size"), (Names{"zero", "block edge"}));  // a block of one thread
  input.launch.block = 48;
  input.in.assign(31, 1);
  EXPECT_EQ(classes_of(input, "in.size"), (Names{"odd", "prime", "power of two +-1", "warp edge"}));
  input.in.assign(96, 1);
  EXPECT_EQ(classes_of(input, "in.size"), (Names{"warp edge", "multiple of 32", "block edge"}));
}

TEST(InputClasses, OfData) {
  ClassesInput input;
  input.in = {-4, -3, -2, -1, 0};
  EXPECT_EQ(classes_of(input, "in"), (Names{"sorted", "contains zero", "contains negative"}));
  input.in = {-1, -1, -1, -1};
  EXPECT_EQ(classes_of(input, "in"), (Names{"constant", "contains negative", "all negative"}));
  input.in = {std::numeric_limits<int>::max()};
  EXPECT_EQ(classes_of(input, "in"), Names{"contains highest"});  // too short for an order
}

TEST(InputClasses, OfFloatsInAStructWithin) {
  using Limits = std::numeric_limits<float>;
  ClassesInput input;
  input.inner.weights = {-0.0F, Limits::quiet_NaN(), -Limits::infinity(), Limits::denorm_min()};
  EXPECT_EQ(
      classes_of(input, "inner.weights"),
      (Names{"few distinct", "nearly sorted", "contains zero", "contains negative zero",
             "contains NaN", "contains infinity", "contains subnormal", "contains negative"}));
}

TEST(InputClasses, OfLaunches) {
  ClassesInput input;
  input.in.assign(40, 1);
  input.launch = {.grid = 2, .block = 20};
  EXPECT_EQ(classes_of(input, "launch"),
            (Names{"several blocks", "block below a warp", "block not a multiple of 32",
                   "as many threads as elements"}));
  input.launch = {.grid = 1, .block = Dim3(32, 32)};
  EXPECT_EQ(classes_of(input, "launch"),
            (Names{"one block", "largest block", "two dimensions", "idle threads"}));
}

TEST(InputClasses, OfSingleValues) {
  ClassesInput input;
  input.block = 17;
  input.stable = true;
  input.order = ClassesOrder::down;
  EXPECT_EQ(classes_of(input, "block"), (Names{"odd", "prime", "power of two +-1"}));
  EXPECT_EQ(classes_of(input, "stable"), Names{"true"});
  EXPECT_EQ(classes_of(input, "order"), Names{"down"});
}

TEST(InputClasses, HaveTheSameNamesForEveryInput) {
  ClassesInput input;
  input.in.assign(1000, -7);
  input.inner.weights.assign(3, 1);
  std::vector<std::string> names;
  for_each_input_class(input, [&](const std::string& name, bool) { names.push_back(name); });
  EXPECT_EQ(names, input_class_names<ClassesInput>());
  EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), names.size());
}

}  // namespace
}  // namespace warpcheck
