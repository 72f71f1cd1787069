// tcgen05.cp: copies of a matrix in shared memory to tensor memory (PTX ISA 9.0, 9.7.16.9.2), and
// the reads of shared memory by the asynchronous proxy.
#include <cstring>

#include <fmt/format.h>

#include "vgpu/machine/tensor_memory/tensor_memory.hpp"
#include "vgpu/machine/tensor_memory/tensor_operands.hpp"

namespace warpcheck::vgpu {

namespace {

constexpr std::uint32_t kPartsOfMemory = 4;

// Returns the lanes that receive a row of the source, relative to the address.
std::vector<std::uint32_t> lanes_of_row(const TensorCopy& copy, std::uint32_t row) {
  using Spread = TensorCopy::Spread;
  if (copy.lanes < kPartsOfMemory + 1) return {row * kLanesOfPart};  // a lane of each warp
  const std::uint32_t half = row / kLanesOfPart, lane = row % kLanesOfPart;
  switch (copy.spread) {
    case Spread::none: return {row};
    case Spread::pairs_02_13: return {half * kLanesOfPart + lane, (half + 2) * kLanesOfPart + lane};
    case Spread::pairs_01_23:
      return {2 * half * kLanesOfPart + lane, (2 * half + 1) * kLanesOfPart + lane};
    case Spread::all: break;
  }
  return {lane, kLanesOfPart + lane, 2 * kLanesOfPart + lane, 3 * kLanesOfPart + lane};
}

// Gives each element of 6 or 4 bits a byte of its own.
TensorChunk unpacked(const TensorChunk& chunk, TensorCopy::Source source) {
  if (source == TensorCopy::Source::plain) return chunk;
  const bool has_six = source == TensorCopy::Source::b6x16;
  const ptx::Type type = has_six ? ptx::Type::e3m2x2 : ptx::Type::e2m1x2;
  const std::uint32_t shift = has_six ? 0 : 2;
  TensorChunk bytes{};
  for (std::uint32_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<std::byte>(element_in_chunk(chunk, ProductKind::f8f6f4, type, i, false)
                                      << shift);
  }
  return bytes;
}

}  // namespace

// Reads 16 bytes at an offset in the shared memory of a block of the cluster.
TensorMemory::Read TensorMemory::read_shared(const Operation& op, std::uint32_t rank,
                                             std::uint32_t offset) {
  const unsigned lane = op.lane();
  const bool is_own = rank == op.run.slot.cluster_rank;
  const std::uint64_t address = offset % kWindowBytes + (is_own ? 0 : window_of_rank(rank));
  std::memcpy(row_of(op.run.banks, op.tensor.wide) + lane * sizeof address, &address,
              sizeof address);
  constexpr std::uint8_t kWords = 4;
  Instr load = part_of_bulk(op.instr, InstrKind::load, ptx::Space::shared, ptx::Type::b32, kWords);
  load.displacement = 0;
  load[MemoryOperand::address] = op.tensor.wide;
  for (std::uint32_t i = 0; i < kWords; ++i) {
    load[MemoryOperand::value + i] = row_after(op.tensor.words, i);
  }
  dependencies_.accesses.execute(op.run, load, op.lanes);
  Read read;
  const UndefinedRegisters& undefined = op.run.warp.undefined;
  for (std::uint32_t i = 0; i < kWords; ++i) {
    const Ref row = row_after(op.tensor.words, i);
    const std::uint32_t word = word_of(op.run.banks, row, lane);
    std::memcpy(read.bytes.data() + i * sizeof word, &word, sizeof word);
    if (!undefined.any()) continue;
    const UndefinedLanes value = undefined.get(op.run.frame, row);
    if ((value.mask >> lane & 1) != 0) read.undefined_from = value.origin;
  }
  return read;
}

Step TensorMemory::copy(const Operation& op) {
  const TensorCopy& copy = op.tensor.copy;
  const MatrixDescriptor descriptor(lane_value(op.run, op.tensor.a, op.lane()));
  launch_.use_of_undefined(op.run, UndefinedUse::Kind::address, op.tensor.a, op.lanes);
  if (const std::string error = descriptor.error(); !error.empty()) {
    return fail(op, Trap::Cause::tensor_rule, "(1): " + error);
  }
  const std::vector<Slot*> blocks = blocks_of(op);
  if (blocks.empty()) {
    return fail(op, Trap::Cause::tensor_rule,
                "(1) needs a pair of blocks, and one of them does not exist");
  }
  const TensorAddress base = op.at(op.tensor.address, op.tensor.offset);
  const std::uint32_t words = copy.bytes / 4;
  std::vector<TensorArea> areas;
  for (const Slot* const slot : blocks) {
    if (copy.lanes >= kLanesOfPart) {
      areas.push_back({slot->block, base.lane, kTensorLanes, base.column, words, true});
    } else {
      for (std::uint32_t part = 0; part < kPartsOfMemory; ++part) {
        areas.push_back(
            {slot->block, base.lane + part * kLanesOfPart, 1, base.column, words, true});
      }
    }
  }
  for (const TensorArea& area : areas) {
    if (const std::string lack = lack_of(area); !lack.empty()) {
      return fail(op, Trap::Cause::tensor_bounds, "(1): " + lack);
    }
  }
  TensorMemoryEvent event = event_of(op, areas);
  event.is_narrow_copy = copy.lanes < kLanesOfPart;
  notify(event);
  dependencies_.current.begin_asynchronous(true);
  for (Slot* const slot : blocks) {
    TensorBlock& block = block_of(*slot);
    for (std::uint32_t row = 0; row < copy.lanes; ++row) {
      for (std::uint32_t chunk = 0; chunk < copy.bytes / kTensorChunkBytes; ++chunk) {
        const Read read = read_shared(op, slot->cluster_rank, descriptor.place_along_k(row, chunk));
        const TensorChunk bytes = unpacked(read.bytes, copy.source);
        const std::uint8_t state = block.state_of(read.undefined_from);
        for (const std::uint32_t lane : lanes_of_row(copy, row)) {
          const std::size_t at =
              TensorBlock::index(base.lane + lane, base.column + chunk * kTensorChunkBytes / 4);
          std::memcpy(&block.words[at], bytes.data(), bytes.size());
          std::fill_n(&block.states[at], bytes.size() / 4, state);
        }
      }
    }
  }
  dependencies_.current.end_asynchronous();
  return Step::again;
}

}  // namespace warpcheck::vgpu
