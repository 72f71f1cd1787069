// Moves: mov with packing and unpacking, predicate logic, cvta, isspacep.
//
// PTX ISA 9.0, 9.7.9.1 - 9.7.9.4 (mov, isspacep, cvta), 9.7.8 (logic on .pred).
// Global and constant addresses are their own generic addresses; shared and local memory appear
// in windows of the generic space (memory.hpp).
#include "vgpu/machine/compute/compute_families.hpp"
#include "vgpu/machine/compute/lanes.hpp"
#include "vgpu/machine/memory/memory.hpp"
#include "vgpu/ptx/opcode.hpp"

namespace warpcheck::vgpu::WARPCHECK_SIMD {
namespace {

using ptx::Opcode;
using ptx::Space;
using ptx::Type;
using Word = std::uint32_t;
using Wide = std::uint64_t;

struct Copy {
  template <class T>
  T operator()(T a) const {
    return a;
  }
};

// d = {part, part ...}: kParts parts of kBits bits each.
template <class D, class Part, unsigned kParts>
void pack(const LaneBanks& banks, const Instr& instr, std::uint32_t mask) {
  constexpr unsigned kBits = 8 * sizeof(D) / kParts;
  alignas(64) Bits<D> values[kWarpLanes] = {};
  for (unsigned part = 0; part < kParts; ++part) {
    const Bits<Part>* source = row<Part>(banks, instr[kComputeSources[part]]);
    WARPCHECK_EACH_LANE(lane) {
      const Bits<D> bits = source[lane] & ((Bits<D>{1} << kBits) - 1);
      values[lane] |= bits << (kBits * part);
    }
  }
  blend(row<D>(banks, instr[ComputeOperand::d]), values, mask);
}

// {part, part ...} = a; parts that are absent are dropped.
template <class S, unsigned kParts>
void unpack(const LaneBanks& banks, const Instr& instr, std::uint32_t mask) {
  constexpr unsigned kBits = 8 * sizeof(S) / kParts;
  alignas(64) Bits<S> source[kWarpLanes];
  __builtin_memcpy(source, row<S>(banks, instr[ComputeOperand::a]), sizeof source);
  for (unsigned part = 0; part < kParts; ++part) {
    const Ref destination = instr[kUnpackedParts[part]];
    if (!present(destination)) continue;
    alignas(64) Word values[kWarpLanes];
    WARPCHECK_EACH_LANE(lane) {
      values[lane] =
          static_cast<Word>((source[lane] >> (kBits * part)) & ((Bits<S>{1} << kBits) - 1));
    }
    blend(row<Word>(banks, destination), values, mask);
  }
}

ComputeFn find_vector_mov(const Instr& instr) {
  const ptx::Modifiers& m = instr.modifiers;
  const bool packs = present(instr[ComputeOperand::b]);
  switch (ptx::bytes_of(m.type) * 10 + m.vector) {
    case 22: return packs ? pack<std::uint16_t, Word, 2> : unpack<std::uint16_t, 2>;
    case 42: return packs ? pack<Word, Word, 2> : unpack<Word, 2>;
    case 44: return packs ? pack<Word, Word, 4> : unpack<Word, 4>;
    case 82: return packs ? pack<Wide, Word, 2> : unpack<Wide, 2>;
    case 84: return packs ? pack<Wide, Word, 4> : unpack<Wide, 4>;
    default: return nullptr;
  }
}

void mov_predicate(const LaneBanks& banks, const Instr& instr, std::uint32_t mask) {
  write_predicate(banks, instr[ComputeOperand::d], predicate(banks, instr[ComputeOperand::a]),
                  mask);
}

void not_predicate(const LaneBanks& banks, const Instr& instr, std::uint32_t mask) {
  write_predicate(banks, instr[ComputeOperand::d], ~predicate(banks, instr[ComputeOperand::a]),
                  mask);
}

template <Opcode kOp>
void logic_predicate(const LaneBanks& banks, const Instr& instr, std::uint32_t mask) {
  const Word a = predicate(banks, instr[ComputeOperand::a]);
  const Word b = predicate(banks, instr[ComputeOperand::b]);
  const Word bits = kOp == Opcode::and_ ? a & b : kOp == Opcode::or_ ? a | b : a ^ b;
  write_predicate(banks, instr[ComputeOperand::d], bits, mask);
}

ComputeFn find_predicate_logic(Opcode opcode) {
  switch (opcode) {
    case Opcode::mov_: return mov_predicate;
    case Opcode::not_: return not_predicate;
    case Opcode::and_: return logic_predicate<Opcode::and_>;
    case Opcode::or_: return logic_predicate<Opcode::or_>;
    case Opcode::xor_: return logic_predicate<Opcode::xor_>;
    default: return nullptr;
  }
}

ComputeFn find_mov(const Instr& instr) {
  if (instr.modifiers.vector != 1) return find_vector_mov(instr);
  switch (ptx::bytes_of(instr.modifiers.type)) {
    case 1:
    case 2:
    case 4: return lanewise<Copy, Word, Word>;
    case 8: return lanewise<Copy, Wide, Wide>;
    default: return nullptr;
  }
}

constexpr Wide start_of_window(Space space) {
  return space == Space::shared  ? kSharedWindow
         : space == Space::local ? kLocalWindow
                                 : kParamWindow;
}

// cvta: adds the start of the space's window, or takes it off again.
struct AddWindow {
  explicit AddWindow(const Instr& instr) {
    const Wide cluster = instr.modifiers.cluster ? kClusterOffset : 0;
    const Wide window = start_of_window(instr.modifiers.space) + cluster;
    offset = instr.modifiers.to ? Wide{0} - window : window;
  }
  Wide operator()(Wide address) const { return address + offset; }
  Wide offset;
};

ComputeFn find_cvta(const ptx::Modifiers& m) {
  // Generic addresses do not fit in 32 bits.
  if (m.type != Type::u64) return nullptr;
  switch (m.space) {
    case Space::global:
    case Space::constant: return lanewise<Copy, Wide, Wide>;
    case Space::shared:
    case Space::param:
    case Space::local: return lanewise<AddWindow, Wide, Wide>;
    default: return nullptr;
  }
}

struct Range {
  Wide begin, end;
};

Range window_of(Space space) {
  switch (space) {
    case Space::shared:
    case Space::param:
    case Space::local: return {start_of_window(space), start_of_window(space) + kWindowBytes};
    case Space::constant: return {kConstantBase, kGlobalBase};
    default: return {kGlobalBase, ~Wide{0}};
  }
}

void isspacep(const LaneBanks& banks, const Instr& instr, std::uint32_t mask) {
  const Wide* a = row<Wide>(banks, instr[ComputeOperand::a]);
  Range window = window_of(instr.modifiers.space);
  if (instr.modifiers.cluster) window.end = kSharedWindow + kReservedSharedOffset;
  Word bits = 0;
  for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
    bits |= Word{a[lane] >= window.begin && a[lane] < window.end} << lane;
  }
  write_predicate(banks, instr[ComputeOperand::d], bits, mask);
}

ComputeFn find_isspacep(const Instr& instr) {
  switch (instr.modifiers.space) {
    case Space::global:
    case Space::constant:
    case Space::shared:
    case Space::param:
    case Space::local: return instr[ComputeOperand::a].bank == Bank::word ? nullptr : isspacep;
    default: return nullptr;
  }
}

}  // namespace

ComputeFn find_move(const Instr& instr) {
  if (instr.modifiers.type == Type::pred) return find_predicate_logic(instr.opcode);
  switch (instr.opcode) {
    case Opcode::mov_: return find_mov(instr);
    case Opcode::cvta_: return find_cvta(instr.modifiers);
    case Opcode::isspacep_: return find_isspacep(instr);
    default: return nullptr;
  }
}

}  // namespace warpcheck::vgpu::WARPCHECK_SIMD
