// Messages between workers and their parent, each a type with its tag.  protocol.hpp alone converts
// them to text and back.
//
// Each group says who sends its messages.  A receiver that gets a message it does not expect
// reports it (unexpected(), protocol.hpp).
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "harness/input/fields.hpp"
#include "harness/report/proof.hpp"
#include "harness/trial/line_coverage.hpp"
#include "vgpu/check/finding.hpp"

namespace warpcheck {

template <>
struct FieldTraits<vgpu::FindingKind> {
  static void write(Json& json, vgpu::FindingKind kind);
  static vgpu::FindingKind read(const Json& json, const FieldPath& path);
  static bool identical(vgpu::FindingKind a, vgpu::FindingKind b) { return a == b; }
};

template <>
struct FieldTraits<vgpu::Lack> {
  static void write(Json& json, vgpu::Lack lack);
  static vgpu::Lack read(const Json& json, const FieldPath& path);
  static bool identical(vgpu::Lack a, vgpu::Lack b) { return a == b; }
};

// --- from every worker, read by the pool (worker_pool.hpp) --------------------------------------

// The first message of a worker.
struct HelloMessage {
  static constexpr std::string_view kTag = "hello";
  std::uint32_t version = 0;
};
FIELDS(HelloMessage, version);

// The last message: the work is done.
struct DoneMessage {
  static constexpr std::string_view kTag = "done";
};
FIELDS(DoneMessage);

// The last message: an exception left the work.
struct ThrewMessage {
  static constexpr std::string_view kTag = "threw";
  std::string what{};
};
FIELDS(ThrewMessage, what);

// --- from searches: hunt, fuzz, campaign, trials on a GPU ---------------------------------------

// The number of trials since the last such message; of a search, or, on a GPU, of a job.
struct TrialsMessage {
  static constexpr std::string_view kTag = "trials";
  std::uint64_t count = 0;
};
FIELDS(TrialsMessage, count);

// How many of them hold for every schedule of their input (Verdict::for_every_schedule).
struct EveryScheduleMessage {
  static constexpr std::string_view kTag = "every-schedule";
  std::uint64_t trials = 0;
};
FIELDS(EveryScheduleMessage, trials);

// What is proved for some inputs of a clean pair (prove/proof.hpp).
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

// The worker cannot continue because of a file or the device.
struct ErrorMessage {
  static constexpr std::string_view kTag = "error";
  std::string text{};
};
FIELDS(ErrorMessage, text);

// The worker cannot continue because of an unexpected error.
struct InternalErrorMessage {
  static constexpr std::string_view kTag = "internal-error";
  std::string text{};
};
FIELDS(InternalErrorMessage, text);

// The kinds of all failures of a claim, whether or not they are reported.
struct KindsMessage {
  static constexpr std::string_view kTag = "kinds";
  std::vector<vgpu::FindingKind> kinds{};
};
FIELDS(KindsMessage, kinds);

// A shrunk failure.  The parent runs the case again for its verdict.
struct FailureMessage {
  static constexpr std::string_view kTag = "failure";
  std::string case_text{};  // empty: it is saved
  std::string path{};       // of the saved case; empty: not saved yet
  std::uint64_t trials = 0;
  std::uint64_t shrinks = 0;
  bool complete = false;
};
FIELDS(FailureMessage, case_text, path, trials, shrinks, complete);

// The reason why finding nothing means nothing (search/health.hpp).
struct UnhealthyMessage {
  static constexpr std::string_view kTag = "unhealthy";
  std::string property{};
  std::uint64_t of_trials = 0;
  std::string check{};
  std::string message{};
};
FIELDS(UnhealthyMessage, property, of_trials, check, message);

// The source lines that ran.
struct LinesMessage {
  static constexpr std::string_view kTag = "lines";
  LineCoverage coverage{};
};
FIELDS(LinesMessage, coverage);

// --- from proofs, point by point ----------------------------------------------------------------

// What is known about a point in one build.
struct PointOutcome {
  Proof proof = Proof::tried;
  std::string reason{};
  bool same_bytes = false;
  std::string varies{};
  std::uint64_t executions = 0;
  bool cut = false;         // there were too many executions
  bool refused = false;     // the point cannot be run, for this reason
  std::string case_text{};  // of the failure; empty: one with this reason was sent before
  Equality equality = Equality::none;
  std::string unequal{};  // why it is not certified
};
FIELDS(PointOutcome, proof, reason, same_bytes, varies, executions, cut, refused, case_text,
       equality, unequal);

// A row is a point in one build: the number of its size and block in the plan, its grid, the build,
// the index of its own outcome, and the index of its outcome if executions were too many at a
// smaller point.
struct ProvedMessage {
  static constexpr std::string_view kTag = "proved";
  std::vector<std::string> versions{};  // of the kernels, by build; empty: not requested
  std::vector<PointOutcome> outcomes{};
  std::vector<std::uint64_t> planned{};  // finished sizes and blocks of the plan
  std::vector<std::array<std::uint32_t, 5>> rows{};
};
FIELDS(ProvedMessage, versions, outcomes, planned, rows);

// --- from campaigns -----------------------------------------------------------------------------

// One of the findings of a case.
struct ShownFinding {
  std::string hash{};
  std::string kind{};
  std::string place{};
};
FIELDS(ShownFinding, hash, kind, place);

// A failure as it was found.
struct FoundMessage {
  static constexpr std::string_view kTag = "found";
  std::string pair{};
  std::string case_text{};
  std::int64_t executions = 0;
  std::vector<ShownFinding> findings{};
  bool fails = true;  // false: the case passes now, and these are the findings that it recorded
};
FIELDS(FoundMessage, pair, case_text, executions, findings, fails);

struct ShrunkMessage {
  static constexpr std::string_view kTag = "shrunk";
  bool kept = false;  // the case showed the finding again
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

// The last message of a search.
struct SearchedMessage {
  static constexpr std::string_view kTag = "searched";
  std::int64_t features = 0;
  std::int64_t entries = 0;
};
FIELDS(SearchedMessage, features, entries);

// A line for the user: about a damaged corpus entry, for example.
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

// --- from the worker ----------------------------------------------------------------------------

struct GpuDeviceMessage {
  static constexpr std::string_view kTag = "gpu-device";
  std::string text{};
};
FIELDS(GpuDeviceMessage, text);

// A trial begins; sent before the trial, which may be the last of its process.
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

// A trial failed, which ended its job.
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

// For std::visit(): a function for each message that the receiver expects, and one with `const
// auto&` for all others.
template <class... Functions>
struct Overloaded : Functions... {
  using Functions::operator()...;
};
template <class... Functions>
Overloaded(Functions...) -> Overloaded<Functions...>;

}  // namespace warpcheck
