// From bytes to a case of a pair: how a fuzz target runs an input.
//
// The data is drawn from the front of the bytes, the schedule is decoded from the back
// (input_layout.hpp).  A failure becomes an ordinary case with its typed input and its recorded
// schedule, so the one shrinker and the one replay handle it.
//
// This code links neither RapidCheck nor libFuzzer.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "fuzz/feedback.hpp"
#include "harness/report/report.hpp"
#include "harness/search/search.hpp"
#include "harness/search/search_loop.hpp"
#include "harness/shrink/shrink.hpp"
#include "harness/trial/line_coverage.hpp"
#include "harness/trial/trial.hpp"

namespace warpcheck::fuzz {

// How an input is interpreted, beyond its bytes.
struct InputOptions {
  // Absent: the input's mode byte selects it.
  std::optional<cudart::Build> build;
  std::optional<vgpu::WarpModel> warp_model;
  bool feedback = true;  // false: one counter steps on every input, because libFuzzer requires one
  bool lines = false;    // whether to count source lines, for reports
};

// A kernel uses an unsupported instruction or call, so its pair cannot be run.
class UnsupportedError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Runs inputs as trials of one pair.  One at a time in a process.
class InputRunner {
 public:
  // counters: kCounters of them, zeroed by their owner before each input.
  InputRunner(const AnyPair& pair, std::span<std::uint8_t> counters, InputOptions options = {});

  // The case of the bytes; ByteSchedule still has to decide its schedule.
  [[nodiscard]] Case decode(std::span<const std::uint8_t> bytes) const;

  // Runs one input for a search (SearchLoop::take()).  Empty: it is outside the pair's domain.
  std::optional<TriedCase> try_input(std::span<const std::uint8_t> bytes);
  // Runs one input outside a search.  Empty: it did not fail, or it is outside the pair's domain.
  // Throws UnsupportedError.
  std::optional<Failure> run(std::span<const std::uint8_t> bytes);

  [[nodiscard]] std::uint64_t executions() const { return executions_; }
  // Of the last trial; lives as long as this object.
  [[nodiscard]] const TrialShape& shape() const { return feedback_->shape(); }
  // The source lines that all inputs executed; empty if not counted.
  [[nodiscard]] std::optional<LineCoverage> coverage() const;
  // Runs trials without feedback: for the shrinker.
  [[nodiscard]] TrialRunner& plain_runner() { return plain_runner_; }

 private:
  // The virtual GPU with the feedback as one more observer.
  class WatchedEngine final : public Engine {
   public:
    explicit WatchedEngine(Feedback& feedback) : feedback_(feedback) {}
    TrialResult run(const TrialSettings& settings, FunctionRef<void()> body) override;

   private:
    Feedback& feedback_;
  };

  // Feedback that also counts source lines.
  class LineFeedback final : public Feedback {
   public:
    using Feedback::Feedback;
    void on_sync(const vgpu::Sync& sync) override;
    void on_edge(std::uint32_t from, std::uint32_t to, const vgpu::Program& program) override;
    CoverageObserver lines;
  };

  std::unique_ptr<Feedback> make_feedback(std::span<std::uint8_t> counters);

  const AnyPair& pair_;
  std::span<std::uint8_t> counters_;
  InputOptions options_;
  std::vector<std::uint8_t> unseen_;         // the counters of a search without feedback
  const CoverageObserver* lines_ = nullptr;  // of a LineFeedback
  std::unique_ptr<Feedback> feedback_;
  WatchedEngine watched_;
  TrialRunner watched_runner_{watched_};
  TrialRunner plain_runner_;
  std::uint64_t executions_ = 0;
};

// Throws UnsupportedError if a search has found a kernel that cannot be run, with its name and the
// reason.
void require_runnable(const SearchLoop& search);

// The directory for the cases of a pair.
[[nodiscard]] std::filesystem::path case_directory(const std::filesystem::path& root,
                                                   const AnyPair& pair);

struct SavedFailure {
  Report report;            // with the path of its case, if that is saved
  std::string not_saved{};  // why a case was not saved; empty: all were
};

// Saves the failing case at once, so that a kill loses nothing, then shrinks it and saves the
// smallest case in its place.
SavedFailure shrink_and_save(const Failure& failed, const std::filesystem::path& directory,
                             std::uint64_t executions, TrialRunner& runner,
                             const ShrinkOptions& options = {});

}  // namespace warpcheck::fuzz
