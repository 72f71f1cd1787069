// Inputs of other sizes: numbers and the lengths of arrays, by the names of their fields.
#include "harness/input/input_edits.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <initializer_list>
#include <vector>

namespace warpcheck {

struct EditedPart {
  int n = 7;
};
FIELDS(EditedPart, n);

struct EditedInput {
  std::uint8_t n = 3;
  std::vector<int> values{10, 11, 12};
  std::array<int, 2> fixed{1, 2};
  double scale = 1;
  EditedPart part{};
  LaunchConfig launch{};
};
FIELDS(EditedInput, n, values, fixed, scale, part, launch);

namespace {

bool set(EditedInput& input, std::initializer_list<InputEdit::Size> sizes) {
  return apply_sizes<EditedInput>({sizes.begin(), sizes.size()}, input);
}

TEST(InputEdits, ALongerArrayRepeatsItsElements) {
  EditedInput input;
  EXPECT_TRUE(set(input, {{"n", 255}, {"values", 7}}));
  EXPECT_EQ(input.n, 255);
  EXPECT_EQ(input.values, (std::vector<int>{10, 11, 12, 10, 11, 12, 10}));
  EXPECT_EQ(input.part.n, 7);  // only fields of the input itself
  EXPECT_TRUE(set(input, {{"values", 2}}));
  EXPECT_EQ(input.values, (std::vector<int>{10, 11}));
}

TEST(InputEdits, SizesThatAFieldCannotHave) {
  EditedInput input;
  EXPECT_FALSE(set(input, {{"n", 256}}));
  EXPECT_FALSE(set(input, {{"fixed", 3}}));
  EXPECT_FALSE(set(input, {{"scale", 3}}));
  EXPECT_FALSE(set(input, {{"no_such_field", 3}}));
  input.values.clear();
  EXPECT_FALSE(set(input, {{"values", 1}}));
  EXPECT_TRUE(set(input, {{"values", 0}}));
}

}  // namespace
}  // namespace warpcheck
