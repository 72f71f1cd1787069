#include "vgpu/check/race/race_general.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstring>
#include <optional>
#include <utility>

#include "vgpu/check/order/bits.hpp"
#include "vgpu/machine/machine.hpp"

namespace warpcheck::vgpu {
namespace {

constexpr std::uint32_t kWeakReads = 1u << AccessClass{}.index();

// Returns the cell in the layout that the loops over rows use.
std::uint64_t* words_of(Cell* cell) {
  static_assert(sizeof(Cell) == 2 * sizeof(std::uint64_t) && offsetof(Cell, rest) == 8);
  return &cell->write.bits;
}

// Returns the active lanes, from `lane` on, that access the same bytes as `lane`.
std::uint32_t lanes_at(const Access& access, unsigned lane) {
  constexpr unsigned kWidth = 4;
  using Offsets [[gnu::vector_size(4 * kWidth)]] = std::uint32_t;
  constexpr Offsets kBits{1, 2, 4, 8};
  Offsets lanes{};
  for (unsigned first = 0; first < kWarpLanes; first += kWidth) {
    Offsets offsets;
    std::memcpy(&offsets, access.offset.data() + first, sizeof offsets);
    lanes |= (Offsets)(offsets == access.offset[lane]) & (kBits << first);
  }
  return (lanes[0] | lanes[1] | lanes[2] | lanes[3]) & access.mask & (~0u << lane);
}

// Returns whether everything that a block does with its shared memory comes before every access to
// it after the block's next barrier.
bool barriers_are_enough_in_shared_memory(const Program& program) {
  return !program.uses_clusters && std::ranges::none_of(program.code, [](const Instr& in) {
    return in.kind == InstrKind::copy || in.kind == InstrKind::bulk_copy ||
           in.kind == InstrKind::tensor_copy || in.kind == InstrKind::group_load;
  });
}

}  // namespace

GeneralRaceChecker::GeneralRaceChecker(Reporter& reporter, CollectiveOrder& collectives,
                                       const EpochLimits& limits)
    : Checker(reporter),
      collectives_(collectives),
      rows_(cell_row_functions(simd_level())),
      segments_kept_(limits.segments),
      deferred_max_(limits.deferred),
      tidy_at_(limits.segments) {
  reset({});
}

void GeneralRaceChecker::reset(WarpModel model) {
  counted_.clear();
  shapes_.clear();
  if (is_idle_ && model == model_) return;
  is_idle_ = true;
  model_ = model;
  order_.reset(model);
  tidy_at_ = segments_kept_;
  for (Phase& phase : phases_) phase.log.close();
  deferred_.clear();
  asks_again_ = false;
  if (std::exchange(has_recent_, false)) recent_ = {};
  seen_release_ = {};
  variables_.reset();
  lists_.clear();
  memories_.clear();
  launches_.clear();
  misses_.clear();
  barrier_objects_.clear();
  cluster_order_.clear();
  proxy_fences_.clear();
  owners_.clear();
}

void GeneralRaceChecker::on_fence(const Fence& fence) {
  catch_up();
  if (fence.controls_grids()) {
    order_.control_grids(fence);
  } else if (fence.proxy) {
    proxy_fences_.add(fence);
  } else if (fence.object_inits) {
    cluster_order_.fence_object_inits(fence);
  } else {
    perform_before(fence);
    order_.fence(fence);
  }
}

void GeneralRaceChecker::count_launch(const LaunchShape& shape) {
  constexpr std::size_t kLooksMax = 64;
  const auto latest = std::span(shapes_).last(std::min(shapes_.size(), kLooksMax));
  const auto known = std::ranges::find(latest, shape);
  counted_.push_back(static_cast<std::uint32_t>(shapes_.size() - latest.size() +
                                                static_cast<std::size_t>(known - latest.begin())));
  if (known == latest.end()) shapes_.push_back(shape);
}

void GeneralRaceChecker::catch_up() {
  is_idle_ = false;
  if (counted_.empty()) return;
  for (const std::uint32_t counted : std::exchange(counted_, {})) begin_launch(shapes_[counted]);
  shapes_.clear();
}

void GeneralRaceChecker::begin_launch(const LaunchShape& launch,
                                      std::span<const std::uint32_t> unordered,
                                      std::uint32_t early_after) {
  begin_deferring(launch, unordered);
  order_.begin_launch(launch, unordered, early_after);
  launches_.push_back({launch.program, launch.grid, launch.block, order_.first_block_of_launch()});
  if (unordered.empty()) variables_.forget_all();
  barrier_objects_.clear();
  logs_ = barriers_are_enough_in_shared_memory(*launch.program);
  cluster_order_.clear();
  proxy_fences_.clear();
}

void GeneralRaceChecker::on_sync(const Sync& sync) {
  switch (sync.kind) {
    case Sync::Kind::kernel_start:
      catch_up();
      begin_launch(shape_of(sync), sync.unordered_launches, sync.early_after);
      break;
    case Sync::Kind::block_start:
      order_.begin_block(sync.place);
      misses_.resize(std::max<std::size_t>(misses_.size(), sync.place.slot + 1));
      misses_[sync.place.slot].clear();
      if (sync.shared != nullptr) {
        variables_.forget(sync.shared->id);
        owners_.begin_block(sync.place, *sync.shared);
        barrier_objects_.forget(sync.shared->id);
      }
      phases_.resize(std::max<std::size_t>(phases_.size(), sync.place.slot + 1));
      phases_[sync.place.slot].shared = sync.shared;
      phases_[sync.place.slot].observers = 0;
      begin_phase(sync.place);
      break;
    case Sync::Kind::barrier_complete:
      if (phases_[sync.place.slot].observers != 0) perform_observed();
      order_.complete_barrier(sync.place);
      begin_phase(sync.place);
      break;
    case Sync::Kind::block_end:
      order_.end_block(sync.place);
      if (sync.shared != nullptr) end_shared(sync);
      break;
    case Sync::Kind::kernel_end: break;
  }
}

CellMemory& GeneralRaceChecker::memory_of(const Allocation& allocation, std::uint32_t bytes) {
  if (allocation.id >= memories_.size()) memories_.resize(allocation.id + 1);
  CellMemory& memory = memories_[allocation.id];
  memory.fit(allocation.limit());
  if (bytes < memory.cell_bytes()) {
    perform_deferred(allocation.id);
    memory.narrow_to(bytes, lists_);
  }
  return memory;
}

GeneralRaceChecker::Row GeneralRaceChecker::row_of(const Access& access) {
  Row row;
  row.access = &access;
  row.memory = &memory_of(*access.allocation, access.bytes);
  row.now = segment_of(access);
  if (access.space == ptx::Space::shared) {
    row.first = logs_ ? phases_[access.place.slot].first : owners_.first_segment_of(access);
    owners_.remember(access, row.now);
  }
  row.known.first = row.first;
  // An earlier asynchronous copy of the same lane is not ordered by program order, so here no
  // segment counts as the lane's own.
  row.known.own = access.asynchronous ? ThreadOrder::kSegmentsMax - 1 : row.now;
  has_recent_ = true;
  Recent& recent = recent_[row.now % kRecent];
  if (recent.now != row.now) recent = {row.now, {}};
  std::ranges::copy(recent.before, row.known.segments);
  return row;
}

void GeneralRaceChecker::on_access(Access& access) {
  // No other space can be shared between threads and written.
  if (access.space != ptx::Space::shared && access.space != ptx::Space::global) return;
  if (order_.segments() >= tidy_at_) tidy_up();
  if (access.space == ptx::Space::shared && log(access)) return;
  Row row = row_of(access);
  if (defer(row)) return;
  if (meets_deferred(row)) perform_deferred(access.allocation->id);
  if (class_of(access).strong) {
    check_strong(row);
  } else {
    check_weak(row);
  }
}

void GeneralRaceChecker::check_weak(Row& row) {
  const Access& access = *row.access;
  const unsigned access_class = class_of(access).index();
  const bool write = access.kind == AccessKind::write;
  const bool is_plain = !access.async_proxy;  // accesses by the asynchronous proxy also need fences
  if (is_plain && access.pattern == Pattern::strided && check_neighbours(row)) return;
  const bool is_common = access.pattern == Pattern::uniform && std::popcount(access.mask) > 1;
  if (is_plain && is_common && !write && check_common_read(row)) return;
  std::uint32_t read = 0;  // lanes that are done
  for_each_bit(access.mask, [&](unsigned lane) {
    if ((read >> lane & 1) != 0) return;
    const LaneAccess mine{lane, access.offset[lane], access.bytes, access_class};
    if (is_plain && check_lane(row, mine)) return;
    if (is_plain && !write) {
      const std::uint32_t same = lanes_at(access, lane);
      if (check_read(row, mine, same)) {
        read |= same;
        return;
      }
    }
    const auto check_cells = [&] {
      for_each_cell(row, mine, [&](Cell& cell) { check(row, mine, cell); });
    };
    check_cells();
    if (asks_again(row)) check_cells();
    bool silences = false;
    for_each_cell(row, mine, [&](Cell& cell) {
      if (!write) return record_weak_read(row, lane, cell);
      silences |= cell.has_list();
      record_weak_write(row, lane, cell);
    });
    if (silences) variables_.overwrite(access.allocation->id, mine.offset, mine.bytes);
  });
}

// Checks lanes with neighbouring cells together, if all accesses in those cells come before them.
// False: nothing was done.
bool GeneralRaceChecker::check_neighbours(Row& row) {
  constexpr int kAttempts = 6;
  const Access& access = *row.access;
  const unsigned lane = access.first_lane();
  const std::uint32_t lanes = access.mask >> lane;
  if ((lanes & (lanes + 1)) != 0) return false;  // the lanes have gaps
  const unsigned shift = row.memory->shift();
  CellRow cells;
  cells.words = words_of(row.memory->cells() + (access.offset[lane] >> shift));
  cells.cells_log2 = static_cast<std::uint32_t>(std::countr_zero(access.bytes)) - shift;
  cells.cells = static_cast<std::uint32_t>(std::popcount(lanes)) << cells.cells_log2;
  const std::uint64_t of_lane = std::uint64_t{lane} << Record::kSegmentBits;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    KnownBefore known = row.known;
    known.own += of_lane;
    const std::uint32_t other = rows_.find_other(cells, known);
    if (other == 2 * cells.cells) {
      const std::uint64_t record = Record::of(row.now, lane, access.pc).bits;
      const bool write = access.kind == AccessKind::write;
      (write ? rows_.record_writes : rows_.record_reads)(cells, record);
      return true;
    }
    const std::uint64_t word = cells.words[other];
    if ((word & Cell::kIsList) != 0 || !all_before(row, Record{word}.segment())) return false;
  }
  return false;
}

