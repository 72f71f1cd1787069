#include "vgpu/check/numerics/value_plan.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <set>
#include <span>

#include "vgpu/check/numerics/float_memory.hpp"
#include "vgpu/check/numerics/toolkit_code.hpp"
#include "vgpu/check/numerics/value_rules.hpp"
#include "vgpu/check/shadow/row_uses.hpp"
#include "vgpu/program/matrix.hpp"
#include "vgpu/program/operand_roles.hpp"
#include "vgpu/ptx/opcode.hpp"

namespace warpcheck::vgpu {
namespace {

using ptx::Opcode;
using ptx::Type;

bool is_in_place(const Program& program, const Instr& instr) {
  if (instr.kind == InstrKind::atomic) return true;  // it reads what it overwrites
  const std::vector<Ref> results = destinations_of(program, instr);
  bool is_same = false;
  roles_of(instr).reads.for_each_in(instr.operands, [&](const Ref& source) {
    is_same |= source.bank != Bank::none && std::ranges::find(results, source) != results.end();
  });
  return is_same;
}

// Follows integers backwards, from the addresses and bounds that they become.
class IndexSlice {
 public:
  IndexSlice(const Program& program, std::vector<ValuePlan>& plans)
      : program_(program), plans_(plans), uses_(program) {}

  void mark() {
    for (std::uint32_t pc = 0; pc < program_.code.size(); ++pc) {
      const Instr& instr = program_.code[pc];
      switch (plans_[pc].rule) {
        case ValueRule::loads:
        case ValueRule::stores: add(pc, instr[MemoryOperand::address]); break;
        case ValueRule::updates: add(pc, instr[AtomicOperand::address]); break;
        case ValueRule::compares_integers:
          add(pc, instr[CompareOperand::a]);
          add(pc, instr[CompareOperand::b]);
          break;
        default: break;
      }
    }
    while (!open_.empty()) {
      const RowUses::Row row = open_.back();
      open_.pop_back();
      for (const std::uint32_t pc : uses_.makers(row)) follow(pc);
    }
  }

  // Returns whether an instruction mixes bits, and computes no index: it changes those of a float,
  // as conversions to bf16 and functions of the toolkit do; a product with, or a sum of,
  // an odd constant of 2^16 or more is that of a hash or of a random number, and a shift by 21 or
  // more makes the exponent of a float.  So does a shift of a word whose other bits are taken by
  // the opposite shift: a rotation, or a word that is taken apart.
  bool mixes(std::uint32_t pc) {
    constexpr std::uint32_t kConstantMin = 1u << 16, kShiftMin = 21;
    const Instr& instr = program_.code[pc];
    if (instr.opcode == Opcode::shl_) {
      return constant_of(pc, instr[ComputeOperand::b]) >= kShiftMin ||
             holds_float_bits(pc, instr[ComputeOperand::a]) || takes_apart(pc);
    }
    for (const ComputeOperand operand : {ComputeOperand::a, ComputeOperand::b, ComputeOperand::c}) {
      if (holds_float_bits(pc, instr[operand])) return true;
      const std::uint32_t constant = constant_of(pc, instr[operand]);
      const std::uint32_t magnitude = constant >> 31 != 0 ? 0 - constant : constant;
      if (constant % 2 == 1 && magnitude >= kConstantMin) return true;
    }
    return false;
  }

  // Returns whether the bits that a shift drops are those that another one of the same word keeps.
  bool takes_apart(std::uint32_t pc) {
    constexpr std::uint32_t kBitsOfWord = 32;
    const Instr& instr = program_.code[pc];
    const Ref& word = instr[ComputeOperand::a];
    const std::uint32_t by = constant_of(pc, instr[ComputeOperand::b]);
    if (by == 0 || word.bank != Bank::word) return false;
    return std::ranges::any_of(uses_.users(uses_.read(pc, word)), [&](std::uint32_t user) {
      const Instr& other = program_.code[user];
      return other.opcode == Opcode::shr_ && other[ComputeOperand::a] == word &&
             constant_of(user, other[ComputeOperand::b]) == kBitsOfWord - by;
    });
  }

