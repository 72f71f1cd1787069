#include "vgpu/check/weak/write_histories.hpp"

#include <algorithm>
#include <cstring>

#include "vgpu/check/order/clocks/bits.hpp"
#include "vgpu/check/race/race_class.hpp"

namespace warpcheck::vgpu {

bool WriteHistories::concern(const Program& program) {
  return std::ranges::any_of(program.code, [](const Instr& instr) {
    return instr.kind == InstrKind::load && instr.modifiers.order != ptx::Order::weak;
  });
}

// --- what threads know -------------------------------------------------------------------------

void WriteHistories::on_sync(const Sync& sync) {
  switch (sync.kind) {
    case Sync::Kind::kernel_start:
      order_.begin_launch(shape_of(sync), sync.unordered_launches, sync.early_after);
      break;
    case Sync::Kind::block_start:
      order_.begin_block(sync.place);
      if (sync.shared != nullptr) forget(*sync.shared);
      break;
    case Sync::Kind::barrier_complete: order_.complete_barrier(sync.place); break;
    case Sync::Kind::block_end:
    case Sync::Kind::kernel_end: break;
  }
}

void WriteHistories::on_fence(const Fence& fence) {
  if (fence.proxy || fence.object_inits || fence.controls_grids()) return;
  if (fence.order != ptx::Order::sc) return order_.fences().fence(fence);
  const BlockKey block = order_.launches().block_key(fence.place),
                 group = order_.launches().group_of(block);
  const Reach reach = order_.launches().reach_of(fence.scope);
  for_each_bit(fence.mask, [&](unsigned lane) {
    Fence own = fence;
    own.mask = 1u << lane;
    VectorClock before = fenced_in_block_[block];
    if (reach != Reach::block) before.join(fenced_in_group_[group]);
    if (reach == Reach::grid) before.join(fenced_);
    order_.threads().learn(fence.place, lane, before);
    order_.fences().fence(own);
    const Moment moment = order_.threads().at(fence.place, lane).fence[0];
    const VectorClock clock = order_.threads().clock_of(moment, fence.place, lane);
    fenced_in_block_[block].join(clock);
    if (reach != Reach::block) fenced_in_group_[group].join(clock);
    if (reach == Reach::grid) fenced_.join(clock);
  });
}

void WriteHistories::on_collective(const Collective& event) {
  const WarpLanes members{event.place.warp, event.members};
  Meeting meeting;
  meeting.program = event.program;
  meeting.place = event.place;
  meeting.arrived = meeting.released = {&members, 1};
  order_.meet(meeting);
}

WriteHistories::Author WriteHistories::author_of(const WarpPlace& place, unsigned lane) {
  return {order_.segment_of(place, false), lane, order_.launches().block_key(place),
          order_.threads().thread_at(place, lane)};
}

bool WriteHistories::knows(const WarpPlace& place, unsigned lane, const Author& author) {
  if (author.segment == 0) return true;
  if (author.block == order_.launches().block_key(place) &&
      author.thread == order_.threads().thread_at(place, lane)) {
    return true;
  }
  return order_.before(author.segment, author.lane, place, lane);
}

bool WriteHistories::knows(const WarpPlace& place, unsigned lane, const Write& write) {
  return knows(place, lane, write.author) ||
         std::ranges::any_of(write.readers,
                             [&](const Author& reader) { return knows(place, lane, reader); });
}

// Returns whether the two are morally strong (8.7).
bool WriteHistories::observes(const Access& access, const Write& write) const {
  if (!class_of(access).strong || !write.strong) return false;
  const BlockKey block = order_.launches().block_key(access.place);
  if (write.author.block == block) return true;
  const Reach nearer = std::min(write.reach, order_.launches().reach_of(access));
  if (nearer != Reach::cluster) return nearer == Reach::grid;
  return order_.launches().group_of(write.author.block) == order_.launches().group_of(block);
}

// --- locations ---------------------------------------------------------------------------------

WriteHistories::Element WriteHistories::element_of(const Access& access, unsigned lane,
                                                   std::uint32_t number) {
  const std::uint32_t bytes = access.bytes / access.elements();
  const std::uint32_t offset = access.offset[lane] + number * bytes;
  return {offset, bytes, access.allocation->data + offset};
}

// Returns null if nothing was written there.
//   makes: creates the location if it does not exist
WriteHistories::Location* WriteHistories::find(const Access& access, const Element& element,
                                               bool makes) {
  if (access.allocation->reserved || access.allocation->shared_by != nullptr) return nullptr;
  const std::uint32_t id = access.allocation->id;
  Location* const known = locations_.find(id, element.offset, element.bytes);
  if (known != nullptr) {
    const bool is_latest =
        std::memcmp(known->writes.back().bytes.data(), element.at, element.bytes) == 0;
    if (is_latest) return known;
    locations_.drop(id, *known);  // changed by a write that was not reported
  }
  if (!makes) return nullptr;
  Location& made = locations_.make(id, element.offset, element.bytes);
  std::memcpy(made.writes.emplace_back().bytes.data(), element.at, element.bytes);
  return &made;
}

void WriteHistories::forget(const Allocation& allocation) {
  variables_.forget(allocation.id);
  locations_.forget(allocation.id);
}

void WriteHistories::forget_past() { locations_.clear(); }

void WriteHistories::forget_if_too_much() {
  if (locations_.count() > kLocationsMax) forget_past();
  if (order_.segments().count() < kSegmentsMax) return;
  forget_past();
  static_cast<void>(order_.forget_segments(std::vector<bool>(order_.segments().count())));
}

void WriteHistories::pass(const Access& access) {
  if (access.kind == AccessKind::read) return;
  for_each_bit(access.mask, [&](unsigned lane) {
    for (std::uint32_t number = 0; number < access.elements(); ++number) {
      const Element element = element_of(access, lane, number);
      if (const Location* const location = find(access, element, false)) {
        locations_.drop(access.allocation->id, *location);
      }
      variables_.overwrite(access.allocation->id, element.offset, element.bytes);
    }
  });
}

// --- what accesses may find --------------------------------------------------------------------

// Returns the index of the oldest write that a load may find.
std::size_t WriteHistories::oldest_for(const Access& access, unsigned lane,
                                       const Location& location) {
  std::size_t index = location.writes.size() - 1;
  while (index > 0 && !knows(access.place, lane, location.writes[index])) --index;
  return index;
}

// Returns the index that a store gets if it is to be placed before the `left_out` latest writes, as
// far as the model allows.
std::size_t WriteHistories::place_for(const Access& access, unsigned lane, const Location& location,
                                      std::uint32_t left_out) {
  const std::size_t first = oldest_for(access, lane, location) + 1, end = location.writes.size();
  std::size_t index = std::max(first, end - std::min<std::size_t>(left_out, end));
  while (index < end && location.writes[index].is_update) ++index;
  return index;
}

std::uint8_t WriteHistories::source_of(const Location& location, const Write& write) {
  if (write.number == location.made) return 0;
  const std::uint64_t since = location.strong_made - write.strong_number;
  if (!write.strong || since + 1 >= Access::kNoStrongSource) return Access::kNoStrongSource;
  return static_cast<std::uint8_t>(since + 1);
}

// Returns the index of the write that a load finds if it is to leave out the `left_out` latest
// writes, as far as the model allows.
std::size_t WriteHistories::found_by(const Access& access, unsigned lane, const Location& location,
                                     std::uint32_t left_out) {
  const std::size_t last = location.writes.size() - 1;
  if (left_out == 0) return last;
  return std::max(last - std::min<std::size_t>(left_out, last), oldest_for(access, lane, location));
}

PastPoint WriteHistories::begin(Access& access) {
  forget_if_too_much();
  choice_ = {0, 1};
  access.sources = sources_.data();
  PastPoint point;
  point.is_store = access.kind == AccessKind::write;
  set_sources(access, access.mask, 0);
  if (access.kind == AccessKind::atomic) return point;
  for_each_bit(access.mask, [&](unsigned lane) {
    for (std::uint32_t number = 0; number < access.elements(); ++number) {
      const Location* const location = find(access, element_of(access, lane, number), false);
      if (location == nullptr || location->writes.size() < 2) continue;
      const auto end = static_cast<std::uint32_t>(location->writes.size());
      const std::size_t depth = point.is_store ? end - place_for(access, lane, *location, end)
                                               : end - 1 - oldest_for(access, lane, *location);
      if (depth == 0) continue;
      point.lanes |= 1u << lane;
      point.depth = std::max(point.depth, static_cast<std::uint32_t>(depth));
    }
  });
  return point;
}

void WriteHistories::choose(const Access& access, const PastChoice& choice) {
  choice_ = choice;
  set_sources(access, choice.lanes, choice.writes);
}

// Sets Access::sources, which tells observers of the access which writes the lanes find.
void WriteHistories::set_sources(const Access& access, std::uint32_t lanes,
                                 std::uint32_t left_out) {
  if (access.kind == AccessKind::write || !class_of(access).strong) return;
  for_each_bit(lanes, [&](unsigned lane) {
    for (std::uint32_t number = 0; number < access.elements(); ++number) {
      std::uint8_t& source = sources_[lane * kElementsMax + number];
      source = 0;
      // A lane of an atomic operation may find what a lower lane of the same operation writes.
      std::uint32_t writers = access.kind == AccessKind::atomic ? access.mask : 0;
      writers &= ~access.unwritten & ((1u << lane) - 1);
      bool is_next = false;
      for_each_bit(writers,
                   [&](unsigned other) { is_next |= access.offset[other] == access.offset[lane]; });
      const Location* const location = find(access, element_of(access, lane, number), false);
      if (location == nullptr || is_next) continue;
      const std::size_t index = found_by(access, lane, *location, left_out);
      source = source_of(*location, location->writes[index]);
    }
  });
}

void WriteHistories::begin_lane(const Access& access, unsigned lane) {
  for (std::uint32_t number = 0; number < access.elements(); ++number) {
    Element element = element_of(access, lane, number);
    element.location = find(access, element, access.kind != AccessKind::read);
    if (element.location != nullptr) {
      const std::vector<Write>& writes = element.location->writes;
      element.index = access.kind != AccessKind::read
                          ? writes.size() - 1
                          : found_by(access, lane, *element.location, left_out_by(lane));
      if (element.index + 1 != writes.size()) {
        std::memcpy(element.at, writes[element.index].bytes.data(), element.bytes);
      }
    }
    elements_[number] = element;
  }
}

void WriteHistories::end_lane(const Access& access, unsigned lane) {
  for (std::uint32_t number = 0; number < access.elements(); ++number) {
    const Element& element = elements_[number];
    Location* const location = element.location;
    const bool writes = access.kind != AccessKind::read && (access.unwritten >> lane & 1) == 0;
    std::uint8_t source = 0;
    if (location != nullptr && access.kind != AccessKind::write) {
      source = source_of(*location, location->writes[element.index]);
      end_read(access, lane, *location, element.index);
    }
    if (location != nullptr && writes) end_write(access, lane, element);
    if (location != nullptr && !writes && element.index + 1 != location->writes.size()) {
      std::memcpy(element.at, location->writes.back().bytes.data(), element.bytes);
    }
    synchronise(access, lane, element, writes, source);
  }
}

void WriteHistories::end_read(const Access& access, unsigned lane, Location& location,
                              std::size_t index) {
  Write& write = location.writes[index];
  if (write.author.segment == 0 || !observes(access, write)) return;
  const Author reader = author_of(access.place, lane);
  const auto is_by_same = [&](const Author& other) {
    return other.block == reader.block && other.thread == reader.thread;
  };
  if (is_by_same(write.author) || std::ranges::any_of(write.readers, is_by_same)) return;
  // too many to remember: continue as if all threads knew the write
  if (write.readers.size() == kReadersMax) {
    write.author = {};
    write.readers.clear();
    return;
  }
  write.readers.push_back(reader);
}

void WriteHistories::end_write(const Access& access, unsigned lane, const Element& element) {
  Location& location = *element.location;
  Write write;
  std::memcpy(write.bytes.data(), element.at, element.bytes);
  write.author = author_of(access.place, lane);
  write.strong = class_of(access).strong;
  write.reach = order_.launches().reach_of(access);
  write.is_update = access.kind == AccessKind::atomic;
  write.number = ++location.made;
  write.strong_number = location.strong_made += write.strong ? 1 : 0;
  std::vector<Write>& writes = location.writes;
  const std::size_t index =
      write.is_update ? writes.size() : place_for(access, lane, location, left_out_by(lane));
  if (index != writes.size()) {
    std::memcpy(element.at, writes.back().bytes.data(), element.bytes);
  }
  writes.insert(writes.begin() + static_cast<std::ptrdiff_t>(index), std::move(write));
  if (writes.size() > kWritesMax) writes.erase(writes.begin());
}

// Updates the order of threads by the same operations as the race checker does.
void WriteHistories::synchronise(const Access& access, unsigned lane, const Element& element,
                                 bool writes, std::uint8_t source) {
  if (!class_of(access).strong) {
    if (writes) variables_.overwrite(access.allocation->id, element.offset, element.bytes);
    return;
  }
  StrongOperation operation(access);
  operation.lane = lane;
  operation.offset = element.offset;
  operation.bytes = static_cast<std::uint8_t>(element.bytes);
  operation.writes = writes;
  operation.source = source;
  operation.block = order_.launches().block_key(access.place);
  operation.fences = &order_.threads().at(access.place, lane).fence;
  Miss miss;
  static_cast<void>(variables_.perform(operation, miss));
}

}  // namespace warpcheck::vgpu
