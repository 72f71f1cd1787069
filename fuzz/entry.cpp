#include "fuzz/entry.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

#include "fuzz/byte_schedule.hpp"
#include "fuzz/input_layout.hpp"
#include "harness/case/case_file.hpp"

namespace warpcheck::fuzz {
namespace {

// Incremented for every input, so that libFuzzer sees an instrumented program whatever the kernel
// does.
constexpr std::size_t kAliveCounter = 0;
// The counter of the first claim, so that an input which tries a claim for the first time is kept.
// Edges share these counters only by chance.
constexpr std::size_t kClaimCounters = 1;
constexpr std::size_t kClaimCountersMax = 64;

}  // namespace

TrialResult InputRunner::WatchedEngine::run(const TrialSettings& settings,
                                            FunctionRef<void()> body) {
  feedback_.reset();
  TrialSettings watched = settings;
  watched.want_feedback = true;
  watched.extra_observer = &feedback_;
  return virtual_gpu().run(watched, body);
}

InputRunner::InputRunner(const AnyPair& pair, std::span<std::uint8_t> counters,
                         InputOptions options)
    : pair_(pair),
      counters_(counters),
      options_(options),
      unseen_(options.feedback ? 0 : kCounters),
      feedback_(make_feedback(options.feedback ? counters : std::span(unseen_))),
      watched_(*feedback_) {}

std::unique_ptr<Feedback> InputRunner::make_feedback(std::span<std::uint8_t> counters) {
  if (!options_.lines) return std::make_unique<Feedback>(counters);
  auto feedback = std::make_unique<LineFeedback>(counters);
  lines_ = &feedback->lines;
  return feedback;
}

void InputRunner::LineFeedback::on_sync(const vgpu::Sync& sync) {
  Feedback::on_sync(sync);
  lines.on_sync(sync);
}

void InputRunner::LineFeedback::on_edge(std::uint32_t from, std::uint32_t to,
                                        const vgpu::Program& program) {
  Feedback::on_edge(from, to, program);
  lines.on_edge(from, to, program);
}

std::optional<LineCoverage> InputRunner::coverage() const {
  return lines_ == nullptr ? std::nullopt : std::optional(lines_->coverage());
}

Case InputRunner::decode(std::span<const std::uint8_t> bytes) const {
  const InputLayout layout = split_input(bytes);
  Tape tape = Tape::of_bytes(tape_bytes(layout));
  Draw draw(tape);
  Case drawn;
  drawn.pair = &pair_;
  drawn.input = pair_.draw(draw);
  drawn.tape = tape.recorded();
  if (const auto claim = layout.claim(pair_.properties().size())) {
    drawn.property = pair_.properties()[*claim].name;
  }
  const auto build = layout.unoptimized() ? cudart::Build::unoptimized : cudart::Build::optimized;
  const auto model = layout.lockstep() ? vgpu::WarpModel::lockstep : vgpu::WarpModel::independent;
  drawn.settings.build = options_.build.value_or(build);
  drawn.settings.warp_model = options_.warp_model.value_or(model);
  return drawn;
}

std::optional<TriedCase> InputRunner::try_input(std::span<const std::uint8_t> bytes) {
  ++executions_;
  counters_[kAliveCounter] = 1;
  TriedCase tried{decode(bytes), {}};
  if (!pair_.in_domain(tried.a_case.input)) return std::nullopt;
  const InputLayout layout = split_input(bytes);
  const auto claim = layout.claim(pair_.properties().size());
  if (claim && options_.feedback) {
    counters_[kClaimCounters + *claim % kClaimCountersMax] = 1;
  }
  ByteSchedule schedule(layout);
  tried.verdict = watched_runner_.run_for_search(tried.a_case, schedule);
  // The decisions of the bytes, as recorded.
  if (tried.verdict.failed()) tried.a_case.schedule = tried.verdict.schedule;
  return tried;
}

std::optional<Failure> InputRunner::run(std::span<const std::uint8_t> bytes) {
  std::optional<Failure> failed;
  SearchLoop search({.on_failure = [&](const Failure& failure) { failed = failure; }});
  search.take([&] { return try_input(bytes); });
  require_runnable(search);
  return failed;
}

void require_runnable(const SearchLoop& search) {
  const auto& refused = search.refused();
  if (!refused) return;
  throw UnsupportedError(fmt::format("pair '{}' cannot be run: {}", refused->a_case.pair->name(),
                                     fmt::join(refused->verdict.refusals, "; ")));
}

std::filesystem::path case_directory(const std::filesystem::path& root, const AnyPair& pair) {
  return root / pair.name();
}

SavedFailure shrink_and_save(const Failure& failed, const std::filesystem::path& directory,
                             std::uint64_t executions, TrialRunner& runner,
                             const ShrinkOptions& options) {
  SavedFailure saved;
  Report& report = saved.report;
  report = {.a_case = failed.a_case,
            .verdict = failed.verdict,
            .search = Report::Search{.trials = executions, .shrinks = 0, .complete = false},
            .replay_path = {}};
  CasePlace first;
  try {
    // An existing case of this failure may be smaller.
    first = case_place(directory, failed.a_case, failed.verdict);
    if (!first.is_taken) first.path = keep_case(directory, failed.a_case, failed.verdict);
    report.replay_path = first.path.string();
  } catch (const CaseFileError& error) {
    saved.not_saved = error.what();
  }
  ShrunkCase shrunk = shrink(failed.a_case, runner, options);
  // A failure that its own recording does not show again is kept unshrunk.
  if (!shrunk.kept) return saved;
  std::filesystem::path smallest;
  try {
    smallest = keep_case(directory, shrunk.a_case, shrunk.verdict);
    saved.not_saved.clear();
  } catch (const CaseFileError& error) {
    saved.not_saved = error.what();
    if (!report.replay_path.empty()) return saved;  // what is reported is what its case shows
  }
  if (!smallest.empty() && smallest != first.path && !first.is_taken) {
    std::filesystem::remove(first.path);
  }
  report.a_case = std::move(shrunk.a_case);
  report.verdict = std::move(shrunk.verdict);
  report.search->shrinks = shrunk.shrinks;
  report.search->complete = shrunk.complete;
  report.replay_path = smallest.string();
  return saved;
}

}  // namespace warpcheck::fuzz
