// For tests of the command line: a directory of their own, and a shell's output in it.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <filesystem>
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

  const warpcheck::TemporaryDirectory temporary_;
  const std::filesystem::path directory_ = temporary_.path();
};