  // Finds remainders of divisions by constants, which compilers calculate as x - x / d * d: neither
  // the product nor the difference says what has become of x.
  void find_remainders() {
    for (std::uint32_t pc = 0; pc < program_.code.size(); ++pc) {
      const Instr& instr = program_.code[pc];
      if (instr.opcode != Opcode::sub_ || plans_[pc].rule != ValueRule::adds_integers) continue;
      const std::span<const std::uint32_t> makers = makers_of(pc, instr[ComputeOperand::b]);
      if (makers.size() != 1 || !is_multiple_in(makers[0], instr[ComputeOperand::a])) continue;
      plans_[pc].rule = ValueRule::replaces;
      const Ref& multiple = program_.code[makers[0]][ComputeOperand::d];
      if (uses_.users(uses_.written(makers[0], multiple)).size() == 1)
        plans_[makers[0]].rule = ValueRule::replaces;
    }
  }

  // Returns whether an operand of a comparison is asked for a NaN, too: a comparison of a NaN then
  // decides nothing, because compilers select without branches.
  bool is_asked_for_nan(std::uint32_t pc, const Ref& ref) {
    if (ref.bank != Bank::word && ref.bank != Bank::wide) return false;
    return std::ranges::any_of(uses_.users(uses_.read(pc, ref)), [&](std::uint32_t user) {
      const Instr& instr = program_.code[user];
      if (instr.opcode == Opcode::abs_ && instr.kind == InstrKind::compute) {
        const Ref& size = instr[ComputeOperand::d];
        return std::ranges::any_of(uses_.users(uses_.written(user, size)),
                                   [&](std::uint32_t test) { return asks_for_nan(test); });
      }
      const ptx::Compare how = instr.modifiers.compare;
      return instr.opcode == Opcode::setp_ &&
             (how == ptx::Compare::nan || how == ptx::Compare::num) &&
             instr[CompareOperand::a] == instr[CompareOperand::b];
    });
  }

  // Returns whether an instruction gives 0 of an infinite square root.
  bool inverts_root(std::uint32_t pc) {
    const Instr& instr = program_.code[pc];
    if (instr.opcode == Opcode::rsqrt_) return true;
    if (instr.opcode != Opcode::div_ && instr.opcode != Opcode::rcp_) return false;
    const bool divides = instr.opcode == Opcode::div_;
    return is_root(pc, instr[divides ? ComputeOperand::b : ComputeOperand::a]);
  }

