#include "cli/debug/variables/value.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

namespace warpcheck::debug {
namespace {

using Kind = Type::Kind;

// Returns the structure that a pointer's children are members of; nullptr: it has another child.
const Type* pointed_structure(const Type& pointer) {
  const Type& target = stripped(pointer.target);
  const bool has_members = target.kind == Kind::structure || target.kind == Kind::union_;
  return has_members && !target.members.empty() ? &target : nullptr;
}

// An expression to which `.x` or `[1]` can be added.
std::string primary(const std::string& expression) {
  const bool is_simple = std::ranges::all_of(expression, [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' || c == '[' ||
           c == ']' || c == ':';
  });
  return is_simple ? expression : "(" + expression + ")";
}

NamedValue member_child(const Value& whole, const Member& member, const std::string& base,
                        std::string_view separator) {
  const bool is_anonymous = member.name.empty();
  return {is_anonymous ? "(anonymous)" : member.name,
          is_anonymous ? base : base + std::string(separator) + member.name,
          member_of(whole, member)};
}

}  // namespace

Value absent(const Type* type, std::string reason) {
  Value value;
  value.type = type;
  value.reason = std::move(reason);
  return value;
}

std::optional<Format> format_of(std::string_view letter) {
  constexpr std::array<std::pair<std::string_view, Format>, 4> kFormats{
      {{"d", Format::decimal}, {"x", Format::hex}, {"f", Format::floating}, {"t", Format::binary}}};
  for (const auto& [name, format] : kFormats) {
    if (name == letter) return format;
  }
  return std::nullopt;
}

MemoryBytes bytes_of(const Value& value, const ThreadView& thread) {
  switch (value.place) {
    case Value::Place::absent: throw Unreadable(value.reason);
    case Value::Place::bits: return {value.bytes, value.unwritten};
    case Value::Place::memory: break;
  }
  const std::size_t bytes = stripped(value.type).bytes;
  return bytes == 0 ? MemoryBytes{} : thread.memory(value.address, bytes);
}

Value pointed_at(const Value& pointer, const ThreadView& thread) {
  Value target;
  const Type& type = stripped(pointer.type);
  target.type = type.target;
  const MemoryBytes bytes = bytes_of(pointer, thread);
  std::uint64_t address = 0;
  for (std::size_t i = 0; i < std::min<std::size_t>(bytes.bytes.size(), 8); ++i) {
    address |= std::to_integer<std::uint64_t>(bytes.bytes[i]) << (8 * i);
  }
  if (std::ranges::any_of(bytes.unwritten, [](auto bits) { return bits != 0; })) {
    target.reason = "the pointer is not written";
    return target;
  }
  target.place = Value::Place::memory;
  target.address = {type.space, address};
  return target;
}

Value referred(const Value& value, const ThreadView& thread) {
  if (stripped(value.type).kind != Kind::reference) return value;
  try {
    return pointed_at(value, thread);
  } catch (const Unreadable& error) {
    return absent(stripped(value.type).target, error.what());
  }
}

Value member_of(const Value& value, const Member& member) {
  Value part = value;
  part.type = member.type;
  part.first_bit = member.first_bit;
  part.bit_count = member.bit_count;
  part.register_name.clear();
  if (value.place == Value::Place::memory) part.address.offset += member.offset;
  if (value.place != Value::Place::bits) return part;
  const std::size_t begin = std::min<std::size_t>(member.offset, value.bytes.size());
  const std::size_t end =
      std::min<std::size_t>(begin + stripped(member.type).bytes, value.bytes.size());
  const auto from = static_cast<std::ptrdiff_t>(begin), to = static_cast<std::ptrdiff_t>(end);
  part.bytes.assign(value.bytes.begin() + from, value.bytes.begin() + to);
  part.unwritten.assign(value.unwritten.begin() + from, value.unwritten.begin() + to);
  return part;
}

std::optional<Value> find_member(const Value& value, std::string_view name) {
  const Type& type = stripped(value.type);
  for (const Member& member : type.members) {
    if (member.name == name) return member_of(value, member);
  }
  for (const Member& member : type.members) {
    if (!member.is_base && !member.name.empty()) continue;
    if (auto found = find_member(member_of(value, member), name)) return found;
  }
  return std::nullopt;
}

Value element_of(const Value& value, std::uint64_t index) {
  const Type& array = stripped(value.type);
  Member element;
  element.type = array.target;
  element.offset = index * stripped(array.target).bytes;
  return member_of(value, element);
}

std::size_t child_count(const Value& value) {
  const Type& type = stripped(value.type);
  if (value.place == Value::Place::absent) return 0;
  switch (type.kind) {
    case Kind::array: return type.count;
    case Kind::structure:
    case Kind::union_: return type.members.size();
    case Kind::pointer: {
      const Kind target = stripped(type.target).kind;
      if (target == Kind::void_ || target == Kind::function || target == Kind::unknown) return 0;
      const bool is_null =
          value.place == Value::Place::bits &&
          std::ranges::all_of(value.bytes, [](std::byte b) { return b == std::byte{}; });
      const Type* const structure = pointed_structure(type);
      return is_null ? 0 : structure != nullptr ? structure->members.size() : 1;
    }
    case Kind::reference: {
      Value target;
      target.type = type.target;
      target.place = Value::Place::memory;
      return child_count(target);
    }
    default: return 0;
  }
}

std::vector<NamedValue> children_of(const NamedValue& value, const ThreadView& thread,
                                    std::size_t first, std::size_t count) {
  const Type& type = stripped(value.value.type);
  if (type.kind == Kind::reference) {
    return children_of({value.name, value.expression, referred(value.value, thread)}, thread, first,
                       count);
  }
  std::vector<NamedValue> children;
  const std::string base = primary(value.expression);
  const std::size_t all = child_count(value.value);
  const std::size_t end = std::min(all, first + std::min(count, all));
  if (type.kind == Kind::pointer) {
    Value target;
    try {
      target = pointed_at(value.value, thread);
    } catch (const Unreadable& error) {
      target = absent(type.target, error.what());
    }
    const Type* const structure = pointed_structure(type);
    for (std::size_t i = first; i < end; ++i) {
      if (structure == nullptr) {
        children.push_back({"*" + value.name, "*" + base, target});
      } else {
        children.push_back(member_child(target, structure->members[i], base, "->"));
      }
    }
    return children;
  }
  for (std::size_t i = first; i < end; ++i) {
    if (type.kind == Kind::array) {
      const std::string index = "[" + std::to_string(i) + "]";
      children.push_back({index, base + index, element_of(value.value, i)});
    } else {
      children.push_back(member_child(value.value, type.members[i], base, "."));
    }
  }
  return children;
}

}  // namespace warpcheck::debug
