#include "cli/debug/prompt_words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <filesystem>
#include <sstream>

#include "harness/report/source_excerpt.hpp"
#include "vgpu/check/trace/trace_options.hpp"
#include "vgpu/program/dim3_text.hpp"

namespace warpcheck::debug {
namespace {

// Of all files that have been read; they are read once.
const std::vector<std::string>* lines_of(const std::string& file) {
  static const SourceLines lines = source_lines();
  return file.empty() ? nullptr : lines(file);
}

std::string value_of_register(const Register& one) {
  if (one.type == "pred") return one.bits != 0 ? "true" : "false";
  if (one.type == "f32") {
    return fmt::format("{}", std::bit_cast<float>(static_cast<std::uint32_t>(one.bits)));
  }
  if (one.type == "f64") return fmt::format("{}", std::bit_cast<double>(one.bits));
  if (one.bytes < 8 || one.bits < 1u << 16) {
    const unsigned unused = 64 - 8 * std::max(one.bytes, 1u);
    const auto number = static_cast<std::int64_t>(one.bits << unused) >> unused;
    return fmt::format("{} ({:#x})", number, one.bits);
  }
  return fmt::format("{:#x}", one.bits);
}

}  // namespace

std::vector<std::string> words_of(std::string_view line) {
  std::istringstream text{std::string(line)};
  std::vector<std::string> words;
  for (std::string word; text >> word;) words.push_back(std::move(word));
  return words;
}

FirstWord first_word(std::string_view line) {
  constexpr std::string_view kSpaces = " \t\r\n";
  const std::size_t begin = line.find_first_not_of(kSpaces);
  if (begin == std::string_view::npos) return {};
  const std::size_t end = std::min(line.find_first_of(kSpaces, begin), line.size());
  std::string_view rest = line.substr(end);
  rest.remove_prefix(std::min(rest.find_first_not_of(kSpaces), rest.size()));
  rest = rest.substr(0, rest.find_last_not_of(kSpaces) + 1);
  return {std::string(line.substr(begin, end - begin)), std::string(rest)};
}

std::uint64_t number_of(std::string_view word, std::string_view what) {
  const bool is_hex = word.starts_with("0x");
  const std::string_view digits = is_hex ? word.substr(2) : word;
  std::uint64_t value = 0;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), value, is_hex ? 16 : 10);
  if (digits.empty() || error != std::errc() || end != digits.data() + digits.size()) {
    throw DebugError(fmt::format("{} must be a number, not '{}'", what, word));
  }
  return value;
}

Dim3 position_of(std::string_view word, const Dim3& extents, std::string_view what) {
  std::string text(word);
  for (char& letter : text) {
    if (letter == '(' || letter == ')' || letter == ',') letter = ' ';
  }
  const std::vector<std::string> parts = words_of(text);
  if (parts.empty() || parts.size() > 3) {
    throw DebugError(fmt::format("{} must be a number, or (x,y,z), not '{}'", what, word));
  }
  const auto refuse = [&] {
    throw DebugError(fmt::format("there is no {} {}: there are {}", what, word, triple(extents)));
  };
  if (parts.size() == 1) {
    const std::uint64_t number = number_of(parts[0], what);
    if (number >= extents.count()) refuse();
    return extents.position_of(static_cast<std::uint32_t>(number));
  }
  Dim3 at{0, 0, 0};
  at.x = static_cast<std::uint32_t>(number_of(parts[0], what));
  at.y = static_cast<std::uint32_t>(number_of(parts[1], what));
  if (parts.size() == 3) at.z = static_cast<std::uint32_t>(number_of(parts[2], what));
  if (at.x >= extents.x || at.y >= extents.y || at.z >= extents.z) refuse();
  return at;
}

bool is_number(std::string_view word) {
  return !word.empty() && word.find_first_not_of("0123456789") == std::string_view::npos;
}

std::string text_of_register(const Register& one, bool is_written) {
  return fmt::format("{:<8} {:<5} {}{}\n", one.name, one.type,
                     is_written ? value_of_register(one) : "<not written>",
                     one.undefined_bits != 0 ? "  made from what nothing has written" : "");
}

std::string lanes_text(std::uint32_t lanes) {
  return lanes == 0 ? "none" : vgpu::text_of_lanes(lanes);
}

std::string file_name(const std::string& path) {
  return path.empty() ? "?" : std::filesystem::path(path).filename().string();
}

std::string source_line(const std::string& file, std::uint32_t line) {
  const std::vector<std::string>* const lines = lines_of(file);
  return lines == nullptr || line == 0 || line > lines->size() ? std::string() : (*lines)[line - 1];
}

std::string trimmed_line(const std::string& file, std::uint32_t line) {
  const auto [word, rest] = first_word(source_line(file, line));
  return rest.empty() ? word : word + " " + rest;
}

std::uint32_t source_lines_of(const std::string& file) {
  const std::vector<std::string>* const lines = lines_of(file);
  return lines == nullptr ? 0 : static_cast<std::uint32_t>(lines->size());
}

}  // namespace warpcheck::debug
