// An output as plain bytes and its rule of comparison, for programs that do not link the harness,
// such as those that `export` writes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <ranges>
#include <string_view>
#include <type_traits>
#include <vector>

namespace warpcheck {

struct PlainOutput {
  std::string_view element;  // its C++ type: "int", "std::uint8_t", "float" ...
  std::size_t element_bytes = 0;
  std::vector<std::byte> bytes;

  [[nodiscard]] std::size_t size() const { return bytes.size() / element_bytes; }
};

// How an output is compared with its reference; the agreement of the same name (agreement.hpp)
// defines each.
enum class Comparison : std::uint8_t {
  custom,  // by code of the pair
  equal_values,
  same_bits,
  within_bounds,
  within_ulps,
  same_elements,
};

// The type in which a kernel calculates, for within_rounding().
enum class Arithmetic : std::uint8_t { of_output, of_half, of_bfloat16, of_float, of_double };

// Whose rounding is allowed: that of the kernel's own operations, or only that of the exact
// reference's, calculated in the same type.
struct RoundingRule {
  Arithmetic declared = Arithmetic::of_output;
  bool is_of_reference = false;
};

struct PlainRule {
  Comparison comparison = Comparison::custom;
  std::vector<double> bounds;    // for within_bounds, one for each element
  std::uint64_t ulps = 0;        // for within_ulps
  bool order_sensitive = false;  // runs may differ as long as each agrees
};

// Empty if the type is no plain number.
template <class T>
constexpr std::string_view plain_name() {
  if constexpr (std::is_same_v<T, float>) return "float";
  if constexpr (std::is_same_v<T, double>) return "double";
  if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
    constexpr bool kSigned = std::is_signed_v<T>;
    switch (sizeof(T)) {
      case 1: return kSigned ? "std::int8_t" : "std::uint8_t";
      case 2: return kSigned ? "std::int16_t" : "std::uint16_t";
      case 4: return kSigned ? "std::int32_t" : "std::uint32_t";
      case 8: return kSigned ? "std::int64_t" : "std::uint64_t";
    }
  }
  return {};
}

// Empty if the output is no array of plain numbers.
template <class Output>
std::optional<PlainOutput> plain_output(const Output& output) {
  if constexpr (std::ranges::contiguous_range<Output> && std::ranges::sized_range<Output>) {
    using Element = std::ranges::range_value_t<Output>;
    if constexpr (!plain_name<Element>().empty()) {
      PlainOutput plain{plain_name<Element>(), sizeof(Element), {}};
      const auto* const begin = reinterpret_cast<const std::byte*>(std::ranges::data(output));
      plain.bytes.assign(begin, begin + std::ranges::size(output) * sizeof(Element));
      return plain;
    }
  }
  return std::nullopt;
}

}  // namespace warpcheck
