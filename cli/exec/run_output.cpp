#include "cli/exec/run_output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "vgpu/text/counted.hpp"
#include "vgpu/text/file_text.hpp"
#include "vgpu/text/trimmed.hpp"

namespace warpcheck {
namespace {

using cudart::Arrival;

constexpr std::size_t kTextShown = 100;

// Entries by what they are; of two of one key, the latter.
using Entries = std::map<OutputKey, std::size_t>;

OutputKey::Kind kind_of(const Arrival& entry) {
  return entry.kind == Arrival::Kind::copy ? OutputKey::Kind::copy : OutputKey::Kind::memory;
}

// Those that came before a launch was stopped.
Entries entries_of(const RunOutput& run) {
  Entries entries;
  for (std::size_t i = 0; i < run.processes.size(); ++i) {
    const auto& arrivals = run.processes[i].log.arrivals;
    const std::size_t end = std::min<std::size_t>(
        run.processes[i].stopped_at().value_or(arrivals.size()), arrivals.size());
    for (std::size_t at = 0; at < end; ++at) {
      const Arrival& entry = arrivals[at];
      if (entry.kind != Arrival::Kind::copy && entry.kind != Arrival::Kind::in_memory) continue;
      entries[{i, kind_of(entry), entry.operation}] = at;
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

// The texts of each launch: their number, and a hash that does not depend on their order.
using Prints = std::map<std::uint32_t, std::pair<std::uint64_t, std::uint64_t>>;

Prints prints_of(const RunOutput::Process& process) {
  Prints prints;
  const auto& arrivals = process.log.arrivals;
  const std::size_t end =
      std::min<std::size_t>(process.stopped_at().value_or(arrivals.size()), arrivals.size());
  for (std::size_t at = 0; at < end; ++at) {
    if (arrivals[at].kind != Arrival::Kind::prints) continue;
    auto& [texts, hash] = prints[arrivals[at].operation];
    texts += arrivals[at].bytes;
    hash += arrivals[at].hash;
  }
  return prints;
}

// The first launch whose texts differ.  A kernel that waits for the host can print before and after
// the next launch: only a different sum of all of them is a difference.
std::optional<std::uint32_t> difference_of_prints(const RunOutput::Process& a,
                                                  const RunOutput::Process& b) {
  Prints of_a = prints_of(a), of_b = prints_of(b);
  if (a.stopped_at() || b.stopped_at()) {
    // Only launches that both have: of the others, it is not known whether they would print.
    const auto last = [](const Prints& prints) {
      return prints.empty() ? 0 : prints.rbegin()->first;
    };
    const std::uint32_t end = std::min(last(of_a), last(of_b));
    for (Prints* const prints : {&of_a, &of_b}) {
      prints->erase(prints->upper_bound(end), prints->end());
    }
  }
  std::pair<std::uint64_t, std::uint64_t> sum_a, sum_b;
  for (const auto& [prints, sum] : {std::pair(&of_a, &sum_a), std::pair(&of_b, &sum_b)}) {
    for (const auto& [launch, texts] : *prints) {
      sum->first += texts.first;
      sum->second += texts.second;
    }
  }
  if (sum_a == sum_b) return std::nullopt;
  for (const auto& [launch, texts] : of_a) {
    const auto other = of_b.find(launch);
    if (other == of_b.end() || other->second != texts) return launch;
  }
  for (const auto& [launch, texts] : of_b) {
    if (!of_a.contains(launch)) return launch;
  }
  return 0;
}

// "0x40490fdb (3.1415927 as float)": possible meanings of four bytes.
std::string show_word(std::uint32_t word) {
  const auto as_float = std::bit_cast<float>(word);
  const float size = std::fabs(as_float);
  const bool is_float = size > 1e-20f && size < 1e20f;
  if (is_float) return fmt::format("0x{:08x} ({} as float)", word, as_float);
  return fmt::format("0x{:08x} ({})", word, static_cast<std::int32_t>(word));
}

}  // namespace

std::optional<std::uint64_t> RunOutput::Process::stopped_at() const {
  std::optional<std::uint64_t> first;
  for (const Reported& one : reported) {
    const vgpu::FindingKind kind = one.finding.kind;
    const bool stops = kind == vgpu::FindingKind::trap || kind == vgpu::FindingKind::deadlock;
    if (stops && one.finding.severity == vgpu::Severity::error) {
      first = std::min(first.value_or(one.arrivals), one.arrivals);
    }
  }
  return first;
}

bool is_stopped(const RunOutput& run) {
  return std::ranges::any_of(run.processes,
                             [](const auto& process) { return process.stopped_at().has_value(); });
}

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
  std::set<std::pair<int, std::size_t>> reported;
  for (const cudart::ExecRecord& record : run.records) {
    RunOutput::Process& process = process_of(record.process);
    if (const auto* const call = std::get_if<cudart::CallRecord>(&record.what)) {
      process.calls.push_back(*call);
    }
    if (const auto* const kernel = std::get_if<cudart::KernelRecord>(&record.what)) {
      process.kernels.push_back(
          {kernel->name, kernel->sees_order, kernel->reads_unwritten, kernel->arrivals});
    }
    // Later records of a finding have its count.
    const auto* const found = std::get_if<cudart::FindingRecord>(&record.what);
    if (found != nullptr && reported.emplace(record.process, found->number).second) {
      process.reported.push_back({found->finding, found->arrivals});
    }
  }
  return output;
}

std::vector<OutputKey> differences(const RunOutput& a, const RunOutput& b) {
  std::vector<OutputKey> keys;
  const Entries of_a = entries_of(a), of_b = entries_of(b);
  for (const auto& [key, at] : of_a) {
    const auto other = of_b.find(key);
    if (other == of_b.end()) continue;
    const Arrival& in_a = a.processes[key.process].log.arrivals[at];
    const Arrival& in_b = b.processes[key.process].log.arrivals[other->second];
    if (std::pair(in_a.bytes, in_a.hash) != std::pair(in_b.bytes, in_b.hash)) keys.push_back(key);
  }
  for (std::size_t i = 0; i < std::min(a.processes.size(), b.processes.size()); ++i) {
    const auto launch = difference_of_prints(a.processes[i], b.processes[i]);
    if (launch) keys.push_back({i, OutputKey::Kind::prints, *launch});
  }
  if (a.status != b.status && !is_stopped(a) && !is_stopped(b)) {
    keys.push_back({0, OutputKey::Kind::status, 0});
  }
  std::ranges::sort(keys, in_order);
  return keys;
}

std::vector<InputKey> input_differences(const RunOutput& a, const RunOutput& b) {
  std::vector<InputKey> keys;
  for (std::size_t i = 0; i < std::min(a.processes.size(), b.processes.size()); ++i) {
    const auto& in_a = a.processes[i].log.arrivals;
    const auto& in_b = b.processes[i].log.arrivals;
    const auto is_input = [](const Arrival& entry) {
      return entry.kind == Arrival::Kind::to_device || entry.kind == Arrival::Kind::launch;
    };
    std::map<std::pair<std::uint32_t, Arrival::Kind>, std::size_t> of_b;
    for (std::size_t at = 0; at < in_b.size(); ++at) {
      if (is_input(in_b[at])) of_b[{in_b[at].operation, in_b[at].kind}] = at;
    }
    for (std::size_t at = 0; at < in_a.size(); ++at) {
      if (!is_input(in_a[at])) continue;
      const auto other = of_b.find({in_a[at].operation, in_a[at].kind});
      if (other == of_b.end()) continue;
      const Arrival& entry = in_b[other->second];
      if (std::pair(in_a[at].bytes, in_a[at].hash) != std::pair(entry.bytes, entry.hash)) {
        keys.push_back({i, at, other->second});
      }
    }
  }
  return keys;
}

const Arrival& arrival_of(const RunOutput& run, const OutputKey& key, std::size_t* at) {
  const std::size_t found = entries_of(run).at(key);
  if (at != nullptr) *at = found;
  return run.processes[key.process].log.arrivals[found];
}

std::size_t place_in_log(const RunOutput& run, const OutputKey& key) {
  std::size_t at = 0;
  const auto& arrivals = run.processes.at(key.process).log.arrivals;
  if (key.kind <= OutputKey::Kind::memory) {
    arrival_of(run, key, &at);
    return at;
  }
  const auto is_it = [&](const Arrival& entry) {
    return key.kind == OutputKey::Kind::prints && entry.kind == Arrival::Kind::prints &&
           entry.operation == key.operation;
  };
  return static_cast<std::size_t>(std::ranges::find_if(arrivals, is_it) - arrivals.begin());
}

std::vector<OutputKey> without_the_host_s(std::vector<OutputKey> keys, const RunOutput& first,
                                          const RunOutput& other) {
  const std::vector<InputKey> inputs = input_differences(first, other);
  std::erase_if(keys, [&](const OutputKey& key) {
    const std::size_t at = place_in_log(other, key);
    return std::ranges::any_of(inputs, [&](const InputKey& input) {
      return input.process == key.process && input.other < at;
    });
  });
  return keys;
}

std::string kept_bytes(const RunOutput& run, std::size_t process, const Arrival& entry) {
  return text_of_file(cudart::kept_bytes_path(run.records_file, run.processes[process].id,
                                              entry.kind, entry.operation));
}

std::string place_in_copy(const RunOutput& run, std::size_t process, const Arrival& entry,
                          std::size_t byte, std::string_view direction) {
  const RunOutput::Process& of = run.processes[process];
  const auto before = std::ranges::count_if(of.log.arrivals, [&](const Arrival& other) {
    return other.kind == entry.kind && other.operation < entry.operation;
  });
  const std::string call = entry.call < of.calls.size() ? of.calls[entry.call].name : "a copy";
  return fmt::format("at byte {} of copy {} to the {}, by {} of {}", byte, before + 1, direction,
                     call, counted(entry.bytes, "byte"));
}

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

std::string difference_of_texts(const std::string& first, const std::string& other,
                                std::string_view first_name) {
  const std::vector<std::string_view> of_first = split(first, '\n'), of_other = split(other, '\n');
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

}  // namespace warpcheck
