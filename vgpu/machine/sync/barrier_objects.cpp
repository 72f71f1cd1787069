#include "vgpu/machine/sync/barrier_objects.hpp"

#include <algorithm>
#include <bit>

#include "vgpu/ptx/opcode.hpp"

namespace warpcheck::vgpu {

using ptx::ObjectOp;
using Reason = BarrierDivergence::Reason;

namespace {

constexpr std::uint32_t kObjectBytes = 8;

// Returns the operation; an arrival on behalf of copies is an arrival too.
ObjectOp operation_of(const Instr& instr) {
  return instr.opcode == ptx::Opcode::cp_ ? ObjectOp::arrive : instr.modifiers.object_op;
}

bool is_written_anew(const Instr& instr) {
  const ObjectOp op = operation_of(instr);
  return op == ObjectOp::init || op == ObjectOp::inval;
}

std::uint64_t bits_after(const Instr& instr, std::uint32_t count) {
  BarrierToken token;
  if (operation_of(instr) == ObjectOp::inval) return token.pack();
  token.valid = true;
  token.pending = token.expected = count & BarrierToken::kCountMax;
  return token.pack();
}

BarrierObjectState* find_object(Slot& slot, const Allocation* allocation, std::uint32_t offset) {
  const auto found = std::ranges::find_if(slot.objects, [&](const BarrierObjectState& object) {
    return object.allocation == allocation && object.offset == offset;
  });
  return found == slot.objects.end() ? nullptr : &*found;
}

// A phase completes when nothing is pending; then the next phase begins.
void complete_if_done(BarrierToken& token, BarrierObjectState& object) {
  if (token.pending != 0 || token.bytes != 0) return;
  token.pending = token.expected;
  token.parity = !token.parity;
  ++object.phase;
}

std::uint64_t state_of(const RunningFragment& run, const Instr& instr, unsigned lane) {
  std::uint64_t state = 0;
  std::memcpy(&state, row_of(run.banks, instr[ObjectOperand::value]) + lane * sizeof state,
              sizeof state);
  return state;
}

// Sets the result: the state before an arrival, or whether a wait is complete.
void finish_object(const RunningFragment& run, const Instr& instr, unsigned lane,
                   std::uint64_t state, bool is_done) {
  const Ref& to = instr[ObjectOperand::result];
  if (to.bank == Bank::none) return;
  std::byte* const row = row_of(run.banks, to);
  if (to.bank != Bank::predicate) {
    std::memcpy(row + lane * sizeof state, &state, sizeof state);
    return;
  }
  std::uint32_t bits = 0;
  std::memcpy(&bits, row, sizeof bits);
  bits = (bits & ~(1u << lane)) | std::uint32_t{is_done} << lane;
  std::memcpy(row, &bits, sizeof bits);
}

}  // namespace

bool BarrierObjects::execute(RunningFragment& run, const Instr& instr, std::uint32_t active) {
  must_yield_ = false;
  const Ref& address = instr[ObjectOperand::address];
  if (run.warp.undefined.any()) {
    launch_.use_of_undefined(run, UndefinedUse::Kind::address, address, active);
  }
  AddressRow row{row_of(run.banks, address),
                 address.bank == Bank::wide || address.bank == Bank::constant,
                 static_cast<std::uint64_t>(instr.displacement), 0};
  std::uint32_t faulted = 0;
  while (active != 0) {
    const auto lead = static_cast<unsigned>(std::countr_zero(active));
    const std::uint64_t lead_address = address_of(row, lead);
    Target target = targets_.of(run, instr, lead_address);
    if (target.space != ptx::Space::shared) target = {nullptr, ptx::Space::shared, 0, 0};
    row.base = target.base;
    const std::uint32_t group =
        target.allocation == nullptr ? 0 : Targets::lanes_inside(row, target, kObjectBytes, active);
    if ((group >> lead & 1u) == 0) {
      targets_.fault(run, instr, target, lead_address, lead, kObjectBytes);
      faulted |= 1u << lead;
      active &= ~(1u << lead);
      continue;
    }
    const RowScan scan =
        launch_.rows().scan(row, target.limit, kObjectBytes, group, current_.access.offset.data());
    announce(run, instr, target, scan, group);
    perform(run, instr, group);
    active &= ~group;
  }
  if (faulted != 0 && instr[ObjectOperand::result].bank != Bank::none)
    accesses_.zero_destinations(run, instr, faulted);
  return must_yield_;
}

void BarrierObjects::announce(RunningFragment& run, const Instr& instr, const Target& target,
                              const RowScan& scan, std::uint32_t mask) {
  current_.access.allocation = target.allocation;
  current_.access.undefined = 0;
  if (!current_.is_watched()) return;
  const Pattern pattern = scan.uniform   ? Pattern::uniform
                          : scan.strided ? Pattern::strided
                                         : Pattern::scattered;
  Instr access = instr;
  access.modifiers.order = ptx::Order::relaxed;
  access.modifiers.scope = ptx::Scope::gpu;  // atomic to each other at every scope
  const ObjectOp op = operation_of(instr);
  if (op == ObjectOp::test_wait || op == ObjectOp::try_wait) access.kind = InstrKind::load;
  alignas(64) std::array<std::uint64_t, kWarpLanes> values{};
  const std::byte* written = nullptr;
  if (is_written_anew(instr)) {
    access.kind = InstrKind::store;
    access.modifiers.order = ptx::Order::weak;
    access.modifiers.scope = ptx::Scope::none;
    for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
      const Ref& count = instr[ObjectOperand::value];
      values[lane] =
          bits_after(instr, count.bank == Bank::none ? 0 : word_of(run.banks, count, lane));
    }
    written = reinterpret_cast<const std::byte*>(values.data());
    access[ObjectOperand::result] = {};
  }
  current_.describe(run, access, *target.allocation, target.space, pattern, kObjectBytes, mask,
                    {0, 1}, written);
  current_.report();
}

