#include "vgpu/cudart/code/ptx_hash.hpp"

#include <xxhash.h>

#include <algorithm>
#include <memory>
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

// Appends what is hashed of a function's text.
void append_function(std::string& text, std::string_view function) {
  while (!function.empty()) {
    const std::size_t end = function.find('\n');
    const std::string_view line = trimmed(function.substr(0, end));
    function.remove_prefix(end == std::string_view::npos ? function.size() : end + 1);
    if (!is_noise(line)) append_line(text, line);
  }
}

// Returns the length of a function's text: up to the brace in the first column, where nvcc writes
// the outer braces, or of a declaration up to its semicolon; also up to where another one begins.
std::size_t length_of_function(std::string_view ptx) {
  for (std::size_t at = 0; at < ptx.size();) {
    const std::size_t end = std::min(ptx.find('\n', at), ptx.size());
    const std::string_view raw = ptx.substr(at, end - at);
    const std::string_view line = trimmed(raw);
    const bool begins_another =
        at != 0 && (names(line, ".entry") || names(line, ".func") || line.starts_with(".section"));
    if (begins_another) return at;
    at = std::min(end + 1, ptx.size());
    if (raw.starts_with('{')) {
      const std::size_t close = ptx.substr(at).starts_with('}') ? at : ptx.find("\n}", at);
      if (close == std::string_view::npos) return ptx.size();
      return std::min(ptx.find('\n', close + 1), ptx.size() - 1) + 1;
    }
    if (raw.starts_with('}') || line.ends_with(';')) return at;
  }
  return ptx.size();
}

}  // namespace

KernelHashes::KernelHashes(std::string_view ptx) {
  bool is_in_body = false;  // of a section
  while (!ptx.empty()) {
    const std::size_t end = std::min(ptx.find('\n'), ptx.size() - 1) + 1;
    const std::string_view line = trimmed(ptx.substr(0, end));
    const bool is_entry = !is_in_body && names(line, ".entry");
    if (!is_entry && (is_in_body || !names(line, ".func"))) {
      if (ptx.starts_with('{')) is_in_body = true;
      if (ptx.starts_with('}')) is_in_body = false;
      ptx.remove_prefix(end);
      continue;
    }
    const std::string_view text = ptx.substr(0, length_of_function(ptx));
    Function& function = functions_.emplace_back();
    if (is_entry) {
      function.entry_line = line;
      function.text = text;
    } else {
      append_function(function.hashed, text);
    }
    ptx.remove_prefix(text.size());
  }
}

std::uint64_t KernelHashes::of(std::string_view kernel) const {
  const std::unique_ptr<XXH3_state_t, decltype(&XXH3_freeState)> state(XXH3_createState(),
                                                                       &XXH3_freeState);
  XXH3_64bits_reset(state.get());
  for (const Function& function : functions_) {
    if (function.entry_line.empty()) {
      XXH3_64bits_update(state.get(), function.hashed.data(), function.hashed.size());
    } else if (names(function.entry_line, kernel)) {
      std::string hashed;
      append_function(hashed, function.text);
      XXH3_64bits_update(state.get(), hashed.data(), hashed.size());
    }
  }
  return XXH3_64bits_digest(state.get());
}

}  // namespace warpcheck::cudart
