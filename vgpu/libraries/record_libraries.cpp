// Records what cuFFT and cuRAND return, one result in each line, to compare the replacements of
// these libraries with the vendor's libraries on a real GPU:
//
//   nvcc record_libraries.cpp -lcufft -lcurand -o record && ./record > real.txt
//   warpcheck exec -- ./record > ours.txt
//   python3 compare_recordings.py real.txt ours.txt
//
// `./record cufft` and `./record curand` record one library.  Calls that destroy the context on a
// GPU (null data) are left out, because every later call would fail.
#include <cuda_runtime_api.h>
#include <cufft.h>
#include <cufftXt.h>
#include <curand.h>

#include <cmath>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

namespace {

template <class T>
T* to_device(const std::vector<T>& values) {
  void* memory = nullptr;
  cudaMalloc(&memory, values.size() * sizeof(T));
  cudaMemcpy(memory, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice);
  return static_cast<T*>(memory);
}

// Prints values of an array, from positions that distinguish layouts and orders; 0 where is_defined
// says that the value is undefined.
template <class T>
void print(const std::string& name, const T* pointer, std::size_t count,
           const std::vector<bool>& is_defined = {}) {
  cudaDeviceSynchronize();
  std::vector<T> values(count);
  cudaMemcpy(values.data(), pointer, count * sizeof(T), cudaMemcpyDeviceToHost);
  std::printf("%s:", name.c_str());
  for (const std::size_t at : {0UL, 1UL, 2UL, 3UL, 7UL, 8UL, 255UL, 256UL, 4095UL, 4096UL, 16384UL,
                               49152UL, 65536UL, 81920UL, 262144UL, count - 2, count - 1}) {
    if (at >= count) continue;
    const bool is_printed = is_defined.empty() || is_defined[at];
    std::printf(" %.9g", is_printed ? static_cast<double>(values[at]) : 0);
  }
  std::puts("");
}

void print_status(const std::string& name, int status) {
  std::printf("%s: %d\n", name.c_str(), status);
}

std::vector<float> signal(std::size_t count) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    values[i] = static_cast<float>(static_cast<int>(i * 37 % 101) - 50) / 64;
  }
  return values;
}

struct Layout {
  const char* name;
  int rank, lengths[3], embed[3];
  int stride, dist, batch;  // stride 0: the basic layout
};

// Which elements the in-place output of a complex-to-real transform defines.  The padding between
// them may hold anything.
std::vector<bool> real_elements(const Layout& layout, std::size_t count) {
  const int last = layout.rank - 1, length = layout.lengths[last];
  const bool is_basic = layout.stride == 0;
  const int stride = is_basic ? 1 : layout.stride;
  const int row = is_basic ? 2 * (length / 2 + 1) : layout.embed[last];
  int rows = 1;
  for (int axis = 0; axis < last; ++axis) rows *= layout.lengths[axis];
  const int dist = is_basic ? rows * row : layout.dist;
  std::vector<bool> all(count);
  for (int i = 0; i < layout.batch * rows * length; ++i) {
    const int batch = i / (rows * length), in_batch = i % (rows * length);
    all[batch * dist + (in_batch / length * row + in_batch % length) * stride] = true;
  }
  return all;
}

void record_transform(const Layout& layout, cufftType type, const char* type_name, bool in_place) {
  constexpr std::size_t kFloats = 1 << 14;
  Layout copy = layout;
  int* const embed = copy.stride == 0 ? nullptr : copy.embed;
  cufftHandle plan = 0;
  const std::string name =
      std::string(type_name) + " " + layout.name + (in_place ? " in place" : " out of place");
  const cufftResult made =
      cufftPlanMany(&plan, copy.rank, copy.lengths, embed, copy.stride, copy.dist, embed,
                    copy.stride, copy.dist, type, copy.batch);
  print_status(name, made);
  if (made != CUFFT_SUCCESS) return;
  float* const input = to_device(signal(kFloats));
  float* const output = in_place ? input : to_device(std::vector<float>(kFloats));
  auto* const complex_input = reinterpret_cast<cufftComplex*>(input);
  auto* const complex_output = reinterpret_cast<cufftComplex*>(output);
  cufftResult done = CUFFT_SUCCESS;
  if (type == CUFFT_C2C) done = cufftExecC2C(plan, complex_input, complex_output, CUFFT_FORWARD);
  if (type == CUFFT_R2C) done = cufftExecR2C(plan, input, complex_output);
  if (type == CUFFT_C2R) done = cufftExecC2R(plan, complex_input, output);
  print_status(name, done);
  print(name, output, kFloats,
        type == CUFFT_C2R && in_place ? real_elements(layout, kFloats) : std::vector<bool>());
  cufftDestroy(plan);
  cudaFree(input);
  if (!in_place) cudaFree(output);
}

