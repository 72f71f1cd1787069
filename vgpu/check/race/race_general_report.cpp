// The reports of the general race checker.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "vgpu/check/race/race_finding.hpp"
#include "vgpu/check/race/race_general.hpp"
#include "vgpu/check/race/race_lack.hpp"

namespace warpcheck::vgpu {
namespace {

// Returns the role of an access.  An atomic that has not written still counts as an atomic; parts
// of a copy and uses of an mbarrier count by their effect.
AccessKind kind_at(const Program& program, std::uint32_t pc, unsigned access_class) {
  const AccessClass as = AccessClass::of_index(access_class);
  switch (program.code[pc].kind) {
    case InstrKind::atomic: return AccessKind::atomic;
    case InstrKind::barrier_object:
    case InstrKind::bulk_copy:
    case InstrKind::tensor_copy:
    case InstrKind::async_store:
      if (as.write && as.strong) return AccessKind::atomic;
      break;
    default: break;
  }
  return as.write ? AccessKind::write : AccessKind::read;
}

}  // namespace

AccessSide GeneralRaceChecker::side_of(const Earlier& earlier) const {
  const ThreadOrder::Segment& segment = order_.segment(earlier.segment);
  const Launch& launch = launches_[segment.launch];
  const AccessKind kind = kind_at(*launch.program, earlier.pc, earlier.access_class);
  return side_at(
      role_at(*launch.program, earlier.pc, kind),
      {launch.program, earlier.pc,
       launch.grid.position_of(static_cast<std::uint32_t>(segment.block - launch.first_block)),
       launch.block.position_of(segment.warp * kWarpLanes + earlier.lane)});
}

bool GeneralRaceChecker::stores_same_bytes(const Row& row, const LaneAccess& mine) const {
  const Access& access = *row.access;
  if (access.values[0] == nullptr) return false;
  const auto stored_byte = [&](unsigned lane, std::uint32_t index) {
    const std::byte* const values = access.values[index / access.element_bytes];
    return values[lane * access.value_bytes + index % access.element_bytes];
  };
  for (std::uint32_t i = 0; i < access.bytes; ++i) {
    std::byte held = access.allocation->data[access.offset[mine.lane] + i];
    // Compares with earlier lanes of this row, whose bytes have not moved yet.
    for (std::uint32_t rest = access.mask & ((1u << mine.lane) - 1); rest != 0; rest &= rest - 1) {
      const auto lane = static_cast<unsigned>(__builtin_ctz(rest));
      const std::uint32_t at = access.offset[mine.lane] + i - access.offset[lane];
      if (at < access.bytes) held = stored_byte(lane, at);
    }
    if (stored_byte(mine.lane, i) != held) return false;
  }
  return true;
}

Weight GeneralRaceChecker::weight_of(const Row& row, const LaneAccess& mine,
                                     const Earlier& earlier) {
  const Access& access = *row.access;
  const bool weak_writes = mine.access_class == kWeakWrite && earlier.access_class == kWeakWrite;
  if (weak_writes && stores_same_bytes(row, mine)) return Weight::same_bytes;
  const ThreadOrder::Segment& segment = order_.segment(earlier.segment);
  const bool one_warp = segment.block == order_.block_key(access.place) &&
                        segment.warp == access.place.warp && !segment.asynchronous &&
                        !access.asynchronous;
  const bool reads_first = !AccessClass::of_index(earlier.access_class).write;
  if (one_warp && reads_first && access.kind == AccessKind::write &&
      collectives_.orders(access, mine.lane, earlier.offset, earlier.pc, earlier.lane)) {
    return Weight::dependent;
  }
  if (!earlier.lacks_proxy_fence && is_passed_on(access, mine.lane, earlier)) {
    return Weight::passed_on;
  }
  if (!earlier.is_handed) {
    const bool guessed =
        !earlier.lacks_proxy_fence && guesses_.explain(*launches_[segment.launch].program,
                                                       earlier.pc, *access.program, access.pc);
    return guessed ? Weight::swap_guess : Weight::race;
  }
  if (access.kind == AccessKind::write && !reads_first) return Weight::overwrite;
  const bool in_lockstep_code = one_warp && access.space == ptx::Space::shared &&
                                is_volatile(*access.program, earlier.pc) &&
                                is_volatile(*access.program, access.pc);
  return in_lockstep_code ? Weight::warp_hand_over : Weight::hand_over;
}

// Returns whether the earlier access comes before another lane of the warp, and a warp operation of
// both lanes has passed that on.
bool GeneralRaceChecker::is_passed_on(const Access& access, unsigned lane, const Earlier& earlier) {
  if (!collectives_.is_on() || access.asynchronous) return false;
  const ThreadOrder::Segment& segment = order_.segment(earlier.segment);
  const bool one_warp =
      segment.block == order_.block_key(access.place) && segment.warp == access.place.warp;
  if (one_warp || segment.launch != order_.launch() || segment.asynchronous) return false;
  for (unsigned by = 0; by < kWarpLanes; ++by) {
    if (by == lane || !order_.before(earlier.segment, earlier.lane, access.place, by)) continue;
    if (collectives_.lets_go_on(access, lane, by, knowledge_at(access.place))) return true;
  }
  return false;
}

// Returns whether (1) is released, and the thread of (2) or another thread of its block has read
// the flag.  In practice strong accesses need no more; the programming guide sums the results of
// blocks in this way.
bool GeneralRaceChecker::has_seen_release(const Row& row, unsigned lane, const Earlier& earlier) {
  const WarpPlace& place = row.access->place;
  const auto would_know = [&](const ThreadOrder::Lane& reader) {
    return order_.knows(reader.all_observed(), earlier.segment, earlier.lane);
  };
  if (would_know(order_.lane_at(place, lane))) return true;
  if (seen_release_.earlier != earlier.segment || seen_release_.now != row.now) {
    bool seen = false;
    order_.for_each_lane(
        place, [&](const ThreadOrder::Lane& reader) { seen = seen || would_know(reader); });
    seen_release_ = {earlier.segment, row.now, seen};
  }
  return seen_release_.seen;
}

bool GeneralRaceChecker::report(const Row& row, const LaneAccess& mine, const Earlier& earlier) {
  const Access& access = *row.access;
  // Reads of flags in deferred rows may explain the race.
  asks_again_ = asks_again_ || has_deferred(access.place);
  if (asks_again_) return false;
  const ThreadOrder::Segment& segment = order_.segment(earlier.segment);
  const Program& program = *access.program;
  const Program& earlier_program = *launches_[segment.launch].program;
  const Weight weight = weight_of(row, mine, earlier);
  const AccessKind earlier_kind = kind_at(earlier_program, earlier.pc, earlier.access_class);
  // Cooperative groups pass values through reserved shared memory with shfl.sync, which orders no
  // memory.  The order that their atomics in this memory give to the program's own memory counts.
  if (access.allocation->reserved) return true;
  if (is_fenced_init(row, mine, earlier) || is_known_use(row, mine, earlier)) return true;
  // Blocks that let the next kernel begin by exiting have completed their reads.
  const EarlyLaunches& early = order_.early_launches();
  if (segment.launch == early.before() && !early.has_let(segment.launch) &&
      (earlier_kind == AccessKind::read || early.can_wait()))
    return true;
  if (earlier.is_handed && has_seen_release(row, mine.lane, earlier)) return false;
  const bool one_block = segment.block == order_.block_key(access.place);
  const Relation relation = segment.launch != order_.launch()
                                ? Relation::launches
                                : relation_of(one_block, segment.warp == access.place.warp);
  const std::uint32_t more = (segment.launch == order_.launch() ? 0 : segment.launch + 1) << 12 |
                             std::uint32_t{earlier.lacks_proxy_fence} << 3;
  const Reporter::Key key =
      key_of_race(program, {earlier.pc, earlier_kind}, {access.pc, access.kind}, weight, more);
  reporter_.report(key, relation, [&] {
    return race_finding(reporter_, access, mine.lane, weight, side_of(earlier),
                        explain(row, mine, earlier));
  });
  return weight != Weight::dependent && weight != Weight::passed_on;
}

// Explains a race between an access of the launch `earlier` and one of a launch that may have begun
// before `earlier` had completed.
std::string GeneralRaceChecker::explain_early(const EarlyLaunches& early, std::uint32_t earlier) {
  if (early.is_open_after_wait(earlier)) {
    return "programmatic dependent launches: a kernel between the two does not call "
           "cudaGridDependencySynchronize(), so waiting for it is no wait for that of (1)";
  }
  if (earlier != early.before()) {
    return "programmatic dependent launches: a kernel between the two lets the next one begin "
           "before it has waited for that of (1), and (2) does not come after "
           "cudaGridDependencySynchronize()";
  }
  if (early.has_let(earlier)) {
    return "the kernel of (1) lets that of (2) begin early (programmatic dependent launch), and "
           "(2) "
           "does not come after cudaGridDependencySynchronize()";
  }
  return "the kernel of (2) may begin before what that of (1) has written is visible (programmatic "
         "dependent launch): it never calls cudaGridDependencySynchronize()";
}

RaceExplanation GeneralRaceChecker::explain(const Row& row, const LaneAccess& mine,
                                            const Earlier& earlier) const {
  const Access& access = *row.access;
  const ThreadOrder::Segment& segment = order_.segment(earlier.segment);
  const AccessClass before = AccessClass::of_index(earlier.access_class);
  const AccessClass now = AccessClass::of_index(mine.access_class);
  const EarlyLaunches& early = order_.early_launches();
  if (early.is_open_at_start(segment.launch)) {
    return {Lack::grid_wait, explain_early(early, segment.launch)};
  }
  if (segment.launch != order_.launch()) {
    if (before.strong && now.strong && before.size_log2 == now.size_log2) {
      return {
          Lack::scope,
          "nothing orders these two kernel launches, and the scope of (1) or (2) does not include "
          "the other's device"};
    }
    return {Lack::order_of_launches,
            "nothing orders these two kernel launches: their streams are not synchronised"};
  }
  const auto multiplies = [](const Program& program, std::uint32_t pc) {
    return program.code[pc].kind == InstrKind::group_load;
  };
  if (earlier.lacks_proxy_fence) {
    const bool is_product = multiplies(*access.program, access.pc);
    return {Lack::proxy_fence,
            fmt::format("no fence.proxy.async comes between (1) and the {} (2), which need not see "
                        "what (1) has written",
                        is_product ? "product" : "bulk copy")};
  }
  if (before.strong && now.strong && !earlier.is_handed) {
    if (before.size_log2 != now.size_log2) {
      return {Lack::equal_sizes,
              "(1) and (2) are of different sizes, so they are not atomic to each other"};
    }
    return {Lack::scope, "the scope of (1) or (2) does not include the other's block"};
  }
  const bool one_block = segment.block == order_.block_key(access.place);
  const bool one_warp = one_block && segment.warp == access.place.warp;
  if (segment.asynchronous) {
    const bool is_product = one_block && multiplies(*access.program, earlier.pc);
    const std::string_view what = is_product ? "product" : "copy";
    if (one_warp && earlier.lane == mine.lane) {
      return {Lack::copy_wait,
              fmt::format("the asynchronous {} (1) has not been waited for before (2)", what)};
    }
    return {
        Lack::copy_handover,
        fmt::format("the asynchronous {} (1) was not waited for and passed on by its own thread "
                    "before (2)",
                    what)};
  }
  RaceExplanation missed = what_was_missed(row, mine, earlier);
  if (missed.lack != Lack::unknown) return missed;
  const bool one_cluster =
      order_.has_clusters() &&
      order_.cluster_of(segment.block) == order_.cluster_of(order_.block_key(access.place));
  Lack lack = lack_of(*access.program, before, earlier.pc, now, access.pc,
                      relation_of(one_block, one_warp));
  if (lack == Lack::scope) lack = Lack::handover;  // within a cluster
  if (!one_block && one_cluster) {
    return {lack == Lack::order_of_blocks ? Lack::cluster_barrier : lack,
            "no barrier of the cluster orders (1) and (2)"};
  }
  if (!one_block) return {lack, "nothing orders blocks of one kernel launch"};
  if (one_warp) return {lack, "lanes of one warp are not ordered without __syncwarp()"};
  return {lack, "no barrier orders (1) and (2)"};
}

// Returns how the threads of (1) and (2) communicated, and why that did not order them.
RaceExplanation GeneralRaceChecker::what_was_missed(const Row& row, const LaneAccess& mine,
                                                    const Earlier& earlier) const {
  const WarpPlace& place = row.access->place;
  const ThreadOrder::Segment& segment = order_.segment(earlier.segment);
  const auto would_know = [&](const VectorClock& clock) {
    return order_.knows(clock, earlier.segment, earlier.lane);
  };
  const ThreadOrder::Lane& self = order_.lane_at(place, mine.lane);
  if (would_know(self.all_observed())) {
    return {Lack::acquire,
            "(1) is released and the thread of (2) has read the flag, but no acquire that reaches "
            "(1)'s thread follows that read"};
  }
  bool by_other = false;
  order_.for_each_lane(
      place, [&](const ThreadOrder::Lane& lane) { by_other |= would_know(lane.all_observed()); });
  if (by_other) {
    return {Lack::acquire,
            "(1) is released and a thread of (2)'s block has read the flag, but no acquire that "
            "reaches (1)'s thread follows that read"};
  }
  const std::uint32_t thread = segment.warp * kWarpLanes + order_.actor_of(earlier.lane);
  const Miss* found = nullptr;
  for (const Miss& miss : misses_[place.slot]) {
    if (miss.writer_block != segment.block) continue;
    if (found == nullptr || found->writer_thread != thread) found = &miss;
  }
  if (found == nullptr) return {};
  const std::string who =
      found->writer_thread == thread ? "(1)'s thread" : "a thread of (1)'s block";
  switch (found->missed) {
    case Missed::scope:
      return {Lack::flag_scope,
              who +
                  " wrote a flag that was read before (2), but the scopes of that write and "
                  "that read do not include each other's block"};
    case Missed::release:
      return {Lack::release,
              who +
                  " wrote a flag that was read before (2), but no release (a fence, or a "
                  "release order) comes between (1) and that write"};
    case Missed::release_scope:
      return {Lack::release_scope,
              who +
                  " wrote a flag that was read before (2), but released it at block scope, "
                  "which does not include (2)'s block"};
    case Missed::nothing: break;
  }
  return {};
}

// Bytes that the host writes are no longer those of a strong write by a thread.  Launches that are
// not ordered before the host's access race with it as with any other access.  While the checker
// has only counted launches, no access of a launch is known, so nothing can race.
void GeneralRaceChecker::on_host_access(const HostAccess& access) {
  if (is_idle_) return;
  catch_up();
  if (access.write) overwrite(*access.allocation, access.offset, access.bytes);
  check_host(access);
}

void GeneralRaceChecker::on_late_host_access(const HostAccess& access) {
  if (is_idle_) return;
  catch_up();
  check_host(access);
}

void GeneralRaceChecker::on_device_copy(const DeviceCopy& copy) {
  if (is_idle_) return;
  catch_up();
  overwrite(*copy.target, copy.target_offset, copy.bytes);
  HostAccess access;
  access.bytes = copy.bytes;
  access.unordered_launches = copy.unordered_launches;
  access.allocation = copy.source;
  access.offset = copy.source_offset;
  check_host(access);
  access.allocation = copy.target;
  access.offset = copy.target_offset;
  access.write = true;
  check_host(access);
}

void GeneralRaceChecker::on_operand(OperandAccess& access) {
  if (is_idle_) return;
  catch_up();
  if (access.write) overwrite(*access.allocation, access.offset, access.bytes);
  on_late_operand(access);
}

void GeneralRaceChecker::on_late_operand(const OperandAccess& operand) {
  if (is_idle_) return;
  catch_up();
  HostAccess access;
  access.allocation = operand.allocation;
  access.offset = operand.offset;
  access.bytes = operand.bytes;
  access.write = operand.write;
  access.unordered_launches = operand.unordered_launches;
  check_host(access, operand.operand);
}

void GeneralRaceChecker::check_host(const HostAccess& access, const LibraryOperand* operand) {
  const std::span<const std::uint32_t> unordered = access.unordered_launches;
  const std::uint32_t offset = access.offset;
  if (unordered.empty() || access.bytes == 0 || access.allocation->id >= memories_.size()) return;
  CellMemory& memory = memories_[access.allocation->id];
  if (memory.cells() == nullptr) return;
  perform_deferred(access.allocation->id);
  const auto is_unordered = [&](ThreadOrder::SegmentId id) {
    return std::ranges::find(unordered, order_.segment(id).launch) != unordered.end();
  };
  const std::uint32_t end = std::min(offset + access.bytes, memory.bytes());
  for (std::uint32_t at = offset; at < end; ++at) {
    if (at != offset && at % memory.cell_bytes() != 0) continue;
    const Cell& cell = memory.cells()[at >> memory.shift()];
    const auto look_at = [&](const Earlier& earlier) {
      const AccessClass other = AccessClass::of_index(earlier.access_class);
      if (!(access.write || other.write) || !is_unordered(earlier.segment)) return;
      // An aligned load or store of host code may be volatile or atomic; its machine code does not
      // show that.
      if (access.place != nullptr && other.strong && !other.narrow) return;
      report_host(access, at, earlier, operand);
    };
    if (cell.write.bits != 0) {
      look_at({cell.write.segment(), cell.write.lane(), cell.write.pc(), kWeakWrite});
    }
    if (cell.has_list()) {
      for (const CellEntry& entry : lists_.at(cell).entries) {
        look_at({entry.segment, static_cast<unsigned>(__builtin_ctz(entry.lanes)), entry.pc,
                 entry.access_class});
      }
    } else if (cell.rest != 0) {
      const Record read{cell.rest};
      look_at({read.segment(), read.lane(), read.pc(), AccessClass{}.index()});
    }
  }
}

void GeneralRaceChecker::report_host(const HostAccess& access, std::uint32_t offset,
                                     const Earlier& earlier, const LibraryOperand* operand) {
  const Allocation& allocation = *access.allocation;
  const Launch& launch = launches_[order_.segment(earlier.segment).launch];
  std::uint32_t tag = 1u << 31 | std::uint32_t{access.write};
  std::uint32_t site = ptx::kNone;  // the call of a library function, or the host's own line
  if (operand != nullptr) {
    tag |= 1u << 30 | operand->number << 1;
    site = static_cast<std::uint32_t>(operand->call_site);
  } else if (access.place != nullptr) {
    tag |= 1u << 29;
    site = access.place->id;
  }
  reporter_.report({launch.program, earlier.pc, site, tag}, Relation::host, [&] {
    Finding finding;
    finding.kind = FindingKind::data_race;
    finding.space = space_name(allocation.space);
    finding.severity = Severity::error;
    finding.kernel = kernel_name(launch.program->kernel);
    finding.object = describe(allocation, offset, 1);
    finding.variable = variable_of(allocation, offset);
    finding.lack = Lack::wait_of_host;
    if (operand != nullptr) {
      finding.lack = Lack::order_of_launches;
      finding.accesses = {side_of(earlier), vgpu::side_of(*operand, access.write)};
      finding.message =
          fmt::format("nothing orders the kernel of (1) and (2), {}: they are in different streams",
                      operand->name);
      return finding;
    }
    if (access.place != nullptr) {
      finding.accesses = {side_of(earlier), host_side(access.write, *access.place)};
      finding.message = "the host does not wait for the kernel of (1) before (2)" +
                        text_of_code(*access.place, 2);
      return finding;
    }
    finding.accesses = {side_of(earlier),
                        reporter_.side_of_call(access.write ? "host write" : "host copy")};
    finding.message = "the host does not wait for the kernel of (1): nothing orders their streams";
    return finding;
  });
}

}  // namespace warpcheck::vgpu
