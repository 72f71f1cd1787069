// What a program hands over as a module while it runs: PTX, a fatbinary, or an image of ours, which
// holds PTX where a real driver's would hold machine code: cuLinkComplete() makes one, and the
// stand-in for ptxas in `warpcheck libdir`.
//
// An image of ours: the 16 bytes of kImageMagic, u64 bytes of the whole image, u64 number of texts,
// and each text as u64 bytes and the bytes; little-endian.
#pragma once

#include <cuda_runtime_api.h>

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace warpcheck::cudart {

inline constexpr std::string_view kImageMagic = "warpcheck image\n";

// Whether bytes begin as an image of ours does.
inline bool is_module_image(std::string_view bytes) { return bytes.starts_with(kImageMagic); }

// error: what the driver answers.  what() tells why, where it is a limit of the virtual GPU.
struct ModuleImageError : std::runtime_error {
  ModuleImageError(cudaError_t answer, const std::string& why)
      : std::runtime_error(why), error(answer) {}
  cudaError_t error;
};

// The PTX texts of an image, to be linked, for a device of compute capability `sm`.  The image is
// as long as it says itself: cuModuleLoadData() is told no size.
// Throws ModuleImageError: cudaErrorInvalidKernelImage for what is no image,
// cudaErrorNoKernelImageForDevice for machine code.
std::vector<std::string> ptx_of_module(const void* image, unsigned sm);

std::string make_module_image(const std::vector<std::string>& texts);

}  // namespace warpcheck::cudart
