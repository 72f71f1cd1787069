#include "vgpu/ptx/text_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace warpcheck::ptx {

std::vector<TextPart> parts_of(std::string_view text) {
  std::vector<TextPart> parts;
  bool has_version = false;
  std::size_t part = 0;
  std::uint32_t line = 0, first_line = 0;
  for (std::size_t begin = 0; begin < text.size(); ++line) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::size_t word = std::min(text.find_first_not_of(" \t", begin), text.size());
    if (text.substr(word).starts_with(".version") && std::exchange(has_version, true)) {
      parts.push_back({text.substr(part, begin - part), first_line});
      part = begin;
      first_line = line;
    }
    begin = end + 1;
  }
  parts.push_back({text.substr(part), first_line});
  return parts;
}

Module parse_parts(const std::vector<TextPart>& parts, std::string_view name) {
  if (parts.size() == 1) return parse(parts.front().text, name);
  std::vector<Module> modules;
  for (const TextPart& part : parts) {
    modules.push_back(parse(part.text, fmt::format("{}, part {}", name, modules.size() + 1)));
    for (Function& function : modules.back().functions) {
      function.ptx_line += part.lines_before;
      for (Instruction& instruction : function.body) instruction.ptx_line += part.lines_before;
    }
  }
  return link_modules(std::move(modules), name);
}

}  // namespace warpcheck::ptx
