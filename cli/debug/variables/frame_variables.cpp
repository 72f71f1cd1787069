#include "cli/debug/variables/frame_variables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

namespace warpcheck::debug {
namespace {

std::string_view last_part(std::string_view name) {
  const std::size_t scope = name.rfind("::");
  return scope == std::string_view::npos ? name : name.substr(scope + 2);
}

// Returns whether a variable is declared inside of the function: "_ZZ6kernelPiE5share" in
// "_Z6kernelPi".
bool is_inside(const Variable& variable, std::string_view function) {
  if (!function.starts_with("_Z")) return false;
  return variable.linkage_name.starts_with("_ZZ" + std::string(function.substr(2)));
}

// Libraries have variables of their own, which would hide those of the program in a list.
bool is_of_library(std::string_view name) {
  return name.starts_with("cuda::") || name.starts_with("thrust::") || name.starts_with("cub::");
}

Value register_value(const Type* type, const std::string& name, const ModuleDescription& module,
                     const ThreadView& thread) {
  const std::optional<RegisterBits> bits = module.register_bits(thread, name);
  if (!bits) return absent(type, fmt::format("its register {} is not known here", name));
  constexpr std::uint64_t kBytesMax = 8;
  Value value;
  value.type = type;
  value.place = Value::Place::bits;
  value.register_name = name;
  for (std::uint64_t i = 0; i < std::min(stripped(type).bytes, kBytesMax); ++i) {
    value.bytes.push_back(static_cast<std::byte>(bits->bits >> (8 * i)));
    value.unwritten.push_back(static_cast<std::uint8_t>(bits->unwritten >> (8 * i)));
  }
  return value;
}

// The scopes of frame number `inlined`: each inlined function ends one.
std::vector<Scope> scopes_of_frame(std::vector<Scope> all, std::size_t inlined, bool is_outermost) {
  std::vector<Scope> scopes;
  for (Scope& scope : all) {
    const bool ends_frame = scope.kind != Scope::Kind::block;
    if (inlined == 0) scopes.push_back(std::move(scope));
    if (!ends_frame) continue;
    if (inlined != 0) {
      --inlined;
    } else if (!is_outermost) {
      break;
    }
  }
  return scopes;
}

}  // namespace

FrameVariables::FrameVariables(const ModuleDescription& module, const ThreadView& thread,
                               std::size_t inlined, bool is_outermost)
    : module_(module), thread_(thread) {
  if (const DebugInfo* const info = module.debug_info()) {
    scopes_ = scopes_of_frame(info->scopes_at(thread.position().ptx_line), inlined, is_outermost);
  }
}

NamedValue FrameVariables::value_of(const Variable& variable) const {
  const Location& location = variable.location;
  NamedValue named{variable.name, variable.name, absent(variable.type, location.reason)};
  switch (location.kind) {
    case Location::Kind::absent: break;
    case Location::Kind::in_register:
      named.value = register_value(variable.type, location.register_name, module_, thread_);
      break;
    case Location::Kind::constant:
      named.value.place = Value::Place::bits;
      named.value.bytes = location.bytes;
      named.value.bytes.resize(
          std::min<std::size_t>(location.bytes.size(), stripped(variable.type).bytes));
      named.value.unwritten.assign(named.value.bytes.size(), 0);
      break;
    case Location::Kind::in_memory: {
      std::optional<Address> address = Address{location.space, 0};
      if (!location.symbol.empty()) address = thread_.symbol(location.symbol);
      if (!address) {
        named.value.reason = fmt::format("{} has no address here", location.symbol);
        break;
      }
      named.value.place = Value::Place::memory;
      named.value.address = {address->space, address->offset + location.offset};
      break;
    }
  }
  return named;
}

NamedValue FrameVariables::value_of(const ModuleDescription::Declared& declared) const {
  NamedValue named{declared.shown, declared.shown, {}};
  named.value.type = declared.type;
  const std::optional<Address> address = thread_.symbol(declared.name);
  if (!address) {
    named.value.reason = "it has no address here";
    return named;
  }
  named.value.place = Value::Place::memory;
  named.value.address = *address;
  return named;
}

std::vector<NamedValue> FrameVariables::arguments() const {
  std::vector<NamedValue> arguments;
  if (scopes_.empty()) {
    for (const auto& declared : module_.parameters_of(thread_.position().function)) {
      NamedValue named = value_of(declared);
      // They have no names, so an expression names their place.
      named.expression =
          named.value.place != Value::Place::memory
              ? ""
              : fmt::format("*(@param {}*)0x{:x}", declared.type->name, named.value.address.offset);
      arguments.push_back(std::move(named));
    }
    return arguments;
  }
  return of_scopes(true);
}

std::vector<NamedValue> FrameVariables::locals() const { return of_scopes(false); }

std::vector<NamedValue> FrameVariables::of_scopes(bool parameters) const {
  std::vector<NamedValue> values;
  std::set<std::string> names;
  for (const Scope& scope : scopes_) {
    for (const Variable& variable : scope.variables) {
      const bool is_hidden = !names.insert(variable.name).second;
      if (variable.is_parameter != parameters) continue;
      values.push_back(value_of(variable));
      // An expression would name the variable that hides it.
      if (is_hidden || variable.name.empty()) values.back().expression.clear();
      if (variable.name.empty()) values.back().name = "(unnamed)";
    }
  }
  return values;
}

std::vector<NamedValue> FrameVariables::globals() const {
  std::vector<NamedValue> globals;
  const std::string function = thread_.position().function;
  if (const DebugInfo* const info = module_.debug_info()) {
    for (const Variable& variable : info->globals()) {
      const bool is_listed =
          !variable.linkage_name.starts_with("_ZZ") && !is_of_library(variable.name);
      if (is_listed) globals.push_back(value_of(variable));
    }
    return globals;
  }
  for (const auto& declared : module_.variables_of(function)) {
    const bool is_made = declared.name.starts_with('$') || declared.name.starts_with("__");
    if (!is_made && !is_of_library(declared.shown)) globals.push_back(value_of(declared));
  }
  for (NamedValue& each : globals) each.expression = last_part(each.name);
  for (NamedValue& each : globals) each.name = each.expression;
  return globals;
}

// In a member function, a name may be that of a member.
std::optional<NamedValue> FrameVariables::find_member_of_this(std::string_view name) const {
  constexpr std::string_view kThis = "this";
  const std::optional<NamedValue> object = name == kThis ? std::nullopt : find_local(kThis);
  if (!object || stripped(object->value.type).kind != Type::Kind::pointer) return std::nullopt;
  try {
    std::optional<Value> member = find_member(pointed_at(object->value, thread_), name);
    if (!member) return std::nullopt;
    return NamedValue{std::string(name), std::string(name), *std::move(member)};
  } catch (const Unreadable&) {
    return std::nullopt;
  }
}

std::optional<NamedValue> FrameVariables::find_local(std::string_view name) const {
  for (const Scope& scope : scopes_) {
    for (const Variable& variable : scope.variables) {
      if (variable.name == name) return value_of(variable);
    }
  }
  return std::nullopt;
}

std::optional<NamedValue> FrameVariables::find(std::string_view name) const {
  if (std::optional<NamedValue> found = find_local(name)) return found;
  if (std::optional<NamedValue> found = find_member_of_this(name)) return found;
  const std::string function = thread_.position().function;
  if (const DebugInfo* const info = module_.debug_info()) {
    const auto& globals = info->globals();
    const auto choose = [&](const auto& fits) -> const Variable* {
      const auto found = std::ranges::find_if(globals, fits);
      return found == globals.end() ? nullptr : &*found;
    };
    const Variable* found = choose(
        [&](const Variable& each) { return each.name == name && is_inside(each, function); });
    const auto is_outer = [](const Variable& each) {
      return !each.linkage_name.starts_with("_ZZ");
    };
    if (!found)
      found = choose([&](const Variable& each) { return each.name == name && is_outer(each); });
    if (!found) {
      found = choose(
          [&](const Variable& each) { return last_part(each.name) == name && is_outer(each); });
    }
    if (found) return value_of(*found);
  }
  const std::optional<ModuleDescription::Declared> declared = module_.find_declared(name, function);
  if (declared) return value_of(*declared);
  return std::nullopt;
}

std::string FrameVariables::why_unknown(std::string_view name) const {
  if (!module_.problem().empty()) {
    return fmt::format("no variable `{}`: {}; `info registers` shows the registers", name,
                       module_.problem());
  }
  if (module_.debug_info() == nullptr) {
    return fmt::format(
        "`{}` is not described in the optimised build; `info registers` shows the "
        "registers, and --build unoptimized describes variables",
        name);
  }
  if (scopes_.empty()) {
    return fmt::format(
        "no variable `{}`: the code here is not described; `info registers` shows "
        "the registers",
        name);
  }
  return fmt::format("no variable `{}` in scope; `info locals` lists those that are", name);
}

}  // namespace warpcheck::debug
