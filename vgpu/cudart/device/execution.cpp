// How the device runs the operations of its streams, and what it tells about their order.
#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <utility>

#include "vgpu/check/lifetime.hpp"
#include "vgpu/check/streams.hpp"
#include "vgpu/cudart/api/api_call.hpp"
#include "vgpu/cudart/api/call_log.hpp"
#include "vgpu/cudart/device/device.hpp"
#include "vgpu/cudart/device/device_code.hpp"
#include "vgpu/cudart/device/virtual_gpu.hpp"
#include "vgpu/cudart/exec/exec_session.hpp"
#include "vgpu/cudart/streams/copies.hpp"
#include "vgpu/cudart/streams/graphs.hpp"
#include "vgpu/cudart/streams/idle_progress.hpp"

namespace warpcheck::cudart {
namespace {

// More operations than this do not wait: a program that never waits must not fill memory.
constexpr std::size_t kPendingMax = 1024;

thread_local bool host_function_runs = false;

template <typename Visit>
void for_each_row(const Rows& rows, Visit&& visit) {
  for (std::size_t slice = 0; slice < rows.box.depth; ++slice) {
    for (std::size_t row = 0; row < rows.box.height; ++row) {
      visit(static_cast<std::uint32_t>(rows.offset + slice * rows.slice + row * rows.pitch));
    }
  }
}

// A byte that two boxes share, by its offset; kNone: there is none.
std::uint32_t common_byte(const Rows& a, const Rows& b) {
  std::uint32_t found = ptx::kNone;
  if (a.allocation != b.allocation) return found;
  for_each_row(a, [&](std::uint32_t first) {
    if (found != ptx::kNone) return;
    for_each_row(b, [&](std::uint32_t second) {
      const std::uint32_t start = std::max(first, second);
      const bool meets = start < first + a.box.width && start < second + b.box.width;
      if (meets && found == ptx::kNone) found = start;
    });
  });
  return found;
}

// What CUDA answers once a launch has ended so.
cudaError_t error_of(vgpu::Trap::Cause cause) {
  switch (cause) {
    case vgpu::Trap::Cause::assertion: return cudaErrorAssert;
    case vgpu::Trap::Cause::bad_call: return cudaErrorInvalidPc;
    // What lies beyond a stack is no address of the thread (seen on sm_90).
    case vgpu::Trap::Cause::stack_overflow:
    case vgpu::Trap::Cause::no_object:
    case vgpu::Trap::Cause::surface_bounds: return cudaErrorIllegalAddress;
    case vgpu::Trap::Cause::surface_alignment: return cudaErrorMisalignedAddress;
    case vgpu::Trap::Cause::trap:
    case vgpu::Trap::Cause::breakpoint:
    case vgpu::Trap::Cause::bad_index: break;
  }
  return cudaErrorLaunchFailure;
}

}  // namespace

bool Device::in_host_function() { return host_function_runs; }

// ---- what calls ask for ----

Stream* Device::find_stream(std::string_view call, cudaStream_t handle) {
  Stream* const stream = queues_.find(handle);
  if (stream == nullptr || !stream->destroyed) return stream;
  findings_.add(vgpu::use_of_destroyed(call, "stream"));
  return nullptr;
}

Event* Device::find_event(std::string_view call, cudaEvent_t handle) {
  Event* const event = queues_.find(handle);
  if (event == nullptr || !event->destroyed) return event;
  findings_.add(vgpu::use_of_destroyed(call, "event"));
  return nullptr;
}

cudaError_t Device::submit(Stream& stream, Work work, bool until_done) {
  if (stream.capture != nullptr) return capture_work(stream, std::move(work), until_done);
  if (stream.is_legacy && queues_.captures_blocking_stream()) {
    return cudaErrorStreamCaptureImplicit;
  }
  stream.last = enqueue(std::move(work), queues_.before_next(stream));
  // Calls are recorded in the order in which a program makes them.
  if (!until_done && recording_.log() == nullptr) return cudaSuccess;
  const OperationPtr last = stream.last;
  wait_for(last);
  return until_done ? errors_.sticky() : cudaSuccess;
}

OperationPtr Device::enqueue(Work work, const std::vector<OperationPtr>& after) {
  OperationPtr operation = operations_.add(std::move(work), after);
  if (operations_.pending() > kPendingMax) run_next();
  if (trial_.in_ambient()) watch_for_idle_host(*this);
  return operation;
}

void Device::wait_for(const OperationPtr& operation) {
  while (!operation->is_done() && operations_.pending() != 0) run_next();
  operations_.host_waited_for(*operation);
  flush_prints();
  if (operations_.pending() != 0) return;
  tell_memory_of_host();
  ran_launches_.forget(operations_.known_to_host());
  touched_.forget(operations_.known_to_host());
}

void Device::wait_for(const Stream& stream) {
  for (const OperationPtr& operation : Queues::latest(stream)) wait_for(operation);
}

void Device::wait_for_all() {
  while (operations_.pending() != 0) run_next();
  operations_.host_waited_for_all();
  flush_prints();
  tell_memory_of_host();
  ran_launches_.clear();
  touched_.clear();
}

void Device::make_progress() {
  if (operations_.pending() != 0) run_next();
}

void Device::run_all_for_nobody() {
  struct Meanwhile {
    bool& nobody_waits;
    ~Meanwhile() { nobody_waits = false; }
  };
  const Meanwhile meanwhile{nobody_waits_ = true};
  while (operations_.pending() > running_) run_next();
  flush_prints();
}

void Device::run_what_is_left() {
  host_is_gone_ = true;
  try {
    wait_for_all();
  } catch (const vgpu::Refusal& refusal) {
    errors_.refuse(refusal.what());
    operations_.clear();
  }
  host_is_gone_ = false;
}

// ---- what runs ----

void Device::run_next() {
  const OperationPtr operation = operations_.take(trial_.strategy(), trial_.schedule());
  if (operation == nullptr) {
    if (running_ == 0) throw std::logic_error("operations wait for each other");
    operation_done_.wait(mutex_);
    return;
  }
  ++running_;
  try {
    if (!errors_.has_sticky()) run(*operation);
  } catch (...) {
    --running_;
    operations_.finish(*operation, clock_.cycles());
    throw;
  }
  --running_;
  operations_.finish(*operation, clock_.cycles());
  operation_done_.notify_all();
}

void Device::run(Operation& operation) {
  struct Visitor {
    Device& device;
    Operation& operation;
    void operator()(const EmptyWork&) const {}
    void operator()(const KernelWork& work) const { device.run_kernel(work, operation); }
    void operator()(const CopyWork& work) const {
      const bool needs_host = work.target_in == Where::host || work.source_in == Where::host;
      if (device.host_is_gone_ && needs_host && !work.staged) return;
      run_copy(device, work, operation);
    }
    void operator()(const FillWork& work) const { run_fill(device, work, operation); }
    void operator()(const HostWork& work) const { device.run_on_host(work); }
    void operator()(const FreeWork& work) const { device.run_free(work, operation); }
    void operator()(const AllocateWork& work) const { device.allocations_.take(*work.allocation); }
  };
  std::visit(Visitor{*this, operation}, operation.work);
}

void Device::run_on_host(const HostWork& work) {
  if (host_is_gone_) return;
  const HostWork call = work;
  // Not under the lock: it may wait for another thread of the program.
  mutex_.unlock();
  const ApiCall outer = current_call();
  host_function_runs = true;
  if (call.function != nullptr) {
    call.function(call.argument);
  } else {
    call.callback(call.stream, cudaSuccess, call.argument);
  }
  host_function_runs = false;
  current_call() = outer;
  mutex_.lock();
}

void Device::run_kernel(const KernelWork& work, const Operation& operation) {
  flush_prints();
  const vgpu::Program& program = work.linked->program;
  const Trial::LaunchNumber number = trial_.launch(program, work.linked->ptx_hash);
  last_kernel_ = number.kernel + 1;
  const std::vector<std::uint32_t> unordered = unordered_launches(operation);
  vgpu::Launch launch;
  launch.program = &program;
  launch.index = number.launch;
  launch.grid = work.grid;
  launch.block = work.block;
  launch.cluster = work.cluster;
  launch.explicit_cluster = work.explicit_cluster;
  launch.dynamic_shared_bytes = work.dynamic_shared_bytes;
  launch.parameters = work.parameters;
  launch.cooperative = work.cooperative;
  launch.unordered_launches = unordered;
  launch.textures = &arrays_.objects;
  launch.host_runs =
      trial_.in_ambient() && memory_.has_mapped() && (nobody_waits_ || other_threads_may_run());
  launch.stack_bytes = static_cast<std::uint32_t>(
      std::min<std::size_t>(limits_.get(cudaLimitStackSize), UINT32_MAX));
  if (program.uses_heap) limits_.use_heap();
  const TrialSettings& settings = trial_.settings();
  if (!host_is_gone_) host_blocks_.copy_registered_to_device();
  const vgpu::Outcome outcome =
      machine_.run(launch, settings.warp_model, trial_.strategy(), observers_.list(),
                   settings.limits, settings.want_feedback);
  if (!host_is_gone_) host_blocks_.copy_registered_to_host();
  trial_.count(outcome);
  clock_.spend_launch(outcome.steps);
  if (outcome.end == vgpu::Outcome::End::refused) throw vgpu::Refusal(outcome.refusal);
  if (outcome.end == vgpu::Outcome::End::trap) errors_.set_sticky(error_of(outcome.cause));
  if (outcome.end == vgpu::Outcome::End::step_limit ||
      outcome.end == vgpu::Outcome::End::deadlock) {
    errors_.set_sticky(cudaErrorLaunchTimeout);
  }

  const std::uint32_t itself[] = {launch.index};
  touched_.visit_unordered(operation.clock, [&](const Touch& touch) {
    if (!touch.rows.allocation->live) return;
    for_each_row(touch.rows, [&](std::uint32_t offset) {
      vgpu::HostAccess access;
      access.allocation = touch.rows.allocation;
      access.offset = offset;
      access.bytes = static_cast<std::uint32_t>(touch.rows.box.width);
      access.write = touch.write;
      access.unordered_launches = itself;
      observers_.tell([&](vgpu::Observer& observer) { observer.on_late_host_access(access); });
    });
  });
  ran_launches_.add(operation.stamp, launch.index);
}

void Device::run_free(const FreeWork& work, const Operation& operation) {
  vgpu::Allocation& allocation = *work.allocation;
  allocations_.forget_later_free(allocation);
  if (!allocation.live) return;
  if (allocations_.of_graphs().is_unused(allocation)) {
    findings_.add(vgpu::freed_twice("cudaFreeAsync", allocation));
    return;
  }
  // Freeing conflicts with every access, as a write of all the bytes would.
  const Rows all{&allocation, 0, 0, 0, {allocation.bytes}};
  if (!unordered_launches(operation).empty()) tell_host_access(all, true, operation);
  touch({"cudaFreeAsync", all, true, {}}, {}, operation);
  allocations_.free(allocation);
}

// ---- what `warpcheck exec` is told ----

void Device::tell_copy_to_host(const CopyWork& work, const void* first, std::size_t pitch,
                               std::size_t slice, const Operation& operation) {
  ExecSession* const session = trial_.exec_session();
  if (session == nullptr || !session->logs_host_bytes()) return;
  Arrival entry;
  entry.operation = operation.number;
  entry.bytes = work.box.bytes();
  entry.kernel = last_kernel_;
  const bool keeps = session->keeps(operation.number);
  for (std::size_t z = 0; z < work.box.depth; ++z) {
    for (std::size_t y = 0; y < work.box.height; ++y) {
      const std::byte* const row = static_cast<const std::byte*>(first) + z * slice + y * pitch;
      entry.hash = XXH3_64bits_withSeed(row, work.box.width, entry.hash);
      if (keeps) session->keep(entry.kind, operation.number, {row, work.box.width});
    }
  }
  session->came_to_host(entry, work.call);
}

// Managed and mapped memory, which the host reads without a call.  Only when no operation is left
// is it known what the host would read there, whatever the order of the operations was.
void Device::tell_memory_of_host() {
  ExecSession* const session = trial_.exec_session();
  if (session == nullptr || !session->logs_host_bytes()) return;
  const std::uint32_t asked = operations_.asked_for();
  if (asked == std::exchange(told_operations_, asked)) return;
  Arrival entry;
  entry.kind = Arrival::Kind::in_memory;
  entry.operation = asked;
  entry.kernel = last_kernel_;
  const bool keeps = session->keeps(asked);
  for (const vgpu::Allocation* allocation : memory_.live()) {
    if (!allocation->managed && !allocation->page_locked) continue;
    entry.bytes += allocation->bytes;
    entry.hash = XXH3_64bits_withSeed(allocation->data, allocation->bytes, entry.hash);
    if (keeps) session->keep(entry.kind, asked, {allocation->data, allocation->bytes});
  }
  if (entry.bytes != 0) session->came_to_host(entry, {});
}

// ---- what observers are told ----

std::vector<std::uint32_t> Device::unordered_launches(const Operation& operation) const {
  std::vector<std::uint32_t> launches;
  ran_launches_.visit_unordered(operation.clock,
                                [&](std::uint32_t launch) { launches.push_back(launch); });
  std::ranges::sort(launches);
  return launches;
}

// Looks for races with other copies; those with kernels are the race checker's.
void Device::touch(Touch now, const Bytes& bytes, const Operation& operation) {
  touched_.visit_unordered(operation.clock, [&](const Touch& earlier) {
    if (!(now.write || earlier.write)) return;
    const std::uint32_t at = common_byte(earlier.rows, now.rows);
    if (at == ptx::kNone) return;
    findings_.add(vgpu::race_of_operations({earlier.call, earlier.write}, {now.call, now.write},
                                           *now.rows.allocation, at,
                                           brings_the_same(earlier, now, bytes)));
  });
  touched_.add_latest(operation.stamp, now);
}

// Whether a copy, which has not moved anything yet, brings from the same place of the host what an
// earlier one has brought, and what is still there; or a fill the same value.
bool Device::brings_the_same(const Touch& earlier, const Touch& later, const Bytes& bytes) {
  using From = Brought::From;
  const Brought &a = earlier.brought, &b = later.brought;
  if (a.from != b.from || a.from == From::elsewhere) return false;
  if (a.from == From::value) return a == b;
  const auto is_one_row = [](const Rows& rows) { return rows.box.height * rows.box.depth == 1; };
  const auto host_of_byte_0 = [](const Touch& touch) {
    return reinterpret_cast<std::uintptr_t>(touch.brought.host) - touch.rows.offset;
  };
  const bool is_same_place = is_one_row(earlier.rows) && is_one_row(later.rows)
                                 ? host_of_byte_0(earlier) == host_of_byte_0(later)
                                 : a == b && earlier.rows == later.rows;
  if (!is_same_place) return false;
  const Rows& rows = later.rows;
  // Of single rows, what both have; of others, all.
  const std::size_t begin = is_one_row(rows) ? std::max(earlier.rows.offset, rows.offset) : 0;
  const std::size_t end = earlier.rows.offset + earlier.rows.box.width;
  for (std::size_t slice = 0; slice < rows.box.depth; ++slice) {
    for (std::size_t row = 0; row < rows.box.height; ++row) {
      const std::size_t first = rows.offset + slice * rows.slice + row * rows.pitch;
      const std::size_t from = std::max(first, begin);
      const std::size_t to =
          is_one_row(rows) ? std::min(first + rows.box.width, end) : first + rows.box.width;
      const std::byte* const brought =
          bytes.data + slice * bytes.slice + row * bytes.pitch + (from - first);
      if (std::memcmp(rows.allocation->data + from, brought, to - from) != 0) return false;
    }
  }
  return true;
}

void Device::tell_host_access(const Rows& rows, bool write, const Operation& operation) {
  const std::vector<std::uint32_t> unordered = unordered_launches(operation);
  for_each_row(rows, [&](std::uint32_t offset) {
    vgpu::HostAccess access;
    access.allocation = rows.allocation;
    access.offset = offset;
    access.bytes = static_cast<std::uint32_t>(rows.box.width);
    access.write = write;
    access.unordered_launches = unordered;
    observers_.tell([&](vgpu::Observer& observer) { observer.on_host_access(access); });
  });
}

void Device::host_read(std::string_view call, const Rows& rows, const Operation& operation) {
  tell_host_access(rows, false, operation);
  touch({call, rows, false, {}}, {}, operation);
}

void Device::host_write(std::string_view call, const Rows& rows, const Operation& operation,
                        const Brought& brought, const Bytes& bytes) {
  tell_host_access(rows, true, operation);
  touch({call, rows, true, brought}, bytes, operation);
}

// Bytes that move within the device are copied, not used: what is undefined stays undefined.
void Device::device_copy(std::string_view call, const Rows& target, const Rows& source,
                         const Operation& operation) {
  const std::vector<std::uint32_t> unordered = unordered_launches(operation);
  for (std::size_t slice = 0; slice < target.box.depth; ++slice) {
    for (std::size_t row = 0; row < target.box.height; ++row) {
      vgpu::DeviceCopy copy;
      copy.target = target.allocation;
      copy.source = source.allocation;
      copy.target_offset =
          static_cast<std::uint32_t>(target.offset + slice * target.slice + row * target.pitch);
      copy.source_offset =
          static_cast<std::uint32_t>(source.offset + slice * source.slice + row * source.pitch);
      copy.bytes = static_cast<std::uint32_t>(target.box.width);
      copy.unordered_launches = unordered;
      observers_.tell([&](vgpu::Observer& observer) { observer.on_device_copy(copy); });
    }
  }
  touch({call, source, false, {}}, {}, operation);
  touch({call, target, true, {}}, {}, operation);
}

}  // namespace warpcheck::cudart
