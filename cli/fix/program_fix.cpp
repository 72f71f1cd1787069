#include "cli/fix/program_fix.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <thread>
#include <utility>

#include "cli/exec/output_agreement.hpp"
#include "cli/exec/program_causes.hpp"
#include "cli/exec/program_file.hpp"
#include "cli/exec/program_report.hpp"
#include "cli/exec/program_run.hpp"
#include "cli/exec/run_output.hpp"
#include "cli/fix/build_options.hpp"
#include "cli/fix/fix_search.hpp"
#include "cli/fix/host_search.hpp"
#include "harness/case/settings.hpp"
#include "harness/causes/changes.hpp"
#include "harness/trial/schedule_search.hpp"
#include "vgpu/cudart/device/build.hpp"
#include "vgpu/cudart/memory/host_memory.hpp"
#include "vgpu/program/library_headers.hpp"
#include "vgpu/ptx/text_parts.hpp"
#include "vgpu/text/counted.hpp"
#include "vgpu/text/file_text.hpp"
#include "vgpu/text/shell_words.hpp"

namespace warpcheck {
namespace {

namespace fs = std::filesystem;
using cudart::Build;

// A run that hangs in its host code is ended after so many times as long as the first one took, and
// some seconds.
constexpr double kTimesFirst = 20, kMoreSeconds = 20;

// Changes of host code that are tried: each takes a whole build.
constexpr std::size_t kHostBuildsMax = 40;

// How the program is run.
struct RunOfFix {
  Build build = Build::optimized;
  vgpu::WarpModel model = vgpu::WarpModel::independent;
  int number = 1;  // 1: the default schedule
  // What it brings to the host differs from run 1; from the program as it is.
  bool shows_in_output = false, shows_change = false;
};

bool is_below_folder(const fs::path& path, const fs::path& folder) {
  const std::string relative = path.lexically_relative(folder).string();
  return !relative.empty() && relative != "." && !relative.starts_with("..");
}

bool is_compiled(const fs::path& file) {
  static const std::set<std::string> kEndings{".cu", ".cpp", ".cc", ".cxx", ".c"};
  return kEndings.contains(file.extension().string());
}

// Whether it is about a shared variable, or one of the thread's own, which holds zeros here: one in
// a register is read by an instruction that is no load.
bool reads_unwritten_variable(const vgpu::Finding& finding) {
  if (finding.kind != vgpu::FindingKind::uninitialized_read) return false;
  if (finding.space == "shared" || finding.space == "local") return true;
  if (finding.accesses.empty() || finding.lack != vgpu::Lack::unknown) return false;
  const std::string& ptx = finding.accesses.front().ptx;
  return !ptx.empty() &&
         std::ranges::none_of(std::array{"ld", "atom", "red.", "tex", "su", "cp"},
                              [&](const char* memory) { return ptx.starts_with(memory); });
}

std::uint64_t instructions_of_threads(const ProgramReport& report) {
  std::uint64_t sum = 0;
  for (const auto& [kernel, counts] : report.kernel_counts) sum += counts.thread_instructions;
  return sum;
}

class ProgramFix final : public FixSearch {
 public:
  ProgramFix(const ProgramToFix& program, Supervisor& supervisor, const FixOptions& options)
      : FixSearch(options),
        program_(program),
        supervisor_(supervisor),
        runner_(supervisor, program.path, program.arguments, drop_in_directory(),
                program.directory) {
    runner_.share_input();
  }

  Fix run() {
    step("runs the program");
    std::optional<Seen> first;
    for (int number = 1; number <= program_.runs && !first; ++number) {
      const RunOfFix run{.number = number};
      Seen seen = see(run, {});
      if (number == 1) plain_ = seen.output;
      if (!seen.verdict.refusals.empty()) {
        return refuse(fmt::format("it cannot be run: {}", seen.verdict.refusals.front()));
      }
      if (supervisor_.is_stopped()) return refuse("interrupted");
      if (!is_bad(seen)) continue;
      known_.push_back(run);
      first = std::move(seen);
    }
    if (!first) {
      return refuse(
          fmt::format("{} of it show nothing", counted(std::size_t(program_.runs), "run")));
    }
    checks_itself_ = first->status != 0;
    keeps_bytes_ = std::ranges::all_of(first->verdict.findings, [](const vgpu::Finding& finding) {
      return finding.kind == vgpu::FindingKind::out_of_bounds || reads_unwritten_variable(finding);
    });
    if (first->verdict.findings.empty()) keeps_bytes_ = false;
    const bool is_of_host = holds_with_host_change(first->verdict);
    const std::string why = find_sources(*first);
    if (is_of_host) {
      if (why.empty()) patch_host_code();
      return std::move(fix_);
    }
    if (!why.empty()) return refuse(why);
    if (names_host_code(first->verdict) && patch_host_code()) return std::move(fix_);
    expect_of(causes_of_program({.run = &first->run,
                                 .settings = settings_of(known_.front(), {}),
                                 .findings = first->verdict.findings,
                                 .seconds = limit_s_ / kTimesFirst},
                                supervisor_, runner_));
    Fix fix = search();
    if (fix.refusal.empty() || supervisor_.is_stopped()) return fix;
    fix_ = {};
    return patch_host_code() ? std::move(fix_) : fix;
  }

