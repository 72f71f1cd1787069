// Matrix instructions: how the decoder describes a multiplication to the machine.
//
// mma.sync and wmma.mma multiply an m x k matrix by a k x n matrix and add an m x n matrix, all
// spread over the registers of a warp.  Their many registers do not fit in an Instr: the decoder
// copies them to consecutive rows, and the operands name the first of them.  The place of each
// element follows the ISA for mma; for wmma, whose layout is undefined, elements are in order (see
// ElementPlaces).
//
// A sparse a (mma.sp) has half of its elements in registers, packed to m x k/2, in the layout of a
// dense matrix of that size; metadata says which columns they belong to.  mma.m8n8k4 of f16 is four
// products, one of each quad pair: see MatrixProduct::of_quads.  Scaled operands
// (.block_scale) have factors for blocks of the rows of a and of the columns of b.  Source: PTX ISA
// 9.0, 9.7.14 (wmma, mma, mma.sp); the figures of 9.7.14.6.2 say which lanes have the metadata of
// which rows.
#pragma once

#include <cstdint>

#include "vgpu/program/program.hpp"
#include "vgpu/ptx/opcode.hpp"

namespace warpcheck::vgpu {

inline constexpr std::uint32_t kTileColumns = 8;  // every product has a multiple of these

struct MatrixShape {
  std::uint32_t m = 0, n = 0, k = 0;
  friend bool operator==(const MatrixShape&, const MatrixShape&) = default;
};

struct MatrixProduct {
  MatrixShape shape;
  ptx::Type d = ptx::Type::none, a = ptx::Type::none, b = ptx::Type::none, c = ptx::Type::none;
  bool saturates = false;                        // .satfinite, for integers
  bool in_order = false;                         // wmma
  bool of_group = false;                         // wgmma: the rows of one warp
  ptx::Rounding rounding = ptx::Rounding::none;  // for f64
  ptx::BoolOp bits = ptx::BoolOp::none;          // for b1: the operation in place of multiplication
  bool sparse = false;                           // a is sparse; k is its depth as a dense matrix
  bool in_bytes = false;                         // elements of 4 and 6 bits are stored in bytes
  std::uint32_t selector = 0;                    // selects the lanes that have the metadata
  std::uint32_t blocks = 0;           // number of scaled blocks in a row of a, each with a factor
  ptx::Type scale = ptx::Type::none;  // ue8m0x2; e4m3x2: without a sign
  // mma.m8n8k4 of f16: quad pair q multiplies the rows from 8 q on of one a of 32 x 4 by the
  // columns from 8 q on of one b of 4 x 32; of the product, only these four blocks exist.
  bool of_quads = false;
  bool a_is_col = false, b_is_row = false;  // of_quads: the order of the elements (.col, .row)

  [[nodiscard]] ptx::Type type_of(MatrixOperand operand) const {
    switch (operand) {
      case MatrixOperand::d: return d;
      case MatrixOperand::a: return a;
      case MatrixOperand::b: return b;
      default: return c;
    }
  }
};

// The rows of MatrixOperand::metadata: first those of a sparse matrix; then the factors of a, and
// the byte and the lane where they begin; then the same for b.
enum class ScaleRow : std::uint8_t { a, byte_a, lane_a, b, byte_b, lane_b };
inline constexpr std::uint32_t kScaleRows = 6;
constexpr std::uint32_t metadata_rows(const MatrixProduct& product) {
  return (product.sparse ? 1 : 0) + (product.blocks != 0 ? kScaleRows : 0);
}

// Encodes a product in Instr::modifiers and Instr::packed, and decodes it.
void describe_product(const MatrixProduct& product, Instr& instr);
MatrixProduct product_of(const Instr& instr);
inline bool is_matrix_product(const Instr& instr) {
  // The parts of wmma.load and wmma.store have the opcode, too.
  return instr.kind == InstrKind::warp_sync &&
         (instr.opcode == ptx::Opcode::mma_ || instr.opcode == ptx::Opcode::wmma_);
}

// group_load: the elements of wgmma's a or b that belong into a warp's registers, in the places of
// mma; for b, tile by tile of 8 columns.
struct GroupLoad {
  bool is_b = false;
  bool transposed = false;  // neighbours in memory are in one column of a, or in one row of b
  std::uint32_t tiles = 1;
  bool is_deep = false;  // of b, beside a sparse a: twice as many elements of k

