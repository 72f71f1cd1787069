// The sequences of random numbers that generators of cuRAND's host API give.
//
// The generators themselves are those of the toolkit's public device headers (curand_kernel.h ...),
// compiled for the host.  A host generator draws from many of their subsequences in turn, and which
// value comes from which is what an engine says.  Transcendental functions are ours (fixed_math),
// so that numbers are the same on every machine.
#pragma once

#include <curand.h>

#include <cstdint>
#include <memory>
#include <span>

namespace warpcheck::libraries::random {

class Engine {
 public:
  virtual ~Engine() = default;

  // Each goes on in the sequence.
  virtual void bits(std::span<std::uint32_t> values) = 0;
  virtual void long_bits(std::span<std::uint64_t> values) = 0;  // of 64-bit generators alone
  virtual void uniform(std::span<float> values) = 0;
  virtual void uniform(std::span<double> values) = 0;
  // Standard normal ones.
  virtual void normal(std::span<float> values) = 0;
  virtual void normal(std::span<double> values) = 0;
  virtual void poisson(std::span<std::uint32_t> values, double lambda) = 0;
};

struct EngineSettings {
  curandRngType_t type = CURAND_RNG_PSEUDO_XORWOW;  // no default, and no test
  curandOrdering_t ordering = CURAND_ORDERING_PSEUDO_DEFAULT;
  std::uint64_t seed = 0, offset = 0;
  std::uint32_t dimensions = 1;  // of a quasi-random one
};
// For all types and settings.  MT19937 is the C++ library's, in one sequence; the vendor's draws
// from many, and how far they lie apart is documented, but not how to get there.
std::unique_ptr<Engine> make_engine(const EngineSettings& settings);

// What generators of 32-bit and 64-bit values have in common, each by one value of the sequence.
std::uint32_t poisson_of(std::uint32_t bits, double lambda);
std::uint32_t poisson_of(std::uint64_t bits, double lambda);

}  // namespace warpcheck::libraries::random
