// Generators of numbers for kernels that are templates of their element type.
#pragma once

#include <concepts>

#include "harness/generators/generators.hpp"
#include "harness/generators/generators_floats.hpp"
#include "harness/generators/generators_integers.hpp"

namespace warpcheck {

template <class T>
Gen<T> numbers() {
  if constexpr (std::floating_point<T>)
    return floats<T>();
  else
    return integers<T>();
}

}  // namespace warpcheck
