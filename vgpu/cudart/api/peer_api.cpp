// Several devices: access to each other's memory.
//
// All devices of the virtual system are alike, and each can be connected with every other.
#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include "vgpu/cudart/api/api.hpp"

using namespace warpcheck::cudart;  // NOLINT(google-build-using-namespace)

namespace {

// Runs `body(device, peer)` with the number of another existing device.
template <typename Body>
cudaError_t with_peer(int peer, Body&& body) {
  return answer([&](Device& device) {
    if (!device.exists(peer)) return no_such_device(device, peer);
    if (static_cast<unsigned>(peer) == device.number()) {
      return device.errors().because(cudaErrorInvalidDevice,
                                     fmt::format("device {} is the current device itself", peer));
    }
    return body(device, std::uint32_t{1} << peer);
  });
}

}  // namespace

extern "C" {

cudaError_t cudaDeviceCanAccessPeer(int* can_access, int number, int peer) {
  return answer([&](Device& device) {
    if (can_access == nullptr) return cudaErrorInvalidValue;
    if (!device.exists(number) || !device.exists(peer)) return cudaErrorInvalidDevice;
    *can_access = number != peer ? 1 : 0;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags) {
  return with_peer(peer, [&](Device& device, std::uint32_t bit) {
    if (const cudaError_t error = check_flags(device, flags, 0)) return error;
    if ((device.own().peers & bit) != 0) return cudaErrorPeerAccessAlreadyEnabled;
    device.own().peers |= bit;
    return cudaSuccess;
  });
}

// Operations that were already requested keep the access.
cudaError_t cudaDeviceDisablePeerAccess(int peer) {
  return with_peer(peer, [](Device& device, std::uint32_t bit) {
    if ((device.own().peers & bit) == 0) return cudaErrorPeerAccessNotEnabled;
    device.wait();
    device.own().peers &= ~bit;
    return device.errors().sticky();
  });
}

cudaError_t cudaDeviceGetP2PAttribute(int* value, cudaDeviceP2PAttr attribute, int number,
                                      int peer) {
  return answer([&](Device& device) {
    if (value == nullptr) return cudaErrorInvalidValue;
    if (!device.exists(number) || !device.exists(peer) || number == peer) {
      return cudaErrorInvalidDevice;
    }
    switch (number_of(attribute)) {
      case cudaDevP2PAttrPerformanceRank: *value = 0; return cudaSuccess;
      case cudaDevP2PAttrAccessSupported:
      case cudaDevP2PAttrNativeAtomicSupported:
      case cudaDevP2PAttrCudaArrayAccessSupported: *value = 1; return cudaSuccess;
      default: return cudaErrorInvalidValue;
    }
  });
}

}  // extern "C"