 private:
  // What a run has shown.
  struct Seen {
    ProgramRun run;
    Verdict verdict;
    int status = 0;
    bool ended = true;
    std::uint64_t instructions = 0;
    RunOutput output;
    std::map<std::string, cudart::KernelRecord> kernels;  // by their names
  };

  // Whether a change of the host's code alone leaves nothing that fails; sets what it is.
  bool holds_with_host_change(const Verdict& failing) {
    for (const vgpu::Finding& finding : failing.findings) {
      for (const Change& change : host_changes(finding, {}, checks_itself_)) {
        step(fmt::format("supposes {}", change.text));
        supposed_ = change.supposed;
        const bool is_silent = runs_silently_supposing();
        supposed_ = {};
        if (!is_silent) continue;
        fix_.host_change = change.text;
        return true;
      }
    }
    return false;
  }

  bool runs_silently_supposing() {
    fix_.trials = 0;
    for (const auto& [model, name] : kWarpModelNames) {
      for (int number = 1; number <= program_.runs; ++number) {
        if (supervisor_.is_stopped() || is_bad(see({.model = model, .number = number}, {})))
          return false;
        ++fix_.trials;
      }
    }
    return true;
  }

  // Whether a finding tells that a call of the host has gone before it.
  static bool names_host_code(const Verdict& failing) {
    return std::ranges::any_of(failing.findings, [](const vgpu::Finding& finding) {
      return !finding.cause.empty() || finding.kind == vgpu::FindingKind::api_error ||
             finding.kind == vgpu::FindingKind::invalid_free;
    });
  }

  // The program of one file is built again with each change of its host code, until one is
  // verified.
  bool patch_host_code() {
    if (units().size() != 1 || tried_host_) return false;
    tried_host_ = true;
    const std::uint64_t trials = fix_.trials;
    const std::optional<Seen> unchanged = see_built({});
    if (!unchanged || !unchanged->verdict.failed()) return false;
    const Verdict failing = named_as_in_patches(unchanged->verdict);
    std::size_t builds = 0;
    for (const Patch& patch : host_patches_for(sources(), failing, evidence() != Evidence::none)) {
      if (++builds > kHostBuildsMax || supervisor_.is_stopped()) break;
      step(fmt::format("tries {}", patch.what.front()));
      const std::optional<Seen> seen = see_built(changed_by(patch));
      if (!seen) continue;
      ++fix_.tried;
      if (is_bad(*seen) || !built_runs_silently()) continue;
      FixAttempt attempt;
      attempt.patch = patch;
      attempt.steps = seen->instructions;
      fix_.steps_before = unchanged->instructions;
      fix_.is_of_host = true;
      accept(attempt);
      built_.reset();
      return true;
    }
    built_.reset();
    fix_.trials = trials;
    return false;
  }

  // The known failing run of the program built again; nothing: it cannot be built.
  std::optional<Seen> see_built(const ChangedFiles& changed) {
    built_.reset();
    const fs::path folder = program_.directory / "built";
    fs::create_directories(folder / "run");
    const fs::path program = folder / fs::path(program_.path).filename();
    std::string why;
    if (!build_program(units().front(), changed, program, why)) return std::nullopt;
    built_ = std::make_unique<ProgramRunner>(supervisor_, program.string(), program_.arguments,
                                             drop_in_directory(), folder / "run");
    return see(known_.front(), {});
  }

  // All schedules, in both warp models.
  bool built_runs_silently() {
    fix_.trials = 0;
    for (const auto& [model, name] : kWarpModelNames) {
      std::optional<RunOutput> first;
      for (int number = 1; number <= program_.runs; ++number) {
        Seen seen = see({.model = model, .number = number}, {});
        if (supervisor_.is_stopped() || is_bad(seen)) return false;
        if (!first) first = seen.output;
        if (!agrees({.model = model, .number = number}, {}, *first, seen.output)) return false;
        if (number == 1 && !has_own_output(Build::optimized, seen.output)) return false;
        ++fix_.trials;
      }
    }
    return true;
  }

