#include "harness/pair/new_pair.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "vgpu/cudart/testing/temporary_directory.hpp"

namespace warpcheck {
namespace {

namespace fs = std::filesystem;

std::string read(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

class NewPair : public testing::Test {
 protected:
  [[nodiscard]] std::size_t files_there() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(directory_), fs::directory_iterator()));
  }

  const TemporaryDirectory temporary_;
  const fs::path directory_ = temporary_.path();
};

TEST_F(NewPair, SaxpyIsTheExample) {
  const auto files = write_new_pair(directory_, "saxpy", false);
  ASSERT_EQ(files.size(), 4U);
  for (const NewFile& file : files) {
    EXPECT_EQ(read(directory_ / file.name),
              read(fs::path(WARPCHECK_SOURCE_DIR) / "examples" / "saxpy" / file.name));
  }
}

TEST_F(NewPair, EveryNameIsTheNewOne) {
  const auto files = new_pair_files("row_sum2", false);
  EXPECT_EQ(files[0].name, "row_sum2.cu");
  EXPECT_EQ(files[1].name, "row_sum2_reference.hpp");
  EXPECT_EQ(files[2].name, "row_sum2_pair.cpp");
  EXPECT_EQ(files[3].name, "CMakeLists.txt");
  for (const NewFile& file : files) {
    EXPECT_EQ(file.text.find("saxpy"), std::string::npos) << file.text;
    EXPECT_EQ(file.text.find("Saxpy"), std::string::npos) << file.text;
  }
  EXPECT_NE(files[2].text.find("KERNEL_PAIR(row_sum2, RowSum2Input,"), std::string::npos);
}

TEST_F(NewPair, APlantedBugIsOneCharacter) {
  const auto good = new_pair_files("saxpy", false);
  const auto bad = new_pair_files("saxpy", true);
  EXPECT_EQ(bad[0].text.size(), good[0].text.size() + 1);
  EXPECT_NE(bad[0].text.find("if (i <= n)"), std::string::npos);
  for (std::size_t i = 1; i < good.size(); ++i) EXPECT_EQ(bad[i].text, good[i].text);
}

TEST_F(NewPair, NothingIsOverwritten) {
  std::ofstream(directory_ / "sum_pair.cpp") << "mine";
  EXPECT_THROW(write_new_pair(directory_, "sum", false), NewPairError);
  EXPECT_EQ(read(directory_ / "sum_pair.cpp"), "mine");
  EXPECT_EQ(files_there(), 1U);
}

TEST_F(NewPair, AProjectThatIsThereStaysAsItIs) {
  std::ofstream(directory_ / "CMakeLists.txt") << "mine";
  EXPECT_EQ(write_new_pair(directory_, "sum", false).size(), 3U);
  EXPECT_EQ(read(directory_ / "CMakeLists.txt"), "mine");
}

TEST_F(NewPair, NothingIsLeftWhereItCannotBeWritten) {
  EXPECT_THROW(write_new_pair(directory_ / "none", "sum", false), NewPairError);
  // A broken link: only opening it shows that the name is taken.
  fs::create_symlink("nowhere/at_all", directory_ / "sum_pair.cpp");
  EXPECT_THROW(write_new_pair(directory_, "sum", false), NewPairError);
  EXPECT_EQ(files_there(), 1U);
}

TEST_F(NewPair, NamesAreIdentifiersOfTheirOwn) {
  for (const char* name : {"", "Sum", "2sum", "_sum", "sum_", "row__sum", "row-sum", "../sum",
                           "a b", "int", "test", "main", "std", "warpcheck"}) {
    EXPECT_THROW(static_cast<void>(new_pair_files(name, false)), NewPairError) << name;
  }
  EXPECT_NO_THROW(static_cast<void>(new_pair_files("s", false)));
}

}  // namespace
}  // namespace warpcheck
