// What one run of a pair proves: nothing beyond itself, something about every schedule, or that and
// about all data of its sizes and launch.  The theorem and what it rests on: docs/proofs.md.
//
// What is proved is that no finding is there: no race, nothing out of bounds or unwritten, no
// barrier missed, no leak.  That the result is the reference's is tried, not proved.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>

#include "harness/case/case.hpp"
#include "harness/prove/proof.hpp"
#include "harness/trial/engine.hpp"
#include "harness/trial/trial.hpp"
#include "harness/trial/verdict.hpp"
#include "harness/trial/watched_engine.hpp"
#include "vgpu/check/proof/ordinary_run.hpp"

namespace warpcheck {

struct Certificate {
  Proof proof = Proof::tried;
  // Why it is no better, with the line that decides: empty where it is the best.
  std::string reason{};
  // The results' bytes are the same under every schedule; else what they depend on, in `varies`.
  bool same_bytes = false;
  std::string varies{};
  Verdict verdict{};  // of the ordinary run
};

// Certifies cases one after the other.  What it learns of a kernel's code holds for all of them,
// and what it learns of an input's host code for all builds.
class Certifier {
 public:
  // learns: where data has decided once, values are not followed again; false: learn() alone does.
  explicit Certifier(Engine& engine = virtual_gpu(), bool learns = true)
      : engine_(engine), learns_(learns) {}
  Certifier(const Certifier&) = delete;
  Certifier& operator=(const Certifier&) = delete;

  // Runs a case under the default schedule in the independent warp model, whose schedules include
  // those of lockstep: once with all checkers; once more for each kind of value that has to be
  // followed, where the code alone does not say that it decides nothing, up to where it does; and
  // its host code with other data.
  [[nodiscard]] Certificate certify(const Case& a_case);
  // Where data decides in this case.
  void learn(const Case& a_case);
  // Whether the latest certificate took following the values of data.
  [[nodiscard]] bool has_followed_data() const { return has_followed_data_; }

 private:
  [[nodiscard]] bool prove_schedules(const Case& a_case, Certificate& certificate);
  [[nodiscard]] std::string obstacle_to_all_data(const Case& a_case, const Verdict& verdict);
  [[nodiscard]] std::string obstacle_of_host(const Case& a_case);
  [[nodiscard]] std::uint64_t calls_of(const Case& a_case);

  Engine& engine_;
  bool learns_;
  bool has_followed_data_ = false;
  vgpu::DataUses data_uses_;
  vgpu::KnownDecisions data_decisions_;
  vgpu::OrdinaryRun ordinary_{data_uses_, data_decisions_};
  WatchedEngine watched_{engine_, ordinary_, false};
  TrialRunner runner_{watched_};
  // The input of which it is known that for other data the host asks for the same calls.
  AnyInput input_;
  std::uint64_t calls_ = 0;
};

// What is proved of some inputs of a clean pair, in `builds`: from small ones to the largest.
[[nodiscard]] SampleProof prove_sample(const AnyPair& pair, std::uint64_t seed,
                                       std::span<const cudart::Build> builds,
                                       Engine& engine = virtual_gpu());

// Other data of the same lengths, as far as the domain has it; null: it has not, or none is other.
inline constexpr std::array kOtherData{InputEdit::Data::reversed, InputEdit::Data::last_everywhere,
                                       InputEdit::Data::zeros};
[[nodiscard]] AnyInput with_other_data(const AnyPair& pair, const AnyInput& input,
                                       InputEdit::Data other);

}  // namespace warpcheck
