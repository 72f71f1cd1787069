// The files that a command gives to nvcc and reads back: a directory of their own, removed with the
// object.
#pragma once

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "cli/cli.hpp"
#include "cli/exec/program_file.hpp"
#include "cli/exec/run_directory.hpp"

namespace warpcheck {

class TemporaryFiles {
 public:
  // command: "kernel", for the directory's name.  Throws UsageError.
  explicit TemporaryFiles(std::string_view command) try : directory_(command) {
  } catch (const ProgramError& error) {
    throw UsageError(error.what());
  }
  // Throws UsageError.
  static void write(const std::filesystem::path& path, std::string_view text) {
    std::ofstream file(path, std::ios::binary);
    if (file << text << std::flush) return;
    throw UsageError(
        fmt::format("cannot write {}: {}; TMPDIR names the directory for temporary files",
                    path.string(), std::strerror(errno)));
  }
  [[nodiscard]] std::filesystem::path operator/(const char* name) const {
    return directory_.path() / name;
  }

 private:
  RunDirectory directory_;
};

}  // namespace warpcheck
