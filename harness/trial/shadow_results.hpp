// The shadow values of a case's output.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <optional>

#include "harness/generators/generators_halves.hpp"
#include "harness/pair/numbers.hpp"
#include "vgpu/check/shadow/shadow_plane.hpp"

namespace warpcheck {

inline double number_at(const NumberPlace& place) {
  if (place.bytes == 8) {
    double number = 0;
    std::memcpy(&number, place.at, sizeof number);
    return number;
  }
  float number = 0;
  std::memcpy(&number, place.at, sizeof number);
  return static_cast<double>(number);
}

inline std::uint64_t bits_at(const void* at, std::size_t bytes) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, at, bytes);
  return bits;
}

// Returns whether a number of the output is one that was copied from the device, with as many bytes
// or with fewer: host code widens floats and halves.
//   type: of the copied bits; none: not known
inline bool is_copied_as(const NumberPlace& place, const std::byte* copied, std::size_t bytes,
                         ptx::Type type) {
  using ptx::Type;
  if (place.bytes == bytes) return bits_at(copied, bytes) == bits_at(place.at, bytes);
  if (!place.is_float || bytes > place.bytes) return false;
  const double number = number_at(place);
  const auto is_number = [&](double other) {
    return other == number || (std::isnan(other) && std::isnan(number));
  };
  if (bytes == 4) return is_number(number_at({.at = copied, .bytes = 4, .is_float = true}));
  const auto half = static_cast<std::uint16_t>(bits_at(copied, bytes));
  const bool as_half = type != Type::bf16 && is_number(static_cast<double>(float_of_half(half)));
  return bytes == 2 && (as_half || (type != Type::f16 &&
                                    is_number(static_cast<double>(float_of_bfloat16(half)))));
}

// Returns what one number of the output is; nothing: host code calculates it.  Host code may pass
// results on as they are, or widened: then they have the values of the last copy of as many
// elements, in its order.
template <class Domain>
std::optional<vgpu::ShadowReading<typename Domain::Value>> shadow_of_result(
    const vgpu::ShadowPlane<Domain>& plane, const NumberPlaces& results, std::size_t number) {
  const NumberPlace& wanted = results.places[number];
  if (auto reading = plane.host().read(wanted.at, wanted.bytes)) return reading;
  const auto& fetched = plane.host().fetched();
  const std::size_t count = results.places.size();
  for (auto copy = fetched.rbegin(); copy != fetched.rend(); ++copy) {
    const std::size_t bytes = copy->bytes.size() / count;
    const bool is_width = bytes == 2 || bytes == 4 || bytes == 8;
    if (copy->bytes.size() != bytes * count || !is_width) continue;
    bool is_same = true;
    for (std::size_t i = 0; i < count && is_same; ++i) {
      const auto reading =
          copy->cells.read(i * bytes, static_cast<std::uint32_t>(bytes), std::uint32_t{0});
      ptx::Type type = ptx::Type::none;
      if constexpr (requires { Domain::type_of(reading.value); }) {
        if (reading.state == vgpu::ShadowState::value) type = Domain::type_of(reading.value);
      }
      is_same = is_copied_as(results.places[i], copy->bytes.data() + i * bytes, bytes, type);
    }
    if (is_same) return copy->cells.read(number * bytes, static_cast<std::uint32_t>(bytes), 0);
  }
  return std::nullopt;
}

}  // namespace warpcheck
