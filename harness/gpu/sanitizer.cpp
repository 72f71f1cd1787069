#include "harness/gpu/sanitizer.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>
#include <regex>

#include "vgpu/text/trimmed.hpp"

namespace warpcheck {
namespace {

using vgpu::AccessSide;
using vgpu::Finding;
using vgpu::FindingKind;

constexpr std::string_view kPrefix = "=========";

// The text after the prefix of each line that has one.
std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  for (const std::string_view line : split(text, '\n')) {
    if (line.starts_with(kPrefix)) lines.emplace_back(trimmed(line.substr(kPrefix.size())));
  }
  return lines;
}

// "<unnamed>::scan_kernel(const int *, int)+0x180" -> "scan_kernel", the name in our own reports.
std::string kernel_of(std::string place) {
  place.resize(std::min(place.size(), place.rfind("+0x")));
  if (!place.empty() && place.back() == ')') {
    std::size_t open = place.size() - 1;
    for (int depth = 0; open > 0; --open) {
      if (place[open] == ')') ++depth;
      if (place[open] == '(' && --depth == 0) break;
    }
    place.resize(open);
  }
  if (place.starts_with("void ")) place.erase(0, 5);
  static const std::regex kUnnamed("<unnamed>");
  return std::regex_replace(place, kUnnamed, "(anonymous namespace)");
}

// "KERNEL+0x180 in FILE:14", without the file where there are no line numbers.
void set_place(AccessSide& side, std::string& kernel, const std::string& text) {
  static const std::regex kPlace(R"re((.*\+0x[0-9a-f]+)(?: in (.*):([0-9]+))?.*)re");
  std::smatch match;
  if (!std::regex_match(text, match, kPlace)) return;
  kernel = kernel_of(match[1]);
  side.file = match[2];
  if (match[3].matched) side.line = static_cast<std::uint32_t>(std::stoul(match[3]));
}

void set_thread(AccessSide& side, const std::string& text) {
  static const std::regex kThread(
      R"re(by thread \((\d+),(\d+),(\d+)\) in block \((\d+),(\d+),(\d+)\).*)re");
  std::smatch match;
  if (!std::regex_match(text, match, kThread)) return;
  const auto number = [&](std::size_t i) {
    return static_cast<std::uint32_t>(std::stoul(match[i]));
  };
  side.thread = {number(1), number(2), number(3)};
  side.block = {number(4), number(5), number(6)};
  side.ptx = "(compute-sanitizer)";  // in place of the instruction
}

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

AccessSide side_of(std::string role) {
  AccessSide side;
  side.role = std::move(role);
  return side;
}

// Collects the lines of one report.
struct Entry {
  Finding finding;
  bool api_call = false;
};

std::optional<Entry> first_line(const std::string& line) {
  static const std::regex kAccess(
      R"re((Invalid|Misaligned|Uninitialized) __(\w+)__ (?:memory )?(read|write|atomic)\w* )re"
      R"re(of size (.*))re");
  static const std::regex kRace(
      R"re((Error|Warning): Race reported between (\w+) access at (.*))re");
  static const std::regex kBarrier(R"re(Barrier error detected\. (.*))re");
  static const std::regex kApi(
      R"re(Program hit (\w+) \(error \d+\) due to "(.*)" on CUDA API call to (\w+).*)re");
  static const std::regex kLeak(R"re(Leaked ([0-9,]+ bytes) at (.*))re");
  std::smatch match;
  Entry entry;
  Finding& finding = entry.finding;
  if (std::regex_match(line, match, kAccess)) {
    finding.kind =
        match[1] == "Uninitialized" ? FindingKind::uninitialized_read : FindingKind::out_of_bounds;
    if (match[1] == "Misaligned") finding.kind = FindingKind::misaligned_access;
    finding.space = match[2];
    finding.object = match[4];
    finding.accesses.push_back(side_of(match[3]));
  } else if (std::regex_match(line, match, kRace)) {
    finding.kind = FindingKind::data_race;
    finding.space = "shared";
    finding.accesses.push_back(side_of(lower(match[2])));
    set_place(finding.accesses.back(), finding.kernel, match[3]);
    finding.message = "racecheck: " + lower(match[1]);
  } else if (std::regex_match(line, match, kBarrier)) {
    finding.kind = FindingKind::barrier_divergence;
    finding.accesses.push_back(side_of("wait"));
    finding.message = match[1];
  } else if (std::regex_match(line, match, kApi)) {
    finding.kind = FindingKind::trap;
    finding.message = match[3].str() + ": " + match[1].str() + " (" + match[2].str() + ")";
    entry.api_call = true;
  } else if (std::regex_match(line, match, kLeak)) {
    finding.kind = FindingKind::leak;
    finding.message = match[1].str() + " were not freed";
  } else {
    return std::nullopt;
  }
  return entry;
}

void further_line(Entry& entry, const std::string& line) {
  static const std::regex kSecond(R"re(and (\w+) access at (.*?)(?: \[([0-9,]+) hazards?\])?)re");
  Finding& finding = entry.finding;
  std::smatch match;
  if (finding.kind == FindingKind::data_race && std::regex_match(line, match, kSecond)) {
    AccessSide other = side_of(lower(match[1]));
    std::string kernel;
    set_place(other, kernel, match[2]);
    finding.accesses.push_back(std::move(other));
    std::string count = match[3];
    std::erase(count, ',');
    if (!count.empty()) finding.count = std::stoull(count);
  } else if (finding.accesses.empty()) {
    return;
  } else if (line.starts_with("at ") && finding.kernel.empty()) {
    set_place(finding.accesses.front(), finding.kernel, line.substr(3));
  } else if (line.starts_with("by thread ")) {
    set_thread(finding.accesses.front(), line);
  } else if (line.find("is out of bounds") != std::string::npos) {
    finding.message = "(1) is outside every allocation";
  } else if (line.find("is misaligned") != std::string::npos) {
    finding.kind = FindingKind::misaligned_access;
    finding.message = "(1) is not aligned to its size";
  }
}

// A number with thousands separators, as the tool writes it.
long number_in(std::string text) {
  std::erase(text, ',');
  return std::stol(text);
}

}  // namespace

