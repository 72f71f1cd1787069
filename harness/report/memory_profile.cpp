#include "harness/report/memory_profile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "harness/input/json.hpp"
#include "vgpu/check/finding.hpp"
#include "vgpu/text/counted.hpp"

namespace warpcheck {
namespace {

// "3.9", "4": a count of each of `of`.
std::string each(std::uint64_t count, std::uint64_t of) {
  if (count % of == 0) return fmt::format("{}", count / of);
  return fmt::format("{:.1f}", static_cast<double>(count) / static_cast<double>(of));
}

// Returns whether the line may have copies of its code, with costs: in unrolled loops, inlined
// functions, or several kernels.
bool has_copies(const MemoryProfile::Line& line) {
  std::set<std::string_view> known;
  return std::ranges::any_of(line.instrs, [&](const vgpu::CountedInstr& instr) {
    return !profile_sentences(instr.counts).empty() && !known.insert(instr.ptx).second;
  });
}

std::string share_of_lanes(const MemoryProfile::Line& line) {
  const vgpu::MemoryCounts& counts = line.total;
  return fmt::format("{}executed {} with {} of 32 lanes",
                     has_copies(line) ? "its busiest instruction is " : "",
                     counts.executions == 1 ? "once" : fmt::format("{} times", counts.executions),
                     each(counts.lanes, counts.executions));
}

void add_to(MemoryProfile::Line& line, const vgpu::CountedInstr& instr) {
  vgpu::MemoryCounts& total = line.total;
  const bool is_busiest = instr.counts.executions > total.executions;
  const std::uint64_t executions = is_busiest ? instr.counts.executions : total.executions;
  const std::uint64_t lanes = is_busiest ? instr.counts.lanes : total.lanes;
  total.add(instr.counts);
  total.executions = executions;
  total.lanes = lanes;
  line.instrs.push_back(instr);
}

Json json_of(const vgpu::MemoryCounts& counts) {
  Json json;
#define COUNT(name) json[#name] = counts.name;
  MEMORY_COUNTS(COUNT)
#undef COUNT
  json["excess_sectors"] = counts.excess_sectors();
  json["conflicts"] = counts.conflicts();
  return json;
}

}  // namespace

bool MemoryProfile::Line::has_costs() const { return !profile_sentences(total).empty(); }

MemoryProfile memory_profile(const std::vector<vgpu::CountedInstr>& instrs,
                             const std::function<std::string(const std::string& file)>& name_of) {
  MemoryProfile profile;
  std::map<std::pair<std::string, std::uint32_t>, std::size_t> known;
  for (const vgpu::CountedInstr& instr : instrs) {
    std::string file = instr.file.empty() ? "" : name_of(instr.file);
    const auto [entry, is_new] = known.try_emplace({file, instr.line}, profile.lines.size());
    if (is_new) profile.lines.push_back({std::move(file), instr.line, {}, {}});
    add_to(profile.lines[entry->second], instr);
  }
  std::ranges::stable_sort(profile.lines, [](const auto& a, const auto& b) {
    const auto moved = [](const vgpu::MemoryCounts& all) { return all.sectors + all.wavefronts; };
    return std::pair(a.lost(), moved(a.total)) > std::pair(b.lost(), moved(b.total));
  });
  return profile;
}

std::vector<std::string> profile_sentences(const vgpu::MemoryCounts& counts) {
  std::vector<std::string> sentences;
  if (counts.requests != 0) {
    const std::string of_request = each(counts.sectors, counts.requests);
    sentences.push_back(
        counts.excess_sectors() == 0
            ? fmt::format("{} of a request: none wasted",
                          counts.sectors == counts.requests ? "1 sector" : of_request + " sectors")
            : fmt::format("{} of {} sectors of a request wasted ({} of {})",
                          each(counts.excess_sectors(), counts.requests), of_request,
                          counts.excess_sectors(), counts.sectors));
  }
  if (counts.shared_requests != 0) {
    const std::string of_access = each(counts.wavefronts, counts.shared_requests);
    sentences.push_back(
        counts.conflicts() == 0
            ? fmt::format("{} of an access of shared memory: no bank conflicts",
                          counts.wavefronts == counts.shared_requests ? "1 wavefront"
                                                                      : of_access + " wavefronts")
            : fmt::format("{} of {} wavefronts of an access of shared memory are bank conflicts "
                          "({} of {})",
                          each(counts.conflicts(), counts.shared_requests), of_access,
                          counts.conflicts(), counts.wavefronts));
  }
  if (counts.contended != 0) {
    sentences.push_back(fmt::format("{} of atomics wait for another lane at the same address",
                                    counted(counts.contended, "lane")));
  }
  if (counts.divergences != 0) {
    sentences.push_back(fmt::format("lanes part at {}", counted(counts.divergences, "execution")));
  }
  if (counts.local_bytes != 0) {
    sentences.push_back(fmt::format("{} of local memory in {}", counted(counts.local_bytes, "byte"),
                                    counted(counts.local_sectors, "sector")));
  }
  return sentences;
}

std::string profile_text(const MemoryProfile& profile, SourceFiles& files, std::size_t lines_max) {
  std::string text;
  std::size_t shown = 0, left_out = 0;
  for (const MemoryProfile::Line& line : profile.lines) {
    if (!line.has_costs()) continue;
    if (shown == lines_max) {
      ++left_out;
      continue;
    }
    ++shown;
    std::string place = line.file.empty() ? "line not known, kernel " +
                                                vgpu::kernel_name(line.instrs.front().kernel)
                                          : fmt::format("{}:{}", line.file, line.line);
    const std::vector<std::string>* const source = files.find(line.file);
    if (source != nullptr && line.line != 0 && line.line <= source->size()) {
      const std::string& code = (*source)[line.line - 1];
      const std::size_t begin = code.find_first_not_of(" \t");
      if (begin != std::string::npos) place += "  " + code.substr(begin);
    }
    text += fmt::format("{}\n  {}\n", place, share_of_lanes(line));
    for (const std::string& sentence : profile_sentences(line.total)) {
      text += fmt::format("  {}\n", sentence);
    }
  }
  if (left_out != 0) text += fmt::format("{} more, which lose less\n", counted(left_out, "line"));
  return text;
}

Json profile_json(const MemoryProfile& profile) {
  Json lines = Json::array();
  for (const MemoryProfile::Line& line : profile.lines) {
    Json instrs = Json::array();
    for (const vgpu::CountedInstr& instr : line.instrs) {
      instrs.push_back({{"kernel", vgpu::kernel_name(instr.kernel)},
                        {"place", instr.place},
                        {"ptx", instr.ptx},
                        {"counts", json_of(instr.counts)}});
    }
    lines.push_back({{"file", line.file},
                     {"line", line.line},
                     {"counts", json_of(line.total)},
                     {"instructions", std::move(instrs)}});
  }
  return {{"schema", kProfileSchema}, {"lines", std::move(lines)}};
}

}  // namespace warpcheck
