#include "vgpu/text/trimmed.hpp"

#include <gtest/gtest.h>

#include <string>

namespace warpcheck {
namespace {

TEST(Trimmed, OnlyTheEndsLoseBlanks) {
  EXPECT_EQ(trimmed(" \ta b\r\n"), "a b");
  EXPECT_EQ(trimmed(" \n"), "");
  EXPECT_EQ(trimmed(""), "");
}

TEST(Trimmed, AnEmptyTextBehindTheLastSeparatorIsNoPart) {
  EXPECT_EQ(split("a ,,b", ','), (std::vector<std::string_view>{"a ", "", "b"}));
  EXPECT_EQ(split<std::string>("a\n\n", '\n'), (std::vector<std::string>{"a", ""}));
  EXPECT_TRUE(split("", ',').empty());
}

TEST(Trimmed, PartsMayBeEmpty) {
  EXPECT_EQ(split_trimmed("a , b,,", ","), (std::vector<std::string_view>{"a", "b", "", ""}));
  EXPECT_EQ(split_trimmed<std::string>("", ", "), std::vector<std::string>{""});
}

}  // namespace
}  // namespace warpcheck
