// Names for the operands of decoded instructions.
//
// An instruction has six places for rows, whose meaning depends on its family.  Each enum below
// names the places of one family; `instr[WarpOperand::members]` is the row.  No code uses numbers
// as indices.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>

namespace warpcheck::vgpu {

inline constexpr std::size_t kOperandPlaces = 6;

// Results d, e and sources a, b, c, f, as in forms.def: compute, and cvta, isspacep, video.
//   mov of a vector: `mov.b64 d, {a, b, c, f}` packs, lowest part first;
//   `mov.b64 {d, e, c, f}, a` unpacks, and leaves b absent.
enum class ComputeOperand : std::uint8_t { d, a, b, c, e, f };
// add.cc, addc, sub.cc, subc, mad.cc, madc.
enum class CarryOperand : std::uint8_t { d, a, b, c, carry_out, carry_in };
// setp: p and q; set, testp: d.  c is the predicate to combine with.
enum class CompareOperand : std::uint8_t { p, d = 0, a, b, c, q };
// lop3 with a BoolOp: p is (d != 0) BoolOp q.
enum class Lop3Operand : std::uint8_t { d, a, b, c, p, q };
// shfl, vote, match, redux, elect, activemask, bar.warp.sync (members alone).  lane and clamp are
// those of shfl; predicate: in range (shfl), all are equal (match.all), is the leader (elect).
enum class WarpOperand : std::uint8_t { result, value, lane, clamp, predicate, members };
// mma, wmma: the first of consecutive rows; the member mask is WarpOperand::members. metadata is
// absent if a is dense and nothing is scaled.
enum class MatrixOperand : std::uint8_t { d, a, b, c, metadata };
// special, param, local_address.
enum class ScalarOperand : std::uint8_t { result };
// load, store; fence: the address of a tensor map.  `value + i` is element i.  A .b128 value is in
// two consecutive wide rows, which count as two elements.
enum class MemoryOperand : std::uint8_t { address, value };
inline constexpr std::size_t kElementsMax = 4;
// atomic: old is absent for red; value is the comparand of cas.  For a vector, and for .b128, they
// are the first of consecutive rows.
enum class AtomicOperand : std::uint8_t { address, old, value, swap };
// async_store: the other operands are those of a store, or of a red.
enum class AsyncStoreOperand : std::uint8_t { address, object = 5 };
// barrier: number is absent for a cluster barrier; threads is absent for the whole block.
enum class BarrierOperand : std::uint8_t { result, number, threads, predicate };
// barrier_object: value is a count, a number of bytes, a state or a parity.
enum class ObjectOperand : std::uint8_t { address, result, value };
// copy: bytes: the number of source bytes (absent: all); rows: the first of five intermediate word
// rows. discard has only target.
enum class CopyOperand : std::uint8_t { target, source, bytes, rows, ignores = 5 };
// copy_group: the number of groups that may be left (wait_group).
enum class CopyGroupOperand : std::uint8_t { groups_left = 1 };
// bulk_copy: rows: the first of four intermediate rows for an element and addresses; object: the
// address of the mbarrier (absent: a bulk group is used); blocks: the blocks of the cluster
// (multicast), or the bytes of each 16 that are copied (cp_mask).  multimem: target: an address in
// a multicast object; rows: the first of the consecutive rows of its registers.
enum class BulkOperand : std::uint8_t { target, source, bytes, rows, object, blocks };
// tensor_copy: coordinates: the first of consecutive rows, those of the offsets of im2col behind
// them; rows: the first of four intermediate
// rows for elements; shared, object and blocks have the places of those of bulk_copy.
enum class TensorOperand : std::uint8_t { shared, map, coordinates, rows, object, blocks };
// group_load: rows: the first of the consecutive rows that it loads; part: an intermediate word.
// group_pending: rows: the results; groups_left: of wait_group.
enum class GroupOperand : std::uint8_t { rows, descriptor, part, groups_left };
// Calls of functions that the device provides; `argument + i`.
enum class BuiltinOperand : std::uint8_t { result, argument };
// heap_allocate: bytes; heap_free: an address, without a result.
enum class HeapOperand : std::uint8_t { result, argument };
enum class PrintOperand : std::uint8_t { result, format, arguments };
enum class AssertionOperand : std::uint8_t { condition = 1, file, line, function };
// stack: bytes (alloca) or a pointer (stackrestore).
enum class StackOperand : std::uint8_t { result, argument };
// jump_table, call_register.
enum class TargetOperand : std::uint8_t { index = 1, address = 1 };

// The sources in the order of the text: the parts that mov packs, or the parts to which it unpacks.
constexpr ComputeOperand kComputeSources[] = {ComputeOperand::a, ComputeOperand::b,
                                              ComputeOperand::c, ComputeOperand::f};
constexpr ComputeOperand kUnpackedParts[] = {ComputeOperand::d, ComputeOperand::e,
                                             ComputeOperand::c, ComputeOperand::f};

template <class Name, class... Names>
concept OneOf = (std::same_as<Name, Names> || ...);
template <class Name>
concept OperandName =
    OneOf<Name, ComputeOperand, CarryOperand, CompareOperand, Lop3Operand, WarpOperand,
          MatrixOperand, ScalarOperand, MemoryOperand, AtomicOperand, AsyncStoreOperand,
          BarrierOperand, ObjectOperand, CopyOperand, CopyGroupOperand, BulkOperand, TensorOperand,
          GroupOperand, BuiltinOperand, HeapOperand, PrintOperand, AssertionOperand, StackOperand,
          TargetOperand>;

// Always inlined, because files that are compiled for several instruction sets (lanes.hpp) must not
// share a copy.
template <OperandName Name>
[[gnu::always_inline]] constexpr std::size_t place_of(Name name) {
  return static_cast<std::size_t>(name);
}

// Returns the operand `count` places after `name`: an element of a vector, an argument.
template <OperandName Name>
[[gnu::always_inline]] constexpr Name operator+(Name name, std::size_t count) {
  return static_cast<Name>(place_of(name) + count);
}

// A value for each operand of an instruction.
template <class T>
class ByOperand {
 public:
  template <OperandName Name>
  [[gnu::always_inline]] constexpr T& operator[](Name name) {
    return at_[place_of(name)];
  }
  template <OperandName Name>
  [[gnu::always_inline]] constexpr const T& operator[](Name name) const {
    return at_[place_of(name)];
  }
  constexpr T* begin() { return at_; }
  constexpr T* end() { return at_ + kOperandPlaces; }
  constexpr const T* begin() const { return at_; }
  constexpr const T* end() const { return at_ + kOperandPlaces; }
  friend bool operator==(const ByOperand&, const ByOperand&) = default;

 private:
  T at_[kOperandPlaces]{};
};

class OperandSet {
 public:
  constexpr OperandSet() = default;
  template <OperandName... Names>
  constexpr explicit(false) OperandSet(Names... names)
      : bits_(static_cast<std::uint8_t>(((1u << place_of(names)) | ...))) {}
  template <OperandName Name>
  [[nodiscard]] constexpr bool has(Name name) const {
    return (bits_ >> place_of(name) & 1u) != 0;
  }
  [[nodiscard]] constexpr bool empty() const { return bits_ == 0; }
  // Calls visit(row) for the set's operands in `all`, in the order of their places.
  template <class All, class Visit>
  constexpr void for_each_in(All& all, Visit visit) const {
    unsigned place = 0;
    for (auto& one : all) {
      if ((bits_ >> place++ & 1u) != 0) visit(one);
    }
  }

 private:
  std::uint8_t bits_ = 0;
};

}  // namespace warpcheck::vgpu
