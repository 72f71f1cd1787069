#include "cli/exec/output_comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "vgpu/text/counted.hpp"

namespace warpcheck {
namespace {

namespace fs = std::filesystem;
using cudart::Arrival;

// When runs differ: the number of repeated runs, and of operations of each whose bytes are kept.
constexpr std::size_t kRepeatedMax = 3;
constexpr std::size_t kKeptMax = 16;
constexpr std::size_t kTextShown = 100;

std::map<OutputKey, Arrival> entries_of(const RunOutput& run) {
  std::map<OutputKey, Arrival> entries;
  for (std::size_t i = 0; i < run.processes.size(); ++i) {
    for (const Arrival& entry : run.processes[i].log.arrivals) {
      const bool is_copy = entry.kind == Arrival::Kind::copy;
      entries[{i, is_copy ? OutputKey::Kind::copy : OutputKey::Kind::memory, entry.operation}] =
          entry;
    }
  }
  return entries;
}

bool in_order(const OutputKey& a, const OutputKey& b) {
  const auto rank = [](const OutputKey& key) {
    const bool is_last = key.kind >= OutputKey::Kind::prints;
    return std::tuple(key.kind == OutputKey::Kind::status, key.process, is_last, key.operation,
                      key.kind);
  };
  return rank(a) < rank(b);
}

std::vector<OutputKey> without(std::vector<OutputKey> keys, const std::vector<OutputKey>& others) {
  std::erase_if(
      keys, [&](const OutputKey& key) { return std::ranges::find(others, key) != others.end(); });
  return keys;
}

std::string text_in(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// "0x40490fdb (3.1415927 as float)": possible meanings of four bytes.
std::string show_word(std::uint32_t word) {
  const auto as_float = std::bit_cast<float>(word);
  const float size = std::fabs(as_float);
  const bool is_float = size > 1e-20f && size < 1e20f;
  if (is_float) return fmt::format("0x{:08x} ({} as float)", word, as_float);
  return fmt::format("0x{:08x} ({})", word, static_cast<std::int32_t>(word));
}

// The first four aligned bytes that differ; at: their offset.
std::string show_difference(const std::string& first, const std::string& other,
                            std::string_view first_name, std::size_t* at) {
  const auto end = std::ranges::mismatch(first, other).in1 - first.begin();
  *at = static_cast<std::size_t>(end) / 4 * 4;
  const auto show = [&](const std::string& bytes) {
    if (*at + 4 > bytes.size()) return counted(bytes.size(), "byte");
    std::uint32_t word = 0;
    std::memcpy(&word, bytes.data() + *at, sizeof word);
    return show_word(word);
  };
  return fmt::format("{}, under {} {}", show(other), first_name, show(first));
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

// The first line that the other text does not have; empty if only the order differs.
std::string difference_of_texts(const std::string& first, const std::string& other,
                                std::string_view first_name) {
  const std::vector<std::string_view> of_first = lines_of(first), of_other = lines_of(other);
  std::multiset<std::string_view> left(of_first.begin(), of_first.end());
  for (std::size_t i = 0; i < of_other.size(); ++i) {
    const auto known = left.find(of_other[i]);
    if (known != left.end()) {
      left.erase(known);
      continue;
    }
    const std::string_view before = i < of_first.size() ? of_first[i] : std::string_view();
    return fmt::format("line {} of standard output: \"{}\", under {} \"{}\"", i + 1,
                       of_other[i].substr(0, kTextShown), first_name, before.substr(0, kTextShown));
  }
  return left.empty()
             ? ""
             : fmt::format("standard output lacks \"{}\"", left.begin()->substr(0, kTextShown));
}

// Files below the current directory that were written since then, except hidden and large ones.
std::map<std::string, std::string> files_written_since(fs::file_time_type time) {
  constexpr int kDepthMax = 3, kEntriesMax = 10'000;
  constexpr std::uintmax_t kBytesMax = 16 << 20;
  std::map<std::string, std::string> files;
  std::error_code error;
  int entries = 0;
  fs::recursive_directory_iterator at(".", fs::directory_options::skip_permission_denied, error);
  for (const fs::recursive_directory_iterator end; !error && at != end; at.increment(error)) {
    if (++entries > kEntriesMax) break;
    const fs::directory_entry& entry = *at;
    const bool is_hidden = entry.path().filename().string().starts_with('.');
    if (is_hidden || at.depth() >= kDepthMax) at.disable_recursion_pending();
    std::error_code unknown;
    if (is_hidden || !entry.is_regular_file(unknown) || entry.file_size(unknown) > kBytesMax ||
        entry.last_write_time(unknown) < time) {
      continue;
    }
    files.emplace(entry.path().lexically_normal().string(), text_in(entry.path()));
  }
  return files;
}

std::string difference_of_files(const RunOutput& first, const RunOutput& other) {
  for (const auto& [name, bytes] : first.files) {
    const auto known = other.files.find(name);
    if (known == other.files.end() || known->second == bytes) continue;
    const auto at = std::ranges::mismatch(bytes, known->second).in1 - bytes.begin();
    return fmt::format("file {}, at byte {}", name, at);
  }
  return "";
}

std::string ordinal_of(const OutputKey& key, const RunOutput& run) {
  const auto& entries = run.processes[key.process].log.arrivals;
  const auto before = std::ranges::count_if(entries, [&](const Arrival& entry) {
    return entry.kind == Arrival::Kind::copy && entry.operation < key.operation;
  });
  return fmt::format("{}", before + 1);
}

}  // namespace

RunOutput output_of(const ProgramRun& run) {
  RunOutput output;
  output.status = run.status;
  output.records_file = run.records_file;
  const auto process_of = [&](int id) -> RunOutput::Process& {
    auto known = std::ranges::find(output.processes, id, &RunOutput::Process::id);
    if (known != output.processes.end()) return *known;
    RunOutput::Process process;
    process.id = id;
    if (const auto log = run.logs.find(id); log != run.logs.end()) process.log = log->second;
    return output.processes.emplace_back(std::move(process));
  };
  for (const cudart::ExecRecord& record : run.records) {
    RunOutput::Process& process = process_of(record.process);
    if (const auto* const call = std::get_if<cudart::CallRecord>(&record.what)) {
      process.calls.push_back(call->name);
    }
    if (const auto* const kernel = std::get_if<cudart::KernelRecord>(&record.what)) {
      process.kernels.push_back(kernel->name);
      output.order_shows = output.order_shows || kernel->order_shows;
    }
  }
  return output;
}

std::vector<OutputKey> differences(const RunOutput& a, const RunOutput& b) {
  std::vector<OutputKey> keys;
  const auto of_a = entries_of(a), of_b = entries_of(b);
  for (const auto& [key, entry] : of_a) {
    const auto other = of_b.find(key);
    if (other == of_b.end()) continue;
    if (std::pair(entry.bytes, entry.hash) != std::pair(other->second.bytes, other->second.hash)) {
      keys.push_back(key);
    }
  }
  for (std::size_t i = 0; i < std::min(a.processes.size(), b.processes.size()); ++i) {
    const auto prints = [&](const RunOutput& run) {
      const cudart::ExecLogCounts& counts = run.processes[i].log.counts;
      return std::pair(counts.prints, counts.print_hash);
    };
    if (prints(a) != prints(b)) keys.push_back({i, OutputKey::Kind::prints, 0});
  }
  if (a.status != b.status) keys.push_back({0, OutputKey::Kind::status, 0});
  std::ranges::sort(keys, in_order);
  return keys;
}

fs::path OutputComparison::text_of(int run) const {
  return directory_ / fmt::format("output-{}", run);
}

RunOutput OutputComparison::repeat(int run, const std::vector<std::uint32_t>& kept) {
  const auto start = fs::file_time_type::clock::now() - std::chrono::milliseconds(20);  // its ticks
  RunOutput output = output_of(repeat_(run, kept, text_of(run)));
  output.files = files_written_since(start);
  return output;
}

std::optional<OutputComparison::Found> OutputComparison::find(std::string_view first) {
  std::size_t repeated = 0;
  for (std::size_t i = 1; i < runs_.size() && repeated < kRepeatedMax; ++i) {
    std::vector<OutputKey> keys = differences(runs_[0], runs_[i]);
    if (keys.empty()) continue;
    std::vector<std::uint32_t> kept;
    for (const OutputKey& key : keys) {
      if (kept.size() < kKeptMax && key.kind <= OutputKey::Kind::memory) {
        kept.push_back(key.operation);
      }
    }
    ++repeated;
    const RunOutput first_again = repeat(1, kept);
    keys = without(std::move(keys), differences(runs_[0], first_again));
    unsteady_ = keys.empty();
    if (unsteady_) break;
    const int run = static_cast<int>(i) + 1;
    const RunOutput again = repeat(run, kept);
    keys = without(std::move(keys), differences(runs_[i], again));
    unsteady_ = keys.empty();
    if (!unsteady_) return Found{describe(keys.front(), first_again, again, run, first), run};
  }
  return std::nullopt;
}

vgpu::Finding OutputComparison::describe(const OutputKey& key, const RunOutput& first,
                                         const RunOutput& other, int run,
                                         std::string_view first_name) const {
  vgpu::Finding finding;
  finding.kind = vgpu::FindingKind::schedule_dependent;
  const bool order_shows = first.order_shows || other.order_shows;
  finding.severity = order_shows ? vgpu::Severity::note : vgpu::Severity::error;
  if (key.kind == OutputKey::Kind::copy || key.kind == OutputKey::Kind::memory) {
    const RunOutput::Process& process = other.processes[key.process];
    const Arrival entry = entries_of(other).at(key);
    const auto kept = [&](const RunOutput& of) {
      return text_in(cudart::kept_bytes_path(of.records_file, of.processes[key.process].id,
                                             entry.kind, key.operation));
    };
    std::size_t at = 0;
    finding.message = show_difference(kept(first), kept(other), first_name, &at);
    if (key.kind == OutputKey::Kind::copy) {
      const std::string call =
          entry.call < process.calls.size() ? process.calls[entry.call] : "a copy";
      finding.object = fmt::format("at byte {} of copy {} to the host, by {} of {}", at,
                                   ordinal_of(key, other), call, counted(entry.bytes, "byte"));
    } else {
      finding.object = "in memory of host and device";
    }
    if (entry.kernel != 0 && entry.kernel <= process.kernels.size()) {
      finding.kernel = vgpu::kernel_name(process.kernels[entry.kernel - 1]);
    }
  } else if (key.kind == OutputKey::Kind::prints) {
    finding.object = "text printed by device code";
  } else {
    finding.object = "exit status";
    finding.message = fmt::format("{}, under {} {}", other.status, first_name, first.status);
  }
  const std::string text =
      difference_of_texts(text_in(text_of(1)), text_in(text_of(run)), first_name);
  for (const std::string& further : {text, difference_of_files(first, other)}) {
    if (!further.empty()) finding.message += (finding.message.empty() ? "" : "; ") + further;
  }
  return finding;
}

}  // namespace warpcheck
