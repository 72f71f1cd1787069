#include "vgpu/check/tensor_memory/tensor_order.hpp"

#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "vgpu/check/order/clocks/bits.hpp"
#include "vgpu/program/program.hpp"

namespace warpcheck::vgpu {

namespace {

// Records of one block that are kept; a correct program needs a few.
constexpr std::size_t kOperationsMax = 4096;

bool is_by_unit(TensorOp op) {  // of the tensor core: products, copies, shifts
  return op == TensorOp::product || op == TensorOp::copy || op == TensorOp::shift;
}

bool has_instr(const Program& program, TensorOp op) {
  return std::ranges::any_of(program.code, [&](const Instr& instr) {
    return instr.kind == InstrKind::tensor_memory && tensor_instr_of(program, instr).op == op;
  });
}

std::string_view role_in_tensor_memory(TensorOp op, bool writes) {
  if (op == TensorOp::deallocate) return "deallocate";
  return writes ? "write" : "read";
}

}  // namespace

void TensorOrder::begin_launch(const Sync& sync, WarpModel model) {
  program_ = sync.program;
  has_before_ = has_instr(*program_, TensorOp::fence_before);
  has_after_ = has_instr(*program_, TensorOp::fence_after);
  order_.reset(model);
  objects_.clear();
  clusters_.clear();
  owners_.clear();
  blocks_.clear();
  after_.clear();
  number_ = 0;
  order_.begin_launch(shape_of(sync));
}

void TensorOrder::on_sync(const Sync& sync) {
  switch (sync.kind) {
    case Sync::Kind::block_start:
      order_.begin_block(sync.place);
      blocks_.erase(sync.place.block);
      if (sync.shared == nullptr) break;
      owners_[sync.shared] = order_.launches().block_key(sync.place);
      objects_.forget(sync.shared->id);
      break;
    case Sync::Kind::barrier_complete:
      order_.complete_barrier(sync.place);
      objects_.complete_barrier(sync.place);
      break;
    case Sync::Kind::block_end:
      order_.end_block(sync.place);
      blocks_.erase(sync.place.block);
      break;
    case Sync::Kind::kernel_start:
    case Sync::Kind::kernel_end: break;
  }
}

// Execution is ordered by relaxed operations too; without fences, that is not enough.  A
// tcgen05.commit fences itself.
void TensorOrder::on_barrier_object(const BarrierObject& event) {
  BarrierObject ordering = event;
  const bool is_wait = event.kind == BarrierObject::Kind::wait;
  const bool is_arrival = event.kind == BarrierObject::Kind::arrive && !event.for_products;
  ordering.relaxed &= (is_wait && !has_after_) || (is_arrival && !has_before_);
  ordering.scope = ptx::Scope::cluster;
  const auto owner = owners_.find(event.allocation);
  const BlockKey block =
      owner == owners_.end() ? order_.launches().block_key(event.place) : owner->second;
  objects_.pass(ordering, block);
}

void TensorOrder::on_cluster_barrier(const ClusterBarrier& event) {
  ClusterBarrier ordering = event;
  ordering.relaxed &= !has_before_;
  clusters_.pass(ordering);
}

void TensorOrder::on_tensor_memory(const TensorMemoryEvent& event) {
  if (event.is_leak) return;
  if (event.op == TensorOp::allocate) {  // the columns were free
    for (const TensorArea& area : event.areas) {
      std::erase_if(blocks_[area.block],
                    [&](const Operation& one) { return area.meets(one.area); });
    }
    return;
  }
  if (event.areas.empty()) return note(event);
  access(event);
}

// Loads and stores are operations of all threads of a warp; a single thread issues the others.
bool TensorOrder::is_of_thread(const Operation& one, const WarpPlace& place, unsigned lane,
                               TensorOp op) const {
  const bool same_warp = one.place.block == place.block && one.place.warp == place.warp;
  return same_warp && (is_move(one.op) || is_move(op) || one.lane == lane);
}

TensorOrder::Moment TensorOrder::moment_of(const WarpPlace& place) {
  return {order_.segment_of(place, false), order_.threads().phase_of(place), true};
}

// A wait, a fence or a commit.
void TensorOrder::note(const TensorMemoryEvent& event) {
  if (event.op == TensorOp::fence_after) {
    for_each_bit(order_.threads().actors_of(event.mask), [&](unsigned lane) {
      After& after = after_[order_.threads().key_of(event.place, lane)];
      after.knows = order_.threads().at(event.place, lane).knows;
      after.phase = order_.threads().phase_of(event.place);
      after.is_set = true;
    });
    return;
  }
  const Moment now = moment_of(event.place);
  const auto lane = static_cast<unsigned>(std::countr_zero(event.mask));
  for (auto& [block, all] : blocks_) {
    for (Operation& one : all) {
      const bool is_by_warp =
          one.place.block == event.place.block && one.place.warp == event.place.warp;
      if (!is_by_warp) continue;
      const auto mark = [&](Moment& moment, bool applies) {
        if (applies && !moment.is_set) moment = now;
      };
      switch (event.op) {
        case TensorOp::wait_loads: mark(one.waited, one.op == TensorOp::load); break;
        case TensorOp::wait_stores: mark(one.waited, one.op == TensorOp::store); break;
        case TensorOp::commit:
          one.is_committed |= is_by_unit(one.op) && one.lane == lane && one.ctas == event.ctas;
          break;
        case TensorOp::fence_before:
          mark(one.fenced, is_move(one.op) || (event.mask >> one.lane & 1) != 0);
          break;
        default: break;
      }
    }
  }
}

// The pairs of 9.7.16.6.2.  Products also read their operands in order: a product that overwrites
// what an earlier one reads does not overtake it.
bool TensorOrder::is_pipeline(const Operation& first, const Operation& second) {
  if (first.ctas != second.ctas) return false;
  switch (first.op) {
    case TensorOp::product:
      if (second.op == TensorOp::shift) return true;
      if (second.op != TensorOp::product) return false;
      if (!first.area.writes) return true;
      return first.accumulator == second.accumulator && first.rows == second.rows &&
             first.columns == second.columns && first.kind == second.kind;
    case TensorOp::copy: return second.op == TensorOp::product;
    case TensorOp::shift:
      return second.op == TensorOp::product ||
             (second.op == TensorOp::copy && second.is_narrow_copy);
    default: return false;
  }
}

const TensorOrder::After& TensorOrder::after_of(const WarpPlace& place, unsigned lane) const {
  static const auto& kNone = *new const After;
  const auto found = after_.find(order_.threads().key_of(place, lane));
  return found == after_.end() ? kNone : found->second;
}

bool TensorOrder::knows_products(const Operation& earlier, const WarpPlace& place, unsigned lane,
                                 bool at_fence) const {
  const VectorClock& clock =
      at_fence ? after_of(place, lane).knows : order_.threads().at(place, lane).knows;
  return order_.knows(clock, earlier.products, earlier.lane) ||
         (earlier.follower.products != 0 &&
          order_.knows(clock, earlier.follower.products, earlier.follower.lane));
}

// Returns whether the thread knows that this moment of the earlier operation's warp has passed.
bool TensorOrder::knows(const Operation& earlier, const Moment& moment, const WarpPlace& place,
                        unsigned lane, bool at_fence) const {
  if (!moment.is_set) return false;
  const After& after = after_of(place, lane);
  if (at_fence && !after.is_set) return false;
  const Tick phase = at_fence ? after.phase : order_.threads().phase_of(place);
  if (earlier.place.block == place.block && moment.phase < phase) return true;
  const VectorClock& clock = at_fence ? after.knows : order_.threads().at(place, lane).knows;
  return order_.knows(clock, moment.segment, earlier.lane);
}

TensorOrder::Missing TensorOrder::missing(const Operation& earlier, const Operation& now) const {
  const bool is_own = is_of_thread(earlier, now.place, now.lane, now.op);
  const bool needs_fence = now.op != TensorOp::deallocate;  // that is synchronous
  const bool forms_pipeline = is_pipeline(earlier, now);
  if (is_own && forms_pipeline) return Missing::nothing;
  const bool is_product_issued = earlier.op == TensorOp::product ||
                                 (earlier.op == TensorOp::copy && earlier.follower.products != 0);
  const bool is_behind =
      is_own && is_product_issued && now.op == TensorOp::copy && earlier.ctas == now.ctas;
  if (is_behind && !knows_products(earlier, now.place, now.lane, false)) return Missing::pair;
  if (is_own && is_move(earlier.op)) {
    return earlier.waited.is_set ? Missing::nothing : Missing::wait;
  }
  const auto knows_of = [&](const Moment& moment, bool at_fence) {
    return knows(earlier, moment, now.place, now.lane, at_fence);
  };
  if (is_by_unit(earlier.op)) {
    if (knows_products(earlier, now.place, now.lane, needs_fence)) return Missing::nothing;
    if (forms_pipeline) {
      if (knows_of(earlier.fenced, true)) return Missing::nothing;
      if (!knows_of(earlier.issued, false)) return Missing::order;
      if (knows_of(earlier.fenced, false)) return missing_after();
      return has_before_ ? Missing::before_fence : Missing::pipeline_fence;
    }
    if (knows_products(earlier, now.place, now.lane, false)) return missing_after();
    return earlier.is_committed ? Missing::phase : Missing::commit;
  }
  if (!knows_of(earlier.issued, false)) return Missing::order;
  if (!knows_of(earlier.waited, false)) return Missing::wait;
  const Moment& fenced = has_before_ ? earlier.fenced : earlier.waited;
  if (!knows_of(fenced, false)) return Missing::before_fence;
  const bool knows_in_time = knows_of(earlier.waited, needs_fence) && knows_of(fenced, needs_fence);
  return knows_in_time ? Missing::nothing : missing_after();
}

void TensorOrder::access(const TensorMemoryEvent& event) {
  ++number_;
  Operation now;
  now.op = event.op;
  now.place = event.place;
  now.pc = event.pc;
  now.lane = static_cast<unsigned>(std::countr_zero(event.mask));
  now.number = number_;
  now.accumulator = event.accumulator;
  now.rows = event.rows;
  now.columns = event.columns;
  now.kind = event.kind;
  now.is_narrow_copy = event.is_narrow_copy;
  now.ctas = event.ctas;
  now.issued = moment_of(event.place);
  if (is_by_unit(event.op)) now.products = order_.copies().segment_of_products(event.place);
  for (const TensorArea& area : event.areas) {
    now.area = area;
    std::vector<Operation>& all = blocks_[area.block];
    std::erase_if(all, [&](Operation& earlier) {
      const bool conflicts = earlier.number != number_ && earlier.area.meets(area) &&
                             (earlier.area.writes || area.writes);
      if (conflicts) {
        const Missing lack = missing(earlier, now);
        if (lack != Missing::nothing) report(earlier, now, lack);
        // A pipeline: when this operation is complete, the earlier one is.
        const bool is_ordered = lack == Missing::nothing || is_by_convention(lack);
        if (is_ordered && is_by_unit(earlier.op) && is_by_unit(now.op)) {
          earlier.follower = {now.products, now.lane};
        }
      }
      const bool is_replaced = earlier.number != number_ && area.contains(earlier.area) &&
                               (area.writes || !earlier.area.writes);
      return is_replaced && (conflicts || is_of_thread(earlier, now.place, now.lane, now.op));
    });
    if (event.op == TensorOp::deallocate) continue;
    if (all.size() >= kOperationsMax) all.erase(all.begin());
    all.push_back(now);
  }
}

namespace {

std::string_view name_of_operation(TensorOp op) {
  switch (op) {
    case TensorOp::load: return "load";
    case TensorOp::store: return "store";
    case TensorOp::product: return "product";
    case TensorOp::copy: return "copy";
    default: return "shift";
  }
}

}  // namespace

void TensorOrder::report(const Operation& earlier, const Operation& now, Missing missing) {
  const auto tag = static_cast<std::uint32_t>(missing) << 8 | static_cast<std::uint32_t>(now.op);
  reporter_.report({program_, earlier.pc, now.pc, tag | 1u << 29}, [&] {
    Finding finding;
    const bool is_end = now.op == TensorOp::deallocate;
    finding.kind = is_end ? FindingKind::use_after_free : FindingKind::data_race;
    finding.space = "tensor";
    if (is_by_convention(missing)) finding.severity = Severity::note;
    finding.kernel = kernel_name(program_->kernel);
    const std::uint32_t first = std::max(earlier.area.first_column, now.area.first_column);
    const std::uint32_t end = std::min(earlier.area.first_column + earlier.area.columns,
                                       now.area.first_column + now.area.columns);
    finding.object = text_of_columns(first, end - first);
    finding.accesses = {
        reporter_.side(role_in_tensor_memory(earlier.op, earlier.area.writes), *program_,
                       earlier.pc, thread_of(earlier.place, earlier.lane)),
        reporter_.side(role_in_tensor_memory(now.op, now.area.writes), *program_, now.pc,
                       thread_of(now.place, now.lane))};
    const std::string_view what = name_of_operation(earlier.op);
    switch (missing) {
      case Missing::wait:
        finding.lack = Lack::copy_wait;
        finding.message = fmt::format(
            "the {} (1) is asynchronous, and no tcgen05.wait::{} of its warp comes between (1) "
            "and {}",
            what, earlier.op == TensorOp::load ? "ld" : "st",
            is_of_thread(earlier, now.place, now.lane, now.op)
                ? "(2)"
                : "the synchronisation with the thread of (2)");
        break;
      case Missing::commit:
        finding.lack = Lack::phase_wait;
        finding.message = fmt::format(
            "the {} (1) is asynchronous, and no tcgen05.commit follows it before (2), whose "
            "mbarrier would tell that it is complete",
            what);
        break;
      case Missing::phase:
        finding.lack = Lack::phase_wait;
        finding.message = fmt::format(
            "the {} (1) may not be complete: nothing orders the phase of the mbarrier of its "
            "tcgen05.commit before (2)",
            what);
        break;
      case Missing::pipeline_fence:
      case Missing::before_fence:
        finding.message = fmt::format(
            "no tcgen05.fence::before_thread_sync follows the {} (1) before its thread "
            "synchronises with that of (2)",
            what);
        break;
      case Missing::after_fence:
        finding.message = fmt::format(
            "no tcgen05.fence::after_thread_sync comes between the synchronisation that tells of "
            "the {} (1) and (2)",
            what);
        break;
      case Missing::pair:
        finding.message = fmt::format(
            "the {} (1) may not be complete when its thread begins (2): the ISA names no order of "
            "the two, though libraries rely on that of their issue",
            what);
        break;
      case Missing::order:
      case Missing::nothing:
        finding.lack = Lack::block_barrier;
        finding.message = fmt::format("nothing orders the threads of the {} (1) and of (2)", what);
        break;
    }
    if (missing == Missing::pipeline_fence) {
      finding.message += "; the kernel has no such fence at all, and relies on the assembler";
    }
    return finding;
  });
}

}  // namespace warpcheck::vgpu