// Checks a row in which all lanes read the same bytes.  False: nothing was done.
bool GeneralRaceChecker::check_common_read(Row& row) {
  const Access& access = *row.access;
  const LaneAccess mine{access.first_lane(), access.offset[access.first_lane()], access.bytes, 0};
  bool is_ordered = true;
  for_each_cell(row, mine, [&](const Cell& cell) {
    is_ordered &= cell.write.bits == 0 || all_before(row, cell.write.segment());
    if (cell.has_list()) is_ordered &= (lists_.at(cell).classes & ~kWeakReads) == 0;
  });
  if (!is_ordered) return false;
  for_each_cell(row, mine, [&](Cell& cell) {
    const bool is_past =
        !cell.has_list() && cell.rest != 0 && all_before(row, Record{cell.rest}.segment());
    if (is_past) cell.rest = 0;
    lists_.add(cell, {.segment = row.now, .lanes = access.mask, .pc = access.pc}, order_);
  });
  return true;
}

// Checks lanes that read the same bytes, if reads of these bytes cannot race here.  False: nothing
// was done.
bool GeneralRaceChecker::check_read(Row& row, const LaneAccess& mine, std::uint32_t lanes) {
  const bool is_one = std::has_single_bit(lanes);
  const auto is_ordered = [&](const Record& write) {
    if (write.bits == 0 || write.segment() < row.first) return true;
    if (std::ranges::find(row.known.segments, write.segment()) != std::end(row.known.segments)) {
      return true;
    }
    return is_one ? is_before(row, write.segment(), write.lane(), mine.lane)
                  : all_before(row, write.segment());
  };
  bool is_clean = true;
  for_each_cell(row, mine, [&](const Cell& cell) {
    is_clean = is_clean && is_ordered(cell.write);
    if (!is_clean || !cell.has_list()) return;
    const CellList& list = lists_.at(cell);
    is_clean = (list.classes & ~kWeakReads) == 0 || is_over(row, list);
  });
  if (!is_clean) return false;
  for_each_cell(row, mine, [&](Cell& cell) {
    if (cell.has_list() && is_over(row, lists_.at(cell))) lists_.drop(cell);
    std::uint32_t rest = lanes;
    for (; rest != 0 && !cell.has_list(); rest &= rest - 1) {
      record_weak_read(row, static_cast<unsigned>(std::countr_zero(rest)), cell);
    }
    if (rest == 0) return;
    lists_.add_reads(cell, {.segment = row.now, .lanes = rest, .pc = row.access->pc}, order_);
  });
  return true;
}

