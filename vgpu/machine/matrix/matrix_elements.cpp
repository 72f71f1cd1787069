#include "vgpu/machine/matrix/matrix_elements.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>

#include "vgpu/machine/compute/exact.hpp"
#include "vgpu/machine/compute/narrow_floats.hpp"
#include "vgpu/machine/matrix/matrix_loops.hpp"

namespace warpcheck::vgpu {

using ptx::Type;

MatrixElement normalized_element(double value) {
  return {value, value == 0 || !std::isfinite(value) ? kNoExponent : std::ilogb(value)};
}

MatrixElement matrix_element(Type type, std::uint32_t bits) {
  if (type == Type::e5m2x2) return matrix_element(Type::f16, bits << 8);
  if (is_byte_float(type)) {
    const std::uint64_t wide =
        exact::pack(exact::kF64, narrow::unpack(type, bits), ptx::Rounding::rn);
    return normalized_element(std::bit_cast<double>(wide));
  }
  const exact::Format& format = exact::format_of(type);
  const auto biased = static_cast<int>((bits & format.infinity()) >> format.fraction_bits);
  const exact::Number x = exact::unpack(format, bits);
  return {std::bit_cast<double>(exact::pack(exact::kF64, x, ptx::Rounding::rn)),
          x.is_zero() ? kNoExponent : std::max(biased, 1) - format.bias()};
}

const FloatsOfBytes& floats_of_bytes(Type type) {
  static const auto& kTables = *new const auto([] {
    std::map<Type, FloatsOfBytes> tables;
    for (const Type of : {Type::e2m1x2, Type::e2m3x2, Type::e3m2x2, Type::e4m3x2, Type::e5m2x2}) {
      for (std::uint32_t bits = 0; bits < 256; ++bits) {
        tables[of][bits] = static_cast<float>(matrix_element(of, bits).value);
      }
    }
    return tables;
  }());
  return kTables.at(type);
}

int exponent_min(Type type) {
  return type == Type::f16 || type == Type::e5m2x2 ? 1 - exact::kF16.bias()
                                                   : 1 - exact::kF32.bias();
}

double cut_off(double value, int kept) {
  if (!std::isfinite(value)) return value;
  return std::bit_cast<double>(std::bit_cast<std::uint64_t>(value) & ~lost_bits(kept));
}

std::uint32_t bits_of_sum(const MatrixProduct& product, double x) {
  if (product.c == Type::f32 && product.d == Type::f16) x = cut_off(x, kFractionOfSingle);
  exact::Number number = exact::unpack(exact::kF64, std::bit_cast<std::uint64_t>(x));
  const bool is_single = product.d == Type::f32;
  if (is_single && std::abs(x) >= 0x1p128) number.kind = exact::Number::Kind::infinite;
  const exact::Format& format = exact::format_of(product.d);
  const auto bits = static_cast<std::uint32_t>(
      exact::pack(format, number, is_single ? ptx::Rounding::rz : ptx::Rounding::rn));
  const bool is_lost = x != 0 && bits == format.sign();
  return is_lost ? 0 : bits;
}

}  // namespace warpcheck::vgpu
