// For tests: the PTX of variables_testing.cu, and places in it.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace warpcheck::debug {

inline std::string file_text(const std::string& path) {
  std::ifstream file(path);
  EXPECT_TRUE(file) << path;
  return {std::istreambuf_iterator<char>(file), {}};
}

inline const std::string& unoptimized_ptx() {
  static const std::string kText = file_text(WARPCHECK_TEST_PTX "-G.ptx");
  return kText;
}

inline const std::string& optimized_ptx() {
  static const std::string kText = file_text(WARPCHECK_TEST_PTX "-lineinfo.ptx");
  return kText;
}

// The number of the first line of `text`, from 1, that contains `part`, behind line `after`.
inline std::uint32_t line_with(std::string_view text, std::string_view part,
                               std::uint32_t after = 0) {
  std::istringstream lines{std::string(text)};
  std::uint32_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    if (++number > after && line.find(part) != std::string::npos) return number;
  }
  ADD_FAILURE() << "no line with " << part;
  return 0;
}

// The line of the first instruction in `ptx` of the source line with "// mark: NAME".
inline std::uint32_t line_of_mark(std::string_view ptx, std::string_view name) {
  const std::uint32_t source =
      line_with(file_text(WARPCHECK_TEST_SOURCE), "// mark: " + std::string(name));
  return line_with(ptx, ".loc\t1 " + std::to_string(source) + " ") + 1;
}

}  // namespace warpcheck::debug
