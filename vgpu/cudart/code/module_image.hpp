// Module images that a program loads at run time: PTX, a fatbinary, or an image of our own format,
// which contains PTX in place of machine code. cuLinkComplete() creates such images, and so does
// the replacement of ptxas in `warpcheck libdir`.
//
// Our own format: the 16 bytes of kImageMagic, u64 size of the whole image, u64 number of texts,
// and each text as u64 size and bytes; little-endian.
#pragma once

#include <cuda_runtime_api.h>

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "vgpu/cudart/device/code_target.hpp"

namespace warpcheck::cudart {

inline constexpr std::string_view kImageMagic = "warpcheck image\n";

// Returns whether the bytes begin like an image of our own format.
inline bool is_module_image(std::string_view bytes) { return bytes.starts_with(kImageMagic); }

// error: the error that the driver returns. what() gives the reason if it is a limit of the virtual
// GPU.
struct ModuleImageError : std::runtime_error {
  ModuleImageError(cudaError_t answer, const std::string& why)
      : std::runtime_error(why), error(answer) {}
  cudaError_t error;
};

// Returns the PTX texts of an image, which must be linked, for a device.
// The image contains its own size, because cuModuleLoadData() gets none.  Throws ModuleImageError:
// cudaErrorInvalidKernelImage for what is no image, cudaErrorNoKernelImageForDevice for machine
// code.  Throws vgpu::WrongTarget if a device that was named does not run it.
std::vector<std::string> ptx_of_module(const void* image, const CodeTarget& target);

std::string make_module_image(const std::vector<std::string>& texts);

}  // namespace warpcheck::cudart
