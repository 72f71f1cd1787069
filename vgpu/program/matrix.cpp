#include "vgpu/program/matrix.hpp"

#include <bit>

namespace warpcheck::vgpu {
namespace {

// Fields of Instr::packed, lowest first.
constexpr unsigned kFieldBits = 8;

MatrixShape size_of(const MatrixProduct& product, MatrixOperand operand) {
  const MatrixShape& s = product.shape;
  if (operand == MatrixOperand::a) return {s.m, product.sparse ? s.k / 2 : s.k, 0};
  if (operand == MatrixOperand::b) return {s.k, s.n, 0};
  return {s.m, s.n, 0};
}

// The rows of a and the columns of b of a quad pair.
constexpr std::uint32_t kQuadPairs = 4, kQuadLines = 8;

constexpr std::uint32_t kMetadataBits = 4;  // of a chunk

std::uint32_t metadata_bits_of_row(const MatrixProduct& product) {
  return kMetadataBits * product.shape.k / chunk_of(product).columns;
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
       {static_cast<std::uint32_t>(product.scale), product.blocks, product.selector,
        std::uint32_t{product.in_order} | std::uint32_t{product.of_group} << 1 |
            std::uint32_t{product.sparse} << 2 | std::uint32_t{product.in_bytes} << 3 |
            std::uint32_t{product.of_quads} << 4 | std::uint32_t{product.a_is_col} << 5 |
            std::uint32_t{product.b_is_row} << 6,
        static_cast<std::uint32_t>(product.c), product.shape.k, product.shape.n / kTileColumns,
        product.shape.m}) {
    instr.packed = instr.packed << kFieldBits | field;
  }
}

MatrixProduct product_of(const Instr& instr) {
  const auto field = [&](unsigned index) {
    return static_cast<std::uint32_t>(instr.packed >> (kFieldBits * index) & 0xff);
  };
  const ptx::Modifiers& m = instr.modifiers;
  return {{field(0), field(1) * kTileColumns, field(2)},
          m.type,
          m.source_type,
          m.third_type,
          static_cast<ptx::Type>(field(3)),
          m.satfinite,
          (field(4) & 1) != 0,
          (field(4) & 2) != 0,
          m.rounding,
          m.bool_op,
          (field(4) & 4) != 0,
          (field(4) & 8) != 0,
          field(5),
          field(6),
          static_cast<ptx::Type>(field(7)),
          (field(4) & 16) != 0,
          (field(4) & 32) != 0,
          (field(4) & 64) != 0};
}

std::uint32_t registers_of(const MatrixProduct& product, MatrixOperand operand) {
  const MatrixShape size = size_of(product, operand);
  const bool is_sum = operand == MatrixOperand::c || operand == MatrixOperand::d;
  const std::uint32_t blocks = product.of_quads && is_sum ? kQuadPairs : 1;
  return size.m * size.n * element_bits(product, operand) /
         (register_bits(product.type_of(operand)) * kWarpLanes * blocks);
}

ElementPlaces::ElementPlaces(const MatrixProduct& product, MatrixOperand operand)
    : operand_(operand),
      in_order_(product.in_order),
      tall_(product.shape.m == 16),
      of_quads_(product.of_quads),
      is_turned_(operand == MatrixOperand::a ? product.a_is_col : product.b_is_row),
      registers_(registers_of(product, operand)),
      parts_(register_bits(product.type_of(operand)) / element_bits(product, operand)),
      in_tile_(registers_ * kTileColumns / product.shape.n),
      length_bits_(0) {
  const MatrixShape size = size_of(product, operand);
  const std::uint32_t length = operand == MatrixOperand::b ? size.m : size.n;
  length_bits_ = static_cast<std::uint32_t>(std::countr_zero(length));
}

// 9.7.14.5.1.  Lanes 4 q to 4 q + 3 and 16 + 4 q to 16 + 4 q + 3 are quad pair q.
MatrixPlace ElementPlaces::at_of_quads(std::uint32_t lane, std::uint32_t reg,
                                       std::uint32_t part) const {
  const std::uint32_t first = lane % 16 / 4 * kQuadLines;
  const std::uint32_t in_quad = lane % 4, upper = 4 * (lane / 16);
  const std::uint32_t element = reg * parts_ + part;
  if (operand_ == MatrixOperand::a || operand_ == MatrixOperand::b) {
    // A lane has a row of a or a column of b, or, turned, four neighbours of a column or a row.
    const std::uint32_t line = first + upper + (is_turned_ ? element : in_quad);
    const std::uint32_t depth = is_turned_ ? in_quad : element;
    return operand_ == MatrixOperand::a ? MatrixPlace{line, depth} : MatrixPlace{depth, line};
  }
  if (parts_ == 2) return {first + upper + in_quad, first + element};  // f16: a row
  return {first + upper + (lane & 1) + (element & 2),
          first + (element & 4) + (lane & 2) + (element & 1)};
}

MatrixChunk chunk_of(const MatrixProduct& product) {
  switch (element_bits(product, MatrixOperand::a)) {
    case 32: return {2, 1};
    case 4: return {8, 4};  // two pairs of neighbours
    default: return {4, 2};
  }
}

// A row of a has 16, 32 or 64 bits of metadata.  The lower half of the rows has the lower halves of
// registers, or the lower of two lanes.
MetadataPlace metadata_at(const MatrixProduct& product, std::uint32_t row, std::uint32_t chunk) {
  constexpr std::uint32_t kRows = 8;
  const std::uint32_t first = 4 * (row % kRows);
  const std::uint32_t half = row / kRows;
  const std::uint32_t bits = metadata_bits_of_row(product);
  if (bits == 16) return {first + product.selector, 16 * half + kMetadataBits * chunk};
  const bool in_halves = bits == 32 && element_bits(product, MatrixOperand::a) >= 16;
  if (in_halves) {
    return {first + 2 * product.selector + chunk / 4, 16 * half + kMetadataBits * (chunk % 4)};
  }
  return {first + 2 * (product.selector + chunk / 8) + half, kMetadataBits * (chunk % 8)};
}

std::uint32_t selectors_of(const MatrixProduct& product) {
  return 64 / metadata_bits_of_row(product);
}

}  // namespace warpcheck::vgpu
