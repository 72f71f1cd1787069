#include "vgpu/cudart/code/file_marks.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <map>
#include <string_view>

namespace warpcheck::cudart {
namespace {

// The last one, of kernels of relocatable code, has the length of what follows behind it: "23__".
constexpr std::string_view kOfStatic = "__nv_static_";
constexpr std::array<std::string_view, 3> kPrefixes{"_GLOBAL__N__", "_INTERNAL_", kOfStatic};
constexpr std::size_t kHashDigits = 8;
// In the place of the second hash, where the file defines main().
constexpr std::string_view kOfMain = "main";

// How many characters stand before the first hash of what begins with the prefix.
std::size_t begin_of_hash(std::string_view text, std::string_view prefix) {
  if (prefix != kOfStatic) return prefix.size();
  const std::size_t digits_end = text.find_first_not_of("0123456789", prefix.size());
  return std::min(digits_end, text.size()) + std::string_view("__").size();
}

// Of the prefix that begins at `at`: prefix, hash, "_7_scan_cu_", hash; empty: it is something
// else.
std::string_view mark_at(std::string_view text, std::size_t at, std::string_view prefix) {
  const std::size_t length_at = at + begin_of_hash(text.substr(at), prefix) + kHashDigits + 1;
  if (length_at >= text.size() || text[length_at - 1] != '_') return {};
  std::size_t length = 0;
  const char* const begin = text.data() + length_at;
  const auto [end, error] = std::from_chars(begin, text.data() + text.size(), length);
  if (error != std::errc{} || length > text.size()) return {};
  const std::size_t name_at = static_cast<std::size_t>(end - text.data()) + 1;
  const std::size_t second_at = name_at + length + 1;
  if (second_at > text.size()) return {};
  const bool is_of_main = text.substr(second_at).starts_with(kOfMain);
  const std::size_t mark_end = second_at + (is_of_main ? kOfMain.size() : kHashDigits);
  if (mark_end > text.size()) return {};
  return text.substr(at, mark_end - at);
}

// What two compilations of a file have in common: "_GLOBAL__N_" and "_7_scan_cu_".
std::string key_of(std::string_view mark, std::string_view prefix) {
  mark.remove_suffix(mark.ends_with(kOfMain) ? kOfMain.size() : kHashDigits);
  const std::size_t hash_at = begin_of_hash(mark, prefix);
  return std::string(mark.substr(0, hash_at)) + std::string(mark.substr(hash_at + kHashDigits));
}

void add_marks(std::string_view text, std::map<std::string, std::string>& marks) {
  for (const std::string_view prefix : kPrefixes) {
    for (std::size_t at = text.find(prefix); at != std::string_view::npos;
         at = text.find(prefix, at + 1)) {
      const std::string_view mark = mark_at(text, at, prefix);
      if (!mark.empty()) marks.try_emplace(key_of(mark, prefix), mark);
    }
  }
}

}  // namespace

void restore_file_marks(const std::vector<std::string>& names, std::string& ptx) {
  std::map<std::string, std::string> theirs, ours;
  for (const std::string& name : names) add_marks(name, theirs);
  if (theirs.empty()) return;
  add_marks(ptx, ours);
  for (const auto& [key, mark] : theirs) {
    const auto own = ours.find(key);
    if (own == ours.end() || own->second == mark) continue;
    // Both have the same length.
    for (std::size_t at = 0; (at = ptx.find(own->second, at)) != std::string::npos;) {
      ptx.replace(at, mark.size(), mark);
      at += mark.size();
    }
  }
}

}  // namespace warpcheck::cudart
