#include "vgpu/cudart/exec/exec_session.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>

#include "vgpu/check/proof/order_reason.hpp"
#include "vgpu/check/reporter.hpp"
#include "vgpu/cudart/api/calls/mishaps.hpp"
#include "vgpu/cudart/device/runtime_use.hpp"
#include "vgpu/cudart/device/this_process.hpp"
#include "vgpu/cudart/exec/experiments.hpp"
#include "vgpu/cudart/host_watch/host_watch.hpp"
#include "vgpu/cudart/streams/order_of_arrival.hpp"
#include "vgpu/program/flow/data_uses.hpp"
#include "vgpu/program/flow/order_sources.hpp"
#include "vgpu/program/flow/unwritten_registers.hpp"
#include "vgpu/schedule/logged.hpp"
#include "vgpu/schedule/strategies.hpp"
#include "vgpu/text/file_text.hpp"

// `warpcheck exec` recognises a program that contains this runtime library by this note: name
// "warpcheck", type 1, no description (ELF specification, "Note Section").  Stripping keeps it.
asm(".pushsection .note.warpcheck, \"a\", @note\n"
    ".balign 4\n"
    ".long 10, 0, 1\n"
    ".asciz \"warpcheck\"\n"
    ".balign 4\n"
    ".popsection\n");

