#include "vgpu/ptx/parse/function_names.hpp"

#include <algorithm>
#include <charconv>

namespace warpcheck::ptx {
namespace {

// Takes a line from the text, without the blanks before it.
std::string_view take_line(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  line.remove_prefix(std::min(line.find_first_not_of(" \t\r"), line.size()));
  return line;
}

// Takes the next number of a line `.b8 95,90,49`; false: there is none.
bool take_byte(std::string_view& line, unsigned& byte) {
  line.remove_prefix(std::min(line.find_first_of("0123456789"), line.size()));
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), byte);
  line.remove_prefix(static_cast<std::size_t>(end - line.data()));
  return error == std::errc();
}

}  // namespace

std::uint32_t FunctionNames::index_of(std::string_view label, std::uint32_t offset) {
  const Key key{label, offset};
  if (latest_ != kNone && keys_[latest_] == key) return latest_;
  const auto [at, is_new] = indices_.try_emplace(key, static_cast<std::uint32_t>(keys_.size()));
  if (is_new) keys_.push_back(key);
  return latest_ = at->second;
}

void FunctionNames::read(std::string_view text) {
  while (!text.empty()) {
    const std::string_view line = take_line(text);
    if (line.starts_with('$')) labels_.emplace(line.substr(0, line.find(':')), text);
  }
}

void FunctionNames::resolve(std::vector<std::string>& names) const {
  while (names.size() < keys_.size()) {
    const auto& [label, offset] = keys_[names.size()];
    names.push_back(name_at(label, offset));
  }
}

// A name ends with a 0.  What lies behind that is of the next one, which a label and an offset can
// mean.
std::string FunctionNames::name_at(std::string_view label, std::uint32_t offset,
                                   std::size_t size_max) const {
  std::string name;
  const auto known = labels_.find(label);
  if (known == labels_.end()) return name;
  for (std::string_view text = known->second; !text.empty();) {
    std::string_view line = take_line(text);
    if (line.starts_with('$')) break;
    if (!line.starts_with(".b8")) continue;
    line.remove_prefix(3);
    for (unsigned byte = 0; take_byte(line, byte);) {
      if (offset != 0) {
        --offset;
        continue;
      }
      if (byte == 0 || name.size() == size_max) return name;
      name += static_cast<char>(byte);
    }
  }
  return name;
}

}  // namespace warpcheck::ptx
