// Programs with cuRAND: the host's functions and those for kernels, and each defect that a program can have
// at a call of the library.
// build: -arch=compute_75 -lcurand
// case host: | | host
// expect host: clean
// says host: not checked: results that follow from Poisson numbers of XORWOW, MRG32k3a and Philox of cuRAND: their sequence differs from that of the vendor's generator
// says host: not checked: results that follow from numbers of MT19937 of cuRAND: their sequence differs from that of the vendor's generator
// says host: not checked: results that follow from scrambled Sobol sequences of cuRAND: their sequence differs from that of the vendor's generator
// case device: | | device
// expect device: clean
// case right_order: | | right-order
// expect right_order: clean
// conceals right_order: not checked: results that follow from
// case statuses: | | statuses
// expect statuses: note api-error
// says statuses: returned CURAND_STATUS_LENGTH_NOT_MULTIPLE: 7 normal numbers; this generator makes two at a time
// prints statuses: 103 101 0 105 103 103 104 104 0 101 0 103 104 0 105 104
// case short_output: | | short-output
// expect short_output: error out-of-bounds short_output
// says short_output: output of curandGenerateUniform, 64 elements
// case unordered: | | unordered
// expect unordered: error data-race unordered reader
// says unordered: nothing orders the kernel of (1) and (2), output of curandGenerateUniform, 64 elements: they are in different streams
// case freed: | | freed
// expect freed: error use-after-free freed numbers_freed
// says freed: output of curandGenerateUniform, 64 elements
// case on_host: | | on-host
// expect on_host: error out-of-bounds on_host
// says on_host: (1) is memory of the host, which no code on the device can reach
#include <curand.h>
#include <curand_kernel.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "library_memory.hpp"

namespace {

constexpr int kCount = 4096;

void expect(bool condition, const char* what) {
  if (condition) return;
  std::printf("%s\n", what);
  std::exit(1);
}

template <class T>
void expect_moments(const std::vector<T>& values, double mean, double variance, const char* what) {
  double sum = 0, squares = 0;
  for (const T value : values) sum += value;
  sum /= values.size();
  for (const T value : values) squares += (value - sum) * (value - sum);
  squares /= values.size();
  const double deviation = std::sqrt(variance);
  if (std::fabs(sum - mean) > 0.1 * deviation || std::fabs(squares / variance - 1) > 0.2) {
    std::printf("%s: mean %g, variance %g\n", what, sum, squares);
    std::exit(1);
  }
}

// The host's generators: every type, every distribution, on the device and on the host.
void host_functions() {
  auto* const floats = allocate<float>(kCount);
  auto* const doubles = allocate<double>(kCount);
  auto* const bits = allocate<unsigned>(kCount);
  for (const curandRngType_t type :
       {CURAND_RNG_PSEUDO_XORWOW, CURAND_RNG_PSEUDO_MRG32K3A, CURAND_RNG_PSEUDO_MTGP32,
        CURAND_RNG_PSEUDO_MT19937, CURAND_RNG_PSEUDO_PHILOX4_32_10, CURAND_RNG_QUASI_SOBOL32,
        CURAND_RNG_QUASI_SCRAMBLED_SOBOL64}) {
    curandGenerator_t device = nullptr, host = nullptr;
    CHECK(curandCreateGenerator(&device, type));
    CHECK(curandCreateGeneratorHost(&host, type));
    if (type < CURAND_RNG_QUASI_DEFAULT) {
      CHECK(curandSetPseudoRandomGeneratorSeed(device, 1234));
      CHECK(curandSetPseudoRandomGeneratorSeed(host, 1234));
    }
    std::vector<float> same(kCount);
    CHECK(curandGenerateUniform(device, floats, kCount));
    CHECK(curandGenerateUniform(host, same.data(), kCount));
    const auto uniform = to_host(floats, kCount);
    expect(uniform == same, "the host's numbers are others");
    expect_moments(uniform, 0.5, 1.0 / 12, "uniform");
    for (const float value : uniform) expect(value > 0 && value <= 1, "not in (0, 1]");
    CHECK(curandGenerateUniformDouble(device, doubles, kCount));
    expect_moments(to_host(doubles, kCount), 0.5, 1.0 / 12, "uniform double");
    CHECK(curandGenerateNormal(device, floats, kCount, 3, 2));
    expect_moments(to_host(floats, kCount), 3, 4, "normal");
    CHECK(curandGenerateLogNormalDouble(device, doubles, kCount, 0, 0.25));
    expect_moments(to_host(doubles, kCount), 1.0317, 0.06866, "log-normal");
    CHECK(curandGeneratePoisson(device, bits, kCount, 20));
    expect_moments(to_host(bits, kCount), 20, 20, "Poisson");
    CHECK(curandDestroyGenerator(device));
    CHECK(curandDestroyGenerator(host));
  }
  CHECK(cudaFree(floats));
  CHECK(cudaFree(doubles));
  CHECK(cudaFree(bits));
}

template <class State>
__global__ void numbers_of(State* states, float* uniform, double* normal, unsigned* poisson) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  State state;
  curand_init(1234, i, 0, &state);
  for (int k = i; k < kCount; k += gridDim.x * blockDim.x) {
    uniform[k] = curand_uniform(&state);
    normal[k] = curand_normal_double(&state);
    poisson[k] = curand_poisson(&state, 12.0);
  }
  states[i] = state;
}

