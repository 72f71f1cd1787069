// Packed video instructions whose elements stay in their places have functions of their own.  Each
// is compared with the general function: there, the registers of a and b are exchanged, and their
// elements are selected accordingly.
#include <gtest/gtest.h>

#include <array>
#include <random>

#include "vgpu/machine/compute/compute.hpp"
#include "vgpu/program/program.hpp"
#include "vgpu/program/video.hpp"
#include "vgpu/ptx/opcode.hpp"

namespace warpcheck::vgpu {
namespace {

using ptx::Opcode;
using ptx::Type;

using Rows = std::array<std::array<std::uint32_t, kWarpLanes>, 4>;  // the rows of d, a, b, c

Instr packed_video(Opcode opcode, bool in_place) {
  const unsigned elements = video_elements(opcode);
  VideoOperands operands;
  operands.mask = static_cast<std::uint8_t>((1u << elements) - 1);
  for (unsigned i = 0; i < elements; ++i) {
    operands.of_a[i] = static_cast<std::uint8_t>(in_place ? i : elements + i);
    operands.of_b[i] = static_cast<std::uint8_t>(in_place ? elements + i : i);
  }
  Instr instr;
  instr.kind = InstrKind::compute;
  instr.opcode = opcode;
  instr.packed = encoded(operands);
  instr[ComputeOperand::d] = {Bank::word, 0};
  instr[ComputeOperand::a] = {Bank::word, in_place ? kWordRowBytes : 2 * kWordRowBytes};
  instr[ComputeOperand::b] = {Bank::word, in_place ? 2 * kWordRowBytes : kWordRowBytes};
  instr[ComputeOperand::c] = {Bank::word, 3 * kWordRowBytes};
  return instr;
}

void execute(Instr& instr, Rows& rows, std::uint32_t mask) {
  const ComputeFn function = find_compute(instr);
  ASSERT_NE(function, nullptr);
  LaneBanks banks;
  banks.base[0] = reinterpret_cast<std::byte*>(rows.data());
  function(banks, instr, mask);
}

void expect_same(Opcode opcode, std::uint32_t form, std::mt19937& random) {
  Instr in_place = packed_video(opcode, true), general = packed_video(opcode, false);
  for (Instr* instr : {&in_place, &general}) {
    instr->modifiers.type = (form & 1) != 0 ? Type::s32 : Type::u32;
    instr->modifiers.source_type = (form & 2) != 0 ? Type::s32 : Type::u32;
    instr->modifiers.third_type = (form & 4) != 0 ? Type::s32 : Type::u32;
    instr->modifiers.sat = (form & 24) == 8;
    if ((form & 24) == 16) instr->modifiers.atom_op = ptx::AtomOp::add;
  }
  alignas(64) Rows rows;
  for (auto& row : rows) {
    for (std::uint32_t& lane : row) lane = static_cast<std::uint32_t>(random());
  }
  alignas(64) Rows expected = rows;
  const std::uint32_t mask = (form & 32) != 0 ? 0x7fff'fffeu : ~0u;
  execute(in_place, rows, mask);
  execute(general, expected, mask);
  EXPECT_EQ(rows, expected) << "opcode " << static_cast<int>(opcode) << ", form " << form;
}

TEST(PackedVideo, InPlaceIsWhatItIsElsewhere) {
  std::mt19937 random(1);
  for (const Opcode opcode :
       {Opcode::vadd2_, Opcode::vadd4_, Opcode::vsub2_, Opcode::vsub4_, Opcode::vavrg2_,
        Opcode::vavrg4_, Opcode::vabsdiff2_, Opcode::vabsdiff4_, Opcode::vmin2_, Opcode::vmin4_,
        Opcode::vmax2_, Opcode::vmax4_}) {
    for (std::uint32_t form = 0; form < 64; ++form) {
      if ((form & 24) == 24) continue;
      for (int round = 0; round < 8; ++round) expect_same(opcode, form, random);
    }
  }
}

}  // namespace
}  // namespace warpcheck::vgpu
