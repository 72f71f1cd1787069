// For tests of the command line: a directory of their own, and what a shell or the built program
// prints in it.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "vgpu/cudart/testing/temporary_directory.hpp"

struct Outcome {
  int status = -1;
  std::string out;  // stdout and stderr
};

class ShellTest : public testing::Test {
 protected:
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
  // Runs the built command line.
  Outcome run(const std::string& arguments) const {
    return shell(WARPCHECK_PROGRAM " " + arguments);
  }
  // Returns what is in a file of the directory.
  std::string read(const std::string& name) const {
    std::ostringstream text;
    text << std::ifstream(directory_ / name).rdbuf();
    return text.str();
  }

  const warpcheck::TemporaryDirectory temporary_;
  const std::filesystem::path directory_ = temporary_.path();
};

// Bad usage, or a bad file: status 2, and one line that contains `part`.
inline void expect_one_line_error(const Outcome& outcome, const std::string& part) {
  EXPECT_EQ(outcome.status, 2) << outcome.out;
  EXPECT_NE(outcome.out.find(part), std::string::npos) << outcome.out;
  EXPECT_EQ(outcome.out.find('\n'), outcome.out.size() - 1) << outcome.out;
}
