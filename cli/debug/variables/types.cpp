#include "cli/debug/variables/types.hpp"

#include <fmt/format.h>

#include <initializer_list>
#include <iterator>

namespace warpcheck::debug {
namespace {

using Kind = Type::Kind;

struct Basic {
  Kind kind;
  bool is_signed;
  std::uint8_t bytes;
  std::initializer_list<std::string_view> names;  // the first is shown
};

const std::initializer_list<Basic>& basics() {
  static const std::initializer_list<Basic> kBasics = {
      {Kind::void_, false, 0, {"void"}},
      {Kind::boolean, false, 1, {"bool"}},
      {Kind::character, true, 1, {"char"}},
      {Kind::character, true, 1, {"signed char", "int8_t"}},
      {Kind::character, false, 1, {"unsigned char", "uint8_t"}},
      {Kind::integer, true, 2, {"short", "short int", "signed short", "int16_t"}},
      {Kind::integer, false, 2, {"unsigned short", "unsigned short int", "uint16_t"}},
      {Kind::integer, true, 4, {"int", "signed", "signed int", "int32_t"}},
      {Kind::integer, false, 4, {"unsigned int", "unsigned", "uint32_t"}},
      {Kind::integer, true, 8, {"long", "long int", "signed long", "int64_t", "ptrdiff_t"}},
      {Kind::integer, false, 8, {"unsigned long", "unsigned long int", "uint64_t", "size_t"}},
      {Kind::integer, true, 8, {"long long", "long long int", "signed long long"}},
      {Kind::integer, false, 8, {"unsigned long long", "unsigned long long int"}},
      {Kind::floating, true, 4, {"float"}},
      {Kind::floating, true, 8, {"double"}},
      {Kind::floating, true, 2, {"__half", "half"}},
      {Kind::brain, true, 2, {"__nv_bfloat16", "nv_bfloat16", "bfloat16"}},
  };
  return kBasics;
}

// The place in a text, but not between < > or { }, as arguments of templates and lambdas are.
std::size_t find_outside(std::string_view text, std::string_view what) {
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (depth == 0 && text.substr(i).starts_with(what)) return i;
    depth += text[i] == '<' || text[i] == '{' ? 1 : text[i] == '>' || text[i] == '}' ? -1 : 0;
  }
  return std::string_view::npos;
}

// Where C++ writes the name of a variable into that of its type: at the | of "float*|",
// "float|[3]", "int |(int)", "int (*|)(int)" and "int (*|[2])(int)".
std::size_t declarator_place(const Type& type) {
  std::size_t place = std::string_view::npos;
  if (type.kind == Kind::pointer || type.kind == Kind::array) {
    const std::size_t inner = find_outside(type.name, "(*");
    if (inner != std::string_view::npos) place = type.name.find_first_of(")[", inner);
  }
  if (place == std::string_view::npos && type.kind == Kind::array) {
    place = find_outside(type.name, "[");
  }
  if (type.kind == Kind::function) place = find_outside(type.name, "(");
  return std::min(place, type.name.size());
}

}  // namespace

const Type& stripped(const Type& type) {
  constexpr int kDepthMax = 64;  // damaged debug information may name a type by itself
  const Type* at = &type;
  for (int i = 0; i < kDepthMax && at->kind == Kind::alias && at->target != nullptr; ++i) {
    at = at->target;
  }
  return *at;
}

bool is_integral(const Type& type) {
  return type.kind == Kind::boolean || type.kind == Kind::character || type.kind == Kind::integer ||
         type.kind == Kind::enumeration;
}

bool is_floating(const Type& type) {
  return type.kind == Kind::floating || type.kind == Kind::brain;
}

bool is_arithmetic(const Type& type) { return is_integral(type) || is_floating(type); }

bool is_aggregate(const Type& type) {
  return type.kind == Kind::array || type.kind == Kind::structure || type.kind == Kind::union_;
}

std::string pointer_name(const Type& target, ptx::Space space) {
  std::string name = target.name;
  const std::size_t at = declarator_place(target);
  name.insert(at, target.kind == Kind::array      ? " (*)"
                  : target.kind == Kind::function ? "(*)"
                                                  : "*");
  return space == ptx::Space::generic ? name : fmt::format("@{} {}", name_of(space), name);
}

// The dimensions of the element stand behind: int[2][3] is two arrays of three.
std::string array_name(const Type& element, std::uint64_t count) {
  std::string name = element.name;
  return name.insert(declarator_place(element), count == 0 ? "[]" : fmt::format("[{}]", count));
}