// Checks one lane's cells, if all accesses in them come before the lane.  False: nothing was done.
bool GeneralRaceChecker::check_lane(Row& row, const LaneAccess& mine) {
  const std::uint64_t own = row.known.own + (std::uint64_t{mine.lane} << Record::kSegmentBits);
  const auto is_known = [&](std::uint64_t word) {
    const std::uint64_t segment = word & (ThreadOrder::kSegmentsMax - 1);
    const bool is_before =
        segment < row.known.first || (word & 0xffffffff) == own ||
        std::ranges::find(row.known.segments, segment) != std::end(row.known.segments);
    return word == 0 || ((word & Cell::kIsList) == 0 && is_before);
  };
  bool is_ordered = true;
  for_each_cell(row, mine, [&](const Cell& cell) {
    is_ordered &= is_known(cell.write.bits) && is_known(cell.rest);
  });
  if (!is_ordered) return false;
  const Record record = Record::of(row.now, mine.lane, row.access->pc);
  for_each_cell(row, mine, [&](Cell& cell) {
    if (row.access->kind == AccessKind::write) {
      cell = {record, 0};
    } else {
      cell.rest = record.bits;
    }
  });
  return true;
}

ThreadOrder::Before GeneralRaceChecker::ask(Row& row, ThreadOrder::SegmentId earlier) {
  Row::Answer& answer = row.answers[earlier % row.answers.size()];
  if (answer.earlier != earlier) {
    answer = {earlier, order_.before(earlier, row.now, row.access->place)};
    if (answer.before == ThreadOrder::Before::all_lanes) remember(row, earlier);
  }
  return answer.before;
}

