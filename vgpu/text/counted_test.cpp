#include "vgpu/text/counted.hpp"

#include <gtest/gtest.h>

namespace warpcheck {
namespace {

TEST(Counted, OnlyOneIsSingular) {
  EXPECT_EQ(counted(0, "byte"), "0 bytes");
  EXPECT_EQ(counted(1, "byte"), "1 byte");
  EXPECT_EQ(counted(2, "byte"), "2 bytes");
}

TEST(Counted, NounsThatTakeMoreThanAnS) {
  EXPECT_EQ(counted(3, "class"), "3 classes");
  EXPECT_EQ(counted(3, "launch"), "3 launches");
  EXPECT_EQ(counted(3, "corpus entry"), "3 corpus entries");
  EXPECT_EQ(counted(3, "day"), "3 days");
  EXPECT_EQ(noun_of(1, "corpus entry"), "corpus entry");
}

}  // namespace
}  // namespace warpcheck