BasicTypes::BasicTypes() {
  for (const Basic& basic : basics()) {
    Type& type = types_.emplace_back();
    type.kind = basic.kind;
    type.is_signed = basic.is_signed;
    type.bytes = basic.bytes;
    type.name = *basic.names.begin();
    for (const std::string_view name : basic.names) names_.emplace(name, &type);
  }
  // Of threadIdx and the like.
  Type& triple = types_.emplace_back();
  triple.kind = Kind::structure;
  triple.name = "uint3";
  triple.bytes = 12;
  for (const char name : {'x', 'y', 'z'}) {
    triple.members.push_back(
        {std::string(1, name), &get("unsigned int"), 4 * triple.members.size()});
  }
  names_.emplace(triple.name, &triple);
}

const Type& BasicTypes::opaque(std::string_view name) {
  const auto known = names_.find(name);
  if (known != names_.end()) return *known->second;
  Type& type = types_.emplace_back();
  type.name = name;
  names_.emplace(name, &type);
  return type;
}

const Type& BasicTypes::of_ptx(ptx::Type type) const {
  if (type == ptx::Type::pred) return get("bool");
  if (type == ptx::Type::f16) return get("half");
  if (type == ptx::Type::bf16) return get("bfloat16");
  if (type == ptx::Type::f32) return get("float");
  if (type == ptx::Type::f64) return get("double");
  const bool is_signed = ptx::is_signed(type);
  switch (ptx::bytes_of(type)) {
    case 1: return get(is_signed ? "signed char" : "unsigned char");
    case 2: return get(is_signed ? "short" : "unsigned short");
    case 4: return get(is_signed ? "int" : "unsigned int");
    default: return get(is_signed ? "long long" : "unsigned long long");
  }
}

const Type* BasicTypes::find(std::string_view name) const {
  const auto known = names_.find(name);
  return known == names_.end() ? nullptr : known->second;
}

const Type& BasicTypes::pointer_to(const Type& target, ptx::Space space) {
  const auto [at, is_new] = pointers_.try_emplace({&target, space});
  if (is_new) {
    Type& type = types_.emplace_back();
    type.kind = Kind::pointer;
    type.bytes = 8;
    type.target = &target;
    type.space = space;
    type.name = pointer_name(target, space);
    at->second = &type;
  }
  return *at->second;
}

const Type& BasicTypes::array_of(const Type& element, std::uint64_t count) {
  const auto [at, is_new] = arrays_.try_emplace({&element, count});
  if (is_new) {
    Type& type = types_.emplace_back();
    type.kind = Kind::array;
    type.bytes = element.bytes * count;
    type.target = &element;
    type.count = count;
    type.name = array_name(element, count);
    at->second = &type;
  }
  return *at->second;
}

std::string declaration_of(const Type& type) {
  if (type.kind == Kind::alias && type.target != nullptr) {
    const Type& behind = stripped(type);
    if (!is_aggregate(behind) || behind.kind == Kind::array) {
      return behind.name == type.name ? type.name : fmt::format("{} = {}", type.name, behind.name);
    }
    return declaration_of(behind);
  }
  if (type.kind == Kind::enumeration) {
    std::string text = fmt::format("enum {} {{", type.name);
    for (std::size_t i = 0; i < type.enumerators.size(); ++i) {
      const Enumerator& each = type.enumerators[i];
      text += fmt::format("{}{} = {}", i == 0 ? "" : ", ", each.name, each.value);
    }
    return text + "}";
  }
  if (type.kind != Kind::structure && type.kind != Kind::union_) return type.name;
  std::string bases, members;
  for (const Member& member : type.members) {
    const std::string& type_name = member.type->name;
    if (member.is_base) {
      bases += (bases.empty() ? " : " : ", ") + type_name;
    } else if (member.bit_count != 0) {
      members += fmt::format("  {} {} : {};\n", type_name, member.name, member.bit_count);
    } else {
      const std::size_t place = declarator_place(*member.type);
      const bool is_inside = type_name.substr(0, place).ends_with('*') && place < type_name.size();
      members += fmt::format("  {}{}{}{};\n", type_name.substr(0, place), is_inside ? "" : " ",
                             member.name, type_name.substr(place));
    }
  }
  return fmt::format("{} {}{} {{\n{}}}", type.kind == Kind::union_ ? "union" : "struct", type.name,
                     bases, members);
}

}  // namespace warpcheck::debug
