// The tcgen05 instructions: operations on tensor memory, as the decoder describes them to the
// machine.
//
// Their operands do not fit in an Instr, so an instruction of kind `tensor_memory` names one of
// these records.  Source: PTX ISA 9.0, 9.7.16.
#pragma once

#include <cstdint>
#include <vector>

#include "vgpu/program/program.hpp"

namespace warpcheck::vgpu {

inline constexpr std::uint32_t kTensorLanes = 128, kTensorColumns = 512;  // of a block; words

enum class TensorOp : std::uint8_t {
  allocate,
  deallocate,
  relinquish,  // the permit to allocate
  load,
  store,
  wait_loads,
  wait_stores,
  copy,  // from shared memory
  shift,
  commit,
  fence_before,  // before_thread_sync
  fence_after,   // after_thread_sync
  product,
};

// The shapes of loads and stores (9.7.16.2.3): lanes x bits of a lane.
enum class TensorShape : std::uint8_t { m32x32, m16x64, m16x128, m16x256, m16x32x2 };

// The registers of each thread for a shape's smallest form, .x1.
constexpr std::uint32_t registers_of(TensorShape shape) {
  switch (shape) {
    case TensorShape::m16x128: return 2;
    case TensorShape::m16x256: return 4;
    default: return 1;
  }
}

// The kinds of products, in the order of the table of shapes (9.7.16.2.1).
enum class ProductKind : std::uint8_t { f16, tf32, f8f6f4, i8, mxf8f6f4, mxf4, mxf4nvf4 };

constexpr bool is_scaled(ProductKind kind) { return kind >= ProductKind::mxf8f6f4; }

// tcgen05.cp: how many lanes it fills, how many bytes of each, and which lanes receive the source.
struct TensorCopy {
  enum class Spread : std::uint8_t {
    none,
    pairs_02_13,  // .warpx2::02_13: warps 0 and 2 have the first half, warps 1 and 3 the second
    pairs_01_23,  // .warpx2::01_23: warps 0 and 1 have the first half, warps 2 and 3 the second
    all,          // .warpx4: each warp has all
  };
  enum class Source : std::uint8_t { plain, b6x16, b4x16 };  // unpacked to bytes
  std::uint32_t lanes = 0, bytes = 0;
  Spread spread = Spread::none;
  Source source = Source::plain;
};

// tcgen05.ld.red: what each thread calculates of all words that it loads (9.7.16.8.3).
struct TensorReduction {
  ptx::Type type = ptx::Type::none;  // none: nothing; f32, s32, u32
  bool is_max = false;
  bool absolute = false;        // .abs: of their magnitudes
  bool propagates_nan = false;  // .NaN; otherwise a NaN is no operand unless there is no other
};

struct TensorMemoryInstr {
  TensorOp op{};
  std::uint32_t ctas = 1;  // .cta_group
  // A word row with an address in tensor memory; allocate, commit: a wide row with an address in
  // shared memory.
  Ref address{};
  std::int32_t offset = 0;  // added to an address in tensor memory
  // allocate, commit: the space of the address.
  ptx::Space space = ptx::Space::generic;
  // commit: where the shared addresses of a program begin for the machine (shared_windows.hpp).
  std::uint64_t shared_begin = 0;
  Ref columns{};  // allocate, deallocate

  // load, store
  TensorShape shape = TensorShape::m32x32;
  bool packs = false;           // .pack::16b, .unpack::16b
  Ref half_offset{};            // .16x32bx2: columns from the first to the second half
  std::vector<Ref> values{};    // the registers in the order of the text; load: none is a sink
  TensorReduction reduction{};  // load
  Ref reduced{};                // its result

  TensorCopy copy{};
  Ref blocks{};  // commit: those of the cluster (multicast); none: the own one

  // copy: descriptor.  product: a is a descriptor, or, if a_is_here, an address in tensor memory.
  Ref a{}, b{};
  std::int32_t a_offset = 0;
  bool a_is_here = false;
  ProductKind kind = ProductKind::f16;
  Ref description{};              // the instruction descriptor
  std::vector<Ref> disabled{};    // masks of lanes that keep their values; empty: none
  Ref adds{};                     // the predicate enable-input-d
  std::uint32_t scale_shift = 0;  // scale-input-d: d is multiplied with 2^-scale_shift
  bool is_sparse = false, is_by_columns = false;  // .sp; .ws
  bool shifts_a = false;                          // .ashift
  Ref metadata{};                                 // of a sparse a: an address in tensor memory
  std::int32_t metadata_offset = 0;
  Ref scale_a{}, scale_b{};  // addresses in tensor memory
  std::int32_t scale_a_offset = 0, scale_b_offset = 0;
  std::uint32_t scale_blocks = 0;  // factors for a row of a; 0: as the kind says
  Ref zero_columns{};              // a mask of b's columns that are zero (9.7.16.4.3); none

  // Intermediate rows: four words, and one wide.
  Ref words{}, wide{};
};

struct TensorMemoryInstrs {
  std::vector<TensorMemoryInstr> all;
};

// Returns the rows that the instruction writes.
inline std::vector<Ref> destinations_of(const TensorMemoryInstr& tensor) {
  if (tensor.op != TensorOp::load) return {};
  std::vector<Ref> rows = tensor.values;
  if (tensor.reduction.type != ptx::Type::none) rows.push_back(tensor.reduced);
  return rows;
}

inline const TensorMemoryInstr& tensor_instr_of(const Program& program, const Instr& instr) {
  return program.tensor_memory->all[instr.tensor_instr];
}

// Returns whether all lanes of a warp execute the operation together (.sync.aligned).
constexpr bool is_of_warp(TensorOp op) {
  switch (op) {
    case TensorOp::allocate:
    case TensorOp::deallocate:
    case TensorOp::relinquish:
    case TensorOp::load:
    case TensorOp::store:
    case TensorOp::wait_loads:
    case TensorOp::wait_stores: return true;
    default: return false;
  }
}

}  // namespace warpcheck::vgpu
