// tcgen05.alloc, dealloc and relinquish_alloc_permit (PTX ISA 9.0, 9.7.16.7).
//
// An allocation by a pair of blocks is made in both at once, when a warp of each has arrived.
#include <algorithm>
#include <bit>
#include <cstring>

#include <fmt/format.h>

#include "vgpu/machine/tensor_memory/tensor_memory.hpp"

namespace warpcheck::vgpu {

namespace {

bool is_count_of_columns(std::uint32_t count) {
  return std::has_single_bit(count) && count >= kColumnUnit && count <= kTensorColumns;
}

}  // namespace

// Makes the allocation for which both blocks wait, if there is space.  From then on each block has
// its columns, because the warp that goes on first may use those of both.
void TensorMemory::complete_requests(const Operation& op, Slot& own, Slot& peer) const {
  TensorBlock& one = block_of(own);
  TensorBlock& other = block_of(peer);
  const bool both_wait =
      one.request.waits && other.request.waits && !one.request.is_done && !other.request.is_done;
  if (!both_wait) return;
  const std::uint32_t count = one.request.count, first = one.first_free(count, &other);
  if (first == kTensorColumns) return;
  std::vector<TensorArea> areas;
  for (Slot* const slot : {&own, &peer}) {
    TensorBlock& block = block_of(*slot);
    block.request.first = first;
    block.request.is_done = true;
    block.allocations.push_back({first, count, 2, block.request.pc, block.request.warp});
    areas.push_back({slot->block, 0, kTensorLanes, first, count, true});
  }
  TensorMemoryEvent event = event_of(op, areas);
  event.op = TensorOp::allocate;
  notify(event);
}

Step TensorMemory::allocate(const Operation& op) {
  const std::uint32_t count = op.word(op.tensor.columns);
  TensorBlock& block = block_of(op.run.slot);
  if (!is_count_of_columns(count)) {
    return fail(op, Trap::Cause::tensor_rule,
                fmt::format("(1) allocates {} columns of tensor memory; the number must be a power "
                            "of two from {} to {}",
                            count, kColumnUnit, kTensorColumns));
  }
  if (block.is_relinquished) {
    return fail(op, Trap::Cause::tensor_rule,
                "(1) allocates tensor memory after a thread of its block has executed "
                "tcgen05.relinquish_alloc_permit");
  }
  if (op.tensor.ctas == 2) return allocate_in_pair(op, count);
  const std::uint32_t first = block.first_free(count);
  block.allocations.push_back({first, count, 1, op.run.pc, op.run.warp.index});
  const TensorArea area{op.run.slot.block, 0, kTensorLanes, first, count, true};
  notify(op, {&area, 1});
  write_address(op, TensorAddress{0, first}.bits());
  return Step::again;
}

Step TensorMemory::allocate_in_pair(const Operation& op, std::uint32_t count) {
  Fragment& fragment = op.run.warp.fragments[op.index];
  Slot* const peer = peer_of(op.run);
  if (peer == nullptr) {
    return fail(op, Trap::Cause::tensor_rule,
                "(1) allocates tensor memory in a pair of blocks, and the cluster has no other "
                "block of the pair, or that has exited");
  }
  TensorBlock& own = block_of(op.run.slot);
  TensorBlock& other = block_of(*peer);
  if (!own.request.waits) {
    own.request = {.waits = true,
                   .is_done = false,
                   .pc = op.run.pc,
                   .warp = op.run.warp.index,
                   .count = count};
    if (other.request.waits && !other.request.is_done && other.request.count != count) {
      return fail(op, Trap::Cause::tensor_rule,
                  fmt::format("(1) allocates {} columns in a pair of blocks, and the other block "
                              "allocates {}",
                              count, other.request.count));
    }
    complete_requests(op, op.run.slot, *peer);
  }
  if (!own.request.is_done) return launch_.yield(fragment);
  const std::uint32_t first = own.request.first;
  own.request = {};
  ++fragment.pc;
  write_address(op, TensorAddress{0, first}.bits());
  return Step::again;
}

// The store is a weak one of one thread.
void TensorMemory::write_address(const Operation& op, std::uint32_t address) {
  const unsigned lane = op.lane();
  std::memcpy(row_of(op.run.banks, op.tensor.words) + lane * sizeof address, &address,
              sizeof address);
  UndefinedRegisters& undefined = op.run.warp.undefined;
  if (undefined.any()) {
    undefined.set(op.run.frame, op.tensor.words, {}, 1u << lane, launch_.program());
  }
  Instr store = part_of_bulk(op.instr, InstrKind::store, op.tensor.space, ptx::Type::b32, 1);
  store.displacement = 0;
  store[MemoryOperand::address] = op.tensor.address;
  store[MemoryOperand::value] = op.tensor.words;
  dependencies_.accesses.execute(op.run, store, 1u << lane);
}

Step TensorMemory::deallocate(const Operation& op) {
  const TensorAddress at = op.at(op.tensor.address, 0);
  const std::uint32_t count = op.word(op.tensor.columns);
  TensorBlock& block = block_of(op.run.slot);
  const auto found = std::ranges::find_if(block.allocations, [&](const TensorAllocation& one) {
    return at.lane == 0 && one.first == at.column && one.count == count;
  });
  if (found == block.allocations.end()) {
    return fail(op, Trap::Cause::tensor_rule,
                fmt::format("(1) deallocates {} columns of tensor memory from lane {}, column {} "
                            "on, and no allocation is that",
                            count, at.lane, at.column));
  }
  const TensorArea area{op.run.slot.block, 0, kTensorLanes, found->first, found->count, true};
  notify(op, {&area, 1});
  for (std::uint32_t lane = 0; lane < kTensorLanes; ++lane) {
    for (std::uint32_t column = area.first_column; column < area.first_column + area.columns;
         ++column) {
      block.states[TensorBlock::index(lane, column)] = TensorBlock::kUnwritten;
    }
  }
  block.allocations.erase(found);
  if (op.tensor.ctas == 1) return Step::again;
  Slot* const peer = peer_of(op.run);
  if (peer != nullptr) complete_requests(op, op.run.slot, *peer);
  return Step::again;
}

}  // namespace warpcheck::vgpu
