// A name of C++ without its template arguments: "Ring::push" for "Ring<int, 4>::push".
#pragma once

#include <string>
#include <string_view>

namespace warpcheck {

[[nodiscard]] inline std::string without_template_arguments(std::string_view name) {
  std::string bare;
  int depth = 0;
  for (const char letter : name) {
    depth += letter == '<' ? 1 : 0;
    if (depth == 0) bare += letter;
    depth -= letter == '>' && depth > 0 ? 1 : 0;
  }
  return bare;
}

}  // namespace warpcheck
