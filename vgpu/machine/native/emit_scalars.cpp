// Emits reads of parameters and special registers: values that all lanes share, or that increase
// from lane to lane.
#include <optional>

#include "vgpu/machine/native/compute_emitter.hpp"

namespace warpcheck::vgpu::native {

using ptx::SpecialRegister;

namespace {

// The location of one extent of the launch in the frame: the field that points at the Dim3, and the
// offset in the Dim3.
struct Dimension {
  std::size_t field;
  std::uint32_t offset;
};

std::optional<Dimension> dimension_of(SpecialRegister special) {
  switch (special) {
    case SpecialRegister::ntid_x: return Dimension{offsetof(NativeFrame, block), offsetof(Dim3, x)};
    case SpecialRegister::ntid_y: return Dimension{offsetof(NativeFrame, block), offsetof(Dim3, y)};
    case SpecialRegister::ntid_z: return Dimension{offsetof(NativeFrame, block), offsetof(Dim3, z)};
    case SpecialRegister::nctaid_x:
      return Dimension{offsetof(NativeFrame, grid), offsetof(Dim3, x)};
    case SpecialRegister::nctaid_y:
      return Dimension{offsetof(NativeFrame, grid), offsetof(Dim3, y)};
    case SpecialRegister::nctaid_z:
      return Dimension{offsetof(NativeFrame, grid), offsetof(Dim3, z)};
    case SpecialRegister::ctaid_x:
      return Dimension{offsetof(NativeFrame, position), offsetof(Dim3, x)};
    case SpecialRegister::ctaid_y:
      return Dimension{offsetof(NativeFrame, position), offsetof(Dim3, y)};
    case SpecialRegister::ctaid_z:
      return Dimension{offsetof(NativeFrame, position), offsetof(Dim3, z)};
    default: return std::nullopt;
  }
}

}  // namespace

bool ComputeEmitter::parameter(const Instr& instr) {
  const std::uint32_t bytes = ptx::bytes_of(instr.modifiers.type);
  const Ref& to = instr[ScalarOperand::result];
  if (to.bank != (bytes == 8 ? Bank::wide : Bank::word) || (bytes != 4 && bytes != 8)) return false;
  a.mov(x86::rax, field(offsetof(NativeFrame, parameters), 8));
  const x86::Mem from(x86::rax, static_cast<std::int32_t>(instr.parameter_offset), bytes);
  const x86::Vec value = once_ ? result(to, 0, 0) : vec(0);
  a.emit(bytes == 8 ? Inst::kIdVpbroadcastq : Inst::kIdVpbroadcastd, value, from);
  for_each_part(bytes == 8, [&](std::uint32_t byte) { store_row(to, byte, bytes == 8, value); });
  return true;
}

bool ComputeEmitter::special(const Instr& instr) {
  static_assert(sizeof(Dim3::x) == 4);
  const Ref& to = instr[ScalarOperand::result];
  if (to.bank != Bank::word) return false;
  if (const auto dimension = dimension_of(instr.special)) {
    a.mov(x86::rax, field(dimension->field, 8));
    const x86::Vec value = once_ ? result(to, 0, 0) : vec(0);
    a.vpbroadcastd(value, x86::Mem(x86::rax, static_cast<std::int32_t>(dimension->offset), 4));
    for_each_part(false, [&](std::uint32_t byte) { store_row(to, byte, false, value); });
    return true;
  }
  if (instr.special == SpecialRegister::laneid) {
    for_each_part(false, [&](std::uint32_t byte) {
      load(vec(0), table(offsetof(Tables, word_lanes) + byte));
      store_row(to, byte, false, vec(0));
    });
    return true;
  }
  const bool is_place = instr.special == SpecialRegister::tid_x ||
                        instr.special == SpecialRegister::tid_y ||
                        instr.special == SpecialRegister::tid_z;
  if (!is_place) return false;
  const std::uint32_t row = instr.special == SpecialRegister::tid_x   ? 0
                            : instr.special == SpecialRegister::tid_y ? 1
                                                                      : 2;
  a.mov(x86::rax, field(offsetof(NativeFrame, threads), 8));
  for_each_part(false, [&](std::uint32_t byte) {
    load(vec(0), x86::Mem(x86::rax, static_cast<std::int32_t>(row * kWordRowBytes + byte), 0));
    store_row(to, byte, false, vec(0));
  });
  return true;
}

}  // namespace warpcheck::vgpu::native