// Caches for this row and later rows of its segment: what comes before a segment once always comes
// before it.
void GeneralRaceChecker::remember(Row& row, ThreadOrder::SegmentId earlier) {
  Recent& recent = recent_[row.now % kRecent];
  if (std::ranges::find(recent.before, earlier) != recent.before.end()) return;
  std::ranges::copy_backward(std::span(recent.before).first<3>(), recent.before.end());
  recent.before[0] = earlier;
  std::ranges::copy(recent.before, row.known.segments);
}

bool GeneralRaceChecker::is_before(Row& row, ThreadOrder::SegmentId earlier, unsigned earlier_lane,
                                   unsigned lane) {
  if (earlier < row.first) return true;
  const WarpPlace& place = row.access->place;
  if (earlier == row.now && !row.access->asynchronous) {
    return order_.actor_of(earlier_lane) == order_.actor_of(lane) ||
           order_.before(earlier, earlier_lane, place, lane);
  }
  const ThreadOrder::Before answer = ask(row, earlier);
  if (answer == ThreadOrder::Before::all_lanes) return true;
  if (answer == ThreadOrder::Before::some_lanes &&
      order_.before(earlier, earlier_lane, place, lane)) {
    return true;
  }
  return row.access->async_proxy && is_before_awaited_arrival(row, earlier, earlier_lane, lane);
}

// Returns whether the segment's lanes come before all lanes of the row; false: not known.
bool GeneralRaceChecker::all_before(Row& row, ThreadOrder::SegmentId earlier) {
  if (earlier < row.first) return true;
  if (earlier == row.now && !row.access->asynchronous) return false;
  return ask(row, earlier) == ThreadOrder::Before::all_lanes;
}

// Returns the offset of the first byte of a cell that the lane accesses.
std::uint32_t GeneralRaceChecker::offset_in(const Row& row, const LaneAccess& mine,
                                            const Cell& cell) {
  const auto at = static_cast<std::uint32_t>(&cell - row.memory->cells()) << row.memory->shift();
  return std::max(at, mine.offset);
}

void GeneralRaceChecker::check(Row& row, const LaneAccess& mine, Cell& cell) {
  if (cell.write.bits != 0) {
    const Earlier write{cell.write.segment(), cell.write.lane(), cell.write.pc(), kWeakWrite};
    if (!is_before(row, write.segment, write.lane, mine.lane)) {
      report(row, mine, write);
    } else if (row.access->async_proxy) {
      check_proxy(row, mine, write);
    }
  }
  if (cell.rest == 0) return;
  if (cell.has_list()) {
    if (!is_over(row, lists_.at(cell))) return check_list(row, mine, cell);
    lists_.drop(cell);
    return;
  }
  if ((kClassRelations.race[mine.access_class] >> kWeakRead & 1) == 0) return;
  const Record read{cell.rest};
  if (!is_before(row, read.segment(), read.lane(), mine.lane)) {
    report(row, mine,
           {.segment = read.segment(),
            .lane = read.lane(),
            .pc = read.pc(),
            .access_class = kWeakRead,
            .offset = offset_in(row, mine, cell)});
  }
}

