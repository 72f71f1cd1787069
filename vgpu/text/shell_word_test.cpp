#include "vgpu/text/shell_word.hpp"

#include <gtest/gtest.h>

namespace warpcheck {
namespace {

TEST(ShellWord, OnlyWhatAShellWouldChangeIsQuoted) {
  EXPECT_EQ(shell_word("fuzz/cases/scan/3f9a.case"), "fuzz/cases/scan/3f9a.case");
  EXPECT_EQ(shell_word("caf\u00e9/a+b@c%d:e,f=g"), "caf\u00e9/a+b@c%d:e,f=g");
  EXPECT_EQ(shell_word(""), "''");
  EXPECT_EQ(shell_word("my cases/x"), "'my cases/x'");
  EXPECT_EQ(shell_word("$HOME/~*"), "'$HOME/~*'");
  EXPECT_EQ(shell_word("it's"), "'it'\\''s'");
}

}  // namespace
}  // namespace warpcheck
