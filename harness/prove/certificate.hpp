// What one run of a pair proves: nothing beyond itself, or something for every schedule, or
// something for every schedule and all data of its sizes and launch.  Theorem and assumptions:
// docs/use/proofs.md.
//
// The proof is that there is no finding: no race, no access out of bounds, no unwritten value, no
// missed barrier, no leak.  That the result equals the reference's is certified for pairs with an
// exact reference (equality.hpp), and otherwise tested.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "harness/case/case.hpp"
#include "harness/case/verdict.hpp"
#include "harness/report/proof.hpp"
#include "harness/trial/engine.hpp"
#include "harness/trial/trial.hpp"
#include "harness/trial/watched_engine.hpp"
#include "vgpu/check/proof/ordinary_run.hpp"

namespace warpcheck {

struct Certificate {
  Proof proof = Proof::tried;
  // Why no more is proved, with the line that decides; empty for the strongest proof.
  std::string reason{};
  // Whether the results have the same bytes under every schedule; if not, `varies` says on what
  // they depend.
  bool same_bytes = false;
  std::string varies{};
  // Whether the results are the reference's for all data, in exact arithmetic (equality.hpp); why
  // that is not certified.
  Equality equality = Equality::none;
  std::string unequal{};
  // The proof failed because the results are other functions of the data: an input that shows it.
  std::optional<Case> counterexample{};
  Verdict verdict{};  // of the ordinary run
};

// Certifies cases one after the other.  Facts about a kernel's code are reused for all cases, and
// facts about an input's host code for all builds.
class Certifier {
 public:
  // learns: where data has once decided, values are not followed again; false: only learn() does
  // that.
  explicit Certifier(Engine& engine = virtual_gpu(), bool learns = true)
      : engine_(engine), learns_(learns) {}
  Certifier(const Certifier&) = delete;
  Certifier& operator=(const Certifier&) = delete;

  // Runs a case under the default schedule in the independent warp model, whose schedules include
  // those of lockstep: once with all checkers; once more for each kind of value that must be
  // followed, unless the code alone shows that it decides nothing, up to the first decision; and
  // its host code with other data.
  [[nodiscard]] Certificate certify(const Case& a_case);
  // Finds where data decides in this case.
  void learn(const Case& a_case);
  // Whether the latest certificate needed to follow the values of data.
  [[nodiscard]] bool has_followed_data() const { return has_followed_data_; }

 private:
  [[nodiscard]] bool prove_schedules(const Case& a_case, Certificate& certificate);
  [[nodiscard]] bool shows_order(const Verdict& verdict) const;
  [[nodiscard]] std::string obstacle_to_all_data(const Case& a_case, const Verdict& verdict);
  [[nodiscard]] std::string obstacle_of_host(const Case& a_case);
  void certify_finite_data(const Case& a_case, Certificate& certificate);
  [[nodiscard]] bool decides_branches_alone(const Case& a_case, const Verdict& verdict);
  [[nodiscard]] std::uint64_t calls_of(const Case& a_case);

  Engine& engine_;
  bool learns_;
  bool has_followed_data_ = false;
  std::optional<vgpu::Obstacle::Kind> data_decides_;  // in the latest case: first
  vgpu::DataUses data_uses_;
  vgpu::KnownDecisions data_decisions_;
  vgpu::OrdinaryRun ordinary_{data_uses_, data_decisions_};
  WatchedEngine watched_{engine_, ordinary_, false};
  TrialRunner runner_{watched_, &engine_};
  // The input for which the host is known to make the same calls with other data.
  AnyInput input_;
  std::uint64_t calls_ = 0;
};

// What is proved for some inputs of a clean pair, in `builds`: from small ones to the largest.
[[nodiscard]] SampleProof prove_sample(const AnyPair& pair, std::uint64_t seed,
                                       std::span<const cudart::Build> builds,
                                       Engine& engine = virtual_gpu());

// Other data of the same lengths, if it is in the domain; null: it is not, or it is the same.
inline constexpr std::array kOtherData{InputEdit::Data::reversed, InputEdit::Data::last_everywhere,
                                       InputEdit::Data::zeros};
[[nodiscard]] AnyInput with_other_data(const AnyPair& pair, const AnyInput& input,
                                       InputEdit::Data other);

}  // namespace warpcheck
