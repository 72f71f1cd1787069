#include "vgpu/check/order/collective_order.hpp"

#include <algorithm>
#include <bit>

#include "vgpu/program/flow/dependence.hpp"

namespace warpcheck::vgpu {
namespace {

std::uint32_t element_of(const Instr& instr, std::uint32_t byte) {
  const std::uint32_t bytes = ptx::bytes_of(instr.modifiers.type);
  return bytes == 0 ? 0 : byte / bytes;
}

}  // namespace

void CollectiveOrder::begin_launch(const Program& program, std::uint64_t threads) {
  flow_.reset();
  feeds_.clear();
  leads_to_.clear();
  decides_.clear();
  program_ = &program;
  warps_ = static_cast<std::uint32_t>((threads + kWarpLanes - 1) / kWarpLanes);
  is_on_ = !lockstep_ && program.has_collectives;
  for (OfSlot& slot : logs_) slot.is_lent = false;
}

void CollectiveOrder::begin_block(const WarpPlace& place) {
  if (!is_on_) return;
  OfSlot& slot = slot_at(place.slot);
  for (LoadLog& log : slot.loads) log.time = log.loads = 0;
  for (Meetings& meetings : slot.meetings) meetings.count = 0;
}

void CollectiveOrder::lend_logs(const WarpPlace& place, AccessRecord& record) {
  record.loads = nullptr;
  if (!is_on_) return;
  OfSlot& slot = slot_at(place.slot);
  slot.is_lent = true;
  slot.phase = record.phase_of_block = place.phase;
  record.loads = slot.loads.data();
}

// The logs of a slot stay where they are for the rest of the launch.
CollectiveOrder::OfSlot& CollectiveOrder::slot_at(std::uint32_t slot) {
  if (slot >= logs_.size()) logs_.resize(slot + 1);
  OfSlot& result = logs_[slot];
  if (result.loads.size() < warps_) {
    result.loads.resize(warps_);
    result.meetings.resize(warps_);
  }
  return result;
}

CollectiveOrder::Log CollectiveOrder::log_of(const WarpPlace& place) {
  OfSlot& slot = slot_at(place.slot);
  return {&slot.loads[place.warp], &slot.meetings[place.warp]};
}

void CollectiveOrder::on_collective(const Collective& event, std::uint32_t knowledge) {
  const auto [loads, meetings] = log_of(event.place);
  if (meetings->count != 0) {
    // Lanes that arrive at one operation at different times are reported one after the other.
    MeetingOf& last = meetings->meeting[(meetings->count - 1) % kMeetings];
    const bool is_same = last.time == loads->time && last.pc == event.pc &&
                         last.members == event.members && (last.mask & event.mask) == 0;
    if (is_same && event.mask != event.members) {
      last.mask |= event.mask;
      return;
    }
  }
  meetings->meeting[meetings->count++ % kMeetings] = {++loads->time, event.pc, event.mask,
                                                      event.members, knowledge};
}

// Returns whether the lane reads the byte at `offset` in entry `index` of the log.
//   begin: receives the offset at which the lane's access begins
bool CollectiveOrder::reads(const LoadLog& log, std::uint32_t index, unsigned lane,
                            std::uint32_t allocation, std::uint32_t offset, std::uint32_t& begin) {
  const LoadLog::Load& load = log.load[index];
  if ((load.mask >> lane & 1) == 0 || load.allocation != allocation) return false;
  begin = load.scattered != 0 ? log.offsets[index][lane] : load.first + lane * load.stride;
  return offset - begin < load.bytes;
}

bool CollectiveOrder::orders(const Access& store, unsigned lane, std::uint32_t offset,
                             std::uint32_t load_pc, unsigned load_lane) {
  if (!is_on_) return false;
  const Log log = log_of(store.place);
  const LoadLog& loads = *log.loads;
  for (std::uint32_t i = 0; i < std::min(loads.loads, kLoads); ++i) {
    const std::uint32_t index = (loads.loads - 1 - i) % kLoads;
    std::uint32_t begin = 0;
    if (loads.load[index].pc != load_pc) continue;
    if (!reads(loads, index, load_lane, store.allocation->id, offset, begin)) continue;
    const std::uint32_t element = element_of(program_->code[load_pc], offset - begin);
    return is_before(*log.meetings, {load_pc, element, loads.load[index].time}, load_lane, store,
                     lane, offset);
  }
  return false;
}

bool CollectiveOrder::orders_all(const Access& store, unsigned lane, std::uint32_t offset) {
  if (!is_on_) return false;
  const Log log = log_of(store.place);
  const LoadLog& loads = *log.loads;
  for (std::uint32_t index = 0; index < std::min(loads.loads, kLoads); ++index) {
    const LoadLog::Load& load = loads.load[index];
    if (load.phase != store.place.phase) continue;
    if (program_->code[load.pc].modifiers.sync) continue;  // a load of the warp is complete
    for (std::uint32_t rest = load.mask & ~(1u << lane); rest != 0; rest &= rest - 1) {
      const auto other = static_cast<unsigned>(std::countr_zero(rest));
      std::uint32_t begin = 0;
      if (!reads(loads, index, other, store.allocation->id, offset, begin)) continue;
      const std::uint32_t element = element_of(program_->code[load.pc], offset - begin);
      if (!is_before(*log.meetings, {load.pc, element, load.time}, other, store, lane, offset)) {
        return false;
      }
    }
  }
  return true;
}

// For each instruction, only the storing lane's latest execution counts, because only its result is
// what the program can be shown to depend on.
bool CollectiveOrder::is_before(const Meetings& meetings, const Loaded& load, unsigned load_lane,
                                const Access& store, unsigned lane, std::uint32_t offset) {
  const std::uint32_t element = element_of(program_->code[store.pc], offset - store.offset[lane]);
  std::vector<std::uint32_t> seen;
  for (std::uint32_t i = 0; i < std::min(meetings.count, kMeetings); ++i) {
    const MeetingOf& meeting = meetings.meeting[(meetings.count - 1 - i) % kMeetings];
    if (meeting.time < load.time) return false;
    if ((meeting.mask >> lane & 1) == 0 || std::ranges::count(seen, meeting.pc) != 0) continue;
    seen.push_back(meeting.pc);
    if ((meeting.mask >> load_lane & 1) == 0) continue;
    if (feeds(load.pc, load.element, meeting.pc) && leads_to(meeting.pc, store.pc, element)) {
      return true;
    }
  }
  return false;
}

bool CollectiveOrder::lets_go_on(const Access& access, unsigned lane, unsigned by,
                                 std::uint32_t knowledge) {
  if (!is_on_) return false;
  const Meetings& meetings = *log_of(access.place).meetings;
  std::vector<std::uint32_t> seen;
  for (std::uint32_t i = 0; i < std::min(meetings.count, kMeetings); ++i) {
    const MeetingOf& meeting = meetings.meeting[(meetings.count - 1 - i) % kMeetings];
    if ((meeting.mask >> lane & 1) == 0 || std::ranges::count(seen, meeting.pc) != 0) continue;
    seen.push_back(meeting.pc);
    const bool knew = (meeting.mask >> by & 1) != 0 && meeting.knowledge == knowledge;
    if (knew && decides(meeting.pc, access.pc)) return true;
  }
  return false;
}

const RegisterFlow& CollectiveOrder::flow() {
  if (flow_ == nullptr) flow_ = std::make_unique<RegisterFlow>(*program_);
  return *flow_;
}

// Returns whether the operation waits for the load's value.
bool CollectiveOrder::feeds(std::uint32_t load_pc, std::uint32_t element,
                            std::uint32_t meeting_pc) {
  const auto [known, is_new] = feeds_.try_emplace({load_pc, element, meeting_pc}, false);
  const bool is_load = program_->code[load_pc].kind == InstrKind::load && element < 4;
  if (is_new && is_load && flow().is_known()) {
    const Dependence dependence(flow(), load_pc, MemoryOperand::value + element, meeting_pc);
    const auto reads = flow().reads(meeting_pc);
    known->second = dependence.covers_all(meeting_pc, {reads.begin(), reads.end()});
  }
  return known->second;
}

// Returns whether the store of this element waits for the operation's result.
bool CollectiveOrder::leads_to(std::uint32_t meeting_pc, std::uint32_t store_pc,
                               std::uint32_t element) {
  const auto [known, is_new] = leads_to_.try_emplace({meeting_pc, store_pc, element}, false);
  const Instr& store = program_->code[store_pc];
  if (is_new && store.kind == InstrKind::store && element < 4 && flow().is_known()) {
    std::vector<std::uint32_t> registers;
    for (const Ref& ref :
         {store[MemoryOperand::address], store[MemoryOperand::value + element], store.guard}) {
      const std::uint32_t number = flow().register_of(store_pc, ref);
      if (number != ptx::kNone) registers.push_back(number);
    }
    const Dependence dependence(flow(), meeting_pc);
    known->second = dependence.covers_latest(store_pc, registers);
  }
  return known->second;
}

// Returns whether the operation's latest result decides that a thread executes the load or store:
// an operand of the access depends on it, or a branch on every path from the operation to the
// access does.
bool CollectiveOrder::decides(std::uint32_t meeting_pc, std::uint32_t access_pc) {
  const auto [known, is_new] = decides_.try_emplace({meeting_pc, access_pc, 0}, false);
  const InstrKind kind = program_->code[access_pc].kind;
  const bool is_known_kind = kind == InstrKind::load || kind == InstrKind::store;
  if (!is_new || !is_known_kind || !flow().is_known()) return known->second;
  const Dependence dependence(flow(), meeting_pc);
  const auto depends = [&](std::uint32_t pc) {
    const auto reads = flow().reads(pc);
    return dependence.covers_latest(pc, {reads.begin(), reads.end()});
  };
  if (depends(access_pc)) return known->second = true;
  const std::uint32_t from = flow().graph().block_of(meeting_pc),
                      to = flow().graph().block_of(access_pc);
  if (from == to && access_pc > meeting_pc) return false;
  std::vector<bool> seen(flow().graph().blocks().size(), false);
  std::vector<std::uint32_t> work{from};
  while (!work.empty()) {
    const std::uint32_t block = work.back();
    work.pop_back();
    const std::uint32_t last = flow().graph().blocks()[block].end - 1;
    if (program_->code[last].kind == InstrKind::branch && depends(last)) continue;
    for (const std::uint32_t next : flow().graph().successors(block)) {
      if (next == to) return false;
      if (next == from || seen[next]) continue;
      seen[next] = true;
      work.push_back(next);
    }
  }
  return known->second = true;
}

}  // namespace warpcheck::vgpu
