#include "vgpu/program/matrix.hpp"

namespace warpcheck::vgpu {
namespace {

// Fields of Instr::packed, lowest first.
constexpr unsigned kFieldBits = 8;

MatrixShape size_of(const MatrixProduct& product, MatrixOperand operand) {
  const MatrixShape& s = product.shape;
  if (operand == MatrixOperand::a) return {s.m, s.k, 0};
  if (operand == MatrixOperand::b) return {s.k, s.n, 0};
  return {s.m, s.n, 0};
}

}  // namespace

void describe_product(const MatrixProduct& product, Instr& instr) {
  instr.modifiers = {};
  instr.modifiers.type = product.d;
  instr.modifiers.source_type = product.a;
  instr.modifiers.third_type = product.b;
  instr.modifiers.satfinite = product.saturates;
  instr.modifiers.rounding = product.rounding;
  instr.modifiers.bool_op = product.bits;
  instr.packed = 0;
  for (const std::uint32_t field :
       {std::uint32_t{product.in_order} | std::uint32_t{product.of_group} << 1,
        static_cast<std::uint32_t>(product.c), product.shape.k, product.shape.n, product.shape.m}) {
    instr.packed = instr.packed << kFieldBits | field;
  }
}

MatrixProduct product_of(const Instr& instr) {
  const auto field = [&](unsigned index) {
    return static_cast<std::uint32_t>(instr.packed >> (kFieldBits * index) & 0xff);
  };
  const ptx::Modifiers& m = instr.modifiers;
  return {{field(0), field(1), field(2)},
          m.type,
          m.source_type,
          m.third_type,
          static_cast<ptx::Type>(field(3)),
          m.satfinite,
          (field(4) & 1) != 0,
          (field(4) & 2) != 0,
          m.rounding,
          m.bool_op};
}

std::uint32_t registers_of(const MatrixProduct& product, MatrixOperand operand) {
  const MatrixShape size = size_of(product, operand);
  const ptx::Type type = product.type_of(operand);
  return size.m * size.n * element_bits(type) / (register_bits(type) * kWarpLanes);
}

MatrixPlace element_at(const MatrixProduct& product, MatrixOperand operand, std::uint32_t lane,
                       std::uint32_t reg, std::uint32_t part) {
  const ptx::Type type = product.type_of(operand);
  const std::uint32_t parts = register_bits(type) / element_bits(type);
  if (product.in_order) {
    // Rows of a and c, columns of b, one after the other; each lane has as many elements.
    const MatrixShape size = size_of(product, operand);
    const std::uint32_t per_lane = registers_of(product, operand) * parts;
    const std::uint32_t index = lane * per_lane + reg * parts + part;
    const std::uint32_t length = operand == MatrixOperand::b ? size.m : size.n;
    const MatrixPlace place{index / length, index % length};
    return operand == MatrixOperand::b ? MatrixPlace{place.column, place.row} : place;
  }
  const std::uint32_t group = lane / 4;
  const std::uint32_t in_group = lane % 4;
  const bool tall = product.shape.m == 16;
  switch (operand) {
    case MatrixOperand::a:
      return {group + (tall ? 8 * (reg & 1) : 0),
              in_group * parts + part + 4 * parts * (tall ? reg / 2 : reg)};
    case MatrixOperand::b: return {in_group * parts + part + 4 * parts * reg, group};
    default:
      if (parts == 2) return {group + 8 * reg, 2 * in_group + part};
      return {group + 8 * (reg / 2), 2 * in_group + (reg & 1)};
  }
}

}  // namespace warpcheck::vgpu
