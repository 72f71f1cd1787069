#include "vgpu/machine/access/accesses.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "vgpu/machine/access/access_record.hpp"
#include "vgpu/machine/memory/weak_memory.hpp"
#include "vgpu/ptx/opcode.hpp"

namespace warpcheck::vgpu {

using ptx::Space;

namespace {

// An instruction whose lanes had scattered addresses once will probably have them again.
constexpr std::uint8_t kSkips = 15;

Pattern pattern_in(const RowScan& scan) {
  return scan.uniform ? Pattern::uniform : scan.strided ? Pattern::strided : Pattern::scattered;
}

}  // namespace

Accesses::Plan Accesses::plan_of(const Instr& instr) {
  const ptx::Modifiers& modifiers = instr.modifiers;
  const Ref& value = instr[MemoryOperand::value];
  const std::uint32_t bytes = ptx::bytes_of(modifiers.type);
  const bool moves_one = instr.kind != InstrKind::atomic && modifiers.vector == 1 && bytes <= 8 &&
                         value.bank != Bank::none;
  const bool is_shared = modifiers.space != Space::local && modifiers.space != Space::param;
  if (!moves_one || !is_shared || modifiers.order != ptx::Order::weak)
    return {.kind = Plan::Kind::other};
  const bool wide = value.bank == Bank::wide || (value.bank == Bank::constant && bytes == 8);
  const bool is_load = instr.kind == InstrKind::load;
  const bool wide_address = instr[MemoryOperand::address].bank != Bank::word;
  return {.kind = Plan::Kind::plain,
          .is_load = is_load,
          .wide_address = wide_address,
          .bytes = static_cast<std::uint8_t>(bytes),
          .value_bytes = static_cast<std::uint8_t>(wide ? 8 : 4),
          .move = row_move_index(bytes, wide, is_load && ptx::is_signed(modifiers.type))};
}

// Plans do not depend on the launch, except on whether it has weak memory.
bool Accesses::begin_launch() {
  open_queues_.clear();
  const bool is_weak = launch_.request().weak_memory != nullptr;
  const std::shared_ptr<NativeTier>& of = launch_.program().native;
  if (!is_weak && of != nullptr && of == plans_are_of_) return true;
  plans_.assign(launch_.program().code.size(), {});
  plans_are_of_ = is_weak ? nullptr : of;
  return false;
}

bool Accesses::execute_at_site(RunningFragment& run, const Instr& instr, std::uint32_t active) {
  const Plan& plan = plans_[run.pc];
  RowAccess row;
  const bool is_plain =
      plan.kind == Plan::Kind::plain && targets_.sites()[run.pc].bytes == plan.bytes;
  if (!is_plain || !find_at_site(run, instr, plan, active, row)) return false;
  execute_row(run, instr, plan, row);
  if (row.space != ptx::Space::shared && current_.is_watched()) {
    open_queue(row.pc, *row.allocation);
  }
  return true;
}

void Accesses::open_queue(std::uint32_t pc, const Allocation& allocation) {
  const Observers& observers = launch_.observers();
  if (!observers.may_queue_rows()) return;
  AccessSite& site = targets_.sites()[pc];
  RowQueue* queue = site.queue;
  if (queue == nullptr) {
    for (Observer* const observer : observers.of_accesses) {
      const std::optional<RowQueue*> its_own = observer->queue_of(allocation);
      if (!its_own || (*its_own != nullptr && queue != nullptr)) return;
      if (*its_own != nullptr) queue = *its_own;
    }
  }
  if (queue != nullptr && queue->limit == queue->permitted && site.queue != nullptr) return;
  const bool is_defined =
      observers.undefined_memory == nullptr || observers.undefined_memory->is_defined(allocation);
  if (!is_defined) return;
  site.is_unseen = queue == nullptr;
  site.queue = queue;
  if (queue == nullptr) return;
  queue->limit = queue->permitted;
  const auto known = std::ranges::find(open_queues_, queue, &OpenQueue::queue);
  if (known == open_queues_.end()) {
    open_queues_.push_back({queue, &allocation});
  } else {
    known->allocation = &allocation;  // the launch may have freed the one before
  }
}

void Accesses::execute_next(RunningFragment& run, const Instr& instr, std::uint32_t active) {
  Plan& plan = plans_[run.pc];
  if (plan.kind == Plan::Kind::unknown) [[unlikely]] {
    const bool is_weak = launch_.request().weak_memory != nullptr;
    plan = is_weak ? Plan{.kind = Plan::Kind::other} : plan_of(instr);
  }
  if (plan.skips != 0) {
    --plan.skips;
    return execute(run, instr, active);
  }
  RowAccess row;
  if (plan.kind != Plan::Kind::plain || run.warp.undefined.any() ||
      !find_again(run, instr, plan, active, row)) {
    return execute(run, instr, active);
  }
  execute_row(run, instr, plan, row);
}

bool Accesses::find_at_site(const RunningFragment& run, const Instr& instr, const Plan& plan,
                            std::uint32_t active, RowAccess& row) {
  const AccessSite& site = targets_.sites()[run.pc];
  const AddressRow addresses{row_of(run.banks, instr[MemoryOperand::address]), plan.wide_address,
                             static_cast<std::uint64_t>(instr.displacement), site.base - site.begin,
                             site.begin};
  const Pattern pattern = pattern_of(plan, addresses.row, active);
  row = row_at_site(run, run.pc, pattern, active);
  if (pattern == Pattern::scattered) {
    const auto limit = static_cast<std::uint32_t>(site.begin + site.lane_room + plan.bytes);
    row.offsets = offsets_.data();
    return launch_.rows().scan(addresses, limit, plan.bytes, active, offsets_.data()).inside;
  }
  const auto lead = static_cast<unsigned>(__builtin_ctz(active));
  const auto last = 31u - static_cast<unsigned>(__builtin_clz(active));
  const std::uint64_t offset = address_of(addresses, lead) - site.base;
  const std::uint32_t step = pattern == Pattern::strided ? plan.bytes : 0;
  row.first += static_cast<std::uint32_t>(offset - lead * step);
  return offset <= site.lane_room && (last - lead) * step <= site.lane_room - offset &&
         (offset & (plan.bytes - 1u)) == 0;
}

bool Accesses::find_again(const RunningFragment& run, const Instr& instr, Plan& plan,
                          std::uint32_t active, RowAccess& row) {
  const std::byte* const addresses = row_of(run.banks, instr[MemoryOperand::address]);
  const Pattern pattern = pattern_of(plan, addresses, active);
  if (pattern == Pattern::scattered) {
    plan.skips = kSkips;
    return false;
  }

  const auto lead = static_cast<unsigned>(__builtin_ctz(active));
  const std::uint64_t address = address_of(
      {addresses, plan.wide_address, static_cast<std::uint64_t>(instr.displacement), 0}, lead);
  Target target;
  if (!targets_.find_again(run, instr.modifiers.space, address, target)) {
    target = targets_.of(run, instr, address);
    if (target.allocation == nullptr || target.space != Space::global) return false;
  }
  if (instr.provenance != 0) provenance_objects_.keep(instr.provenance, run.slot.shared, target);
  if (!plan.is_load && target.allocation->read_only) return false;

  // All addresses are between those of the first and the last active lane.
  const std::uint32_t step = pattern == Pattern::strided ? plan.bytes : 0;
  const std::uint64_t offset = address - target.base;
  const std::uint64_t reach =
      std::uint64_t{31u - static_cast<unsigned>(__builtin_clz(active)) - lead} * step + plan.bytes;
  const bool is_inside =
      offset >= target.begin && offset <= target.limit && reach <= target.limit - offset;
  if (!is_inside || (offset & (plan.bytes - 1u)) != 0) return false;

  if (targets_.has_sites()) targets_.remember(run.pc, instr, plan.bytes, target, run.slot.shared);
  row = {.allocation = target.allocation,
         .place = launch_.place_of(run.slot, run.warp),
         .pc = run.pc,
         .mask = active,
         .first = static_cast<std::uint32_t>(offset) - lead * step,
         .space = target.allocation->space,
         .kind = plan.is_load ? AccessKind::read : AccessKind::write,
         .pattern = pattern,
         .bytes = plan.bytes,
         .element_bytes = plan.bytes};
  return true;
}

void Accesses::execute_row(RunningFragment& run, const Instr& instr, const Plan& plan,
                           const RowAccess& row) {
  if (current_.is_watched() && !current_.report(run, instr, row, {0, 1})) [[unlikely]] {
    return move_elements(run, instr, *row.allocation, scan_of(row.pattern), row.mask);
  }
  const MemoryRowFunctions& rows = launch_.rows();
  std::byte* const value = row_of(run.banks, instr[MemoryOperand::value]);
  if (row.pattern == Pattern::scattered) {
    const RowMove move{.data = row.allocation->data,
                       .offsets = row.offsets,
                       .mask = row.mask,
                       .row = value,
                       .wide_row = plan.value_bytes == 8,
                       .width = plan.bytes,
                       .is_signed = ptx::is_signed(instr.modifiers.type)};
    return plan.is_load ? rows.load(move) : rows.store(move);
  }
  const bool strided = row.pattern == Pattern::strided;
  const auto& moves = strided ? (plan.is_load ? rows.strided_load : rows.strided_store)
                              : (plan.is_load ? rows.uniform_load : rows.uniform_store);
  moves[plan.move](value, row.allocation->data + start_of(row.first), row.mask);
}

void Accesses::perform_atomic(RunningFragment& run, std::uint32_t pc,
                              const std::array<std::uint32_t, kWarpLanes>& offsets) {
  const AccessSite& site = targets_.sites()[pc];
  run.pc = pc;
  Target target;
  target.allocation = site.allocation == nullptr ? run.slot.shared : site.allocation;
  target.space = site.space;
  current_.access.offset = offsets;
  const auto* const row = reinterpret_cast<const std::byte*>(offsets.data());
  const Pattern pattern = launch_.rows().pattern_of_words(row, site.bytes, ~0u);
  perform(run, launch_.program().code[pc], target, scan_of(pattern), ~0u);
  if (target.space == Space::global && current_.is_watched()) open_queue(pc, *target.allocation);
}

void Accesses::execute(RunningFragment& run, const Instr& instr, std::uint32_t active) {
  const Ref& address = instr[MemoryOperand::address];
  if (run.warp.undefined.any()) [[unlikely]] {
    launch_.use_of_undefined(run, UndefinedUse::Kind::address, address, active);
  }
  AddressRow row{row_of(run.banks, address),
                 address.bank == Bank::wide || (address.bank == Bank::constant),
                 static_cast<std::uint64_t>(instr.displacement), 0};
  const std::uint32_t bytes = ptx::bytes_of(instr.modifiers.type) * instr.modifiers.vector;
  std::uint32_t faulted = 0;
  while (active != 0) {
    const auto lead = static_cast<unsigned>(std::countr_zero(active));
    const std::uint64_t lead_address = address_of(row, lead);
    Target target = targets_.of(run, instr, lead_address);
    if (instr.provenance != 0) provenance_objects_.keep(instr.provenance, run.slot.shared, target);
    row.base = target.base;
    row.begin = target.begin;
    std::uint32_t group = active;
    RowScan scan;
    if (target.allocation != nullptr) {
      scan = launch_.rows().scan(row, target.limit, bytes, active, current_.access.offset.data());
      if (!scan.inside) [[unlikely]] {
        group = Targets::lanes_inside(row, target, bytes, active);
        if (group != 0)
          scan =
              launch_.rows().scan(row, target.limit, bytes, group, current_.access.offset.data());
      }
    }
    if (target.allocation != nullptr && ((group >> lead) & 1) == 0 &&
        ends_in_word(instr, target, lead_address)) [[unlikely]] {
      perform_at_end(run, instr, target, lead);
      active &= ~(1u << lead);
      continue;
    }
    const bool has_no_atomic = target.space == Space::local && instr.kind == InstrKind::atomic &&
                               !exists_in_local_memory(instr.modifiers);
    const bool forbidden = target.allocation != nullptr && instr.kind != InstrKind::load &&
                           (target.allocation->read_only || has_no_atomic);
    if (target.allocation == nullptr || ((group >> lead) & 1) == 0 || forbidden) {
      targets_.fault(run, instr, target, lead_address, lead, bytes);
      faulted |= 1u << lead;
      active &= ~(1u << lead);
      continue;
    }
    if (instr.opcode == ptx::Opcode::ldmatrix_) [[unlikely]] {  // it checks addresses
      active &= ~group;
      continue;
    }
    if (bytes <= 16 && targets_.has_sites()) {
      targets_.remember(run.pc, instr, bytes, target, run.slot.shared);
    }
    if (target.space == Space::local) {
      local_memory_.perform(run, instr, target, scan.uniform, group);
    } else {
      perform(run, instr, target, scan, group);
    }
    active &= ~group;
  }
  if (faulted != 0 && instr.kind != InstrKind::store) zero_destinations(run, instr, faulted);
}

void Accesses::perform(RunningFragment& run, const Instr& instr, const Target& target,
                       const RowScan& scan, std::uint32_t mask) {
  // A .b128 moves as two halves.
  const std::uint32_t whole = ptx::bytes_of(instr.modifiers.type);
  const std::uint32_t width = std::min(whole, 8u);
  const std::uint32_t count = whole > 8 ? 2 : instr.modifiers.vector;
  current_.access.allocation = target.allocation;
  current_.access.undefined = 0;
  if (instr.kind == InstrKind::atomic && has_elements(instr.modifiers)) [[unlikely]] {
    if (launch_.observers().weak_memory != nullptr) launch_.observers().weak_memory->forget_past();
    atomics_.perform_elements(run, instr, target, mask);
    return;
  }
  if (launch_.observers().weak_memory != nullptr && is_weak_memory_of(target)) [[unlikely]] {
    current_.describe(run, instr, *target.allocation, target.space, pattern_in(scan), width * count,
                      mask, {0, count});
    return perform_weakly(run, instr, *target.allocation, scan);
  }
  if (current_.is_watched()) {
    current_.describe(run, instr, *target.allocation, target.space, pattern_in(scan), width * count,
                      mask, {0, count});
    current_.report();
  }
  move_bytes(run, instr, *target.allocation, scan, mask);
}

// Moves the bytes of an access that has been described or reported.
void Accesses::move_bytes(RunningFragment& run, const Instr& instr, const Allocation& allocation,
                          const RowScan& scan, std::uint32_t mask) {
  if (instr.kind == InstrKind::atomic) {
    atomics_.perform(run, instr, mask, scan.strided);
    return;
  }
  move_elements(run, instr, allocation, scan, mask);
  if (instr.modifiers.order == ptx::Order::weak) [[likely]]
    return;
  const bool raises_flag = instr.kind == InstrKind::store && (mask & (mask - 1)) == 0;
  if (raises_flag) strong_writes_.note(run, current_.access, mask);
}

// Moves the bytes of a load or store at the offsets of the current access.
void Accesses::move_elements(RunningFragment& run, const Instr& instr, const Allocation& allocation,
                             const RowScan& scan, std::uint32_t mask) {
  // A .b128 moves as two halves.
  const std::uint32_t whole = ptx::bytes_of(instr.modifiers.type);
  const std::uint32_t width = std::min(whole, 8u);
  const std::uint32_t count = whole > 8 ? 2 : instr.modifiers.vector;
  RowMove move;
  move.data = allocation.data;
  move.offsets = current_.access.offset.data();
  move.mask = mask;
  move.uniform = scan.uniform;
  move.strided = scan.strided && count == 1;
  move.width = static_cast<std::uint8_t>(width);
  move.is_signed = ptx::is_signed(instr.modifiers.type);
  if (scan.strided && count != 1 && mask != 0xffffffffu) {
    // Elements move lane by lane, so inactive lanes need a valid offset too.
    const std::uint32_t safe =
        current_.access.offset[static_cast<unsigned>(std::countr_zero(mask))];
    for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
      if (((mask >> lane) & 1) == 0) current_.access.offset[lane] = safe;
    }
  }
  for (std::uint32_t element = 0; element < count; ++element) {
    const Ref& ref = instr[MemoryOperand::value + element];
    if (ref.bank == Bank::none) continue;
    move.displacement = element * width;
    move.row = row_of(run.banks, ref);
    move.wide_row = ref.bank == Bank::wide || (ref.bank == Bank::constant && width == 8);
    if (instr.kind == InstrKind::load) {
      launch_.rows().load(move);
      if (current_.access.undefined != 0 || run.warp.undefined.any()) {
        current_.give_undefined(run, instr, ref, element, mask);
      }
    } else {
      launch_.rows().store(move);
    }
  }
}

void Accesses::zero_destinations(RunningFragment& run, const Instr& instr, std::uint32_t mask) {
  const auto zero = [&](const Ref& ref) {
    if (ref.bank == Bank::none) return;
    launch_.rows().broadcast(row_of(run.banks, ref), ref.bank == Bank::wide, 0, mask);
    if (run.warp.undefined.any())
      run.warp.undefined.set(run.frame, ref, {}, mask, launch_.program());
  };
  const bool is_quad = instr.modifiers.type == ptx::Type::b128;
  if (instr.kind == InstrKind::load) {
    const std::size_t count = is_quad ? 2 : instr.modifiers.vector;
    for (std::size_t i = 0; i < count; ++i) zero(instr[MemoryOperand::value + i]);
    return;
  }
  // The result of an mbarrier operation is in the same operand.
  const Ref& old = instr[AtomicOperand::old];
  for (std::uint32_t i = 0; i < instr.modifiers.vector; ++i) zero(row_after(old, i));
  if (is_quad) zero(row_after(old, 1));
}

}  // namespace warpcheck::vgpu
