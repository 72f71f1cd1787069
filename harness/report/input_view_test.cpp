#include "harness/report/input_view.hpp"
#include "harness/input/json.hpp"

#include <gtest/gtest.h>

namespace warpcheck {
namespace {

using Shown = InputField::Element;

InputField view(const std::string& json, std::size_t shown_max = 64) {
  return input_view(Json::parse(json), shown_max).at(0);
}

TEST(InputView, MarksTheFirstSmallestAndLargest) {
  const InputField field = view(R"({"in": [3, -1, 7, 7, -1]})");
  EXPECT_EQ(field.name, "in");
  EXPECT_TRUE(field.is_list);
  EXPECT_EQ(field.size, 5U);
  EXPECT_EQ(
      field.elements,
      (std::vector<Shown>{
          {0, "3", ""}, {1, "-1", "smallest"}, {2, "7", "largest"}, {3, "7", ""}, {4, "-1", ""}}));
}

TEST(InputView, EqualElementsHaveNoExtremes) {
  EXPECT_EQ(view(R"({"in": [4, 4]})").elements, (std::vector<Shown>{{0, "4", ""}, {1, "4", ""}}));
  EXPECT_TRUE(view(R"({"in": []})").elements.empty());
}

TEST(InputView, KnowsWhatIsExtremeByItself) {
  const auto extreme = [](const std::string& value) {
    return view(R"({"in": [)" + value + "]}").elements.at(0).extreme;
  };
  EXPECT_EQ(extreme(R"("nan:0x7fc00000")"), "NaN");
  EXPECT_EQ(extreme(R"("-inf")"), "infinite");
  EXPECT_EQ(extreme(R"("-0")"), "negative zero");
  EXPECT_EQ(extreme("1e-40"), "subnormal in 32 bits");
  EXPECT_EQ(extreme("3.4028235e+38"), "largest of its type");
  EXPECT_EQ(extreme("-3.4028235e+38"), "largest of its type");
  EXPECT_EQ(extreme("1e200"), "");
  EXPECT_EQ(extreme("1.7976931348623157e308"), "largest of its type");
  EXPECT_EQ(extreme("-2147483648"), "smallest of its type");
  EXPECT_EQ(extreme("4294967295"), "largest of its type");
  EXPECT_EQ(extreme("18446744073709551615"), "largest of its type");
  EXPECT_EQ(extreme("2147483646"), "");
  EXPECT_EQ(extreme(R"("text")"), "");
}

TEST(InputView, ShowsTheExtremesOfALongListToo) {
  const InputField field = view(R"({"in": [0, 0, 0, 0, 9, 0, -9, 0]})", 2);
  EXPECT_EQ(field.size, 8U);
  EXPECT_EQ(
      field.elements,
      (std::vector<Shown>{{0, "0", ""}, {1, "0", ""}, {4, "9", "largest"}, {6, "-9", "smallest"}}));
  // But not more than the limit.
  EXPECT_EQ(view(R"({"in": ["-0","-0","-0","-0","-0","-0"]})", 2).elements.size(), 4U);
}

TEST(InputView, FieldsOfAStructAreFields) {
  const auto fields = input_view(Json::parse(R"({"image": {"width": 2, "pixels": [0, 7]}})"), 64);
  ASSERT_EQ(fields.size(), 2U);
  EXPECT_EQ(fields[0].name, "image.width");
  EXPECT_EQ(fields[0].elements, (std::vector<Shown>{{0, "2", ""}}));
  EXPECT_EQ(fields[1].name, "image.pixels");
  EXPECT_EQ(fields[1].elements, (std::vector<Shown>{{0, "0", "smallest"}, {1, "7", "largest"}}));
}

TEST(InputView, OtherFieldsAreOneElement) {
  const auto fields = input_view(
      Json::parse(R"({"k": 7, "launch": {"grid": [2,1,1], "block": [8,4,1], "shared_bytes": 0}})"));
  ASSERT_EQ(fields.size(), 2U);
  EXPECT_EQ(fields[0].elements, (std::vector<Shown>{{0, "7", ""}}));
  EXPECT_EQ(fields[1].elements, (std::vector<Shown>{{0, "{grid 2, block (8,4,1)}", ""}}));
  EXPECT_FALSE(fields[1].is_list);
}

}  // namespace
}  // namespace warpcheck
