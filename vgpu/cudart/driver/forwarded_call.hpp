// Calls a runtime function with the arguments of the driver function that does the same
// (driver_calls.def).
#pragma once

#include <cstddef>
#include <tuple>
#include <type_traits>

#include "vgpu/cudart/device/enum_number.hpp"

namespace warpcheck::cudart {

// Types of which both APIs use the same layout: sizes are compared where both are known.
template <typename To, typename From>
consteval bool may_be_pointers_to_the_same() {
  if constexpr (std::is_void_v<To> || std::is_void_v<From> || std::is_function_v<To> ||
                std::is_function_v<From>) {
    return true;
  } else if constexpr (requires { sizeof(To) == sizeof(From); }) {
    return sizeof(To) == sizeof(From);
  } else {
    return true;  // handles: a type that only one API, or none, defines
  }
}

// Converts an argument of the driver's type to the type of the runtime's parameter: a number, an
// address, a handle, or a structure with the same members.
template <typename To, typename From>
To argument_as(const From& from) {
  if constexpr (std::is_same_v<To, From>) {
    return from;
  } else if constexpr (std::is_enum_v<From>) {
    return static_cast<To>(number_of(from));
  } else if constexpr (std::is_pointer_v<To> && std::is_pointer_v<From>) {
    static_assert(
        may_be_pointers_to_the_same<std::remove_pointer_t<To>, std::remove_pointer_t<From>>());
    return reinterpret_cast<To>(from);
  } else if constexpr (std::is_pointer_v<To>) {
    static_assert(sizeof(From) == sizeof(To));  // CUdeviceptr
    return reinterpret_cast<To>(from);
  } else if constexpr (std::is_integral_v<To>) {
    static_assert(sizeof(From) == sizeof(To) && std::is_integral_v<From>);
    return static_cast<To>(from);
  } else {
    return __builtin_bit_cast(To, from);
  }
}

// The type of parameter number `kAt` of a function.
template <typename Function, std::size_t kAt>
struct ParameterOf;
template <typename Result, typename... Parameters, std::size_t kAt>
struct ParameterOf<Result(Parameters...), kAt> {
  using Type = std::tuple_element_t<kAt, std::tuple<Parameters...>>;
};

template <typename Error, typename... To, typename... From>
Error call_with(Error (*runtime_function)(To...), const From&... arguments) {
  static_assert(sizeof...(To) == sizeof...(From));
  return runtime_function(argument_as<To>(arguments)...);
}

}  // namespace warpcheck::cudart
