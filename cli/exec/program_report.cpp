#include "cli/exec/program_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "harness/input/json.hpp"
#include "harness/pair/pair_without_reference.hpp"
#include "harness/process/worker_pool.hpp"
#include "harness/report/finding_help.hpp"
#include "harness/report/report.hpp"
#include "vgpu/text/counted.hpp"

namespace warpcheck {
namespace {

vgpu::Finding seen_from_here(vgpu::Finding finding) {
  for (vgpu::AccessSide& side : finding.accesses) {
    side.rename_files(path_from_here);
  }
  finding.count = std::max<std::uint64_t>(finding.count, 1);  // the process ended after it
  return finding;
}

std::string name_in_reports(const std::string& program) {
  return std::filesystem::path(program).filename().string();
}

// A program in place of a pair: reports name it, but it is never drawn or run.
class ProgramAsPair final : public PairWithoutReference {
 public:
  ProgramAsPair(const std::string& name, std::vector<std::string> arguments)
      : PairWithoutReference(name_in_reports(name)), command_(std::move(arguments)) {
    command_.insert(command_.begin(), name);
  }

  [[nodiscard]] std::string_view family() const override { return "programs"; }
  [[nodiscard]] std::string_view origin() const override { return {}; }
  [[nodiscard]] AnyInput draw(Draw&) const override { return nullptr; }
  [[nodiscard]] bool in_domain(const AnyInput&) const override { return false; }
  [[nodiscard]] bool identical(const AnyInput&, const AnyInput&) const override { return true; }
  [[nodiscard]] InputSize size_of(const AnyInput&) const override { return {}; }
  [[nodiscard]] AnyInput from_json(const Json&) const override { return nullptr; }
  [[nodiscard]] AnyInput edited(const AnyInput& input, const InputEdit&) const override {
    return input;
  }
  [[nodiscard]] std::string summary(const AnyInput&) const override {
    return fmt::format("{}", fmt::join(command_, " "));
  }
  std::optional<std::size_t> for_each_shrink_from(std::size_t, const AnyInput&,
                                                  FunctionRef<bool(AnyInput)>) const override {
    return std::nullopt;
  }
  [[nodiscard]] AnyOutput run_kernel(const AnyInput&) const override { return nullptr; }

 private:
  void write(Json& json, const AnyInput&) const override { json["command"] = command_; }

