#include "cli/exec/output_comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <set>
#include <string_view>
#include <utility>

#include "vgpu/text/file_text.hpp"

namespace warpcheck {
namespace {

namespace fs = std::filesystem;
using cudart::Arrival;

// When runs differ: the number of repeated runs, and of operations of each whose bytes are kept.
constexpr std::size_t kRepeatedMax = 3;
constexpr std::size_t kKeptMax = 16;
// So many different outputs of one operation are looked at.
constexpr std::size_t kSpreadMax = 8;

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
    files.emplace(entry.path().lexically_normal().string(), text_of_file(entry.path()));
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

// The kernel that can observe the order of threads and was launched before the output arrived; the
// kernel of the output comes first.  Null: there is none.
//   arrivals: of a copy or of memory, its number in the log
const RunOutput::Kernel* seer_of_order(const RunOutput& run, const OutputKey& key,
                                       std::optional<std::size_t> arrivals,
                                       std::uint32_t own_kernel) {
  const RunOutput::Kernel* found = nullptr;
  for (std::size_t i = 0; i < run.processes.size(); ++i) {
    // Processes that share memory are not ordered.
    const std::vector<RunOutput::Kernel>& kernels = run.processes[i].kernels;
    for (std::size_t k = 0; k < kernels.size(); ++k) {
      if (kernels[k].sees_order.empty()) continue;
      const bool is_own = i == key.process && k + 1 == own_kernel;
      const bool is_later = i == key.process && arrivals && kernels[k].arrivals > *arrivals;
      if (is_own || (found == nullptr && !is_later)) found = &kernels[k];
    }
  }
  return found;
}

// The kernel of the output, if it may read a register that it has not written, and if no race in it
// explains more; else null.
const RunOutput::Kernel* reader_of_unwritten(const RunOutput& run, const OutputKey& key,
                                             std::uint32_t own_kernel) {
  const RunOutput::Process& process = run.processes.at(key.process);
  if (own_kernel == 0 || own_kernel > process.kernels.size()) return nullptr;
  const RunOutput::Kernel& kernel = process.kernels[own_kernel - 1];
  const bool races =
      std::ranges::any_of(process.reported, [&](const RunOutput::Reported& reported) {
        return reported.finding.kind == vgpu::FindingKind::data_race &&
               reported.finding.severity == vgpu::Severity::error;
      });
  return kernel.reads_unwritten && !races ? &kernel : nullptr;
}

// An error about unwritten values that was found before the output arrived, in it or in its kernel.
const vgpu::Finding* unwritten_value_in(const RunOutput& run, const OutputKey& key,
                                        std::optional<std::size_t> arrivals,
                                        const std::string& kernel) {
  if (key.process >= run.processes.size()) return nullptr;
  for (const RunOutput::Reported& reported : run.processes[key.process].reported) {
    const vgpu::Finding& finding = reported.finding;
    if (finding.kind != vgpu::FindingKind::uninitialized_read) continue;
    if (finding.severity != vgpu::Severity::error) continue;
    if (arrivals && reported.arrivals > *arrivals) continue;
    const bool is_same_copy = arrivals && reported.arrivals == *arrivals;
    if (kernel.empty() || finding.kernel == kernel || is_same_copy) return &finding;
  }
  return nullptr;
}

// "scan.cu:12"; the name alone if it has no line.
std::string place_of(const vgpu::Finding& finding) {
  for (const vgpu::AccessSide& side : finding.accesses) {
    if (side.file.empty()) continue;
    return fmt::format("{}:{}", fs::path(side.file).filename().string(), side.line);
  }
  return "";
}

// "/home/a/scan.cu:12 atom.global.add.u32" without the directory.
std::string without_directory(const std::string& place) {
  return place.substr(place.substr(0, place.find(' ')).find_last_of('/') + 1);
}

// "the order of (1) decides it: (1) sum.cu:12 atom.global.add.f32"
std::string text_of_order(const vgpu::Finding& order) {
  std::string text = order.message;
  for (std::size_t i = 0; i < order.accesses.size(); ++i) {
    const vgpu::AccessSide& side = order.accesses[i];
    const std::string place = side.file.empty() ? "" : fmt::format("{}:{} ", side.file, side.line);
    text +=
        fmt::format("{} ({}) {}", i == 0 ? ":" : ",", i + 1, without_directory(place + side.ptx));
  }
  return text;
}

// Why the output may differ: an unwritten value, an order that a kernel may observe, or an order
// that is missing.
void explain(vgpu::Finding& finding, const RunOutput& first, const RunOutput& other,
             const OutputKey& key, std::optional<std::size_t> arrivals, std::uint32_t own_kernel,
             const std::function<vgpu::Finding()>& order) {
  for (const RunOutput* const run : {&other, &first}) {
    const vgpu::Finding* const unwritten = unwritten_value_in(*run, key, arrivals, finding.kernel);
    if (unwritten == nullptr) continue;
    const std::string place = place_of(*unwritten);
    finding.message += "; a value that nothing has written decides";
    finding.cause =
        fmt::format("{}{}", vgpu::name_of(unwritten->kind), place.empty() ? "" : " at " + place);
    return;
  }
  for (const RunOutput* const run : {&other, &first}) {
    const RunOutput::Kernel* const kernel = seer_of_order(*run, key, arrivals, own_kernel);
    if (kernel == nullptr) continue;
    finding.severity = vgpu::Severity::note;
    finding.message +=
        fmt::format("; kernel {} can observe the order of threads: {}",
                    vgpu::kernel_name(kernel->name), without_directory(kernel->sees_order));
    if (const vgpu::Finding known = order(); !known.accesses.empty())
      finding.message += "; " + text_of_order(known);
    return;
  }
  if (const RunOutput::Kernel* const kernel = reader_of_unwritten(other, key, own_kernel)) {
    finding.cause = fmt::format("perhaps a register that kernel {} reads and may not have written",
                                vgpu::kernel_name(kernel->name));
  }
}

}  // namespace

fs::path OutputComparison::text_of(int run) const {
  return directory_ / fmt::format("output-{}", run);
}

RunOutput OutputComparison::repeat(int run, const std::vector<std::uint32_t>& kept) {
  const auto start = fs::file_time_type::clock::now() - std::chrono::milliseconds(20);  // its ticks
  RunOutput output = output_of(repeat_(run, kept, text_of(run)));
  output.files = files_written_since(start);
  return output;
}

// The floats at a byte of an output under all schedules of which the output differs.
std::string OutputComparison::spread_of(const OutputKey& key, std::size_t byte,
                                        const RunOutput& first, const RunOutput& other) {
  const auto float_in = [&](const RunOutput& run) {
    const std::string bytes = kept_bytes(run, key.process, arrival_of(run, key));
    float value = std::numeric_limits<float>::quiet_NaN();
    if (byte + sizeof value <= bytes.size()) std::memcpy(&value, bytes.data() + byte, sizeof value);
    return value;
  };
  std::set<std::uint64_t> seen{arrival_of(first, key).hash, arrival_of(other, key).hash};
  std::vector<float> values{float_in(first), float_in(other)};
  for (std::size_t i = 1; i < runs_.size() && seen.size() < kSpreadMax; ++i) {
    if (std::ranges::count(differences(runs_[0], runs_[i]), key) == 0) continue;
    if (!seen.insert(arrival_of(runs_[i], key).hash).second) continue;
    const RunOutput again = repeat(static_cast<int>(i) + 1, {key.operation});
    if (std::ranges::count(differences(first, again), key) != 0) values.push_back(float_in(again));
  }
  if (!std::ranges::all_of(values, [](float value) { return std::isfinite(value); })) return {};
  const auto [least, greatest] = std::ranges::minmax(values);
  const float larger = std::max(std::fabs(least), std::fabs(greatest));
  const double unit = std::ldexp(1.0, std::max(std::ilogb(larger), -126) - 23);
  return fmt::format("; under {} schedules from {} to {}, {:.3g} ulps apart", runs_.size(), least,
                     greatest, (double{greatest} - double{least}) / unit);
}

vgpu::Finding OutputComparison::order_of(const OutputKey& key, std::size_t byte, int run) const {
  const bool has_bytes = key.kind == OutputKey::Kind::copy || key.kind == OutputKey::Kind::memory;
  if (follow_ == nullptr || !has_bytes) return {};
  const RunOutput followed = output_of(follow_(run, key.operation, byte));
  if (key.process >= followed.processes.size()) return {};
  for (const RunOutput::Reported& reported : followed.processes[key.process].reported) {
    if (reported.finding.kind == vgpu::FindingKind::schedule_dependent) return reported.finding;
  }
  return {};
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
    if (unsteady_) continue;
    keys = without_the_host_s(std::move(keys), first_again, again);
    if (!keys.empty()) return Found{describe(keys.front(), first_again, again, run, first), run};
  }
  return std::nullopt;
}

