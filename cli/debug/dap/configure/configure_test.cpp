// What `--configure` writes for editors.
#include "cli/debug/dap/configure/configure.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>

#include "cli/cli.hpp"
#include "cli/debug/dap/configure/launch_json.hpp"
#include "harness/input/json.hpp"
#include "vgpu/cudart/testing/temporary_directory.hpp"

namespace warpcheck::dap {
namespace {

const Json kTwo = Json::parse(R"([{"name":"a","type":"warpcheck"},{"name":"b"}])");

std::string error_of(const std::string& text) {
  try {
    static_cast<void>(with_configurations(text, kTwo));
  } catch (const LaunchJsonError& error) {
    return error.what();
  }
  return "";
}

TEST(DapLaunchJson, WhatWasThereRemainsWithItsComments) {
  EXPECT_EQ(with_configurations(R"({
  // mine
  "version": "0.2.0",
  "configurations": [
    {"name": "old", "args": ["a]", /* ] */ {"name": "a"},],}, // last
  ],
}
)",
                                kTwo),
            R"({
  // mine
  "version": "0.2.0",
  "configurations": [
    {
      "name": "a",
      "type": "warpcheck"
    },
    {
      "name": "b"
    },
    {"name": "old", "args": ["a]", /* ] */ {"name": "a"},],}, // last
  ],
}
)");
}

TEST(DapLaunchJson, AnEmptyListAndANewFile) {
  EXPECT_EQ(with_configurations("{\"configurations\": []}", Json::parse(R"([{"name":"a"}])")),
            "{\"configurations\": [\n    {\n      \"name\": \"a\"\n    }\n  ]}");
  EXPECT_EQ(new_launch_json(Json::parse(R"([{"name":"a"}])")),
            "{\n  \"version\": \"0.2.0\",\n  \"configurations\": [\n    {\n      \"name\": \"a\"\n"
            "    }\n  ]\n}\n");
}

TEST(DapLaunchJson, NamesThatAreThereAreNotAddedAgain) {
  const std::string once = with_configurations("{\"configurations\":[]}", kTwo).value();
  EXPECT_FALSE(with_configurations(once, kTwo).has_value());
  const auto more = with_configurations(once, Json::parse(R"([{"name":"b"},{"name":"c"}])"));
  EXPECT_EQ(Json::parse(more.value())["configurations"].size(), 3u);
}

TEST(DapLaunchJson, WhatIsNoneIsNamedWithItsLine) {
  EXPECT_EQ(error_of("{}"), "expected a list \"configurations\", found none");
  EXPECT_EQ(error_of(""), "line 1: expected \"{\", found the end of the file");
  EXPECT_EQ(error_of("{\n  \"configurations\": {}\n}"), "line 2: expected \"[\", found \"{\"");
  EXPECT_EQ(error_of("{\"a\": 1\n\"b\": 2}"), "line 2: expected \",\" or \"}\", found \"\"\"");
  EXPECT_EQ(error_of("{\"a"), "line 1: expected the end of a text, found the end of the file");
  EXPECT_EQ(error_of("{ /* "), "line 1: expected */ at the end of a comment, found \"/\"");
  EXPECT_EQ(error_of("{\"configurations\": []} x"),
            "line 1: expected the end of the file, found \"x\"");
}

class DapConfigure : public testing::Test {
 protected:
  [[nodiscard]] std::string read(const std::string& name) const {
    std::ostringstream text;
    text << std::ifstream(folder_ / name).rdbuf();
    return text.str();
  }
  const TemporaryDirectory temporary_;
  const std::filesystem::path folder_ = temporary_.path();
};

TEST_F(DapConfigure, VsCodeGetsConfigurationsAndAnExtensionThatNamesThisProgram) {
  const std::string told = configure_vscode(folder_, "/opt/bin/warpcheck", "0.1.0", {});
  EXPECT_NE(
      told.find("launch.json has now \"warpcheck: the open case file\" and \"warpcheck: a CUDA "
                "program\"\n"),
      std::string::npos)
      << told;
  const Json launch = Json::parse(read(".vscode/launch.json"));
  EXPECT_EQ(launch["configurations"][0],
            Json::parse(R"({"name":"warpcheck: the open case file","type":"warpcheck",
                "request":"launch","case":"${file}","cwd":"${workspaceFolder}"})"));
  const Json debugger = Json::parse(
      read(".vscode/extensions/warpcheck-debugger/package.json"))["contributes"]["debuggers"][0];
  EXPECT_EQ(debugger["type"], "warpcheck");
  EXPECT_EQ(debugger["program"], "/opt/bin/warpcheck");
  EXPECT_EQ(debugger["args"], Json::parse(R"(["debug","--dap"])"));
  const std::string again = configure_vscode(folder_, "/opt/bin/warpcheck", "0.1.0", {});
  EXPECT_NE(again.find("launch.json has already"), std::string::npos) << again;
}

TEST_F(DapConfigure, ADamagedLaunchJsonIsLeftAlone) {
  std::filesystem::create_directory(folder_ / ".vscode");
  std::ofstream(folder_ / ".vscode/launch.json") << "{\n]";
  try {
    static_cast<void>(configure_vscode(folder_, "/opt/bin/warpcheck", "0.1.0", {}));
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_NE(std::string(error.what()).find("launch.json: line 2: expected"), std::string::npos)
        << error.what();
  }
  EXPECT_EQ(read(".vscode/launch.json"), "{\n]");
  EXPECT_FALSE(std::filesystem::exists(folder_ / ".vscode/extensions"));
}

TEST_F(DapConfigure, TheDebuggeeOfTheCommandLineIsTheConfiguration) {
  static_cast<void>(
      configure_vscode(folder_, "/w", "0.1.0", {.case_file = "/cases/scan.case", .command = {}}));
  static_cast<void>(configure_vscode(folder_, "/w", "0.1.0",
                                     {.case_file = "", .command = {"/bin/saxpy", "-n", "4"}}));
  const Json list = Json::parse(read(".vscode/launch.json"))["configurations"];
  ASSERT_EQ(list.size(), 2u);
  EXPECT_EQ(list[1]["case"], "/cases/scan.case");
  EXPECT_EQ(list[0]["program"], "/bin/saxpy");
  EXPECT_EQ(list[0]["args"], Json::parse(R"(["-n","4"])"));
}

TEST(DapEditors, NeovimAndEmacsGetTextsWithQuotedPaths) {
  const ConfiguredDebuggee debuggee{.case_file = "", .command = {"/bin/a \"b\"", "x"}};
  const std::string lua = nvim_configuration("/opt/warpcheck", debuggee);
  EXPECT_NE(lua.find("command = \"/opt/warpcheck\",\n  args = { \"debug\", \"--dap\" },\n"),
            std::string::npos);
  EXPECT_NE(lua.find("program = \"/bin/a \\\"b\\\"\",\n    args = { \"x\" },\n"), std::string::npos)
      << lua;
  const std::string lisp = emacs_configuration("/opt/warpcheck", debuggee);
  EXPECT_NE(lisp.find(":program \"/bin/a \\\"b\\\"\" :args [\"x\"]\n"), std::string::npos) << lisp;
  EXPECT_EQ(std::count(lisp.begin(), lisp.end(), '('), std::count(lisp.begin(), lisp.end(), ')'));
}

}  // namespace
}  // namespace warpcheck::dap
