#include "vgpu/check/numerics/float_memory.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "vgpu/ptx/demangle.hpp"
#include "vgpu/ptx/vocabulary.hpp"

namespace warpcheck::vgpu {
namespace {

// Returns the types of the parameters in "void k<f(int)>(float const*, int)".
std::vector<std::string> parameter_types(std::string_view signature) {
  std::vector<std::string> types;
  if (!signature.ends_with(')')) return types;
  signature.remove_suffix(1);
  std::size_t end = signature.size();
  int depth = 0;
  for (std::size_t at = end; at-- != 0;) {
    const char c = signature[at];
    if (c == ')' || c == '>' || c == ']') ++depth;
    const bool is_open = c == '(' && depth == 0;
    if (is_open || (c == ',' && depth == 0)) {
      types.emplace_back(signature.substr(at + 1, end - at - 1));
      end = at;
    }
    if (is_open) break;
    if (c == '(' || c == '<' || c == '[') --depth;
  }
  std::ranges::reverse(types);
  return types;
}

bool is_pointer_to_float(std::string_view type) {
  while (type.starts_with(' ')) type.remove_prefix(1);
  while (type.ends_with("__restrict") || type.ends_with(" "))
    type.remove_suffix(type.ends_with(" ") ? 1 : std::string_view("__restrict").size());
  return type == "float*" || type == "float const*" || type == "float volatile*";
}

}  // namespace

bool loads_float(const Program& program, const Instr& load) {
  if (ptx::bytes_of(load.modifiers.type) != 4) return false;
  const Provenance& provenance = program.provenances[load.provenance];
  if (provenance.sum.size() != 1 || provenance.sum[0].count != 1) return false;
  const Root& root = program.roots[provenance.sum[0].root];
  if (root.kind != Root::Kind::parameter) return false;
  const auto parameter = std::ranges::find(program.parameters, root.index, &Parameter::offset);
  const std::optional<std::string> signature = ptx::demangle(program.kernel);
  if (parameter == program.parameters.end() || !signature) return false;
  const std::vector<std::string> types = parameter_types(*signature);
  const auto index = static_cast<std::size_t>(parameter - program.parameters.begin());
  return index < types.size() && is_pointer_to_float(types[index]);
}

}  // namespace warpcheck::vgpu
