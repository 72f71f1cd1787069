// Libraries of kernels that a program loads, by the runtime's functions and by the driver's.
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

namespace warpcheck::cudart {
namespace {

constexpr const char* kText = R"(.version 8.0
.target sm_75
.address_size 64
.visible .entry nothing() { ret; }
)";

// The driver's function, as a program finds it.
template <typename Function>
Function* driver_function(const char* name) {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult result{};
  EXPECT_EQ(cudaGetDriverEntryPointByVersion(name, &found, 12000, cudaEnableDefault, &result),
            cudaSuccess);
  return reinterpret_cast<Function*>(found);
}
#define DRIVER(function) driver_function<decltype(function)>(#function)

// No device has unified functions, so none is found.
TEST(LibraryApi, HasNoUnifiedFunctions) {
  cudaLibrary_t library = nullptr;
  ASSERT_EQ(cudaLibraryLoadData(&library, kText, nullptr, nullptr, 0, nullptr, nullptr, 0),
            cudaSuccess);
  void* function = nullptr;
  EXPECT_EQ(cudaLibraryGetUnifiedFunction(&function, library, "nothing"), cudaErrorSymbolNotFound);
  EXPECT_EQ(cudaLibraryGetUnifiedFunction(nullptr, library, "nothing"), cudaErrorInvalidValue);
  EXPECT_EQ(cudaLibraryGetUnifiedFunction(&function, library, nullptr), cudaErrorInvalidValue);
  EXPECT_EQ(cudaLibraryUnload(library), cudaSuccess);

  CUlibrary loaded = nullptr;
  ASSERT_EQ(DRIVER(cuLibraryLoadData)(&loaded, kText, nullptr, nullptr, 0, nullptr, nullptr, 0),
            CUDA_SUCCESS);
  EXPECT_EQ(DRIVER(cuLibraryGetUnifiedFunction)(&function, loaded, "nothing"),
            CUDA_ERROR_NOT_FOUND);
  EXPECT_EQ(DRIVER(cuLibraryGetUnifiedFunction)(nullptr, loaded, "nothing"),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(DRIVER(cuLibraryUnload)(loaded), CUDA_SUCCESS);
  cudaGetLastError();
}

}  // namespace
}  // namespace warpcheck::cudart