  static bool is_bad(const Seen& seen) {
    return seen.verdict.failed() || !seen.verdict.refusals.empty() || !seen.ended ||
           seen.status != 0;
  }

  cudart::ExecSettings settings_of(const RunOfFix& run, std::vector<std::string> texts) const {
    cudart::ExecSettings settings;
    settings.warp_model = run.model;
    if (run.number != 1) {
      const StrategyChoice schedule = policy(static_cast<std::uint64_t>(run.number) - 2);
      settings.strategy = schedule.name;
      settings.seed = schedule.seed + options().seed - 1;
    }
    settings.memory_bytes = memory_bytes_;
    settings.devices = program_.devices;
    settings.jobs = std::max(1u, std::thread::hardware_concurrency());
    settings.host_bytes = true;
    settings.code = texts.empty();
    settings.kept_bytes = kept_;
    settings.host_inputs = !kept_.empty();
    settings.texts = std::move(texts);
    settings.supposed = supposed_;
    return settings;
  }

  // texts: files with the code of the units; none: the program's own
  Seen see(const RunOfFix& how, const std::vector<std::string>& texts) {
    ProgramRunner& runner = built_ ? *built_ : runner_;
    if (limit_s_ > 0) runner.set_timeout(limit_s_);
    const auto begin = std::chrono::steady_clock::now();
    const ProgramRun run = runner.run(settings_of(how, texts), runner.directory() / "silent");
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    if (limit_s_ == 0) limit_s_ = kTimesFirst * took.count() + kMoreSeconds;
    ProgramReport report(ExpectedFindings(), program_.path);
    report.add(run);
    Seen seen;
    for (ProgramReport::Found& found : report.findings) {
      if (found.finding.severity == vgpu::Severity::error) {
        seen.verdict.findings.push_back(std::move(found.finding));
      }
    }
    seen.verdict.launches = report.launches;
    seen.verdict.refusals = report.refusals;
    seen.status = run.status;
    seen.ended = run.ended && !run.timed_out && run.signal == 0;
    seen.instructions = instructions_of_threads(report);
    seen.output = output_of(run);
    for (const cudart::ExecRecord& record : run.records) {
      if (const auto* const kernel = std::get_if<cudart::KernelRecord>(&record.what)) {
        seen.kernels.emplace(kernel->name, *kernel);
      }
    }
    seen.run = run;
    if (!texts.empty()) require_stand_ins(seen);
    return seen;
  }

  // A patch is verified only with the patched code.
  void require_stand_ins(Seen& seen) const {
    for (const SourceUnit& unit : units()) {
      for (const std::string& name : unit.kernels) {
        const auto kernel = seen.kernels.find(name);
        if (kernel == seen.kernels.end() || kernel->second.stands_in) continue;
        seen.verdict.refusals.push_back(
            fmt::format("{}, compiled again, does not define all kernels and variables of its unit "
                        "in the program; --nvcc gives the options of its build",
                        unit.source.path));
        return;
      }
    }
  }

  // The files that a patch may change, and the units that they are compiled in.  Returns why there
  // are none.
  std::string find_sources(const Seen& seen) {
    std::map<std::string, SourceUnit> units;
    std::string why = "the program has no lines: build it with -lineinfo";
    for (const auto& [name, kernel] : seen.kernels) {
      has_blocks_of(kernel.threads);
      if (kernel.file.empty()) continue;
      const fs::path file = fs::weakly_canonical(kernel.file);
      if (!may_change(file)) {
        why = fmt::format("{} is not below {}, or belongs to a library", file.string(),
                          root_.string());
        continue;
      }
      const std::optional<fs::path> unit = unit_of(file);
      if (!unit) {
        why = fmt::format("which file includes {} and is compiled is not known", file.string());
        continue;
      }
      SourceUnit& one = units[unit->string()];
      one.source.path = unit->string();
      one.source.root = root_.string();
      one.kernels.push_back(name);
      one.target = kernel.target;
      one.is_pair = false;
      one.is_relocatable =
          !kernel.code.empty() && ptx::parts_of(text_of_file(kernel.code)).size() > 1;
      add(file);
    }
    add_parts_of(seen.verdict, units);
    for (auto& [path, unit] : units) {
      unit.options = options_for(path);
      add(path);
      add_unit(std::move(unit));
    }
    if (units.empty()) return why;
    for (const vgpu::Finding& finding : seen.verdict.findings) {
      for (const vgpu::AccessSide& side : finding.accesses) {
        if (side.file.empty()) continue;
        const fs::path file = fs::weakly_canonical(side.file);
        if (may_change(file)) add(file);
      }
    }
    return {};
  }