  // Returns the function of the toolkit that an instruction is a step of.
  FunctionStep step_of(std::uint32_t pc) {
    const Instr& instr = program_.code[pc];
    if (instr.kind != InstrKind::compute || instr.modifiers.type != Type::f32)
      return FunctionStep::none;
    const Instr* const of_a = maker_of(pc, instr[ComputeOperand::a]);
    switch (instr.opcode) {
      case Opcode::mul_:
      case Opcode::fma_: {
        const Instr* const of_b = maker_of(pc, instr[ComputeOperand::b]);
        if (of_a == nullptr || of_b == nullptr) return FunctionStep::none;
        const auto is_power = [](const Instr& one, const Instr& other) {
          return one.opcode == Opcode::ex2_ && other.opcode == Opcode::shl_;
        };
        return is_power(*of_a, *of_b) || is_power(*of_b, *of_a) ? FunctionStep::exponential
                                                                : FunctionStep::none;
      }
      case Opcode::ex2_: {
        const bool is_scaled = of_a != nullptr && of_a->opcode == Opcode::mul_ &&
                               is_number((*of_a)[ComputeOperand::b], 0x3fb8'aa3b);  // log2(e)
        return is_scaled ? FunctionStep::scaled_exponential : FunctionStep::none;
      }
      case Opcode::sqrt_:
      case Opcode::rsqrt_: {
        constexpr std::uint32_t kHalf = 0x3f00'0000;
        if (of_a == nullptr || of_a->opcode != Opcode::fma_) return FunctionStep::none;
        const auto at = static_cast<std::uint32_t>(of_a - program_.code.data());
        const bool is_arc = is_number(literal_of(at, (*of_a)[ComputeOperand::a]), kHalf) &&
                            is_number(literal_of(at, (*of_a)[ComputeOperand::c]), kHalf);
        return is_arc ? FunctionStep::arc : FunctionStep::none;
      }
      default: return FunctionStep::none;
    }
  }

  // Returns whether a word is divided as an unsigned integer.
  bool is_unsigned_dividend(std::uint32_t pc, const Ref& made, int depth = 0) {
    constexpr int kDepthMax = 4;
    if (made.bank != Bank::word || depth == kDepthMax) return false;
    return std::ranges::any_of(uses_.users(uses_.written(pc, made)), [&](std::uint32_t user) {
      const Instr& instr = program_.code[user];
      if (divides_unsigned(instr)) return instr[ComputeOperand::a] == made;
      return is_move(instr) && is_unsigned_dividend(user, instr[ComputeOperand::d], depth + 1);
    });
  }

  // Returns whether an instruction compares a float with an infinity, by value or by bits.
  [[nodiscard]] bool asks_for_special(std::uint32_t pc) const {
    const Instr& instr = program_.code[pc];
    const Ref& bound = instr[CompareOperand::b];
    if (instr.opcode != Opcode::setp_ || bound.bank != Bank::constant) return false;
    const Type type = instr.modifiers.type;
    const FloatFormat format = float_format_of(type);
    if (format != FloatFormat::none)
      return std::isinf(float_at(format, program_.constants.data() + bound.offset, 0));
    if (!ptx::is_integer(type) || ptx::bytes_of(type) > 4) return false;
    std::uint32_t bits = 0;
    std::memcpy(&bits, program_.constants.data() + bound.offset, sizeof bits);
    if (ptx::bytes_of(type) == 2) bits &= 0xffff;
    // Of a half, also in a word.
    constexpr std::array kInfinities{0x7c00u, 0xfc00u,      0x7f80u,
                                     0xff80u, 0x7f80'0000u, 0xff80'0000u};
    return std::ranges::find(kInfinities, bits) != kInfinities.end();
  }

  static bool divides_unsigned(const Instr& instr) {
    return instr.kind == InstrKind::compute && instr.modifiers.type == Type::u32 &&
           (instr.opcode == Opcode::rem_ || instr.opcode == Opcode::div_);
  }

  // Returns whether all that makes the row are loads, also of parameters: no counter of a loop is.
  bool is_loaded(std::uint32_t pc, const Ref& ref, int depth = 0) {
    constexpr int kDepthMax = 4;
    const std::span<const std::uint32_t> makers = makers_of(pc, ref);
    if (makers.empty() || depth == kDepthMax) return false;
    return std::ranges::all_of(makers, [&](std::uint32_t maker) {
      const Instr& instr = program_.code[maker];
      if (instr.kind == InstrKind::load || instr.kind == InstrKind::param) return true;
      return instr.kind == InstrKind::compute && instr.opcode == Opcode::mov_ &&
             is_loaded(maker, instr[ComputeOperand::a], depth + 1);
    });
  }

  // Returns whether all that makes the row computes or moves floats.
  bool holds_float(std::uint32_t pc, const Ref& ref, int depth = 0) {
    constexpr int kDepthMax = 16;
    const std::span<const std::uint32_t> makers = makers_of(pc, ref);
    if (makers.empty() || depth == kDepthMax) return false;
    return std::ranges::all_of(makers, [&](std::uint32_t maker) {
      const Instr& instr = program_.code[maker];
      const ValueRule rule = plans_[maker].rule;
      if (rule == ValueRule::moves && instr.opcode == Opcode::mov_) {
        return holds_float(maker, instr[ComputeOperand::a], depth + 1);
      }
      if (rule == ValueRule::loads && loads_float(program_, instr)) return true;
      return float_format_of(instr.modifiers.type) == FloatFormat::f32 &&
             rule != ValueRule::rounds_to_integer;
    });
  }

  // Returns whether all that makes the row computes floats, or moves or masks their bits.
  bool holds_float_bits(std::uint32_t pc, const Ref& ref, int depth = 0) {
    constexpr int kDepthMax = 6;
    const std::span<const std::uint32_t> makers = makers_of(pc, ref);
    if (makers.empty() || depth == kDepthMax) return false;
    return std::ranges::all_of(makers, [&](std::uint32_t maker) {
      const Instr& instr = program_.code[maker];
      switch (instr.opcode) {
        case Opcode::and_:
        case Opcode::or_:
        case Opcode::xor_:
        case Opcode::shr_: return holds_float_bits(maker, instr[ComputeOperand::a], depth + 1);
        case Opcode::mov_:
          return float_format_of(instr.modifiers.type) != FloatFormat::none ||
                 holds_float_bits(maker, instr[ComputeOperand::a], depth + 1);
        default:
          return float_format_of(instr.modifiers.type) != FloatFormat::none &&
                 plans_[maker].rule != ValueRule::rounds_to_integer;
      }
    });
  }

  // Returns whether all operands are literals: the program means what they make (0.0f / 0.0f).  The
  // difference of two infinities is none of these: the compiler knows that a row is masked.
  bool has_literals_only(std::uint32_t pc) {
    const Instr& instr = program_.code[pc];
    bool is_any = false;
    const bool is_sum = instr.opcode == Opcode::add_ || instr.opcode == Opcode::sub_;
    if (is_sum && is_infinite_literal(pc, instr[ComputeOperand::a]) &&
        is_infinite_literal(pc, instr[ComputeOperand::b])) {
      return false;
    }
    for (const ComputeOperand operand : {ComputeOperand::a, ComputeOperand::b, ComputeOperand::c}) {
      const Ref& ref = instr[operand];
      if (ref.bank == Bank::none) continue;
      if (!is_literal(pc, ref)) return false;
      is_any = true;
    }
    return is_any;
  }
  // Returns the literal that an operand is; Bank::none: it is none.
  Ref literal_of(std::uint32_t pc, const Ref& ref) {
    if (ref.bank == Bank::constant) return ref;
    const std::span<const std::uint32_t> makers = makers_of(pc, ref);
    if (makers.size() != 1) return {};
    const Instr& maker = program_.code[makers[0]];
    const bool is_one =
        maker.opcode == Opcode::mov_ && maker[ComputeOperand::a].bank == Bank::constant;
    return is_one ? maker[ComputeOperand::a] : Ref{};
  }
  bool is_literal(std::uint32_t pc, const Ref& ref) {
    return literal_of(pc, ref).bank != Bank::none;
  }
  bool is_infinite_literal(std::uint32_t pc, const Ref& ref) {
    const FloatFormat format = float_format_of(program_.code[pc].modifiers.type);
    const Ref literal = literal_of(pc, ref);
    return literal.bank != Bank::none && format != FloatFormat::none &&
           std::isinf(float_at(format, program_.constants.data() + literal.offset, 0));
  }

  // Returns what a logarithm has multiplied a number by that is below the least normal one, so also
  // a negative one; 1: nothing.
  //   ref: the number, that an instruction at pc adds an infinity to
  double scale_of(std::uint32_t pc, const Ref& ref, int depth = 0) {
    constexpr int kDepthMax = 3;
    if (depth == kDepthMax) return 1;
    for (const std::uint32_t maker : makers_of(pc, ref)) {
      const Instr& instr = program_.code[maker];
      const Ref& by = instr[ComputeOperand::b];
      double scale = 1;
      if (instr.opcode == Opcode::mul_ && by.bank == Bank::constant) {
        const double factor = float_at(float_format_of(instr.modifiers.type),
                                       program_.constants.data() + by.offset, 0);
        if (factor == 0x1p23 || factor == 0x1p54) return factor;
      } else if (instr.opcode == Opcode::mov_ || instr.opcode == Opcode::selp_) {
        scale = scale_of(maker, instr[ComputeOperand::a], depth + 1);
        if (scale == 1 && instr.opcode == Opcode::selp_)
          scale = scale_of(maker, instr[ComputeOperand::b], depth + 1);
      }
      if (scale != 1) return scale;
    }
    return 1;
  }

  // Returns the bytes of the widest place that takes an integer that is made here, if that is less
  // than a word: a store or a conversion of bytes or halves; 4: it is used as a word.
  std::uint32_t bytes_used(std::uint32_t pc, const Ref& made, int depth = 0) {
    constexpr int kDepthMax = 4;
    if (made.bank != Bank::word || depth == kDepthMax) return 4;
    const std::span<const std::uint32_t> users = uses_.users(uses_.written(pc, made));
    std::uint32_t most = users.empty() ? 4 : 0;
    for (const std::uint32_t user : users) {
      const Instr& instr = program_.code[user];
      const Type type = instr.modifiers.type;
      const bool is_stored =
          plans_[user].rule == ValueRule::stores && !(instr[MemoryOperand::address] == made);
      const bool is_cut = instr.opcode == Opcode::cvt_ && ptx::is_integer(type) &&
                          ptx::is_integer(instr.modifiers.source_type) &&
                          instr.kind == InstrKind::compute && !instr.modifiers.sat;
      std::uint32_t bytes = 4;
      if (is_stored) bytes = std::min(ptx::bytes_of(type), 4u);
      if (is_move(instr) || (is_cut && ptx::bytes_of(type) < 4))
        bytes = bytes_used(user, instr[ComputeOperand::d], depth + 1);
      // A conversion from a byte, signed or not, reads no more of it.
      if (is_cut) bytes = std::min(bytes, ptx::bytes_of(instr.modifiers.source_type));
      most = std::max(most, bytes);
    }
    return most;
  }

  // Returns whether an instruction divides by 2: the mean of two indices.
  bool halves(std::uint32_t pc) {
    const Instr& instr = program_.code[pc];
    if (instr.kind != InstrKind::compute || ptx::bytes_of(instr.modifiers.type) != 4) return false;
    const std::uint32_t by = constant_of(pc, instr[ComputeOperand::b]);
    return (instr.opcode == Opcode::shr_ && by == 1) ||
           (instr.opcode == Opcode::div_ && by == 2 && ptx::is_integer(instr.modifiers.type));
  }

  // Returns whether an instruction makes the inverse of a float that is 0 or infinite, by the bits
  // of its exponent: the toolkit's powf(), pow(), rcbrtf() and rcbrt() do.  With a constant
  // exponent pow() sets the bits of a 0.
  bool inverts_exponent(std::uint32_t pc) {
    constexpr std::uint32_t kFloatExponent = 0x7f80'0000, kDoubleExponent = 0x7ff0'0000;
    const Instr& instr = program_.code[pc];
    const bool sets = instr.opcode == Opcode::or_;
    if ((instr.opcode != Opcode::xor_ && !sets) || ptx::bytes_of(instr.modifiers.type) != 4)
      return false;
    const std::uint32_t constant = constant_of(pc, instr[ComputeOperand::b]);
    if (sets) return constant == kDoubleExponent;
    return (constant == kFloatExponent && holds_float_bits(pc, instr[ComputeOperand::a])) ||
           constant == kDoubleExponent;
  }

  // Returns the constant that an operand is, or the only one that is moved to its register; 0:
  // none.
  std::uint32_t constant_of(std::uint32_t pc, const Ref& ref) {
    if (ref.bank == Bank::constant) {
      std::uint32_t value = 0;
      std::memcpy(&value, program_.constants.data() + ref.offset, sizeof value);
      return value;
    }
    const std::span<const std::uint32_t> makers = makers_of(pc, ref);
    if (makers.size() != 1) return 0;
    const Instr& maker = program_.code[makers[0]];
    const Ref& moved = maker[ComputeOperand::a];
    if (maker.opcode != Opcode::mov_ || moved.bank != Bank::constant) return 0;
    return constant_of(pc, moved);
  }

 private:
  static bool is_move(const Instr& instr) {
    return instr.kind == InstrKind::compute && instr.opcode == Opcode::mov_ &&
           instr.modifiers.vector <= 1;
  }
  // Returns the only instruction that makes a row, behind moves; null: there are several.
  const Instr* maker_of(std::uint32_t pc, const Ref& ref, int depth = 0) {
    constexpr int kDepthMax = 4;
    if ((ref.bank != Bank::word && ref.bank != Bank::wide) || depth == kDepthMax) return nullptr;
    const std::span<const std::uint32_t> makers = makers_of(pc, ref);
    if (makers.size() != 1) return nullptr;
    const Instr& maker = program_.code[makers[0]];
    return is_move(maker) ? maker_of(makers[0], maker[ComputeOperand::a], depth + 1) : &maker;
  }
  [[nodiscard]] bool is_number(const Ref& ref, std::uint32_t bits) const {
    if (ref.bank != Bank::constant) return false;
    std::uint32_t value = 0;
    std::memcpy(&value, program_.constants.data() + ref.offset, sizeof value);
    return value == bits;
  }
  // Returns whether a row is a square root, also one that a function returns.
  bool is_root(std::uint32_t pc, const Ref& ref, int depth = 0) {
    constexpr int kDepthMax = 4;
    if ((ref.bank != Bank::word && ref.bank != Bank::wide) || depth == kDepthMax) return false;
    const std::span<const std::uint32_t> makers = makers_of(pc, ref);
    return !makers.empty() && std::ranges::all_of(makers, [&](std::uint32_t maker) {
      const Instr& instr = program_.code[maker];
      if (is_move(instr)) return is_root(maker, instr[ComputeOperand::a], depth + 1);
      return instr.kind == InstrKind::compute && instr.opcode == Opcode::sqrt_;
    });
  }
  // Returns whether an instruction compares a magnitude with the infinity, otherwise for a NaN than
  // for numbers.
  [[nodiscard]] bool asks_for_nan(std::uint32_t pc) const {
    const Instr& instr = program_.code[pc];
    const FloatFormat format = float_format_of(instr.modifiers.type);
    const Ref& bound = instr[CompareOperand::b];
    const ptx::Compare how = instr.modifiers.compare;
    return instr.opcode == Opcode::setp_ && format != FloatFormat::none &&
           (how == ptx::Compare::gtu || how == ptx::Compare::le || how == ptx::Compare::lt ||
            how == ptx::Compare::geu) &&
           bound.bank == Bank::constant &&
           std::isinf(float_at(format, program_.constants.data() + bound.offset, 0));
  }
  // Returns whether an instruction makes the greatest multiple of a constant that is in x.
  bool is_multiple_in(std::uint32_t pc, const Ref& x) {
    const Instr& instr = program_.code[pc];
    const std::uint32_t constant = constant_of(pc, instr[ComputeOperand::b]);
    if (instr.opcode == Opcode::mul_ && constant != 0)
      return is_quotient(pc, instr[ComputeOperand::a]);
    // Of a signed number, a power of two: (x + (x < 0 ? d - 1 : 0)) & -d.
    if (instr.opcode != Opcode::and_ || !std::has_single_bit(0 - constant)) return false;
    const std::span<const std::uint32_t> makers = makers_of(pc, instr[ComputeOperand::a]);
    return makers.size() == 1 && program_.code[makers[0]].opcode == Opcode::add_ &&
           program_.code[makers[0]][ComputeOperand::a] == x;
  }
  // Returns whether a row is the upper half of a product with a constant, shifted and rounded.
  bool is_quotient(std::uint32_t pc, const Ref& ref, int depth = 0) {
    constexpr int kDepthMax = 5;
    if (depth == kDepthMax) return false;
    return std::ranges::any_of(makers_of(pc, ref), [&](std::uint32_t maker) {
      const Instr& instr = program_.code[maker];
      switch (instr.opcode) {
        case Opcode::mul_:
          return (instr.modifiers.part == ptx::MulPart::hi ||
                  instr.modifiers.part == ptx::MulPart::wide) &&
                 constant_of(maker, instr[ComputeOperand::b]) != 0;
        case Opcode::add_:
        case Opcode::shr_:
        case Opcode::cvt_:
        case Opcode::mov_: return is_quotient(maker, instr[ComputeOperand::a], depth + 1);
        default: return false;
      }
    });
  }
  [[nodiscard]] std::span<const std::uint32_t> makers_of(std::uint32_t pc, const Ref& ref) const {
    return uses_.makers(uses_.read(pc, ref));
  }
  void add(std::uint32_t pc, const Ref& ref) {
    if (ref.bank != Bank::word && ref.bank != Bank::wide) return;
    const RowUses::Row row = uses_.read(pc, ref);
    if (seen_.insert(row).second) open_.push_back(row);
  }
  void follow(std::uint32_t pc) {
    const Instr& instr = program_.code[pc];
    const ValueRule rule = plans_[pc].rule;
    const bool is_moved =
        (rule == ValueRule::moves && instr.opcode == Opcode::mov_ && instr.modifiers.vector == 1) ||
        (rule == ValueRule::moves && instr.opcode == Opcode::cvta_) || rule == ValueRule::selects ||
        rule == ValueRule::shuffles || halves(pc);
    if (rule != ValueRule::adds_integers && !is_moved) return;
    plans_[pc].is_index = rule == ValueRule::adds_integers;
    if (rule == ValueRule::shuffles) return add(pc, instr[WarpOperand::value]);
    add(pc, instr[ComputeOperand::a]);
    add(pc, instr[ComputeOperand::b]);
    if (rule != ValueRule::selects) add(pc, instr[ComputeOperand::c]);
  }

  const Program& program_;
  std::vector<ValuePlan>& plans_;
  RowUses uses_;
  std::set<RowUses::Row> seen_;
  std::vector<RowUses::Row> open_;
};

// Returns whether a program has an atomic minimum or maximum of signed integers.
bool has_signed(const Program& program, ptx::AtomOp atomic) {
  return std::ranges::any_of(program.code, [&](const Instr& instr) {
    return instr.kind == InstrKind::atomic && instr.modifiers.atom_op == atomic &&
           instr.modifiers.type == Type::s32;
  });
}

bool makes_tags(const ValuePlan& plan, const Instr& instr) {
  switch (plan.rule) {
    case ValueRule::computes:
      return instr.opcode != Opcode::neg_ && instr.opcode != Opcode::abs_ &&
             instr.opcode != Opcode::copysign_;
    case ValueRule::rounds_to_integer:
    case ValueRule::multiplies_matrices: return true;
    case ValueRule::moves:
    case ValueRule::selects:
      return plan.is_logarithm_of_zero || plan.inverts_exponent || plan.divides_integers ||
             plan.makes_half || !plan.outside_domain.what.empty() ||
             !plan.beyond_bound.what.empty();
    case ValueRule::updates: return plan.result != FloatFormat::none || plan.is_of_float_bits;
    case ValueRule::adds_integers:
      if (plan.rounds_bfloat_up) return true;
      return (plan.is_index || plan.is_unsigned_dividend) && instr.opcode != Opcode::cvt_ &&
             ptx::bytes_of(instr.modifiers.type) == 4 && !instr.modifiers.sat &&
             instr.modifiers.part != ptx::MulPart::hi && instr.modifiers.part != ptx::MulPart::wide;
    default: return false;
  }
}

}  // namespace

std::vector<ValuePlan> plan_values(const Program& program) {
  std::vector<ValuePlan> plans(program.code.size());
  for (std::uint32_t pc = 0; pc < plans.size(); ++pc) {
    const Instr& instr = program.code[pc];
    ValuePlan& plan = plans[pc];
    plan.rule = rule_of(instr);
    if (plan.rule == ValueRule::rounds_to_integer && makes_quadrant(program, pc))
      plan.rule = ValueRule::replaces;
    plan.source = source_format_of(instr);
    plan.result = result_format_of(instr);
    if (plan.rule != ValueRule::nothing) plan.results = destinations_of(program, instr);
    plan.is_logarithm_of_zero = is_logarithm_of_zero(program, pc);
    plan.outside_domain = outside_domain_of(program, pc);
    plan.beyond_bound = beyond_bound_of(program, pc);
    plan.makes_half = plan.rule == ValueRule::moves && instr.opcode == Opcode::cvt_ &&
                      plan.result == FloatFormat::f16 &&
                      ptx::is_integer(instr.modifiers.source_type);
    plan.becomes_bfloat = nan_becoming_bfloat(program, pc);
    plan.rounds_bfloat_up = rounds_bfloat_up(program, pc);
    plan.is_in_place = plan.rule != ValueRule::nothing && is_in_place(program, instr);
    // The result of an approximation is flushed wherever the compiler computes exp().
    const bool is_exact = instr.opcode == Opcode::add_ || instr.opcode == Opcode::sub_ ||
                          instr.opcode == Opcode::mul_ || instr.opcode == Opcode::fma_;
    plan.flushes = is_exact && instr.modifiers.ftz && plan.result == FloatFormat::f32;
  }
  IndexSlice slice(program, plans);
  slice.find_remainders();
  slice.mark();
  for (std::uint32_t pc = 0; pc < plans.size(); ++pc) {
    const Instr& instr = program.code[pc];
    ValuePlan& plan = plans[pc];
    const bool is_extreme =
        instr.modifiers.atom_op == ptx::AtomOp::min || instr.modifiers.atom_op == ptx::AtomOp::max;
    const bool is_sum = instr.opcode == Opcode::add_ || instr.opcode == Opcode::sub_;
    plan.adds_constant = plan.rule == ValueRule::adds_integers && is_sum &&
                         slice.constant_of(pc, instr[ComputeOperand::b]) != 0;
    plan.is_of_float_bits = plan.rule == ValueRule::updates && is_extreme &&
                            ptx::is_integer(instr.modifiers.type) &&
                            ptx::bytes_of(instr.modifiers.type) == 4 &&
                            slice.holds_float(pc, instr[AtomicOperand::value]);
    const bool is_max = instr.modifiers.atom_op == ptx::AtomOp::max;
    plan.has_other_half = plan.is_of_float_bits && !ptx::is_signed(instr.modifiers.type) &&
                          has_signed(program, is_max ? ptx::AtomOp::min : ptx::AtomOp::max);
    plan.asks_for_special = slice.asks_for_special(pc);
    plan.asks_for_nan =
        plan.rule == ValueRule::compares && (slice.is_asked_for_nan(pc, instr[CompareOperand::a]) ||
                                             slice.is_asked_for_nan(pc, instr[CompareOperand::b]));
    const bool is_equality =
        instr.modifiers.compare == ptx::Compare::eq || instr.modifiers.compare == ptx::Compare::ne;
    plan.compares_checksum = plan.rule == ValueRule::compares_integers && is_equality &&
                             (slice.is_loaded(pc, instr[CompareOperand::a]) ||
                              slice.is_loaded(pc, instr[CompareOperand::b]));
    plan.adds_infinity = adds_infinity(program, instr);
    plan.inverts_root = plan.rule == ValueRule::computes && slice.inverts_root(pc);
    if (plan.rule == ValueRule::computes) plan.step_of = slice.step_of(pc);
    plan.divides_unsigned = plan.rule == ValueRule::moves && IndexSlice::divides_unsigned(instr);
    plan.is_unsigned_dividend = plan.rule == ValueRule::adds_integers && is_sum &&
                                slice.is_unsigned_dividend(pc, instr[ComputeOperand::d]);
    plan.halves = slice.halves(pc);
    plan.divides_integers = plan.rule == ValueRule::moves && is_quotient_of_integers(instr);
    plan.inverts_exponent = slice.inverts_exponent(pc);
    if (plan.rule == ValueRule::rounds_to_integer)
      plan.bytes_used = slice.bytes_used(pc, instr[ComputeOperand::d]);
    const bool is_logarithm =
        instr.opcode == Opcode::fma_ && instr[ComputeOperand::b] == instr[ComputeOperand::c];
    if (is_logarithm) plan.scaled_by = slice.scale_of(pc, instr[ComputeOperand::a]);
    const bool is_meant = plan.rule == ValueRule::computes && slice.has_literals_only(pc);
    plan.makes_tags = !is_meant && makes_tags(plan, instr) &&
                      !(plan.rule == ValueRule::adds_integers && slice.mixes(pc));
  }
  return plans;
}

}  // namespace warpcheck::vgpu
