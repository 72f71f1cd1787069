// Integer arithmetic and bit operations, compared with the ISA's definitions for one lane.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <initializer_list>
#include <string>

#include "vgpu/machine/compute/compute_testing.hpp"
#include "vgpu/ptx/opcode.hpp"

namespace warpcheck::vgpu::testing {
namespace {

using ptx::Modifiers;
using ptx::MulPart;
using ptx::Opcode;
using ptx::Type;
using Exact = __int128;
using Unsigned = unsigned __int128;

constexpr std::initializer_list<Type> kIntegers = {Type::u16, Type::u32, Type::u64,
                                                   Type::s16, Type::s32, Type::s64};

unsigned width(Type type) { return 8 * ptx::bytes_of(type); }

// The number that a cell represents in its type.
Exact number(Type type, std::uint64_t cell) {
  const std::uint64_t value = low_bits(cell, width(type));
  if (!ptx::is_signed(type)) return value;
  const unsigned unused = 64 - width(type);
  return static_cast<std::int64_t>(value << unused) >> unused;
}

std::uint64_t cell(Type type, Exact value) {
  return low_bits(static_cast<std::uint64_t>(value), width(type));
}

Exact lowest(Type type) { return ptx::is_signed(type) ? -(Exact{1} << (width(type) - 1)) : 0; }
Exact highest(Type type) {
  return (Exact{1} << (width(type) - (ptx::is_signed(type) ? 1 : 0))) - 1;
}
Exact clamp(Type type, Exact value) { return std::clamp(value, lowest(type), highest(type)); }

std::string named(Opcode opcode, const Modifiers& m, const std::string& more = "") {
  return std::string(ptx::name_of(opcode)) + more + (m.sat ? ".sat." : ".") +
         std::string(ptx::name_of(m.type));
}

using Function = std::function<Exact(Exact a, Exact b, Exact c)>;

// Compares the instruction with d = f(a, b, c), where all operands have one type.
void check(Opcode opcode, Type type, int sources, const Function& f, Modifiers m = {}) {
  m.type = type;
  TestedInstruction form{.name = named(opcode, m), .opcode = opcode, .modifiers = m};
  for (int place = 0; place <= sources; ++place)
    form.operands.at(static_cast<std::size_t>(place)) = type;
  expect_agrees(form, [&](Lane& lane) {
    lane.d = cell(type, f(number(type, lane.a), number(type, lane.b), number(type, lane.c)));
  });
}

TEST(ComputeInteger, Sums) {
  for (const Type type : kIntegers) {
    check(Opcode::add_, type, 2, [](Exact a, Exact b, Exact) { return a + b; });
    check(Opcode::sub_, type, 2, [](Exact a, Exact b, Exact) { return a - b; });
    check(Opcode::min_, type, 2, [](Exact a, Exact b, Exact) { return std::min(a, b); });
    check(Opcode::max_, type, 2, [](Exact a, Exact b, Exact) { return std::max(a, b); });
    check(Opcode::sad_, type, 3,
          [](Exact a, Exact b, Exact c) { return c + (a < b ? b - a : a - b); });
  }
  Modifiers sat;
  sat.sat = true;
  const Type s32 = Type::s32;
  check(
      Opcode::add_, s32, 2, [&](Exact a, Exact b, Exact) { return clamp(s32, a + b); }, sat);
  check(
      Opcode::sub_, s32, 2, [&](Exact a, Exact b, Exact) { return clamp(s32, a - b); }, sat);
  Modifiers relu;
  relu.relu = true;
  check(
      Opcode::min_, s32, 2,
      [](Exact a, Exact b, Exact) { return std::max(std::min(a, b), Exact{0}); }, relu);
}

TEST(ComputeInteger, SignOnly) {
  for (const Type type : {Type::s16, Type::s32, Type::s64}) {
    check(Opcode::abs_, type, 1, [](Exact a, Exact, Exact) { return a < 0 ? -a : a; });
    check(Opcode::neg_, type, 1, [](Exact a, Exact, Exact) { return -a; });
  }
}

TEST(ComputeInteger, Quotients) {
  for (const Type type : kIntegers) {
    check(Opcode::div_, type, 2, [](Exact a, Exact b, Exact) { return b == 0 ? -1 : a / b; });
    check(Opcode::rem_, type, 2, [](Exact a, Exact b, Exact) { return b == 0 ? -1 : a % b; });
  }
}

Exact high(Type type, Exact a, Exact b) {
  if (type == Type::u64) return static_cast<Exact>(Unsigned(a) * Unsigned(b) >> 64);
  return (a * b) >> width(type);
}
Exact product(Exact a, Exact b) { return static_cast<Exact>(Unsigned(a) * Unsigned(b)); }

TEST(ComputeInteger, Products) {
  Modifiers lo, hi;
  lo.part = MulPart::lo;
  hi.part = MulPart::hi;
  for (const Type type : kIntegers) {
    check(
        Opcode::mul_, type, 2, [](Exact a, Exact b, Exact) { return product(a, b); }, lo);
    check(
        Opcode::mul_, type, 2, [&](Exact a, Exact b, Exact) { return high(type, a, b); }, hi);
    check(
        Opcode::mad_, type, 3,
        [](Exact a, Exact b, Exact c) { return Exact(Unsigned(product(a, b)) + Unsigned(c)); }, lo);
    check(
        Opcode::mad_, type, 3, [&](Exact a, Exact b, Exact c) { return high(type, a, b) + c; }, hi);
  }
  hi.sat = true;
  const Type s32 = Type::s32;
  check(
      Opcode::mad_, s32, 3,
      [&](Exact a, Exact b, Exact c) { return clamp(s32, high(s32, a, b) + c); }, hi);
}

TEST(ComputeInteger, WideProducts) {
  const std::pair<Type, Type> pairs[] = {{Type::u16, Type::u32},
                                         {Type::s16, Type::s32},
                                         {Type::u32, Type::u64},
                                         {Type::s32, Type::s64}};
  for (const auto& [type, wide] : pairs) {
    Modifiers m;
    m.type = type;
    m.part = MulPart::wide;
    const TestedInstruction mul{.name = named(Opcode::mul_, m, ".wide"),
                                .opcode = Opcode::mul_,
                                .modifiers = m,
                                .operands = {wide, type, type}};
    expect_agrees(mul, [type = type, wide = wide](Lane& lane) {
      lane.d = cell(wide, number(type, lane.a) * number(type, lane.b));
    });
    const TestedInstruction mad{.name = named(Opcode::mad_, m, ".wide"),
                                .opcode = Opcode::mad_,
                                .modifiers = m,
                                .operands = {wide, type, type, wide}};
    expect_agrees(mad, [type = type, wide = wide](Lane& lane) {
      lane.d = cell(wide, number(type, lane.a) * number(type, lane.b) + number(wide, lane.c));
    });
  }
}

TEST(ComputeInteger, Products24) {
  for (const Type type : {Type::u32, Type::s32}) {
    const auto times = [type](Exact a, Exact b) {
      const auto low = [type](Exact x) {
        const Exact bits = x & 0xffffff;
        return ptx::is_signed(type) && (bits & 0x800000) != 0 ? bits - 0x1000000 : bits;
      };
      return low(a) * low(b);
    };
    Modifiers lo, hi;
    lo.part = MulPart::lo;
    hi.part = MulPart::hi;
    check(
        Opcode::mul24_, type, 2, [&](Exact a, Exact b, Exact) { return times(a, b); }, lo);
    check(
        Opcode::mul24_, type, 2, [&](Exact a, Exact b, Exact) { return times(a, b) >> 16; }, hi);
    check(
        Opcode::mad24_, type, 3, [&](Exact a, Exact b, Exact c) { return times(a, b) + c; }, lo);
    check(
        Opcode::mad24_, type, 3, [&](Exact a, Exact b, Exact c) { return (times(a, b) >> 16) + c; },
        hi);
    if (type != Type::s32) continue;
    hi.sat = true;
    check(
        Opcode::mad24_, type, 3,
        [&](Exact a, Exact b, Exact c) {
          return clamp(type, number(type, cell(type, times(a, b) >> 16)) + c);
        },
        hi);
  }
}

TEST(ComputeInteger, DotProducts) {
  for (const Type a_type : {Type::u32, Type::s32}) {
    for (const Type b_type : {Type::u32, Type::s32}) {
      const auto part = [](Type type, std::uint64_t x, unsigned bits, unsigned index) {
        const auto value = static_cast<Exact>(low_bits(x >> (bits * index), bits));
        const bool negative = ptx::is_signed(type) && (value >> (bits - 1)) != 0;
        return negative ? value - (Exact{1} << bits) : value;
      };
      Modifiers m;
      m.type = a_type;
      m.source_type = b_type;
      TestedInstruction form{.name = named(Opcode::dp4a_, m),
                             .opcode = Opcode::dp4a_,
                             .modifiers = m,
                             .operands = {Type::u32, Type::u32, Type::u32, Type::u32}};
      expect_agrees(form, [&](Lane& lane) {
        Exact sum = static_cast<Exact>(lane.c);
        for (unsigned i = 0; i < 4; ++i)
          sum += part(a_type, lane.a, 8, i) * part(b_type, lane.b, 8, i);
        lane.d = cell(Type::u32, sum);
      });
      for (const MulPart half : {MulPart::lo, MulPart::hi}) {
        form.opcode = Opcode::dp2a_;
        form.modifiers.part = half;
        form.name = named(Opcode::dp2a_, m, half == MulPart::lo ? ".lo" : ".hi");
        expect_agrees(form, [&](Lane& lane) {
          Exact sum = static_cast<Exact>(lane.c);
          const unsigned first = half == MulPart::lo ? 0 : 2;
          for (unsigned i = 0; i < 2; ++i) {
            sum += part(a_type, lane.a, 16, i) * part(b_type, lane.b, 8, first + i);
          }
          lane.d = cell(Type::u32, sum);
        });
      }
    }
  }
}

// One step of extended precision.  After an addition the carry is what does not fit; after a
// subtraction it is set if there was no borrow.
void check_carry(Opcode opcode, Type type, MulPart part, bool carries_in, bool carries_out) {
  const bool product_form = opcode == Opcode::mad_ || opcode == Opcode::madc_;
  TestedInstruction form{
      .name = std::string(ptx::name_of(opcode)) + ".cc." + std::string(ptx::name_of(type)),
      .opcode = opcode};
  form.modifiers.type = type;
  form.modifiers.part = part;
  form.modifiers.carry_out = carries_out;
  form.operands = {type,
                   type,
                   type,
                   product_form ? type : Type::none,
                   carries_out ? Type::pred : Type::none,
                   carries_in ? Type::pred : Type::none};
  form.destinations = {ComputeOperand::d, ComputeOperand::e};
  expect_agrees(form, [&](Lane& lane) {
    const unsigned bits = width(type);
    const Exact modulus = Exact{1} << bits;
    Exact a = static_cast<Exact>(lane.a);
    Exact b = static_cast<Exact>(lane.b);
    if (product_form) {
      const Exact whole = part == MulPart::hi
                              ? high(type, number(type, lane.a), number(type, lane.b))
                              : product(a, b);
      a = static_cast<Exact>(cell(type, whole));
      b = static_cast<Exact>(lane.c);
    }
    const bool subtracts = opcode == Opcode::sub_ || opcode == Opcode::subc_;
    const Exact in = carries_in ? static_cast<Exact>(lane.f) : subtracts ? 1 : 0;
    const Exact sum = subtracts ? a - b - (1 - in) : a + b + in;
    lane.d = cell(type, sum);
    lane.e = subtracts ? sum >= 0 : sum >= modulus;
  });
}

TEST(ComputeInteger, Carries) {
  for (const Type type : {Type::u32, Type::s32, Type::u64, Type::s64}) {
    check_carry(Opcode::add_, type, MulPart::none, false, true);
    check_carry(Opcode::addc_, type, MulPart::none, true, true);
    check_carry(Opcode::addc_, type, MulPart::none, true, false);
    check_carry(Opcode::sub_, type, MulPart::none, false, true);
    check_carry(Opcode::subc_, type, MulPart::none, true, true);
    check_carry(Opcode::subc_, type, MulPart::none, true, false);
    for (const MulPart part : {MulPart::lo, MulPart::hi}) {
      check_carry(Opcode::mad_, type, part, false, true);
      check_carry(Opcode::madc_, type, part, true, true);
      check_carry(Opcode::madc_, type, part, true, false);
    }
  }
}

TEST(ComputeInteger, RefusesFormsThatDoNotExist) {
  TestedInstruction form{.name = "add.sat.u32", .opcode = Opcode::add_};
  form.modifiers.type = Type::u32;
  form.modifiers.sat = true;
  EXPECT_EQ(find_compute(make_instr(form)), nullptr);
  form.modifiers.sat = false;
  EXPECT_NE(find_compute(make_instr(form)), nullptr);
  form.modifiers.type = Type::u8;
  EXPECT_EQ(find_compute(make_instr(form)), nullptr);
  form.opcode = Opcode::ld_;
  EXPECT_EQ(find_compute(make_instr(form)), nullptr);
}

}  // namespace
}  // namespace warpcheck::vgpu::testing
