// Engines: the sequences of random numbers that generators of cuRAND's host API produce.
//
// The generators are those of the toolkit's public device headers (curand_kernel.h ...), compiled
// for the host.  A host generator draws from many of their subsequences in turn; an engine defines
// which value comes from which subsequence.  Transcendental functions are our own (fixed_math), so
// numbers are the same on every machine.
#pragma once

#include <curand.h>

#include <cstdint>
#include <memory>
#include <span>

namespace warpcheck::libraries::random {

class Engine {
 public:
  virtual ~Engine() = default;

  // Each function continues the sequence.
  virtual void bits(std::span<std::uint32_t> values) = 0;
  virtual void long_bits(std::span<std::uint64_t> values) = 0;  // only for 64-bit generators
  virtual void uniform(std::span<float> values) = 0;
  virtual void uniform(std::span<double> values) = 0;
  // Standard normal numbers.
  virtual void normal(std::span<float> values) = 0;
  virtual void normal(std::span<double> values) = 0;
  virtual void poisson(std::span<std::uint32_t> values, double lambda) = 0;
};

struct EngineSettings {
  curandRngType_t type = CURAND_RNG_PSEUDO_XORWOW;  // no default, and no test
  curandOrdering_t ordering = CURAND_ORDERING_PSEUDO_DEFAULT;
  std::uint64_t seed = 0, offset = 0;
  std::uint32_t dimensions = 1;  // of a quasi-random generator
};
// Supports all types and settings.  MT19937 is that of the C++ library, with one sequence.  The
// vendor's generator draws from many sequences; their distance is documented, but not how to reach
// them.
std::unique_ptr<Engine> make_engine(const EngineSettings& settings);

// The Poisson number for one value of a sequence of 32-bit or 64-bit values, common to all
// generators.
std::uint32_t poisson_of(std::uint32_t bits, double lambda);
std::uint32_t poisson_of(std::uint64_t bits, double lambda);

}  // namespace warpcheck::libraries::random