// Executes lane after lane; each event covers as many lanes as it applies to.
void BarrierObjects::perform(RunningFragment& run, const Instr& instr, std::uint32_t mask) {
  const std::uint32_t undefined = current_.access.undefined & mask;
  const bool reads = !is_written_anew(instr);
  if (undefined != 0 && reads) {
    const UndefinedUse use{UndefinedUse::Kind::branch,
                           &launch_.program(),
                           launch_.place_of(run.slot, run.warp),
                           run.pc,
                           undefined,
                           current_.access.origin};
    launch_.notify([&](Observer& observer) { observer.on_undefined_use(use); });
  }
  const auto flush = [&](const BarrierObject& event) {
    if (event.mask != 0)
      launch_.notify([&](Observer& observer) { observer.on_barrier_object(event); });
  };
  BarrierObject pending;
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    BarrierObject event;
    event.program = &launch_.program();
    event.place = launch_.place_of(run.slot, run.warp);
    event.pc = run.pc;
    event.allocation = current_.access.allocation;
    event.offset = current_.access.offset[lane];
    event.scope = instr.modifiers.scope;
    event.relaxed = instr.modifiers.order == ptx::Order::relaxed;
    event.for_copies = instr.opcode == ptx::Opcode::cp_;
    event.for_products = instr.opcode == ptx::Opcode::tcgen05_;
    is_reported_ = (undefined >> lane & 1u) != 0;
    perform_lane(run, instr, lane, event);
    const bool joins = event.offset == pending.offset && event.phase == pending.phase &&
                       event.kind == pending.kind && event.allocation == pending.allocation;
    if (event.mask != 0 && pending.mask != 0 && joins) {
      pending.mask |= event.mask;
      continue;
    }
    flush(pending);
    pending = event;
  }
  flush(pending);
  const Ref& to = instr[ObjectOperand::result];
  if (to.bank != Bank::none && run.warp.undefined.any()) {
    run.warp.undefined.set(run.frame, to, {undefined, current_.access.origin}, mask,
                           launch_.program());
  }
}

