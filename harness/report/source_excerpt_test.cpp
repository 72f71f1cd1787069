#include "harness/report/source_excerpt.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "harness/pair/project.hpp"
#include "vgpu/cudart/testing/temporary_directory.hpp"

namespace warpcheck {
namespace {

namespace fs = std::filesystem;

class SourceExcerpt : public testing::Test {
 protected:
  std::string write(const std::string& name, int lines) const {
    const fs::path path = directory_ / name;
    std::ofstream out(path);
    for (int i = 1; i <= lines; ++i) out << "line " << i << "\n";
    return path.string();
  }

  const TemporaryDirectory temporary_;
  const fs::path directory_ = temporary_.path();
  SourceFiles files_;
};

std::vector<std::uint32_t> numbers(const Excerpt& excerpt) {
  std::vector<std::uint32_t> list;
  for (const Excerpt::Line& line : excerpt.lines) list.push_back(line.number);
  return list;
}

TEST_F(SourceExcerpt, ShowsBothSidesWithLinesAround) {
  const std::string file = write("k.cu", 40);
  const auto list = excerpts({{file, 10}, {file, 30}}, files_, 2);
  ASSERT_EQ(list.size(), 1U);
  EXPECT_TRUE(list[0].found);
  EXPECT_EQ(numbers(list[0]),
            (std::vector<std::uint32_t>{8, 9, 10, 11, 12, 0, 28, 29, 30, 31, 32}));
  EXPECT_EQ(list[0].lines[2], (Excerpt::Line{10, "line 10", {1}}));
  EXPECT_EQ(list[0].lines[8], (Excerpt::Line{30, "line 30", {2}}));
}

TEST_F(SourceExcerpt, AFileOfTheProjectIsFoundFromAnyDirectory) {
  write("of_the_project.cu", 3);
  const Project before = project();
  set_project({.program = before.program, .source_root = directory_.string()});
  const auto list = excerpts({{"of_the_project.cu", 2}}, files_, 0);
  set_project(before);
  ASSERT_TRUE(list.at(0).found);
  EXPECT_EQ(list[0].lines.at(0), (Excerpt::Line{2, "line 2", {1}}));
}

TEST_F(SourceExcerpt, OneLineMayBeBothSides) {
  const std::string file = write("k.cu", 3);
  const auto list = excerpts({{file, 2}, {file, 2}}, files_, 5);
  EXPECT_EQ(numbers(list.at(0)), (std::vector<std::uint32_t>{1, 2, 3}));
  EXPECT_EQ(list[0].lines[1].sides, (std::vector<std::size_t>{1, 2}));
}

TEST_F(SourceExcerpt, EachFileHasItsOwn) {
  const std::string a = write("a.cu", 3), b = write("b.cu", 3);
  const auto list = excerpts({{b, 1}, {a, 1}, {b, 3}, {"", 0}}, files_);
  ASSERT_EQ(list.size(), 2U);
  EXPECT_EQ(list[0].file, b);
  EXPECT_EQ(list[1].file, a);
}

TEST_F(SourceExcerpt, SaysWhereTheFileIsNotThere) {
  const auto list = excerpts({{"no/such.cu", 7}}, files_);
  ASSERT_EQ(list.size(), 1U);
  EXPECT_FALSE(list[0].found);
  EXPECT_EQ(list[0].lines, (std::vector<Excerpt::Line>{{7, "", {1}}}));
  EXPECT_FALSE(excerpts({{directory_.string(), 7}}, files_)[0].found) << "a directory";
}

TEST_F(SourceExcerpt, ALineBehindTheEndOfAnEditedFileIsEmpty) {
  const auto list = excerpts({{write("k.cu", 3), 9}}, files_, 1);
  EXPECT_EQ(list.at(0).lines, (std::vector<Excerpt::Line>{{9, "", {1}}}));
}

TEST_F(SourceExcerpt, FindsFilesOfTheRepositoryFromAnywhere) {
  const std::vector<std::string>* lines = files_.find("kernels/specimens/scan_hillis_steele.cu");
  ASSERT_NE(lines, nullptr);
  EXPECT_NE(lines->at(13).find("share[t] += share[t - distance]"), std::string::npos);
}

}  // namespace
}  // namespace warpcheck
