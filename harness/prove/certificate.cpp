#include "harness/prove/certificate.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <utility>

#include "harness/prove/equality.hpp"
#include "harness/search/search.hpp"
#include "harness/trial/shadow_results.hpp"
#include "harness/trial/watched_run.hpp"

namespace warpcheck {
namespace {

using vgpu::ValueFlow;

constexpr std::uint64_t kDrawsOfSample = 8;

bool has_finite_data(const Case& a_case) {
  return std::ranges::all_of(
      a_case.pair->numbers_of_input(a_case.input).places, [](const NumberPlace& place) {
        return !place.is_float || place.bytes < 4 || std::isfinite(number_at(place));
      });
}

void add_equality(EqualityCertificate equality, Certificate& certificate) {
  certificate.equality = equality.equality;
  certificate.unequal = std::move(equality.reason);
  certificate.counterexample = std::move(equality.counterexample);
  if (!certificate.counterexample) return;
  certificate.proof = Proof::failed;
  certificate.reason = certificate.unequal;
}

}  // namespace

AnyInput with_other_data(const AnyPair& pair, const AnyInput& input, InputEdit::Data other) {
  AnyInput changed = pair.edited(input, {.data = other});
  return pair.identical(changed, input) || !pair.in_domain(changed) ? nullptr : changed;
}

// For every schedule; then the dependences of the results' bytes.
bool Certifier::prove_schedules(const Case& a_case, Certificate& certificate) {
  if (certificate.verdict.order_source.empty()) {
    certificate.same_bytes = true;
    return true;
  }
  if (ordinary_.times_decide_nothing()) {
    certificate.varies = certificate.verdict.order_source;
    return true;
  }
  ValueFlow order({.data = false, .order = true});
  run_watched(a_case, engine_, order, &order.has_obstacle());
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

// For the case's host code.  If the code alone shows that data decides nothing, and results are
// read last, the kernels' results make no difference to it.
std::uint64_t Certifier::calls_of(const Case& a_case) {
  static constexpr bool kAtOnce = true;
  if (!ordinary_.may_be_decided() && ordinary_.results_come_last()) {
    vgpu::Rehearsal rehearsal(ordinary_.result());
    run_watched(a_case, engine_, rehearsal, &kAtOnce);
    return rehearsal.hash();
  }
  vgpu::HostCalls calls;
  run_watched(a_case, engine_, calls);
  return calls.hash();
}

// Host code is the same in both builds.
std::string Certifier::obstacle_of_host(const Case& a_case) {
  const std::uint64_t calls = ordinary_.hash();
  if (input_ == a_case.input && calls_ == calls) return {};
  bool is_tried = false, is_same = true;
  const auto try_with = [&](InputEdit::Data other) {
    Case changed = a_case;
    changed.input = with_other_data(*a_case.pair, a_case.input, other);
    if (changed.input == nullptr) return;
    is_tried = true;
    is_same = is_same && calls_of(changed) == calls;
  };
  for (const InputEdit::Data other : kOtherData) try_with(other);
  if (!is_tried) try_with(InputEdit::Data::ones);
  if (!is_tried) is_tried = a_case.pair->size_of(a_case.input).elements == 0;
  if (!is_same) return "data decides what the host asks of the device";
  if (!is_tried) return "the domain has no other data to try the host with";
  input_ = a_case.input;
  calls_ = calls;
  return {};
}

bool Certifier::shows_order(const Verdict& verdict) const {
  return !verdict.order_source.empty() && !ordinary_.times_decide_nothing();
}

std::string Certifier::obstacle_to_all_data(const Case& a_case, const Verdict& verdict) {
  data_decides_.reset();
  if (!ordinary_.obstacles().empty()) return text_of(ordinary_.obstacles().front(), "data");
  if (const vgpu::Obstacle* const again = data_decisions_.again()) {
    data_decides_ = again->kind;
    return text_of(*again, "data");
  }
  if (shows_order(verdict) || ordinary_.may_be_decided()) {
    has_followed_data_ = true;
    ValueFlow flow({.data = true, .order = shows_order(verdict)});
    run_watched(a_case, engine_, flow, &flow.has_obstacle());
    if (!flow.obstacles().empty()) {
      const vgpu::Obstacle& first = flow.obstacles().front();
      data_decides_ = first.kind;
      if (learns_ && flow.first_decision()) data_decisions_.add(*flow.first_decision(), first);
      return text_of(first, "data");
    }
  }
  return obstacle_of_host(a_case);
}

Certificate Certifier::certify(const Case& given) {
  Case a_case = given;
  a_case.property.clear();
  a_case.settings.warp_model = vgpu::WarpModel::independent;
  a_case.settings.checkers = {};
  a_case.schedule = vgpu::Schedule{};
  Certificate certificate;
  has_followed_data_ = false;
  ordinary_.begin();
  certificate.verdict = runner_.run(a_case);
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
  // Whichever of two stores of one constant comes last, memory holds the same.
  const auto note = std::ranges::find_if_not(verdict.findings, [&](const vgpu::Finding& finding) {
    return ordinary_.is_of_one_constant(finding);
  });
  if (note != verdict.findings.end()) {
    certificate.reason = "a note: " + note->message;
    return certificate;
  }
  if (!prove_schedules(a_case, certificate)) return certificate;
  certificate.proof = Proof::every_schedule;
  certificate.reason = obstacle_to_all_data(a_case, verdict);
  if (!certificate.reason.empty()) {
    certify_finite_data(a_case, certificate);
    return certificate;
  }
  certificate.proof = Proof::all_data;
  if (const AnyPair* const reference = a_case.pair->reference_kernel()) {
    Case of_reference = a_case;
    of_reference.pair = reference;
    const Certificate other = Certifier(engine_).certify(of_reference);
    if (other.proof != Proof::all_data) {
      certificate.equality = Equality::unknown;
      certificate.unequal = "the reference is less than proved for all data: " + other.reason;
      return certificate;
    }
  }
  add_equality(certify_equality(a_case, engine_), certificate);
  return certificate;
}

// Where data decides branches alone, and all finite data decides them in the same way, the results
// may equal the reference's for all finite data: an infinity is no number of exact arithmetic.
void Certifier::certify_finite_data(const Case& a_case, Certificate& certificate) {
  if (!a_case.pair->has_exact_reference() || data_decides_ != vgpu::Obstacle::Kind::branch) return;
  if (!has_finite_data(a_case)) {
    Case finite = a_case;
    finite.input = with_other_data(*a_case.pair, a_case.input, InputEdit::Data::ones);
    if (finite.input == nullptr) return;
    Certificate other = Certifier(engine_).certify(finite);
    certificate.equality = other.equality;
    certificate.unequal = std::move(other.unequal);
    if (!other.counterexample) return;
    certificate.counterexample = std::move(other.counterexample);
    certificate.proof = Proof::failed;
    certificate.reason = std::move(other.reason);
    return;
  }
  EqualityCertificate equality = certify_equality(a_case, engine_);
  const bool is_known =
      equality.equality == Equality::equal || equality.equality == Equality::different;
  if (!is_known || !decides_branches_alone(a_case, certificate.verdict)) return;
  add_equality(std::move(equality), certificate);
}

// Whether nothing but branches prevents a proof for all data.
bool Certifier::decides_branches_alone(const Case& a_case, const Verdict& verdict) {
  ValueFlow flow({.data = true, .order = shows_order(verdict)});
  run_watched(a_case, engine_, flow);
  const auto is_branch = [](const vgpu::Obstacle& one) {
    return one.kind == vgpu::Obstacle::Kind::branch;
  };
  return std::ranges::all_of(flow.obstacles(), is_branch) && obstacle_of_host(a_case).empty();
}

void Certifier::learn(const Case& a_case) {
  const bool learns = std::exchange(learns_, true);
  static_cast<void>(certify(a_case));
  learns_ = learns;
}

// Whether less is known of one input than of another: nothing is less than a certificate.
static bool is_weaker(Equality one, Equality other) {
  constexpr std::array kFromTheStrongest{Equality::equal, Equality::none, Equality::unknown,
                                         Equality::different};
  return std::ranges::find(kFromTheStrongest, one) > std::ranges::find(kFromTheStrongest, other);
}

// The largest of some inputs that are drawn for a size of trials.
static Case sample_of(const AnyPair& pair, std::uint64_t seed, std::uint64_t size) {
  Case largest;
  for (std::uint64_t i = 0; i < kDrawsOfSample; ++i) {
    Case drawn = nth_case(pair, "", {}, seed, i * (kSizeMax + 1) + size);
    const auto elements = [&](const Case& a_case) { return pair.size_of(a_case.input).elements; };
    if (i == 0 || elements(drawn) > elements(largest)) largest = std::move(drawn);
  }
  return largest;
}

SampleProof prove_sample(const AnyPair& pair, std::uint64_t seed,
                         std::span<const cudart::Build> builds, Engine& engine) {
  Certifier certifier(engine);
  SampleProof sample{.proof = Proof::all_data};
  bool is_first = true;
  for (std::uint64_t i = 1; i <= kSampleInputs; ++i) {
    Case a_case = sample_of(pair, seed, i * kSizeMax / kSampleInputs);
    sample.sizes.push_back(pair.size_of(a_case.input).elements);
    for (const cudart::Build build : builds) {
      a_case.settings.build = build;
      Certificate one = certifier.certify(a_case);
      if (is_first || is_weaker(one.equality, sample.equality)) {
        sample.equality = one.equality;
        sample.unequal = std::move(one.unequal);
      }
      is_first = false;
      if (one.proof >= sample.proof) continue;
      sample.proof = one.proof;
      sample.reason = std::move(one.reason);
    }
  }
  std::ranges::sort(sample.sizes);
  sample.sizes.erase(std::unique(sample.sizes.begin(), sample.sizes.end()), sample.sizes.end());
  if (sample.sizes.back() == 0) sample.sizes.clear();  // an input without lists
  return sample;
}

}  // namespace warpcheck
