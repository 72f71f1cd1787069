// What an expectation matches, and how files of expectations are read and written.
#include "harness/expected/expectation.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>

#include "harness/case/atomic_file.hpp"
#include "harness/expected/expectation_file.hpp"
#include "harness/expected/expected_findings.hpp"
#include "vgpu/cudart/testing/temporary_directory.hpp"

namespace warpcheck::expected {
namespace {

const std::map<std::string, std::vector<std::string>>& sources() {
  static const std::map<std::string, std::vector<std::string>> files{
      {"/p/src/scan.cu", {"", "  s[t]  = 1;  // first", "x = s[t + 1];", "s[t] = 1;"}}};
  return files;
}

const std::vector<std::string>* lines(const std::string& file) {
  const auto found = sources().find(file);
  return found == sources().end() ? nullptr : &found->second;
}

vgpu::AccessSide side(std::string role, std::uint32_t line, std::string file = "/p/src/scan.cu") {
  return {.role = std::move(role), .file = std::move(file), .line = line, .ptx = "st.shared.u32"};
}

vgpu::Finding race() {
  return {.kind = vgpu::FindingKind::data_race,
          .space = "shared",
          .kernel = "scan<int, (bool)1>",
          .object = "s[1], 4 bytes",
          .accesses = {side("write", 2), side("read", 3)}};
}

Expectation parsed(const std::string& text) {
  return read_expectations(text + "  because it is so\n", "known.expect").at(0);
}

bool fits(const std::string& text, const vgpu::Finding& finding = race()) {
  return matches(parsed(text), finding, lines);
}

std::string error_of(const std::string& text) {
  try {
    (void)read_expectations(text, "known.expect");
  } catch (const CaseFileError& error) {
    return error.what();
  }
  return "";
}

TEST(ExpectationTest, NamesKindMemoryAndKernel) {
  EXPECT_TRUE(fits("data-race\n kernel scan\n"));
  EXPECT_TRUE(fits("data-race shared\n kernel scan<int, (bool)1>\n"));
  EXPECT_TRUE(fits("*\n kernel s*n\n"));
  EXPECT_TRUE(fits("data-race\n object s[1], 4 *\n"));
  EXPECT_FALSE(fits("deadlock\n kernel scan\n"));
  EXPECT_FALSE(fits("data-race global\n kernel scan\n"));
  EXPECT_FALSE(fits("data-race\n kernel sca\n"));
  EXPECT_FALSE(fits("data-race\n kernel scan\n object s[2]*\n"));
}

TEST(ExpectationTest, AnAcceptedNoteDoesNotHideAnError) {
  vgpu::Finding note = race();
  note.severity = vgpu::Severity::note;
  EXPECT_TRUE(fits("data-race note\n kernel scan\n", note));
  EXPECT_TRUE(fits("data-race\n kernel scan\n", note));
  EXPECT_FALSE(fits("data-race note\n kernel scan\n"));
}

TEST(ExpectationTest, NamesLinesByTheirCode) {
  const std::string read = "  read at src/scan.cu: x = s[t + 1];\n";
  EXPECT_TRUE(fits("data-race\n  write at src/scan.cu: s[t] = 1;\n" + read));
  EXPECT_TRUE(fits("data-race\n  at /p/src/scan.cu: s[t] =  1;  // of another time\n" + read));
  EXPECT_TRUE(fits("data-race\n  at scan.cu\n"));
  EXPECT_TRUE(fits("data-race\n  at */scan.cu: *s[t*\n"));
  EXPECT_TRUE(fits("data-race\n  write at scan.cu:2\n" + read));
  // Moved: the code counts, and not the number.
  vgpu::Finding moved = race();
  moved.accesses[0].line = 4;
  EXPECT_TRUE(fits("data-race\n  write at src/scan.cu: s[t] = 1;\n" + read, moved));
  EXPECT_FALSE(fits("data-race\n  write at scan.cu:2\n" + read, moved));
  // Each side has a place, and each place has a side.
  EXPECT_FALSE(fits("data-race\n" + read));
  EXPECT_FALSE(fits("data-race\n  at scan.cu\n  at other.cu\n"));
  EXPECT_FALSE(fits("data-race\n  read at src/scan.cu: s[t] = 1;\n" + read));
  EXPECT_FALSE(fits("data-race\n  write at c/scan.cu: s[t] = 1;\n" + read));
  EXPECT_FALSE(fits("data-race\n  at scan.cu: s[t] = 2;\n" + read));
}

TEST(ExpectationTest, ASideWithoutALineNeedsNoPlace) {
  vgpu::Finding finding = race();
  finding.accesses[1] = {.role = "host copy"};
  EXPECT_TRUE(fits("data-race\n  write at src/scan.cu: s[t] = 1;\n", finding));
  EXPECT_TRUE(fits("data-race\n  in src/*\n", finding));
  finding.accesses.erase(finding.accesses.begin());
  EXPECT_FALSE(fits("data-race\n  at src/scan.cu\n", finding));
  EXPECT_FALSE(fits("data-race\n  in *\n", finding));
}

TEST(ExpectationTest, FilesAreThoseOfAllSides) {
  EXPECT_TRUE(fits("*\n  in src/*\n"));
  EXPECT_TRUE(fits("*\n  in other/*\n  in */scan.cu\n"));
  vgpu::Finding finding = race();
  finding.accesses[1].file = "/p/own.cu";
  EXPECT_FALSE(fits("*\n  in src/*\n", finding));
  finding.accesses[1].header = "/p/src/block.cuh";
  EXPECT_TRUE(fits("*\n  in src/*\n", finding));
  finding.accesses[1].file.clear();  // an instruction without a line
  finding.accesses[1].header.clear();
  EXPECT_FALSE(fits("*\n  in *\n", finding));
}

TEST(ExpectationTest, AStarStandsForAnyCharacters) {
  EXPECT_TRUE(matches("", ""));
  EXPECT_TRUE(matches("*", ""));
  EXPECT_TRUE(matches("a*b*c", "a.b.b.c"));
  EXPECT_TRUE(matches("*p = [x]?", "*p = [x]?"));
  EXPECT_TRUE(matches("a**", "a"));
  EXPECT_FALSE(matches("a*b", "a.b.c"));
  EXPECT_FALSE(matches("ab*ba", "aba"));
  EXPECT_FALSE(matches("", "a"));
}

TEST(ExpectationFileTest, ReadsEntriesWithComments) {
  const std::vector<Expectation> read = read_expectations(
      "# known\n"
      "\n"
      "data-race shared note\n"
      "  # of the scan\n"
      "  program  test_*\n"
      "  kernel   scan\n"
      "  host copy at a b/scan.cu: x = y ? 1 : 2; // why\n"
      "  at scan.cu:12\n"
      "  because  it is\n"
      "  because  so\r\n"
      "*\n"
      "\tin */cub/*\n"
      "\tbecause of the library",
      "known.expect");
  ASSERT_EQ(read.size(), 2u);
  EXPECT_EQ(read[0], (Expectation{.kind = vgpu::FindingKind::data_race,
                                  .space = "shared",
                                  .is_note = true,
                                  .program = "test_*",
                                  .kernel = "scan",
                                  .places = {{"host copy", "a b/scan.cu", 0, "x = y ? 1 : 2;"},
                                             {"", "scan.cu", 12, ""}},
                                  .reason = "it is so",
                                  .source = "known.expect",
                                  .line = 3}));
  EXPECT_EQ(
      read[1],
      (Expectation{
          .files = {"*/cub/*"}, .reason = "of the library", .source = "known.expect", .line = 11}));
  EXPECT_TRUE(read_expectations("", "known.expect").empty());
}

TEST(ExpectationFileTest, SaysWhatIsWrongAndWhere) {
  const std::string head = "data-race\n", end = "  because so\n";
  const auto expect = [](const std::string& text, const std::string& line,
                         const std::string& what) {
    const std::string error = error_of(text);
    EXPECT_TRUE(error.starts_with("known.expect:" + line + ": ")) << error;
    EXPECT_NE(error.find(what), std::string::npos) << error;
  };
  expect("  kernel scan\n", "1", "there is none above it");
  expect("data-rice\n", "1", "(data-race, out-of-bounds, ");
  expect("data-race sharde\n", "1", "found 'sharde'");
  expect(head + "  kernel scan\n", "1", "no reason: add an indented line `because ...`");
  expect(head + end, "1", "would accept every data-race: add an indented line");
  expect(head + "  program a\n" + end, "1", "would accept every data-race");
  expect("\n" + head + "  kernel a\n  kernel b\n" + end, "4", "a second 'kernel'");
  expect(head + "  kernel\n" + end, "2", "expected something behind 'kernel'");
  expect(head + "  scan.cu:12\n" + end, "2", "found 'scan.cu:12'");
  expect(head + "  at scan.cu:x = 1\n" + end, "2", "`: ` and its code, behind the file");
  expect(head + "  at scan.cu:0\n" + end, "2", "expected a line's number");
  expect(head + "  read at \n" + end, "2", "expected program, kernel");
  expect(head + "  kernel a\n" + end + head + "  kernel b\n", "4", "no reason");
  EXPECT_THROW((void)read_expectation_file("/nowhere/known.expect"), CaseFileError);
  EXPECT_THROW((void)read_expectation_file("/"), CaseFileError);
}

class WrittenExpectationsTest : public testing::Test {
 protected:
  [[nodiscard]] std::string text() const {
    std::ifstream in(file_);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  std::size_t add(const std::vector<vgpu::Finding>& findings) const {
    return add_expectations(file_, "test_scan", findings, lines);
  }

  TemporaryDirectory directory_;
  std::filesystem::path file_ = directory_.path() / "known.expect";
};

TEST_F(WrittenExpectationsTest, FitWhatWasFound) {
  EXPECT_EQ(add({race(), race()}), 1u);
  EXPECT_EQ(text(),
            "# Findings that are known and accepted: `warpcheck exec --expect`.  Replace each TODO "
            "by the reason.\n"
            "\n"
            "data-race shared\n"
            "  program test_scan\n"
            "  kernel scan\n"
            "  write at src/scan.cu: s[t] = 1;\n"
            "  read at src/scan.cu: x = s[t + 1];\n"
            "  because TODO\n");
  const std::vector<Expectation> read = read_expectation_file(file_);
  EXPECT_TRUE(matches(read.at(0), race(), lines));
  EXPECT_EQ(add({race()}), 0u);
}

TEST_F(WrittenExpectationsTest, KeepWhatTheFileHas) {
  std::ofstream(file_) << "# mine\ndeadlock\n  kernel poll\n  because it is meant to";
  vgpu::Finding leak{.kind = vgpu::FindingKind::leak, .object = "allocation of 128 bytes"};
  vgpu::Finding elsewhere = race();
  elsewhere.severity = vgpu::Severity::note;
  elsewhere.accesses = {side("write", 7, "/b/my:src/*.cu")};
  EXPECT_EQ(add({race()}), 1u);
  EXPECT_EQ(add({leak, elsewhere, race()}), 2u);
  EXPECT_TRUE(
      text().starts_with("# mine\ndeadlock\n  kernel poll\n  because it is meant to\n\ndata-"));
  EXPECT_NE(text().find("leak\n  program test_scan\n  object allocation of 128 bytes\n"),
            std::string::npos);
  EXPECT_NE(text().find("data-race shared note\n  program test_scan\n  kernel scan\n"
                        "  write at my?src/\\*.cu:7\n"),
            std::string::npos);
  const std::vector<Expectation> read = read_expectation_file(file_);
  ASSERT_EQ(read.size(), 4u);
  EXPECT_TRUE(matches(read[2], leak, lines));
  EXPECT_TRUE(matches(read[3], elsewhere, lines));
}

TEST_F(WrittenExpectationsTest, NameFilesFromTheCurrentDirectory) {
  const std::string here = (std::filesystem::current_path() / "a" / "b" / "c.cu").string();
  vgpu::Finding finding = race();
  finding.accesses = {side("write", 7, here)};
  const auto file = [&](const char* path) {
    return expectation_of(finding, "p", path, lines).places.at(0).file;
  };
  EXPECT_EQ(file("known.expect"), "a/b/c.cu");
  EXPECT_EQ(file("a/known.expect"), "b/c.cu");
  EXPECT_EQ(file("/elsewhere/known.expect"), "a/b/c.cu");
}

TEST_F(WrittenExpectationsTest, ABadFileIsLeftAsItIs) {
  std::ofstream(file_) << "data-rice\n";
  EXPECT_THROW(add({race()}), CaseFileError);
  EXPECT_EQ(text(), "data-rice\n");
}

TEST(ExpectedFindingsTest, SayWhichExpectationMatchedNothing) {
  ExpectedFindings expected(lines);
  expected.set_program("bin/test_scan");
  expected.add({{.files = {"*"}, .reason = "an option"}});
  expected.add(
      read_expectations("data-race\n program test_scan\n kernel scan\n because a\n"
                        "deadlock\n program test_scan\n kernel scan\n because b\n"
                        "trap\n program other\n kernel scan\n because TODO later\n",
                        "known.expect"));
  const Expectation* const found = expected.find(race());
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(place_text(*found), "known.expect:1: data-race in kernel scan");
  ASSERT_EQ(expected.unmatched().size(), 1u);
  EXPECT_EQ(expected.unmatched()[0].line, 5u);
  EXPECT_EQ(expected.without_reason(), 1u);
  vgpu::Finding other = race();
  other.kernel = "other";
  EXPECT_TRUE(expected.find(other)->is_option());
  expected.set_program("other");
  EXPECT_EQ(expected.unmatched().size(), 2u);
}

}  // namespace
}  // namespace warpcheck::expected
