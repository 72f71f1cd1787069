// The device that programs see: compute capability 7.5 with few multiprocessors.
//
// Compute capability 7.5 is the oldest that the toolkit compiles for, so what passes here meets no
// limit on newer hardware.  Few multiprocessors keep grids small that are sized by their number.
// Limits are those of the CUDA C++ Programming Guide, "Compute Capabilities", column 7.5.
#pragma once

#include <cstddef>
#include <cstdint>

namespace warpcheck::cudart::virtual_gpu {

inline constexpr const char* kName = "warpcheck virtual GPU";
inline constexpr int kMajor = 7, kMinor = 5;
inline constexpr int kMultiprocessors = 4;
inline constexpr int kWarpSize = 32;

inline constexpr int kBlockThreadsMax = 1024;
inline constexpr int kBlockDimMax[3] = {1024, 1024, 64};
inline constexpr int kGridDimMax[3] = {2147483647, 65535, 65535};
// Blocks of a cluster; more than the first only after cudaFuncSetAttribute.  As on devices that
// have clusters: kernels of any target may be launched in them here.
inline constexpr int kPortableClusterBlocksMax = 8, kClusterBlocksMax = 16;
inline constexpr int kMultiprocessorThreadsMax = 1024;
inline constexpr int kMultiprocessorBlocksMax = 16;

// A block's static and dynamic shared memory; above the first only after cudaFuncSetAttribute.
inline constexpr std::size_t kBlockSharedBytes = 48 * 1024;
inline constexpr std::size_t kBlockSharedBytesOptIn = 64 * 1024;
inline constexpr std::size_t kMultiprocessorSharedBytes = 64 * 1024;

inline constexpr std::size_t kThreadLocalBytes = 512 * 1024;
inline constexpr std::size_t kConstantBytes = 64 * 1024;
inline constexpr std::size_t kPitchBytes = 512;  // cudaMallocPitch rounds up to it
inline constexpr std::size_t kPitchBytesMax = 2147483647;
inline constexpr std::size_t kTextureAlignment = 512, kTexturePitchAlignment = 32;
inline constexpr int kTexture1DWidthMax = 131072, kTexture1DLinearWidthMax = 1 << 28;
inline constexpr int kTexture2DMax[2] = {131072, 65536};
inline constexpr int kTexture3DMax = 16384;
inline constexpr int kCopyEngines = 2;
inline constexpr int kL2CacheBytes = 4 * 1024 * 1024;
inline constexpr int kMemoryBusBits = 256;

// Registers are not allocated here; this is what an ordinary kernel uses on hardware.
inline constexpr int kThreadRegisters = 32;
inline constexpr int kBlockRegisters = 65536;

// Virtual time, for events: a fixed function of the work done, so that it is the same on every
// machine.  It says nothing about speed.
inline constexpr std::uint64_t kClockHz = 1'000'000'000;
inline constexpr std::uint64_t kLaunchCycles = 2'000;  // beside one cycle a warp instruction
inline constexpr std::uint64_t kCopyCycles = 1'000;
inline constexpr std::uint64_t kCopyBytesPerCycle = 16;

inline constexpr int kRuntimeVersion = 13000;  // CUDA 13.0

}  // namespace warpcheck::cudart::virtual_gpu
