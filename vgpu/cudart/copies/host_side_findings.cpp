#include "vgpu/cudart/copies/host_side_findings.hpp"

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "vgpu/check/reporter.hpp"
#include "vgpu/cudart/memory/host_pages.hpp"
#include "vgpu/text/counted.hpp"

namespace warpcheck::cudart {
namespace {

std::string message_of(std::string_view call, bool write, const std::string& bytes, bool has_begun,
                       HostDefect defect) {
  const char* const does = write ? "writes" : "reads";
  switch (defect) {
    case HostDefect::unmapped:
      return fmt::format("{} of {} {} memory of the host that is not mapped: {}", call, bytes, does,
                         has_begun ? "the host's array ends before the copy does"
                                   : "it has been freed, or the pointer is wrong");
    case HostDefect::barred:
      return fmt::format("{} of {} {} memory of the host that allows no access", call, bytes, does);
    case HostDefect::read_only:
      return fmt::format("{} of {} writes memory of the host that is read-only", call, bytes);
    case HostDefect::gone:
      return fmt::format(
          "{} of {} (1) {} memory of the host when it runs in its stream, and the program has "
          "freed that memory since: it is no longer mapped",
          call, bytes, does);
    case HostDefect::frame_is_gone:
      return fmt::format(
          "{} of {} (1) {} memory of the host when it runs in its stream: a local variable of a "
          "function that has returned",
          call, bytes, does);
  }
  return {};
}

}  // namespace

vgpu::Finding host_memory_missing(std::string_view call, bool write, std::size_t bytes,
                                  const HostRow& row, HostDefect defect) {
  const bool is_late = defect == HostDefect::gone || defect == HostDefect::frame_is_gone;
  vgpu::Finding finding;
  finding.kind = is_late ? vgpu::FindingKind::use_after_free : vgpu::FindingKind::out_of_bounds;
  finding.space = "host";
  finding.object = counted(row.bytes, "byte");
  // What lies there later depends on what the program has mapped since.
  if (row.good_bytes != 0 && !is_late) {
    const std::string_view good = defect == HostDefect::read_only ? "writable" : "mapped";
    // Where an array on the heap ends at the end of the heap, the number differs from run to run.
    finding.object += row.good_bytes % kHostPageBytes == 0
                          ? fmt::format(", of which the first {} are {}", row.good_bytes, good)
                          : fmt::format(", of which only the first part is {}", good);
  }
  finding.accesses = {vgpu::host_side(write ? "host write" : "host copy")};
  finding.message = message_of(call, write, counted(bytes, "byte"), row.good_bytes != 0, defect);
  return finding;
}

vgpu::Finding host_source_changed(std::string_view call, std::size_t bytes) {
  vgpu::Finding finding;
  finding.kind = vgpu::FindingKind::data_race;
  finding.space = "host";
  finding.object = counted(bytes, "byte");
  finding.accesses = {vgpu::host_side("host copy")};
  finding.message = fmt::format(
      "{} (1) reads memory of the host when it runs in its stream, and the program has changed or "
      "freed that memory since the call",
      call);
  finding.relation = vgpu::Relation::host;
  finding.lack = vgpu::Lack::wait_of_host;
  return finding;
}

}  // namespace warpcheck::cudart
