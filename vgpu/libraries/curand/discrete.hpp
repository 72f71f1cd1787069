// Discrete distributions in device memory, for curand_discrete() in kernels.
#pragma once

#include <curand.h>

namespace warpcheck::libraries::random {

constexpr double kLambdaMax = 400000;

// The structures of the toolkit's curand_discrete.h: a square histogram (Marsaglia, Tsang, Wang, J.
// Stat. Software 11, 2004), or for large lambda a normal distribution.  Throws Rejected.
curandDiscreteDistribution_t create_poisson_distribution(double lambda);
void destroy_distribution(curandDiscreteDistribution_t distribution);

}  // namespace warpcheck::libraries::random
