// Logic, shifts, bit fields, counts and permutation, compared with the ISA's pseudo-code for one
// lane.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>

#include "vgpu/machine/compute/compute_testing.hpp"
#include "vgpu/ptx/opcode.hpp"

namespace warpcheck::vgpu::testing {
namespace {

using ptx::Modifiers;
using ptx::Opcode;
using ptx::PermuteMode;
using ptx::Type;

unsigned width(Type type) { return 8 * ptx::bytes_of(type); }

std::int64_t sign_extended(Type type, std::uint64_t value) {
  const unsigned unused = 64 - width(type);
  return static_cast<std::int64_t>(value << unused) >> unused;
}

// Compares the instruction with d = f(a, b, c, d), where every value has the width of its type.
void check(Opcode opcode, const OperandTypes& operands,
           const std::function<std::uint64_t(const Lane&)>& f, const Modifiers& modifiers,
           std::int64_t offset = 0) {
  const TestedInstruction form{
      .name = std::string(ptx::name_of(opcode)) + "." + std::string(ptx::name_of(modifiers.type)),
      .opcode = opcode,
      .modifiers = modifiers,
      .operands = operands,
      .offset = offset};
  expect_agrees(form, [&](Lane& lane) { lane.d = low_bits(f(lane), width(operands.d)); });
}

Modifiers of(Type type) {
  Modifiers m;
  m.type = type;
  return m;
}

TEST(ComputeBits, Logic) {
  for (const Type type : {Type::b16, Type::b32, Type::b64}) {
    const OperandTypes two{type, type, type};
    const OperandTypes one{type, type};
    check(
        Opcode::and_, two, [](const Lane& l) { return l.a & l.b; }, of(type));
    check(
        Opcode::or_, two, [](const Lane& l) { return l.a | l.b; }, of(type));
    check(
        Opcode::xor_, two, [](const Lane& l) { return l.a ^ l.b; }, of(type));
    check(
        Opcode::not_, one, [](const Lane& l) { return ~l.a; }, of(type));
    check(
        Opcode::cnot_, one, [](const Lane& l) { return l.a == 0 ? 1u : 0u; }, of(type));
  }
}

std::uint64_t looked_up(const Lane& lane, unsigned table) {
  std::uint64_t result = 0;
  for (unsigned bit = 0; bit < 32; ++bit) {
    const auto index = (lane.a >> bit & 1) << 2 | (lane.b >> bit & 1) << 1 | (lane.c >> bit & 1);
    result |= std::uint64_t{table >> index & 1} << bit;
  }
  return result;
}

TEST(ComputeBits, Lop3) {
  for (unsigned table = 0; table < 256; table += 3) {
    check(
        Opcode::lop3_, {Type::b32, Type::b32, Type::b32, Type::b32},
        [table](const Lane& lane) { return looked_up(lane, table); }, of(Type::b32), table);
  }
  for (const ptx::BoolOp op : {ptx::BoolOp::and_, ptx::BoolOp::or_}) {
    TestedInstruction form{
        .name = "lop3.bool",
        .opcode = Opcode::lop3_,
        .modifiers = of(Type::b32),
        .operands = {Type::b32, Type::b32, Type::b32, Type::b32, Type::pred, Type::pred},
        .destinations = {ComputeOperand::d, ComputeOperand::e},
        .offset = 0x80};
    form.modifiers.bool_op = op;
    expect_agrees(form, [op](Lane& lane) {
      lane.d = looked_up(lane, 0x80);
      const bool set = lane.d != 0;
      lane.e = op == ptx::BoolOp::and_ ? set && lane.f != 0 : set || lane.f != 0;
    });
  }
}

TEST(ComputeBits, Shifts) {
  for (const Type type : {Type::b16, Type::b32, Type::b64}) {
    check(
        Opcode::shl_, {type, type, Type::u32},
        [type](const Lane& l) { return l.b >= width(type) ? 0 : l.a << l.b; }, of(type));
  }
  for (const Type type : {Type::b16, Type::b32, Type::b64, Type::u16, Type::u32, Type::u64}) {
    check(
        Opcode::shr_, {type, type, Type::u32},
        [type](const Lane& l) { return l.b >= width(type) ? 0 : l.a >> l.b; }, of(type));
  }
  for (const Type type : {Type::s16, Type::s32, Type::s64}) {
    check(
        Opcode::shr_, {type, type, Type::u32},
        [type](const Lane& l) {
          const auto amount = std::min<std::uint64_t>(l.b, 63);
          return static_cast<std::uint64_t>(sign_extended(type, l.a) >> amount);
        },
        of(type));
  }
}

TEST(ComputeBits, FunnelShift) {
  for (const bool left : {false, true}) {
    for (const bool wrap : {false, true}) {
      Modifiers m = of(Type::b32);
      m.left = left;
      m.right = !left;
      m.wrap = wrap;
      m.clamp = !wrap;
      check(
          Opcode::shf_, {Type::b32, Type::b32, Type::b32, Type::u32},
          [=](const Lane& l) {
            const std::uint64_t n = wrap ? l.c & 31 : std::min<std::uint64_t>(l.c, 32);
            if (left) return l.b << n | (n == 0 ? 0 : l.a >> (32 - n));
            return (n == 0 ? 0 : l.b << (32 - n)) | l.a >> n;
          },
          m);
    }
  }
}

TEST(ComputeBits, Counts) {
  for (const Type type : {Type::b32, Type::b64}) {
    check(
        Opcode::popc_, {Type::u32, type},
        [](const Lane& l) {
          unsigned count = 0;
          for (unsigned bit = 0; bit < 64; ++bit) count += l.a >> bit & 1;
          return count;
        },
        of(type));
    check(
        Opcode::clz_, {Type::u32, type},
        [type](const Lane& l) {
          unsigned count = 0;
          while (count < width(type) && (l.a >> (width(type) - 1 - count) & 1) == 0) ++count;
          return count;
        },
        of(type));
    check(
        Opcode::brev_, {type, type},
        [type](const Lane& l) {
          std::uint64_t reversed = 0;
          for (unsigned i = 0; i < width(type); ++i) {
            reversed |= (l.a >> i & 1) << (width(type) - 1 - i);
          }
          return reversed;
        },
        of(type));
  }
  for (const Type type : {Type::u32, Type::u64, Type::s32, Type::s64}) {
    for (const bool shift_amount : {false, true}) {
      Modifiers m = of(type);
      m.shift_amount = shift_amount;
      check(
          Opcode::bfind_, {Type::u32, type},
          [=](const Lane& l) {
            const int msb = static_cast<int>(width(type)) - 1;
            std::uint64_t a = l.a;
            if (ptx::is_signed(type) && (a >> msb & 1) != 0) a = ~a;
            for (int i = msb; i >= 0; --i) {
              if ((a >> i & 1) != 0) return static_cast<std::uint64_t>(shift_amount ? msb - i : i);
            }
            return std::uint64_t{0xffffffff};
          },
          m);
    }
  }
}

// A position or a length is the low byte of its operand; this test's 64-bit operands are used as a
// whole.
unsigned field_number(Type type, std::uint64_t x) {
  return static_cast<unsigned>(width(type) == 64 ? std::min<std::uint64_t>(x, 1000) : x & 0xff);
}

TEST(ComputeBits, Fields) {
  for (const Type type : {Type::u32, Type::u64, Type::s32, Type::s64}) {
    check(
        Opcode::bfe_, {type, type, Type::u32, Type::u32},
        [type](const Lane& l) {
          const unsigned msb = width(type) - 1;
          const unsigned pos = field_number(type, l.b);
          const unsigned len = field_number(type, l.c);
          const bool sign =
              ptx::is_signed(type) && len != 0 && (l.a >> std::min(pos + len - 1, msb) & 1) != 0;
          std::uint64_t d = 0;
          for (unsigned i = 0; i <= msb; ++i) {
            const bool bit = i < len && pos + i <= msb ? (l.a >> (pos + i) & 1) != 0 : sign;
            d |= std::uint64_t{bit} << i;
          }
          return d;
        },
        of(type));
  }
  for (const Type type : {Type::b32, Type::b64}) {
    check(
        Opcode::bfi_, {type, type, type, Type::u32, Type::none, Type::u32},
        [type](const Lane& l) {
          const unsigned msb = width(type) - 1;
          const unsigned pos = field_number(type, l.c);
          const unsigned len = field_number(type, l.f);
          std::uint64_t f = l.b;
          for (unsigned i = 0; i < len && pos + i <= msb; ++i) {
            const std::uint64_t bit = std::uint64_t{1} << (pos + i);
            f = (l.a >> i & 1) != 0 ? f | bit : f & ~bit;
          }
          return f;
        },
        of(type));
  }
}

TEST(ComputeBits, MaskAndExtension) {
  for (const bool clamp : {false, true}) {
    Modifiers m = of(Type::b32);
    m.clamp = clamp;
    m.wrap = !clamp;
    check(
        Opcode::bmsk_, {Type::b32, Type::u32, Type::u32},
        [clamp](const Lane& l) {
          const auto ones = [](std::uint64_t by) { return low_bits(~std::uint64_t{0} << by, 32); };
          const std::uint64_t a1 = l.a & 31;
          const std::uint64_t b1 = l.b & 31;
          std::uint64_t mask0 = ones(a1);
          std::uint64_t mask1 = ones(std::min<std::uint64_t>(a1 + b1, 32));
          bool overflow = a1 + b1 >= 32;
          if (clamp && l.a >= 32) {
            overflow = true;
            mask0 = 0;
          }
          if (clamp && l.b >= 32) overflow = true;
          if (overflow) {
            mask1 = 0;
          } else if (b1 == 0) {
            mask1 = 0xffffffff;
          }
          return mask0 & ~mask1;
        },
        m);
    for (const Type type : {Type::u32, Type::s32}) {
      m.type = type;
      check(
          Opcode::szext_, {type, type, Type::u32},
          [=](const Lane& l) {
            const auto b1 = static_cast<unsigned>(l.b & 31);
            const bool too_large = l.b >= 32 && clamp;
            const std::uint64_t mask = too_large ? 0 : ~std::uint64_t{0} << b1;
            const bool sign =
                b1 != 0 && !too_large && type == Type::s32 && (l.a >> ((b1 - 1) & 31) & 1) != 0;
            return (l.a & ~mask) | (sign ? mask : 0);
          },
          m);
    }
  }
}

TEST(ComputeBits, FindNthSet) {
  TestedInstruction form{.name = "fns.b32",
                         .opcode = Opcode::fns_,
                         .modifiers = of(Type::b32),
                         .operands = {Type::b32, Type::b32, Type::u32, Type::s32}};
  expect_agrees(
      form,
      [](Lane& lane) {
        const auto offset = static_cast<std::int64_t>(static_cast<std::int32_t>(lane.c));
        const auto set = [&](std::int64_t at) { return (lane.a >> at & 1) != 0; };
        lane.d = offset == INT32_MIN ? 0 : 0xffffffff;
        if (lane.b > 31 || offset == INT32_MIN) return;
        if (offset == 0) {
          if (set(static_cast<std::int64_t>(lane.b))) lane.d = lane.b;
          return;
        }
        std::int64_t count = (offset < 0 ? -offset : offset) - 1;
        for (auto at = static_cast<std::int64_t>(lane.b);
             at >= 0 && at<32; at += offset> 0 ? 1 : -1) {
          if (!set(at)) continue;
          if (count-- == 0) {
            lane.d = static_cast<std::uint64_t>(at);
            return;
          }
        }
      },
      200);
}

// The byte of {b, a} that each mode of prmt selects for each place, by the two low bits of c (PTX
// ISA, prmt).
unsigned source_byte(PermuteMode mode, unsigned place, unsigned c) {
  switch (mode) {
    case PermuteMode::f4e: return c + place;
    case PermuteMode::b4e: return (8 + c - place) % 8;
    case PermuteMode::rc8: return c;
    case PermuteMode::ecl: return std::max(c, place);
    case PermuteMode::ecr: return std::min(c, place);
    case PermuteMode::rc16: return (c & 1) * 2 + place % 2;
    case PermuteMode::none: break;
  }
  return 0;
}

TEST(ComputeBits, Permute) {
  const OperandTypes operands{Type::b32, Type::b32, Type::b32, Type::b32};
  check(
      Opcode::prmt_, operands,
      [](const Lane& l) {
        const std::uint64_t bytes = l.b << 32 | l.a;
        std::uint64_t d = 0;
        for (unsigned place = 0; place < 4; ++place) {
          const std::uint64_t selector = l.c >> (4 * place) & 0xf;
          std::uint64_t byte = bytes >> (8 * (selector & 7)) & 0xff;
          if ((selector & 8) != 0) byte = (byte & 0x80) != 0 ? 0xff : 0;
          d |= byte << (8 * place);
        }
        return d;
      },
      of(Type::b32));
  for (const PermuteMode mode : {PermuteMode::f4e, PermuteMode::b4e, PermuteMode::rc8,
                                 PermuteMode::ecl, PermuteMode::ecr, PermuteMode::rc16}) {
    Modifiers m = of(Type::b32);
    m.permute = mode;
    check(
        Opcode::prmt_, operands,
        [mode](const Lane& l) {
          const std::uint64_t bytes = l.b << 32 | l.a;
          std::uint64_t d = 0;
          for (unsigned place = 0; place < 4; ++place) {
            const unsigned from = source_byte(mode, place, static_cast<unsigned>(l.c & 3));
            d |= (bytes >> (8 * from) & 0xff) << (8 * place);
          }
          return d;
        },
        m);
  }
}

}  // namespace
}  // namespace warpcheck::vgpu::testing
