// Functions of cuFFT that are not implemented: a call is refused and reported by name.
//
// They ignore their arguments, which is compatible with all callers under the x86-64 calling
// convention; so this file does not include their declarations.
#include <cufft.h>

#include "vgpu/libraries/stand_in.hpp"

namespace {

constexpr const char* kSeveralDevices = "transforms over several devices are not done";
constexpr const char* kCallbacks = "callbacks of transforms are device code of another compiler";
constexpr const char* kSettings = "it sets what the library of the virtual GPU does not have";
constexpr const char* kUndocumented = "it is not documented";

}  // namespace

#define REFUSED(name, why)                    \
  extern "C" cufftResult name();              \
  extern "C" cufftResult name() {             \
    warpcheck::libraries::refuse(#name, why); \
    return CUFFT_NOT_SUPPORTED;               \
  }
REFUSED(cufftXtSetGPUs, kSeveralDevices)
REFUSED(cufftXtMalloc, kSeveralDevices)
REFUSED(cufftXtMemcpy, kSeveralDevices)
REFUSED(cufftXtFree, kSeveralDevices)
REFUSED(cufftXtSetWorkArea, kSeveralDevices)
REFUSED(cufftXtExecDescriptor, kSeveralDevices)
REFUSED(cufftXtExecDescriptorC2C, kSeveralDevices)
REFUSED(cufftXtExecDescriptorR2C, kSeveralDevices)
REFUSED(cufftXtExecDescriptorC2R, kSeveralDevices)
REFUSED(cufftXtExecDescriptorZ2Z, kSeveralDevices)
REFUSED(cufftXtExecDescriptorD2Z, kSeveralDevices)
REFUSED(cufftXtExecDescriptorZ2D, kSeveralDevices)
REFUSED(cufftXtQueryPlan, kSeveralDevices)
REFUSED(cufftXtSetCallback, kCallbacks)
REFUSED(cufftXtClearCallback, kCallbacks)
REFUSED(cufftXtSetCallbackSharedSize, kCallbacks)
REFUSED(cufftXtSetJITCallback, kCallbacks)
REFUSED(cufftXtSetWorkAreaPolicy, kSettings)
REFUSED(cufftXtMakePlanGuru64, kUndocumented)
REFUSED(cufftDebug, kUndocumented)
