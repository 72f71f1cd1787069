// The text of a program that was compiled in parts (nvcc -rdc=true): the texts of the parts, one
// behind the other.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "vgpu/ptx/module.hpp"

namespace warpcheck::ptx {

struct TextPart {
  std::string_view text;
  std::uint32_t lines_before = 0;  // in the whole text
};

// Divides a text: each part begins with its .version directive.
std::vector<TextPart> parts_of(std::string_view text);

// Parses and links the parts.  Numbers of lines are those in the whole text; in ParseError, those
// in the part, which it names.  Throws ParseError, LinkError.
Module parse_parts(const std::vector<TextPart>& parts, std::string_view name);

}  // namespace warpcheck::ptx
