#include "harness/process/progress.hpp"
#include "harness/process/terminal.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <string>
#include <vector>

namespace warpcheck {
namespace {

struct Step {
  double seconds = 0;  // at which it was shown
  bool clears = false;
};
constexpr Step kClear{.clears = true};

struct PrintedRow {
  const char* what;
  bool terminal;
  int columns;
  std::vector<Step> steps;
  std::string written;  // text written by these
  int asked;            // calls for the text
  std::string erased;   // written at the end
};

const std::string kErase = "\r\x1b[K";
const std::string kThreeSeconds = kErase + "checking scan   3 s";

const PrintedRow kPrintedRows[] = {
    {"silent for two seconds", true, 80, {{1.9}}, "", 0, ""},
    {"shown after two seconds", true, 80, {{1.9}, {2}}, kErase + "checking scan   2 s", 1, kErase},
    {"not twice in 0.2 s", true, 80, {{3}, {3.125}}, kThreeSeconds, 1, kErase},
    {"rewritten after 0.2 s",
     true,
     80,
     {{3}, {3.125}, {3.25}},
     kThreeSeconds + kThreeSeconds,
     2,
     kErase},
    {"nothing is erased where nothing was shown", true, 80, {}, "", 0, ""},
    {"nothing is cleared where nothing was shown", true, 80, {kClear}, "", 0, ""},
    {"cleared", true, 80, {{3}, kClear}, kThreeSeconds + kErase, 1, ""},
    {"back at once after it was cleared",
     true,
     80,
     {{3}, kClear, {3.0625}},
     kThreeSeconds + kErase + kThreeSeconds,
     2,
     kErase},
    {"never wraps", true, 9, {{3}}, kErase + "checking", 1, kErase},
    {"nothing fits", true, 0, {{3}}, kErase, 1, kErase},
    {"for terminals only", false, 80, {{100}}, "", 0, ""},
};

TEST(Progress, IsShownWhenALineIsDueAndErasedAtTheEnd) {
  constexpr double kBegin = 100;
  for (const PrintedRow& row : kPrintedRows) {
    double now = kBegin;
    int asked = 0;
    std::string written;
    {
      Progress progress({.terminal = row.terminal,
                         .seconds = [&] { return now; },
                         .write = [&](std::string_view text) { written += text; },
                         .columns = [&] { return row.columns; }});
      for (const Step& step : row.steps) {
        if (step.clears) {
          progress.clear();
          continue;
        }
        now = kBegin + step.seconds;
        progress.show([&] {
          ++asked;
          return std::string("checking scan");
        });
      }
      EXPECT_EQ(written, row.written) << row.what;
      EXPECT_EQ(asked, row.asked) << row.what;
      written.clear();
    }
    EXPECT_EQ(written, row.erased) << row.what;
  }
}

TEST(Colors, MarkTheVerdictsThatBeginLines) {
  EXPECT_EQ(colored_verdicts("PASS a   1 trial\nFAIL b\n  x FAIL y\n"),
            "\x1b[32mPASS\x1b[0m a   1 trial\n\x1b[1;31mFAIL\x1b[0m b\n  x FAIL y\n");
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
