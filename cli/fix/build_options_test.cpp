// Options of a build: what is taken over when a file is compiled again.
#include "cli/fix/build_options.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "vgpu/cudart/testing/temporary_directory.hpp"
#include "vgpu/text/shell_words.hpp"

namespace warpcheck {
namespace {

using Words = std::vector<std::string>;

TEST(BuildOptions, AreSplitAsByAShell) {
  EXPECT_EQ(shell_words("nvcc  -DA=\\\"x\\\" '-DB=1 2' \"-I/a b\" c.cu"),
            (Words{"nvcc", "-DA=\"x\"", "-DB=1 2", "-I/a b", "c.cu"}));
}

TEST(BuildOptions, LeaveOutInputOutputTargetAndDebugging) {
  EXPECT_EQ(device_options({"nvcc",       "-DN=4",
                            "-Iinclude",  "-isystem",
                            "/x",         "-O3",
                            "-std=c++20", "--generate-code=arch=compute_80,code=[sm_80]",
                            "-gencode",   "arch=x",
                            "-lineinfo",  "-Xcompiler",
                            "-fPIC",      "--expt-relaxed-constexpr",
                            "-x",         "cu",
                            "-c",         "a/b.cu",
                            "-o",         "b.o"},
                           "/p/build", "a/b.cu"),
            (Words{"-DN=4", "-I/p/build/include", "-isystem", "/x", "-std=c++20",
                   "--expt-relaxed-constexpr"}));
}

TEST(BuildOptions, AreThoseOfTheFile) {
  const TemporaryDirectory directory;
  const std::filesystem::path folder = directory.path();
  std::filesystem::create_directory(folder / "build");
  std::ofstream(folder / "build" / "compile_commands.json")
      << R"([{"directory": "/p", "file": "a.cu", "command": "nvcc -DA -c a.cu"},
             {"directory": "/p", "file": "/p/b.cu", "arguments": ["nvcc", "-DB", "/p/b.cu"]}])";
  EXPECT_EQ(options_of_build("/p/b.cu", {folder}), Words{"-DB"});
  EXPECT_EQ(options_of_build("/p/a.cu", {folder}), Words{"-DA"});
  EXPECT_FALSE(options_of_build("/p/c.cu", {folder}));
}

}  // namespace
}  // namespace warpcheck
