// Every litmus test below this directory has the result that its comment derives.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "model/enumerate.hpp"
#include "model/parser.hpp"
#include "model/print.hpp"

namespace warpcheck::model {
namespace {

namespace fs = std::filesystem;

const fs::path kDirectory = WARPCHECK_SOURCE_DIR "/model/tests";

std::vector<std::string> folders() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(kDirectory)) {
    if (entry.is_directory()) names.push_back(entry.path().filename().string());
  }
  std::ranges::sort(names);
  return names;
}

std::string text_of(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

class LitmusFiles : public testing::TestWithParam<std::string> {};

TEST_P(LitmusFiles, HaveTheResultThatTheyArgueFor) {
  std::size_t tests = 0;
  for (const auto& entry : fs::directory_iterator(kDirectory / GetParam())) {
    if (entry.path().extension() != ".litmus") continue;
    ++tests;
    SCOPED_TRACE(entry.path().string());
    const auto test = parse_test(text_of(entry.path()));
    EXPECT_EQ(test.name, entry.path().stem());
    EXPECT_EQ(test.warnings, std::vector<std::string>{});
    const Outcome outcome = enumerate(test);
    EXPECT_EQ(name_of(observation(outcome)), test.expectation) << shown_outcome(test, outcome);
  }
  EXPECT_GE(tests, 3U);
}

INSTANTIATE_TEST_SUITE_P(Folders, LitmusFiles, testing::ValuesIn(folders()),
                         [](const auto& folder) { return folder.param; });

}  // namespace
}  // namespace warpcheck::model
