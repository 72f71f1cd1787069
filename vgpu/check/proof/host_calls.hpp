// The calls by which the host uses the device, and a rehearsal of them with other data
// (docs/use/proofs.md).
//
// Host code cannot be analysed as device code is.  So a proof tests whether the host makes the same
// calls whatever the data is.  Most often, no kernel instruction is executed for that: if the host
// reads results only after all its calls, its calls cannot depend on the results.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "vgpu/machine/observer.hpp"

namespace warpcheck::vgpu {

// A record of the host's calls: which calls, in which order, with which sizes, launches and
// arguments.  The bytes that the host copies are not part of it.
class HostCalls : public Observer {
 public:
  [[nodiscard]] std::uint64_t hash() const { return hash_; }
  // Returns whether the host has read at most one range of results and has only freed memory after
  // that.
  [[nodiscard]] bool results_come_last() const { return !asks_after_reading_; }
  [[nodiscard]] Watched watches() const override { return {.accesses = false, .blocks = false}; }
  void on_allocate(const Allocation& allocation) override;
  void on_free(const Allocation& allocation) override;
  void on_sync(const Sync& sync) override;
  void on_host_access(const HostAccess& access) override;
  void on_device_copy(const DeviceCopy& copy) override;
  void on_opaque_operation(std::string_view call) override;

 protected:
  void forget();

 private:
  void asks() { asks_after_reading_ = asks_after_reading_ || has_read_; }
  void add(std::uint64_t number);
  void add(std::span<const std::byte> bytes);

  std::uint64_t hash_ = 0;
  bool has_read_ = false, asks_after_reading_ = false;
};

// Replays the host's calls while kernels execute nothing.  The host reads the results of another
// run.
class Rehearsal final : public HostCalls {
 public:
  explicit Rehearsal(std::span<const std::byte> result) : result_(result) {}
  void on_host_access(const HostAccess& access) override;

 private:
  std::span<const std::byte> result_;
};

}  // namespace warpcheck::vgpu