  std::vector<std::string> command_;
};

// A report's text, two columns further left.
std::string moved_left(const std::string& text) {
  std::string moved;
  for (std::size_t at = 0, end = 0; at < text.size(); at = end + 1) {
    end = text.find('\n', at);
    moved += text.substr(at + 2, end + 1 - (at + 2));
  }
  return moved;
}

// The finding's lines, with the kernel's name.
std::string found_text(const vgpu::Finding& finding, bool full_names) {
  std::string text = finding_text(finding);
  if (!finding.kernel.empty()) {
    text.insert(text.find('\n'),
                fmt::format(", in kernel {}",
                            full_names ? finding.kernel : vgpu::short_kernel_name(finding.kernel)));
  }
  text = moved_left(text);
  if (finding.count > 1) text += fmt::format("  {} times\n", finding.count);
  return text;
}

std::vector<vgpu::Finding> findings_of(const ProgramReport& report) {
  std::vector<vgpu::Finding> findings;
  for (const ProgramReport::Found& one : report.findings) findings.push_back(one.finding);
  return findings;
}

bool lacks_lines(const vgpu::Finding& finding) {
  return std::ranges::any_of(finding.accesses, [](const vgpu::AccessSide& side) {
    return !side.ptx.empty() && side.file.empty();
  });
}

// Launches of a process, by the mangled names of their kernels.
void add_counts(const ProgramRun& run, int process, const cudart::ExecLogCounts& counts,
                std::map<std::string, cudart::KernelCounts>& to) {
  std::size_t number = 0;
  const auto add_next = [&](const std::string& kernel) {
    const cudart::KernelCounts& more = counts.kernels[number++];
    if (more.launches == 0) return;
    cudart::KernelCounts& all = to[kernel];
    all.launches += more.launches;
    all.thread_instructions += more.thread_instructions;
    all.nanoseconds += more.nanoseconds;
  };
  for (const cudart::ExecRecord& record : run.records) {
    const auto* const kernel = std::get_if<cudart::KernelRecord>(&record.what);
    if (record.process != process || kernel == nullptr) continue;
    if (number + 1 == counts.kernels.size()) break;
    add_next(kernel->name);
  }
  number = counts.kernels.size() - 1;
  add_next("");
}

// "1,234", "5.6 M"
std::string count_text(double count) {
  for (const auto& [unit, name] : {std::pair{1e9, "G"}, {1e6, "M"}}) {
    if (count >= unit) return fmt::format("{:.1f} {}", count / unit, name);
  }
  return fmt::format("{:.0f}", count);
}

std::string running_text(const std::vector<std::string>& kernels) {
  std::string text;
  for (const std::string& kernel : kernels) text += fmt::format("it was running {}\n", kernel);
  return text;
}

std::string summary_text(const ProgramReport& report) {
  const std::uint64_t errors = report.errors(), notes = report.findings.size() - errors;
  std::string text = report.findings.empty() ? "no findings" : counted(errors, "error");
  std::uint64_t causes = 0;
  for (const FindingGroup& group : finding_groups(findings_of(report), report.causes)) {
    const vgpu::Finding& first = report.findings[group.findings.front()].finding;
    causes += first.severity == vgpu::Severity::error ? 1 : 0;
  }
  if (causes != errors) text += fmt::format(" of {}", counted(causes, "cause"));
  if (notes != 0) text += ", " + counted(notes, "note");
  const auto ignored = std::ranges::count_if(report.expected, [](const ExpectedFinding& expected) {
    return expected.expectation.is_option();
  });
  const std::size_t expected = report.expected.size() - static_cast<std::size_t>(ignored);
  if (expected != 0) text += fmt::format(", {} expected", expected);
  if (ignored != 0) text += fmt::format(", {} ignored", ignored);
  if (!report.refusals.empty()) text += fmt::format(", {} refused", report.refusals.size());
  text += fmt::format("; {} of {}", counted(report.launches, "launch"),
                      counted(report.kernels.size(), "kernel"));
  if (report.runs > 1)
    text += fmt::format("; {}", counted(static_cast<unsigned>(report.runs), "run"));
  return text + "\n";
}

}  // namespace

ProgramReport::ProgramReport(ExpectedFindings expectations, std::string program)
    : program(std::move(program)), expectations(std::move(expectations)) {
  this->expectations.set_program(this->program);
}

void ProgramReport::add(vgpu::Finding finding, int run) {
  finding.count = 1;
  if (const Expectation* const by = expectations.find(finding)) {
    add_expected(expected, std::move(finding), name_in_reports(program), *by);
  } else {
    findings.push_back({std::move(finding), run});
  }
}

void ProgramReport::add_first(vgpu::Finding finding, int run, unsigned heap,
                              const std::vector<std::string>& classes) {
  const Expectation* const by = expectations.find(finding);
  finding = seen_from_here(std::move(finding));
  const auto follows = [&](const Found& found) {
    return found.run == run && std::ranges::any_of(classes, [&](const std::string& name) {
             return found.class_as_recorded == name;
           });
  };
  std::string place;
  for (const vgpu::AccessSide& side : finding.accesses) {
    if (!side.file.empty()) place = fmt::format(", at {}:{}", side.file, side.line);
  }
  for (Found& found : findings) {
    if (!follows(found) || !found.finding.cause.empty()) continue;
    found.finding.cause =
        fmt::format("memory of the host's heap that nothing has written{}", place);
  }
  finding.count = 1;
  if (by != nullptr) {
    return add_expected(expected, std::move(finding), name_in_reports(program), *by);
  }
  findings.insert(std::ranges::find_if(findings, follows), {std::move(finding), run, heap});
}

std::vector<std::string> ProgramReport::classes_first_in(int run) const {
  std::vector<std::string> classes;
  for (const Found& found : findings) {
    if (found.run == run) classes.push_back(found.class_as_recorded);
  }
  return classes;
}

void ProgramReport::add_not_checked(std::string what) {
  if (std::ranges::find(not_checked, what) == not_checked.end()) {
    not_checked.push_back(std::move(what));
  }
}

void ProgramReport::needs_no_heap(const std::string& class_name, int run) {
  for (Found& found : findings) {
    if (found.run == run && found.class_as_recorded == class_name) found.heap = 0;
  }
}

namespace {

bool have_same(std::string vgpu::AccessSide::*member, const vgpu::Finding& one,
               const vgpu::Finding& other) {
  return std::ranges::equal(one.accesses, other.accesses, {}, member, member);
}

// Returns the findings in the order of their first records; the last record of a finding has its
// final count.
std::vector<vgpu::Finding> findings_of(const ProgramRun& run) {
  std::vector<vgpu::Finding> findings;
  std::map<std::pair<int, std::size_t>, std::size_t> place_of;  // by process and number
  for (const cudart::ExecRecord& record : run.records) {
    const auto* const found = std::get_if<cudart::FindingRecord>(&record.what);
    if (found == nullptr) continue;
    const auto [place, is_new] =
        place_of.try_emplace({record.process, found->number}, findings.size());
    if (is_new) findings.emplace_back();
    findings[place->second] = found->finding;
  }
  return findings;
}

// Adds what a record says, unless it is a finding.
void add_record(ProgramReport& report, const ProgramRun& run, const cudart::ExecRecord& record) {
  if (std::holds_alternative<cudart::StartRecord>(record.what)) report.runtime_loaded = true;
  if (const auto* const refusal = std::get_if<cudart::RefusalRecord>(&record.what)) {
    if (std::ranges::find(report.refusals, refusal->reason) == report.refusals.end()) {
      report.refusals.push_back(refusal->reason);
    }
  }
  if (const auto* const gap = std::get_if<cudart::NotCheckedRecord>(&record.what)) {
    report.add_not_checked(gap->what);
  }
  if (const auto* const kernel = std::get_if<cudart::KernelRecord>(&record.what)) {
    report.kernels.insert(kernel->name);
    if (!kernel->proved.empty()) report.proved.emplace(kernel->name, kernel->proved);
  }
  if (const auto* const counts = std::get_if<cudart::CountsRecord>(&record.what)) {
    vgpu::merge(report.counted, counts->instrs);
  }
  if (const auto* const end = std::get_if<cudart::EndRecord>(&record.what)) {
    // A process that could write no log still records its end.
    if (!run.logs.contains(record.process)) report.launches += end->launches;
    report.kernels.insert(end->kernels.begin(), end->kernels.end());
  }
}

// Adds a finding of the latest run.
void add_recorded(ProgramReport& report, const vgpu::Finding& recorded, bool timed_out,
                  unsigned heap) {
  vgpu::Finding finding = seen_from_here(recorded);
  // A loop of the host in which nothing changes might have counted (host_loops.hpp).  It did not
  // end.
  if (timed_out && finding.kind == vgpu::FindingKind::deadlock) {
    finding.severity = vgpu::Severity::error;
  }
  if (const Expectation* const by = report.expectations.find(recorded)) {
    return add_expected(report.expected, std::move(finding), name_in_reports(report.program), *by);
  }
  const auto known = std::ranges::find_if(report.findings, [&](const auto& other) {
    return other.finding.severity == finding.severity &&
           vgpu::class_of(other.finding) == vgpu::class_of(finding) &&
           have_same(&vgpu::AccessSide::host_code, other.finding, finding);
  });
  if (known == report.findings.end()) {
    report.findings.push_back({std::move(finding), report.runs, heap, vgpu::class_of(recorded)});
    return;
  }
  known->finding.count += finding.count;
  vgpu::add_other_callers(finding, known->finding);
  const bool is_told = have_same(&vgpu::AccessSide::role, known->finding, finding) ||
                       std::ranges::any_of(known->of_other_roles, [&](const auto& other) {
                         return have_same(&vgpu::AccessSide::role, other, finding);
                       });
  if (!is_told) known->of_other_roles.push_back(std::move(finding));
}

}  // namespace

void ProgramReport::add(const ProgramRun& run, unsigned heap) {
  ++runs;
  is_complete = is_complete && run.ended;
  if (run.timed_out) {
    timed_out = true;
    is_complete = false;
  } else if (run.signal != 0) {
    deaths.push_back({runs, run.signal, running_kernels(run)});
  }
  if (own_status == 0) own_status = run.status;
  was_running =
      run.signal == 0 || run.timed_out ? running_kernels(run) : std::vector<std::string>();
  for (const auto& [process, log] : run.logs) {
    launches += log.counts.launches;
    add_counts(run, process, log.counts, kernel_counts);
  }
  for (const std::string& error : run.unreadable) {
    refusals.push_back(internal_error(fmt::format("the program's process {}", error)));
  }
  for (const cudart::ExecRecord& record : run.records) add_record(*this, run, record);
  for (const vgpu::Finding& recorded : findings_of(run)) {
    add_recorded(*this, recorded, run.timed_out, heap);
  }
}

std::vector<vgpu::Finding> ProgramReport::findings_to_expect() const {
  std::vector<vgpu::Finding> all;
  for (const Found& found : findings) {
    all.push_back(found.finding);
    all.insert(all.end(), found.of_other_roles.begin(), found.of_other_roles.end());
  }
  return all;
}

std::uint64_t ProgramReport::errors() const {
  return static_cast<std::uint64_t>(std::ranges::count_if(findings, [](const Found& found) {
    return found.finding.severity == vgpu::Severity::error;
  }));
}

std::uint64_t ProgramReport::warp_instructions() const {
  std::uint64_t sum = 0;
  for (const auto& [kernel, counts] : kernel_counts) sum += counts.thread_instructions / 32;
  return sum;
}

std::vector<Expectation> ProgramReport::unmatched() const {
  const bool is_whole = is_complete && deaths.empty() && refusals.empty() && runtime_loaded;
  return is_whole ? expectations.unmatched() : std::vector<Expectation>();
}

std::string prefixed_lines(const std::string& text) {
  std::string prefixed;
  for (std::size_t at = 0, end = 0; at < text.size(); at = end + 1) {
    end = text.find('\n', at);
    prefixed += fmt::format("========= {}\n", text.substr(at, end - at));
  }
  return prefixed;
}

namespace {

// Empty: nobody has asked.
std::string proof_of(const ProgramReport& report, const std::string& kernel) {
  const auto proved = report.proved.find(kernel);
  if (proved == report.proved.end()) return {};
  const std::string name = vgpu::kernel_name(kernel);
  const bool has_finding = std::ranges::any_of(
      report.findings, [&](const auto& found) { return found.finding.kernel == name; });
  return has_finding ? "nothing: it has findings" : proved->second;
}

std::string proofs_text(const ProgramReport& report) {
  std::string text;
  for (const auto& [kernel, proved] : report.proved) {
    const std::string name = vgpu::kernel_name(kernel);
    text += fmt::format("proved for {} at these sizes: {}\n",
                        report.full_names ? name : vgpu::short_kernel_name(name),
                        proof_of(report, kernel));
  }
  return text;
}

}  // namespace

namespace {

// What __syncwarp() cannot do for one finding of a cause, it is not advised for the cause.
std::string_view advice_for_cause(const std::vector<vgpu::Finding>& findings,
                                  const FindingGroup& group) {
  const vgpu::Finding& first = findings[group.findings.front()];
  if (first.lack != vgpu::Lack::warp_barrier) return advice_for(first);
  const auto wider = std::ranges::find_if(group.findings, [&](std::size_t one) {
    return findings[one].lack == vgpu::Lack::block_barrier;
  });
  return advice_for(wider == group.findings.end() ? first : findings[*wider]);
}

}  // namespace

std::string exec_text(const ProgramReport& report,
                      const std::function<std::string(int)>& schedule_of) {
  std::string text = fmt::format("warpcheck exec: {}\n", report.program);
  std::set<std::string_view> advised;
  const std::vector<vgpu::Finding> findings = findings_of(report);
  for (const FindingGroup& group : finding_groups(findings, report.causes)) {
    const ProgramReport::Found& found = report.findings[group.findings.front()];
    text += found_text(found.finding, report.full_names);
    if (group.change != nullptr)
      text += fmt::format("  {}\n", sentence_of(*group.change, findings.size()));
    text += moved_left(folded_text(findings, group));
    if (found.run > report.runs) {
      text += fmt::format("  seen under another schedule: {}\n", schedule_of(found.run));
    } else if (found.run > 1) {
      text += fmt::format("  first seen in run {}: {}{}\n", found.run, schedule_of(found.run),
                          found.heap != 0 ? fmt::format(" --heap {}", found.heap) : "");
    }
    const std::string_view advice = advice_for_cause(findings, group);
    if (advised.insert(advice).second) text += fmt::format("  hint: {}\n", advice);
  }
  if (std::ranges::any_of(report.findings, lacks_lines, &ProgramReport::Found::finding)) {
    text += "source lines are not known: compile with nvcc -lineinfo\n";
  }
  if (const std::string limit = limit_of(report.causes); !limit.empty()) text += limit + "\n";
  for (const std::string& refusal : report.refusals) {
    text += fmt::format("refused: {}\n", refusal);
  }
  if (report.is_unsteady) {
    text +=
        "outputs were not compared: they differ between two runs under the same schedule as well\n";
  }
  for (const ProgramReport::Death& death : report.deaths) {
    text += fmt::format("{} was killed by signal {} ({}){}\n", report.program, death.signal,
                        ::strsignal(death.signal),
                        report.runs > 1 ? fmt::format(" in run {}", death.run) : "");
    text += running_text(death.was_running);
  }
  for (const std::string& gap : report.not_checked) {
    text += fmt::format("not checked: {}\n", gap);
  }
  text += proofs_text(report);
  for (const Expectation& expectation : report.unmatched()) {
    text += fmt::format("expected, but not found: {}\n", place_text(expectation));
  }
  if (const std::size_t count = report.expectations.without_reason(); count != 0) {
    text +=
        fmt::format("{} no reason yet: replace TODO\n",
                    count == 1 ? "1 expectation has" : fmt::format("{} expectations have", count));
  }
  text += running_text(report.was_running);
  text += report.runtime_loaded
              ? summary_text(report)
              : "the program never loaded the CUDA runtime library: nothing was checked\n";
  if (report.timed_out) {
    text += "timed out (--timeout): the findings up to then are above\n";
  } else if (!report.is_complete) {
    text += "interrupted: the findings up to then are above\n";
  }
  return prefixed_lines(text);
}

std::string time_text(const ProgramReport& report) {
  constexpr double kShortest = 1;  // second
  constexpr std::size_t kShown = 3;
  cudart::KernelCounts all;
  std::vector<std::pair<std::uint64_t, std::string>> by_time;
  for (const auto& [name, counts] : report.kernel_counts) {
    all.thread_instructions += counts.thread_instructions;
    all.nanoseconds += counts.nanoseconds;
    const std::string full = name.empty() ? "others" : vgpu::kernel_name(name);
    by_time.emplace_back(counts.nanoseconds,
                         report.full_names ? full : vgpu::short_kernel_name(full));
  }
  const double seconds = static_cast<double>(all.nanoseconds) / 1e9;
  if (seconds < kShortest) return {};
  std::ranges::stable_sort(by_time, std::greater(), &std::pair<std::uint64_t, std::string>::first);
  const auto instructions = static_cast<double>(all.thread_instructions);
  std::string text =
      fmt::format("{} thread instructions in {:.1f} s, {} a second", count_text(instructions),
                  seconds, count_text(instructions / seconds));
  const char* separator = ": ";
  for (std::size_t i = 0; i < std::min(kShown, by_time.size()); ++i) {
    text += fmt::format("{}{} {:.0f} %", separator, by_time[i].second,
                        100 * static_cast<double>(by_time[i].first) / 1e9 / seconds);
    separator = ", ";
  }
  return prefixed_lines(text + "\n");
}

std::string status_text(const ProgramReport& report, const ExecStatus& status) {
  const std::string text = fmt::format("========= exit status {}: ", status.status);
  const std::string own = fmt::format("the program's own is {}", report.own_status);
  switch (status.owner) {
    case ExecStatus::Owner::findings: return text + fmt::format("errors were found; {}\n", own);
    case ExecStatus::Owner::refusals:
      return text + fmt::format("something is not supported; {}\n", own);
    case ExecStatus::Owner::timeout: return text + "timed out\n";
    case ExecStatus::Owner::unwritten:
      return text + fmt::format("a report could not be written; {}\n", own);
    case ExecStatus::Owner::program: break;
  }
  return text + "the program's own\n";
}

RunReport run_report(const ProgramReport& report, const Settings& settings) {
  static std::vector<std::unique_ptr<ProgramAsPair>> programs;  // reports point to their pairs
  programs.push_back(std::make_unique<ProgramAsPair>(report.program, report.arguments));
  Report only;
  only.a_case.pair = programs.back().get();
  only.a_case.settings = settings;
  only.verdict.findings = findings_of(report);
  only.causes = report.causes;
  RunReport run;
  run.expected = report.expected;
  run.unmatched = report.unmatched();
  run.not_checked = report.not_checked;
  if (report.is_profiled) run.profile = memory_profile(report.counted, path_from_here);
  for (const auto& [name, counts] : report.kernel_counts) {
    run.kernels.push_back(
        {name, counts.launches, counts.thread_instructions, proof_of(report, name)});
  }
  only.verdict.launches = report.launches;
  only.verdict.refusals = report.refusals;

  Claim claim{.pair = only.a_case.pair->name()};
  claim.found = failure_kinds(only.verdict);
  claim.trials = static_cast<std::uint64_t>(report.runs);
  claim.verdict = "ok";
  if (only.verdict.failed()) {
    claim.status = Claim::Status::failed;
    claim.verdict = "FAIL: " + show_kinds(claim.found);
  }
  const auto give_up = [&](std::string why) {
    if (claim.status == Claim::Status::passed) {
      claim.status = Claim::Status::cannot_run;
      claim.verdict = std::move(why);
    }
  };
  if (report.timed_out) give_up("timed out");
  if (!report.is_complete) give_up("interrupted");
  if (!report.deaths.empty()) {
    const ProgramReport::Death& death = report.deaths.front();
    give_up(fmt::format("killed by signal {} in run {}", death.signal, death.run));
  }
  if (!report.refusals.empty()) {
    claim.status = Claim::Status::cannot_run;
    claim.verdict = "cannot run: " + report.refusals.front();
  }
  run.command = "exec";
  run.claims.push_back(std::move(claim));
  run.add(std::move(only));
  return run;
}

}  // namespace warpcheck
