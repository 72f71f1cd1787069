// Files of expectations.  An entry begins with the kind, at the beginning of a line; the lines
// below it are indented:
//
//   # a comment
//   data-race shared
//     program  test_scan
//     kernel   scan
//     write at src/scan.cu: share[t] += share[t - distance];
//     read at src/scan.cu: share[t] += share[t - distance];
//     because  the lanes of a warp run in lockstep on the devices that we support
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "harness/expected/expectation.hpp"

namespace warpcheck {

// Reads the text of a file of that name.  Throws CaseFileError, "NAME:LINE: ..." with what to do.
[[nodiscard]] std::vector<Expectation> read_expectations(std::string_view text,
                                                         const std::string& name);
// Throws CaseFileError also if the file cannot be read.
[[nodiscard]] std::vector<Expectation> read_expectation_file(const std::string& path);

// The entry's lines, which read_expectations() reads.
[[nodiscard]] std::string expectation_text(const Expectation& expectation);

// The expectation that fits this finding and others of its kind at the same places.  path: of the
// file in which it will stand; sources below its directory are named relative to it.
[[nodiscard]] Expectation expectation_of(const vgpu::Finding& finding, const std::string& program,
                                         const std::filesystem::path& path,
                                         const SourceLines& lines);

// Adds entries for the findings that no entry of the file matches yet; the file need not exist, and
// keeps what it has.  Processes that add to one file at the same time wait for each other.  Returns
// how many were added.  Throws CaseFileError if the file cannot be read or written.
std::size_t add_expectations(const std::filesystem::path& path, const std::string& program,
                             const std::vector<vgpu::Finding>& findings, const SourceLines& lines);

}  // namespace warpcheck
