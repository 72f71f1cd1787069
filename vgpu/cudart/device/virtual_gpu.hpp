// The device that programs see, with a given compute capability.
//
// In trials the capability is 7.5, the oldest that the toolkit compiles for, so kernels that pass
// there fit the limits of newer hardware.  It has few multiprocessors there, so grids whose size
// depends on that number stay small.  A plain program gets a device for which it was built:
// that of the newest PTX that it contains, or the one that `warpcheck exec --device` names.  Limits
// are those of the CUDA C++ Programming Guide, "Compute Capabilities", technical specifications.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace warpcheck::cudart::virtual_gpu {

inline constexpr const char* kName = "warpcheck virtual GPU";
inline constexpr int kWarpSize = 32;

inline constexpr int kBlockThreadsMax = 1024;
inline constexpr int kBlockDimMax[3] = {1024, 1024, 64};
inline constexpr int kGridDimMax[3] = {2147483647, 65535, 65535};
// The maximal number of blocks in a cluster without cudaFuncSetAttribute.
inline constexpr int kPortableClusterBlocksMax = 8;

// The maximal static and dynamic shared memory of a block without cudaFuncSetAttribute.
inline constexpr std::size_t kBlockSharedBytes = 48 * 1024;

// The properties that depend on the compute capability.
struct Capability {
  int major = 0, minor = 0;
  int multiprocessor_threads_max = 0;
  int multiprocessor_blocks_max = 0;
  std::size_t multiprocessor_shared_bytes = 0;
  std::size_t reserved_shared_bytes = 0;  // per block, in addition to its own
  int single_to_double_ratio = 0;
  // The multiprocessors of each cluster of them (GPC), of one product of that capability.  The
  // blocks of a thread block cluster are resident on one of these.
  std::array<std::uint8_t, 12> groups{};
  // Of the same product.
  std::size_t l2_bytes = 0;
  int memory_bus_bits = 0;
  // The maximal number of blocks in a cluster after cudaFuncSetAttribute; 1: there are no clusters.
  int cluster_blocks_max = 1;

  [[nodiscard]] constexpr int multiprocessors() const {
    int sum = 0;
    for (const std::uint8_t group : groups) sum += group;
    return sum;
  }
  [[nodiscard]] constexpr unsigned sm() const {
    return static_cast<unsigned>(major * 10 + minor);  // 75: as in sm_75
  }
  // Devices from 8.0 on set a part of L2 aside for persisting accesses; of an A100 three quarters.
  [[nodiscard]] constexpr bool has_persisting_l2() const { return major >= 8; }
  [[nodiscard]] constexpr std::size_t persisting_l2_bytes() const {
    return has_persisting_l2() ? l2_bytes / 4 * 3 : 0;
  }
  [[nodiscard]] constexpr bool has_clusters() const { return cluster_blocks_max > 1; }
  // Returns whether programmatic dependent launches are supported.
  [[nodiscard]] constexpr bool has_early_launches() const { return major >= 9; }
  // The limit for the nesting of grids that wait for the grids that they launch (CUDA Runtime API,
  // cudaDeviceSetLimit).
  [[nodiscard]] constexpr bool has_waits_for_children() const { return major < 9; }
  // The maximal static and dynamic shared memory of a block after cudaFuncSetAttribute.
  [[nodiscard]] constexpr std::size_t block_shared_bytes_opt_in() const {
    return multiprocessor_shared_bytes - reserved_shared_bytes;
  }
};

// Products: T4, A100, A40, Orin, L40S, H200 (whose groups are such that 15 clusters of 8 blocks
// with a multiprocessor each are resident, as measured), B200, B300, Thor, RTX 5090, GB10.  Those
// of one chip with the processor (Thor, GB10) have clusters of portable sizes only.
inline constexpr std::size_t kKiB = 1024, kMiB = 1024 * kKiB;
// clang-format off
inline constexpr std::array kCapabilities{
    Capability{7, 5, 1024, 16, 64 * kKiB, 0, 32, {8, 8, 8, 8, 8}, 4 * kMiB, 256},
    Capability{8, 0, 2048, 32, 164 * kKiB, kKiB, 2, {16, 16, 16, 16, 16, 14, 14}, 40 * kMiB, 5120},
    Capability{8, 6, 1536, 16, 100 * kKiB, kKiB, 64, {12, 12, 12, 12, 12, 12, 12}, 6 * kMiB, 384},
    Capability{8, 7, 1536, 16, 164 * kKiB, kKiB, 64, {8, 8}, 4 * kMiB, 256},
    Capability{8, 9, 1536, 24, 100 * kKiB, kKiB, 64,
               {12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 10}, 96 * kMiB, 384},
    Capability{9, 0, 2048, 32, 228 * kKiB, kKiB, 2,
               {18, 18, 18, 16, 16, 16, 16, 14}, 60 * kMiB, 6144, 16},
    Capability{10, 0, 2048, 32, 228 * kKiB, kKiB, 2,
               {20, 20, 18, 18, 18, 18, 18, 18}, 253 * kMiB / 2, 7680, 16},
    Capability{10, 3, 2048, 32, 228 * kKiB, kKiB, 64,
               {20, 20, 18, 18, 18, 18, 18, 18}, 253 * kMiB / 2, 7680, 16},
    Capability{11, 0, 1536, 24, 228 * kKiB, kKiB, 64, {10, 10}, 32 * kMiB, 256, 8},
    Capability{12, 0, 1536, 24, 100 * kKiB, kKiB, 64,
               {16, 16, 16, 16, 16, 16, 16, 16, 14, 14, 14}, 96 * kMiB, 512, 16},
    Capability{12, 1, 1536, 24, 100 * kKiB, kKiB, 64, {12, 12, 12, 12}, 24 * kMiB, 256, 8},
};
// clang-format on

// Returns the newest capability that is not above sm_NN; the oldest one if all are above.
constexpr const Capability& capability_of(unsigned sm) {
  const Capability* best = &kCapabilities.front();
  for (const Capability& one : kCapabilities) {
    if (one.sm() <= sm) best = &one;
  }
  return *best;
}

// Kernels of any target may be launched in clusters there.
inline constexpr Capability kTrialCapability{7,  5,   1024,     16,  64 * kKiB, 0,
                                             32, {4}, 4 * kMiB, 256, 16};
static_assert(kTrialCapability.multiprocessors() == 4);

inline constexpr std::size_t kThreadLocalBytes = 512 * 1024;
inline constexpr std::size_t kConstantBytes = 64 * 1024;
inline constexpr std::size_t kPitchBytes = 512;  // cudaMallocPitch rounds up to it
inline constexpr std::size_t kPitchBytesMax = 2147483647;
inline constexpr std::size_t kTextureAlignment = 512, kTexturePitchAlignment = 32;
inline constexpr int kTexture1DWidthMax = 131072, kTexture1DLinearWidthMax = 1 << 28;
inline constexpr int kTexture2DMax[2] = {131072, 65536};
inline constexpr int kTexture3DMax = 16384;
inline constexpr int kCopyEngines = 2;
inline constexpr std::size_t kAccessPolicyWindowBytesMax = 128 * 1024 * 1024;

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
