// The size of an input of any type: the first and last criteria of shrinking.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "harness/input/fields.hpp"
#include "harness/input/launch_config.hpp"

namespace warpcheck {

struct InputSize {
  std::uint64_t elements = 0;  // of all vectors and strings
  std::uint64_t threads = 0;   // of all launches
  std::uint64_t blocks = 0;    // of all launches
  double magnitude = 0;        // sum of |x| over all numbers; a NaN or infinity counts as 2^1023
};

template <class T>
struct SizeTraits;

// Adds `value` to `size`.
template <class T>
void measure(const T& value, InputSize& size) {
  SizeTraits<T>::measure(value, size);
}

template <class T>
requires std::is_arithmetic_v<T>
struct SizeTraits<T> {
  static void measure(T value, InputSize& size) {
    const auto wide = static_cast<double>(value);
    size.magnitude += std::isfinite(wide) ? std::fabs(wide) : 0x1p1023;
  }
};

template <NamedEnum E>
struct SizeTraits<E> {
  static void measure(E, InputSize&) {}
};

template <>
struct SizeTraits<std::string> {
  static void measure(const std::string& text, InputSize& size) { size.elements += text.size(); }
};

template <>
struct SizeTraits<LaunchConfig> {
  static void measure(const LaunchConfig& launch, InputSize& size) {
    size.threads += launch.threads();
    size.blocks += launch.blocks();
    size.magnitude += launch.shared_bytes;
  }
};

template <>
struct SizeTraits<Dim3> {
  static void measure(const Dim3& extents, InputSize& size) { size.threads += extents.count(); }
};

template <class T>
struct SizeTraits<std::vector<T>> {
  static void measure(const std::vector<T>& values, InputSize& size) {
    size.elements += values.size();
    for (const T& value : values) SizeTraits<T>::measure(value, size);
  }
};

template <class T, std::size_t count>
struct SizeTraits<std::array<T, count>> {
  static void measure(const std::array<T, count>& values, InputSize& size) {
    for (const T& value : values) SizeTraits<T>::measure(value, size);
  }
};

template <Reflected T>
struct SizeTraits<T> {
  static void measure(const T& value, InputSize& size) {
    for_each_field(value, [&]<class Member>(const char*, const Member& member) {
      SizeTraits<Member>::measure(member, size);
    });
  }
};

}  // namespace warpcheck
