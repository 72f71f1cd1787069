#include "harness/process/progress.hpp"
#include "harness/process/terminal.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>

namespace warpcheck {
namespace {

class ProgressTest : public testing::Test {
 protected:
  Progress::World world(bool terminal) {
    return {.terminal = terminal,
            .seconds = [this] { return now_; },
            .write = [this](std::string_view text) { written_ += text; },
            .columns = [this] { return columns_; }};
  }
  void show_at(Progress& progress, double seconds) {
    now_ = seconds;
    progress.show([this] {
      ++asked_;
      return std::string("checking scan");
    });
  }

  double now_ = 100;
  int columns_ = 80;
  int asked_ = 0;
  std::string written_;
};

TEST_F(ProgressTest, IsSilentForTwoSeconds) {
  Progress progress(world(true));
  show_at(progress, 101.9);
  EXPECT_EQ(written_, "");
  EXPECT_EQ(asked_, 0);
  show_at(progress, 102);
  EXPECT_EQ(written_, "\r\x1b[Kchecking scan   2 s");
}

TEST_F(ProgressTest, IsRewrittenAtMostFiveTimesASecondAndGoneAtTheEnd) {
  {
    Progress progress(world(true));
    show_at(progress, 103);
    show_at(progress, 103.125);
    EXPECT_EQ(asked_, 1);
    show_at(progress, 103.25);
    EXPECT_EQ(asked_, 2);
    written_.clear();
  }
  EXPECT_EQ(written_, "\r\x1b[K");
}

TEST_F(ProgressTest, NothingIsErasedWhereNothingWasShown) {
  { Progress progress(world(true)); }
  EXPECT_EQ(written_, "");
}

TEST_F(ProgressTest, ComesBackAtOnceAfterItWasCleared) {
  Progress progress(world(true));
  show_at(progress, 103);
  progress.clear();
  show_at(progress, 103.0625);
  EXPECT_EQ(written_, "\r\x1b[Kchecking scan   3 s\r\x1b[K\r\x1b[Kchecking scan   3 s");
}

TEST_F(ProgressTest, NeverWraps) {
  columns_ = 9;
  Progress progress(world(true));
  show_at(progress, 103);
  EXPECT_EQ(written_, "\r\x1b[Kchecking");
}

TEST_F(ProgressTest, IsForTerminalsOnly) {
  Progress progress(world(false));
  show_at(progress, 200);
  EXPECT_EQ(written_, "");
  EXPECT_EQ(asked_, 0);
}

TEST(Colors, MarkTheVerdictsThatBeginLines) {
  EXPECT_EQ(colored_verdicts("PASS a   1 trials\nFAIL b\n  x FAIL y\n"),
            "\x1b[32mPASS\x1b[0m a   1 trials\n\x1b[1;31mFAIL\x1b[0m b\n  x FAIL y\n");
  EXPECT_EQ(colored_verdicts("UNHEALTHY a"), "\x1b[1;31mUNHEALTHY\x1b[0m a");
  EXPECT_EQ(colored_verdicts("PASSING\n"), "PASSING\n");
  EXPECT_EQ(colored_verdicts(""), "");
}

TEST(Colors, AreNotForPipes) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  EXPECT_FALSE(wants_color(ends[1]));
  ::close(ends[0]);
  ::close(ends[1]);
}

}  // namespace
}  // namespace warpcheck
