// A translation unit for tests without nvcc: hand-written PTX in a fatbinary, registered like a
// host object.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

// NOLINTBEGIN(bugprone-reserved-identifier): the names are part of the ABI.
extern "C" {
void** __cudaRegisterFatBinary(void* wrapper);
void __cudaRegisterFatBinaryEnd(void** handle);
void __cudaUnregisterFatBinary(void** handle);
void __cudaRegisterFunction(void** handle, const char* host, char* device, const char* name, int,
                            uint3*, uint3*, dim3*, dim3*, int*);
void __cudaRegisterVar(void** handle, char* host, char* device, const char* name, int ext,
                       size_t size, int constant, int global);
void __cudaRegisterManagedVar(void** handle, void** host, char* device, const char* name, int ext,
                              size_t size, int constant, int global);
unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, CUstream_st* stream);
cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, size_t* shared, void* stream);
}
// NOLINTEND(bugprone-reserved-identifier)

namespace warpcheck::cudart {

class TestUnit {
 public:
  // kind: 1 PTX, 2 machine code; sm: its target, 75 for compute_75.
  explicit TestUnit(std::string_view ptx, std::uint16_t kind = 1, std::uint32_t sm = 75);
  // Relocatable device code: one text and its target for each translation unit.
  explicit TestUnit(const std::vector<std::string_view>& parts,
                    const std::vector<std::uint32_t>& targets = {});
  ~TestUnit() { __cudaUnregisterFatBinary(handle_); }
  TestUnit(const TestUnit&) = delete;
  TestUnit& operator=(const TestUnit&) = delete;

  // The address of any object can identify the kernel or variable.
  void kernel(const void* host, const char* name) {
    __cudaRegisterFunction(handle_, static_cast<const char*>(host), nullptr, name, -1, nullptr,
                           nullptr, nullptr, nullptr, nullptr);
  }
  void variable(void* host, const char* name, std::size_t bytes) {
    __cudaRegisterVar(handle_, static_cast<char*>(host), nullptr, name, 0, bytes, 0, 0);
  }
  // host: the host variable that receives its address.
  void managed(void** host, const char* name, std::size_t bytes) {
    __cudaRegisterManagedVar(handle_, host, nullptr, name, 0, bytes, 0, 0);
  }
  [[nodiscard]] void** handle() const { return handle_; }

 private:
  struct Wrapper {
    std::uint32_t magic = 0x466243b1, version = 1;
    const void* data = nullptr;
    const void* extra = nullptr;
  };
  void enroll();

  std::vector<std::byte> image_;
  std::vector<std::vector<std::byte>> parts_;
  std::vector<const std::byte*> list_;  // the parts, followed by a null pointer
  Wrapper wrapper_;
  void** handle_ = nullptr;
};

}  // namespace warpcheck::cudart
