// What shadow values are: the interface of a domain.
//
// A shadow value says more about a number than its bits do: its value in exact arithmetic, in a
// finite field, or with more digits.  ShadowPlane<Domain> (shadow_plane.hpp) carries shadow values
// with the numbers through registers, memory, operations of the warp and copies.  A domain is one
// file: a type of values, and a rule for each instruction that calculates.
//
//   struct MyDomain {
//     // Trivially copyable, with ==.  Equal values are the same value.
//     using Value = ...;
//     // What happens where an operand is lost: false: the result is lost, too; true: the operand
//     // counts as plain, so that its bits are its value.
//     static constexpr bool kTrustsBits = ...;
//     // Whether apply() is called where all operands are plain, so that calculations with
//     // constants are followed, too.  Otherwise the result of such an operation is plain.
//     static bool lifts(const ShadowOperation&);
//     // Optional: whether a value depends on data.  Without a rule, a result of values that do not
//     // is plain, and not lost.  Default: each does.
//     static bool is_data(const Value&);
//     // The value of plain bits; nothing: they have none (NaN), and what is computed is lost.
//     std::optional<Value> constant(std::uint64_t bits, ptx::Type);
//     // Optional: the type of the bits that the value is in; none: not known.  A value whose bits
//     are
//     // read as another type of float, or in another width, is lost.
//     static ptx::Type type_of(const Value&);
//     // Optional: the value of a literal that means the very number that it is.
//     static std::optional<Value> literal(std::uint64_t bits, ptx::Type);
//     // Optional: the value of eight bytes whose lower word is that of a value, and whose upper
//     // word is another; nothing: it is lost.
//     static std::optional<Value> rescaled(const Value&, std::uint64_t bits);
//     // Optional: the value of a float whose upper half is this value, and whose other half is 0;
//     // nothing: it is no bf16.
//     static std::optional<Value> widened(const Value&);
//     // The result; nothing: there is no rule for this operation, and the result is lost.
//     std::optional<Value> apply(const ShadowStep&, const ShadowOperation&,
//                                std::span<const ShadowOperand<Value>> operands,
//                                const std::uint64_t* result);  // its bits; null: not known
//     // Two numbers are compared; `outcome` is what the kernel finds.  True: every other data
//     // would show the same outcome, so that it is no decision of data.
//     bool compare(const ShadowStep&, const ShadowOperation&,
//                  std::span<const ShadowOperand<Value>> operands, bool outcome);
//     // A selection between two values by a comparison that compare() left to data; nothing: the
//     // result is lost, or, where bits are trusted, it is the kernel's.
//     std::optional<Value> select(const ShadowStep&, const ShadowComparison<Value>&, const Value&
//                                 if_true, const Value& if_false);
//     // Optional: the comparison at `at`, which compare() left to data, decides what the kernel
//     // does.  From now on its outcome is the kernel's.
//     void outcome_used(const ShadowStep& at);
//     // Data decides what the kernel does; site: where the value was lost, of
//     ShadowPlane::sites(). void decided(const ShadowStep&, ShadowDecision, std::uint32_t site);
//     // Values that come from the host, and that it reads (ShadowHost): see shadow_host.hpp.
//   };
//
// An operation of a packed type is one operation for each element, of the element's type.
#pragma once

#include <cstdint>

#include "vgpu/machine/access.hpp"
#include "vgpu/ptx/vocabulary.hpp"

namespace warpcheck::vgpu {

// The lane that executes an operation.
struct ShadowStep {
  const Program* program = nullptr;  // null: the host
  std::uint32_t pc = 0;
  WarpPlace place;
  unsigned lane = 0;
};

// An atomic operation is an add, min or max, and a product of matrices consists of fma.  Its
// modifiers are those of its instruction.
struct ShadowOperation {
  ptx::Opcode opcode{};
  const ptx::Modifiers* modifiers = nullptr;
  ptx::Type type = ptx::Type::none;    // of the operands
  ptx::Type result = ptx::Type::none;  // of the result, and of the addend of mad.wide
};

template <class Value>
struct ShadowOperand {
  bool is_plain = true;
  Value value{};           // of plain bits, what constant() says
  std::uint64_t bits = 0;  // the kernel's
};

// Returns whether a value's bits may be read as a number of a type: halves are no bfloats.  What
// becomes of floats that are read as integers is the domain's.
template <class Domain>
bool is_of_type(const typename Domain::Value& value, ptx::Type type) {
  if constexpr (requires { Domain::type_of(value); }) {
    const auto of_bits = [](ptx::Type one) {
      return one == ptx::Type::tf32 ? ptx::Type::f32 : one;
    };
    const ptx::Type own = of_bits(Domain::type_of(value)), read = of_bits(type);
    if (own == read || own == ptx::Type::none || read == ptx::Type::none) return true;
    const bool are_floats = ptx::is_float(own) && ptx::is_float(read);
    return !are_floats && ptx::bytes_of(own) == ptx::bytes_of(read);
  }
  return true;
}

// A comparison whose outcome depends on data.
template <class Value>
struct ShadowComparison {
  ptx::Compare compare = ptx::Compare::none;
  ptx::Type type = ptx::Type::none;
  Value a{}, b{};
  bool is_known = false;  // false: the predicate is lost
};

// Returns the comparison that holds where another does not, of numbers without NaNs.
inline ptx::Compare inverse_of(ptx::Compare compare) {
  using ptx::Compare;
  switch (compare) {
    case Compare::none: return Compare::none;
    case Compare::eq: return Compare::ne;
    case Compare::ne: return Compare::eq;
    case Compare::lt: return Compare::ge;
    case Compare::ge: return Compare::lt;
    case Compare::le: return Compare::gt;
    case Compare::gt: return Compare::le;
    case Compare::lo: return Compare::hs;
    case Compare::hs: return Compare::lo;
    case Compare::ls: return Compare::hi;
    case Compare::hi: return Compare::ls;
    case Compare::equ: return Compare::neu;
    case Compare::neu: return Compare::equ;
    case Compare::ltu: return Compare::geu;
    case Compare::geu: return Compare::ltu;
    case Compare::leu: return Compare::gtu;
    case Compare::gtu: return Compare::leu;
    case Compare::num: return Compare::nan;
    case Compare::nan: return Compare::num;
  }
  return Compare::none;
}

// What data decides.
enum class ShadowDecision : std::uint8_t {
  branch,  // or the guard of an instruction
  address,
  operand,  // the lane, mask or number that an operation names
};

}  // namespace warpcheck::vgpu