// event.mask stays 0 if the operation orders nothing.
void BarrierObjects::perform_lane(RunningFragment& run, const Instr& instr, unsigned lane,
                                  BarrierObject& event) {
  std::byte* const place = current_.access.allocation->data + event.offset;
  std::uint64_t bits = 0;
  std::memcpy(&bits, place, sizeof bits);
  Slot& owner = clusters_.owner_of(run, event.allocation);
  BarrierObjectState* object = find_object(owner, event.allocation, event.offset);
  const std::uint32_t otherwise = instr.modifiers.async ? instr.completed_bytes : 1;
  const std::uint32_t operand = instr[ObjectOperand::value].bank == Bank::none
                                    ? otherwise
                                    : word_of(run.banks, instr[ObjectOperand::value], lane);
  const ObjectOp op = operation_of(instr);
  const auto store = [&](std::uint64_t value) { std::memcpy(place, &value, sizeof value); };
  if (op == ObjectOp::init) {
    if (operand == 0 || operand > BarrierToken::kCountMax) {
      launch_.report_misuse(run, lane, Reason::bad_count);
    }
    store(bits_after(instr, operand));
    if (object == nullptr) object = &owner.objects.emplace_back();
    *object = {event.allocation, event.offset, 0};
    event.kind = BarrierObject::Kind::init;
    event.mask = 1u << lane;
    return;
  }
  if (object == nullptr) {
    if (!is_reported_) launch_.report_misuse(run, lane, Reason::no_object);
    return finish_object(run, instr, lane, bits, true);
  }
  BarrierToken token = BarrierToken::unpack(bits);
  event.phase = object->phase;
  event.mask = 1u << lane;
  switch (op) {
    case ObjectOp::inval:
      store(bits_after(instr, 0));
      *object = owner.objects.back();
      owner.objects.pop_back();
      event.kind = BarrierObject::Kind::invalidate;
      return;
    case ObjectOp::test_wait:
    case ObjectOp::try_wait: {
      bool parity = (operand & 1u) != 0;
      if (!instr.modifiers.parity) parity = BarrierToken::unpack(state_of(run, instr, lane)).parity;
      const bool is_done = token.parity != parity;
      finish_object(run, instr, lane, 0, is_done);
      must_yield_ |= !is_done;  // test_wait may be in a polling loop too
      event.kind = BarrierObject::Kind::wait;
      // The phase before the first one counts as complete, but no thread arrived in it.
      if (!is_done || event.phase == 0) event.mask = 0;
      event.phase -= 1;
      return;
    }
    case ObjectOp::expect_tx:
      token.bytes += static_cast<std::int32_t>(operand);
      event.mask = 0;
      break;
    case ObjectOp::complete_tx:
      token.bytes -= static_cast<std::int32_t>(operand);
      event.completes = instr.modifiers.async;
      if (!event.completes) event.mask = 0;
      break;
    default: arrive(run, instr, lane, token); break;
  }
  complete_if_done(token, *object);
  store(token.pack());
  finish_object(run, instr, lane, bits, true);
}

void BarrierObjects::arrive(RunningFragment& run, const Instr& instr, unsigned lane,
                            BarrierToken& token) {
  const ptx::Modifiers& m = instr.modifiers;
  const std::uint32_t operand = instr[ObjectOperand::value].bank == Bank::none
                                    ? 1
                                    : word_of(run.banks, instr[ObjectOperand::value], lane);
  if (m.expect_tx) token.bytes += static_cast<std::int32_t>(operand);
  const std::uint32_t count = m.expect_tx ? 1 : operand;
  // Copies are executed when they are issued, so they arrive at once.  Without .noinc, the
  // instruction also increments the pending count first, so the two cancel.
  if (instr.opcode == ptx::Opcode::cp_ && !m.no_increment) return;
  if (count == 0 || count > token.pending)
    launch_.report_misuse(run, lane, Reason::too_many_arrivals);
  token.pending -= std::min(count, token.pending);
  if (m.object_op == ObjectOp::arrive_drop) token.expected -= std::min(count, token.expected);
}

}  // namespace warpcheck::vgpu
