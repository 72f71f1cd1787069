#include "vgpu/machine/tensor_memory/tensor_memory.hpp"

#include <fmt/format.h>

namespace warpcheck::vgpu {

bool must_wait_for_tensor_memory(const RunningLaunch& launch, const Slot& slot, Warp& warp,
                                 const Fragment& fragment) {
  const Instr& instr = launch.program().code[fragment.pc];
  if (instr.kind != InstrKind::tensor_memory) return false;
  const TensorMemoryInstr& tensor = tensor_instr_of(launch.program(), instr);
  if (!is_of_warp(tensor.op)) return false;
  if (fragment.mask != warp.live) return true;
  if (tensor.op != TensorOp::allocate) return false;
  const TensorBlock* const block = slot.tensor.get();
  if (block == nullptr) return false;
  if (tensor.ctas == 2 && block->request.waits) {
    return block->request.warp != warp.index || !block->request.is_done;
  }
  if (tensor.ctas == 2) return false;
  const LaneBanks banks = banks_of(launch.program(), warp, fragment);
  const auto lane = static_cast<unsigned>(__builtin_ctz(fragment.mask));
  const std::uint32_t count = word_of(banks, tensor.columns, lane);
  if (count > kTensorColumns || block->is_relinquished) return false;  // an error
  return block->first_free(count) == kTensorColumns;
}

void describe_wait_for_tensor_memory(const RunningLaunch& launch, const Slot& slot, Warp& warp,
                                     const Fragment& fragment, Waiting& waiting) {
  const Instr& instr = launch.program().code[fragment.pc];
  const TensorMemoryInstr& tensor = tensor_instr_of(launch.program(), instr);
  waiting.missing = warp.live & ~fragment.mask;
  if (waiting.missing != 0) {
    waiting.kind = Waiting::Kind::members;
    return;
  }
  const LaneBanks banks = banks_of(launch.program(), warp, fragment);
  const auto lane = static_cast<unsigned>(__builtin_ctz(fragment.mask));
  waiting.number = word_of(banks, tensor.columns, lane);
  waiting.arrived = waiting.expected = kTensorColumns;
  const TensorAllocation* largest = nullptr;
  for (const Slot* const holder : launch.resident()) {
    const bool is_pair = tensor.ctas == 2 && holder->cluster == slot.cluster &&
                         holder->cluster_rank == (slot.cluster_rank ^ 1);
    if ((holder != &slot && !is_pair) || holder->tensor == nullptr) continue;
    std::uint32_t taken = 0;
    for (const TensorAllocation& one : holder->tensor->allocations) {
      taken += one.count;
      if (largest != nullptr && one.count <= largest->count) continue;
      largest = &one;
      const Warp& of = holder->warps[one.warp];
      waiting.written = {launch.place_of(*holder, of), 0, one.pc, of.live == 0};
    }
    waiting.arrived = std::min(waiting.arrived, kTensorColumns - taken);
  }
}

Step TensorMemory::execute(RunningFragment& run, std::size_t index, const Instr& instr,
                           std::uint32_t lanes) {
  Fragment& fragment = run.warp.fragments[index];
  if (must_wait_for_tensor_memory(launch_, run.slot, run.warp, fragment)) {
    return launch_.yield(fragment);
  }
  const TensorMemoryInstr& tensor = tensor_instr_of(launch_.program(), instr);
  if (tensor.op == TensorOp::allocate && tensor.ctas == 2) {
    return allocate({run, instr, tensor, lanes, index});  // may wait after its arrival
  }
  ++fragment.pc;
  return perform({run, instr, tensor, lanes, index});
}

// Operations that a single thread issues are performed once for each lane that executes them.
Step TensorMemory::perform(const Operation& op) {
  switch (op.tensor.op) {
    case TensorOp::allocate: return allocate(op);
    case TensorOp::deallocate: return deallocate(op);
    case TensorOp::load: return load(op);
    case TensorOp::store: return store(op);
    case TensorOp::relinquish: block_of(op.run.slot).is_relinquished = true; return Step::again;
    case TensorOp::wait_loads:
    case TensorOp::wait_stores:
    case TensorOp::fence_before:
    case TensorOp::fence_after: notify(op, {}); return Step::again;
    case TensorOp::copy:
    case TensorOp::shift:
    case TensorOp::commit:
    case TensorOp::product: break;
  }
  for (std::uint32_t rest = op.lanes; rest != 0; rest &= rest - 1) {
    const Operation one{op.run, op.instr, op.tensor, rest & ~(rest - 1), op.index};
    const Step step = one.tensor.op == TensorOp::copy     ? copy(one)
                      : one.tensor.op == TensorOp::shift  ? shift(one)
                      : one.tensor.op == TensorOp::commit ? commit(one)
                                                          : multiply(one);
    if (step != Step::again) return step;
  }
  return Step::again;
}

Step TensorMemory::fail(const Operation& op, Trap::Cause cause, std::string_view why) const {
  return launch_.halt(op.run, op.lanes, cause, why);
}

TensorMemoryEvent TensorMemory::event_of(const Operation& op,
                                         std::span<const TensorArea> areas) const {
  TensorMemoryEvent event;
  event.op = op.tensor.op;
  event.program = &launch_.program();
  event.place = launch_.place_of(op.run.slot, op.run.warp);
  event.pc = op.run.pc;
  event.mask = op.lanes;
  event.ctas = op.tensor.ctas;
  event.areas = areas;
  return event;
}

void TensorMemory::notify(const Operation& op, std::span<const TensorArea> areas) const {
  notify(event_of(op, areas));
}

void TensorMemory::notify(const TensorMemoryEvent& event) const {
  launch_.notify([&](Observer& observer) { observer.on_tensor_memory(event); });
}

void TensorMemory::report_unwritten(const Operation& op) const {
  UndefinedMemory* const memory = launch_.observers().undefined_memory;
  if (memory == nullptr) return;
  memory->read_tensor_memory(launch_.program(), op.run.pc,
                             launch_.place_of(op.run.slot, op.run.warp), op.lanes);
}

std::string TensorMemory::lack_of(const TensorArea& area) const {
  if (area.first_lane + area.lanes > kTensorLanes) {
    return fmt::format("it reaches lane {}, and tensor memory has lanes 0 to {}",
                       area.first_lane + area.lanes - 1, kTensorLanes - 1);
  }
  const Slot* const slot = launch_.slot_of(area.block);
  const TensorBlock* const block = slot == nullptr ? nullptr : slot->tensor.get();
  for (std::uint32_t column = area.first_column; column < area.first_column + area.columns;) {
    const TensorAllocation* const owner = block == nullptr ? nullptr : block->allocation_of(column);
    if (owner == nullptr) {
      return fmt::format("it accesses {} of tensor memory, and column {} is not allocated",
                         text_of_columns(area.first_column, area.columns), column);
    }
    column = owner->first + owner->count;
  }
  return {};
}

TensorBlock& TensorMemory::block_of(Slot& slot) {
  if (slot.tensor == nullptr) slot.tensor = std::make_shared<TensorBlock>();
  return *slot.tensor;
}

Slot* TensorMemory::peer_of(const RunningFragment& run) const {
  const std::uint32_t rank = run.slot.cluster_rank ^ 1;
  if (rank >= dependencies_.clusters.size()) return nullptr;
  return launch_.slot_of(dependencies_.clusters.block_of_rank(run.slot.cluster, rank));
}

std::vector<Slot*> TensorMemory::blocks_of(const Operation& op) const {
  if (op.tensor.ctas == 1) return {&op.run.slot};
  Slot* const peer = peer_of(op.run);
  if (peer == nullptr) return {};
  const bool is_even = op.run.slot.cluster_rank % 2 == 0;
  return is_even ? std::vector<Slot*>{&op.run.slot, peer} : std::vector<Slot*>{peer, &op.run.slot};
}

void TensorMemory::end_block(const Slot& slot) const {
  if (slot.tensor == nullptr) return;
  for (const TensorAllocation& left : slot.tensor->allocations) {
    const TensorArea area{slot.block, 0, kTensorLanes, left.first, left.count, false};
    TensorMemoryEvent event;
    event.op = TensorOp::allocate;
    event.program = &launch_.program();
    event.place = launch_.place_of(slot, slot.warps[left.warp]);
    event.pc = left.pc;
    event.mask = 1;
    event.ctas = left.ctas;
    event.areas = {&area, 1};
    event.is_leak = true;
    notify(event);
  }
}

}  // namespace warpcheck::vgpu