void record_transforms() {
  constexpr Layout kLayouts[] = {{"64", 1, {64}, {64}, 0, 0, 1},
                                 {"97 batch 3", 1, {97}, {97}, 0, 0, 3},
                                 {"12 x 10", 2, {12, 10}, {12, 10}, 0, 0, 1},
                                 {"4 x 6 x 5", 3, {4, 6, 5}, {4, 6, 5}, 0, 0, 2},
                                 {"16 strided", 1, {16}, {20}, 3, 64, 4},
                                 {"6 x 8 embedded", 2, {6, 8}, {6, 12}, 2, 160, 3}};
  for (const Layout& layout : kLayouts) {
    for (const bool in_place : {false, true}) {
      record_transform(layout, CUFFT_C2C, "C2C", in_place);
      record_transform(layout, CUFFT_R2C, "R2C", in_place);
      record_transform(layout, CUFFT_C2R, "C2R", in_place);
    }
  }
}

void record_plan_statuses() {
  cufftHandle plan = 0;
  int length = 8, zero = 0;
  std::size_t bytes = 0;
  auto* const data = reinterpret_cast<cufftComplex*>(to_device(signal(64)));
  print_status("length 0", cufftPlan1d(&plan, 0, CUFFT_C2C, 1));
  print_status("length -1", cufftPlan1d(&plan, -1, CUFFT_C2C, 1));
  print_status("batch 0", cufftPlan1d(&plan, 8, CUFFT_C2C, 0));
  print_status("type 3", cufftPlan1d(&plan, 8, static_cast<cufftType>(3), 1));
  print_status("rank 0",
               cufftPlanMany(&plan, 0, &length, nullptr, 1, 1, nullptr, 1, 1, CUFFT_C2C, 1));
  print_status("rank 4",
               cufftPlanMany(&plan, 4, &length, nullptr, 1, 1, nullptr, 1, 1, CUFFT_C2C, 1));
  print_status("stride 0",
               cufftPlanMany(&plan, 1, &length, &length, 0, 8, &length, 1, 8, CUFFT_C2C, 1));
  print_status("embed 0", cufftPlanMany(&plan, 1, &length, &zero, 1, 8, &zero, 1, 8, CUFFT_C2C, 1));
  print_status("one embed alone",
               cufftPlanMany(&plan, 1, &length, &length, 2, 8, nullptr, 1, 8, CUFFT_C2C, 1));
  print_status("null plan", cufftPlan1d(nullptr, 8, CUFFT_C2C, 1));
  print_status("plan", cufftPlan1d(&plan, 8, CUFFT_C2C, 1));
  print_status("another type", cufftExecR2C(plan, reinterpret_cast<float*>(data), data));
  print_status("another precision",
               cufftExecZ2Z(plan, reinterpret_cast<cufftDoubleComplex*>(data),
                            reinterpret_cast<cufftDoubleComplex*>(data), CUFFT_FORWARD));
  print_status("direction 0", cufftExecC2C(plan, data, data, 0));
  print_status("made again", cufftMakePlan1d(plan, 8, CUFFT_C2C, 1, &bytes));
  print_status("destroyed", cufftDestroy(plan));
  print_status("destroyed again", cufftDestroy(plan));
  print_status("executed then", cufftExecC2C(plan, data, data, CUFFT_FORWARD));
  print_status("created", cufftCreate(&plan));
  print_status("not made, executed", cufftExecC2C(plan, data, data, CUFFT_FORWARD));
  print_status("not made, size", cufftGetSize(plan, &bytes));
  print_status("not made, stream", cufftSetStream(plan, nullptr));
  print_status("no allocation", cufftSetAutoAllocation(plan, 0));
  print_status("made", cufftMakePlan1d(plan, 97, CUFFT_C2C, 1, &bytes));
  print_status("no work area", cufftExecC2C(plan, data, data, CUFFT_FORWARD));
  print_status("destroyed", cufftDestroy(plan));
  print_status("half of 12", [&] {
    long long twelve = 12;
    cufftCreate(&plan);
    return cufftXtMakePlanMany(plan, 1, &twelve, nullptr, 1, 1, CUDA_C_16F, nullptr, 1, 1,
                               CUDA_C_16F, 1, &bytes, CUDA_C_16F);
  }());
  cudaFree(data);
}