template <class State>
void of_kernels(const char* name) {
  constexpr int kThreads = 64;
  auto* const states = allocate<State>(kThreads);
  auto* const uniform = allocate<float>(kCount);
  auto* const normal = allocate<double>(kCount);
  auto* const poisson = allocate<unsigned>(kCount);
  numbers_of<<<2, kThreads / 2>>>(states, uniform, normal, poisson);
  CHECK(cudaDeviceSynchronize());
  expect_moments(to_host(uniform, kCount), 0.5, 1.0 / 12, name);
  expect_moments(to_host(normal, kCount), 0, 1, name);
  expect_moments(to_host(poisson, kCount), 12, 12, name);
  for (void* const pointer : {(void*)states, (void*)uniform, (void*)normal, (void*)poisson}) {
    CHECK(cudaFree(pointer));
  }
}

__global__ void first_of_each(unsigned* bits) {
  curandState state;
  curand_init(1234, threadIdx.x, 0, &state);
  bits[threadIdx.x] = curand(&state);
}

__global__ void sobol(curandDirectionVectors32_t* vectors, float* values) {
  curandStateSobol32 state;
  curand_init(vectors[blockIdx.x], threadIdx.x * 32, &state);
  for (int i = 0; i < 32; ++i) {
    values[(blockIdx.x * blockDim.x + threadIdx.x) * 32 + i] = curand_uniform(&state);
  }
}

__global__ void discrete(curandDiscreteDistribution_t distribution, unsigned* values) {
  curandStatePhilox4_32_10_t state;
  curand_init(7, threadIdx.x, 0, &state);
  for (int i = threadIdx.x; i < kCount; i += blockDim.x) {
    values[i] = curand_discrete(&state, distribution);
  }
}

void device_functions() {
  of_kernels<curandStateXORWOW>("XORWOW");
  of_kernels<curandStatePhilox4_32_10_t>("Philox");
  of_kernels<curandStateMRG32k3a>("MRG32k3a");

  // A host generator begins with the first numbers of the subsequences.
  auto* const bits = allocate<unsigned>(kCount);
  first_of_each<<<1, 64>>>(bits);
  const auto of_kernel = to_host(bits, 64);
  curandGenerator_t generator = nullptr;
  CHECK(curandCreateGenerator(&generator, CURAND_RNG_PSEUDO_DEFAULT));
  CHECK(curandSetPseudoRandomGeneratorSeed(generator, 1234));
  CHECK(curandGenerate(generator, bits, 64));
  expect(to_host(bits, 64) == of_kernel, "the host's XORWOW is another");
  CHECK(curandDestroyGenerator(generator));

  curandDirectionVectors32_t* host_vectors = nullptr;
  CHECK(curandGetDirectionVectors32(&host_vectors, CURAND_DIRECTION_VECTORS_32_JOEKUO6));
  auto* const vectors = allocate<curandDirectionVectors32_t>(4);
  CHECK(cudaMemcpy(vectors, host_vectors, 4 * sizeof *vectors, cudaMemcpyHostToDevice));
  auto* const values = allocate<float>(4 * 1024);
  sobol<<<4, 32>>>(vectors, values);
  expect_moments(to_host(values, 4 * 1024), 0.5, 1.0 / 12, "Sobol");

  for (const double lambda : {0.5, 30.0, 5000.0}) {
    curandDiscreteDistribution_t distribution = nullptr;
    CHECK(curandCreatePoissonDistribution(lambda, &distribution));
    discrete<<<1, 64>>>(distribution, bits);
    expect_moments(to_host(bits, kCount), lambda, lambda, "discrete");
    CHECK(curandDestroyDistribution(distribution));
  }
  CHECK(cudaFree(vectors));
  CHECK(cudaFree(values));
  CHECK(cudaFree(bits));
}

