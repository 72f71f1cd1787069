#include "cli/debug/variables/module_description.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "cli/debug/variables/accessed_types.hpp"
#include "cli/debug/variables/expression.hpp"
#include "cli/debug/variables/written_registers.hpp"
#include "vgpu/ptx/demangle.hpp"
#include "vgpu/ptx/text_parts.hpp"

namespace warpcheck::debug {
namespace {

// Returns "kernel(int*)::share" for a mangled name.
std::string full_name(const std::string& name) { return ptx::demangle(name).value_or(name); }

// The name behind the last scope.
std::string_view last_name(std::string_view full) {
  const std::size_t scope = full.rfind("::");
  return scope == std::string_view::npos ? full : full.substr(scope + 2);
}

// nvcc writes .u32 and .b32 for int, too.  As nothing tells them apart, integers are shown signed.
ptx::Type shown_type(ptx::Type type) {
  switch (type) {
    case ptx::Type::u16:
    case ptx::Type::b16: return ptx::Type::s16;
    case ptx::Type::u32:
    case ptx::Type::b32: return ptx::Type::s32;
    case ptx::Type::u64:
    case ptx::Type::b64: return ptx::Type::s64;
    default: return type;
  }
}

// Returns the types of the parameters in "void kernel<int>(int*, float const*)".
std::vector<std::string> parameter_types(std::string_view signature) {
  std::vector<std::string> types;
  if (!signature.ends_with(')')) return types;
  signature.remove_suffix(1);
  int depth = 0;
  std::size_t end = signature.size();
  for (std::size_t i = signature.size(); i-- > 0;) {
    const char c = signature[i];
    if (c == ')' || c == '>' || c == ']') ++depth;
    const bool opens = c == '(' || c == '<' || c == '[';
    if (depth == 0 && (c == ',' || c == '(')) {
      std::string_view type = signature.substr(i + 1, end - i - 1);
      type.remove_prefix(std::min(type.find_first_not_of(' '), type.size()));
      if (!type.empty()) types.emplace(types.begin(), type);
      end = i;
    }
    if (opens && depth-- == 0) break;
  }
  return types;
}

}  // namespace

ModuleDescription::ModuleDescription(std::string_view text, std::string_view name) {
  try {
    debug_info_ = std::make_unique<DebugInfo>(text, name);
    if (!debug_info_->has_variables()) debug_info_.reset();
  } catch (const DebugInfoError& error) {
    problem_ = error.what();
  }
  try {
    module_ = ptx::parse_parts(ptx::parts_of(text), name);
  } catch (const std::runtime_error& error) {
    problem_ = error.what();
  }
}

const Type* ModuleDescription::find_type(std::string_view name) const {
  if (const Type* const basic = basic_types_->find(name)) return basic;
  return debug_info_ ? debug_info_->find_type(name) : nullptr;
}

std::optional<RegisterBits> ModuleDescription::register_bits(const ThreadView& thread,
                                                             std::string_view name) const {
  std::optional<RegisterBits> bits = thread.register_bits(name);
  const CodePosition at = thread.position();
  const ptx::Function* const function = bits ? module_.find_function(at.function) : nullptr;
  if (function != nullptr && !may_be_written(*function, name, at.ptx_line)) {
    bits->unwritten = ~std::uint64_t{0};
  }
  return bits;
}

ModuleDescription::Declared ModuleDescription::declared(const ptx::Variable& variable,
                                                        const Type* element) const {
  Declared result;
  result.name = variable.name;
  result.shown = full_name(variable.name);
  if (element == nullptr) element = &basic_types_->of_ptx(shown_type(variable.element));
  const std::uint64_t count = variable.bytes / element->bytes;
  const bool is_one = variable.bytes == element->bytes;
  result.type = is_one ? element : &basic_types_->array_of(*element, count);
  return result;
}

const std::vector<ModuleDescription::Declared>& ModuleDescription::variables_of(
    std::string_view function) const {
  const auto [known, is_new] = variables_.try_emplace(std::string(function));
  std::vector<Declared>& all = known->second;
  if (!is_new) return all;
  const ptx::Function* const code = module_.find_function(function);
  std::map<std::string, ptx::Type> accessed;
  if (code != nullptr) accessed = accessed_types(module_, *code);
  const auto add = [&](const ptx::Variable& variable) {
    const auto access = accessed.find(variable.name);
    const bool is_bytes = variable.element == ptx::Type::b8;
    const bool is_accessed = is_bytes && access != accessed.end() &&
                             ptx::bytes_of(access->second) != 0 &&
                             variable.bytes % ptx::bytes_of(access->second) == 0;
    const Type* const element =
        is_accessed ? &basic_types_->of_ptx(shown_type(access->second)) : nullptr;
    all.push_back(declared(variable, element));
  };
  if (code != nullptr) {
    for (const ptx::Variable& variable : code->locals) {
      if (variable.space == ptx::Space::shared) add(variable);
    }
  }
  for (const ptx::Variable& variable : module_.variables) add(variable);
  return all;
}

std::optional<ModuleDescription::Declared> ModuleDescription::find_declared(
    std::string_view name, std::string_view function) const {
  for (const Declared& each : variables_of(function)) {
    if (each.name != name && each.shown != name && last_name(each.shown) != name) continue;
    Declared found = each;
    found.shown = last_name(each.shown);
    return found;
  }
  return std::nullopt;
}

std::vector<ModuleDescription::Declared> ModuleDescription::parameters_of(
    std::string_view function) const {
  std::vector<Declared> parameters;
  const ptx::Function* const code = module_.find_function(function);
  if (code == nullptr || !code->is_entry) return parameters;
  const std::vector<std::string> types = parameter_types(full_name(code->name));
  const bool is_described = types.size() == code->parameters.size();
  for (std::size_t i = 0; i < code->parameters.size(); ++i) {
    Declared parameter = declared(code->parameters[i], nullptr);
    parameter.shown = fmt::format("param {}", i);
    const Type* const type = is_described ? parse_type(types[i], *this) : nullptr;
    const bool fits = type != nullptr && stripped(type).bytes == code->parameters[i].bytes;
    if (fits) parameter.type = type;
    // A pointer to a type of which the text knows no more than the name.
    if (!fits && is_described && types[i].ends_with('*')) {
      const std::string_view target = std::string_view(types[i]).substr(0, types[i].size() - 1);
      parameter.type = &basic_types_->pointer_to(basic_types_->opaque(target));
    }
    parameters.push_back(std::move(parameter));
  }
  return parameters;
}

}  // namespace warpcheck::debug
