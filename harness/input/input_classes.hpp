// The classes to which an input of any type belongs, by its sizes, its data and its launches.
//
// The classes of a struct with FIELDS are those of its fields, each after the field's name:
//   "in.size: prime"          the length of a vector (or string)
//   "in: sorted"              all elements of a vector of numbers, from four elements on
//   "in: contains NaN"        one element of it
//   "start: highest"          a number
//   "launch: several blocks"  a launch
//   "order: ascending"        an enum or a bool
// Classes that relate two fields are named after the field that they describe: "in.size: block
// edge" and "launch: idle threads", if a struct has both vectors and a launch.
//
// The names depend on the type alone, so that a class that never occurred can be named.
#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "harness/input/data_classes.hpp"
#include "harness/input/fields.hpp"
#include "harness/input/function_ref.hpp"
#include "harness/input/launch_config.hpp"
#include "harness/input/size_classes.hpp"

namespace warpcheck {

using InputClassVisitor = FunctionRef<void(const std::string& name, bool holds)>;

namespace input_classes_detail {

// What the classes of one field need to know of the other fields of the struct.
struct Neighbours {
  bool has_launch = false;
  bool has_elements = false;
  std::uint64_t block = 1;     // threads of a block of the last launch
  std::uint64_t elements = 0;  // of the longest vector
};

// Visits the classes of one field, with the field's name as prefix.
class Visitor {
 public:
  Visitor(std::string_view field, InputClassVisitor visit) : field_(field), visit_(visit) {}
  void operator()(std::string_view name, bool holds) const;

