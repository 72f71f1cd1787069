// The functions of cuRAND's host API.
#include <curand.h>
#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <unordered_map>

#include "vgpu/libraries/curand/direction_numbers.hpp"
#include "vgpu/libraries/curand/discrete.hpp"
#include "vgpu/libraries/curand/generator.hpp"
#include "vgpu/libraries/fixed_math.hpp"

namespace warpcheck::libraries::random {
namespace {

// All generators by handle, and the mutex that protects them, because several threads may call
// functions.
struct Generators {
  std::mutex mutex;
  std::unordered_map<curandGenerator_t, std::unique_ptr<Generator>> by_handle;
};
Generators& generators() {
  // never destroyed: programs generate in their destructors
  static auto* const all = new Generators;
  return *all;
}

const char* name_of(curandStatus_t status) {
  switch (status) {
    case CURAND_STATUS_VERSION_MISMATCH: return "CURAND_STATUS_VERSION_MISMATCH";
    case CURAND_STATUS_NOT_INITIALIZED: return "CURAND_STATUS_NOT_INITIALIZED";
    case CURAND_STATUS_ALLOCATION_FAILED: return "CURAND_STATUS_ALLOCATION_FAILED";
    case CURAND_STATUS_TYPE_ERROR: return "CURAND_STATUS_TYPE_ERROR";
    case CURAND_STATUS_OUT_OF_RANGE: return "CURAND_STATUS_OUT_OF_RANGE";
    case CURAND_STATUS_LENGTH_NOT_MULTIPLE: return "CURAND_STATUS_LENGTH_NOT_MULTIPLE";
    case CURAND_STATUS_LAUNCH_FAILURE: return "CURAND_STATUS_LAUNCH_FAILURE";
    default: return "CURAND_STATUS_INTERNAL_ERROR";
  }
}

template <class Body>
curandStatus_t answer(const Call& call, Body body) {
  try {
    const std::lock_guard lock(generators().mutex);
    body();
    return CURAND_STATUS_SUCCESS;
  } catch (const Rejected& rejected) {
    report_failure(call, "", name_of(rejected.status), rejected.why);
    return rejected.status;
  } catch (const std::bad_alloc&) {
    report_failure(call, "", name_of(CURAND_STATUS_ALLOCATION_FAILED),
                   "the host has no more memory");
    return CURAND_STATUS_ALLOCATION_FAILED;
  }
}

Generator& find(curandGenerator_t handle) {
  const auto found = generators().by_handle.find(handle);
  if (found == generators().by_handle.end()) {
    throw Rejected{
        CURAND_STATUS_NOT_INITIALIZED,
        "the generator is none that curandCreateGenerator() gave, or has been destroyed"};
  }
  return *found->second;
}

template <class Body>
curandStatus_t with_generator(const Call& call, curandGenerator_t handle, Body body) {
  return answer(call, [&] { body(find(handle)); });
}

void create(curandGenerator_t* handle, curandRngType_t type, bool on_host) {
  if (handle == nullptr) throw Rejected{CURAND_STATUS_NOT_INITIALIZED, "the pointer is null"};
  auto generator = std::make_unique<Generator>(type, on_host);
  *handle = reinterpret_cast<curandGenerator_t>(generator.get());
  generators().by_handle.emplace(*handle, std::move(generator));
}

template <class T>
auto normal_numbers(T mean, T deviation) {
  return [=](Engine& engine, std::span<T> values) {
    engine.normal(values);
    for (T& value : values) value = mean + deviation * value;
  };
}

float exp_of(float x) { return static_cast<float>(fixed_math::exp<double>(x)); }
double exp_of(double x) { return static_cast<double>(fixed_math::exp<long double>(x)); }

template <class T>
auto log_normal_numbers(T mean, T deviation) {
  return [normal = normal_numbers(mean, deviation)](Engine& engine, std::span<T> values) {
    normal(engine, values);
    for (T& value : values) value = exp_of(value);
  };
}

void require_lambda(double lambda) {
  if (lambda > 0 && lambda <= kLambdaMax) return;
  throw Rejected{CURAND_STATUS_OUT_OF_RANGE,
                 fmt::format("lambda is {}, not above 0 and up to {}", lambda, kLambdaMax)};
}

template <class T>
void give(T* pointer, T value) {
  if (pointer == nullptr) throw Rejected{CURAND_STATUS_OUT_OF_RANGE, "the pointer is null"};
  *pointer = value;
}

// Whether the set is the scrambled one of the two given sets.  Throws Rejected if it is neither.
bool is_scrambled(curandDirectionVectorSet_t set, curandDirectionVectorSet_t plain,
                  curandDirectionVectorSet_t scrambled) {
  if (set == plain || set == scrambled) return set == scrambled;
  throw Rejected{CURAND_STATUS_OUT_OF_RANGE,
                 fmt::format("set {} is not of these vectors", static_cast<int>(set))};
}

}  // namespace
}  // namespace warpcheck::libraries::random

