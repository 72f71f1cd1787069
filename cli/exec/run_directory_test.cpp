#include "cli/exec/run_directory.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <memory>
#include <thread>
#include <vector>

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
