// Poisson distributed numbers, computed from one random value each by inverting the distribution.
#include <cmath>

#include "vgpu/libraries/curand/distributions.hpp"
#include "vgpu/libraries/curand/engine.hpp"

namespace warpcheck::libraries::random {
namespace {

// From this lambda on a normal distribution is used instead, as in the toolkit's device functions.
constexpr double kNormalFrom = 4000;
// exp(-lambda) of a larger lambda would be 0 in double precision, so it is multiplied in parts.
constexpr double kPart = 500;

// The smallest k whose cumulative probability reaches u (Fishman, Discrete-Event Simulation).
std::uint32_t invert(double u, double lambda) {
  double probability = 1;
  double cumulative = 1;
  std::uint32_t k = 0;
  double left = lambda;
  while (left > 0) {
    const double part = std::fmin(kPart, left);
    left -= part;
    const auto factor = static_cast<double>(fixed_math::exp<long double>(-part));
    probability *= factor;
    cumulative *= factor;
    while (u > cumulative && probability > 0) {
      ++k;
      probability *= lambda / k;
      cumulative += probability;
    }
  }
  return k;
}

std::uint32_t rounded(double normal, double lambda) {
  const double value = std::sqrt(lambda) * normal + lambda + 0.5;
  return value > 0 ? static_cast<std::uint32_t>(value) : 0;
}

}  // namespace

std::uint32_t poisson_of(std::uint32_t bits, double lambda) {
  if (lambda >= kNormalFrom) return rounded(normal_double_of_bits(bits), lambda);
  return invert(bits * CURAND_2POW32_INV_DOUBLE + CURAND_2POW32_INV_DOUBLE / 2.0, lambda);
}

std::uint32_t poisson_of(std::uint64_t bits, double lambda) {
  if (lambda >= kNormalFrom) return rounded(normal_double_of_bits(bits), lambda);
  const double u =
      static_cast<double>(bits >> 11) * CURAND_2POW53_INV_DOUBLE + CURAND_2POW53_INV_DOUBLE / 4.0;
  return invert(u, lambda);
}

}  // namespace warpcheck::libraries::random
