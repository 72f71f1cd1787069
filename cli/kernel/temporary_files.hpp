// The files that a command gives to nvcc and reads back: a directory of their own, removed with the
// object.
#pragma once

#include <fmt/format.h>
#include <stdlib.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <system_error>

#include "cli/cli.hpp"

namespace warpcheck {

class TemporaryFiles {
 public:
  // command: "kernel", for the directory's name.  Throws UsageError.
  explicit TemporaryFiles(std::string_view command) {
    const std::string name = fmt::format("warpcheck-{}-XXXXXX", command);
    std::string path = (std::filesystem::temp_directory_path() / name).string();
    if (::mkdtemp(path.data()) == nullptr) {
      throw UsageError(fmt::format("cannot make a directory {}: {}", path, std::strerror(errno)));
    }
    path_ = path;
  }
  TemporaryFiles(const TemporaryFiles&) = delete;
  TemporaryFiles& operator=(const TemporaryFiles&) = delete;
  ~TemporaryFiles() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  [[nodiscard]] std::filesystem::path write(const char* name, std::string_view text) const {
    std::ofstream(path_ / name, std::ios::binary) << text;
    return path_ / name;
  }
  [[nodiscard]] std::filesystem::path operator/(const char* name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

}  // namespace warpcheck
