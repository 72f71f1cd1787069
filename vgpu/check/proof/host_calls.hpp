// What the host asks of the device, and how that is tried with other data (docs/proofs.md).
//
// Host code cannot be followed as device code is.  That it asks for the same whatever the data is
// tried, most often without a kernel's instruction executed: what the host does cannot depend on
// results that it reads when it has asked for all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "vgpu/machine/access.hpp"

namespace warpcheck::vgpu {

// Which calls, in which order, with which sizes, launches and arguments, but not which bytes the
// host copies.
class HostCalls : public Observer {
 public:
  [[nodiscard]] std::uint64_t hash() const { return hash_; }
  // The host has read one range of results at most, and did nothing after that but free memory.
  [[nodiscard]] bool results_come_last() const { return !asks_after_reading_; }
  [[nodiscard]] bool watches_accesses() const override { return false; }
  [[nodiscard]] bool watches_blocks() const override { return false; }
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

// The host's calls where kernels execute nothing: what the host reads is what another run gave.
class Rehearsal final : public HostCalls {
 public:
  explicit Rehearsal(std::span<const std::byte> result) : result_(result) {}
  void on_host_access(const HostAccess& access) override;

 private:
  std::span<const std::byte> result_;
};

}  // namespace warpcheck::vgpu
