#include "vgpu/cudart/code/ptx_hash.hpp"

#include <xxhash.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "vgpu/text/trimmed.hpp"

namespace warpcheck::cudart {
namespace {

bool is_name_char(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         c == '$' || c == '%';
}

// Returns whether `line` contains `name` as a whole word.
bool names(std::string_view line, std::string_view name) {
  for (std::size_t at = line.find(name); at != std::string_view::npos;
       at = line.find(name, at + 1)) {
    const bool starts = at == 0 || !is_name_char(line[at - 1]);
    const std::size_t end = at + name.size();
    if (starts && (end == line.size() || !is_name_char(line[end]))) return true;
  }
  return false;
}

// Returns whether the line has no effect on what the kernel does.
bool is_noise(std::string_view line) {
  return line.empty() || line.starts_with("//") || line.starts_with(".loc") ||
         line.starts_with(".file") || line.starts_with("$L__tmp") || line.starts_with("$L__func") ||
         line.starts_with("$L__debug");
}

// Markers that precede a number which does not depend on the code: the function's place in the file
// in block labels, "$L__BB3_7"; a hash of the file's path in names of internal linkage,
// "_ZN46_GLOBAL__N__b6cfd072_13_kernel_cu_01ef2957..." and "_INTERNAL_b6cfd072_...".
struct Marker {
  std::string_view text;
  std::string_view digits;
  std::size_t digits_max;
};
constexpr Marker kMarkers[] = {
    {"$L__BB", "0123456789", std::string_view::npos},
    {"_GLOBAL__N__", "0123456789abcdef", 8},
    {"_INTERNAL_", "0123456789abcdef", 8},
};

// Appends `line` without those numbers.
void append_line(std::string& text, std::string_view line) {
  while (true) {
    const Marker* next = nullptr;
    std::size_t at = std::string_view::npos;
    for (const Marker& marker : kMarkers) {
      const std::size_t found = line.find(marker.text);
      if (found < at) {
        next = &marker;
        at = found;
      }
    }
    if (next == nullptr) break;
    text += line.substr(0, at + next->text.size());
    line.remove_prefix(at + next->text.size());
    const std::size_t digits = std::min(line.find_first_not_of(next->digits), line.size());
    line.remove_prefix(std::min(digits, next->digits_max));
  }
  text += line;
  text += '\n';
}

}  // namespace

std::uint64_t hash_of_kernel(std::string_view ptx, std::string_view kernel) {
  std::string text;
  bool wanted = false;  // inside a function that is hashed
  bool in_body = false;
  while (!ptx.empty()) {
    if (in_body && !wanted) {  // a text has the bodies of all kernels: they are not looked at
      const std::size_t close = ptx.starts_with('}') ? 0 : ptx.find("\n}") + 1;
      if (close == 0 && !ptx.starts_with('}')) break;
      ptx.remove_prefix(close);
    }
    const std::size_t end = ptx.find('\n');
    const std::string_view raw = ptx.substr(0, end);
    ptx.remove_prefix(end == std::string_view::npos ? ptx.size() : end + 1);
    const std::string_view line = trimmed(raw);
    if (!in_body) {
      const bool is_entry = names(line, ".entry");
      if (is_entry || names(line, ".func")) wanted = !is_entry || names(line, kernel);
      if (line.starts_with(".section")) wanted = false;
    }
    if (wanted && !is_noise(line)) append_line(text, line);
    // nvcc writes a function's outer braces in the first column.
    if (raw.starts_with('{')) in_body = true;
    if (raw.starts_with('}')) in_body = wanted = false;
    if (!in_body && line.ends_with(';')) wanted = false;  // a declaration
  }
  return XXH3_64bits(text.data(), text.size());
}

}  // namespace warpcheck::cudart
