#include "vgpu/cudart/ptx_hash.hpp"

#include <xxhash.h>

#include <string>

namespace warpcheck::cudart {
namespace {

constexpr std::string_view kBlockLabel = "$L__BB";

std::string_view trimmed(std::string_view line) {
  const std::size_t first = line.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return line.substr(first, line.find_last_not_of(" \t\r") - first + 1);
}

bool is_name_char(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         c == '$' || c == '%';
}

// Whether `line` holds `name` as a whole word.
bool names(std::string_view line, std::string_view name) {
  for (std::size_t at = line.find(name); at != std::string_view::npos;
       at = line.find(name, at + 1)) {
    const bool starts = at == 0 || !is_name_char(line[at - 1]);
    const std::size_t end = at + name.size();
    if (starts && (end == line.size() || !is_name_char(line[end]))) return true;
  }
  return false;
}

// Lines that do not change what the kernel does.
bool is_noise(std::string_view line) {
  return line.empty() || line.starts_with("//") || line.starts_with(".loc") ||
         line.starts_with(".file") || line.starts_with("$L__tmp") || line.starts_with("$L__func") ||
         line.starts_with("$L__debug");
}

// Appends `line` without the function's number in block labels: "$L__BB3_7" -> "$L__BB_7".
void append_line(std::string& text, std::string_view line) {
  for (std::size_t at; (at = line.find(kBlockLabel)) != std::string_view::npos;) {
    text += line.substr(0, at + kBlockLabel.size());
    line.remove_prefix(at + kBlockLabel.size());
    line.remove_prefix(std::min(line.find_first_not_of("0123456789"), line.size()));
  }
  text += line;
  text += '\n';
}

}  // namespace

std::uint64_t hash_of_kernel(std::string_view ptx, std::string_view kernel) {
  std::string text;
  bool wanted = false;  // inside a function that counts
  bool in_body = false;
  while (!ptx.empty()) {
    const std::size_t end = ptx.find('\n');
    const std::string_view raw = ptx.substr(0, end);
    ptx.remove_prefix(end == std::string_view::npos ? ptx.size() : end + 1);
    const std::string_view line = trimmed(raw);
    const bool entry = names(line, ".entry");
    if (!in_body && (entry || names(line, ".func"))) wanted = entry ? names(line, kernel) : true;
    if (!in_body && line.starts_with(".section")) wanted = false;
    if (wanted && !is_noise(line)) append_line(text, line);
    // nvcc writes a function's outer braces in the first column.
    if (raw.starts_with('{')) in_body = true;
    if (raw.starts_with('}')) in_body = wanted = false;
    if (!in_body && line.ends_with(';')) wanted = false;  // a declaration
  }
  return XXH3_64bits(text.data(), text.size());
}

}  // namespace warpcheck::cudart
