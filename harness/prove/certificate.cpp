#include "harness/prove/certificate.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <utility>

#include "harness/prove/points.hpp"
#include "harness/trial/trial.hpp"
#include "harness/trial/watched_engine.hpp"
#include "vgpu/check/proof/value_flow.hpp"
#include "vgpu/schedule/default_policy.hpp"

namespace warpcheck {
namespace {

using vgpu::ValueFlow;

// Runs the kernel alone, watched by `observer`; no checker looks.
void run_watched(const Case& a_case, Engine& engine, vgpu::Observer& observer) {
  vgpu::DefaultPolicy policy;
  TrialSettings settings{.build = a_case.settings.build,
                         .warp_model = a_case.settings.warp_model,
                         .limits = a_case.settings.limits,
                         .strategy = &policy,
                         .extra_observer = &observer};
  for (const auto& row : vgpu::kCheckers) settings.checkers.*row.enabled = false;
  engine.run(settings, [&] {
    try {
      static_cast<void>(a_case.pair->run_kernel(a_case.input));
    } catch (const std::exception&) {  // the ordinary run has told
    }
  });
}

// The numbers of an array, changed in place; whatever else it holds stays.
void change(Json& value, unsigned which) {
  if (value.is_object()) {
    for (auto& item : value.items()) change(item.value(), which);
    return;
  }
  if (!value.is_array() || value.empty()) return;
  if (value.front().is_array() || value.front().is_object()) {
    for (Json& one : value) change(one, which);
    return;
  }
  switch (which) {
    case 0: std::reverse(value.begin(), value.end()); break;
    case 1: std::fill(value.begin(), value.end(), Json(value.back())); break;
    default: {
      const Json zero = value.front().is_number_float() ? Json(0.0) : Json(0);
      std::fill(value.begin(), value.end(), zero);
    }
  }
}

void change_data(Json& input, unsigned which) {
  for (auto& item : input.items()) {
    if (!is_launch(item.value())) change(item.value(), which);
  }
}

// Whether the host asks for the same, whatever the data.
std::string difference_of_calls(const Case& a_case, Engine& engine, std::uint64_t calls) {
  for (unsigned which = 0; which < kOtherData; ++which) {
    Case other = a_case;
    other.input = with_other_data(*a_case.pair, a_case.input, which);
    if (other.input == nullptr) continue;
    vgpu::HostCalls watched;
    run_watched(other, engine, watched);
    if (watched.hash() != calls) return "data decides what the host asks of the device";
  }
  return {};
}

// Under every schedule; then what the results' bytes depend on.
bool prove_schedules(const Case& a_case, Engine& engine, Certificate& certificate) {
  if (certificate.verdict.order_source.empty()) {
    certificate.same_bytes = true;
    return true;
  }
  ValueFlow order({.data = false, .order = true});
  run_watched(a_case, engine, order);
  if (!order.obstacles().empty()) {
    certificate.reason = text_of(order.obstacles().front(), "the order of threads");
    return false;
  }
  certificate.same_bytes = order.results().empty();
  if (!certificate.same_bytes) {
    const vgpu::AccessSide& from = order.results().front().at;
    certificate.varies = fmt::format("{}:{} {}", from.file.substr(from.file.find_last_of('/') + 1),
                                     from.line, from.ptx);
  }
  return true;
}

std::string obstacle_to_all_data(const Case& a_case, Engine& engine, const Verdict& verdict,
                                 const vgpu::UndefinedValues& plain) {
  if (!plain.obstacles().empty()) return text_of(plain.obstacles().front(), "data");
  ValueFlow flow({.data = true, .order = !verdict.order_source.empty()});
  run_watched(a_case, engine, flow);
  if (!flow.obstacles().empty()) return text_of(flow.obstacles().front(), "data");
  return difference_of_calls(a_case, engine, plain.hash());
}

}  // namespace

std::string_view name_of(Proof proof) {
  switch (proof) {
    case Proof::failed: return "failed";
    case Proof::tried: return "tried";
    case Proof::every_execution: return "every-execution";
    case Proof::every_schedule: return "every-schedule";
    case Proof::all_data: return "all-data";
  }
  return "";
}

Proof proof_named(std::string_view name) {
  for (const Proof proof :
       {Proof::failed, Proof::every_execution, Proof::every_schedule, Proof::all_data}) {
    if (name_of(proof) == name) return proof;
  }
  return Proof::tried;
}

std::string_view text_of(Proof proof) {
  switch (proof) {
    case Proof::failed: return "failed";
    case Proof::tried: return "tried only";
    case Proof::every_execution: return "proved for this data: every execution was tried";
    case Proof::every_schedule: return "proved for this data and all schedules";
    case Proof::all_data: return "proved for all data and schedules";
  }
  return "";
}

AnyInput with_other_data(const AnyPair& pair, const AnyInput& input, unsigned which) {
  Json json = pair.to_json(input);
  change_data(json, which);
  try {
    AnyInput other = pair.from_json(json);
    return pair.in_domain(other) ? other : nullptr;
  } catch (const FieldError&) {
    return nullptr;
  }
}

Certificate certify(const Case& given, Engine& engine) {
  Case a_case = given;
  a_case.property.clear();
  a_case.settings.warp_model = vgpu::WarpModel::independent;
  a_case.settings.checkers = {};
  a_case.schedule = vgpu::Schedule{};
  Certificate certificate;
  vgpu::UndefinedValues plain;
  WatchedEngine watched(engine, plain, false);
  certificate.verdict = TrialRunner(watched).run(a_case);
  const Verdict& verdict = certificate.verdict;
  if (!verdict.refusals.empty()) {
    certificate.reason = "cannot run: " + verdict.refusals.front();
    return certificate;
  }
  if (verdict.failed()) {
    certificate.proof = Proof::failed;
    certificate.reason = show_kinds(failure_kinds(verdict));
    return certificate;
  }
  if (!verdict.findings.empty()) {
    certificate.reason = "a note: " + verdict.findings.front().message;
    return certificate;
  }
  if (!prove_schedules(a_case, engine, certificate)) return certificate;
  certificate.proof = Proof::every_schedule;
  certificate.reason = obstacle_to_all_data(a_case, engine, verdict, plain);
  if (certificate.reason.empty()) certificate.proof = Proof::all_data;
  return certificate;
}

}  // namespace warpcheck
