#include "vgpu/check/proof/value_flow.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "vgpu/check/reporter.hpp"
#include "vgpu/program/flow/register_flow.hpp"
#include "vgpu/ptx/memory_order.hpp"

namespace warpcheck::vgpu {
namespace {

AccessSide place_in_code(std::string_view role, const Program& program, std::uint32_t pc) {
  if (pc == ptx::kNone) return {};
  return side_at(role, {&program, pc, Dim3{0, 0, 0}, Dim3{0, 0, 0}});
}

// Returns whether the program has loads or stores that synchronise, or that could do so together
// with a fence.
bool may_synchronize(const Program& program) {
  return std::ranges::any_of(program.code, [](const Instr& instr) {
    const bool accesses = instr.kind == InstrKind::load || instr.kind == InstrKind::store;
    return instr.kind == InstrKind::atomic ||
           (accesses && instr.modifiers.order != ptx::Order::weak);
  });
}

std::string where(const AccessSide& side) {
  if (side.file.empty()) return side.ptx.empty() ? "an unknown line" : side.ptx;
  const std::string file = side.file.substr(side.file.find_last_of('/') + 1);
  return side.ptx.empty() ? fmt::format("{}:{}", file, side.line)
                          : fmt::format("{}:{} ({})", file, side.line, side.ptx);
}

// Returns whether the instructions from one pc to the other are always executed one after the
// other.
bool is_straight(const Program& program, std::uint32_t from, std::uint32_t to) {
  if (from >= to || to >= program.code.size()) return false;
  const RegisterFlow flow(program);
  return flow.is_known() && flow.graph().block_of(from) == flow.graph().block_of(to);
}

ValueDecision decision_at(const Program& program, std::uint32_t pc, std::uint32_t from) {
  return {program.native, pc, from, is_straight(program, from, pc)};
}

// Marks all bits of what the lanes read.
void mark_whole(Access& access, std::uint32_t lanes) {
  if (!access.is_partial) access.undefined_bits = {};
  access.is_partial = true;
  for (std::uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    access.undefined_bits[0][lane] = access.undefined_bits[1][lane] = ~std::uint64_t{0};
  }
  access.undefined |= lanes;
  access.origin = access.pc;
  access.of_element.fill({access.undefined, access.pc});
}

}  // namespace

Obstacle obstacle_at(Obstacle::Kind kind, const Program& program, std::uint32_t pc,
                     std::uint32_t from) {
  return {kind, kernel_name(program.kernel), place_in_code(name_of(kind), program, pc),
          place_in_code("from", program, from)};
}

std::string_view name_of(Obstacle::Kind kind) {
  switch (kind) {
    case Obstacle::Kind::address: return "address";
    case Obstacle::Kind::branch: return "branch";
    case Obstacle::Kind::operand: return "operand";
    case Obstacle::Kind::instruction: return "instruction";
    case Obstacle::Kind::orders_threads: return "orders-threads";
    case Obstacle::Kind::shared_with_host: return "shared-with-host";
    case Obstacle::Kind::host_reads: return "host-reads";
    case Obstacle::Kind::streams: return "streams";
    case Obstacle::Kind::opaque_operation: return "opaque-operation";
    case Obstacle::Kind::undefined_value: return "undefined-value";
  }
  return "";
}

Obstacle opaque_obstacle(std::string_view call) {
  Obstacle obstacle{Obstacle::Kind::opaque_operation, {}, {}, {}};
  obstacle.at.role = call;
  return obstacle;
}

std::string text_of(const Obstacle& obstacle, std::string_view values) {
  const std::string at = where(obstacle.at);
  const std::string from =
      obstacle.from.line == 0 ? "" : fmt::format(", from {}", where(obstacle.from));
  switch (obstacle.kind) {
    case Obstacle::Kind::address:
      return fmt::format("{} decides an address: {}{}", values, at, from);
    case Obstacle::Kind::branch: return fmt::format("{} decides a branch: {}{}", values, at, from);
    case Obstacle::Kind::operand:
      return fmt::format("{} decides what an instruction does: {}{}", values, at, from);
    case Obstacle::Kind::instruction:
      return fmt::format("an instruction whose values are not followed: {}", at);
    case Obstacle::Kind::orders_threads:
      return fmt::format("threads are ordered by more than barriers of their block: {}", at);
    case Obstacle::Kind::shared_with_host:
      return fmt::format("memory that the host shares: {}", at);
    case Obstacle::Kind::host_reads:
      return fmt::format("the host has read results before it {}", obstacle.at.role);
    case Obstacle::Kind::streams:
      return fmt::format("nothing orders kernel {} and other work of the device", obstacle.kernel);
    case Obstacle::Kind::opaque_operation:
      return fmt::format("an operation whose values are not followed: {}", obstacle.at.role);
    case Obstacle::Kind::undefined_value:
      return fmt::format("a value that nothing has written: {}", at);
  }
  return {};
}

void ValueFlow::add(Obstacle::Kind kind, const Program& program, std::uint32_t pc,
                    std::uint32_t from) {
  if (!known_.emplace(kind, &program, pc).second) return;
  if (!has_obstacle_) first_decision_ = decision_at(program, pc, from);
  add(obstacle_at(kind, program, pc, from));
}

void ValueFlow::add(Obstacle obstacle) {
  obstacles_.push_back(std::move(obstacle));
  has_obstacle_ = true;
}

std::uint32_t ValueFlow::number_of(const Origin& origin) {
  const auto known = std::ranges::find(origins_, origin);
  const auto number = static_cast<std::uint32_t>(known - origins_.begin());
  if (known == origins_.end()) origins_.push_back(origin);
  return number;
}

MemoryShadow& ValueFlow::shadow_of(const Allocation& allocation) {
  if (allocation.id >= shadows_.size()) shadows_.resize(allocation.id + 1);
  MemoryShadow& shadow = shadows_[allocation.id];
  if (shadow.bytes() != allocation.bytes) shadow.begin(allocation.limit());
  return shadow;
}

void ValueFlow::on_allocate(const Allocation& allocation) {
  shadow_of(allocation).begin(allocation.limit());
}

void ValueFlow::on_free(const Allocation& allocation) {
  if (allocation.id < shadows_.size()) shadows_[allocation.id].release();
}

void ValueFlow::on_sync(const Sync& sync) {
  if (sync.kind == Sync::Kind::kernel_start) begin_kernel(sync);
  if (sync.kind == Sync::Kind::block_start && sync.shared != nullptr) {
    shadow_of(*sync.shared).begin(sync.shared->limit());
  }
}

void ValueFlow::begin_kernel(const Sync& sync) {
  reductions_.clear();
  if (!sync.unordered_launches.empty())
    add(Obstacle::Kind::streams, *sync.program, ptx::kNone, ptx::kNone);
  host_goes_on("launches " + kernel_name(sync.program->kernel));
  if (!sources_.order) return;
  for (std::uint32_t pc = 0; pc < sync.program->code.size(); ++pc) {
    const Instr& instr = sync.program->code[pc];
    if (instr.kind == InstrKind::barrier && is_partial_barrier(instr))
      add(Obstacle::Kind::orders_threads, *sync.program, pc, ptx::kNone);
  }
}

// From now on, the host's calls may depend on what it has read.
void ValueFlow::host_goes_on(std::string_view what) {
  if (!host_has_results_) return;
  host_has_results_ = false;  // reported once
  Obstacle obstacle{Obstacle::Kind::host_reads, {}, {}, {}};
  obstacle.at.role = what;
  add(std::move(obstacle));
}

void ValueFlow::on_access(const Access& access) {
  if (access.space == ptx::Space::param) return;
  if (access.allocation->is_shared_with_host())
    add(Obstacle::Kind::shared_with_host, *access.program, access.pc, ptx::kNone);
  if (sources_.order && (ptx::acquires(access.order) || ptx::releases(access.order)))
    add(Obstacle::Kind::orders_threads, *access.program, access.pc, ptx::kNone);
}

// Returns whether what a load finds, or a store leaves, depends on the order of threads.
bool ValueFlow::shows_order(const Access& access) const {
  return sources_.order && access.order != ptx::Order::weak && follows_order_of(access);
}

void ValueFlow::read(Access& access) {
  if (access.space == ptx::Space::param) return;
  MemoryShadow& shadow = shadow_of(*access.allocation);
  if (access.kind == AccessKind::atomic) {
    return update(access, access.program->code[access.pc], shadow);
  }
  mark_read(access, shadow);
  if (shows_order(access)) mark_whole(access, access.mask);
}

void ValueFlow::write(const Access& access) {
  if (access.space == ptx::Space::param) return;
  MemoryShadow& shadow = shadow_of(*access.allocation);
  if (!shows_order(access)) return leave_written(access, shadow);
  Access marked = access;
  mark_whole(marked, marked.mask);
  leave_written(marked, shadow);
}

void ValueFlow::mark_read(Access& access, const MemoryShadow& shadow) {
  if (!shadow.has_states()) return;
  const std::uint32_t elements = access.elements();
  const std::uint32_t of_one = elements == 1 ? access.bytes : access.element_bytes;
  std::array<UndefinedLanes, 4> of_element{};
  std::uint32_t lanes = 0;
  for (std::uint32_t rest = access.mask; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    std::array<std::uint64_t, 2> bits{};
    for (std::uint32_t byte = 0; byte < access.bytes; ++byte) {
      const std::uint32_t offset = access.offset[lane] + byte;
      if (shadow.state_at(offset) != MemoryShadow::kUndefined) continue;
      bits[byte / 8] |= std::uint64_t{shadow.taint_at(offset).bits} << (8 * (byte % 8));
      of_element[std::min(byte / of_one, 3u)].mask |= 1u << lane;
      lanes |= 1u << lane;
    }
    if ((lanes >> lane & 1u) == 0) continue;
    access.undefined_bits[0][lane] = bits[0];
    access.undefined_bits[1][lane] = bits[1];
  }
  if (lanes == 0) return;
  for (UndefinedLanes& element : of_element) element.origin = access.pc;
  access.of_element = of_element;
  access.is_partial = true;
  access.undefined = lanes;
  access.origin = access.pc;
}

void ValueFlow::leave_written(const Access& access, MemoryShadow& shadow) {
  if (access.undefined == 0 && !shadow.has_states()) return;
  shadow.make_states();
  const std::uint32_t origin =
      access.undefined == 0 ? 0 : number_of({access.program, access.origin});
  for (std::uint32_t rest = access.mask; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    const bool is_followed = (access.undefined >> lane & 1u) != 0;
    for (std::uint32_t byte = 0; byte < access.bytes; ++byte) {
      const std::uint32_t offset = access.offset[lane] + byte;
      const auto bits =
          static_cast<std::uint8_t>(!is_followed        ? 0
                                    : access.is_partial ? access.undefined_bits_at(byte, 1, lane)
                                                        : 0xff);
      if (bits != 0) {
        shadow.taint(offset, {origin, bits});
      } else if (shadow.state_at(offset) == MemoryShadow::kUndefined) {
        shadow.set(offset, 1, MemoryShadow::kDefined);
      }
    }
  }
}

// Returns whether the final value of the memory does not depend on the order of the atomic
// operations: in this kernel, only operations of this kind have updated the allocation.
bool ValueFlow::keeps_order_out(const Access& access, const Instr& instr) {
  const std::optional<Reduction> own = reduction_of(instr);
  if (!own) return false;
  return reductions_.try_emplace(access.allocation->id, *own).first->second == *own;
}

// The new bytes in memory depend on the operands and on the old bytes; every byte depends on all of
// them.
void ValueFlow::update(Access& access, const Instr& instr, MemoryShadow& shadow) {
  const UndefinedLanes operands{std::exchange(access.undefined, 0), access.origin};
  access.is_partial = false;
  mark_read(access, shadow);
  if (access.undefined != 0) mark_whole(access, access.undefined);
  const std::uint32_t read = access.undefined;
  const bool is_followed = sources_.order && follows_order_of(access);
  const bool shows_order = is_followed && !keeps_order_out(access, instr);
  const std::uint32_t written = shows_order ? access.mask : operands.mask | read;
  if (written != 0) {
    mark_whole(access, written);
    if (operands.mask != 0 && !shows_order) access.origin = operands.origin;
  }
  leave_written(access, shadow);
  // The old values that lanes receive depend on the order of threads.
  access.undefined = is_followed ? access.mask : read;
  access.is_partial = false;
  access.origin = access.pc;
  access.of_element.fill({access.undefined, access.pc});
}

void ValueFlow::on_fence(const Fence& fence) {
  if (sources_.order && !fence.proxy && !fence.controls_grids() && may_synchronize(*fence.program))
    add(Obstacle::Kind::orders_threads, *fence.program, fence.pc, ptx::kNone);
}

void ValueFlow::on_undefined_use(const UndefinedUse& use) {
  const auto kind = [&] {
    switch (use.kind) {
      case UndefinedUse::Kind::address: return Obstacle::Kind::address;
      case UndefinedUse::Kind::branch: return Obstacle::Kind::branch;
      case UndefinedUse::Kind::operand: return Obstacle::Kind::operand;
      case UndefinedUse::Kind::handed_on:
      case UndefinedUse::Kind::instruction: break;
    }
    return Obstacle::Kind::instruction;
  }();
  const bool has_origin = kind != Obstacle::Kind::instruction;
  add(kind, *use.program, use.pc, has_origin ? use.origin : ptx::kNone);
}

void ValueFlow::on_host_access(const HostAccess& access) {
  MemoryShadow& shadow = shadow_of(*access.allocation);
  if (access.write) {
    shadow.fill(access.offset, access.bytes, MemoryShadow::kDefined);
    if (!sources_.data) return;
    const std::uint32_t origin = number_of({});
    for (std::uint32_t i = 0; i < access.bytes; ++i) shadow.taint(access.offset + i, {origin});
    return;
  }
  if (!shadow.has_states()) return;
  for (std::uint32_t i = access.offset; i < access.offset + access.bytes; ++i) {
    if (shadow.state_at(i) != MemoryShadow::kUndefined) continue;
    host_has_results_ = true;
    const Origin& origin = origins_[shadow.taint_at(i).origin];
    if (origin.program == nullptr) return;
    const Obstacle result =
        obstacle_at(Obstacle::Kind::operand, *origin.program, origin.pc, ptx::kNone);
    if (std::ranges::find(results_, result) == results_.end()) results_.push_back(result);
    return;
  }
}

void ValueFlow::on_device_copy(const DeviceCopy& copy) {
  shadow_of(*copy.target);  // creates the shadow first, because references must stay valid
  const MemoryShadow& source = shadow_of(*copy.source);
  shadow_of(*copy.target).copy(copy.target_offset, source, copy.source_offset, copy.bytes);
}

void ValueFlow::on_opaque_operation(std::string_view call) {
  Obstacle obstacle = opaque_obstacle(call);
  if (std::ranges::find(obstacles_, obstacle) == obstacles_.end()) add(std::move(obstacle));
}

}  // namespace warpcheck::vgpu
