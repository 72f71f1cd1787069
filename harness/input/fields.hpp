// FIELDS(Type, a, b, ...): static reflection of a case's input.  Its JSON, comparison, printing and
// shrinking (shrinks.hpp) are derived from it.
//
//   struct ReverseInput { std::vector<int> values; LaunchConfig launch; };
//   FIELDS(ReverseInput, values, launch);            // at namespace scope, up to 16 fields
//
// A field's type is an integer, bool, float, double, std::string, LaunchConfig, Dim3, an enum with
// ENUM_NAMES, a struct with FIELDS, or a std::vector or std::array of these.  Specialise
// FieldTraits (and ShrinkTraits) to support another type.
//
// FIELDS also defines operator== (floats by their bits, so that a NaN equals itself) and operator<<
// (as JSON), which GoogleTest and RapidCheck use for printing.
#pragma once

#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <ostream>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "harness/input/json_values.hpp"
#include "harness/input/launch_config.hpp"

namespace warpcheck {

template <class Struct, class Member>
using MemberPointer = Member Struct::*;

template <class Struct, class Member>
struct Field {
  const char* name;
  MemberPointer<Struct, Member> member;
};
template <class Struct, class Member>
Field(const char*, Member Struct::*) -> Field<Struct, Member>;

// A type with FIELDS; the function is found by argument-dependent lookup.
template <class T>
concept Reflected = requires(const T* type) {
  warpcheck_fields(type);
};

template <Reflected T>
constexpr auto fields_of() {
  return warpcheck_fields(static_cast<const T*>(nullptr));
}

// Calls visitor(const char* name, member&) for each field, in order of declaration.
template <class T, class Visitor>
requires Reflected<std::remove_const_t<T>>
constexpr void for_each_field(T& value, Visitor&& visitor) {
  std::apply([&](auto... field) { (visitor(field.name, value.*field.member), ...); },
             fields_of<std::remove_const_t<T>>());
}

// How a T is written, read and compared:
//   static Json to_json(const T&);
//   static T from_json(const Json&, const FieldPath&);     throws FieldError
//   static bool identical(const T&, const T&);             bit by bit
template <class T>
struct FieldTraits;

template <class T>
[[nodiscard]] Json to_json(const T& value) {
  return FieldTraits<T>::to_json(value);
}

// Throws FieldError if the document does not fit T; `root` is the beginning of the path in
// messages.
template <class T>
[[nodiscard]] T from_json(const Json& json, std::string_view root = "input") {
  return FieldTraits<T>::from_json(json, FieldPath(root));
}

template <class T>
[[nodiscard]] bool identical(const T& a, const T& b) {
  return FieldTraits<T>::identical(a, b);
}

template <>
struct FieldTraits<bool> {
  static Json to_json(bool value) { return value; }
  static bool from_json(const Json& json, const FieldPath& path) {
    return bool_of_json(json, path);
  }
  static bool identical(bool a, bool b) { return a == b; }
};

template <std::signed_integral T>
struct FieldTraits<T> {
  static Json to_json(T value) { return std::int64_t{value}; }
  static T from_json(const Json& json, const FieldPath& path) {
    return static_cast<T>(
        signed_of_json(json, path, std::numeric_limits<T>::min(), std::numeric_limits<T>::max()));
  }
  static bool identical(T a, T b) { return a == b; }
};

template <std::unsigned_integral T>
struct FieldTraits<T> {
  static Json to_json(T value) { return std::uint64_t{value}; }
  static T from_json(const Json& json, const FieldPath& path) {
    return static_cast<T>(unsigned_of_json(json, path, std::numeric_limits<T>::max()));
  }
  static bool identical(T a, T b) { return a == b; }
};

template <>
struct FieldTraits<float> {
  static Json to_json(float value) { return json_of_float(value); }
  static float from_json(const Json& json, const FieldPath& path) {
    return float_of_json(json, path);
  }
  static bool identical(float a, float b) {
    return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b);
  }
};

template <>
struct FieldTraits<double> {
  static Json to_json(double value) { return json_of_double(value); }
  static double from_json(const Json& json, const FieldPath& path) {
    return double_of_json(json, path);
  }
  static bool identical(double a, double b) {
    return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
  }
};

