// For tests of the command line: a directory of their own, and a shell's output in it.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <string>

struct Outcome {
  int status = -1;
  std::string out;  // stdout and stderr
};

class ShellTest : public testing::Test {
 protected:
  // name: of the test program; part of its directory's name.
  explicit ShellTest(const std::string& name)
      : directory_(std::filesystem::temp_directory_path() /
                   ("warpcheck_" + name + "." + std::to_string(::getpid()))) {}
  void SetUp() override { std::filesystem::create_directories(directory_); }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  // Runs a line in the test's directory.
  Outcome shell(const std::string& line) const {
    const std::string command = "cd '" + directory_.string() + "' && " + line + " 2>&1";
    Outcome outcome;
    std::FILE* pipe = ::popen(command.c_str(), "r");
    std::array<char, 4096> bytes{};
    for (std::size_t count; (count = std::fread(bytes.data(), 1, bytes.size(), pipe)) > 0;) {
      outcome.out.append(bytes.data(), count);
    }
    const int status = ::pclose(pipe);
    outcome.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    return outcome;
  }

  const std::filesystem::path directory_;
};
