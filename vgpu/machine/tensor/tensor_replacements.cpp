// tensormap.replace: a lane reads a tensor map, changes a field, and writes the map back, like
// loads and stores of all its bytes.
// tensormap.cp_fenceproxy: a warp copies a tensor map, a word by each lane.
#include <bit>
#include <cstring>

#include "vgpu/machine/tensor/tensor_copies.hpp"
#include "vgpu/program/tensor_field.hpp"

namespace warpcheck::vgpu {

namespace {

// .elemtype has other numbers than CUtensorMapDataType.
constexpr TensorElement kElements[] = {
    TensorElement::u8,       TensorElement::u16, TensorElement::u32,       TensorElement::s32,
    TensorElement::u64,      TensorElement::s64, TensorElement::f16,       TensorElement::f32,
    TensorElement::f32_ftz,  TensorElement::f64, TensorElement::bf16,      TensorElement::tf32,
    TensorElement::tf32_ftz, TensorElement::u4,  TensorElement::u4_padded, TensorElement::u6_padded,
};

// .swizzle_atomicity, of a map that swizzles 128 bytes: units of 16, 32 or 64 bytes.
constexpr TensorSwizzle kAtoms[] = {TensorSwizzle::bytes_128, TensorSwizzle::bytes_128_of_32,
                                    TensorSwizzle::bytes_128_of_32_and_flips,
                                    TensorSwizzle::bytes_128_of_64};

void replace_swizzle(TensorMap& map, TensorSwizzle mode) {
  const bool has_atoms = map.swizzle > TensorSwizzle::bytes_128;
  if (mode != TensorSwizzle::bytes_128 || !has_atoms) map.swizzle = mode;
}

void replace_field(TensorMap& map, const TensorReplacement& what, std::uint64_t value) {
  map.unset &= ~field_bit(what.field, what.ordinal);
  switch (what.field) {
    case TensorField::address: map.address = value; break;
    case TensorField::rank: map.rank = static_cast<std::uint32_t>(value) + 1; break;
    case TensorField::box: map.box[what.ordinal] = static_cast<std::uint16_t>(value); break;
    case TensorField::size: map.size[what.ordinal] = value; break;
    case TensorField::stride: map.stride[what.ordinal] = value; break;
    case TensorField::element_step:
      map.element_step[what.ordinal] = static_cast<std::uint8_t>(value);
      break;
    case TensorField::element: map.element = kElements[value]; break;
    case TensorField::swizzle: replace_swizzle(map, static_cast<TensorSwizzle>(value)); break;
    case TensorField::fill: map.fills_with_nan = value != 0; break;
    case TensorField::atomicity:
      if (map.swizzle >= TensorSwizzle::bytes_128) map.swizzle = kAtoms[value];
      break;
    case TensorField::interleave: map.interleave = static_cast<TensorInterleave>(value); break;
  }
}

}  // namespace

Step TensorCopies::replace(RunningFragment& run, const Instr& instr, std::uint32_t lanes) {
  launch_.use_of_undefined(run, UndefinedUse::Kind::address, instr[TensorOperand::coordinates],
                           lanes);
  for (std::uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
    const Step step = replace_in_lane(run, instr, static_cast<unsigned>(std::countr_zero(rest)));
    if (step == Step::halted) return step;
  }
  return Step::again;
}

Step TensorCopies::replace_in_lane(RunningFragment& run, const Instr& instr, unsigned lane) {
  constexpr std::uint8_t kWords = 4;
  constexpr std::uint32_t kStoreBytes = kWords * sizeof(std::uint32_t);
  const ptx::Space space = instr.modifiers.space;
  std::optional<TensorMap> map = read_map(run, instr, space, lane);
  if (!map) {
    const std::byte* const addresses = row_of(run.banks, instr[TensorOperand::map]);
    return is_no_map(run, lane, address_of({addresses, true, 0, 0}, lane));
  }
  const Ref& value = instr[TensorOperand::coordinates];
  std::uint64_t bits = 0;
  const std::size_t bytes = value.bank == Bank::wide ? sizeof bits : sizeof(std::uint32_t);
  std::memcpy(&bits, row_of(run.banks, value) + lane * bytes, bytes);
  replace_field(*map, tensor_replacement_of(instr.packed), bits);
  const TensorMapBytes packed = pack(*map);
  Instr store = part_of_bulk(instr, InstrKind::store, space, ptx::Type::b32, kWords);
  store[MemoryOperand::address] = instr[TensorOperand::map];
  for (std::uint32_t at = 0; at < kTensorMapBytes; at += kStoreBytes) {
    store.displacement = at;
    for (std::uint32_t word = 0; word < kWords; ++word) {
      const Ref row = row_after(instr[TensorOperand::rows], word);
      std::memcpy(row_of(run.banks, row) + lane * sizeof(std::uint32_t),
                  packed.data() + at + word * sizeof(std::uint32_t), sizeof(std::uint32_t));
      store[MemoryOperand::value + word] = row;
    }
    dependencies_.accesses.execute(run, store, 1u << lane);
  }
  return Step::again;
}

// The copy is one operation of the warp (.sync.aligned), so its parts are in the program order of
// no single lane.  The lanes wait for it together (Copies::commit_or_wait).
Step TensorCopies::copy_map(RunningFragment& run, const Instr& instr, std::uint32_t lanes) {
  dependencies_.current.begin_asynchronous();
  for (const bool is_load : {true, false}) {
    Instr part = part_of_bulk(instr, is_load ? InstrKind::load : InstrKind::store,
                              is_load ? ptx::Space::shared : ptx::Space::global, ptx::Type::b32, 1);
    part[MemoryOperand::address] = instr[is_load ? TensorOperand::shared : TensorOperand::map];
    part[MemoryOperand::value] = instr[TensorOperand::rows];
    dependencies_.accesses.execute(run, part, lanes);
  }
  dependencies_.current.end_asynchronous();
  return Step::again;
}

}  // namespace warpcheck::vgpu