template <>
struct FieldTraits<std::string> {
  static Json to_json(const std::string& value) { return json_of_text(value); }
  static std::string from_json(const Json& json, const FieldPath& path) {
    return text_of_json(json, path);
  }
  static bool identical(const std::string& a, const std::string& b) { return a == b; }
};

template <class T>
struct FieldTraits<std::vector<T>> {
  static Json to_json(const std::vector<T>& values) {
    Json list = Json::array();
    for (const T& value : values) list.push_back(FieldTraits<T>::to_json(value));
    return list;
  }
  static std::vector<T> from_json(const Json& json, const FieldPath& path) {
    if (!json.is_array()) throw_unexpected(path, "a list", json);
    std::vector<T> values;
    values.reserve(json.size());
    for (std::size_t i = 0; i < json.size(); ++i) {
      values.push_back(FieldTraits<T>::from_json(json[i], FieldPath(path, i)));
    }
    return values;
  }
  static bool identical(const std::vector<T>& a, const std::vector<T>& b) {
    if (a.size() != b.size()) return false;
    for (std::size_t i = 0; i < a.size(); ++i) {
      if (!FieldTraits<T>::identical(a[i], b[i])) return false;
    }
    return true;
  }
};

template <class T, std::size_t count>
struct FieldTraits<std::array<T, count>> {
  static Json to_json(const std::array<T, count>& values) {
    Json list = Json::array();
    for (const T& value : values) list.push_back(FieldTraits<T>::to_json(value));
    return list;
  }
  static std::array<T, count> from_json(const Json& json, const FieldPath& path) {
    if (!json.is_array() || json.size() != count) {
      throw_unexpected(path, "a list of " + std::to_string(count) + " values", json);
    }
    std::array<T, count> values{};
    for (std::size_t i = 0; i < count; ++i) {
      values[i] = FieldTraits<T>::from_json(json[i], FieldPath(path, i));
    }
    return values;
  }
  static bool identical(const std::array<T, count>& a, const std::array<T, count>& b) {
    for (std::size_t i = 0; i < count; ++i) {
      if (!FieldTraits<T>::identical(a[i], b[i])) return false;
    }
    return true;
  }
};

// [x, y, z]; a file edited by hand may omit trailing extents or give x alone.
template <>
struct FieldTraits<Dim3> {
  static Json to_json(const Dim3& value) { return Json::array({value.x, value.y, value.z}); }
  static Dim3 from_json(const Json& json, const FieldPath& path);
  static bool identical(const Dim3& a, const Dim3& b) { return a == b; }
};

// ENUM_NAMES(Order, Order::sorted, Order::reversed): written by name; the first is the simplest.
template <class E>
concept NamedEnum = std::is_enum_v<E> && requires(const E* type) {
  warpcheck_enum_names(type);
};

template <NamedEnum E>
struct FieldTraits<E> {
  static Json to_json(E value) {
    for (const auto& [constant, name] : warpcheck_enum_names(static_cast<const E*>(nullptr))) {
      if (constant == value) return std::string(name);
    }
    return static_cast<std::int64_t>(value);  // an undeclared value; from_json refuses it
  }
  static E from_json(const Json& json, const FieldPath& path) {
    std::string expected;
    for (const auto& [constant, name] : warpcheck_enum_names(static_cast<const E*>(nullptr))) {
      if (json.is_string() && json.get_ref<const std::string&>() == name) return constant;
      expected += expected.empty() ? "one of " : ", ";
      expected += name;
    }
    throw_unexpected(path, expected, json);
  }
  static bool identical(E a, E b) { return a == b; }
};

// A JSON object with exactly the declared fields.
template <Reflected T>
struct FieldTraits<T> {
  static Json to_json(const T& value) {
    Json object = Json::object();
    for_each_field(value, [&](const char* name, const auto& member) {
      object[name] = warpcheck::to_json(member);
    });
    return object;
  }
  static T from_json(const Json& json, const FieldPath& path) {
    if (!json.is_object()) throw_unexpected(path, "an object", json);
    T value{};
    std::size_t count = 0;
    for_each_field(value, [&]<class Member>(const char* name, Member& member) {
      const auto found = json.find(name);
      const FieldPath member_path(path, name);
      if (found == json.end()) throw_field_error(member_path, "missing");
      member = FieldTraits<Member>::from_json(*found, member_path);
      ++count;
    });
    if (json.size() != count) throw_unknown_field(json, path);
    return value;
  }
  static bool identical(const T& a, const T& b) {
    return std::apply(
        [&](auto... field) {
          return (warpcheck::identical(a.*field.member, b.*field.member) && ...);
        },
        fields_of<T>());
  }

