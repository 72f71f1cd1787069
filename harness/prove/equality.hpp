// The certificate that a kernel's results are the same functions of its data as its reference's, in
// exact arithmetic.  Theorem and assumptions: docs/use/proofs.md.
#pragma once

#include <optional>
#include <string>

#include "harness/case/case.hpp"
#include "harness/report/proof.hpp"
#include "harness/trial/engine.hpp"

namespace warpcheck {

struct EqualityCertificate {
  Equality equality = Equality::none;
  std::string reason{};  // why it is not certified, or which result differs
  // equal: a bound of the probability that the functions differ nevertheless, as a power of two
  int error_exponent = 0;
  // different: an input for which the kernel fails, if one was found
  std::optional<Case> counterexample{};
};

// For a case of which all schedules are proved, under the default schedule.  What data may decide,
// so that less than all data is proved: branches that all finite data decides alike.
[[nodiscard]] EqualityCertificate certify_equality(const Case& a_case,
                                                   Engine& engine = virtual_gpu());

}  // namespace warpcheck