  // Device functions of relocatable code may lie in files that have no kernel.
  void add_parts_of(const Verdict& verdict, std::map<std::string, SourceUnit>& units) const {
    const auto part =
        std::ranges::find_if(units, [](const auto& unit) { return unit.second.is_relocatable; });
    if (part == units.end()) return;
    const SourceUnit like = part->second;
    for (const vgpu::Finding& finding : verdict.findings) {
      for (const vgpu::AccessSide& side : finding.accesses) {
        if (side.file.empty() || side.ptx.empty()) continue;
        const fs::path file = fs::weakly_canonical(side.file);
        if (!is_compiled(file) || !may_change(file) || units.contains(file.string())) continue;
        SourceUnit& one = units[file.string()];
        one = like;
        one.source.path = file.string();
        one.kernels.clear();
      }
    }
  }

  [[nodiscard]] bool may_change(const fs::path& file) const {
    return is_below_folder(file, root_) && fs::exists(file) &&
           !vgpu::is_library_header(file.string());
  }

  // The compiled file that includes a header: the only one beside it.
  static std::optional<fs::path> unit_of(const fs::path& file) {
    if (is_compiled(file)) return file;
    std::optional<fs::path> found;
    std::error_code error;
    for (const fs::directory_entry& entry : fs::directory_iterator(file.parent_path(), error)) {
      if (!is_compiled(entry.path())) continue;
      if (text_of_file(entry.path()).find(file.filename().string()) == std::string::npos) continue;
      if (found) return std::nullopt;
      found = entry.path();
    }
    return found;
  }

  void add(const fs::path& file) {
    add_source(file.lexically_relative(root_).string(), file.string());
  }

  [[nodiscard]] std::vector<std::string> options_for(const std::string& path) const {
    if (!program_.nvcc.empty()) return shell_words(program_.nvcc);
    std::vector<fs::path> folders{fs::current_path()};
    for (fs::path at = fs::weakly_canonical(program_.path).parent_path(); at != at.parent_path();
         at = at.parent_path()) {
      folders.push_back(at);
      if (at == root_) break;
    }
    folders.push_back(root_);
    return options_of_build(path, folders).value_or(std::vector<std::string>());
  }

  [[nodiscard]] Evidence evidence() const override {
    if (checks_itself_) return Evidence::results;
    return keeps_bytes_ ? Evidence::same_bytes : Evidence::none;
  }

  // Names in findings are relative to the current folder; in patches, to the root.
  Verdict named_as_in_patches(Verdict verdict) const {
    for (vgpu::Finding& finding : verdict.findings) {
      for (vgpu::AccessSide& side : finding.accesses) {
        side.rename_files([&](const std::string& name) {
          const fs::path file = fs::weakly_canonical(name);
          return is_below_folder(file, root_) ? file.lexically_relative(root_).string() : name;
        });
      }
    }
    return verdict;
  }

  // Writes the code of an attempt; nothing: it does not compile.
  std::optional<std::vector<std::string>> texts_of(FixAttempt& attempt, Build build) {
    if (!compile(attempt, build)) return std::nullopt;
    std::vector<std::string> files;
    for (std::size_t i = 0; i < units().size(); ++i) {
      const fs::path file = program_.directory / fmt::format("unit-{}.ptx", i);
      const cudart::BuildTexts& texts = attempt.texts[i];
      std::ofstream(file, std::ios::binary)
          << (build == Build::optimized ? texts.optimized : texts.unoptimized);
      files.push_back(file.string());
    }
    return files;
  }

  // Nothing: the run is as it should be.
  std::optional<Verdict> failing_verdict(const RunOfFix& how, const std::vector<std::string>& texts,
                                         std::uint64_t* instructions = nullptr) {
    Seen seen = see(how, texts);
    if (instructions != nullptr) *instructions = seen.instructions;
    if (is_bad(seen)) return named_as_in_patches(as_failure(std::move(seen)));
    if (how.shows_change && !differences(plain_, seen.output).empty()) return output_verdict();
    if (!how.shows_in_output) return std::nullopt;
    RunOfFix first = how;
    first.number = 1;
    Seen other = see(first, texts);
    if (is_bad(other)) return named_as_in_patches(as_failure(other));
    return agrees(how, texts, other.output, seen.output) ? std::nullopt
                                                         : std::optional(output_verdict());
  }

