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
#include <iosfwd>
#include <limits>
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
//   static void write(Json& json, const T&);               sets json, which is null
//   static T read(const Json&, const FieldPath&);          throws FieldError
//   static bool identical(const T&, const T&);             bit by bit
// json_values.hpp has functions for these; json.hpp converts a T to a document and back.
template <class T>
struct FieldTraits;

template <class T>
[[nodiscard]] bool identical(const T& a, const T& b) {
  return FieldTraits<T>::identical(a, b);
}

template <>
struct FieldTraits<bool> {
  static void write(Json& json, bool value) { write_bool(json, value); }
  static bool read(const Json& json, const FieldPath& path) { return read_bool(json, path); }
  static bool identical(bool a, bool b) { return a == b; }
};

template <std::signed_integral T>
struct FieldTraits<T> {
  static void write(Json& json, T value) { write_signed(json, value); }
  static T read(const Json& json, const FieldPath& path) {
    return static_cast<T>(
        read_signed(json, path, std::numeric_limits<T>::min(), std::numeric_limits<T>::max()));
  }
  static bool identical(T a, T b) { return a == b; }
};

template <std::unsigned_integral T>
struct FieldTraits<T> {
  static void write(Json& json, T value) { write_unsigned(json, value); }
  static T read(const Json& json, const FieldPath& path) {
    return static_cast<T>(read_unsigned(json, path, std::numeric_limits<T>::max()));
  }
  static bool identical(T a, T b) { return a == b; }
};

template <>
struct FieldTraits<float> {
  static void write(Json& json, float value) { write_float(json, value); }
  static float read(const Json& json, const FieldPath& path) { return read_float(json, path); }
  static bool identical(float a, float b) {
    return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b);
  }
};

template <>
struct FieldTraits<double> {
  static void write(Json& json, double value) { write_double(json, value); }
  static double read(const Json& json, const FieldPath& path) { return read_double(json, path); }
  static bool identical(double a, double b) {
    return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
  }
};

template <>
struct FieldTraits<std::string> {
  static void write(Json& json, const std::string& value) { write_text(json, value); }
  static std::string read(const Json& json, const FieldPath& path) { return read_text(json, path); }
  static bool identical(const std::string& a, const std::string& b) { return a == b; }
};

template <class T>
struct FieldTraits<std::vector<T>> {
  static void write(Json& json, const std::vector<T>& values) {
    write_list(json, values.size());
    for (const T& value : values) FieldTraits<T>::write(append_to(json), value);
  }
  static std::vector<T> read(const Json& json, const FieldPath& path) {
    const std::size_t size = list_size(json, path);
    std::vector<T> values;
    values.reserve(size);
    for (std::size_t i = 0; i < size; ++i) {
      values.push_back(FieldTraits<T>::read(element_of(json, i), FieldPath(path, i)));
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
  static void write(Json& json, const std::array<T, count>& values) {
    write_list(json, count);
    for (const T& value : values) FieldTraits<T>::write(append_to(json), value);
  }
  static std::array<T, count> read(const Json& json, const FieldPath& path) {
    expect_list(json, path, count);
    std::array<T, count> values{};
    for (std::size_t i = 0; i < count; ++i) {
      values[i] = FieldTraits<T>::read(element_of(json, i), FieldPath(path, i));
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
  static void write(Json& json, const Dim3& value);
  static Dim3 read(const Json& json, const FieldPath& path);
  static bool identical(const Dim3& a, const Dim3& b) { return a == b; }
};

// Whether FieldTraits are defined for a type and for the elements of its lists.
template <class T>
inline constexpr bool is_field_type = requires {
  sizeof(FieldTraits<T>);
};
template <class T>
inline constexpr bool is_field_type<std::vector<T>> = is_field_type<T>;
template <class T, std::size_t count>
inline constexpr bool is_field_type<std::array<T, count>> = is_field_type<T>;

template <class Struct, class Member>
constexpr bool has_field_type(const Field<Struct, Member>&) {
  static_assert(is_field_type<Member>,
                "FIELDS: the type of this field is not supported; give a struct FIELDS and an enum "
                "ENUM_NAMES before the struct that contains them, use a list for a map or an "
                "optional, or specialise FieldTraits and ShrinkTraits");
  return is_field_type<Member>;
}

template <Reflected T>
constexpr bool have_field_types() {
  return std::apply([](auto... field) { return (has_field_type(field) && ...); }, fields_of<T>());
}

// ENUM_NAMES(Order, Order::sorted, Order::reversed): written by name; the first is the simplest.
template <class E>
concept NamedEnum = std::is_enum_v<E> && requires(const E* type) {
  warpcheck_enum_names(type);
};

template <NamedEnum E>
struct FieldTraits<E> {
  static void write(Json& json, E value) {
    for (const auto& [constant, name] : kNames) {
      if (constant == value) return write_name(json, name);
    }
    write_signed(json, static_cast<std::int64_t>(value));  // undeclared; read() refuses it
  }
  static E read(const Json& json, const FieldPath& path) {
    std::array<std::string_view, kNames.size()> names;
    for (std::size_t i = 0; i < names.size(); ++i) names[i] = kNames[i].second;
    return kNames[read_name(json, path, names)].first;
  }
  static bool identical(E a, E b) { return a == b; }

 private:
  static constexpr auto kNames = warpcheck_enum_names(static_cast<const E*>(nullptr));
};

// A JSON object with exactly the declared fields.
template <Reflected T>
struct FieldTraits<T> {
  static void write(Json& json, const T& value) {
    write_object(json);
    for_each_field(value, [&]<class Member>(const char* name, const Member& member) {
      FieldTraits<Member>::write(member_of(json, name), member);
    });
  }
  static T read(const Json& json, const FieldPath& path) {
    ObjectReader object(json, path);
    T value{};
    for_each_field(value, [&]<class Member>(const char* name, Member& member) {
      member = FieldTraits<Member>::read(object.required(name), FieldPath(path, name));
    });
    std::apply([&](auto... field) { object.finish({field.name...}); }, fields_of<T>());
    return value;
  }
  static bool identical(const T& a, const T& b) {
    return std::apply(
        [&](auto... field) {
          return (warpcheck::identical(a.*field.member, b.*field.member) && ...);
        },
        fields_of<T>());
  }
};

template <Reflected T>
std::ostream& print_fields(std::ostream& out, const T& value) {
  print_json(out, [&](Json& json) { FieldTraits<T>::write(json, value); });
  return out;
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
  static_assert(::warpcheck::have_field_types<Type>());                   \
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