using namespace warpcheck::libraries::random;  // NOLINT(google-build-using-namespace)

// The call of the program that entered this function.
#define CALL() (warpcheck::libraries::Call{__func__, __builtin_return_address(0)})

extern "C" {

curandStatus_t curandCreateGenerator(curandGenerator_t* generator, curandRngType_t rng_type) {
  return answer(CALL(), [&] { create(generator, rng_type, false); });
}

curandStatus_t curandCreateGeneratorHost(curandGenerator_t* generator, curandRngType_t rng_type) {
  return answer(CALL(), [&] { create(generator, rng_type, true); });
}

curandStatus_t curandDestroyGenerator(curandGenerator_t generator) {
  return with_generator(CALL(), generator,
                        [&](Generator&) { generators().by_handle.erase(generator); });
}

curandStatus_t curandGetVersion(int* version) {
  return answer(CALL(), [&] { give(version, CURAND_VERSION); });
}

curandStatus_t curandGetProperty(libraryPropertyType type, int* value) {
  return answer(CALL(), [&] {
    switch (type) {
      case MAJOR_VERSION: return give(value, CURAND_VER_MAJOR);
      case MINOR_VERSION: return give(value, CURAND_VER_MINOR);
      case PATCH_LEVEL: return give(value, CURAND_VER_PATCH);
      default: throw Rejected{CURAND_STATUS_OUT_OF_RANGE, "there is no such property"};
    }
  });
}

curandStatus_t curandSetStream(curandGenerator_t generator, cudaStream_t stream) {
  return with_generator(CALL(), generator, [&](Generator& one) { one.set_stream(stream); });
}

curandStatus_t curandSetPseudoRandomGeneratorSeed(curandGenerator_t generator,
                                                  unsigned long long seed) {
  return with_generator(CALL(), generator, [&](Generator& one) { one.set_seed(seed); });
}

curandStatus_t curandSetGeneratorOffset(curandGenerator_t generator, unsigned long long offset) {
  return with_generator(CALL(), generator, [&](Generator& one) { one.set_offset(offset); });
}

curandStatus_t curandSetGeneratorOrdering(curandGenerator_t generator, curandOrdering_t order) {
  return with_generator(CALL(), generator, [&](Generator& one) { one.set_ordering(order); });
}

curandStatus_t curandSetQuasiRandomGeneratorDimensions(curandGenerator_t generator,
                                                       unsigned int num_dimensions) {
  return with_generator(CALL(), generator,
                        [&](Generator& one) { one.set_dimensions(num_dimensions); });
}

// Does nothing: engines are created when they are needed.
curandStatus_t curandGenerateSeeds(curandGenerator_t generator) {
  return with_generator(CALL(), generator, [](Generator&) {});
}

curandStatus_t curandGenerate(curandGenerator_t generator, unsigned int* outputPtr, size_t num) {
  const auto call = CALL();
  return with_generator(call, generator, [&](Generator& one) {
    if (one.has_64_bits()) {
      throw Rejected{CURAND_STATUS_TYPE_ERROR,
                     "the generator has 64 bits: curandGenerateLongLong()"};
    }
    one.fill(call, outputPtr, num, false,
             [](Engine& engine, std::span<unsigned int> values) { engine.bits(values); });
  });
}

curandStatus_t curandGenerateLongLong(curandGenerator_t generator, unsigned long long* outputPtr,
                                      size_t num) {
  const auto call = CALL();
  return with_generator(call, generator, [&](Generator& one) {
    if (!one.has_64_bits()) {
      throw Rejected{CURAND_STATUS_TYPE_ERROR, "the generator has 32 bits: curandGenerate()"};
    }
    one.fill(call, reinterpret_cast<std::uint64_t*>(outputPtr), num, false,
             [](Engine& engine, std::span<std::uint64_t> values) { engine.long_bits(values); });
  });
}

curandStatus_t curandGenerateUniform(curandGenerator_t generator, float* outputPtr, size_t num) {
  const auto call = CALL();
  return with_generator(call, generator, [&](Generator& one) {
    one.fill(call, outputPtr, num, false,
             [](Engine& engine, std::span<float> values) { engine.uniform(values); });
  });
}

curandStatus_t curandGenerateUniformDouble(curandGenerator_t generator, double* outputPtr,
                                           size_t num) {
  const auto call = CALL();
  return with_generator(call, generator, [&](Generator& one) {
    one.fill(call, outputPtr, num, false,
             [](Engine& engine, std::span<double> values) { engine.uniform(values); });
  });
}

curandStatus_t curandGenerateNormal(curandGenerator_t generator, float* outputPtr, size_t n,
                                    float mean, float stddev) {
  const auto call = CALL();
  return with_generator(call, generator, [&](Generator& one) {
    one.fill(call, outputPtr, n, true, normal_numbers(mean, stddev));
  });
}

curandStatus_t curandGenerateNormalDouble(curandGenerator_t generator, double* outputPtr, size_t n,
                                          double mean, double stddev) {
  const auto call = CALL();
  return with_generator(call, generator, [&](Generator& one) {
    one.fill(call, outputPtr, n, true, normal_numbers(mean, stddev));
  });
}

curandStatus_t curandGenerateLogNormal(curandGenerator_t generator, float* outputPtr, size_t n,
                                       float mean, float stddev) {
  const auto call = CALL();
  return with_generator(call, generator, [&](Generator& one) {
    one.fill(call, outputPtr, n, true, log_normal_numbers(mean, stddev));
  });
}

curandStatus_t curandGenerateLogNormalDouble(curandGenerator_t generator, double* outputPtr,
                                             size_t n, double mean, double stddev) {
  const auto call = CALL();
  return with_generator(call, generator, [&](Generator& one) {
    one.fill(call, outputPtr, n, true, log_normal_numbers(mean, stddev));
  });
}

curandStatus_t curandGeneratePoisson(curandGenerator_t generator, unsigned int* outputPtr, size_t n,
                                     double lambda) {
  const auto call = CALL();
  return with_generator(call, generator, [&](Generator& one) {
    require_lambda(lambda);
    one.note_if_unlike(true);
    one.fill(call, outputPtr, n, false, [lambda](Engine& engine, std::span<unsigned int> values) {
      engine.poisson(values, lambda);
    });
  });
}

curandStatus_t curandGeneratePoissonMethod(curandGenerator_t /*generator*/,
                                           unsigned int* /*outputPtr*/, size_t /*n*/,
                                           double /*lambda*/, curandMethod_t /*method*/) {
  warpcheck::libraries::refuse(__func__,
                               "it is for the library's own use; curandGeneratePoisson() "
                               "is for others");
  return CURAND_STATUS_INTERNAL_ERROR;
}

curandStatus_t curandCreatePoissonDistribution(double lambda,
                                               curandDiscreteDistribution_t* distribution) {
  return answer(CALL(), [&] {
    if (distribution == nullptr) {
      throw Rejected{CURAND_STATUS_NOT_INITIALIZED, "the pointer is null"};
    }
    require_lambda(lambda);
    *distribution = create_poisson_distribution(lambda);
  });
}

curandStatus_t curandDestroyDistribution(curandDiscreteDistribution_t distribution) {
  return answer(CALL(), [&] { destroy_distribution(distribution); });
}

curandStatus_t curandGetDirectionVectors32(curandDirectionVectors32_t* vectors[],
                                           curandDirectionVectorSet_t set) {
  return answer(CALL(), [&] {
    give(vectors,
         direction_vectors_32(is_scrambled(set, CURAND_DIRECTION_VECTORS_32_JOEKUO6,
                                           CURAND_SCRAMBLED_DIRECTION_VECTORS_32_JOEKUO6)));
  });
}

curandStatus_t curandGetDirectionVectors64(curandDirectionVectors64_t* vectors[],
                                           curandDirectionVectorSet_t set) {
  return answer(CALL(), [&] {
    give(vectors,
         direction_vectors_64(is_scrambled(set, CURAND_DIRECTION_VECTORS_64_JOEKUO6,
                                           CURAND_SCRAMBLED_DIRECTION_VECTORS_64_JOEKUO6)));
  });
}

curandStatus_t curandGetScrambleConstants32(unsigned int** constants) {
  return answer(CALL(), [&] { give(constants, scramble_constants_32()); });
}

curandStatus_t curandGetScrambleConstants64(unsigned long long** constants) {
  return answer(CALL(), [&] { give(constants, scramble_constants_64()); });
}

}  // extern "C"