vgpu::Finding OutputComparison::describe(const OutputKey& key, const RunOutput& first,
                                         const RunOutput& other, int run,
                                         std::string_view first_name) {
  vgpu::Finding finding;
  finding.kind = vgpu::FindingKind::schedule_dependent;
  const RunOutput::Process& process = other.processes.at(key.process);
  std::uint32_t kernel = 0;
  std::optional<std::size_t> arrivals;
  std::size_t at = 0;
  if (key.kind == OutputKey::Kind::copy || key.kind == OutputKey::Kind::memory) {
    const Arrival& entry = arrival_of(other, key, &arrivals.emplace());
    finding.message = show_difference(kept_bytes(first, key.process, arrival_of(first, key)),
                                      kept_bytes(other, key.process, entry), first_name, &at);
    finding.object = key.kind == OutputKey::Kind::copy
                         ? place_in_copy(other, key.process, entry, at, "host")
                         : "in memory of host and device";
    kernel = entry.kernel;
  } else if (key.kind == OutputKey::Kind::prints) {
    finding.object = "text printed by device code";
    for (const Arrival& entry : process.log.arrivals) {
      const bool is_it = entry.kind == Arrival::Kind::prints && entry.operation == key.operation;
      if (is_it) kernel = entry.kernel;
    }
  } else {
    finding.object = "exit status";
    finding.message = fmt::format("{}, under {} {}", other.status, first_name, first.status);
  }
  if (kernel != 0 && kernel <= process.kernels.size()) {
    finding.kernel = vgpu::kernel_name(process.kernels[kernel - 1].name);
  }
  // What the program writes after a launch was stopped follows from that.
  if (!is_stopped(first) && !is_stopped(other)) {
    const std::string text =
        difference_of_texts(text_of_file(text_of(1)), text_of_file(text_of(run)), first_name);
    for (const std::string& further : {text, difference_of_files(first, other)}) {
      if (!further.empty()) finding.message += (finding.message.empty() ? "" : "; ") + further;
    }
  }
  vgpu::Finding order;
  explain(finding, first, other, key, arrivals, kernel,
          [&] { return order = order_of(key, at, run); });
  const bool is_float = !order.accesses.empty() && order.accesses[0].ptx.ends_with(".f32") &&
                        order.accesses.back().role != "address";
  if (is_float) finding.message += spread_of(key, at, first, other);
  if (finding.message.starts_with("; ")) finding.message.erase(0, 2);
  return finding;
}

}  // namespace warpcheck
