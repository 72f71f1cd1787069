#include "cli/against/real_launches.hpp"

#include <fmt/format.h>

#include <array>
#include <cstring>
#include <stdexcept>
#include <vector>

namespace warpcheck {
namespace {

using cudart::LaunchImage;
using cudart::MemoryImage;
using real::DriverError;

constexpr std::size_t kModulesMax = 8;
// More than a launch may use otherwise.
constexpr std::uint32_t kSharedBytesByDefault = 48u << 10;
// Addresses are reserved in ranges of this size and alignment: for less than 32 MiB the driver does
// not keep to the wanted address (seen with driver 580).
constexpr std::uint64_t kReservedBytes = std::uint64_t{1} << 30;
constexpr std::size_t kStackBytes = std::size_t{16} << 10;

CUmemAllocationProp on_device() {
  CUmemAllocationProp properties{};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  return properties;
}

}  // namespace

RealLaunches::RealLaunches() {
  const CUmemAllocationProp properties = on_device();
  driver_.call("cuMemGetAllocationGranularity", &granularity_, &properties,
               CU_MEM_ALLOC_GRANULARITY_MINIMUM);
  driver_.call("cuCtxSetLimit", CU_LIMIT_STACK_SIZE, kStackBytes);
}

CUmodule RealLaunches::module_of(const LaunchImage& image, unsigned optimization) {
  const auto key = std::pair(image.ptx, optimization);
  if (const auto known = modules_.find(key); known != modules_.end()) return known->second;
  if (modules_.size() == kModulesMax) {
    for (const auto& [text, module] : modules_) driver_.call("cuModuleUnload", module);
    modules_.clear();
  }
  return modules_[key] = driver_.load(image.ptx, optimization);
}

void RealLaunches::reserve(std::uint64_t address, std::uint64_t bytes) {
  for (std::uint64_t at = address / kReservedBytes * kReservedBytes; at < address + bytes;
       at += kReservedBytes) {
    if (!reserved_.insert(at).second) continue;
    CUdeviceptr given = 0;
    driver_.call("cuMemAddressReserve", &given, std::size_t{kReservedBytes}, std::size_t{0},
                 CUdeviceptr{at}, 0ull);
    if (given == at) continue;
    driver_.call("cuMemAddressFree", given, std::size_t{kReservedBytes});
    reserved_.erase(at);
    throw std::runtime_error(fmt::format("the driver does not give the address 0x{:x}", at));
  }
}

// Maps memory wherever the range has none yet.
void RealLaunches::provide(std::uint64_t address, std::uint64_t bytes) {
  const std::uint64_t end = (address + bytes + granularity_ - 1) / granularity_ * granularity_;
  std::uint64_t at = address / granularity_ * granularity_;
  while (at < end) {
    const auto above = mapped_.upper_bound(at);
    if (above != mapped_.begin() && std::prev(above)->second > at) {
      at = std::prev(above)->second;
      continue;
    }
    const std::uint64_t free_until = above == mapped_.end() ? end : std::min(end, above->first);
    // Not across the end of a range that was reserved.
    const std::uint64_t until = std::min(free_until, (at / kReservedBytes + 1) * kReservedBytes);
    const std::size_t size = until - at;
    const CUmemAllocationProp properties = on_device();
    CUmemGenericAllocationHandle memory = 0;
    driver_.call("cuMemCreate", &memory, size, &properties, 0ull);
    driver_.call("cuMemMap", CUdeviceptr{at}, size, std::size_t{0}, memory, 0ull);
    CUmemAccessDesc access{};
    access.location = properties.location;
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    driver_.call("cuMemSetAccess", CUdeviceptr{at}, size,
                 static_cast<const CUmemAccessDesc*>(&access), std::size_t{1});
    mapped_[at] = until;
    at = until;
  }
}

std::pair<CUdeviceptr, std::size_t> RealLaunches::variable(CUmodule module,
                                                           const std::string& name) {
  CUdeviceptr address = 0;
  std::size_t bytes = 0;
  try {
    driver_.call("cuModuleGetGlobal_v2", &address, &bytes, module, name.c_str());
  } catch (const DriverError& error) {
    if (error.result() != CUDA_ERROR_NOT_FOUND) throw;
  }
  return {address, bytes};
}

void RealLaunches::upload(CUmodule module, const LaunchImage& image) {
  for (const MemoryImage& one : image.memory) {
    CUdeviceptr target = one.address;
    if (one.variable.empty()) {
      reserve(one.address, one.bytes.size());
      provide(one.address, one.bytes.size());
    } else {
      target = variable(module, one.variable).first;
      if (target == 0) continue;
    }
    driver_.call("cuMemcpyHtoD_v2", target, static_cast<const void*>(one.bytes.data()),
                 one.bytes.size());
  }
}

void RealLaunches::launch(CUmodule module, const LaunchImage& image) {
  CUfunction kernel = nullptr;
  driver_.call("cuModuleGetFunction", &kernel, module, image.kernel.c_str());
  if (image.dynamic_shared_bytes > kSharedBytesByDefault) {
    driver_.call("cuFuncSetAttribute", kernel, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                 static_cast<int>(image.dynamic_shared_bytes));
  }
  std::vector<std::byte> parameters = image.parameters;
  for (const cudart::VariableAddress& one : image.addresses) {
    const CUdeviceptr address = variable(module, one.variable).first + one.offset;
    std::memcpy(&parameters.at(one.at), &address, sizeof address);
  }
  std::array<CUlaunchAttribute, 2> attributes{};
  CUlaunchConfig config{};
  config.gridDimX = image.grid.x;
  config.gridDimY = image.grid.y;
  config.gridDimZ = image.grid.z;
  config.blockDimX = image.block.x;
  config.blockDimY = image.block.y;
  config.blockDimZ = image.block.z;
  config.sharedMemBytes = image.dynamic_shared_bytes;
  config.attrs = attributes.data();
  if (image.explicit_cluster && image.cluster.count() > 1) {
    CUlaunchAttribute& cluster = attributes[config.numAttrs++];
    cluster.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    cluster.value.clusterDim = {image.cluster.x, image.cluster.y, image.cluster.z};
    driver_.call("cuFuncSetAttribute", kernel, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED,
                 1);
  }
  if (image.cooperative) {
    CUlaunchAttribute& cooperative = attributes[config.numAttrs++];
    cooperative.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
    cooperative.value.cooperative = 1;
  }
  std::size_t bytes = parameters.size();
  std::array<void*, 5> extra{CU_LAUNCH_PARAM_BUFFER_POINTER, parameters.data(),
                             CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes, CU_LAUNCH_PARAM_END};
  driver_.call("cuLaunchKernelEx", static_cast<const CUlaunchConfig*>(&config), kernel,
               static_cast<void**>(nullptr), extra.data());
  driver_.call("cuCtxSynchronize");
}

cudart::LaunchResult RealLaunches::run(const LaunchImage& image, unsigned optimization) {
  CUmodule const module = module_of(image, optimization);
  upload(module, image);
  launch(module, image);
  cudart::LaunchResult result{.problem = {}, .memory = image.memory};
  for (MemoryImage& one : result.memory) {
    if (one.is_constant) continue;
    const CUdeviceptr source =
        one.variable.empty() ? one.address : variable(module, one.variable).first;
    if (source == 0) continue;
    driver_.call("cuMemcpyDtoH_v2", static_cast<void*>(one.bytes.data()), source, one.bytes.size());
  }
  return result;
}

}  // namespace warpcheck