std::vector<Finding> parse_sanitizer_log(std::string_view text) {
  std::vector<Entry> entries;
  bool open = false;
  for (const std::string& line : lines_of(text)) {
    if (std::optional<Entry> entry = first_line(line)) {
      entries.push_back(std::move(*entry));
      open = true;
    } else if (line.empty() || line.starts_with("Saved host backtrace")) {
      open = false;
    } else if (open) {
      further_line(entries.back(), line);
    }
  }
  const bool has_cause =
      std::ranges::any_of(entries, [](const Entry& entry) { return !entry.api_call; });
  std::vector<Finding> findings;
  std::map<std::string, std::size_t> known;  // by class and roles
  for (Entry& entry : entries) {
    if (entry.api_call && has_cause) continue;
    Finding& finding = entry.finding;
    const auto [at, is_new] = known.try_emplace(vgpu::class_of(finding), findings.size());
    if (is_new) {
      findings.push_back(std::move(finding));
    } else {
      findings[at->second].count += finding.count;
    }
  }
  return findings;
}

long sanitizer_errors(std::string_view text) {
  static const std::regex kErrors(R"re(ERROR SUMMARY: ([0-9,]+) errors?.*)re");
  static const std::regex kHazards(R"re(RACECHECK SUMMARY: ([0-9,]+) hazards? displayed.*)re");
  long errors = -1;
  std::smatch match;
  for (const std::string& line : lines_of(text)) {
    if (!std::regex_match(line, match, kErrors) && !std::regex_match(line, match, kHazards))
      continue;
    errors = std::max(errors, 0L) + number_in(match[1]);
  }
  return errors;
}

std::string find_compute_sanitizer() {
  const char* const path = std::getenv("PATH");
  const std::string directories = (path == nullptr ? std::string() : std::string(path) + ":") +
                                  "/usr/local/cuda/bin:/usr/local/cuda/compute-sanitizer";
  for (const std::string& directory : split<std::string>(directories, ':')) {
    std::string program = directory + "/compute-sanitizer";
    if (!directory.empty() && ::access(program.c_str(), X_OK) == 0) return program;
  }
  return {};
}

}  // namespace warpcheck
