#include "harness/input/json_values.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <ostream>
#include <system_error>
#include <type_traits>
#include <utility>

namespace warpcheck {

namespace {

template <class Float>
using Bits = std::conditional_t<sizeof(Float) == 4, std::uint32_t, std::uint64_t>;

template <class Float>
constexpr int kBitDigits = 2 * sizeof(Float);

// JSON numbers are doubles.  The shortest decimal of a float, read as a double, prints as the same
// decimal again, and rounds back to the float.
template <class Float>
double as_short_double(Float value) {
  if constexpr (std::is_same_v<Float, double>) {
    return value;
  } else {
    const std::string text = fmt::format("{}", value);
    double number = 0;
    std::from_chars(text.data(), text.data() + text.size(), number);
    return static_cast<Float>(number) == value ? number : double{value};
  }
}

template <class Float>
Json json_of(Float value) {
  if (std::isnan(value)) {
    return fmt::format("nan:{:#0{}x}", std::bit_cast<Bits<Float>>(value), kBitDigits<Float> + 2);
  }
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  if (value == 0 && std::signbit(value)) return "-0";
  return as_short_double(value);
}

template <class Float>
Float from_text(const Json& json, const FieldPath& path) {
  const std::string_view text = json.get_ref<const std::string&>();
  if (text == "-0") return -Float{0};
  if (text == "inf") return std::numeric_limits<Float>::infinity();
  if (text == "-inf") return -std::numeric_limits<Float>::infinity();
  constexpr std::string_view nan = "nan:0x";
  if (text.starts_with(nan) && text.size() == nan.size() + kBitDigits<Float>) {
    Bits<Float> bits{};
    const auto [end, error] =
        std::from_chars(text.data() + nan.size(), text.data() + text.size(), bits, 16);
    const auto value = std::bit_cast<Float>(bits);
    if (error == std::errc{} && end == text.data() + text.size() && std::isnan(value)) {
      return value;
    }
  }
  throw_unexpected(
      path,
      fmt::format(R"(a number, "-0", "inf", "-inf" or "nan:0x" with {} digits)", kBitDigits<Float>),
      json);
}

template <class Float>
Float float_from(const Json& json, const FieldPath& path) {
  if (json.is_string()) return from_text<Float>(json, path);
  if (!json.is_number()) throw_unexpected(path, "a number", json);
  const auto number = json.get<double>();
  const auto value = static_cast<Float>(number);
  if (!std::isfinite(value)) {
    throw_unexpected(path, fmt::format("a number of {} bits", 8 * sizeof(Float)), json);
  }
  return value;
}

// "2^31" if the bound is one, else the number.
std::string bound_text(std::uint64_t magnitude, bool negative) {
  const std::string sign = negative ? "-" : "";
  if (magnitude >= 1024 && std::has_single_bit(magnitude)) {
    return fmt::format("{}2^{}", sign, std::countr_zero(magnitude));
  }
  return fmt::format("{}{}", sign, magnitude);
}

// The exclusive end of a range up to max; it may be 2^64.
std::string end_text(std::uint64_t max) {
  return max + 1 == 0 ? "2^64" : bound_text(max + 1, false);
}

std::string range_text(std::int64_t min, std::uint64_t max) {
  const auto magnitude =
      min < 0 ? 0 - static_cast<std::uint64_t>(min) : static_cast<std::uint64_t>(min);
  return fmt::format("an integer in [{}, {})", bound_text(magnitude, min < 0), end_text(max));
}

bool is_utf8(const std::string& text) {
  try {
    static_cast<void>(Json(text).dump());
    return true;
  } catch (const Json::type_error&) {
    return false;
  }
}

constexpr std::string_view kHexPrefix = "hex:";

}  // namespace

std::string FieldPath::text() const {
  if (parent_ == nullptr) return std::string(name_);
  if (name_.data() == nullptr) return fmt::format("{}[{}]", parent_->text(), index_);
  return fmt::format("{}.{}", parent_->text(), name_);
}

void throw_unexpected(const FieldPath& path, std::string_view expected, const Json& found) {
  constexpr std::size_t shown_max = 40;
  std::string shown = found.dump(-1, ' ', true, Json::error_handler_t::replace);
  if (shown.size() > shown_max) shown = shown.substr(0, shown_max) + "...";
  throw_field_error(path, fmt::format("expected {}, found {}", expected, shown));
}

void throw_field_error(const FieldPath& path, std::string_view message) {
  throw FieldError(fmt::format("{}: {}", path.text(), message));
}

void write_bool(Json& json, bool value) { json = value; }
void write_signed(Json& json, std::int64_t value) { json = value; }
void write_unsigned(Json& json, std::uint64_t value) { json = value; }
void write_float(Json& json, float value) { json = json_of(value); }
void write_double(Json& json, double value) { json = json_of(value); }
void write_name(Json& json, std::string_view name) { json = name; }

void write_text(Json& json, const std::string& value) {
  if (is_utf8(value) && !value.starts_with(kHexPrefix)) {
    json = value;
    return;
  }
  std::string hex(kHexPrefix);
  for (const char c : value) hex += fmt::format("{:02x}", static_cast<unsigned char>(c));
  json = std::move(hex);
}

void write_list(Json& json, std::size_t size) {
  json = Json::array();
  json.get_ref<Json::array_t&>().reserve(size);
}

Json& append_to(Json& list) { return list.emplace_back(); }

void write_object(Json& json) { json = Json::object(); }

Json& member_of(Json& object, const char* name) { return object[name]; }

float read_float(const Json& json, const FieldPath& path) { return float_from<float>(json, path); }
double read_double(const Json& json, const FieldPath& path) {
  return float_from<double>(json, path);
}

std::string read_text(const Json& json, const FieldPath& path) {
  if (!json.is_string()) throw_unexpected(path, "a string", json);
  const auto& text = json.get_ref<const std::string&>();
  if (!text.starts_with(kHexPrefix)) return text;
  std::string bytes;
  for (std::size_t i = kHexPrefix.size(); i < text.size(); i += 2) {
    unsigned byte = 0;
    const char* end = text.data() + i + 2;
    if (i + 2 > text.size() || std::from_chars(text.data() + i, end, byte, 16).ptr != end) {
      throw_unexpected(path, "pairs of hexadecimal digits after \"hex:\"", json);
    }
    bytes += static_cast<char>(byte);
  }
  return bytes;
}

std::size_t read_name(const Json& json, const FieldPath& path,
                      std::span<const std::string_view> names) {
  if (json.is_string()) {
    const auto found = std::ranges::find(names, json.get_ref<const std::string&>());
    if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
  }
  throw_unexpected(path, fmt::format("one of {}", fmt::join(names, ", ")), json);
}

bool read_bool(const Json& json, const FieldPath& path) {
  if (!json.is_boolean()) throw_unexpected(path, "true or false", json);
  return json.get<bool>();
}

std::int64_t read_signed(const Json& json, const FieldPath& path, std::int64_t min,
                         std::int64_t max) {
  // The parser stores nonnegative numbers as unsigned, so a number above 2^63 is never negative.
  const bool fits = json.is_number_unsigned()
                        ? json.get<std::uint64_t>() <= static_cast<std::uint64_t>(max)
                        : json.is_number_integer() && json.get<std::int64_t>() >= min &&
                              json.get<std::int64_t>() <= max;
  if (!fits) throw_unexpected(path, range_text(min, static_cast<std::uint64_t>(max)), json);
  return json.get<std::int64_t>();
}

std::uint64_t read_unsigned(const Json& json, const FieldPath& path, std::uint64_t max) {
  const bool fits = json.is_number_unsigned()
                        ? json.get<std::uint64_t>() <= max
                        : json.is_number_integer() && json.get<std::int64_t>() >= 0 &&
                              static_cast<std::uint64_t>(json.get<std::int64_t>()) <= max;
  if (!fits) throw_unexpected(path, range_text(0, max), json);
  return json.get<std::uint64_t>();
}

std::size_t list_size(const Json& json, const FieldPath& path) {
  if (!json.is_array()) throw_unexpected(path, "a list", json);
  return json.size();
}

void expect_list(const Json& json, const FieldPath& path, std::size_t size) {
  if (json.is_array() && json.size() == size) return;
  throw_unexpected(path, fmt::format("a list of {} values", size), json);
}

const Json& element_of(const Json& list, std::size_t index) { return list[index]; }

ObjectReader::ObjectReader(const Json& json, const FieldPath& path) : json_(json), path_(path) {
  if (!json.is_object()) throw_unexpected(path, "an object", json);
}

const Json* ObjectReader::optional(std::string_view name) {
  const auto found = json_.find(name);
  if (found == json_.end()) return nullptr;
  ++taken_;
  return &*found;
}

const Json& ObjectReader::required(std::string_view name) {
  const Json* found = optional(name);
  if (found == nullptr) throw_field_error(FieldPath(path_, name), "missing");
  return *found;
}

std::string ObjectReader::text(std::string_view name) {
  return read_text(required(name), FieldPath(path_, name));
}

void ObjectReader::finish(std::initializer_list<std::string_view> known) const {
  if (taken_ == json_.size()) return;
  for (const auto& [key, unused] : json_.items()) {
    if (std::ranges::find(known, key) == known.end()) {
      throw_field_error(FieldPath(path_, key), "no such field");
    }
  }
  throw_field_error(path_, "a field occurs twice");
}

void print_json(std::ostream& out, FunctionRef<void(Json&)> write) {
  Json json;
  write(json);
  out << json.dump();
}

}  // namespace warpcheck
