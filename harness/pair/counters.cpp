#include "harness/pair/counters.hpp"

#include <fmt/format.h>

#include <stdexcept>

#include "vgpu/check/counters/memory_counters.hpp"
#include "vgpu/cudart/device/virtual_device.hpp"
#include "vgpu/cudart/real/real_runtime.hpp"

namespace warpcheck {
namespace {

double coalescing_of(const vgpu::MemoryCounts& counts) {
  if (counts.sectors == 0) return 1;
  return static_cast<double>(counts.ideal_sectors) / static_cast<double>(counts.sectors);
}

bool is_at(const vgpu::CountedInstr& instr, std::string_view line) {
  const std::string place = fmt::format("/{}:{}", instr.file, instr.line);
  return place.ends_with(fmt::format("/{}", line));
}

vgpu::MemoryCounts sum_of(const std::vector<vgpu::CountedInstr>& instrs) {
  vgpu::MemoryCounts sum;
  for (const vgpu::CountedInstr& instr : instrs) sum.add(instr.counts);
  return sum;
}

}  // namespace

double Counters::coalescing() const { return coalescing_of(sum_of(instrs)); }

double Counters::coalescing(std::string_view line) const { return coalescing_of(at(line)); }

vgpu::MemoryCounts Counters::at(std::string_view line) const {
  vgpu::MemoryCounts sum;
  bool is_known = false;
  for (const vgpu::CountedInstr& instr : instrs) {
    if (!is_at(instr, line)) continue;
    sum.add(instr.counts);
    is_known = true;
  }
  if (is_known) return sum;
  throw std::invalid_argument(fmt::format(
      "no instruction of line '{}' was executed; name one as reports do, for example a.cu:12",
      line));
}

Counters counters_of_launches(FunctionRef<void()> body) {
  if (cudart::uses_real_runtime()) {
    throw std::logic_error(
        "counters_of: a real GPU does not say what a kernel does to memory; use --engine vgpu");
  }
  vgpu::MemoryCounters counted;
  {
    const cudart::DefaultSchedule default_schedule;
    const cudart::Watch watch(counted);
    body();
  }
  Counters counters;
  counters.instrs = counted.counts();
  const vgpu::MemoryCounts sum = sum_of(counters.instrs);
  counters.shared_conflicts = sum.conflicts();
  counters.excess_sectors = sum.excess_sectors();
  counters.contended = sum.contended;
  counters.divergences = sum.divergences;
  counters.local_bytes = sum.local_bytes;
  return counters;
}

}  // namespace warpcheck