// Records two requests of each kind, to show where the second one continues the sequence.
void record_generator(curandRngType_t type, curandOrdering_t ordering, unsigned dimensions) {
  constexpr std::size_t kMany = 300000;
  const std::string name = "type " + std::to_string(type) + " ordering " +
                           std::to_string(ordering) + " dimensions " + std::to_string(dimensions);
  auto* const bits = to_device(std::vector<unsigned>(kMany));
  auto* const long_bits = to_device(std::vector<unsigned long long>(kMany));
  auto* const floats = to_device(std::vector<float>(kMany));
  auto* const doubles = to_device(std::vector<double>(kMany));
  for (int kind = 0; kind < 9; ++kind) {
    curandGenerator_t generator = nullptr;
    curandCreateGenerator(&generator, type);
    if (type < CURAND_RNG_QUASI_DEFAULT) curandSetPseudoRandomGeneratorSeed(generator, 1234);
    if (type >= CURAND_RNG_QUASI_DEFAULT) {
      curandSetQuasiRandomGeneratorDimensions(generator, dimensions);
    }
    const int ordered = curandSetGeneratorOrdering(generator, ordering);
    if (kind == 0) print_status(name, ordered);
    for (const std::size_t count : {std::size_t{300}, kMany, std::size_t{7}}) {
      const std::string line =
          name + " kind " + std::to_string(kind) + " count " + std::to_string(count);
      int status = 0;
      switch (kind) {
        case 0: status = curandGenerate(generator, bits, count); break;
        case 1: status = curandGenerateLongLong(generator, long_bits, count); break;
        case 2: status = curandGenerateUniform(generator, floats, count); break;
        case 3: status = curandGenerateUniformDouble(generator, doubles, count); break;
        case 4: status = curandGenerateNormal(generator, floats, count, 1, 2); break;
        case 5: status = curandGenerateNormalDouble(generator, doubles, count, 1, 2); break;
        case 6: status = curandGenerateLogNormal(generator, floats, count, 0, 0.5F); break;
        case 7: status = curandGeneratePoisson(generator, bits, count, 63); break;
        case 8: status = curandGeneratePoisson(generator, bits, count, 4500); break;
      }
      print_status(line, status);
      if (status != 0) continue;
      if (kind == 0 || kind >= 7) print(line, bits, count);
      if (kind == 1) print(line, long_bits, count);
      if (kind == 2 || kind == 4 || kind == 6) print(line, floats, count);
      if (kind == 3 || kind == 5) print(line, doubles, count);
    }
    curandDestroyGenerator(generator);
  }
  for (void* const pointer : {(void*)bits, (void*)long_bits, (void*)floats, (void*)doubles}) {
    cudaFree(pointer);
  }
}

void record_generators() {
  for (const curandRngType_t type :
       {CURAND_RNG_PSEUDO_XORWOW, CURAND_RNG_PSEUDO_MRG32K3A, CURAND_RNG_PSEUDO_MTGP32,
        CURAND_RNG_PSEUDO_MT19937, CURAND_RNG_PSEUDO_PHILOX4_32_10}) {
    for (int ordering = CURAND_ORDERING_PSEUDO_BEST; ordering <= CURAND_ORDERING_PSEUDO_DYNAMIC;
         ++ordering) {
      record_generator(type, static_cast<curandOrdering_t>(ordering), 0);
    }
  }
  for (const curandRngType_t type :
       {CURAND_RNG_QUASI_SOBOL32, CURAND_RNG_QUASI_SCRAMBLED_SOBOL32, CURAND_RNG_QUASI_SOBOL64,
        CURAND_RNG_QUASI_SCRAMBLED_SOBOL64}) {
    record_generator(type, CURAND_ORDERING_QUASI_DEFAULT, 3);
  }
}

}  // namespace

int main(int count, char** arguments) {
  const std::string_view which = count == 1 ? "" : arguments[1];
  if (which != "curand") {
    record_transforms();
    record_plan_statuses();
  }
  if (which != "cufft") record_generators();
}