// Returns the classes of accesses that may, without a race, hand a value on to this access or
// receive one from it.
std::uint32_t GeneralRaceChecker::handed_classes(const Row& row, const LaneAccess& mine) const {
  const Access& access = *row.access;
  const std::vector<bool>& data_reads = access.program->data_reads;
  if (access.pc >= data_reads.size() || !is_relaxed_access(access.program->code[access.pc])) {
    return 0;
  }
  const bool takes_part = access.kind == AccessKind::write || data_reads[access.pc];
  return takes_part ? kClassRelations.hand_over[mine.access_class] : 0;
}

bool GeneralRaceChecker::is_handed(const Row& row, const LaneAccess& mine,
                                   const CellEntry& entry) const {
  const Access& access = *row.access;
  const ThreadOrder::Segment& segment = order_.segment(entry.segment);
  const Program& earlier = *launches_[segment.launch].program;
  if (!may_hand_on(earlier, entry.pc, *access.program, access.pc)) return false;
  const bool both_write =
      access.kind == AccessKind::write && AccessClass::of_index(entry.access_class).write;
  const bool one_warp =
      segment.block == order_.block_key(access.place) && segment.warp == access.place.warp;
  return !both_write || (!one_warp && !stores_same_bytes(row, mine));
}

// Returns whether all entries of a list are older than the block's ownership of this shared memory,
// or than its latest barrier.
bool GeneralRaceChecker::is_over(const Row& row, const CellList& list) {
  return list.entries.back().segment < row.first;
}

// Returns the first entry of a list that an access must check: all earlier entries are known to
// come before it, or cannot race with it.
std::size_t GeneralRaceChecker::first_in_question(const Row& row, unsigned access_class,
                                                  CellList& list) const {
  if (row.access->async_proxy) return 0;
  const std::uint32_t settled = CellLists::settle(list, order_);
  const bool goes_on = list.passed_by == row.now && list.passed_class == access_class &&
                       !row.access->asynchronous && !order_.has_clusters();
  if (!goes_on) {
    list.passed = settled;
    list.passed_by = row.now;
    list.passed_class = static_cast<std::uint8_t>(access_class);
  }
  return std::max(list.passed, settled);
}

void GeneralRaceChecker::check_list(Row& row, const LaneAccess& mine, const Cell& cell) {
  CellList& list = lists_.at(cell);
  const std::uint32_t anyhow = kClassRelations.race[mine.access_class];
  const std::uint32_t across = kClassRelations.race_across[mine.access_class];
  const std::uint32_t handed = handed_classes(row, mine);
  const std::uint32_t apart =
      order_.has_devices() ? kClassRelations.race_apart[mine.access_class] : 0;
  if (((anyhow | across | apart | handed) & list.classes) == 0) return;
  const BlockKey block = order_.block_key(row.access->place);
  if (((anyhow | handed) & list.classes) == 0 && list.block == block) return;
  // A check that also looks for notes may skip fewer entries.
  const unsigned passes_as = mine.access_class + (handed != 0 ? kAccessClasses : 0);
  std::optional<Observations> observations;
  bool all_passed = true;
  for (std::size_t i = first_in_question(row, passes_as, list); i < list.entries.size(); ++i) {
    const CellEntry& entry = list.entries[i];
    if (all_passed) list.passed = static_cast<std::uint32_t>(i);
    const bool one_block = order_.segment(entry.segment).block == block;
    std::uint32_t relations = one_block || is_one_group(row, entry) ? anyhow : anyhow | across;
    if (apart != 0 && are_apart(row, entry)) relations = apart;
    const bool races = (relations >> entry.access_class & 1) != 0;
    const bool may_hand = !races && (handed >> entry.access_class & 1) != 0;
    if (!races && !may_hand) continue;
    if (may_hand && !is_handed(row, mine, entry)) {
      // For two stores, the result depends on the stored value, and the next store may write
      // another value.
      all_passed = all_passed && !AccessClass::of_index(entry.access_class).write;
      continue;
    }
    const bool asks_proxy =
        row.access->async_proxy && AccessClass::of_index(entry.access_class).write;
    if (!asks_proxy && all_before(row, entry.segment)) continue;
    all_passed = false;
    for (std::uint32_t rest = entry.lanes; rest != 0; rest &= rest - 1) {
      const auto lane = static_cast<unsigned>(std::countr_zero(rest));
      const auto is_observed = [&] {
        if (entry.place.chain == 0) return false;
        if (!observations) observations = observations_of(row, list, mine.lane);
        return observations->include(entry, lane);
      };
      if (is_before(row, entry.segment, lane, mine.lane) || is_observed()) {
        if (asks_proxy) check_proxy(row, mine, {entry.segment, lane, entry.pc, entry.access_class});
        continue;
      }
      const bool is_enough = report(row, mine,
                                    {.segment = entry.segment,
                                     .lane = lane,
                                     .pc = entry.pc,
                                     .access_class = entry.access_class,
                                     .is_handed = may_hand,
                                     .offset = offset_in(row, mine, cell)});
      if (is_enough) break;
    }
  }
  if (all_passed) list.passed = static_cast<std::uint32_t>(list.entries.size());
}

