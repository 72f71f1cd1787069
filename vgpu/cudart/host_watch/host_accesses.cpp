#include "vgpu/cudart/host_watch/host_accesses.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <set>
#include <string_view>

#include "vgpu/check/lifetime.hpp"
#include "vgpu/check/streams.hpp"
#include "vgpu/cudart/api/calls/call_place.hpp"
#include "vgpu/cudart/copies/transfers.hpp"
#include "vgpu/cudart/device/findings.hpp"
#include "vgpu/cudart/device/trial.hpp"
#include "vgpu/cudart/host_watch/shared_objects.hpp"

namespace warpcheck::cudart {
namespace {

// Limit of the early accesses that are remembered.
constexpr std::size_t kEarlyMax = 4096;

vgpu::HostPlace to_host_place(std::size_t id, const CallPlace& place, bool in_function = false) {
  return {static_cast<std::uint32_t>(id), place.file, place.line, place.code, in_function};
}

bool is_of_system(const void* code) {
  Dl_info info{};
  if (::dladdr(code, &info) == 0 || info.dli_fname == nullptr) return false;
  const std::string_view path = info.dli_fname;
  return path.starts_with("/lib") || path.starts_with("/usr/lib");
}

// Removes the frames of system libraries that act for the program: memcpy(), fwrite().
std::vector<const void*> of_program(std::vector<const void*> code) {
  const auto own = std::ranges::find_if_not(code, is_of_system);
  if (own != code.end()) code.erase(code.begin(), own);
  return code;
}

// Whether the access is in the C library's free() or realloc(): these read the size of a block
// before its address.
bool is_in_free(const std::vector<const void*>& code) {
  return std::ranges::any_of(code, [](const void* place) {
    Dl_info info{};
    if (!is_of_system(place) || ::dladdr(place, &info) == 0 || info.dli_sname == nullptr)
      return false;
    const std::string_view name = info.dli_sname;
    return name == "free" || name == "cfree" || name == "realloc" || name == "__libc_free" ||
           name == "__libc_realloc";
  });
}
constexpr std::uint64_t kSizeOfChunk = sizeof(std::size_t);  // before its address

// Of memory that the host shares, before its red zone.
std::uint64_t round_to_pages(std::uint64_t bytes) {
  return (bytes + vgpu::kRedZone - 1) / vgpu::kRedZone * vgpu::kRedZone;
}

// Calls `each(part, offset, bytes, unseen)` for the live memory in the pages.
template <typename Pages, typename Each>
void for_each_part(const vgpu::DeviceMemory& memory, const Pages& pages, const Each& each) {
  for (const auto& unseen : pages) {
    const AddressRange& page = unseen.page;
    const vgpu::Allocation* found = memory.nearest(page.begin);
    if (found == nullptr || page.begin - found->address >= found->bytes) {
      found = memory.nearest(page.end - 1);
    }
    if (found == nullptr || !found->live) continue;
    const std::uint64_t begin = std::max(page.begin, found->address) - found->address;
    if (begin >= found->bytes) continue;
    const std::uint64_t end = std::min(page.end - found->address, found->bytes);
    const auto at = found->place_at(begin);
    each(*at.part, at.offset, static_cast<std::uint32_t>(end - begin), unseen);
  }
}

}  // namespace

bool HostAccesses::are_watched() const {
  return host_watch() != nullptr && dependencies_.trial.in_ambient();
}

void HostAccesses::asked_for(const Work& work) {
  if (!are_watched()) return;
  const std::vector<AddressRange> ranges = shared_ranges(dependencies_.memory, work);
  if (!ranges.empty()) host_watch()->watch(ranges);
}

void HostAccesses::launch_begins(std::uint32_t launch) {
  signals_.begin(launch);
  running_ = launch;
  if (!are_watched()) return;
  host_watch()->count_launches(launch + 1);
  host_watch()->watch_again();
}

void HostAccesses::launch_ended(std::uint32_t launch, const Operation& operation) {
  running_ = launch;
  if (!are_watched()) return;
  launch_left(operation);
  host_watch()->watch_again();
}

void HostAccesses::launch_left(const Operation& operation) {
  if (!are_watched()) return;
  const bool is_first = left_.insert(running_).second;
  if (is_first) ended_.push_back({running_, operation.number, operation.clock});
}

// After the host has read a location that a kernel had written strongly, it may know everything
// that the kernel did.  So each such read begins a new set of known operations.
void HostAccesses::report(Operations& operations) {
  if (!are_watched()) return;
  const std::vector<SeenAccess> seen = host_watch()->take();
  if (!seen.empty()) report_unordered(seen, operations);
  std::erase_if(functions_, [](const Function& function) { return function.has_ended; });
  pass_over_unseen();
}

void HostAccesses::change_unseen(const SeenAccess& change) {
  const AddressRange page{change.address, change.address + change.bytes};
  if (change.kind != SeenAccess::Kind::unseen_end) {
    unseen_.push_back({page, change.kind == SeenAccess::Kind::unseen_reads_begin});
    return;
  }
  const auto found = std::ranges::find(unseen_, page.begin,
                                       [](const Unseen& unseen) { return unseen.page.begin; });
  if (found == unseen_.end()) return;
  unseen_lately_.push_back(*found);
  unseen_.erase(found);
}

// Any strong write so far to memory that is not watched may have been a signal that the host has
// read.  Returns whether the host may know more by that.
//   launches: that had begun to run
bool HostAccesses::read_unseen_signals(std::uint32_t launches) {
  bool is_signalled = false;
  const auto learn = [&](const auto& has_written) {
    for (const Ended& ended : ended_) {
      if (ended.launch >= launches || may_know_.includes(ended.clock)) continue;
      if (!has_written(ended.launch)) continue;
      may_know_.join(ended.clock);
      is_signalled = knows_more_ = true;
    }
  };
  learn([&](std::uint32_t launch) { return signals_.wrote_unseen(launch); });
  if (unseen_.empty() || !signals_.has_any()) return is_signalled;
  for_each_part(
      dependencies_.memory, unseen_,
      [&](const vgpu::Allocation& part, std::uint32_t offset, std::uint32_t bytes, const Unseen&) {
        learn([&](std::uint32_t launch) { return signals_.wrote(launch, part, offset, bytes); });
      });
  return is_signalled;
}

// If the host and a kernel have flags in a page that was not watched, any of them may have been a
// signal.  So everything that either has done so far counts as known to the other.
void HostAccesses::pass_over_unseen() {
  for (const Ended& ended : ended_) {
    if (signals_.read_unseen(ended.launch)) dependencies_.transfers.signalled(ended.operation);
  }
  std::vector<Unseen> pages = std::exchange(unseen_lately_, {});
  const bool may_watch_again = !unseen_.empty();
  pages.insert(pages.end(), unseen_.begin(), unseen_.end());
  if (pages.empty() || ended_.empty() || !signals_.has_any()) return;
  bool has_flags = false;
  for_each_part(dependencies_.memory, pages,
                [&](const vgpu::Allocation& part, std::uint32_t offset, std::uint32_t bytes,
                    const Unseen& unseen) {
                  for (const Ended& ended : ended_) {
                    const bool reads =
                        !unseen.sees_writes && signals_.read(ended.launch, part, offset, bytes);
                    const bool writes = signals_.wrote(ended.launch, part, offset, bytes);
                    if (reads) dependencies_.transfers.signalled(ended.operation);
                    if (writes) may_know_.join(ended.clock);
                    knows_more_ |= writes;
                    has_flags |= reads || writes;
                  }
                });
  if (has_flags && may_watch_again) host_watch()->watch_again();
}

std::uint32_t HostAccesses::host_function_begins(const Operation& operation, bool signals_host) {
  may_know_.join(operation.clock);
  by_functions_.join(operation.clock);
  knows_more_ |= signals_host;
  const std::uint32_t number = operation.number + 1;
  if (are_watched()) functions_.push_back({number, operation.stamp, operation.clock});
  return number;
}

void HostAccesses::host_function_ended(std::uint32_t number) {
  for (Function& function : functions_) function.has_ended |= function.number == number;
}

void HostAccesses::report_unordered(const std::vector<SeenAccess>& seen, Operations& operations) {
  const std::map<std::uint32_t, std::size_t> signalled = signals_to_kernels(seen);
  Operation step, of_function;
  bool is_new = true;
  for (const SeenAccess& access : seen) {
    const auto number = static_cast<std::size_t>(&access - seen.data());
    is_new |= read_unseen_signals(access.launches);
    if (access.kind != SeenAccess::Kind::access) {
      change_unseen(access);
      continue;
    }
    if (is_reported_as_free(access) || is_reported_as_overrun(access)) continue;
    const vgpu::Allocation* const found = dependencies_.memory.nearest(access.address);
    if (found == nullptr || access.address - found->address >= found->bytes) continue;
    const std::uint64_t offset = access.address - found->address;
    const std::uint64_t bytes = std::min<std::uint64_t>(access.bytes, found->bytes - offset);
    const auto at = found->place_at(offset);
    if (!found->live) {
      report_freed(access, *found);
      continue;
    }
    if (vgpu::is_of_devices_alone(access.address)) {
      dependencies_.findings.add(vgpu::host_use_of_device_memory(
          access.write, access.address, access.bytes, *found, place_of(access)));
      continue;
    }
    const auto function = std::ranges::find(functions_, access.function, &Function::number);
    const bool is_of_function = function != functions_.end();
    if (!access.write) {
      is_new |= read_signals(access, *at.part, at.offset, is_of_function ? &*function : nullptr,
                             operations);
    }
    if (is_of_function) {
      // While it runs, other threads may tell it what they have waited for.
      of_function.stamp = function->stamp;
      of_function.clock = function->clock;
      of_function.clock.join(operations.known_to_host());
    } else if (is_new) {
      operations.step_of_host(step, may_know_);
      is_new = false;
    }
    note_early(access, *at.part, at.offset, is_of_function ? of_function : step);
    Touch touch;
    touch.rows = {found, offset, 0, 0, {bytes}};
    touch.write = access.write;
    touch.place = &place_of(access);
    touch.number = dependencies_.transfers.next_number();
    std::vector<std::uint32_t> ordered;  // launches that the access has signalled
    for (const auto& [launch, last] : signalled) {
      if (number <= last) ordered.push_back(launch);
    }
    dependencies_.transfers.host_touch(touch, is_of_function ? of_function : step, ordered);
  }
}

bool HostAccesses::is_reported_as_free(const SeenAccess& access) {
  const std::uint64_t address = access.address + kSizeOfChunk;
  const vgpu::Allocation* const given =
      access.write ? nullptr : dependencies_.memory.nearest(address);
  if (given == nullptr || address - given->address >= given->bytes) return false;
  const bool is_of_device = vgpu::is_of_devices_alone(address) && given->live;
  const bool is_at_edge = given->has_two_views() && address == given->address;
  if (!is_of_device && !is_at_edge) return false;
  if (!is_in_free(host_watch()->code(access.code))) return false;
  dependencies_.findings.add(vgpu::host_free_of_cuda_memory(*given, place_of(access)));
  return true;
}

bool HostAccesses::is_reported_as_overrun(const SeenAccess& access) {
  if (vgpu::is_of_devices_alone(access.address)) return false;
  const vgpu::Allocation* const below = dependencies_.memory.nearest(access.address);
  if (below != nullptr && access.address - below->address < round_to_pages(below->bytes)) {
    return false;
  }
  const vgpu::Allocation* const nearest = dependencies_.memory.closest(access.address);
  if (nearest == nullptr || !nearest->live || !nearest->has_two_views()) return false;
  dependencies_.findings.add(vgpu::host_use_out_of_bounds(
      access.write, access.address, access.bytes, *nearest, place_of(access)));
  return true;
}

// Returns whether the access has read what a running launch wrote strongly, so that it may know
// everything that the launch has done.
//   function: the host function that has made the access; null: none
bool HostAccesses::read_signals(const SeenAccess& access, const vgpu::Allocation& part,
                                std::uint32_t offset, Function* function,
                                const Operations& operations) {
  bool is_signalled = false;
  for (const Ended& ended : ended_) {
    if (ended.launch >= access.launches) continue;  // the launch was not running yet
    if (!signals_.wrote(ended.launch, part, offset, access.bytes)) {
      OperationSet known = operations.known_to_host();
      known.join(function != nullptr ? function->clock : by_functions_);
      report_unreleased(access, ended, part, offset, known);
      continue;
    }
    if (function != nullptr) function->clock.join(ended.clock);
    may_know_.join(ended.clock);
    is_signalled = knows_more_ = true;
  }
  return is_signalled;
}

// The host has read a signal of the launch, and now reads what the launch wrote before.
void HostAccesses::report_unreleased(const SeenAccess& access, const Ended& ended,
                                     const vgpu::Allocation& part, std::uint32_t offset,
                                     const OperationSet& known) {
  if (!may_know_.includes(ended.clock) || known.includes(ended.clock)) return;
  // The end of a launch releases all that it has done to the launches behind it, whose signals
  // release it in turn.
  const bool is_told_by_later = std::ranges::any_of(ended_, [&](const Ended& later) {
    return later.operation != ended.operation && later.clock.includes(ended.clock) &&
           may_know_.includes(later.clock);
  });
  if (is_told_by_later) return;
  const vgpu::CodePlace* const unreleased =
      signals_.unreleased(ended.launch, part, offset, access.bytes);
  const vgpu::CodePlace* const write =
      unreleased != nullptr ? unreleased
                            : signals_.behind_releases(ended.launch, part, offset, access.bytes);
  if (write == nullptr) return;
  dependencies_.findings.add(
      vgpu::unreleased_for_host(*write, unreleased != nullptr, part, offset, place_of(access)));
}

// Returns, for each running launch, the index of the latest access that signalled it.
std::map<std::uint32_t, std::size_t> HostAccesses::signals_to_kernels(
    const std::vector<SeenAccess>& seen) const {
  std::map<std::uint32_t, std::size_t> last;
  for (const Ended& ended : ended_) {
    for (std::size_t i = 0; i < seen.size(); ++i) {
      if (!seen[i].write) continue;
      const vgpu::Allocation* const found = dependencies_.memory.nearest(seen[i].address);
      if (found == nullptr || !found->live) continue;
      const auto at = found->place_at(seen[i].address - found->address);
      if (signals_.read(ended.launch, *at.part, at.offset, seen[i].bytes)) last[ended.launch] = i;
    }
  }
  return last;
}

void HostAccesses::note_early(const SeenAccess& access, const vgpu::Allocation& part,
                              std::uint32_t offset, const Operation& step) {
  if (early_.size() >= kEarlyMax) return;
  const auto [known, is_new] =
      early_.try_emplace({access.code, access.address, access.write},
                         EarlyAccess{access, &part, offset, step.stamp, step.clock});
  known->second.access.is_repeated |= !is_new;
}

// The host's machine code does not show whether an access is atomic, so strong accesses of kernels
// do not race with it (host_races.cpp).  But an atomic operation that reaches the device only, and
// an access that was too early for it, hand nothing on if neither side polls.
void HostAccesses::report_early() {
  const EarlyAccesses all = std::exchange(early_, {});
  std::set<std::uint64_t> polled;  // addresses
  for (const auto& [place, early] : all) {
    if (early.access.is_repeated && !early.access.write) polled.insert(early.access.address);
  }
  for (const auto& [place, early] : all) {
    const std::uint64_t address = early.access.address;
    const bool is_unseen = std::ranges::any_of(unseen_, [&](const Unseen& unseen) {
      return address >= unseen.page.begin && address < unseen.page.end;
    });
    if (is_unseen || polled.contains(address) || early.access.function != 0) continue;
    report_early(early, all);
  }
}

// Returns whether the host may have told the launch anything by a write.
bool HostAccesses::may_be_told(const Ended& ended, const EarlyAccesses& all) const {
  if (all.size() >= kEarlyMax) return true;
  return std::ranges::any_of(all, [&](const auto& one) {
    const EarlyAccess& early = one.second;
    return early.access.write &&
           signals_.read(ended.launch, *early.part, early.offset, early.access.bytes);
  });
}

void HostAccesses::report_early(const EarlyAccess& early, const EarlyAccesses& all) {
  const SeenAccess& access = early.access;
  for (const Ended& ended : ended_) {
    const bool is_unordered =
        !ended.clock.covers(early.stamp) && !early.clock.includes(ended.clock);
    if (!is_unordered || (!access.write && access.launches > ended.launch)) continue;
    const vgpu::CodePlace* const atomic =
        signals_.device_atomic(ended.launch, *early.part, early.offset, access.bytes);
    if (atomic == nullptr || (access.write && may_be_told(ended, all))) continue;
    dependencies_.findings.add(vgpu::touched_too_early(*atomic, *early.part, early.offset,
                                                       access.write, place_of(access)));
    return;
  }
}

// If the memory is not watched, only the knowledge of host functions is discarded.
void HostAccesses::host_knows_all(bool has_waited) {
  may_know_.clear();
  by_functions_.clear();
  knows_more_ = false;
  if (!are_watched()) return;
  // The host that asks whether work has ended may be watching how it goes on.
  if (has_waited) report_early();
  early_.clear();
  ended_.clear();
  left_.clear();
  signals_.forget();
  host_watch()->stop();
}

// If the memory has one view alone, the runtime itself uses it where the program does.
void HostAccesses::allocated(const vgpu::Allocation& allocation) {
  if (!are_watched() || !allocation.has_two_views()) return;
  const std::uint64_t end = allocation.address + round_to_pages(allocation.bytes);
  host_watch()->watch_edges(
      {{allocation.address - vgpu::kRedZone, allocation.address}, {end, end + vgpu::kRedZone}});
}

void HostAccesses::freed(const vgpu::Allocation& allocation) {
  if (!are_watched() || !allocation.has_two_views()) return;
  // Includes the red zones, so that adjacent allocations become one range.
  host_watch()->watch_freed(
      {allocation.address - vgpu::kRedZone,
       allocation.address + round_to_pages(allocation.bytes) + vgpu::kRedZone});
}

void HostAccesses::report_freed(const SeenAccess& seen, const vgpu::Allocation& freed) {
  dependencies_.findings.add(
      vgpu::host_use_of_freed(seen.write, seen.address, seen.bytes, freed, place_of(seen),
                              dependencies_.findings.mishaps().place_of_free(freed)));
}

std::string HostAccesses::not_checked() const {
  const std::string why = host_watch() == nullptr ? std::string() : host_watch()->why_incomplete();
  if (why.empty()) return {};
  return "what the host reads and writes beside unfinished work, or not all of it: " + why;
}

void HostAccesses::forget_all() {
  ended_.clear();
  left_.clear();
  early_.clear();
  functions_.clear();
  unseen_.clear();
  unseen_lately_.clear();
  may_know_.clear();
  by_functions_.clear();
  knows_more_ = false;
  signals_.forget();
  if (host_watch() != nullptr) host_watch()->forget_all();
}

bool host_polls() { return host_watch() != nullptr && host_watch()->takes_polls(); }

const vgpu::HostPlace& HostAccesses::place_of(const SeenAccess& seen) {
  const bool in_function = seen.function != 0;
  const vgpu::HostPlace*& known = place_of_code_[{seen.code, in_function}];
  if (known == nullptr) {
    const CallPlace place = warpcheck::cudart::place_of(of_program(host_watch()->code(seen.code)));
    known = &places_.emplace_back(to_host_place(places_.size(), place, in_function));
  }
  return *known;
}

}  // namespace warpcheck::cudart
