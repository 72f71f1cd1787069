// Refuses a function of the driver API that no file of this folder defines.
#include <cuda.h>
#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "vgpu/cudart/api/api.hpp"
#include "vgpu/cudart/driver/driver_functions.hpp"

namespace warpcheck::cudart {
namespace {

// Functions from before CUDA 3.2 have 32-bit addresses and sizes.
constexpr int kWideAddresses = 3020;

std::string why_refused(std::string_view name) {
  const auto all = driver_functions();
  const auto found = std::ranges::find(all, name, &DriverFunction::name);
  if (found == all.end() || found->version >= kWideAddresses) return {};
  const auto newer = std::ranges::find_if(all, [&](const DriverFunction& one) {
    return one.asked == found->asked && one.version > found->version;
  });
  if (newer == all.end()) return {};
  return fmt::format("it is of before CUDA 3.2, with addresses of 32 bits; {} is what cuda.h means",
                     newer->name);
}

}  // namespace
}  // namespace warpcheck::cudart

extern "C" CUresult warpcheck_refuse_driver_call();

CUresult warpcheck_refuse_driver_call() {
  namespace cudart = warpcheck::cudart;
  const std::string_view name = cudart::current_call().name;
  static_cast<void>(cudart::not_supported(name, cudart::why_refused(name)));
  return CUDA_ERROR_NOT_SUPPORTED;
}
