#include "cli/exec/run_directory.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <memory>
#include <thread>
#include <vector>

#include "vgpu/cudart/testing/temporary_directory.hpp"

namespace warpcheck {
namespace {

namespace fs = std::filesystem;

TEST(RunDirectory, IsDeletedWithItsFiles) {
  auto directory = std::make_unique<RunDirectory>();
  const fs::path path = directory->path();
  reserve_room(path / "records");
  EXPECT_TRUE(fs::exists(path / "records"));
  directory.reset();
  EXPECT_FALSE(fs::exists(path));
}

TEST(RunDirectory, OnlyThoseOfCommandsAreDeleted) {
  const TemporaryDirectory temporary;  // called warpcheck-test-...
  for (const char* const file : {"lock", "warpcheck.db"}) std::ofstream(temporary.path() / file);
  { const RunDirectory directory; }
  EXPECT_TRUE(fs::exists(temporary.path() / "warpcheck.db"));
}

// Each looks for directories that others have left, while others make theirs.
TEST(RunDirectory, OfACommandIsNotDeletedByOthersThatBegin) {
  constexpr int kThreads = 4, kDirectories = 500;
  std::atomic<int> missing = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      for (int j = 0; j < kDirectories; ++j) {
        const RunDirectory directory;
        missing += !fs::exists(directory.path());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(missing, 0);
}

}  // namespace
}  // namespace warpcheck
