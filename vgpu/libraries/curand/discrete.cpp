#include "vgpu/libraries/curand/discrete.hpp"

#include <curand_discrete.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <unordered_map>
#include <utility>
#include <vector>

#include "vgpu/libraries/curand/generator.hpp"
#include "vgpu/libraries/fixed_math.hpp"

// Functions of the virtual GPU's runtime, under their names for libraries.
extern "C" {
cudaError_t warpcheck_cudaMalloc(void** pointer, std::size_t bytes);
cudaError_t warpcheck_cudaFree(void* pointer);
cudaError_t warpcheck_cudaMemcpy(void* target, const void* source, std::size_t bytes,
                                 cudaMemcpyKind kind);
}

namespace warpcheck::libraries::random {
namespace {

// From this lambda on a normal distribution is accurate enough, as in curand_poisson.h.
constexpr double kNormalFrom = 4000;

// Probabilities of the numbers from `shift` on; negligible ones at both ends are left out.
struct Probabilities {
  std::uint32_t shift = 0;
  std::vector<double> values;
};

Probabilities poisson_probabilities(double lambda) {
  // Starts at the mode, where a sum gives the logarithm of the probability with many exact digits.
  const auto mode = static_cast<std::uint32_t>(lambda);
  long double log_of_mode = -static_cast<long double>(lambda);
  for (std::uint32_t k = 1; k <= mode; ++k) {
    log_of_mode += fixed_math::log<long double>(static_cast<long double>(lambda) / k);
  }
  const auto at_mode = static_cast<double>(fixed_math::exp(log_of_mode));
  constexpr double kNegligible = 1e-18;
  std::vector<double> below;
  double probability = at_mode;
  for (std::uint32_t k = mode; k > 0 && probability > kNegligible; --k) {
    probability *= k / lambda;
    below.push_back(probability);
  }
  Probabilities all{mode - static_cast<std::uint32_t>(below.size()),
                    {below.rbegin(), below.rend()}};
  probability = at_mode;
  for (std::uint32_t k = mode + 1; probability > kNegligible; ++k) {
    all.values.push_back(probability);
    probability *= lambda / k;
  }
  return all;
}

// `length` columns of equal width.  Column j stands for the number j up to thresholds[j], and for
// others[j] above it.  One more column handles the uniform value 1.
struct SquareHistogram {
  std::vector<double> thresholds;
  std::vector<unsigned int> others;
};

SquareHistogram square(std::vector<double> probabilities) {
  const std::size_t length = probabilities.size();
  const double width = 1.0 / static_cast<double>(length);
  const double sum = std::accumulate(probabilities.begin(), probabilities.end(), 0.0);
  for (double& probability : probabilities) probability /= sum;
  SquareHistogram histogram;
  for (std::size_t j = 0; j <= length; ++j) {
    histogram.thresholds.push_back(static_cast<double>(j + 1) * width);
    histogram.others.push_back(static_cast<unsigned int>(std::min(j, length - 1)));
  }
  histogram.thresholds[length] = 0;
  // In each step a column with less than the average probability is filled up from one with more.
  const auto by_probability = [&](std::size_t a, std::size_t b) {
    return probabilities[a] < probabilities[b];
  };
  std::vector<std::size_t> poor, rich;
  for (std::size_t j = 0; j < length; ++j) (probabilities[j] < width ? poor : rich).push_back(j);
  std::ranges::sort(poor, by_probability);
  while (!poor.empty() && !rich.empty()) {
    const std::size_t to = poor.back();
    const std::size_t from = rich.back();
    poor.pop_back();
    histogram.thresholds[to] = static_cast<double>(to) * width + probabilities[to];
    histogram.others[to] = static_cast<unsigned int>(from);
    probabilities[from] -= width - probabilities[to];
    if (probabilities[from] < width) {
      rich.pop_back();
      poor.push_back(from);
    }
  }
  return histogram;
}

void check(cudaError_t error) {
  if (error != cudaSuccess) {
    throw Rejected{CURAND_STATUS_ALLOCATION_FAILED, "there is no device memory for it"};
  }
}

// The device memory of each distribution, by the address of the distribution.
std::unordered_map<const void*, std::vector<void*>>& distributions() {
  static auto* const all = new std::unordered_map<const void*, std::vector<void*>>;
  return *all;
}

class DeviceBlocks {
 public:
  DeviceBlocks() = default;
  DeviceBlocks(const DeviceBlocks&) = delete;
  DeviceBlocks& operator=(const DeviceBlocks&) = delete;
  ~DeviceBlocks() {
    for (void* const block : blocks_) warpcheck_cudaFree(block);
  }
  template <class T>
  T* put(const T* values, std::size_t count) {
    void* block = nullptr;
    check(warpcheck_cudaMalloc(&block, count * sizeof(T)));
    blocks_.push_back(block);
    check(warpcheck_cudaMemcpy(block, values, count * sizeof(T), cudaMemcpyHostToDevice));
    return static_cast<T*>(block);
  }
  std::vector<void*> take() { return std::exchange(blocks_, {}); }

 private:
  std::vector<void*> blocks_;
};

}  // namespace

curandDiscreteDistribution_t create_poisson_distribution(double lambda) {
  DeviceBlocks blocks;
  curandDiscreteDistribution_st whole{};
  whole.mean = lambda;
  whole.stddev = std::sqrt(lambda);
  whole.method = CURAND_DISCRETE_GAUSS;
  if (lambda < kNormalFrom) {
    whole.method = CURAND_M2;
    const Probabilities probabilities = poisson_probabilities(lambda);
    const SquareHistogram square_histogram = square(probabilities.values);
    curandHistogramM2_st histogram{};
    histogram.V =
        blocks.put(square_histogram.thresholds.data(), square_histogram.thresholds.size());
    histogram.K = blocks.put(square_histogram.others.data(), square_histogram.others.size());
    curandDistributionM2Shift_st shifted{};
    shifted.histogram = blocks.put(&histogram, 1);
    shifted.shift = probabilities.shift;
    shifted.length = static_cast<unsigned int>(probabilities.values.size());
    whole.M2 = blocks.put(&shifted, 1);
  }
  curandDiscreteDistribution_t const distribution = blocks.put(&whole, 1);
  distributions().emplace(distribution, blocks.take());
  return distribution;
}

void destroy_distribution(curandDiscreteDistribution_t distribution) {
  const auto found = distributions().find(distribution);
  if (found == distributions().end()) {
    throw Rejected{CURAND_STATUS_NOT_INITIALIZED,
                   "the distribution is none that curandCreatePoissonDistribution() gave, or has "
                   "been destroyed"};
  }
  for (void* const block : found->second) warpcheck_cudaFree(block);
  distributions().erase(found);
}

}  // namespace warpcheck::libraries::random
