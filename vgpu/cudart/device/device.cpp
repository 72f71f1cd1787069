#include "vgpu/cudart/device/device.hpp"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <cstdio>
#include <stdexcept>

#include "vgpu/check/bounds.hpp"
#include "vgpu/check/lifetime.hpp"
#include "vgpu/cudart/api/call_log.hpp"
#include "vgpu/cudart/device/device_code.hpp"
#include "vgpu/cudart/device/registry.hpp"
#include "vgpu/cudart/exec/exec_session.hpp"
#include "vgpu/cudart/exec/exit_report.hpp"

namespace warpcheck::cudart {
namespace {

// A pointer this far past an allocation still counts as meant for the device.
constexpr std::uint64_t kOverrunBytesMax = std::uint64_t{1} << 20;

constexpr std::size_t kStackUnit = 16;  // a stack's bytes are rounded up to it

// Defaults of the hardware (cudaLimitStackSize ... cudaLimitPersistingL2CacheSize).
constexpr std::array<std::size_t, Device::kLimits> kDefaultLimits{
    1024, 1 << 20, vgpu::kHeapBytes, 2, 2048, 64, 0};

std::uint64_t address_of(const void* pointer) { return reinterpret_cast<std::uint64_t>(pointer); }

}  // namespace

Device& Device::instance() {
  static auto* const device = new Device;
  return *device;
}

Device::Device()
    : machine_(memory_),
      checkers_(vgpu::CheckerSet{}, vgpu::WarpModel::independent),
      limits_(kDefaultLimits) {
  checkers_.set_causes(&mishaps_);
}

void Device::begin_trial(const TrialSettings& settings) {
  if (in_trial()) throw std::logic_error("begin_trial: a trial is already running");
  if (phase_ == Phase::ambient) {
    run_what_is_left();
    keep_for_exit_report(peek_result());
  }
  start(settings);
  capability_ = &virtual_gpu::kTrialCapability;
  phase_ = Phase::trial;
}

TrialResult Device::end_trial() {
  if (!in_trial()) throw std::logic_error("end_trial: no trial is running");
  run_what_is_left();
  flush_prints();
  tell_what_is_left();
  TrialResult result = peek_result();
  result.decisions_ignored = settings_.strategy != nullptr ? settings_.strategy->ignored() : 0;
  // Strategy and observer belong to the caller and may be gone from now on.
  settings_.strategy = nullptr;
  settings_.extra_observer = nullptr;
  observers_.clear();
  phase_ = Phase::ended;
  return result;
}

// Once a launch has died, no call frees anything any more: what is left says nothing.
void Device::tell_what_is_left() {
  if (sticky_error_ != cudaSuccess) return;
  std::vector<const vgpu::Allocation*> left = memory_.live();
  std::erase_if(left, [&](const vgpu::Allocation* one) {
    const auto graphs = graphs_.memory.find(one);
    const bool is_unused = graphs != graphs_.memory.end() && !graphs->second;
    return !one->name.empty() || one->page_locked || is_unused;
  });
  notify([&](vgpu::Observer& observer) { observer.on_trial_end(left); });
}

TrialResult Device::peek_result() const {
  TrialResult result = result_;
  result.findings = checkers_.findings();
  result.ptx_hash =
      XXH3_64bits(launched_hashes_.data(), launched_hashes_.size() * sizeof(std::uint64_t));
  return result;
}

void Device::enter_call() {
  calls_.fetch_add(1, std::memory_order_relaxed);
  call_is_told_ = false;
  described_call_ = {};
  if (phase_ == Phase::trial || phase_ == Phase::ambient) return;
  ExecSession* const session = ExecSession::instance();
  TrialSettings settings{.fresh_mapped = vgpu::Fresh::zeros};
  settings.limits.steps_max = vgpu::kNoLimit;
  if (session != nullptr) settings = session->trial_settings();
  start(settings);
  const unsigned asked = session != nullptr ? session->device() : 0;
  capability_ =
      &virtual_gpu::capability_of(asked != 0 ? asked : Registry::instance().newest_target());
  phase_ = Phase::ambient;
  print_report_at_exit();
  if (session == nullptr) return;
  checkers_.on_new_finding([this, session](std::size_t number) {
    if (in_ambient()) session->found(number, checkers_.findings()[number]);
  });
}

TrialResult Device::end_ambient(bool tell_leaks) {
  if (tell_leaks) tell_what_is_left();
  return peek_result();
}

void Device::start(const TrialSettings& settings) {
  settings_ = settings;
  memory_.set_capacity(settings.memory_bytes);
  memory_.set_fresh_mapped(settings.fresh_mapped);
  forget_everything();
  last_error_ = cudaSuccess;
  clock_ = 0;
  result_ = {};
  prints_.clear();
  launched_hashes_.clear();
  checkers_.reset(settings.checkers, settings.warp_model);
  const auto observers = checkers_.observers();
  observers_.assign(observers.begin(), observers.end());
  observers_.push_back(&prints_);
  if (settings.extra_observer != nullptr) observers_.push_back(settings.extra_observer);
}

void Device::reset() {
  wait_for_all();
  for (const vgpu::Allocation* allocation : memory_.live()) {
    notify([&](vgpu::Observer& observer) { observer.on_free(*allocation); });
  }
  forget_everything();
}

void Device::forget_everything() {
  ++generation_;
  mishaps_.clear();
  memory_.reset();
  queues_.clear();
  operations_.clear();
  to_be_freed_.clear();
  arrays_ = {};
  pools_.clear();
  graphs_ = {};
  advice_.clear();
  ran_launches_.clear();
  touched_.clear();
  host_blocks_.clear();
  sticky_error_ = cudaSuccess;
  limits_ = kDefaultLimits;
  prints_.set_capacity(limits_[cudaLimitPrintfFifoSize]);
  heap_in_use_ = false;
}

cudaError_t Device::set_limit(std::size_t limit, std::size_t value) {
  if (limit == cudaLimitStackSize) {
    if (value > virtual_gpu::kThreadLocalBytes) return cudaErrorInvalidValue;
    value = (value + kStackUnit - 1) / kStackUnit * kStackUnit;
  }
  if (limit == cudaLimitPrintfFifoSize && prints_.in_use()) return cudaErrorInvalidValue;
  if (limit == cudaLimitMallocHeapSize) {
    if (heap_in_use_) return cudaErrorInvalidValue;
    value = std::min<std::size_t>(value, memory_.capacity_bytes());
    memory_.set_heap_capacity(value);
  }
  limits_[limit] = value;
  prints_.set_capacity(limits_[cudaLimitPrintfFifoSize]);
  return cudaSuccess;
}

cudaError_t Device::record(cudaError_t error) {
  if (error == cudaSuccess || error == cudaErrorNotReady) return error;
  last_error_ = error;
  // What a launch that died leaves behind is told with the launch.
  if (in_ambient() && !call_is_told_ && error != sticky_error_) {
    tell_failed_call(*this, checkers_, mishaps_, error, described_call_);
  }
  return error;
}

cudaError_t Device::refuse_in_host_function() {
  if (in_ambient()) {
    tell_failed_call(*this, checkers_, mishaps_, cudaErrorNotPermitted, FailedCall{});
  }
  return cudaErrorNotPermitted;
}

cudaError_t Device::take_last_error() { return std::exchange(last_error_, cudaSuccess); }

void Device::refuse(std::string_view reason) {
  call_is_told_ = true;
  std::vector<std::string>& known = result_.refusals;
  if (std::find(known.begin(), known.end(), reason) != known.end()) return;
  known.emplace_back(reason);
  if (in_trial()) return;
  if (ExecSession* const session = ExecSession::instance()) {
    session->refused(reason);
  } else {
    fmt::print(stderr, "warpcheck: refused: {}\n", reason);
  }
}

// What would fit on the device, and that its memory cannot hold in one piece.
void Device::require_possible(std::uint64_t bytes) const {
  if (bytes <= vgpu::kAllocationBytesMax || bytes > memory_.capacity_bytes()) return;
  throw vgpu::Refusal(fmt::format(
      "an allocation of {} bytes: the virtual device gives out at most {} bytes at once", bytes,
      vgpu::kAllocationBytesMax));
}

vgpu::Allocation* Device::allocate(std::uint64_t bytes, ptx::Space space, std::string_view name) {
  require_possible(bytes);
  vgpu::Allocation* const allocation = memory_.allocate(bytes, space, name);
  if (allocation == nullptr) return nullptr;
  if (call_log_ != nullptr) call_log_->allocate(allocation->address, bytes, name);
  notify([&](vgpu::Observer& observer) { observer.on_allocate(*allocation); });
  return allocation;
}

vgpu::Allocation* Device::allocate_mapped(std::uint64_t bytes) {
  require_possible(bytes);
  vgpu::Allocation* const allocation = memory_.allocate_mapped(bytes);
  if (allocation == nullptr) return nullptr;
  notify([&](vgpu::Observer& observer) { observer.on_allocate(*allocation); });
  host_write(*allocation, 0, allocation->bytes);
  return allocation;
}

void Device::free(vgpu::Allocation& allocation) {
  if (const auto graphs = graphs_.memory.find(&allocation); graphs != graphs_.memory.end()) {
    graphs->second = false;
    notify([&](vgpu::Observer& observer) { observer.on_allocate(allocation); });
    return;
  }
  notify([&](vgpu::Observer& observer) { observer.on_free(allocation); });
  if (in_ambient()) mishaps_.freed(allocation);
  memory_.free(&allocation);
}

bool Device::owns(const void* pointer) const {
  const vgpu::Allocation* const nearest = memory_.nearest(address_of(pointer));
  return nearest != nullptr &&
         address_of(pointer) - nearest->address <= nearest->bytes + kOverrunBytesMax;
}

std::optional<DeviceRange> Device::range_at(std::string_view call, const void* pointer,
                                            std::uint64_t bytes, bool write) {
  const std::uint64_t address = address_of(pointer);
  vgpu::Allocation* const found = memory_.find(address);
  const bool on_heap = found != nullptr && found->on_heap();
  if (found != nullptr && !on_heap && found->contains(address, bytes)) {
    return DeviceRange{found, static_cast<std::uint32_t>(address - found->address)};
  }
  if (!owns(pointer)) return std::nullopt;
  const vgpu::Allocation* const nearest = memory_.nearest(address);
  const bool freed = !nearest->live && address - nearest->address < nearest->bytes;
  add_finding(freed     ? vgpu::host_copy_of_freed(call, write, address, bytes, *nearest)
              : on_heap ? vgpu::host_copy_of_heap(call, write, address, bytes, *found)
                        : vgpu::host_copy_out_of_bounds(call, write, address, bytes, nearest));
  return std::nullopt;
}

void Device::host_write(const vgpu::Allocation& allocation, std::uint32_t offset,
                        std::uint32_t bytes) {
  const vgpu::HostAccess access{&allocation, offset, bytes, true};
  notify([&](vgpu::Observer& observer) { observer.on_host_access(access); });
}

const Device::HostBlock* Device::find_host_block(const void* pointer, std::uintptr_t* start) const {
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  const auto after = host_blocks_.upper_bound(address);
  if (after == host_blocks_.begin()) return nullptr;
  const auto& [first, block] = *std::prev(after);
  if (address - first >= block.bytes) return nullptr;
  if (start != nullptr) *start = first;
  return &block;
}

void Device::flush_prints() {
  prints_.flush(in_trial() ? &result_.output : nullptr);
  result_.prints_lost = prints_.lost();
  ExecSession* const session = exec_session();
  if (session != nullptr && prints_.in_use()) session->printed(prints_.prints(), prints_.hash());
}

void begin_trial(const TrialSettings& settings) {
  Device& device = Device::instance();
  const std::lock_guard lock(device.mutex());
  device.begin_trial(settings);
}

TrialResult end_trial() {
  Device& device = Device::instance();
  const std::lock_guard lock(device.mutex());
  return device.end_trial();
}

}  // namespace warpcheck::cudart
