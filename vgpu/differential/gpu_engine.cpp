#include <fmt/format.h>

#include "vgpu/differential/engine.hpp"
#include "vgpu/differential/random/random_program.hpp"
#include "vgpu/real/driver.hpp"

namespace warpcheck::vgpu {

using real::DeviceBuffer;
using real::Driver;
using real::DriverError;

class Gpu::Impl {
 public:
  // Random programs are recursive.
  Impl() { driver.call("cuCtxSetLimit", CU_LIMIT_STACK_SIZE, std::size_t{1} << 14); }

  Driver driver;
};

Gpu::Gpu() : impl_(std::make_unique<Impl>()) {}
Gpu::~Gpu() = default;

std::string Gpu::description() const { return impl_->driver.description(); }

Result Gpu::run(std::string_view text, unsigned optimization) {
  Driver& driver = impl_->driver;
  Result result;
  CUmodule module = nullptr;
  try {
    module = driver.load(std::string(text), optimization);
  } catch (const DriverError& error) {
    result.problem = error.what();
    return result;
  }
  const std::uint32_t threads = threads_of(text);
  result.bytes.resize(buffer_bytes(threads));
  for (std::size_t i = 0; i < result.bytes.size(); ++i) result.bytes[i] = initial_byte(i);
  DeviceBuffer buffer(driver, result.bytes.size());
  driver.call("cuMemcpyHtoD_v2", buffer.address(), static_cast<const void*>(result.bytes.data()),
              result.bytes.size());
  CUfunction kernel = nullptr;
  driver.call("cuModuleGetFunction", &kernel, module, "k");
  CUdeviceptr address = buffer.address();
  void* arguments[] = {&address};
  driver.call("cuLaunchKernel", kernel, 1u, 1u, 1u, threads, 1u, 1u, 0u, CUstream{},
              static_cast<void**>(arguments), static_cast<void**>(nullptr));
  driver.call("cuMemcpyDtoH_v2", static_cast<void*>(result.bytes.data()), buffer.address(),
              result.bytes.size());
  driver.call("cuModuleUnload", module);
  return result;
}

}  // namespace warpcheck::vgpu