 private:
  std::string field_;
  InputClassVisitor visit_;
};

void visit_size(std::size_t size, const Neighbours& neighbours, const Visitor& visit);

template <std::integral T>
void visit_number(T value, const Visitor& visit) {
  const bool small = std::in_range<std::int64_t>(value);
  const auto n = small ? static_cast<std::int64_t>(value) : 0;
  visit("zero", value == 0);
  visit("one", value == 1);
  visit("odd", value % 2 != 0);
  visit("prime", small && n < 1'000'000'000 && is_prime(n));
  visit("power of two", value > 0 && (value & (value - 1)) == 0);
  visit("power of two +-1", small && is_near_power_of_two(n));
  if constexpr (std::is_signed_v<T>) {
    visit("negative", value < 0);
    visit("lowest", value == std::numeric_limits<T>::min());
  }
  visit("highest", value == std::numeric_limits<T>::max());
}

template <std::floating_point T>
void visit_number(T value, const Visitor& visit) {
  visit("zero", value == 0);
  visit("negative zero", value == 0 && std::signbit(value));
  visit("negative", value < 0);
  visit("subnormal", std::fpclassify(value) == FP_SUBNORMAL);
  visit("largest", std::fabs(value) == std::numeric_limits<T>::max());
  visit("infinity", std::isinf(value));
  visit("NaN", std::isnan(value));
}

// "contains NaN": the classes of single numbers for which one element suffices.
template <class T>
void visit_elements(const std::vector<T>& values, const Visitor& visit) {
  const auto contains = [&](std::string_view name, auto holds) {
    visit("contains " + std::string(name), std::any_of(values.begin(), values.end(), holds));
  };
  contains("zero", [](T x) { return x == 0; });
  if constexpr (std::floating_point<T>) {
    contains("negative zero", [](T x) { return x == 0 && std::signbit(x); });
    contains("subnormal", [](T x) { return std::fpclassify(x) == FP_SUBNORMAL; });
    contains("largest", [](T x) { return std::fabs(x) == std::numeric_limits<T>::max(); });
    contains("infinity", [](T x) { return std::isinf(x); });
    contains("NaN", [](T x) { return std::isnan(x); });
  } else {
    contains("lowest", [](T x) { return x == std::numeric_limits<T>::min(); });
    contains("highest", [](T x) { return x == std::numeric_limits<T>::max(); });
  }
  if constexpr (std::is_signed_v<T>) {
    const auto is_negative = [](T x) { return x < 0; };
    contains("negative", is_negative);
    visit("all negative",
          !values.empty() && std::all_of(values.begin(), values.end(), is_negative));
  }
}

void visit_launch(const LaunchConfig& launch, const Neighbours& neighbours, const Visitor& visit);

template <class T>
inline constexpr bool is_vector_v = false;
template <class T>
inline constexpr bool is_vector_v<std::vector<T>> = true;

template <Reflected T>
Neighbours neighbours_of(const T& value) {
  Neighbours neighbours;
  for_each_field(value, [&]<class Member>(const char*, const Member& member) {
    if constexpr (std::same_as<Member, LaunchConfig>) {
      neighbours.has_launch = true;
      neighbours.block = member.block.count();
    } else if constexpr (is_vector_v<Member>) {
      neighbours.has_elements = true;
      neighbours.elements = std::max<std::uint64_t>(neighbours.elements, member.size());
    }
  });
  return neighbours;
}

template <Reflected T>
void visit_fields(const T& value, const std::string& prefix, InputClassVisitor visit);

template <class T>
void visit_vector(const std::vector<T>& values, const std::string& name,
                  const Neighbours& neighbours, InputClassVisitor visit) {
  visit_size(values.size(), neighbours, Visitor(name + ".size", visit));
  if constexpr (vectors_detail::Ordered<T> && !std::same_as<T, bool>) {
    const bool long_enough = values.size() >= vectors_detail::kLengthWithClasses;
    for (const auto& data : vectors_detail::classes<T>()) {
      Visitor(name, visit)(data.name, long_enough && data.contains(values));
    }
    visit_elements(values, Visitor(name, visit));
  }
}

// Compiled once, and not in each pair file.
extern template void visit_vector(const std::vector<int>&, const std::string&, const Neighbours&,
                                  InputClassVisitor);
extern template void visit_vector(const std::vector<std::uint32_t>&, const std::string&,
                                  const Neighbours&, InputClassVisitor);
extern template void visit_vector(const std::vector<float>&, const std::string&, const Neighbours&,
                                  InputClassVisitor);
extern template void visit_vector(const std::vector<double>&, const std::string&, const Neighbours&,
                                  InputClassVisitor);

template <class T>
void visit_field(const T& value, const std::string& name, const Neighbours& neighbours,
                 InputClassVisitor visit) {
  const Visitor of_field(name, visit);
  if constexpr (std::same_as<T, LaunchConfig>) {
    visit_launch(value, neighbours, of_field);
  } else if constexpr (std::same_as<T, bool>) {
    of_field("false", !value);
    of_field("true", value);
  } else if constexpr (std::is_arithmetic_v<T>) {
    visit_number(value, of_field);
  } else if constexpr (NamedEnum<T>) {
    for (const auto& [constant, constant_name] : warpcheck_enum_names(&value)) {
      of_field(constant_name, value == constant);
    }
  } else if constexpr (is_vector_v<T>) {
    visit_vector(value, name, neighbours, visit);
  } else if constexpr (std::same_as<T, std::string>) {
    visit_size(value.size(), neighbours, Visitor(name + ".size", visit));
  } else if constexpr (Reflected<T>) {
    visit_fields(value, name + ".", visit);
  }
}

template <Reflected T>
void visit_fields(const T& value, const std::string& prefix, InputClassVisitor visit) {
  const Neighbours neighbours = neighbours_of(value);
  for_each_field(value, [&](const char* name, const auto& member) {
    visit_field(member, prefix + name, neighbours, visit);
  });
}

}  // namespace input_classes_detail

// Calls visit(name, holds) for every class that an input of this type may belong to.
template <Reflected Input>
void for_each_input_class(const Input& input, InputClassVisitor visit) {
  input_classes_detail::visit_fields(input, "", visit);
}

// The names of all these classes.
template <Reflected Input>
std::vector<std::string> input_class_names() {
  std::vector<std::string> names;
  for_each_input_class(Input{}, [&](const std::string& name, bool) { names.push_back(name); });
  return names;
}

}  // namespace warpcheck