  // A run that fails without a finding: by its exit status alone.
  static Verdict as_failure(Seen seen) {
    if (seen.verdict.failed() || !seen.verdict.refusals.empty()) return std::move(seen.verdict);
    vgpu::Finding finding;
    finding.kind = seen.ended ? vgpu::FindingKind::mismatch : vgpu::FindingKind::deadlock;
    finding.message = seen.ended ? fmt::format("the program ends with status {}", seen.status)
                                 : "the program does not end";
    seen.verdict.findings.push_back(std::move(finding));
    return std::move(seen.verdict);
  }

  static Verdict output_verdict() {
    Verdict verdict;
    verdict.launches = 1;
    vgpu::Finding finding;
    finding.kind = vgpu::FindingKind::mismatch;
    finding.message = "what the program brings to the host changes";
    verdict.findings.push_back(std::move(finding));
    return verdict;
  }

  void evaluate(FixAttempt& attempt) override {
    attempt.failing.reset();
    attempt.passed = 0;
    for (const RunOfFix& run : known_) {
      const auto texts = texts_of(attempt, run.build);
      if (!texts) return;
      std::uint64_t instructions = 0;
      attempt.failing = failing_verdict(run, *texts, &instructions);
      if (attempt.passed == 0) attempt.steps = instructions;
      if (attempt.failing) return;
      ++attempt.passed;
    }
  }

  // All schedules, in both builds and warp models.
  bool verify(FixAttempt& attempt) override {
    fix_.trials = 0;
    for (const Build build : {Build::optimized, Build::unoptimized}) {
      const auto texts = texts_of(attempt, build);
      if (!texts) return false;
      for (const auto& [model, name] : kWarpModelNames) {
        std::optional<RunOutput> first;
        for (int number = 1; number <= program_.runs; ++number) {
          if (supervisor_.is_stopped()) return false;
          const RunOfFix run{.build = build, .model = model, .number = number};
          Seen seen = see(run, *texts);
          if (is_bad(seen)) return learn(run);
          if (!first) {
            first = seen.output;
            if (!has_own_output(build, *first)) {
              return learn({.build = build, .model = model, .shows_change = true});
            }
          }
          if (!agrees(run, *texts, *first, seen.output)) {
            return learn({build, model, number, true, false});
          }
          ++fix_.trials;
        }
      }
    }
    fix_.cases = known_.size();
    return true;
  }

  // Whether a run brings to the host what the first run of its build and model does.
  bool agrees(const RunOfFix& how, const std::vector<std::string>& texts, RunOutput& first,
              RunOutput& other) {
    constexpr std::size_t kKeptMax = 64;
    const auto repeat = [&](std::span<const OutputKey> keys) {
      for (const OutputKey& key : keys) {
        const bool is_kept = std::ranges::find(kept_, key.operation) != kept_.end();
        if (!is_kept && kept_.size() < kKeptMax) kept_.push_back(key.operation);
      }
      RunOutput again = see({.build = how.build, .model = how.model}, texts).output;
      return std::pair(std::move(again), see(how, texts).output);
    };
    return checks_itself_ || agree(first, other, repeat);
  }

  // Accesses out of bounds do nothing here, and unwritten shared memory holds zeros, so a bound
  // that only leaves them out, or a first zero, changes nothing that reaches the host.
  [[nodiscard]] bool has_own_output(Build build, const RunOutput& patched) const {
    if (checks_itself_ || !keeps_bytes_ || build != Build::optimized) return true;
    return differences(plain_, patched).empty();
  }

  bool learn(const RunOfFix& run) {
    known_.push_back(run);
    return false;
  }

  const ProgramToFix& program_;
  Supervisor& supervisor_;
  ProgramRunner runner_;
  std::unique_ptr<ProgramRunner> built_;  // of the program built again; then it is run
  const std::uint64_t memory_bytes_ = cudart::device_memory_of_host();
  const fs::path root_ = patch_root();
  double limit_s_ = 0;  // of a run
  std::vector<RunOfFix> known_;
  RunOutput plain_;                  // of the program as it is, run 1
  std::vector<std::uint32_t> kept_;  // operations whose bytes are compared
  cudart::Suppositions supposed_;
  bool checks_itself_ = false;  // its exit status says whether its results are right
  // It does nothing wrong but leave its arrays, or read shared memory that is unwritten: what it
  // brings to the host must stay the same.
  bool keeps_bytes_ = false;
  bool tried_host_ = false;
};

}  // namespace

fs::path patch_root() {
  const fs::path here = fs::current_path();
  for (fs::path at = here; at != at.parent_path(); at = at.parent_path()) {
    if (fs::exists(at / ".git")) return at;
  }
  return here;
}

Fix fix_program(const ProgramToFix& program, Supervisor& supervisor, const FixOptions& options) {
  return ProgramFix(program, supervisor, options).run();
}

}  // namespace warpcheck
