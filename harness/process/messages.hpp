// What workers and their parent tell each other: typed messages, each with its tag.  Their text is
// made and read in one place (protocol.hpp).
//
// Who sends what is said at each group.  A receiver that gets a message which is not for it says so
// (unexpected(), protocol.hpp).
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "harness/input/fields.hpp"
#include "harness/prove/proof.hpp"
#include "harness/trial/line_coverage.hpp"
#include "vgpu/check/finding.hpp"

namespace warpcheck {

template <>
struct FieldTraits<vgpu::FindingKind> {
  static Json to_json(vgpu::FindingKind kind);
  static vgpu::FindingKind from_json(const Json& json, const FieldPath& path);
  static bool identical(vgpu::FindingKind a, vgpu::FindingKind b) { return a == b; }
};

template <>
struct FieldTraits<vgpu::Lack> {
  static Json to_json(vgpu::Lack lack);
  static vgpu::Lack from_json(const Json& json, const FieldPath& path);
  static bool identical(vgpu::Lack a, vgpu::Lack b) { return a == b; }
};

// --- of every worker, read by the pool (worker_pool.hpp) ----------------------------------------

// The first of all.
struct HelloMessage {
  static constexpr std::string_view kTag = "hello";
  std::uint32_t version = 0;
};
FIELDS(HelloMessage, version);

// The last: its work is done.
struct DoneMessage {
  static constexpr std::string_view kTag = "done";
};
FIELDS(DoneMessage);

// The last: an exception left its work.
struct ThrewMessage {
  static constexpr std::string_view kTag = "threw";
  std::string what{};
};
FIELDS(ThrewMessage, what);

// --- of searches: hunt, fuzz, campaign, trials on a GPU -----------------------------------------

// How many there were; the last of a search or, on a GPU, of a job.
struct TrialsMessage {
  static constexpr std::string_view kTag = "trials";
  std::uint64_t count = 0;
};
FIELDS(TrialsMessage, count);

// How many of them stand for every schedule of their input (Verdict::for_every_schedule).
struct EveryScheduleMessage {
  static constexpr std::string_view kTag = "every-schedule";
  std::uint64_t trials = 0;
};
FIELDS(EveryScheduleMessage, trials);

// What is proved of some inputs of a clean pair (prove/proof.hpp).
struct ProofMessage {
  static constexpr std::string_view kTag = "proof";
  SampleProof of{};
};
FIELDS(ProofMessage, of);

// The pair cannot be run.
struct RefusalMessage {
  static constexpr std::string_view kTag = "refusal";
  std::string reason{};
};
FIELDS(RefusalMessage, reason);

// The worker cannot go on: a file, the device.
struct ErrorMessage {
  static constexpr std::string_view kTag = "error";
  std::string text{};
};
FIELDS(ErrorMessage, text);

// The worker cannot go on, and nobody foresaw why.
struct InternalErrorMessage {
  static constexpr std::string_view kTag = "internal-error";
  std::string text{};
};
FIELDS(InternalErrorMessage, text);

// Kinds of everything that failed under a claim, whether or not it is worth a report.
struct KindsMessage {
  static constexpr std::string_view kTag = "kinds";
  std::vector<vgpu::FindingKind> kinds{};
};
FIELDS(KindsMessage, kinds);

// A failure, shrunk.  The parent runs the case again for its verdict.
struct FailureMessage {
  static constexpr std::string_view kTag = "failure";
  std::string case_text{};  // empty: it is saved
  std::string path{};       // where; empty: nowhere yet
  std::uint64_t trials = 0;
  std::uint64_t shrinks = 0;
  bool complete = false;
};
FIELDS(FailureMessage, case_text, path, trials, shrinks, complete);

// Why finding nothing means nothing (search/health.hpp).
struct UnhealthyMessage {
  static constexpr std::string_view kTag = "unhealthy";
  std::string property{};
  std::uint64_t of_trials = 0;
  std::string check{};
  std::string message{};
};
FIELDS(UnhealthyMessage, property, of_trials, check, message);

// Which source lines ran.
struct LinesMessage {
  static constexpr std::string_view kTag = "lines";
  LineCoverage coverage{};
};
FIELDS(LinesMessage, coverage);

// --- of proofs, point by point ------------------------------------------------------------------

// What is known of a point in one build.
struct PointOutcome {
  Proof proof = Proof::tried;
  std::string reason{};
  bool same_bytes = false;
  std::string varies{};
  std::uint64_t executions = 0;
  bool cut = false;         // there were too many of them
  bool refused = false;     // it cannot be run, as the reason says
  std::string case_text{};  // where it failed; empty: this worker has told one with this reason
};
FIELDS(PointOutcome, proof, reason, same_bytes, varies, executions, cut, refused, case_text);

// A row is a point in one build: the number of its size and block in the plan, its grid, the build,
// and which of the outcomes is its own; the last is its own where executions were too many at a
// smaller point.
struct ProvedMessage {
  static constexpr std::string_view kTag = "proved";
  std::vector<std::string> versions{};  // of the kernels, by build; empty: nobody asks
  std::vector<PointOutcome> outcomes{};
  std::vector<std::uint64_t> planned{};  // sizes and blocks of the plan that are done
  std::vector<std::array<std::uint32_t, 5>> rows{};
};
FIELDS(ProvedMessage, versions, outcomes, planned, rows);

// --- of campaigns -------------------------------------------------------------------------------

// One of the findings that a case shows.
struct ShownFinding {
  std::string hash{};
  std::string kind{};
  std::string place{};
};
FIELDS(ShownFinding, hash, kind, place);

// A failure as it was met.
struct FoundMessage {
  static constexpr std::string_view kTag = "found";
  std::string pair{};
  std::string case_text{};
  std::int64_t executions = 0;
  std::vector<ShownFinding> findings{};
  bool fails = true;  // false: it passes now, and these are the findings that it recorded
};
FIELDS(FoundMessage, pair, case_text, executions, findings, fails);

struct ShrunkMessage {
  static constexpr std::string_view kTag = "shrunk";
  bool kept = false;  // the case did show the finding again
  std::string case_text{};
  std::int64_t shrinks = 0;
  bool complete = false;
  std::vector<ShownFinding> findings{};
};
FIELDS(ShrunkMessage, kept, case_text, shrinks, complete, findings);

struct ConfirmedMessage {
  static constexpr std::string_view kTag = "confirmed";
  bool confirmed = false;
  std::int64_t shown = 0;
  std::int64_t schedules = 0;
};
FIELDS(ConfirmedMessage, confirmed, shown, schedules);

// The last of a search.
struct SearchedMessage {
  static constexpr std::string_view kTag = "searched";
  std::int64_t features = 0;
  std::int64_t entries = 0;
};
FIELDS(SearchedMessage, features, entries);

// A line for the user: of a damaged corpus entry, and the like.
struct RemarkMessage {
  static constexpr std::string_view kTag = "remark";
  std::string text{};
};
FIELDS(RemarkMessage, text);

// --- of trials on a GPU: from the parent, in the file of a task (gpu/gpu_run.hpp) ---------------

struct GpuTaskMessage {
  static constexpr std::string_view kTag = "gpu-task";
  std::string runtime{};
  std::uint64_t seed = 0;
  int trials = 0;
};
FIELDS(GpuTaskMessage, runtime, seed, trials);

struct GpuJobMessage {
  static constexpr std::string_view kTag = "gpu-job";
  std::string pair{};
  std::string property{};
  std::string case_path{};
  std::uint64_t first = 0;
  std::uint64_t count = 0;
};
FIELDS(GpuJobMessage, pair, property, case_path, first, count);

// --- and from the worker ------------------------------------------------------------------------

struct GpuDeviceMessage {
  static constexpr std::string_view kTag = "gpu-device";
  std::string text{};
};
FIELDS(GpuDeviceMessage, text);

// A trial begins: told before it, as it may be the last of its process.
struct GpuTrialMessage {
  static constexpr std::string_view kTag = "gpu-trial";
  std::uint64_t job = 0;
  std::uint64_t trial = 0;
};
FIELDS(GpuTrialMessage, job, trial);

struct GpuFinding {
  vgpu::FindingKind kind{};
  std::string kernel{};
  vgpu::Lack lack{};
  std::string message{};
};
FIELDS(GpuFinding, kind, kernel, lack, message);

// A trial failed, and its job ends there.
struct GpuFailureMessage {
  static constexpr std::string_view kTag = "gpu-failure";
  std::uint64_t trial = 0;
  std::uint64_t launches = 0;
  std::vector<GpuFinding> findings{};
};
FIELDS(GpuFailureMessage, trial, launches, findings);

// --- all of them --------------------------------------------------------------------------------

using Message =
    std::variant<HelloMessage, DoneMessage, ThrewMessage, TrialsMessage, EveryScheduleMessage,
                 ProofMessage, RefusalMessage, ErrorMessage, InternalErrorMessage, KindsMessage,
                 FailureMessage, UnhealthyMessage, LinesMessage, ProvedMessage, FoundMessage,
                 ShrunkMessage, ConfirmedMessage, SearchedMessage, RemarkMessage, GpuTaskMessage,
                 GpuJobMessage, GpuDeviceMessage, GpuTrialMessage, GpuFailureMessage>;

// For std::visit(): a function for each message that its receiver knows, and one of `const auto&`
// for all others.
template <class... Functions>
struct Overloaded : Functions... {
  using Functions::operator()...;
};
template <class... Functions>
Overloaded(Functions...) -> Overloaded<Functions...>;

}  // namespace warpcheck
