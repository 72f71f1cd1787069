// The components that tests of one component need in addition to it; each test creates its own.
#pragma once

#include <fmt/format.h>

#include <string>
#include <vector>

#include "vgpu/cudart/api/calls/call_log.hpp"
#include "vgpu/cudart/device/device_state.hpp"
#include "vgpu/cudart/device/findings.hpp"
#include "vgpu/cudart/device/observers.hpp"
#include "vgpu/cudart/device/trial.hpp"
#include "vgpu/cudart/memory/allocations.hpp"
#include "vgpu/machine/memory/memory.hpp"
#include "vgpu/machine/observer.hpp"

namespace warpcheck::cudart {

// Records its events as texts: "allocate 16", "host write 4+8, unordered 2".
class EventLog final : public vgpu::Observer {
 public:
  [[nodiscard]] vgpu::Watched watches() const override { return {.trial_end = true}; }
  void on_allocate(const vgpu::Allocation& one) override { add("allocate {}", one.bytes); }
  void on_free(const vgpu::Allocation& one) override { add("free {}", one.bytes); }
  void on_trial_end(std::span<const vgpu::Allocation* const> left) override {
    for (const vgpu::Allocation* const one : left) add("left {}", one->bytes);
  }
  void on_host_access(const vgpu::HostAccess& access) override { add_access("host", access); }
  void on_late_host_access(const vgpu::HostAccess& access) override { add_access("late", access); }
  void on_device_copy(const vgpu::DeviceCopy& copy) override {
    add("copy {} to {}, {} bytes", copy.source_offset, copy.target_offset, copy.bytes);
  }
  std::vector<std::string> events;

 private:
  template <typename... Values>
  void add(fmt::format_string<Values...> form, Values&&... values) {
    events.push_back(fmt::format(form, std::forward<Values>(values)...));
  }
  void add_access(const char* how, const vgpu::HostAccess& access) {
    const char* const does = access.frees       ? "free"
                             : access.allocates ? "allocation"
                             : access.write     ? "write"
                                                : "read";
    add("{} {} {}+{}", how, does, access.offset, access.bytes);
    for (const std::uint32_t launch : access.unordered_launches) {
      events.back() += fmt::format(", unordered {}", launch);
    }
  }
};

struct DeviceParts {
  DeviceParts() { observers.add(events); }
  [[nodiscard]] const std::vector<vgpu::Finding>& found() const {
    return findings.checkers().findings();
  }

  EventLog events;
  vgpu::DeviceMemory memory;
  Observers observers;
  Findings findings;
  Trial trial;
  CallRecording recording;
  SharedAllocations of_all;
  LastErrors last_errors;
  PrintBuffer prints;
  DeviceStates devices = first();
  Allocations& allocations{devices.front().allocations};
  Errors& errors{devices.front().errors};

 private:
  DeviceStates first() {
    DeviceStates list;
    list.emplace_back(DeviceState::Shared{memory, observers, findings, recording, of_all, trial,
                                          last_errors, prints},
                      0);
    return list;
  }
};

}  // namespace warpcheck::cudart
