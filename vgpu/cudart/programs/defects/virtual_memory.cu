// Virtual memory management: an array that grows at its end without moving, of pieces that are
// mapped one behind the other; the same memory at two addresses; who has access, and until when.
// nvcc: -lcuda
// exec: --leaks
//
// A run without an argument is right.  With one it has that defect:
// clang-format off
// defect no_access: out-of-bounds; (1) is in mapped memory that device 0 has no access to: cuMemSetAccess was not called for it
// defect no_access_of_copy: out-of-bounds; cuMemcpyDtoH of 4 bytes is in mapped memory that no device has access to: cuMemSetAccess was not called for it
// defect read_only: out-of-bounds; (1) writes read-only memory
// defect not_mapped: out-of-bounds; (1) is outside every allocation
// defect unmapped: use-after-free; (1) uses memory that has been unmapped (cuMemUnmap)
// defect not_waited: use-after-free; (1) uses memory that has been unmapped (cuMemUnmap)
// defect uninitialized: uninitialized-read; (1) takes bytes none of which anything has written
// defect freed: invalid-free; cudaFree of memory that cuMemMap has put there, which cuMemUnmap takes away
// defect kept: leak; nothing has freed what (1) allocated
// clang-format on
#include <cuda.h>

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

__global__ void number(int* out, int first, int n) {
  const int i = first + blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = i;  //~ no_access read_only not_mapped unmapped not_waited
}

// Elements that stay where they are while more of them come.
struct Growing {
  CUmemAllocationProp properties{};
  std::size_t piece = 0, mapped = 0, reserved = 0;
  CUdeviceptr begin = 0;

  explicit Growing(int pieces_max) {
    properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    properties.location.id = 0;
    REQUIRE(cuMemGetAllocationGranularity(&piece, &properties, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    reserved = pieces_max * piece;
    REQUIRE(cuMemAddressReserve(&begin, reserved, 0, 0, 0));
  }
  ~Growing() {
    if (mapped != 0) REQUIRE(cuMemUnmap(begin, mapped));
    REQUIRE(cuMemAddressFree(begin, reserved));
  }
  void grow(bool open, CUmemAccess_flags flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE) {
    CUmemGenericAllocationHandle handle;
    REQUIRE(cuMemCreate(&handle, piece, &properties, 0));
    REQUIRE(cuMemMap(begin + mapped, piece, 0, handle, 0));
    REQUIRE(cuMemRelease(handle));  // it lives as long as it is mapped
    const CUmemAccessDesc access{properties.location, flags};
    if (open) REQUIRE(cuMemSetAccess(begin + mapped, piece, &access, 1));
    mapped += piece;
  }
  int* data() const { return reinterpret_cast<int*>(begin); }
  int elements() const { return static_cast<int>(mapped / sizeof(int)); }
};

// Few of the elements are written: those around the border of the pieces.
void number_around(const Growing& growing, std::size_t border, int count) {
  const int first = static_cast<int>(border / sizeof(int)) - count / 2;
  number<<<2, count / 2>>>(growing.data(), first, first + count);
}

bool has_numbers(const Growing& growing, std::size_t border, int count) {
  const std::size_t first = border / sizeof(int) - count / 2;
  std::vector<int> values(count);
  require(cudaMemcpy(values.data(), growing.data() + first, count * sizeof(int),
                     cudaMemcpyDeviceToHost));
  for (int i = 0; i < count; ++i) {
    if (values[i] != static_cast<int>(first) + i) return false;
  }
  return true;
}

bool grows() {
  Growing growing(4);
  for (int pieces = 0; pieces < 3; ++pieces) growing.grow(true);
  number_around(growing, growing.piece, 128);
  require(cudaDeviceSynchronize());
  // The last but one is at another address, too.
  CUmemGenericAllocationHandle handle;
  CUmemAllocationProp properties{};
  REQUIRE(cuMemRetainAllocationHandle(&handle, growing.data() + growing.piece / sizeof(int)));
  REQUIRE(cuMemGetAllocationPropertiesFromHandle(&properties, handle));
  CUdeviceptr other = 0;
  REQUIRE(cuMemAddressReserve(&other, growing.piece, 0, growing.begin + growing.reserved, 0));
  REQUIRE(cuMemMap(other, growing.piece, 0, handle, 0));
  const CUmemAccessDesc access{properties.location, CU_MEM_ACCESS_FLAGS_PROT_READ};
  REQUIRE(cuMemSetAccess(other, growing.piece, &access, 1));
  unsigned long long flags = 0;
  REQUIRE(cuMemGetAccess(&flags, &properties.location, other));
  int value = 0;
  REQUIRE(cuMemcpyDtoH(&value, other, sizeof value));
  // What spans pieces, and what is set there.
  std::vector<char> zeros(3 * growing.piece);
  const bool is_right = other == growing.begin + growing.reserved &&
                        value == static_cast<int>(growing.piece / sizeof(int)) &&
                        flags == CU_MEM_ACCESS_FLAGS_PROT_READ &&
                        has_numbers(growing, growing.piece, 128);
  require(cudaMemset(growing.data(), 0, growing.mapped));
  require(cudaMemcpy(zeros.data(), growing.data(), growing.mapped, cudaMemcpyDeviceToHost));
  REQUIRE(cuMemUnmap(other, growing.piece));
  const bool is_gone = cuMemUnmap(other, growing.piece) == CUDA_ERROR_INVALID_VALUE &&
                       cuMemAddressFree(growing.begin, growing.reserved) ==
                           CUDA_ERROR_INVALID_VALUE;  // something is mapped there
  REQUIRE(cuMemAddressFree(other, growing.piece));
  REQUIRE(cuMemRelease(handle));
  for (const char each : zeros) {
    if (each != 0) return false;
  }
  return is_right && is_gone;
}

int main(int count, char** arguments) {
  const auto has = [&](const char* defect) {
    return count > 1 && std::strcmp(arguments[1], defect) == 0;
  };
  require(cudaSetDevice(0));
  int supported = 0;
  REQUIRE(
      cuDeviceGetAttribute(&supported, CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, 0));
  const bool is_right = supported == 1 && grows();
  Growing growing(3);
  growing.grow(
      !has("no_access") && !has("no_access_of_copy"),
      has("read_only") ? CU_MEM_ACCESS_FLAGS_PROT_READ : CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
  int first = 0;
  if (has("no_access_of_copy")) {
    static_cast<void>(cuMemcpyDtoH(&first, growing.begin, sizeof first));
    return 0;
  }
  const int n = has("not_mapped") ? growing.elements() + 64 : 64;
  number<<<1, 128>>>(growing.data(), n - 64, n);
  if (!has("not_waited")) require(cudaDeviceSynchronize());
  if (has("uninitialized")) {
    require(cudaMemcpy(&first, growing.data() + 100, sizeof first, cudaMemcpyDeviceToHost));
  }
  if (has("unmapped") || has("not_waited")) {
    REQUIRE(cuMemUnmap(growing.begin, growing.mapped));
    growing.mapped = 0;
    if (has("unmapped")) number<<<1, 128>>>(growing.data(), 0, 64);
    require(cudaDeviceSynchronize());
  }
  if (has("freed")) static_cast<void>(cudaFree(growing.data()));
  if (has("kept")) {
    CUmemGenericAllocationHandle handle;
    REQUIRE(cuMemCreate(&handle, growing.piece, &growing.properties, 0));
  }
  std::puts(is_right ? "right" : "wrong");
}
