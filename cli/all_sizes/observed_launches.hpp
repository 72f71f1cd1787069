// The launches that a host makes, with the memory that it had allocated: what a proof for every
// size has to know about the host.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "harness/case/case.hpp"
#include "vgpu/machine/observer.hpp"
#include "vgpu/program/program.hpp"

namespace warpcheck {

struct ObservedLaunch {
  std::string kernel;                      // mangled
  std::shared_ptr<const std::string> ptx;  // of its module
  Dim3 grid, block;
  std::uint64_t dynamic_shared_bytes = 0;
  std::vector<vgpu::Parameter> layout;
  std::vector<std::byte> parameters;
  std::map<std::uint64_t, std::uint64_t> allocations;  // address to bytes
  std::size_t input = 0;                               // the number of the input in its list
};

class LaunchLog final : public vgpu::Observer {
 public:
  [[nodiscard]] vgpu::Watched watches() const override { return {.accesses = false}; }
  void begin_input(std::size_t number);
  void on_allocate(const vgpu::Allocation& allocation) override;
  void on_free(const vgpu::Allocation& allocation) override;
  void on_sync(const vgpu::Sync& sync) override;

  [[nodiscard]] const std::vector<ObservedLaunch>& launches() const { return launches_; }

 private:
  std::vector<ObservedLaunch> launches_;
  std::map<std::uint64_t, std::uint64_t> allocations_;
  std::map<std::string, std::shared_ptr<const std::string>, std::less<>> texts_;
  std::size_t input_ = 0;
};

// Runs the kernels of each case, and returns their launches.
[[nodiscard]] std::vector<ObservedLaunch> observe_launches(const std::vector<Case>& cases);

}  // namespace warpcheck
