#include "vgpu/machine/matrix/double_products.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "vgpu/machine/compute/exact.hpp"
#include "vgpu/machine/matrix/matrix_layout.hpp"

namespace warpcheck::vgpu {
namespace {

// The most elements of a matrix of doubles.
constexpr std::uint32_t kDoublesMax = 256;
using Doubles = std::array<double, kDoublesMax>;

double* doubles_of(const LaneBanks& banks, const Ref& first) {
  return reinterpret_cast<double*>(banks.base[static_cast<std::size_t>(first.bank)] + first.offset);
}

void read_doubles(const LaneBanks& banks, const Ref& first,
                  const std::vector<std::uint16_t>& places, Doubles& matrix) {
  const double* in_order = doubles_of(banks, first);
  for (std::size_t i = 0; i < places.size(); ++i) matrix[places[i]] = in_order[i];
}

// Returns a * b + c, rounded once.  If several operands are NaN, b takes precedence over c, and c
// over a, as in fma.f64.
std::uint64_t multiply_add(std::uint64_t a, std::uint64_t b, std::uint64_t c,
                           ptx::Rounding rounding) {
  constexpr std::uint64_t kQuiet = exact::kF64.hidden() >> 1;
  for (const std::uint64_t operand : {b, c, a}) {
    const bool is_nan = (operand & ~exact::kF64.sign()) > exact::kF64.infinity();
    if (is_nan) return operand | kQuiet;
  }
  const auto number = [](std::uint64_t bits) { return exact::unpack(exact::kF64, bits); };
  return exact::pack(exact::kF64, exact::multiply_add(number(a), number(b), number(c), rounding),
                     rounding);
}

void multiply_row_exactly(const double* a, const double* b, std::uint32_t depth,
                          std::uint32_t columns, ptx::Rounding rounding, double* sums) {
  const auto bits = [](double x) { return std::bit_cast<std::uint64_t>(x); };
  for (std::uint32_t n = 0; n < columns; ++n) {
    std::uint64_t sum = bits(sums[n]);
    for (std::uint32_t k = 0; k < depth; ++k) {
      sum = multiply_add(bits(a[k]), bits(b[k * columns + n]), sum, rounding);
    }
    sums[n] = std::bit_cast<double>(sum);
  }
}

}  // namespace

void multiply_doubles(const MatrixLoops& loops, const LaneBanks& banks, const Instr& instr,
                      std::uint32_t active) {
  const MatrixLayout& layout = layout_of(instr);
  const auto [m, n, k] = layout.product.shape;
  alignas(64) Doubles a, b, c;
  read_doubles(banks, instr[MatrixOperand::a], layout.a, a);
  read_doubles(banks, instr[MatrixOperand::b], layout.b, b);
  read_doubles(banks, instr[MatrixOperand::c], layout.c, c);
  const ptx::Rounding named = layout.product.rounding;
  const ptx::Rounding rounding = named == ptx::Rounding::none ? ptx::Rounding::rn : named;
  for (std::uint32_t row = 0; row < m; ++row) {
    double* const sums = &c[row * n];
    if (loops.add_up_doubles != nullptr && rounding == ptx::Rounding::rn) {
      std::array<double, kMatrixColumnsMax> fused;
      std::copy_n(sums, n, fused.begin());
      if (loops.add_up_doubles(&a[row * k], b.data(), k, n, fused.data())) {
        std::copy_n(fused.begin(), n, sums);
        continue;
      }
    }
    multiply_row_exactly(&a[row * k], b.data(), k, n, rounding, sums);
  }
  double* const to = doubles_of(banks, instr[MatrixOperand::d]);
  for (std::size_t i = 0; i < layout.d.size(); ++i) {
    if ((active >> i % kWarpLanes & 1) != 0) to[i] = c[layout.d[i]];
  }
}

}  // namespace warpcheck::vgpu
