// The text of values.
#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "cli/debug/variables/scalar.hpp"
#include "cli/debug/variables/value.hpp"

namespace warpcheck::debug {
namespace {

using Kind = Type::Kind;

// So many equal elements in a row are written once.
constexpr std::size_t kRepeatsMin = 10;

class ValueText {
 public:
  ValueText(const ThreadView& thread, Format format, const TextLimits& limits)
      : thread_(thread), format_(format), limits_(limits) {}

  std::string of(const Value& value, std::size_t depth);

 private:
  std::string scalar(const Value& value);
  std::string natural(const Type& type, const Scalar& scalar) const;
  std::string pointer(const Type& type, std::uint64_t bits) const;
  std::string function_text(std::uint64_t address) const;
  std::string text_at(Address address) const;
  std::string array(const Value& value, std::size_t depth);
  std::string members(const Value& value, std::size_t depth);
  Value loaded(const Value& value) const;

  const ThreadView& thread_;
  Format format_;
  const TextLimits& limits_;
};

std::string floating_text(double number, std::uint64_t bytes) {
  return bytes == 8 ? fmt::format("{}", number) : fmt::format("{}", static_cast<float>(number));
}

// The bits as a number of the same size.
std::string as_floating(std::uint64_t bits, std::uint64_t bytes) {
  switch (bytes) {
    case 2: return fmt::format("{}", float_of_half(static_cast<std::uint16_t>(bits)));
    case 4: return fmt::format("{}", std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
    case 8: return fmt::format("{}", std::bit_cast<double>(bits));
    default: return fmt::format("<{} bytes are no floating-point number>", bytes);
  }
}

std::string character_text(std::uint64_t bits, bool is_signed) {
  const auto code = static_cast<unsigned char>(bits);
  const std::string number =
      is_signed ? fmt::format("{}", static_cast<std::int64_t>(bits)) : fmt::format("{}", bits);
  const bool is_printable = code >= 0x20 && code < 0x7f;
  return is_printable ? fmt::format("{} '{}'", number, static_cast<char>(code)) : number;
}

std::string enumerator_text(const Type& type, std::uint64_t bits) {
  const std::uint64_t mask =
      type.bytes >= 8 ? ~std::uint64_t{0} : (std::uint64_t{1} << (8 * type.bytes)) - 1;
  for (const Enumerator& each : type.enumerators) {
    if ((static_cast<std::uint64_t>(each.value) & mask) == (bits & mask)) return each.name;
  }
  return fmt::format("({}){}", type.name, static_cast<std::int64_t>(bits));
}

// The text that a pointer to char points at, behind a space; empty: none is there.
std::string ValueText::text_at(Address address) const {
  constexpr std::size_t kTextMax = 200, kPart = 16;
  std::string text;
  std::size_t part = kPart;
  while (text.size() < kTextMax) {
    try {
      const MemoryBytes read = thread_.memory(address, part);
      for (std::size_t i = 0; i < read.bytes.size(); ++i) {
        const auto c = std::to_integer<unsigned char>(read.bytes[i]);
        if (read.unwritten[i] != 0) return {};
        if (c == 0) return fmt::format(" \"{}\"", text);
        if (c == '\n') {
          text += "\\n";
        } else if (c == '\t') {
          text += "\\t";
        } else if (c < 0x20 || c == 0x7f) {
          return {};
        } else {
          text += static_cast<char>(c);
        }
      }
      address.offset += part;
    } catch (const Unreadable&) {
      if (part == 1) return {};
      part = 1;
    }
  }
  return fmt::format(" \"{}...\"", text);
}

std::string ValueText::function_text(std::uint64_t address) const {
  const std::string name = thread_.function_at(address);
  return fmt::format("0x{:x}{}", address, name.empty() ? "" : fmt::format(" ({})", name));
}

std::string ValueText::pointer(const Type& type, std::uint64_t bits) const {
  if (type.space != ptx::Space::generic) {
    return fmt::format("{} 0x{:x}", name_of(type.space), bits);
  }
  if (type.target != nullptr && stripped(type.target).kind == Kind::function) {
    return function_text(bits);
  }
  const Address place = thread_.resolve(bits);
  if (bits == 0 || place.space == ptx::Space::generic) return fmt::format("0x{:x}", bits);
  if (place.offset == bits) return fmt::format("0x{:x} ({})", bits, name_of(place.space));
  return fmt::format("0x{:x} ({} 0x{:x})", bits, name_of(place.space), place.offset);
}

std::string ValueText::natural(const Type& type, const Scalar& scalar) const {
  switch (type.kind) {
    case Kind::boolean:
      return scalar.bits <= 1 ? (scalar.bits == 1 ? "true" : "false")
                              : fmt::format("{} (no bool)", scalar.bits);
    case Kind::character: return character_text(scalar.bits, type.is_signed);
    case Kind::enumeration: return enumerator_text(type, scalar.bits);
    case Kind::floating:
    case Kind::brain: return floating_text(scalar.number, type.bytes);
    case Kind::pointer: {
      const bool is_text = type.target != nullptr && stripped(type.target).name == "char";
      return pointer(type, scalar.bits) +
             (is_text ? text_at({type.space, scalar.bits}) : std::string());
    }
    case Kind::integer:
      return type.is_signed ? fmt::format("{}", static_cast<std::int64_t>(scalar.bits))
                            : fmt::format("{}", scalar.bits);
    default: return fmt::format("0x{:x}", scalar.bits);
  }
}

std::string ValueText::scalar(const Value& value) {
  const Type& type = stripped(value.type);
  if (type.bytes > 8) return fmt::format("<{} bytes of type {}>", type.bytes, type.name);
  const MemoryBytes bytes = bytes_of(value, thread_);
  const Scalar number = scalar_of(value, bytes);
  if (number.is_unwritten) {
    const bool all = std::ranges::all_of(bytes.unwritten, [](auto bits) { return bits == 0xff; });
    return all || value.bit_count != 0 ? "<not written>" : "<partly not written>";
  }
  std::uint64_t bits = number.bits;
  if (is_floating(type)) {
    bits = 0;
    for (std::size_t i = 0; i < bytes.bytes.size(); ++i) {
      bits |= std::to_integer<std::uint64_t>(bytes.bytes[i]) << (8 * i);
    }
  }
  const auto width = value.bit_count != 0 ? value.bit_count : static_cast<unsigned>(8 * type.bytes);
  const std::uint64_t raw = extended(bits, width, false);
  switch (format_) {
    case Format::natural: return natural(type, number);
    case Format::hex: return fmt::format("0x{:0{}x}", raw, (width + 3) / 4);
    case Format::binary: return fmt::format("0b{:0{}b}", raw, width);
    case Format::floating:
      return is_floating(type) ? natural(type, number) : as_floating(raw, type.bytes);
    case Format::decimal: break;
  }
  const bool is_signed = is_floating(type) || type.is_signed;
  return is_signed ? fmt::format("{}", static_cast<std::int64_t>(extended(raw, width, true)))
                   : fmt::format("{}", raw);
}

// Reads an aggregate at once; what cannot be read at once stays where it is.
Value ValueText::loaded(const Value& value) const {
  constexpr std::size_t kLoadedBytesMax = 1 << 16;
  if (value.place != Value::Place::memory || stripped(value.type).bytes > kLoadedBytesMax)
    return value;
  try {
    MemoryBytes bytes = bytes_of(value, thread_);
    Value copy;
    copy.type = value.type;
    copy.place = Value::Place::bits;
    copy.bytes = std::move(bytes.bytes);
    copy.unwritten = std::move(bytes.unwritten);
    return copy;
  } catch (const Unreadable&) {
    return value;
  }
}

std::string ValueText::array(const Value& value, std::size_t depth) {
  const Type& type = stripped(value.type);
  if (type.count == 0) return fmt::format("<{} of unknown length>", type.target->name);
  const Value whole = loaded(value);
  std::string text = "{";
  std::string last;
  std::size_t repeats = 0, shown = 0;
  const auto flush = [&] {
    const std::size_t copies = repeats >= kRepeatsMin ? 1 : repeats;
    for (std::size_t i = 0; i < copies; ++i) {
      text += fmt::format("{}{}", text.size() == 1 ? "" : ", ", last);
    }
    if (repeats >= kRepeatsMin) text += fmt::format(" <{} times>", repeats);
    shown += copies;
    repeats = 0;
  };
  std::size_t i = 0;
  // Elements that repeat are one of those that are shown, up to a bound of the whole work.
  const std::size_t end = std::min<std::size_t>(type.count, 64 * limits_.elements_max);
  for (; i < end && shown + std::min(repeats, kRepeatsMin - 1) < limits_.elements_max; ++i) {
    std::string element = of(element_of(whole, i), depth + 1);
    if (repeats != 0 && element != last) flush();
    last = std::move(element);
    ++repeats;
  }
  flush();
  return text + (i < type.count ? fmt::format(", ... {} in all}}", type.count) : "}");
}

std::string ValueText::members(const Value& value, std::size_t depth) {
  const Value whole = loaded(value);
  std::string text = "{";
  for (const Member& member : stripped(value.type).members) {
    if (text.size() != 1) text += ", ";
    if (!member.name.empty()) text += member.name + " = ";
    text += of(member_of(whole, member), depth + 1);
  }
  return text + "}";
}

std::string ValueText::of(const Value& value, std::size_t depth) {
  if (value.place == Value::Place::absent) return fmt::format("<{}>", value.reason);
  const Type& type = stripped(value.type);
  if (is_aggregate(type) && depth >= limits_.depth_max) return "{...}";
  try {
    switch (type.kind) {
      case Kind::reference: return of(referred(value, thread_), depth);
      case Kind::array: return array(value, depth);
      case Kind::structure:
      case Kind::union_: return members(value, depth);
      case Kind::void_: return "<void>";
      case Kind::function: return function_text(value.address.offset);
      default: return scalar(value);
    }
  } catch (const Unreadable& error) {
    return fmt::format("<{}>", error.what());
  }
}

}  // namespace

std::string text_of(const Value& value, const ThreadView& thread, Format format,
                    const TextLimits& limits) {
  return ValueText(thread, format, limits).of(value, 0);
}

}  // namespace warpcheck::debug