  // The number of word rows, each with 16 bytes of k.
  [[nodiscard]] std::uint32_t chunks() const { return is_deep ? 4 : 2; }
  [[nodiscard]] std::uint32_t registers() const { return is_b ? chunks() * tiles : 4; }
  // Which 16 bytes of k a register has elements of.
  [[nodiscard]] std::uint32_t chunk_of(std::uint32_t number) const {
    return is_b ? number % chunks() : number / 2;
  }
};
constexpr std::int64_t pack(const GroupLoad& load) {
  return std::int64_t{load.tiles} << 3 | (load.is_deep ? 4 : 0) | (load.transposed ? 2 : 0) |
         (load.is_b ? 1 : 0);
}
constexpr GroupLoad group_load_of(const Instr& instr) {
  return {(instr.packed & 1) != 0, (instr.packed & 2) != 0,
          static_cast<std::uint32_t>(instr.packed >> 3), (instr.packed & 4) != 0};
}

// Floats of 8 bits and less; their types are those of pairs.
constexpr bool is_byte_float(ptx::Type type) {
  return type >= ptx::Type::e2m1x2 && type <= ptx::Type::e5m2x2;
}

// Returns the bits of an element in a matrix of that type. 32 adjacent single bits count as one
// element, also in the shape.
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

// Returns the number of distinct registers of a lane. wmma repeats those of f16 up to eight.
std::uint32_t registers_of(const MatrixProduct& product, MatrixOperand operand);

struct MatrixPlace {
  std::uint32_t row = 0, column = 0;
};
// Says which element is in part `part` (from the lowest) of a lane's register.
//
// The row and the column are sums of a number that the lane decides and one that register and part
// decide.
class ElementPlaces {
 public:
  ElementPlaces(const MatrixProduct& product, MatrixOperand operand);

  [[nodiscard]] std::uint32_t registers() const { return registers_; }
  [[nodiscard]] std::uint32_t parts() const { return parts_; }
  [[nodiscard]] MatrixPlace at(std::uint32_t lane, std::uint32_t reg, std::uint32_t part) const {
    if (in_order_) {
      // Rows of a and c, columns of b, in order; each lane has the same number of elements.
      const std::uint32_t index = (lane * registers_ + reg) * parts_ + part;
      const MatrixPlace place{index >> length_bits_, index & ((1u << length_bits_) - 1)};
      return operand_ == MatrixOperand::b ? MatrixPlace{place.column, place.row} : place;
    }
    if (of_quads_) return at_of_quads(lane, reg, part);
    const std::uint32_t group = lane / 4;
    const std::uint32_t in_group = lane % 4;
    if (operand_ == MatrixOperand::a) {
      return {group + (tall_ ? 8 * (reg & 1) : 0),
              in_group * parts_ + part + 4 * parts_ * (tall_ ? reg / 2 : reg)};
    }
    const std::uint32_t tile = 8 * (reg / in_tile_), number = reg % in_tile_;
    if (operand_ == MatrixOperand::b) {
      return {in_group * parts_ + part + 4 * parts_ * number, tile + group};
    }
    if (parts_ == 2) return {group + 8 * number, tile + 2 * in_group + part};
    return {group + 8 * (number / 2), tile + 2 * in_group + (number & 1)};
  }

 private:
  [[nodiscard]] MatrixPlace at_of_quads(std::uint32_t lane, std::uint32_t reg,
                                        std::uint32_t part) const;

  MatrixOperand operand_;
  bool in_order_, tall_, of_quads_, is_turned_;
  std::uint32_t registers_, parts_;
  std::uint32_t in_tile_;      // registers of b, c or d for eight columns
  std::uint32_t length_bits_;  // the length of a row, of b of a column, is this power of two
};

// For a sparse a: the elements that are stored from a chunk of neighbours in a row, and the four
// bits of metadata that identify them.
struct MatrixChunk {
  std::uint32_t columns = 0, elements = 0;
};
MatrixChunk chunk_of(const MatrixProduct& product);
struct MetadataPlace {
  std::uint32_t lane = 0, shift = 0;
};
MetadataPlace metadata_at(const MatrixProduct& product, std::uint32_t row, std::uint32_t chunk);
// Returns how many values the selector of such a product may have.
std::uint32_t selectors_of(const MatrixProduct& product);

}  // namespace warpcheck::vgpu