void statuses() {
  curandGenerator_t generator = nullptr;
  curandDiscreteDistribution_t distribution = nullptr;
  auto* const floats = allocate<float>(8);
  const int answers[] = {
      curandCreateGenerator(&generator, static_cast<curandRngType_t>(7)),
      curandGenerateUniform(nullptr, floats, 8),
      curandCreateGenerator(&generator, CURAND_RNG_PSEUDO_XORWOW),
      curandGenerateNormal(generator, floats, 7, 0, 1),
      curandGenerateLongLong(generator, reinterpret_cast<unsigned long long*>(floats), 2),
      curandSetQuasiRandomGeneratorDimensions(generator, 2),
      curandSetGeneratorOrdering(generator, CURAND_ORDERING_QUASI_DEFAULT),
      curandGeneratePoisson(generator, reinterpret_cast<unsigned*>(floats), 8, 0),
      curandDestroyGenerator(generator),
      curandGenerateUniform(generator, floats, 8),  // destroyed
      curandCreateGenerator(&generator, CURAND_RNG_QUASI_SOBOL32),
      curandSetPseudoRandomGeneratorSeed(generator, 1),
      curandSetQuasiRandomGeneratorDimensions(generator, 20001),
      curandSetQuasiRandomGeneratorDimensions(generator, 3),
      curandGenerateUniform(generator, floats, 8),
      curandCreatePoissonDistribution(400001, &distribution),
  };
  for (const int status : answers) std::printf("%d ", status);
  std::puts("");
}

// Programs with defects.
void short_output() {
  auto* const floats = allocate<float>(63);
  curandGenerator_t generator = nullptr;
  CHECK(curandCreateGenerator(&generator, CURAND_RNG_PSEUDO_PHILOX4_32_10));
  CHECK(curandGenerateUniform(generator, floats, 64));  //~ short_output
  CHECK(cudaDeviceSynchronize());
}

__global__ void halve(float* values) { values[threadIdx.x] *= 0.5F; }  //~ reader

void unordered() {
  auto* const floats = allocate<float>(64);
  cudaStream_t stream = nullptr;
  CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  curandGenerator_t generator = nullptr;
  CHECK(curandCreateGenerator(&generator, CURAND_RNG_PSEUDO_DEFAULT));
  CHECK(curandSetStream(generator, stream));
  CHECK(curandGenerateUniform(generator, floats, 64));  //~ unordered
  halve<<<1, 64>>>(floats);
  CHECK(cudaDeviceSynchronize());
}

void freed() {
  auto* const floats = allocate<float>(64);
  curandGenerator_t generator = nullptr;
  CHECK(curandCreateGenerator(&generator, CURAND_RNG_PSEUDO_DEFAULT));
  CHECK(cudaFree(floats));  //~ numbers_freed
  CHECK(curandGenerateUniform(generator, floats, 64));  //~ freed
  CHECK(cudaDeviceSynchronize());
}

void on_host() {
  std::vector<float> floats(64);
  curandGenerator_t generator = nullptr;
  CHECK(curandCreateGenerator(&generator, CURAND_RNG_PSEUDO_DEFAULT));
  CHECK(curandGenerateUniform(generator, floats.data(), 64));  //~ on_host
  CHECK(cudaDeviceSynchronize());
}

// Numbers that equal the vendor's.
void right_order() {
  auto* const floats = allocate<float>(64);
  curandGenerator_t generator = nullptr;
  for (const curandRngType_t type :
       {CURAND_RNG_PSEUDO_XORWOW, CURAND_RNG_PSEUDO_MRG32K3A, CURAND_RNG_PSEUDO_PHILOX4_32_10,
        CURAND_RNG_PSEUDO_MTGP32, CURAND_RNG_QUASI_SOBOL32}) {
    CHECK(curandCreateGenerator(&generator, type));
    CHECK(curandGenerateUniform(generator, floats, 64));
    CHECK(curandDestroyGenerator(generator));
  }
  CHECK(cudaFree(floats));
}

struct Mode {
  const char* name;
  void (*run)();
};
constexpr Mode kModes[] = {{"host", host_functions}, {"device", device_functions},
                           {"statuses", statuses},   {"short-output", short_output},
                           {"unordered", unordered}, {"freed", freed},
                           {"on-host", on_host},     {"right-order", right_order}};

}  // namespace

int main(int, char** arguments) {
  for (const Mode& mode : kModes) {
    if (std::strcmp(mode.name, arguments[1]) == 0) mode.run();
  }
  return 0;
}
