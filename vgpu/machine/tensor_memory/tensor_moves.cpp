// tcgen05.ld, st, shift and commit (PTX ISA 9.0, 9.7.16.8, 9.7.16.9.3 and 9.7.16.12).
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include <fmt/format.h>

#include "vgpu/machine/tensor_memory/tensor_memory.hpp"
#include "vgpu/ptx/opcode.hpp"

namespace warpcheck::vgpu {

namespace {

constexpr std::uint32_t kWarpsOfGroup = 4;

// A place relative to the address of a move.
struct MovePlace {
  std::uint32_t lane = 0, column = 0;
};

// Returns where register `number` of a thread lies, in words without gaps (figures of 9.7.16.2.3).
MovePlace place_in_shape(TensorShape shape, std::uint32_t thread, std::uint32_t number) {
  const std::uint32_t group = thread / 4, in_group = thread % 4;
  switch (shape) {
    case TensorShape::m32x32: return {thread, number};
    case TensorShape::m16x64: return {group + 8 * (thread & 1), 2 * number + (thread >> 1 & 1)};
    case TensorShape::m16x128: return {group + 8 * (number % 2), 4 * (number / 2) + in_group};
    case TensorShape::m16x256:
      return {group + 8 * (number % 4 / 2), 8 * (number / 4) + 2 * in_group + number % 2};
    case TensorShape::m16x32x2: return {thread % 16, number};
  }
  return {};
}

// Returns the words of a lane that a shape's smallest form moves, or half of them for x2.
std::uint32_t words_of_lane(TensorShape shape) {
  switch (shape) {
    case TensorShape::m16x64: return 2;
    case TensorShape::m16x128: return 4;
    case TensorShape::m16x256: return 8;
    default: return 1;
  }
}

bool has_halves(const TensorMemoryInstr& tensor) { return tensor.shape == TensorShape::m16x32x2; }

// Calls visit(thread, register, index of the word); with packing there are two words, the one of
// the lower half first.
template <typename Visit>
void for_each_word(const TensorMemoryInstr& tensor, const TensorAddress& base,
                   std::uint32_t half_offset, std::uint32_t lanes, Visit visit) {
  const std::uint32_t step = tensor.packs ? 2 : 1;
  for (std::uint32_t number = 0; number < tensor.values.size(); ++number) {
    for (std::uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
      const auto thread = static_cast<std::uint32_t>(std::countr_zero(rest));
      const MovePlace place = place_in_shape(tensor.shape, thread, number);
      const std::uint32_t half = has_halves(tensor) && thread >= 16 ? half_offset : 0;
      const std::uint32_t column = base.column + place.column * step + half;
      visit(thread, number, TensorBlock::index(base.lane + place.lane, column));
    }
  }
}

constexpr std::uint32_t kFloatSign = 0x8000'0000, kFloatInfinity = 0x7f80'0000,
                        kFloatNan = 0x7fff'ffff;

bool is_nan_word(std::uint32_t word) { return (word & ~kFloatSign) > kFloatInfinity; }

std::uint32_t reduced_operand(const TensorReduction& reduction, std::uint32_t word) {
  if (reduction.type != ptx::Type::f32) return word;
  if (is_nan_word(word)) return kFloatNan;
  return reduction.absolute ? word & ~kFloatSign : word;
}

// Returns the lesser or the greater one, as min and max do (9.7.1.11, 9.7.3.11): -0 is less than
// +0.
std::uint32_t reduced_pair(const TensorReduction& reduction, std::uint32_t x, std::uint32_t y) {
  if (reduction.type == ptx::Type::u32) {
    return reduction.is_max ? std::max(x, y) : std::min(x, y);
  }
  const bool is_float = reduction.type == ptx::Type::f32;
  if (is_float && (is_nan_word(x) || is_nan_word(y))) {
    return reduction.propagates_nan ? kFloatNan : is_nan_word(x) ? y : x;
  }
  // The order of floats is that of integers whose negative numbers are complements.
  const auto key = [&](std::uint32_t word) {
    const bool flips = is_float && (word & kFloatSign) != 0;
    return static_cast<std::int32_t>(flips ? word ^ ~kFloatSign : word);
  };
  return (key(x) < key(y)) == reduction.is_max ? y : x;
}

}  // namespace

std::vector<TensorArea> TensorMemory::areas_of_move(const Operation& op, bool writes) const {
  const TensorMemoryInstr& tensor = op.tensor;
  const TensorAddress base = op.at(tensor.address, tensor.offset);
  const auto repetitions =
      static_cast<std::uint32_t>(tensor.values.size()) / registers_of(tensor.shape);
  const std::uint32_t columns = repetitions * words_of_lane(tensor.shape) * (tensor.packs ? 2 : 1);
  const std::uint32_t lanes = tensor.shape == TensorShape::m32x32 ? 32 : 16;
  std::vector<TensorArea> areas{
      {op.run.slot.block, base.lane, lanes, base.column, columns, writes}};
  if (!has_halves(tensor)) return areas;
  areas.push_back(areas.front());
  areas.back().first_column += op.word(tensor.half_offset);
  return areas;
}

// Warp w of a warpgroup may access the lanes from 32 w on (9.7.16.8.1).
std::string TensorMemory::misuse_of_move(const Operation& op,
                                         std::span<const TensorArea> areas) const {
  const std::uint32_t warp = op.run.warp.index % kWarpsOfGroup;
  const std::uint32_t own = warp * kLanesOfPart;
  for (const TensorArea& area : areas) {
    if (area.first_lane < own || area.first_lane + area.lanes > own + kLanesOfPart) {
      return fmt::format(
          "warp {} of its warpgroup accesses lanes {} to {} of tensor memory; it "
          "may access lanes {} to {}",
          warp, area.first_lane, area.first_lane + area.lanes - 1, own, own + kLanesOfPart - 1);
    }
    if (area.first_lane % area.lanes != 0) {
      return fmt::format("the address has lane {}, which is no multiple of {}", area.first_lane,
                         area.lanes);
    }
    if (std::string lack = lack_of(area); !lack.empty()) return lack;
  }
  return {};
}

// Returns whether all threads of the warp have the same address, as they must.
bool TensorMemory::has_one_address(const Operation& op) {
  for (std::uint32_t rest = op.lanes; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    if (word_of(op.run.banks, op.tensor.address, lane) != op.word(op.tensor.address)) return false;
  }
  return true;
}

Step TensorMemory::fail_addresses(const Operation& op) const {
  return fail(op, Trap::Cause::tensor_rule,
              "(1): the threads of the warp have different addresses in tensor memory");
}

Step TensorMemory::load(const Operation& op) {
  const TensorMemoryInstr& tensor = op.tensor;
  if (!has_one_address(op)) return fail_addresses(op);
  const std::vector<TensorArea> areas = areas_of_move(op, false);
  if (const std::string why = misuse_of_move(op, areas); !why.empty()) {
    return fail(op, Trap::Cause::tensor_bounds, "(1): " + why);
  }
  notify(op, areas);
  const TensorBlock& block = block_of(op.run.slot);
  const bool is_followed = launch_.observers().undefined_memory != nullptr;
  std::vector<UndefinedLanes> undefined_in(tensor.values.size());
  bool finds_unwritten = false;
  const std::uint32_t half_offset = has_halves(tensor) ? op.word(tensor.half_offset) : 0;
  for_each_word(tensor, op.at(tensor.address, tensor.offset), half_offset, op.lanes,
                [&](std::uint32_t thread, std::uint32_t number, std::size_t at) {
                  const Ref& to = tensor.values[number];
                  for (std::size_t i = at; i < at + (tensor.packs ? 2 : 1); ++i) {
                    const std::uint32_t origin = block.origin_of(block.states[i], op.run.pc);
                    if (origin == ptx::kNone) continue;
                    finds_unwritten |= block.states[i] == TensorBlock::kUnwritten;
                    undefined_in[number].mask |= 1u << thread;
                    undefined_in[number].origin = origin;
                  }
                  if (to.bank == Bank::none) return;
                  const std::uint32_t word =
                      tensor.packs ? (block.words[at] & 0xffff) | block.words[at + 1] << 16
                                   : block.words[at];
                  std::memcpy(row_of(op.run.banks, to) + thread * sizeof word, &word, sizeof word);
                });
  if (tensor.reduction.type != ptx::Type::none) reduce(op, half_offset);
  UndefinedRegisters& undefined = op.run.warp.undefined;
  const auto mark = [&](const Ref& row, const UndefinedLanes& found) {
    const UndefinedLanes value = is_followed ? found : UndefinedLanes{};
    if (row.bank == Bank::none || (value.mask == 0 && !undefined.any())) return;
    undefined.set(op.run.frame, row, value, op.lanes, launch_.program());
  };
  if (finds_unwritten) report_unwritten(op);
  UndefinedLanes any;
  for (std::size_t i = 0; i < tensor.values.size(); ++i) {
    mark(tensor.values[i], undefined_in[i]);
    if (undefined_in[i].mask == 0) continue;
    any.mask |= undefined_in[i].mask;
    any.origin = undefined_in[i].origin;
  }
  if (tensor.reduction.type != ptx::Type::none) mark(tensor.reduced, any);
  return Step::again;
}

// Writes what each thread has reduced its words to.
void TensorMemory::reduce(const Operation& op, std::uint32_t half_offset) const {
  const TensorMemoryInstr& tensor = op.tensor;
  if (tensor.reduced.bank == Bank::none) return;
  const TensorBlock& block = block_of(op.run.slot);
  std::array<std::uint32_t, kWarpLanes> results{};
  for_each_word(tensor, op.at(tensor.address, tensor.offset), half_offset, op.lanes,
                [&](std::uint32_t thread, std::uint32_t number, std::size_t at) {
                  const std::uint32_t word = reduced_operand(tensor.reduction, block.words[at]);
                  results[thread] =
                      number == 0 ? word : reduced_pair(tensor.reduction, results[thread], word);
                });
  for (std::uint32_t rest = op.lanes; rest != 0; rest &= rest - 1) {
    const auto thread = static_cast<std::uint32_t>(std::countr_zero(rest));
    std::memcpy(row_of(op.run.banks, tensor.reduced) + thread * sizeof results[0], &results[thread],
                sizeof results[0]);
  }
}

Step TensorMemory::store(const Operation& op) {
  const TensorMemoryInstr& tensor = op.tensor;
  if (!has_one_address(op)) return fail_addresses(op);
  const std::vector<TensorArea> areas = areas_of_move(op, true);
  if (const std::string why = misuse_of_move(op, areas); !why.empty()) {
    return fail(op, Trap::Cause::tensor_bounds, "(1): " + why);
  }
  notify(op, areas);
  TensorBlock& block = block_of(op.run.slot);
  const UndefinedRegisters& undefined = op.run.warp.undefined;
  std::vector<UndefinedLanes> undefined_in(tensor.values.size());
  for (std::size_t i = 0; undefined.any() && i < tensor.values.size(); ++i) {
    undefined_in[i] = undefined.get(op.run.frame, tensor.values[i]);
  }
  const std::uint32_t half_offset = has_halves(tensor) ? op.word(tensor.half_offset) : 0;
  for_each_word(tensor, op.at(tensor.address, tensor.offset), half_offset, op.lanes,
                [&](std::uint32_t thread, std::uint32_t number, std::size_t at) {
                  const std::uint32_t word = word_of(op.run.banks, tensor.values[number], thread);
                  const UndefinedLanes& value = undefined_in[number];
                  const bool is_undefined = (value.mask >> thread & 1) != 0;
                  const std::uint8_t state =
                      block.state_of(is_undefined ? value.origin : ptx::kNone);
                  block.words[at] = tensor.packs ? word & 0xffff : word;
                  block.states[at] = state;
                  if (!tensor.packs) return;
                  block.words[at + 1] = word >> 16;
                  block.states[at + 1] = state;
                });
  return Step::again;
}

// Each row of 32 bytes of a warp's lanes takes the place of the one before it; the last stays, for
// a copy of .4x256b to renew.
Step TensorMemory::shift(const Operation& op) {
  constexpr std::uint32_t kColumns = 8;
  const TensorAddress base = op.at(op.tensor.address, op.tensor.offset);
  const std::vector<Slot*> blocks = blocks_of(op);
  if (blocks.empty() || base.lane % kLanesOfPart != 0) {
    return fail(op, Trap::Cause::tensor_rule,
                blocks.empty() ? "(1) needs a pair of blocks, and one of them does not exist"
                               : "(1) shifts from a lane that is no multiple of 32");
  }
  std::vector<TensorArea> areas;
  for (const Slot* const slot : blocks) {
    areas.push_back({slot->block, base.lane, kLanesOfPart, base.column, kColumns, true});
    if (const std::string lack = lack_of(areas.back()); !lack.empty()) {
      return fail(op, Trap::Cause::tensor_bounds, "(1): " + lack);
    }
  }
  notify(op, areas);
  for (Slot* const slot : blocks) {
    TensorBlock& block = block_of(*slot);
    for (std::uint32_t lane = base.lane; lane + 1 < base.lane + kLanesOfPart; ++lane) {
      for (std::uint32_t column = base.column; column < base.column + kColumns; ++column) {
        const std::size_t to = TensorBlock::index(lane, column);
        const std::size_t from = TensorBlock::index(lane + 1, column);
        block.words[to] = block.words[from];
        block.states[to] = block.states[from];
      }
    }
  }
  return Step::again;
}

// The mbarrier is arrived at when all earlier products, copies and shifts of the thread are
// complete; they are, since they were performed when they were issued.
Step TensorMemory::commit(const Operation& op) {
  notify(op, {});
  launch_.use_of_undefined(op.run, UndefinedUse::Kind::address, op.tensor.address, op.lanes);
  const std::uint64_t place = address_of_commit(op);
  if (op.tensor.blocks.bank == Bank::none) {
    arrive(op, place);
    return Step::again;
  }
  for (std::uint32_t ranks = op.word(op.tensor.blocks) & 0xffff; ranks != 0; ranks &= ranks - 1) {
    const auto rank = static_cast<std::uint64_t>(std::countr_zero(ranks));
    arrive(op, place % kWindowBytes + window_of_rank(rank));
  }
  return Step::again;
}

// Without a state space, the address is a generic one (9.7.16.12.1).  Compilers of kernels pass the
// shared address itself, widened to 64 bits, and devices take it as such.
std::uint64_t TensorMemory::address_of_commit(const Operation& op) const {
  const std::uint64_t address = lane_value(op.run, op.tensor.address, op.lane());
  if (op.tensor.space == ptx::Space::shared) return address;
  if (address > UINT32_MAX) return address - kSharedWindow;
  const std::uint64_t place = address + op.tensor.shared_begin;
  Fault fault;
  fault.kind = Fault::Kind::not_generic;
  fault.program = &launch_.program();
  fault.place = launch_.place_of(op.run.slot, op.run.warp);
  fault.pc = op.run.pc;
  fault.lane = op.lane();
  fault.space = ptx::Space::shared;
  fault.access = AccessKind::atomic;
  fault.bytes = sizeof(std::uint64_t);
  fault.address = place % kWindowBytes;
  fault.nearest = op.run.slot.shared;
  launch_.notify([&](Observer& observer) { observer.on_fault(fault); });
  return place;
}

//   place: the address of the mbarrier, as operands have it
void TensorMemory::arrive(const Operation& op, std::uint64_t place) {
  const Ref& address = op.tensor.wide;
  std::memcpy(row_of(op.run.banks, address) + op.lane() * sizeof place, &place, sizeof place);
  Instr done =
      part_of_bulk(op.instr, InstrKind::barrier_object, ptx::Space::shared, ptx::Type::b64, 1);
  done.opcode = ptx::Opcode::tcgen05_;
  done.modifiers.object_op = ptx::ObjectOp::arrive;
  done.modifiers.scope = ptx::Scope::cluster;
  done.displacement = 0;
  done[ObjectOperand::address] = address;
  dependencies_.bulk_copies.begin_asynchronous(op.run, address, op.lane(), false);
  dependencies_.barrier_objects.execute(op.run, done, op.lanes);
  dependencies_.current.end_asynchronous();
}

}  // namespace warpcheck::vgpu
