#include "vgpu/check/streams.hpp"

#include <fmt/format.h>

#include <utility>

#include "vgpu/program/program.hpp"
#include "vgpu/text/counted.hpp"

namespace warpcheck::vgpu {
namespace {

// access: a HostAccess or a HostOperation
std::string_view role_of_call(const auto& access) {
  if (access.frees) return "host free";
  if (access.allocates) return "host allocation";
  return access.write ? "host write" : "host copy";
}

AccessSide side_of(const HostOperation& operation) {
  if (operation.operand != nullptr) return side_of(*operation.operand, operation.write);
  if (operation.place != nullptr) return host_side(operation.write, *operation.place);
  return host_side(role_of_call(operation));
}

bool is_early_read(std::string_view call) { return call.starts_with(kEarlyRead); }

// Nodes that a program has added to a graph by hand are ordered by its edges alone; captured ones
// have the names of calls in streams.
bool is_node(std::string_view call) { return call.starts_with("cudaGraphAdd"); }

std::string_view what_keeps_apart(std::string_view call) {
  if (is_early_read(call)) return "its access order lets it run before its turn in the stream";
  return is_node(call) ? "no path of the graph's edges leads from one to the other"
                       : "they are in different streams";
}

std::string message_of(const HostOperation& earlier, const HostOperation& later) {
  if (earlier.place == nullptr && later.place == nullptr) {
    return fmt::format(
        "nothing orders {} (1) and {} (2): {}", earlier.name(), later.name(),
        what_keeps_apart(is_early_read(later.name()) ? later.name() : earlier.name()));
  }
  const unsigned own = later.place != nullptr ? 2 : 1;
  const HostOperation &host = own == 2 ? later : earlier, &operation = own == 2 ? earlier : later;
  return lack_of_host(*host.place, operation.name(), own);
}

// Makes the finding for an access of a kernel and one by the host, without its message.
Finding race_with_host(AccessKind kind, const CodePlace& access, const Allocation& allocation,
                       std::uint64_t offset, bool writes, const HostPlace& place) {
  Finding finding;
  finding.kind = FindingKind::data_race;
  finding.space = "global";
  finding.kernel = kernel_name(access.program->kernel);
  finding.object = describe(allocation, offset, 1);
  finding.accesses = {side_at(role_name(kind), access), host_side(writes, place)};
  finding.variable = variable_of(allocation, static_cast<std::uint32_t>(offset));
  finding.relation = Relation::host;
  return finding;
}

// Makes the finding for two accesses by calls, without its message.
Finding race_between(AccessSide earlier, AccessSide later, const Allocation& allocation,
                     std::uint64_t offset) {
  Finding finding;
  finding.kind = FindingKind::data_race;
  finding.space = "global";
  finding.object = describe(allocation, offset, 1);
  finding.accesses = {std::move(earlier), std::move(later)};
  // Allocations that are created and freed repeatedly must not make one finding each, so the
  // variable names only their size.
  finding.variable = allocation.name.empty()
                         ? fmt::format("allocation of {}", counted(allocation.bytes, "byte"))
                         : variable_of(allocation, offset);
  return finding;
}

std::string with_article(std::string_view what) {
  return fmt::format("{} {}", what == "event" ? "an" : "a", what);
}

}  // namespace

Finding race_of_operations(const HostOperation& earlier, const HostOperation& later,
                           const Allocation& allocation, std::uint64_t offset, bool same_bytes) {
  Finding finding = race_between(side_of(earlier), side_of(later), allocation, offset);
  finding.message = message_of(earlier, later);
  const auto is_of_stream = [](const HostOperation& one) {
    return one.place == nullptr || one.place->in_function;
  };
  const bool are_of_streams = is_of_stream(earlier) && is_of_stream(later);
  finding.lack = are_of_streams ? Lack::order_of_launches : Lack::wait_of_host;
  if (same_bytes) {
    finding.severity = Severity::note;
    finding.message += "; both bring the same bytes";
  }
  return finding;
}

Finding overlap_of_copy(std::string_view call, const Allocation& allocation, std::uint64_t offset) {
  Finding finding =
      race_between(host_side("host copy"), host_side("host write"), allocation, offset);
  finding.message = fmt::format(
      "{} may not copy between places that overlap: nothing orders its reads (1) and its writes "
      "(2)",
      call);
  finding.lack = Lack::separate_memory;
  return finding;
}

void add_call(const Reporter& reporter, const HostAccess& access, Finding& finding) {
  finding.accesses.push_back(host_side(role_of_call(access)));
  finding.lack = is_node(access.call) ? Lack::order_of_launches : Lack::wait_of_host;
  finding.message =
      access.call.empty()
          ? "the host does not wait for the kernel of (1): nothing orders their streams"
          : fmt::format("nothing orders the kernel of (1) and {} (2): {}", access.call,
                        what_keeps_apart(access.call));
  name_place(finding, finding.accesses.size() - 1, reporter.place_of_call());
}

Finding unreleased_for_host(const CodePlace& write, bool before_signal,
                            const Allocation& allocation, std::uint64_t offset,
                            const HostPlace& read) {
  Finding finding = race_with_host(AccessKind::write, write, allocation, offset, false, read);
  finding.lack = Lack::host_release;
  finding.message =
      before_signal
          ? "between (1) and the thread's signal to the host, nothing releases (1) at system scope"
          : "(1) comes behind the last release of its launch at system scope, so no signal tells "
            "the host of it";
  finding.message += text_of_code(read, 2);
  return finding;
}

Finding touched_too_early(const CodePlace& atomic, const Allocation& allocation,
                          std::uint64_t offset, bool writes, const HostPlace& place) {
  Finding finding = race_with_host(AccessKind::atomic, atomic, allocation, offset, writes, place);
  finding.lack = Lack::wait_of_host;
  finding.message = lack_of_host(place, "the kernel of", 2);
  return finding;
}

Finding value_never_comes(std::string_view call, const Allocation* memory, std::uint32_t offset,
                          std::uint32_t bytes) {
  Finding finding;
  finding.kind = FindingKind::deadlock;
  finding.space = "global";
  if (memory != nullptr) finding.object = describe(*memory, offset, bytes);
  finding.accesses = {host_side("host call")};
  finding.message = fmt::format(
      "the host waits for a stream that waits in {} for a value, and nothing is left that could "
      "write it",
      call);
  return finding;
}

Finding condition_stays(std::uint64_t rounds) {
  Finding finding;
  finding.kind = FindingKind::deadlock;
  finding.object = "conditional node of a graph";
  finding.accesses = {host_side("host call")};
  finding.message = fmt::format(
      "after {} rounds of its body the condition of a while node still holds: no kernel has left "
      "it 0 (cudaGraphSetConditional()); the graph goes on behind the node",
      rounds);
  return finding;
}

Finding use_of_destroyed(std::string_view call, std::string_view what) {
  Finding finding;
  finding.kind = FindingKind::use_after_free;
  finding.object = what;
  finding.accesses = {host_side("host call")};
  finding.message = fmt::format("{} uses {} that has been destroyed", call, with_article(what));
  return finding;
}

Finding destroyed_twice(std::string_view call, std::string_view what) {
  Finding finding;
  finding.kind = FindingKind::invalid_free;
  finding.object = what;
  finding.accesses = {host_side("host free")};
  finding.message = fmt::format("{} of {} that has been destroyed", call, with_article(what));
  return finding;
}

}  // namespace warpcheck::vgpu
