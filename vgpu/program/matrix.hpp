// Matrix instructions: what the decoder tells the machine about a multiplication.
//
// mma.sync and wmma.mma multiply an m x k by a k x n matrix and add an m x n one, spread over the
// registers of a warp.  Their many registers do not fit in an Instr: the decoder copies them to
// rows side by side, and its operands are the first of them.
// Which element lies where: mma as the ISA says; wmma, whose layout is nobody's business, in
// order (see element_at()).
//
// A sparse a (mma.sp) has half of its elements in registers, packed to m x k/2, where a dense
// matrix of that size has them; metadata says which columns they belong to.  Scaled operands
// (.block_scale) have factors for blocks of the rows of a and of the columns of b.
// Source: PTX ISA 9.0, 9.7.14 (wmma, mma, mma.sp); of 9.7.14.6.2 the figures say which lanes have
// the metadata of which rows.
#pragma once

#include <cstdint>

#include "vgpu/program/program.hpp"

namespace warpcheck::vgpu {

struct MatrixShape {
  std::uint32_t m = 0, n = 0, k = 0;
  friend bool operator==(const MatrixShape&, const MatrixShape&) = default;
};

struct MatrixProduct {
  MatrixShape shape;
  ptx::Type d = ptx::Type::none, a = ptx::Type::none, b = ptx::Type::none, c = ptx::Type::none;
  bool saturates = false;                        // .satfinite of integers
  bool in_order = false;                         // wmma
  bool of_group = false;                         // wgmma: a tile of it
  ptx::Rounding rounding = ptx::Rounding::none;  // of f64
  ptx::BoolOp bits = ptx::BoolOp::none;          // of b1: what takes the place of multiplication
  bool sparse = false;                           // a, of which k is the depth that it stands for
  bool in_bytes = false;                         // elements of 4 and 6 bits stand in bytes
  std::uint32_t selector = 0;                    // of the lanes that have the metadata
  std::uint32_t blocks = 0;           // of a row of a that are scaled, each by its factor
  ptx::Type scale = ptx::Type::none;  // ue8m0x2; e4m3x2: without sign

  [[nodiscard]] ptx::Type type_of(MatrixOperand operand) const {
    switch (operand) {
      case MatrixOperand::d: return d;
      case MatrixOperand::a: return a;
      case MatrixOperand::b: return b;
      default: return c;
    }
  }
};

// The rows of MatrixOperand::metadata: those of a sparse matrix first, then factors of a, byte and
// lane to begin with, and the same of b.
enum class ScaleRow : std::uint8_t { a, byte_a, lane_a, b, byte_b, lane_b };
inline constexpr std::uint32_t kScaleRows = 6;
constexpr std::uint32_t metadata_rows(const MatrixProduct& product) {
  return (product.sparse ? 1 : 0) + (product.blocks != 0 ? kScaleRows : 0);
}

// Into Instr::modifiers and Instr::packed, and back.  Of a warpgroup's product, which has more
// columns than fit, this is one tile of 16 x 8.
void describe_product(const MatrixProduct& product, Instr& instr);
MatrixProduct product_of(const Instr& instr);
inline bool is_matrix_product(const Instr& instr) {
  return instr.opcode == ptx::Opcode::mma_ || instr.opcode == ptx::Opcode::wmma_;
}

// group_load: the elements of wgmma's a or b that belong into a warp's registers, where mma has
// them, for each tile of 8 columns of b.
struct GroupLoad {
  bool is_b = false;
  bool transposed = false;  // neighbours in memory are of one column of a, of one row of b
  std::uint32_t tiles = 1;

  // Rows of words.
  [[nodiscard]] std::uint32_t registers() const { return is_b ? 2 * tiles : 4; }
};
constexpr std::int64_t pack(const GroupLoad& load) {
  return std::int64_t{load.tiles} << 2 | (load.transposed ? 2 : 0) | (load.is_b ? 1 : 0);
}
constexpr GroupLoad group_load_of(const Instr& instr) {
  return {(instr.packed & 1) != 0, (instr.packed & 2) != 0,
          static_cast<std::uint32_t>(instr.packed >> 2)};
}

// Floats of 8 bits and less; their types are those of pairs.
constexpr bool is_byte_float(ptx::Type type) {
  return type >= ptx::Type::e2m1x2 && type <= ptx::Type::e5m2x2;
}

// Bits of an element in a matrix of that type.  Of single bits 32 that stand side by side count as
// one element, in the shape as well.
constexpr std::uint32_t element_bits(ptx::Type type) {
  if (type == ptx::Type::b1) return 32;
  if (type == ptx::Type::e2m1x2) return 4;
  if (is_byte_float(type)) return 8;
  return type == ptx::Type::u4 || type == ptx::Type::s4 ? 4 : 8 * ptx::bytes_of(type);
}
inline std::uint32_t element_bits(const MatrixProduct& product, MatrixOperand operand) {
  const ptx::Type type = product.type_of(operand);
  return product.in_bytes && type == ptx::Type::e2m1x2 ? 8 : element_bits(type);
}
constexpr std::uint32_t register_bits(ptx::Type type) { return type == ptx::Type::f64 ? 64 : 32; }

// Registers of a lane that differ.  wmma repeats those of f16 until there are eight.
std::uint32_t registers_of(const MatrixProduct& product, MatrixOperand operand);

struct MatrixPlace {
  std::uint32_t row = 0, column = 0;
};
// Which element stands in part `part` (from the lowest) of a lane's register.
MatrixPlace element_at(const MatrixProduct& product, MatrixOperand operand, std::uint32_t lane,
                       std::uint32_t reg, std::uint32_t part);

// Of a sparse a: elements that are there of a chunk of neighbours in a row, and the four bits of
// metadata that say which they are.
struct MatrixChunk {
  std::uint32_t columns = 0, elements = 0;
};
MatrixChunk chunk_of(const MatrixProduct& product);
struct MetadataPlace {
  std::uint32_t lane = 0, shift = 0;
};
MetadataPlace metadata_at(const MatrixProduct& product, std::uint32_t row, std::uint32_t chunk);
// How many values the selector of such a product may have.
std::uint32_t selectors_of(const MatrixProduct& product);

}  // namespace warpcheck::vgpu