 private:
  [[noreturn]] static void throw_unknown_field(const Json& json, const FieldPath& path) {
    for (auto it = json.begin(); it != json.end(); ++it) {
      const std::string& key = it.key();  // Clang 14 cannot capture a structured binding
      bool known = false;
      std::apply([&](auto... field) { ((known = known || key == field.name), ...); },
                 fields_of<T>());
      if (!known) throw_field_error(FieldPath(path, key), "no such field");
    }
    throw_field_error(path, "a field occurs twice");
  }
};

template <Reflected T>
std::ostream& print_fields(std::ostream& out, const T& value) {
  return out << to_json(value).dump();
}

}  // namespace warpcheck

// WARPCHECK_FOR_EACH(macro, Type, a, b, ...): macro(Type, a), macro(Type, b), ...
#define WARPCHECK_PARENTHESES ()
#define WARPCHECK_EXPAND(...) \
  WARPCHECK_EXPAND2(WARPCHECK_EXPAND2(WARPCHECK_EXPAND2(WARPCHECK_EXPAND2(__VA_ARGS__))))
#define WARPCHECK_EXPAND2(...) \
  WARPCHECK_EXPAND1(WARPCHECK_EXPAND1(WARPCHECK_EXPAND1(WARPCHECK_EXPAND1(__VA_ARGS__))))
#define WARPCHECK_EXPAND1(...) __VA_ARGS__
#define WARPCHECK_FOR_EACH(macro, Type, ...) \
  __VA_OPT__(WARPCHECK_EXPAND(WARPCHECK_STEP(macro, Type, __VA_ARGS__)))
#define WARPCHECK_STEP(macro, Type, first, ...) \
  macro(Type, first)                            \
      __VA_OPT__(, WARPCHECK_STEP_AGAIN WARPCHECK_PARENTHESES(macro, Type, __VA_ARGS__))
#define WARPCHECK_STEP_AGAIN() WARPCHECK_STEP

#define WARPCHECK_FIELD(Type, field) \
  ::warpcheck::Field { #field, &Type::field }
#define WARPCHECK_ENUM_NAME(Type, constant) \
  std::pair<Type, std::string_view> { constant, ::warpcheck::unqualified(#constant) }

#define FIELDS(Type, ...)                                                 \
  WARPCHECK_REFLECT(Type, __VA_ARGS__);                                   \
  [[maybe_unused]] inline bool operator==(const Type& a, const Type& b) { \
    return ::warpcheck::identical(a, b);                                  \
  }                                                                       \
  static_assert(true)

#define WARPCHECK_REFLECT(Type, ...)                                                          \
  [[maybe_unused]] constexpr auto warpcheck_fields(const Type*) {                             \
    return std::make_tuple(WARPCHECK_FOR_EACH(WARPCHECK_FIELD, Type, __VA_ARGS__));           \
  }                                                                                           \
  [[maybe_unused]] inline std::ostream& operator<<(std::ostream& out, const Type& value) {    \
    return ::warpcheck::print_fields(out, value);                                             \
  }                                                                                           \
  static_assert(                                                                              \
      std::tuple_size_v<decltype(warpcheck_fields(static_cast<const Type*>(nullptr)))> <= 16, \
      "FIELDS takes up to 16 fields")

#define ENUM_NAMES(Type, ...)                                                      \
  [[maybe_unused]] constexpr auto warpcheck_enum_names(const Type*) {              \
    return std::array{WARPCHECK_FOR_EACH(WARPCHECK_ENUM_NAME, Type, __VA_ARGS__)}; \
  }                                                                                \
  static_assert(true)

namespace warpcheck {

// "Order::sorted" -> "sorted"
constexpr std::string_view unqualified(std::string_view name) {
  const std::size_t colon = name.rfind(':');
  return colon == std::string_view::npos ? name : name.substr(colon + 1);
}

WARPCHECK_REFLECT(LaunchConfig, grid, block, shared_bytes);

}  // namespace warpcheck
