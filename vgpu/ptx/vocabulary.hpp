// The vocabulary of PTX instructions: types, state spaces and modifiers.
//
// Source: PTX ISA 9.0, chapter 9.
#pragma once

#include <cstdint>
#include <string_view>

namespace warpcheck::ptx {

inline constexpr std::uint32_t kNone = 0xffffffffu;

// clang-format off
enum class Type : std::uint8_t {
  none, pred,
  b8, b16, b32, b64, b128,
  u8, u16, u32, u64,
  s8, s16, s32, s64,
  u16x2, s16x2,
  b1, u2, s2, u4, s4,             // elements of matrices and of cvt.pack: no operand has them
  ue8m0x2, e2m1x2, e2m3x2, e3m2x2, e4m3x2, e5m2x2, tf32,  // in .b8, .b16 and .b32 registers
  f16, f16x2, bf16, bf16x2, f32, f32x2, f64,
};

enum class Space : std::uint8_t { generic, global, shared, local, constant, param };

enum class Rounding : std::uint8_t { none, rn, rz, rm, rp, rna, rs, rni, rzi, rmi, rpi };

enum class Compare : std::uint8_t {
  none, eq, ne, lt, le, gt, ge, lo, ls, hi, hs, equ, neu, ltu, leu, gtu, geu, num, nan
};

enum class BoolOp : std::uint8_t { none, and_, or_, xor_ };

enum class AtomOp : std::uint8_t {
  none, add, min, max, and_, or_, xor_, exch, cas, inc, dec
};

// Memory order of ld, st, atom, red, fence (PTX ISA 8.4).  weak is the default of ld and st,
// relaxed of atom and red.
enum class Order : std::uint8_t { weak, relaxed, acquire, release, acq_rel, sc, volatile_, mmio };

enum class Scope : std::uint8_t { none, cta, cluster, gpu, sys };

enum class MulPart : std::uint8_t { none, lo, hi, wide };

enum class ShuffleMode : std::uint8_t { none, up, down, bfly, idx };
enum class VoteMode : std::uint8_t { none, all, any, uni, ballot };  // vote, match

enum class PermuteMode : std::uint8_t { none, f4e, b4e, rc8, ecl, ecr, rc16 };  // prmt
enum class TestProperty : std::uint8_t {  // testp
  none, finite, infinite, number, notanumber, normal, subnormal
};
enum class ObjectOp : std::uint8_t {  // mbarrier
  none, init, inval, arrive, arrive_drop, expect_tx, complete_tx, test_wait, try_wait, pending_count
};
enum class CopyOp : std::uint8_t {  // cp.async; none: the copy itself
  none, commit_group, wait_group, wait_all, arrive, fence  // fence: of wgmma alone
};
enum class Completion : std::uint8_t {  // of what is asynchronous: how one learns of it
  none, bulk_group, object
};
// clang-format on

// Every suffix of a mnemonic, as fields.  Cache hints (.ca .cg .cs .lu .cv .wb .wt, .L1::*,
// .L2::*) and .noftz (the only form its instructions have) change nothing that can be observed here
// and are dropped by the parser; every other suffix either sets a field or makes the instruction
// `unsupported`.  Defaults that the ISA defines are filled in: atom and red without them get
// .relaxed and .gpu, fence gets .acq_rel, membar (= fence.sc) gets .sc.
struct Modifiers {
  Type type = Type::none;         // the (first) type: of the destination for cvt, set, cvt.pack
  Type source_type = Type::none;  // the second type where the mnemonic has two
  Space space = Space::generic;
  Rounding rounding = Rounding::none;
  Compare compare = Compare::none;
  BoolOp bool_op = BoolOp::none;
  AtomOp atom_op = AtomOp::none;
  Order order = Order::weak;
  Scope scope = Scope::none;
  MulPart part = MulPart::none;
  ShuffleMode shuffle = ShuffleMode::none;
  VoteMode vote = VoteMode::none;
  PermuteMode permute = PermuteMode::none;
  TestProperty test = TestProperty::none;
  ObjectOp object_op = ObjectOp::none;
  CopyOp copy_op = CopyOp::none;
  Space source_space = Space::generic;  // the second space of cp
  std::uint8_t vector = 1;              // .v2, .v4, .v8
  bool ftz = false, sat = false, approx = false, full = false;
  bool carry_out = false;  // .cc
  bool uniform = false;    // .uni
  bool aligned = false, sync = false, arrive = false, red = false;
  bool to = false;                                                    // cvta.to
  bool wrap = false, clamp = false, left = false, right = false;      // shf, bmsk, szext
  bool shift_amount = false;                                          // bfind.shiftamt
  bool nan = false, absolute = false, xorsign = false, relu = false;  // min, max, redux, cvt
  bool warp = false;                                                  // bar.warp.sync
  bool popc = false;                                                  // bar.red.popc
  bool pack = false;                                                  // cvt.pack
  bool expect_tx = false, no_complete = false;                        // mbarrier.arrive
  bool parity = false;                                                // mbarrier.test_wait
  bool no_increment = false;                                          // cp.async.mbarrier.arrive
  bool satfinite = false;                                             // cvt
  bool out_of_bounds = false;                                         // fma.oob
  Type third_type = Type::none;                                       // of b: vadd, vadd4 ...
  bool cluster = false;    // .shared::cluster: shared memory of any block of the cluster
  bool async = false;      // st.async, red.async, fence.proxy.async
  bool bulk = false;       // cp.async.bulk
  bool reduce = false;     // cp.reduce.async.bulk
  bool multicast = false;  // cp.async.bulk: to several blocks of the cluster
  Completion completion = Completion::none;
  bool read = false;          // cp.async.bulk.wait_group.read
  bool wait = false;          // barrier.cluster.wait
  bool proxy = false;         // fence.proxy
  bool alias = false;         // fence.proxy.alias
  bool object_inits = false;  // fence.mbarrier_init
  bool tensor = false;        // cp.async.bulk.tensor
  std::uint8_t dimensions = 0;
  bool im2col = false;         // cp.async.bulk.tensor.im2col, im2col_no_offs
  bool prefetch = false;       // cp.async.bulk.prefetch
  bool tensor_map = false;     // fence.proxy.tensormap::generic
  bool noncoherent = false;    // ld.global.nc; ldu
  bool four_rows = false;      // cp.async.bulk.tensor.tile::gather4, tile::scatter4
  bool cp_mask = false;        // cp.async.bulk: some bytes of each 16
  std::uint8_t cta_group = 0;  // cp.async.bulk.tensor: 1 or 2 blocks
};

// Returns the number of coordinates of a copy of a tensor; of four rows: a column and the rows.
constexpr std::uint32_t coordinates_of(const Modifiers& m) {
  return m.four_rows ? 5u : m.dimensions;
}

// clang-format off
enum class SpecialRegister : std::uint8_t {
  none,
  tid_x, tid_y, tid_z, ntid_x, ntid_y, ntid_z,
  ctaid_x, ctaid_y, ctaid_z, nctaid_x, nctaid_y, nctaid_z,
  laneid, warpid, nwarpid, smid, nsmid, gridid, current_graph_exec,
  lanemask_eq, lanemask_le, lanemask_lt, lanemask_ge, lanemask_gt,
  clock, clock_hi, clock64, globaltimer, globaltimer_lo, globaltimer_hi,
  dynamic_smem_size, total_smem_size, aggr_smem_size,
  clusterid_x, clusterid_y, clusterid_z, nclusterid_x, nclusterid_y, nclusterid_z,
  cluster_ctaid_x, cluster_ctaid_y, cluster_ctaid_z,
  cluster_nctaid_x, cluster_nctaid_y, cluster_nctaid_z,
  cluster_ctarank, cluster_nctarank, is_explicit_cluster,
  reserved_smem_offset_1,  // where cooperative groups keep their state in shared memory
  envreg1, envreg2,  // high and low half of the address of the workspace of a grid
  warp_size,  // not made by the parser: WARP_SZ comes as the immediate 32
};
// clang-format on

// Which list a variable operand points into.
struct VariableRef {
  enum class Scope : std::uint8_t { none, module, result, parameter, local };
  Scope scope = Scope::none;
  std::uint32_t index = 0;
};

// The enumerators are in opcode.hpp.  Code that only carries an opcode needs no more than this, and
// is not compiled again when the table gets a row.
enum class Opcode : std::uint8_t;

std::string_view name_of(Opcode opcode);                       // "invalid" if it is none
std::string_view name_of(Type type);                           // "u32"
std::string_view name_of(Space space);                         // "shared"; "generic"
std::string_view name_of(SpecialRegister reg);                 // "%tid.x"
SpecialRegister find_special_register(std::string_view name);  // none if there is no such one

// Size of a value of this type in bytes; pred and none give 0.
// clang-format off
constexpr std::uint32_t bytes_of(Type type) {
  switch (type) {
    case Type::b8: case Type::u8: case Type::s8: case Type::e2m1x2: return 1;
    case Type::b16: case Type::u16: case Type::s16: case Type::f16: case Type::bf16:
    case Type::e2m3x2: case Type::e3m2x2: case Type::e4m3x2: case Type::e5m2x2:
    case Type::ue8m0x2: return 2;
    case Type::b32: case Type::u32: case Type::s32: case Type::f32: case Type::tf32:
    case Type::u16x2: case Type::s16x2: case Type::f16x2: case Type::bf16x2: return 4;
    case Type::b64: case Type::u64: case Type::s64: case Type::f64: case Type::f32x2: return 8;
    case Type::b128: return 16;
    default: return 0;
  }
}
// clang-format on
constexpr bool is_signed(Type type) {
  return type == Type::s8 || type == Type::s16 || type == Type::s32 || type == Type::s64;
}
// Returns whether a register holds several values of this type, or one in a part of it.
constexpr bool is_packed(Type type) { return type >= Type::u16x2 && type <= Type::tf32; }
constexpr bool is_float(Type type) { return type >= Type::f16; }
// Returns the type of a product of integers of 16 or 32 bits with .wide.
constexpr Type twice_as_wide(Type type) {
  switch (type) {
    case Type::u16: return Type::u32;
    case Type::s16: return Type::s32;
    case Type::u32: return Type::u64;
    case Type::s32: return Type::s64;
    default: return type;
  }
}
// Returns whether a register holds one integer of this type.
constexpr bool is_integer(Type type) {
  return type != Type::pred && !is_float(type) && !is_packed(type) && bytes_of(type) != 0 &&
         bytes_of(type) <= 8;
}
// For a register with two elements: returns the bytes of one; 0 if it does not hold two.
constexpr std::uint32_t half_bytes_of(Type type) {
  switch (type) {
    case Type::u16x2:
    case Type::s16x2:
    case Type::f16x2:
    case Type::bf16x2: return 2;
    case Type::f32x2: return 4;
    default: return 0;
  }
}

}  // namespace warpcheck::ptx
