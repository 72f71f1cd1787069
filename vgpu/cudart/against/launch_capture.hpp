// Copies what a launch reads, so that it can be run once more: on another device, or here with
// other code.
#pragma once

#include <string>
#include <vector>

#include "vgpu/cudart/against/launch_image.hpp"
#include "vgpu/cudart/code/device_code.hpp"
#include "vgpu/cudart/memory/allocations.hpp"
#include "vgpu/machine/machine.hpp"

namespace warpcheck::cudart {

// Returns why a launch cannot be run on another device; empty: it can.
std::string why_not_elsewhere(const vgpu::Launch& launch, const LinkedKernel& kernel,
                              const vgpu::DeviceMemory& memory);

// Returns the launch with the memory as it is now.
LaunchImage capture(const vgpu::Launch& launch, const LinkedKernel& kernel,
                    const vgpu::DeviceMemory& memory, Allocations& allocations);
// Returns the memory of the image as it is now.
std::vector<MemoryImage> capture_again(const LaunchImage& image, vgpu::DeviceMemory& memory);
// Writes the bytes back.
void restore(const std::vector<MemoryImage>& images, vgpu::DeviceMemory& memory);

}  // namespace warpcheck::cudart
