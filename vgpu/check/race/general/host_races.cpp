#include "vgpu/check/race/general/host_races.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "vgpu/check/race/race_class.hpp"
#include "vgpu/check/streams.hpp"

namespace warpcheck::vgpu {

void HostRaces::check(const HostAccess& access, const LibraryOperand* operand) {
  if (access.unordered_launches.empty() || access.bytes == 0) return;
  CellMemory* const memory = state_.memories.find(access.allocation->id);
  if (memory == nullptr) return;
  const std::uint32_t all_end = std::min(access.offset + access.bytes, memory->bytes());
  const auto [begin, end] =
      memory->part_since(access.unordered_launches.front(), {access.offset, all_end});
  if (begin >= end) return;
  deferred_.perform(access.allocation->id);
  memory->to_cells(begin, end, state_.lists, state_.order);
  const unsigned shift = memory->shift();
  for (std::uint32_t number = begin >> shift; number <= (end - 1) >> shift; ++number) {
    const Cell& cell = memory->cells()[number];
    if (cell.write.bits == 0 && cell.rest == 0) continue;
    check_cell(access, std::max(begin, number << shift), cell, operand);
  }
}

//   offset: of the first byte of the cell that the host accesses
void HostRaces::check_cell(const HostAccess& access, std::uint32_t offset, const Cell& cell,
                           const LibraryOperand* operand) {
  const auto is_unordered = [&](SegmentId id) {
    return std::ranges::binary_search(access.unordered_launches,
                                      state_.order.segments().at(id).launch);
  };
  const auto look_at = [&](const EarlierAccess& earlier) {
    const AccessClass other = AccessClass::of_index(earlier.access_class);
    if (!(access.write || other.write) || !is_unordered(earlier.segment)) return;
    // An aligned load or store of host code may be volatile or atomic; its machine code does not
    // show that.
    if (access.place != nullptr && other.strong && !other.narrow) return;
    report(access, offset, earlier, operand);
  };
  if (cell.write.bits != 0) {
    look_at({cell.write.segment(), cell.write.lane(), cell.write.pc(), kWeakWrite});
  }
  if (cell.has_list()) {
    for (const CellEntry& entry : state_.lists.at(cell).entries) {
      look_at({entry.segment, static_cast<unsigned>(std::countr_zero(entry.lanes)), entry.pc,
               entry.access_class});
    }
  } else if (cell.rest != 0) {
    const Record read{cell.rest};
    look_at({read.segment(), read.lane(), read.pc(), kWeakRead});
  }
}

void HostRaces::report(const HostAccess& access, std::uint32_t offset, const EarlierAccess& earlier,
                       const LibraryOperand* operand) {
  std::uint32_t tag = 1u << 31 | std::uint32_t{access.write};
  std::uint32_t site = ptx::kNone;  // the call, or the host's own line
  if (operand != nullptr) {
    tag |= 1u << 30 | operand->number << 1;
    site = static_cast<std::uint32_t>(operand->call_site);
  } else if (access.place != nullptr) {
    tag |= 1u << 29;
    site = access.place->id;
  } else {
    tag |= std::uint32_t{access.frees} << 1 | std::uint32_t{access.allocates} << 2;
    site = reporter_.number_of_call();
  }
  const Program* const program =
      state_.launches[state_.order.segments().at(earlier.segment).launch].program;
  reporter_.report({program, earlier.pc, site, tag}, Relation::host,
                   [&] { return finding_of(access, offset, earlier, operand); });
}

Finding HostRaces::finding_of(const HostAccess& access, std::uint32_t offset,
                              const EarlierAccess& earlier, const LibraryOperand* operand) const {
  const Allocation& allocation = *access.allocation;
  const CheckedLaunch& launch = state_.launches[state_.order.segments().at(earlier.segment).launch];
  Finding finding;
  finding.kind = FindingKind::data_race;
  finding.space = space_name(allocation.space);
  finding.severity = Severity::error;
  finding.kernel = kernel_name(launch.program->kernel);
  finding.object = describe(allocation, offset, 1);
  finding.variable = variable_of(allocation, offset);
  finding.lack = Lack::wait_of_host;
  finding.accesses = {reports_.side_of(earlier)};
  if (operand != nullptr) {
    finding.lack = Lack::order_of_launches;
    finding.accesses.push_back(side_of(*operand, access.write));
    finding.message =
        fmt::format("nothing orders the kernel of (1) and (2), {}: they are in different streams",
                    operand->name);
  } else if (access.place != nullptr) {
    finding.accesses.push_back(host_side(access.write, *access.place));
    if (access.place->in_function) finding.lack = Lack::order_of_launches;
    finding.message = lack_of_host(*access.place, "the kernel of", 2);
  } else {
    add_call(reporter_, access, finding);
  }
  return finding;
}

}  // namespace warpcheck::vgpu
