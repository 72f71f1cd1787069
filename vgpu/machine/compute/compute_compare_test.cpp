// setp, set, selp, slct, testp, mov, predicate logic and address conversion.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "vgpu/machine/compute/compute_testing.hpp"
#include "vgpu/machine/memory/memory.hpp"
#include "vgpu/ptx/opcode.hpp"

namespace warpcheck::vgpu::testing {
namespace {

using ptx::BoolOp;
using ptx::Compare;
using ptx::Opcode;
using ptx::Space;
using ptx::TestProperty;
using ptx::Type;

// Returns -1, 0 or 1 for the order of a and b, or 2 if one of them is NaN.
int order(Type type, std::uint64_t a, std::uint64_t b, bool ftz) {
  if (ptx::is_float(type)) {
    const auto value = [&](std::uint64_t bits) -> double {
      if (type == Type::f64) return as_double(bits);
      const bool subnormal = ftz && std::fpclassify(as_float(bits)) == FP_SUBNORMAL;
      return subnormal ? 0.0 : static_cast<double>(as_float(bits));
    };
    const double x = value(a);
    const double y = value(b);
    if (std::isnan(x) || std::isnan(y)) return 2;
    return x < y ? -1 : x > y;
  }
  if (ptx::is_signed(type)) {
    const unsigned unused = 64 - 8 * ptx::bytes_of(type);
    const auto x = static_cast<std::int64_t>(a << unused);
    const auto y = static_cast<std::int64_t>(b << unused);
    return x < y ? -1 : x > y;
  }
  return a < b ? -1 : a > b;
}

bool compares(Compare compare, int order) {
  const bool nan = order == 2;
  switch (compare) {
    case Compare::eq: return order == 0;
    case Compare::ne: return !nan && order != 0;
    case Compare::lt:
    case Compare::lo: return order == -1;
    case Compare::le:
    case Compare::ls: return !nan && order <= 0;
    case Compare::gt:
    case Compare::hi: return order == 1;
    case Compare::ge:
    case Compare::hs: return !nan && order >= 0;
    case Compare::equ: return nan || order == 0;
    case Compare::neu: return nan || order != 0;
    case Compare::ltu: return nan || order == -1;
    case Compare::leu: return nan || order <= 0;
    case Compare::gtu: return nan || order == 1;
    case Compare::geu: return nan || order >= 0;
    case Compare::num: return !nan;
    case Compare::nan: return nan;
    case Compare::none: break;
  }
  return false;
}

bool combined(BoolOp op, bool t, bool c) {
  switch (op) {
    case BoolOp::none: return t;
    case BoolOp::and_: return t && c;
    case BoolOp::or_: return t || c;
    case BoolOp::xor_: return t != c;
  }
  return false;
}

bool exists(Compare compare, Type type) {
  const bool unordered = compare >= Compare::equ;
  const bool unsigned_only = compare == Compare::lo || compare == Compare::ls ||
                             compare == Compare::hi || compare == Compare::hs;
  if (ptx::is_float(type)) return !unsigned_only;
  if (unordered) return false;
  return !(unsigned_only && ptx::is_signed(type));
}

void check_compare(Compare compare, Type type, BoolOp op, bool both, bool ftz) {
  TestedInstruction form{
      .name = "setp." + std::to_string(static_cast<int>(compare)) + "." +
              std::string(ptx::name_of(type)),
      .opcode = Opcode::setp_,
      .operands = {Type::pred, type, type, op == BoolOp::none ? Type::none : Type::pred,
                   both ? Type::pred : Type::none},
      .destinations = {ComputeOperand::d, ComputeOperand::e}};
  form.modifiers.type = type;
  form.modifiers.compare = compare;
  form.modifiers.bool_op = op;
  form.modifiers.ftz = ftz;
  expect_agrees(
      form,
      [&](Lane& lane) {
        const bool t = compares(compare, order(type, lane.a, lane.b, ftz));
        lane.d = combined(op, t, lane.c != 0);
        lane.e = combined(op, !t, lane.c != 0);
      },
      8);
  if (op == BoolOp::xor_) return;
  for (const Type result : {Type::u32, Type::s32, Type::f32}) {
    form.name = "set." + form.name;
    form.opcode = Opcode::set_;
    form.modifiers.type = result;
    form.modifiers.source_type = type;
    form.operands.d = result;
    form.operands.e = Type::none;
    form.destinations = {ComputeOperand::d};
    expect_agrees(
        form,
        [&](Lane& lane) {
          const bool t = compares(compare, order(type, lane.a, lane.b, ftz));
          const std::uint64_t yes = result == Type::f32 ? bits_of(1.0f) : 0xffffffff;
          lane.d = combined(op, t, lane.c != 0) ? yes : 0;
        },
        4);
  }
}

TEST(ComputeCompare, EveryComparisonOfEveryType) {
  for (const Type type : {Type::u16, Type::u32, Type::u64, Type::s16, Type::s32, Type::s64,
                          Type::b16, Type::b32, Type::b64, Type::f32, Type::f64}) {
    const bool bits = type == Type::b16 || type == Type::b32 || type == Type::b64;
    for (int value = 1; value <= static_cast<int>(Compare::nan); ++value) {
      const auto compare = static_cast<Compare>(value);
      if (!exists(compare, type)) continue;
      if (bits && compare != Compare::eq && compare != Compare::ne) continue;
      check_compare(compare, type, BoolOp::none, false, false);
      check_compare(compare, type, BoolOp::none, true, false);
      check_compare(compare, type, BoolOp::and_, false, false);
      check_compare(compare, type, BoolOp::or_, true, false);
      check_compare(compare, type, BoolOp::xor_, true, false);
      if (type == Type::f32) check_compare(compare, type, BoolOp::and_, true, true);
    }
  }
}

TEST(ComputeCompare, RefusesComparisonsThatDoNotExist) {
  TestedInstruction form{.name = "setp.lo.s32",
                         .opcode = Opcode::setp_,
                         .operands = {Type::pred, Type::s32, Type::s32}};
  form.modifiers.type = Type::s32;
  form.modifiers.compare = Compare::lo;
  EXPECT_EQ(find_compute(make_instr(form)), nullptr);
  form.modifiers.compare = Compare::neu;
  EXPECT_EQ(find_compute(make_instr(form)), nullptr);
}

TEST(ComputeCompare, Selection) {
  for (const Type type : {Type::b32, Type::f32, Type::b64, Type::f64, Type::s32, Type::u64}) {
    TestedInstruction selp{
        .name = "selp", .opcode = Opcode::selp_, .operands = {type, type, type, Type::pred}};
    selp.modifiers.type = type;
    expect_agrees(selp, [](Lane& l) { l.d = l.c != 0 ? l.a : l.b; });
    for (const bool ftz : {false, true}) {
      TestedInstruction slct{
          .name = "slct.f32", .opcode = Opcode::slct_, .operands = {type, type, type, Type::f32}};
      slct.modifiers.type = type;
      slct.modifiers.source_type = Type::f32;
      slct.modifiers.ftz = ftz;
      expect_agrees(slct, [&](Lane& l) {
        const float c = as_float(l.c);
        const bool zero = ftz && std::fpclassify(c) == FP_SUBNORMAL;
        l.d = c >= 0 || zero ? l.a : l.b;
      });
    }
    TestedInstruction slct{
        .name = "slct.s32", .opcode = Opcode::slct_, .operands = {type, type, type, Type::s32}};
    slct.modifiers.type = type;
    slct.modifiers.source_type = Type::s32;
    expect_agrees(slct, [](Lane& l) { l.d = (l.c >> 31) == 0 ? l.a : l.b; });
  }
}

template <class F>
bool has(TestProperty property, F x) {
  switch (property) {
    case TestProperty::finite: return std::isfinite(x);
    case TestProperty::infinite: return std::isinf(x);
    case TestProperty::number: return !std::isnan(x);
    case TestProperty::notanumber: return std::isnan(x);
    case TestProperty::normal: return std::isnormal(x) || x == 0;
    case TestProperty::subnormal: return std::fpclassify(x) == FP_SUBNORMAL;
    case TestProperty::none: break;
  }
  return false;
}

TEST(ComputeCompare, Properties) {
  for (int value = 1; value <= static_cast<int>(TestProperty::subnormal); ++value) {
    const auto property = static_cast<TestProperty>(value);
    for (const Type type : {Type::f32, Type::f64}) {
      TestedInstruction form{
          .name = "testp", .opcode = Opcode::testp_, .operands = {Type::pred, type}};
      form.modifiers.type = type;
      form.modifiers.test = property;
      expect_agrees(form, [&](Lane& l) {
        l.d = type == Type::f32 ? has(property, as_float(l.a)) : has(property, as_double(l.a));
      });
    }
  }
}

TEST(ComputeMove, CopiesAndPredicates) {
  for (const Type type :
       {Type::b32, Type::b64, Type::f32, Type::f64, Type::u32, Type::s64, Type::pred}) {
    TestedInstruction form{.name = "mov", .opcode = Opcode::mov_, .operands = {type, type}};
    form.modifiers.type = type;
    expect_agrees(form, [](Lane& l) { l.d = l.a; });
  }
  struct Row {
    Opcode opcode;
    bool (*f)(bool, bool);
  };
  for (const Row& row : {Row{Opcode::and_, [](bool a, bool b) { return a && b; }},
                         Row{Opcode::or_, [](bool a, bool b) { return a || b; }},
                         Row{Opcode::xor_, [](bool a, bool b) { return a != b; }}}) {
    TestedInstruction form{.name = "logic.pred",
                           .opcode = row.opcode,
                           .operands = {Type::pred, Type::pred, Type::pred}};
    form.modifiers.type = Type::pred;
    expect_agrees(form, [&](Lane& l) { l.d = row.f(l.a != 0, l.b != 0); });
  }
  TestedInstruction form{
      .name = "not.pred", .opcode = Opcode::not_, .operands = {Type::pred, Type::pred}};
  form.modifiers.type = Type::pred;
  expect_agrees(form, [](Lane& l) { l.d = l.a == 0; });
}

TEST(ComputeMove, PacksAndUnpacks) {
  const auto b16 = Type::b16;
  const auto b32 = Type::b32;
  const auto b64 = Type::b64;
  const auto form = [](Type type, std::uint8_t vector, OperandTypes operands) {
    TestedInstruction result{.name = "mov.v", .opcode = Opcode::mov_, .operands = operands};
    result.modifiers.type = type;
    result.modifiers.vector = vector;
    return result;
  };
  expect_agrees(form(b64, 2, {b64, b32, b32}), [](Lane& l) { l.d = l.b << 32 | l.a; });
  expect_agrees(form(b32, 2, {b32, b16, b16}), [](Lane& l) { l.d = l.b << 16 | l.a; });
  expect_agrees(form(b64, 4, {b64, b16, b16, b16, Type::none, b16}),
                [](Lane& l) { l.d = l.f << 48 | l.c << 32 | l.b << 16 | l.a; });
  TestedInstruction halves = form(b64, 2, {b32, b64, Type::none, Type::none, b32});
  halves.destinations = {ComputeOperand::d, ComputeOperand::e};
  expect_agrees(halves, [](Lane& l) {
    l.d = l.a & 0xffffffff;
    l.e = l.a >> 32;
  });
  halves.operands.d = Type::none;  // {_, hi}
  expect_agrees(halves, [](Lane& l) { l.e = l.a >> 32; });
  TestedInstruction words = form(b32, 2, {b16, b32, Type::none, Type::none, b16});
  words.destinations = {ComputeOperand::d, ComputeOperand::e};
  expect_agrees(words, [](Lane& l) {
    l.d = l.a & 0xffff;
    l.e = l.a >> 16;
  });
  TestedInstruction quarters = form(b64, 4, {b16, b64, Type::none, b16, b16, b16});
  quarters.destinations = {ComputeOperand::d, ComputeOperand::e, ComputeOperand::c,
                           ComputeOperand::f};
  expect_agrees(quarters, [](Lane& l) {
    l.d = l.a & 0xffff;
    l.e = l.a >> 16 & 0xffff;
    l.c = l.a >> 32 & 0xffff;
    l.f = l.a >> 48;
  });
}

TEST(ComputeMove, Addresses) {
  struct Row {
    Space space;
    std::uint64_t window;
  };
  for (const Row& row : {Row{Space::global, 0}, Row{Space::constant, 0},
                         Row{Space::shared, kSharedWindow}, Row{Space::local, kLocalWindow}}) {
    TestedInstruction form{
        .name = "cvta", .opcode = Opcode::cvta_, .operands = {Type::u64, Type::u64}};
    form.modifiers.type = Type::u64;
    form.modifiers.space = row.space;
    expect_agrees(form, [&](Lane& l) { l.d = l.a + row.window; });
    form.modifiers.to = true;
    expect_agrees(form, [&](Lane& l) { l.d = l.a - row.window; });
    form.modifiers.type = Type::u32;
    EXPECT_EQ(find_compute(make_instr(form)), nullptr);
  }
}

TEST(ComputeMove, SpaceOfAGenericAddress) {
  TestedInstruction form{
      .name = "isspacep", .opcode = Opcode::isspacep_, .operands = {Type::pred, Type::u64}};
  const struct {
    std::uint64_t address;
    Space space;
  } rows[] = {{kSharedWindow, Space::shared},
              {kSharedWindow + kWindowBytes - 1, Space::shared},
              {kLocalWindow + 4, Space::local},
              {kConstantBase + 8, Space::constant},
              {kGlobalBase, Space::global}};
  for (const Space space : {Space::shared, Space::local, Space::constant, Space::global}) {
    form.modifiers.space = space;
    const Instr instr = make_instr(form);
    for (const auto& row : rows) {
      alignas(64) std::uint64_t wide[2 * kWarpLanes] = {};
      for (unsigned lane = 0; lane < kWarpLanes; ++lane) wide[kWarpLanes + lane] = row.address;
      std::uint32_t predicates[2] = {};
      LaneBanks banks;
      banks.base[static_cast<std::size_t>(Bank::wide)] = reinterpret_cast<std::byte*>(wide);
      banks.base[static_cast<std::size_t>(Bank::predicate)] =
          reinterpret_cast<std::byte*>(predicates);
      find_compute(instr)(banks, instr, 0x0000ffff);
      EXPECT_EQ(predicates[0], space == row.space ? 0x0000ffffu : 0u) << row.address;
    }
  }
}

}  // namespace
}  // namespace warpcheck::vgpu::testing
