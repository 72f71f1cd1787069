#include "vgpu/check/proof/order_flow.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "vgpu/check/reporter.hpp"
#include "vgpu/program/program.hpp"

namespace warpcheck::vgpu {

void OrderFlow::on_sync(const Sync& sync) {
  ValueFlow::on_sync(sync);
  if (sync.kind != Sync::Kind::kernel_start) return;
  grid_ = sync.grid;
  block_ = sync.block;
}

bool OrderFlow::follows_order_of(const Access& access) const {
  return std::ranges::none_of(without_, [&](const OrderPoint& known) {
    return known.side.instruction == access.pc && known.kernel == access.program->kernel;
  });
}

void OrderFlow::add_source(const Access& access) {
  if (!follows_order_of(access)) return;
  const Origin origin{access.program, access.pc};
  if (shown_.contains(origin)) return;
  shown_.emplace(origin, side_of(role_name(access.kind), origin, access.place, access.mask));
}

// The first of the lanes.
AccessSide OrderFlow::side_of(std::string_view role, const Origin& at, const WarpPlace& place,
                              std::uint32_t lanes) const {
  const ThreadId who = thread_of(place, static_cast<unsigned>(std::countr_zero(lanes)));
  return side_at(role,
                 {at.program, at.pc, grid_.position_of(who.block), block_.position_of(who.thread)});
}

void OrderFlow::read(Access& access) {
  if (access.space != ptx::Space::param) {
    if (access.order != ptx::Order::weak || access.kind == AccessKind::atomic) add_source(access);
    add_ways(access);
  }
  ValueFlow::read(access);
}

// What a load finds, and what an atomic operation changes, has the origins of the bytes.
void OrderFlow::add_ways(const Access& access) {
  const MemoryShadow& shadow = shadow_of(*access.allocation);
  if (!shadow.has_states()) return;
  std::set<Origin>& from = ways_[{access.program, access.pc}];
  for (std::uint32_t rest = access.mask; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    for (std::uint32_t i = access.offset[lane]; i < access.offset[lane] + access.bytes; ++i) {
      if (shadow.state_at(i) == MemoryShadow::kUndefined)
        from.insert(origin_of(shadow.taint_at(i)));
    }
  }
}

void OrderFlow::write(const Access& access) {
  if (access.space != ptx::Space::param && access.order != ptx::Order::weak) add_source(access);
  ValueFlow::write(access);
}

void OrderFlow::on_undefined_use(const UndefinedUse& use) {
  ValueFlow::on_undefined_use(use);
  const auto kind = use.kind == UndefinedUse::Kind::address   ? Obstacle::Kind::address
                    : use.kind == UndefinedUse::Kind::branch  ? Obstacle::Kind::branch
                    : use.kind == UndefinedUse::Kind::operand ? Obstacle::Kind::operand
                                                              : Obstacle::Kind::instruction;
  if (kind == Obstacle::Kind::instruction || use.origin == ptx::kNone) return;
  const Origin at{use.program, use.pc}, from{use.program, use.origin};
  const bool is_known = std::ranges::any_of(uses_, [&](const Use& known) {
    return known.kind == kind && known.at == at && known.from == from;
  });
  if (!is_known)
    uses_.push_back({kind, at, from, side_of(name_of(kind), at, use.place, use.lanes)});
}

void OrderFlow::on_host_access(const HostAccess& access) {
  ValueFlow::on_host_access(access);
  if (access.write || access.ahead) return;
  Copy& copy = copies_.emplace_back();
  const std::byte* const bytes = access.allocation->data + access.offset;
  copy.bytes.assign(bytes, bytes + access.bytes);
  const MemoryShadow& shadow = shadow_of(*access.allocation);
  if (!shadow.has_states()) return;
  for (std::uint32_t i = 0; i < access.bytes; ++i) {
    if (const auto mark = mark_in(*access.allocation, access.offset + i)) copy.marks[i] = *mark;
  }
}

std::optional<std::uint32_t> OrderFlow::mark_in_latest(std::uint64_t bytes,
                                                       std::uint64_t byte) const {
  std::uint64_t begin = bytes;
  for (auto copy = copies_.rbegin(); copy != copies_.rend() && begin != 0; ++copy) {
    if (copy->bytes.size() > begin) return std::nullopt;
    begin -= copy->bytes.size();
    if (byte < begin) continue;
    // Of an integer perhaps only some bytes are followed.
    const auto mark = copy->marks.lower_bound(static_cast<std::uint32_t>(byte - begin));
    const bool is_near = mark != copy->marks.end() && mark->first < byte - begin + 4;
    return is_near ? std::optional(mark->second) : std::nullopt;
  }
  return std::nullopt;
}

std::optional<std::uint32_t> OrderFlow::mark_in(const Allocation& allocation,
                                                std::uint32_t offset) {
  const MemoryShadow& shadow = shadow_of(allocation);
  if (!shadow.has_states() || shadow.state_at(offset) != MemoryShadow::kUndefined) return {};
  const Origin& origin = origin_of(shadow.taint_at(offset));
  const auto known = std::ranges::find(marks_, origin);
  const auto mark = static_cast<std::uint32_t>(known - marks_.begin());
  if (known == marks_.end()) marks_.push_back(origin);
  return mark;
}

// What is neither an access nor calculated from one sees which lanes are active, or a clock.
bool OrderFlow::is_source(const Origin& origin) const {
  if (shown_.contains(origin)) return true;
  const InstrKind kind = origin.program->code[origin.pc].kind;
  const bool accesses =
      kind == InstrKind::load || kind == InstrKind::store || kind == InstrKind::atomic;
  return !accesses && !ways_.contains(origin);
}

OrderPoint OrderFlow::point_of(const Origin& origin) const {
  const auto shown = shown_.find(origin);
  if (shown != shown_.end()) return {origin.program->kernel, shown->second};
  return {origin.program->kernel,
          side_at("compute", {origin.program, origin.pc, Dim3{0, 0, 0}, Dim3{0, 0, 0}})};
}

std::vector<OrderPoint> OrderFlow::sources_of(const Origin& origin) const {
  std::vector<OrderPoint> found;
  std::set<Origin> seen;
  std::vector<Origin> open{origin};
  while (!open.empty()) {
    const Origin at = open.back();
    open.pop_back();
    if (at.program == nullptr || at.pc >= at.program->code.size()) continue;
    if (!seen.insert(at).second) continue;
    if (is_source(at)) found.push_back(point_of(at));
    if (const auto from = ways_.find(at); from != ways_.end())
      open.insert(open.end(), from->second.begin(), from->second.end());
  }
  return found;
}

std::vector<OrderPoint> OrderFlow::sources_of(std::uint32_t mark) const {
  return sources_of(marks_.at(mark));
}

std::vector<OrderFlow::Decision> OrderFlow::decisions() const {
  std::vector<Decision> found;
  for (const Use& use : uses_) {
    std::vector<OrderPoint> sources = sources_of(use.from);
    if (sources.empty()) continue;
    found.push_back({use.kind, use.side, std::move(sources)});
  }
  return found;
}

}  // namespace warpcheck::vgpu
