#include "cli/debug/variables/scalar.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace warpcheck::debug {
namespace {

constexpr std::size_t kBytesMax = 8;

double number_of_bits(const Type& type, std::uint64_t bits) {
  if (type.kind == Type::Kind::brain) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
  }
  switch (type.bytes) {
    case 2: return float_of_half(static_cast<std::uint16_t>(bits));
    case 4: return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    default: return std::bit_cast<double>(bits);
  }
}

std::uint64_t bits_of_number(const Type& type, double number) {
  const auto narrow = static_cast<float>(number);
  if (type.kind == Type::Kind::brain) return bfloat16_of_float(narrow);
  switch (type.bytes) {
    case 2: return half_of_float(narrow);
    case 4: return std::bit_cast<std::uint32_t>(narrow);
    default: return std::bit_cast<std::uint64_t>(number);
  }
}

}  // namespace

Scalar scalar_of(const Value& value, const MemoryBytes& bytes) {
  const Type& type = stripped(value.type);
  Scalar scalar;
  scalar.type = value.type;
  const std::size_t count = std::min(bytes.bytes.size(), kBytesMax);
  std::uint64_t bits = 0, unwritten = 0;
  for (std::size_t i = 0; i < count; ++i) {
    bits |= std::to_integer<std::uint64_t>(bytes.bytes[i]) << (8 * i);
    if (i < bytes.unwritten.size()) unwritten |= std::uint64_t{bytes.unwritten[i]} << (8 * i);
  }
  const unsigned first_bit = value.bit_count == 0 ? 0 : value.first_bit;
  const unsigned bit_count =
      value.bit_count == 0 ? static_cast<unsigned>(8 * count) : value.bit_count;
  scalar.is_unwritten = extended(unwritten >> first_bit, bit_count, false) != 0;
  const bool is_signed = is_integral(type) && type.is_signed;
  scalar.bits = extended(bits >> first_bit, bit_count, is_signed);
  if (is_floating(type)) scalar.number = number_of_bits(type, bits);
  return scalar;
}

Value value_of(const Scalar& scalar) {
  const Type& type = stripped(scalar.type);
  Value value;
  value.type = scalar.type;
  value.place = Value::Place::bits;
  const std::uint64_t bits = is_floating(type) ? bits_of_number(type, scalar.number) : scalar.bits;
  for (std::size_t i = 0; i < std::min<std::size_t>(type.bytes, kBytesMax); ++i) {
    value.bytes.push_back(static_cast<std::byte>(bits >> (8 * i)));
  }
  value.unwritten.assign(value.bytes.size(), scalar.is_unwritten ? 0xff : 0);
  return value;
}

std::uint16_t half_of_float(float number) {
  const auto sign = static_cast<std::uint16_t>(std::signbit(number) ? 0x8000 : 0);
  if (std::isnan(number)) return sign | 0x7e00;
  const float magnitude = std::fabs(number);
  if (magnitude == 0) return sign;
  constexpr float kOverflow = 65520;  // rounds to 2^16
  if (magnitude >= kOverflow) return sign | 0x7c00;
  int exponent = 0;
  std::frexp(magnitude, &exponent);  // magnitude = m * 2^exponent, 0.5 <= m < 1
  exponent = std::max(exponent - 1, -14);
  const auto units = static_cast<unsigned>(std::nearbyint(std::ldexp(magnitude, 10 - exponent)));
  // A unit is 2^(exponent - 10); 1024 of them or more are a normal number.
  const unsigned base = static_cast<unsigned>(exponent + 14) << 10;
  return static_cast<std::uint16_t>(sign | (base + units));
}

std::uint16_t bfloat16_of_float(float number) {
  const auto bits = std::bit_cast<std::uint32_t>(number);
  if (std::isnan(number)) return static_cast<std::uint16_t>(bits >> 16 | 0x40);
  return static_cast<std::uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

}  // namespace warpcheck::debug
