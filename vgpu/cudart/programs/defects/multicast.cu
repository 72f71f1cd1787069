// A multicast object: memory of two devices under one address.  One device adds up what both have
// and stores the sum in both, in three ways: words, four floats at once, and pairs of halves that
// are added in single precision.
// arch: compute_90
// nvcc: -lcuda
// exec: --devices 2
//
// A run without an argument is right.  With one it has that defect:
// clang-format off
// defect not_waited: data-race; nothing orders these two kernel launches: no stream, event, edge of a graph or wait of the host leads from one to the other
// defect no_access: out-of-bounds; (1) is in mapped memory that device 0 has no access to: cuMemSetAccess was not called for it
// defect not_mapped: trap; (1) uses the address 0x1f0000800000, where no multicast object with memory is mapped
// defect plain: out-of-bounds; (1) is outside every allocation: a pointer of the host, one that was never set, or an index that has wrapped?
// defect past_the_end: trap; (1) uses the address 0x1f0000a00000, where no multicast object with memory is mapped
// defect misaligned: misaligned-access; the address of (1) is not a multiple of 16
// defect uninitialized: uninitialized-read; (2) takes a value made from bytes that nothing had written; the value lies in global memory, allocation of 2097152 bytes [0], first of a copy of 3328 bytes
// clang-format on
#include <cuda.h>
#include <cuda_fp16.h>

#include <cstdio>
#include <cstring>
#include <vector>

#include "../check.hpp"

void require(CUresult result, int line) {
  if (result == CUDA_SUCCESS) return;
  std::printf("line %d: %d\n", line, static_cast<int>(result));
  std::exit(1);
}
#define REQUIRE(call) require(call, __LINE__)

constexpr int kDevices = 2, kThreads = 64, kWords = 4 * kThreads;

// Integers, floats, halves, counters.
struct Part {
  unsigned words[kWords];
  float floats[kWords];
  __half2 halves[kWords];
  unsigned counters[kThreads];
};

__global__ void fill(Part* part, int device) {
  for (int i = threadIdx.x; i < kWords; i += kThreads) {
    part->words[i] = i * (device + 1);  //~ not_waited
    part->floats[i] = 0.5f * i + device;
    part->halves[i] = __floats2half2_rn(i % 16, device + 2048.0f);
  }
  part->counters[threadIdx.x] = 100 * device;
}

__global__ void add_up(Part* all) {
  const int t = threadIdx.x;
  for (int i = t; i < kWords; i += kThreads) {
    unsigned sum;
    asm volatile("multimem.ld_reduce.relaxed.sys.global.add.u32 %0, [%1];"
                 : "=r"(sum)
                 : "l"(all->words + i)  //~
                 : "memory");
    asm volatile("multimem.st.relaxed.sys.global.u32 [%0], %1;" ::"l"(all->words + i), "r"(sum)
                 : "memory");
  }
  float4 four;
  asm volatile("multimem.ld_reduce.relaxed.sys.global.add.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(four.x), "=f"(four.y), "=f"(four.z), "=f"(four.w)
               : "l"(all->floats + 4 * t)  //~ misaligned
               : "memory");
  asm volatile(
      "multimem.st.relaxed.sys.global.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(all->floats + 4 * t),
      "f"(four.x), "f"(four.y), "f"(four.z), "f"(four.w)
      : "memory");
  uint4 pairs;
  asm volatile("multimem.ld_reduce.relaxed.sys.global.add.acc::f32.v4.f16x2 {%0, %1, %2, %3}, [%4];"
               : "=r"(pairs.x), "=r"(pairs.y), "=r"(pairs.z), "=r"(pairs.w)
               : "l"(all->halves + 4 * t)
               : "memory");
  asm volatile(
      "multimem.st.relaxed.sys.global.v4.f16x2 [%0], {%1, %2, %3, %4};" ::"l"(all->halves + 4 * t),
      "r"(pairs.x), "r"(pairs.y), "r"(pairs.z), "r"(pairs.w)
      : "memory");
  asm volatile("multimem.red.relaxed.sys.global.add.u32 [%0], %1;" ::"l"(all->counters + t), "r"(t)
               : "memory");
}

__global__ void look(const Part* all, unsigned* out) {
  out[threadIdx.x] = all->words[threadIdx.x];  //~ plain
}

struct Memory {
  CUmemGenericAllocationHandle handle;
  CUdeviceptr address;
  Part* part() const { return reinterpret_cast<Part*>(address); }
};

