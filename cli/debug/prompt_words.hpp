// Reading and writing the words of the prompt.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cli/debug/session.hpp"

namespace warpcheck::debug {

// The words of a line, separated by spaces.
std::vector<std::string> words_of(std::string_view line);
// The first word, and what follows it without the spaces between.
struct FirstWord {
  std::string word, rest;
};
FirstWord first_word(std::string_view line);

// Reads a whole number, also "0x1f".  Throws DebugError: "WHAT must be a number, not 'x'".
std::uint64_t number_of(std::string_view word, std::string_view what);
// Reads "3", "(1,2,0)" or "1,2" as a position in extents; one number alone counts x fastest.
// Throws DebugError, also if it lies outside.
Dim3 position_of(std::string_view word, const Dim3& extents, std::string_view what);

bool is_number(std::string_view word);        // of decimal digits alone
std::string lanes_text(std::uint32_t lanes);  // "0-3,7"
// A line: "%r1      b32   7 (0x7)".
std::string text_of_register(const Register& one, bool is_written);
std::string file_name(const std::string& path);
// A line of a source file; empty: it cannot be read.  trimmed_line(): without the spaces around it.
std::string source_line(const std::string& file, std::uint32_t line);
std::string trimmed_line(const std::string& file, std::uint32_t line);
std::uint32_t source_lines_of(const std::string& file);

}  // namespace warpcheck::debug