// Accesses that come before this write are dropped.
void GeneralRaceChecker::record_weak_write(Row& row, unsigned lane, Cell& cell) {
  const Record before = cell.write;
  const bool raced = before.bits != 0 && !is_before(row, before.segment(), before.lane(), lane);
  cell.write = Record::of(row.now, lane, row.access->pc);
  if (cell.has_list()) {
    const bool has_chains = lists_.at(cell).classes != kWeakReads;
    const Observations observations =
        has_chains ? observations_of(row, lists_.at(cell), lane) : Observations{};
    lists_.filter(cell, [&](const CellEntry& entry) {
      if (all_before(row, entry.segment)) return false;
      bool keeps = false;
      for_each_bit(entry.lanes, [&](unsigned by) {
        keeps |= !is_before(row, entry.segment, by, lane) && !observations.include(entry, by);
      });
      return keeps;
    });
    if (cell.has_list()) lists_.shorten(cell);  // this write races with the remaining entries
  } else if (cell.rest != 0) {
    const Record read{cell.rest};
    if (is_before(row, read.segment(), read.lane(), lane)) cell.rest = 0;
  }
  if (raced) {
    lists_.add(cell,
               {.segment = before.segment(),
                .lanes = 1u << before.lane(),
                .pc = before.pc(),
                .access_class = kWeakWrite},
               order_);
  }
}

void GeneralRaceChecker::record_weak_read(Row& row, unsigned lane, Cell& cell) {
  const Record before{cell.rest};
  if (cell.rest == 0 ||
      (!cell.has_list() && is_before(row, before.segment(), before.lane(), lane))) {
    cell.rest = Record::of(row.now, lane, row.access->pc).bits;
    return;
  }
  lists_.add(cell, {.segment = row.now, .lanes = 1u << lane, .pc = row.access->pc}, order_);
}

void GeneralRaceChecker::recall(const RecalledAccess& recalled) {
  catch_up();
  perform_deferred(recalled.allocation);
  if (recalled.allocation >= memories_.size()) memories_.resize(recalled.allocation + 1);
  CellMemory& memory = memories_[recalled.allocation];
  memory.fit(recalled.allocation_bytes);
  memory.narrow_to(recalled.bytes, lists_);
  CellEntry entry;
  entry.segment =
      order_.past_segment(recalled.launch, launches_[recalled.launch].first_block + recalled.block,
                          recalled.thread / kWarpLanes);
  entry.lanes = 1u << recalled.thread % kWarpLanes;
  entry.pc = recalled.pc;
  entry.access_class = static_cast<std::uint8_t>(recalled.access_class);
  const std::uint32_t end = (recalled.offset + recalled.bytes - 1) >> memory.shift();
  for (std::uint32_t at = recalled.offset >> memory.shift(); at <= end; ++at) {
    lists_.add_past(memory.cells()[at], entry, order_);
  }
}

// Other memory may get the same id.
void GeneralRaceChecker::on_free(const Allocation& allocation) {
  if (is_idle_) return;
  catch_up();
  if (allocation.id < memories_.size()) memories_[allocation.id] = {};
  deferred_.erase(allocation.id);
  variables_.forget(allocation.id);
}

}  // namespace warpcheck::vgpu
