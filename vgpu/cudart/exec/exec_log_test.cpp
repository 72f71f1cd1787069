#include "vgpu/cudart/exec/exec_log.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "vgpu/cudart/testing/temporary_directory.hpp"

namespace warpcheck::cudart {
namespace {

namespace fs = std::filesystem;

class ExecLogTest : public testing::Test {
 protected:
  const TemporaryDirectory temporary_;
  const fs::path path_ = exec_log_path(temporary_.path() / "records", ::getpid());
};

Arrival copy(std::uint32_t number) {
  return {Arrival::Kind::copy, number, std::uint64_t{1} << 40, number * 31u, number / 2, 1};
}

// More entries than the file has room for at first.
TEST_F(ExecLogTest, OutlivesAProcessThatIsKilled) {
  constexpr std::uint32_t kEntries = 10'000;
  const pid_t child = ::fork();
  if (child == 0) {
    ExecLog log(path_);
    log.count_launches(12);
    for (std::uint64_t i = 0; i < 2; ++i) {
      log.launch_begins(3, 8);
      log.launch_ended(3, 1000 + i, 5);
    }
    log.launch_ended(1'000'000, 7, 1);  // of kernels without a row of their own
    for (std::uint32_t i = 0; i < kEntries; ++i) log.add(copy(i));
    ::raise(SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  const auto contents = read_exec_log(path_);
  ASSERT_TRUE(contents.has_value());
  EXPECT_EQ(contents->counts.launches, 12u);
  EXPECT_EQ(contents->counts.incomplete, 0u);
  EXPECT_EQ(contents->counts.kernels[2], (KernelCounts{2, 2001, 10}));
  EXPECT_EQ(contents->counts.kernels.back(), (KernelCounts{1, 7, 1}));
  ASSERT_EQ(contents->arrivals.size(), kEntries);
  for (std::uint32_t i = 0; i < kEntries; ++i) EXPECT_EQ(contents->arrivals[i], copy(i));
}

// A process that executes another program, or itself again, keeps its number.
TEST_F(ExecLogTest, GoesOnWhereTheProcessHasExecutedAProgram) {
  for (const std::uint64_t launches : {2, 3, 4}) {
    ExecLog log(path_);
    for (std::uint64_t i = 1; i <= launches; ++i) log.count_launches(i);
    log.add(copy(static_cast<std::uint32_t>(launches)));
  }
  const auto contents = read_exec_log(path_);
  ASSERT_TRUE(contents.has_value());
  EXPECT_EQ(contents->counts.launches, 9u);
  EXPECT_EQ(contents->arrivals.size(), 3u);
}

TEST_F(ExecLogTest, WhatIsNoLogIsNothing) {
  EXPECT_FALSE(read_exec_log(path_).has_value());
  std::ofstream(path_) << std::string(4096, 'x');
  EXPECT_FALSE(read_exec_log(path_).has_value());
  ExecLog nowhere("/nonexistent/log");
  nowhere.count_launches(1);
  nowhere.add(copy(1));
}

}  // namespace
}  // namespace warpcheck::cudart