namespace warpcheck::cudart {
namespace {

std::string program_path() {
  std::string path(4096, '\0');
  const ssize_t length = ::readlink("/proc/self/exe", path.data(), path.size());
  path.resize(length < 0 ? 0 : static_cast<std::size_t>(length));
  return path;
}

[[noreturn]] void refuse_to_run(std::string_view why) {
  std::fputs(fmt::format("warpcheck: {}: {}\n", kExecVariable, why).c_str(), stderr);
  std::_Exit(2);
}

// Runs before main, so that a program that never calls the runtime is recorded too.
[[gnu::constructor]] void record_start() {
  if (ExecSession* const session = ExecSession::instance()) session->start();
}

}  // namespace

ExecSession* ExecSession::instance() {
  static ExecSession* const session = []() -> ExecSession* {
    const char* const text = std::getenv(kExecVariable);
    if (text == nullptr) return nullptr;
    std::optional<ExecSettings> settings = parse_exec_settings(text);
    if (!settings) refuse_to_run("not the settings that `warpcheck exec` passes");
    return new ExecSession(std::move(*settings));  // lives until the process ends
  }();
  return session;
}

TrialSettings ExecSession::trial_settings() {
  TrialSettings trial;
  trial.checkers = settings_.checkers;
  trial.warp_model = settings_.warp_model;
  trial.limits.steps_max = settings_.steps_max;
  trial.limits.compile = settings_.compile;
  trial.memory_bytes = settings_.memory_bytes;
  trial.fresh_mapped = settings_.fresh_pattern ? vgpu::Fresh::pattern : vgpu::Fresh::zeros;
  try {
    strategy_ = vgpu::make_strategy(settings_.strategy, settings_.seed);
  } catch (const std::invalid_argument& error) {
    refuse_to_run(error.what());
  }
  // The default policy is passed as a null strategy, so that a launch can run on several threads.
  const bool is_default = settings_.strategy == "default";
  trial.strategy = is_default ? nullptr : strategy_.get();
  // A launch that is compared runs alone.
  trial.jobs = is_default && settings_.launch_worker.empty() ? settings_.jobs : 1;
  trial.sparse = settings_.sparse;
  trial.steps_budget = settings_.steps_budget;
  // Which blocks run must not depend on how fast machines are.
  if (trial.sparse || trial.steps_budget != 0) trial.jobs = 1;
  if (settings_.ordered_operation != ptx::kNone) {
    if (order_ == nullptr) order_ = std::make_unique<vgpu::OrderFlow>();
    trial.extra_observer = order_.get();
    trial.checkers = vgpu::no_checkers();
    trial.jobs = 1;
  }
  if (!settings_.edits.empty()) trial.edits = std::make_shared<ptx::Edits>(settings_.edits);
  trial.supposed = settings_.supposed;
  if (!settings_.trace.empty()) trace(trial);
  if (!settings_.debugger.empty()) debug(trial);
  return trial;
}

std::vector<std::string> ExecSession::stand_in_texts() const {
  std::vector<std::string> texts;
  for (const std::string& path : settings_.texts) texts.push_back(text_of_file(path));
  return texts;
}

// Copies of the process go on with the device as it was.  Their memory must be their own, so that
// which the host shares has one view, and accesses of the host are not watched.
void ExecSession::debug(TrialSettings& trial) {
  set_host_watch(nullptr);
  if (agent_ == nullptr) {
    try {
      agent_ = std::make_unique<DebugAgent>(settings_.debugger, [this] {
        is_copy_ = true;
        forget_fork();
      });
    } catch (const std::system_error& error) {
      refuse_to_run(error.what());
    }
  }
  trial.extra_observer = agent_.get();
  trial.jobs = 1;
}

void ExecSession::trace(TrialSettings& trial) {
  if (trace_ == nullptr) {
    const auto options = vgpu::trace_options_of(settings_.trace);
    if (!options) refuse_to_run("not the options of a trace that `warpcheck exec` passes");
    trace_ = std::make_unique<vgpu::Trace>(*options, settings_.trace_file);
  }
  trial.extra_observer = trace_.get();
  trial.jobs = 1;
  if (trial.strategy == nullptr) return;
  logged_strategy_ = std::make_unique<vgpu::LoggedStrategy>(
      *trial.strategy, [this](const vgpu::Decision& decision) { trace_->decided(decision); });
  trial.strategy = logged_strategy_.get();
}

void ExecSession::end_trace() {
  if (trace_ == nullptr) return;
  trace_->end();
  if (trace_->error() == 0) return;
  not_checked(fmt::format("the rest of the trace: cannot write to {}: {}", settings_.trace_file,
                          std::strerror(trace_->error())));
}

void ExecSession::end_counts() {
  if (!settings_.profile) return;
  if (device_was_used_before_fork()) {
    return not_checked("what a process did to memory that was forked after the first CUDA call");
  }
  save_counts();
}

// The counts are replaced as a whole.
void ExecSession::save_counts() const {
  if (device_was_used_before_fork()) return;
  const std::string path = counts_path(settings_.records, ::getpid()), written = path + ".new";
  const std::string text =
      to_text({.process = ::getpid(), .what = CountsRecord{counters_.counts()}});
  const int file = ::open(written.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  const bool is_saved =
      file >= 0 && ::write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size()) &&
      ::rename(written.c_str(), path.c_str()) == 0;
  const int error = errno;
  if (file >= 0) ::close(file);
  if (!is_saved) refuse_to_run(fmt::format("cannot write to {}: {}", path, std::strerror(error)));
}

void ExecSession::start() {
  if (settings_.experiments >= 0) settings_ = next_experiment(settings_);
  append({.process = ::getpid(), .what = StartRecord{program_path()}});
}

void ExecSession::found(std::size_t number, const vgpu::Finding& finding) {
  if (recorded_.size() <= number) recorded_.resize(number + 1);
  if (number >= traced_) {
    traced_ = number + 1;
    if (trace_ != nullptr) trace_->found(finding);
    if (agent_ != nullptr) agent_->found(finding);
  }
  if (settings_.findings_at_end) return;
  recorded_[number] = {finding.count, finding.severity};
  append({.process = ::getpid(), .what = FindingRecord{number, finding, arrivals()}});
}

namespace {

std::string place_text(const vgpu::Program& kernel, std::uint32_t pc) {
  const vgpu::AccessSide side = vgpu::side_at("", {&kernel, pc, Dim3{0, 0, 0}, Dim3{0, 0, 0}});
  const std::string place = side.file.empty() ? "" : fmt::format("{}:{} ", side.file, side.line);
  return place + side.ptx;
}

// The file of the first instruction that is no library's.
std::string source_file_of(const vgpu::Program& kernel) {
  for (std::uint32_t pc = 0; pc < kernel.code.size(); ++pc) {
    if (kernel.source_of(pc).location.line == 0) continue;
    const vgpu::AccessSide side = vgpu::side_at("", {&kernel, pc, Dim3{0, 0, 0}, Dim3{0, 0, 0}});
    if (!side.file.empty() && side.header.empty()) return side.file;
  }
  return {};
}

// "sm_75"
std::string target_of(std::string_view ptx) {
  constexpr std::string_view kDirective = ".target ";
  const std::size_t at = ptx.find(kDirective);
  if (at == std::string_view::npos) return {};
  ptx.remove_prefix(at + kDirective.size());
  return std::string(ptx.substr(0, ptx.find_first_of(", \n\r")));
}

// docs/use/proofs.md, "By the code alone".
std::string proof_by_code(const vgpu::Program& kernel) {
  const vgpu::OrderSource order = vgpu::find_order_source(kernel);
  const bool shows_order = order.pc != ptx::kNone;
  const vgpu::DataUse data = vgpu::find_data_use(kernel);  // clocks count as data
  if (data.pc == ptx::kNone && (!shows_order || vgpu::order_shows_in_times_alone(kernel))) {
    return "all data and every schedule";
  }
  if (shows_order) return fmt::format("nothing: {} {}", place_text(kernel, order.pc), order.what);
  return fmt::format("every schedule; {} at {}",
                     data.is_followed ? "data may decide" : "values are not followed",
                     place_text(kernel, data.pc));
}

}  // namespace

std::string ExecSession::write_code(std::string_view ptx) {
  if (!settings_.code || ptx.empty()) return {};
  const std::string path =
      fmt::format("{}.{:016x}.ptx", settings_.records, XXH3_64bits(ptx.data(), ptx.size()));
  if (::access(path.c_str(), F_OK) != 0)
    std::ofstream(path, std::ios::binary).write(ptx.data(), std::ssize(ptx));
  return path;
}

void ExecSession::launches_first(const vgpu::Program& kernel, std::uint32_t threads) {
  std::string sees_order;
  if (const std::optional<std::uint32_t> pc = sees_order_of_arrival(kernel)) {
    const vgpu::AccessSide side = vgpu::side_at("", {&kernel, *pc, Dim3{0, 0, 0}, Dim3{0, 0, 0}});
    if (!side.file.empty()) sees_order = fmt::format("{}:{} ", side.file, side.line);
    sees_order += side.ptx;
  }
  append(
      {.process = ::getpid(),
       .what = KernelRecord{kernel.kernel, std::move(sees_order),
                            logs_host_bytes() && vgpu::reads_unwritten_register(kernel), arrivals(),
                            settings_.prove ? proof_by_code(kernel) : std::string(),
                            source_file_of(kernel), target_of(kernel.ptx),
                            stood_in_.contains(kernel.kernel), write_code(kernel.ptx), threads}});
}

void ExecSession::launched(std::uint64_t launches, std::uint32_t kernel) {
  launches_ = launches;
  last_kernel_ = kernel + 1;
  log().count_launches(launches);
}

void ExecSession::printed(std::uint64_t prints, std::uint64_t hash) {
  if (prints < prints_) prints_ = print_hash_ = 0;  // the buffer has been cleared
  if (prints != prints_ && logs_host_bytes()) {
    log().add({.kind = Arrival::Kind::prints,
               .operation = static_cast<std::uint32_t>(launches_),
               .bytes = prints - prints_,
               .hash = hash - print_hash_,
               .kernel = last_kernel_});
  }
  prints_ = prints;
  print_hash_ = hash;
}

bool ExecSession::keeps(std::uint32_t operation) const {
  return std::ranges::find(settings_.kept_bytes, operation) != settings_.kept_bytes.end();
}

void ExecSession::came_to_host(Arrival entry, std::string_view call) {
  const bool is_ordered = order_ != nullptr && entry.operation == settings_.ordered_operation;
  if (is_ordered && entry.kind == Arrival::Kind::copy) {
    record_order(order_->mark_in_latest(entry.bytes, settings_.ordered_byte));
  }
  if (!call.empty()) entry.call = number_of({call});
  log().add(entry);
}

void ExecSession::went_to_device(Arrival entry, std::string_view call, const void* asked_at) {
  entry.call = number_of({call, asked_at});
  log().add(entry);
}

std::uint32_t ExecSession::number_of(const Call& call) {
  log();  // a child of fork() has its own calls
  const auto known = std::ranges::find(calls_, call);
  const auto number = static_cast<std::uint32_t>(known - calls_.begin());
  if (known != calls_.end()) return number;
  CallRecord record{std::string(call.name)};
  if (call.asked_at != nullptr) {
    vgpu::HostPlace place = Mishaps::place_of_call(call.asked_at);
    record.file = std::move(place.file);
    record.line = place.line;
  }
  append({.process = ::getpid(), .what = std::move(record)});
  calls_.push_back(call);
  return number;
}

std::uint64_t ExecSession::arrivals() { return logs_host_bytes() ? log().arrivals() : 0; }

void ExecSession::keep(Arrival::Kind kind, std::uint32_t operation,
                       std::span<const std::byte> part) const {
  std::ofstream file(kept_bytes_path(settings_.records, ::getpid(), kind, operation),
                     std::ios::binary | std::ios::app);
  file.write(reinterpret_cast<const char*>(part.data()), std::ssize(part));
}

void ExecSession::keep_order(std::uint32_t operation, const vgpu::Allocation& allocation,
                             std::uint64_t first) {
  if (order_ == nullptr || operation != settings_.ordered_operation) return;
  const std::uint64_t byte = settings_.ordered_byte;
  if (byte < first || byte - first >= allocation.bytes) return;
  record_order(order_->mark_in(allocation, static_cast<std::uint32_t>(byte - first)));
}

void ExecSession::record_order(std::optional<std::uint32_t> mark) {
  vgpu::OrderReason reason =
      mark ? vgpu::reason_of(order_->sources_of(*mark)) : vgpu::reason_of(order_->decisions());
  vgpu::Finding finding;
  finding.kind = vgpu::FindingKind::schedule_dependent;
  finding.accesses = std::move(reason.sides);
  finding.message = std::move(reason.text);
  append({.process = ::getpid(), .what = FindingRecord{0, std::move(finding), arrivals()}});
}

ExecLog& ExecSession::log() {
  if (const int process = this_process(); log_process_ != process) {
    const auto path = exec_log_path(settings_.records, process);
    if (!log_.emplace(path).is_open()) {
      refuse_to_run(fmt::format("cannot write to {}: {}", path.string(), std::strerror(errno)));
    }
    calls_.clear();
    log_process_ = process;
  }
  return *log_;
}

void ExecSession::refused(std::string_view reason) {
  append({.process = ::getpid(), .what = RefusalRecord{std::string(reason)}});
}

void ExecSession::not_checked(std::string_view what) {
  if (!not_checked_.emplace(what).second) return;
  append({.process = ::getpid(), .what = NotCheckedRecord{std::string(what)}});
}

void ExecSession::end(const TrialResult& result, std::vector<std::string> kernels,
                      std::size_t first) {
  end_trace();
  end_counts();
  settings_.findings_at_end = false;  // this is the end
  std::size_t number = first;
  for (const vgpu::Finding& finding : result.findings) {
    const Recorded now{finding.count, finding.severity};
    const bool is_known = number < recorded_.size() && recorded_[number] == now;
    if (!is_known) found(number, finding);
    ++number;
  }
  if (!settings_.edits.empty() && result.edited_places == 0 && result.launches != 0) {
    refused("the edits change nothing in the kernels that were launched");
  }
  append({.process = ::getpid(), .what = EndRecord{result.launches, std::move(kernels)}});
  if (agent_ != nullptr) agent_->end();
}

// The file is opened anew each time, because programs close file descriptors that they do not know.
void ExecSession::append(const ExecRecord& record) const {
  if (is_copy_) return;
  const std::string text = to_text(record);
  const int file = ::open(settings_.records.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  const bool is_written =
      file >= 0 && ::write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  const int error = errno;
  if (file >= 0) ::close(file);
  if (is_written) return;
  refuse_to_run(fmt::format("cannot write to {}: {}", settings_.records, std::strerror(error)));
}

}  // namespace warpcheck::cudart