void open(CUdeviceptr address, std::size_t bytes) {
  CUmemAccessDesc both[kDevices];
  for (int device = 0; device < kDevices; ++device) {
    both[device] = {{CU_MEM_LOCATION_TYPE_DEVICE, device}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  }
  REQUIRE(cuMemSetAccess(address, bytes, both, kDevices));
}

bool is_sum(const Part& part, int device) {
  bool is_right = true;
  for (int i = 0; i < kWords; ++i) {
    is_right &= part.words[i] == unsigned(3 * i) && part.floats[i] == 1.0f * i + 1 &&
                __low2float(part.halves[i]) == 2 * (i % 16) &&
                __high2float(part.halves[i]) == 4096;  // 2048 + 2049 is 4097, between two halves
  }
  for (int t = 0; t < kThreads; ++t) {
    is_right &= part.counters[t] == unsigned(100 * device + t);
  }
  return is_right;
}

int main(int count, char** arguments) {
  const auto has = [&](const char* defect) {
    return count > 1 && std::strcmp(arguments[1], defect) == 0;
  };
  require(cudaSetDevice(0));
  int supported = 0;
  REQUIRE(cuDeviceGetAttribute(&supported, CU_DEVICE_ATTRIBUTE_MULTICAST_SUPPORTED, 0));
  CUmulticastObjectProp properties{};
  properties.numDevices = kDevices;
  properties.size = sizeof(Part);
  std::size_t bytes = 0;
  REQUIRE(cuMulticastGetGranularity(&bytes, &properties, CU_MULTICAST_GRANULARITY_RECOMMENDED));
  properties.size = bytes;
  CUmemGenericAllocationHandle object;
  REQUIRE(cuMulticastCreate(&object, &properties));
  for (int device = 0; device < kDevices; ++device) REQUIRE(cuMulticastAddDevice(object, device));
  Memory memory[kDevices];
  for (int device = 0; device < kDevices; ++device) {
    CUmemAllocationProp of{};
    of.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    of.location = {CU_MEM_LOCATION_TYPE_DEVICE, device};
    REQUIRE(cuMemCreate(&memory[device].handle, bytes, &of, 0));
    REQUIRE(cuMemAddressReserve(&memory[device].address, bytes, 0, 0, 0));
    REQUIRE(cuMemMap(memory[device].address, bytes, 0, memory[device].handle, 0));
    open(memory[device].address, bytes);
  }
  CUdeviceptr all = 0;
  REQUIRE(cuMemAddressReserve(&all, bytes, 0, 0, 0));
  // One memory is bound before the object is mapped, by its address, and the other one afterwards.
  REQUIRE(cuMulticastBindAddr(object, 0, memory[0].address, bytes, 0));
  if (!has("not_mapped")) REQUIRE(cuMemMap(all, bytes, 0, object, 0));
  REQUIRE(cuMulticastBindMem(object, 0, memory[1].handle, 0, bytes, 0));
  if (!has("not_mapped") && !has("no_access")) open(all, bytes);
  for (int device = kDevices - 1; device >= 0; --device) {
    if (device == 1 && has("uninitialized")) continue;
    require(cudaSetDevice(device));
    fill<<<1, kThreads>>>(memory[device].part(), device);
    if (!has("not_waited")) require(cudaDeviceSynchronize());
  }
  auto* part = reinterpret_cast<Part*>(all);
  if (has("plain")) {
    unsigned* out;
    require(cudaMalloc(&out, kThreads * sizeof *out));
    look<<<1, kThreads>>>(part, out);
  }
  if (has("past_the_end")) part = reinterpret_cast<Part*>(all + bytes);
  if (has("misaligned")) part = reinterpret_cast<Part*>(all + 4);
  add_up<<<1, kThreads>>>(part);
  static_cast<void>(cudaDeviceSynchronize());
  if (count > 1 && !has("uninitialized")) return 0;
  bool is_right = supported == 1;
  for (int device = 0; device < kDevices; ++device) {
    Part copy;
    require(cudaMemcpy(&copy, memory[device].part(), sizeof copy, cudaMemcpyDeviceToHost));
    is_right &= is_sum(copy, device);
  }
  REQUIRE(cuMemUnmap(all, bytes));
  REQUIRE(cuMulticastUnbind(object, 1, 0, bytes));
  REQUIRE(cuMemRelease(object));
  for (const Memory& one : memory) {
    REQUIRE(cuMemUnmap(one.address, bytes));
    REQUIRE(cuMemRelease(one.handle));
  }
  std::puts(is_right ? "right" : "wrong");
  return is_right ? 0 : 1;
}
