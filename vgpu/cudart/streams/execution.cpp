#include "vgpu/cudart/streams/execution.hpp"

#include <chrono>
#include <stdexcept>
#include <thread>
#include <utility>

#include "vgpu/check/streams.hpp"
#include "vgpu/cudart/api/api_call.hpp"
#include "vgpu/cudart/api/call_log.hpp"
#include "vgpu/cudart/device/clock.hpp"
#include "vgpu/cudart/device/findings.hpp"
#include "vgpu/cudart/device/meanwhile.hpp"
#include "vgpu/cudart/device/trial.hpp"
#include "vgpu/cudart/device/virtual_gpu.hpp"
#include "vgpu/cudart/graphs/graphs.hpp"
#include "vgpu/cudart/streams/idle_progress.hpp"

namespace warpcheck::cudart {
namespace {

// More operations than this do not wait: a program that never waits must not fill memory.  Kernels
// take up little, and run on several threads only where the host waits for them.
constexpr std::size_t kPendingMax = 16'384, kPendingOthersMax = 1024;

}  // namespace

// ---- what calls ask for ----

Stream* Execution::find_stream(std::string_view call, cudaStream_t handle) {
  Stream* const stream = queues_.find(handle);
  if (stream == nullptr || !stream->destroyed) return stream;
  needs_.findings.add(vgpu::use_of_destroyed(told_name(call), "stream"));
  return nullptr;
}

Event* Execution::find_event(std::string_view call, cudaEvent_t handle) {
  Event* const event = queues_.find(handle);
  if (event == nullptr || !event->destroyed) return event;
  needs_.findings.add(vgpu::use_of_destroyed(told_name(call), "event"));
  return nullptr;
}

cudaError_t Execution::submit(Stream& stream, Work work, bool until_done) {
  if (stream.capture != nullptr) return capture_work(stream, std::move(work), until_done);
  if (stream.is_legacy && queues_.captures_blocking_stream(stream.device)) {
    return cudaErrorStreamCaptureImplicit;
  }
  if (stream.last != nullptr) let_begin_early(work, *stream.last);
  before_.clear();  // the last call may have thrown
  queues_.before_next(stream, before_);
  stream.last = enqueue(std::move(work), before_, stream.device);
  before_.clear();
  // Calls are recorded in the order in which a program makes them.
  if (!until_done && needs_.recording.log() == nullptr) return cudaSuccess;
  const OperationPtr last = stream.last;
  wait_for(last);
  return until_done ? needs_.devices[stream.device].errors.sticky() : cudaSuccess;
}

cudaError_t Execution::submit_together(Stream& stream, std::vector<Work> works) {
  if (stream.capture != nullptr) return spoil_capture(stream);
  std::vector<OperationPtr> before;
  queues_.before_next(stream, before);
  std::vector<OperationPtr> all;
  for (Work& work : works) all.push_back(enqueue(std::move(work), before, stream.device));
  stream.last = enqueue(EmptyWork{}, all.empty() ? before : all, stream.device);
  return cudaSuccess;
}

void Execution::submit_across(const std::set<unsigned>& devices, Work work, unsigned device) {
  std::vector<Stream*> streams;
  for (const unsigned one : devices) {
    queues_.for_each_stream_of(one, [&](Stream& stream) { streams.push_back(&stream); });
  }
  std::vector<OperationPtr> before;
  for (const Stream* const stream : streams) {
    for (OperationPtr& operation : Queues::latest(*stream)) before.push_back(std::move(operation));
  }
  const OperationPtr operation = enqueue(std::move(work), before, device);
  for (Stream* const stream : streams) stream->waits.push_back(operation);
}

void Execution::let_begin_early(Work& work, Operation& before) {
  auto* const kernel = std::get_if<KernelWork>(&work);
  const bool may = kernel != nullptr && kernel->may_begin_early && before.is_kernel &&
                   needs_.trial.capability().has_early_launches();
  if (!may || operations_.known_to_host().covers(before.stamp)) return;
  kernel->early_after = before.stamp;
  before.next_begins_early = true;
}

OperationPtr Execution::enqueue(Work&& work, const std::vector<OperationPtr>& after,
                                unsigned device) {
  needs_.runner.asked_for(work);
  OperationPtr operation = operations_.add(std::move(work), after, device);
  if (needs_.trial.in_ambient()) operation->asked_at = current_call().return_address;
  const bool are_too_many =
      operations_.pending() > kPendingMax || operations_.pending_others() > kPendingOthersMax;
  if (are_too_many && can_run_next()) run_next();
  if (needs_.trial.in_ambient()) needs_.idle.watch();
  return operation;
}

void Execution::wait_for(const OperationPtr& operation) {
  while (!operation->is_done() && operations_.pending() != 0) run_next(&operation->clock);
  operations_.host_waited_for(*operation);
  host_has_waited();
}

void Execution::wait_for(const Stream& stream) {
  for (const OperationPtr& operation : Queues::latest(stream)) wait_for(operation);
}

void Execution::wait_for_device(unsigned number) {
  if (operations_.has_pending(number)) {
    const OperationSet goal = operations_.all_of_device(number);
    while (operations_.has_pending(number)) run_next(&goal);
  }
  operations_.host_waited_for_device(number);
  host_has_waited();
}

void Execution::wait_for_all() {
  if (operations_.pending() != 0) {
    const OperationSet goal = operations_.all();
    while (operations_.pending() != 0) run_next(&goal);
  }
  operations_.host_waited_for_all();
  host_has_waited();
}

void Execution::host_knows(const Operation& operation) {
  operations_.host_waited_for(operation);
  if (operations_.host_knows_all()) needs_.runner.host_knows_all();
}

void Execution::host_has_waited() {
  needs_.runner.bring_out_prints();
  if (operations_.host_knows_all()) needs_.runner.host_knows_all();
  if (operations_.pending() != 0) return;
  needs_.runner.all_done(operations_.known_to_host(), operations_.asked_for());
}

void Execution::make_progress() {
  if (operations_.pending() != 0 && can_run_next()) run_next();
}

void Execution::run_all_for_nobody() {
  const Meanwhile meanwhile(host_.waits, false);
  while (operations_.pending() > running_) {
    operations_.take_up_held();
    if (!can_run_next()) break;
    run_next();
  }
  needs_.runner.bring_out_prints();
}

void Execution::wait_for_processes(const ProcessEvent& event, std::uint64_t recording) {
  while (!event.is_done(recording)) {
    operations_.take_up_held();
    if (operations_.pending() != 0 && can_run_next()) {
      run_next();
    } else {
      leave_the_lock();
    }
  }
}

// While another process does something.
void Execution::leave_the_lock() {
  needs_.mutex.unlock();
  std::this_thread::sleep_for(std::chrono::microseconds(200));
  needs_.mutex.lock();
}

void Execution::run_what_is_left() {
  const Meanwhile meanwhile(host_.is_gone, true);
  tell_host_accesses();
  try {
    wait_for_all();
  } catch (const vgpu::Refusal& refusal) {
    needs_.devices.front().errors.refuse(refusal.what());
    operations_.clear();
  }
}

void Execution::reset() {
  queues_.clear();
  operations_.clear();
}

// ---- what runs ----

// Not where a launch has died.
bool Execution::may_run(const Operation& operation) const {
  const auto* const kernel = std::get_if<KernelWork>(&operation.work);
  const unsigned device = kernel == nullptr ? operation.device : kernel->device;
  return !needs_.devices[device].errors.has_sticky();
}

bool Execution::can_run_next() const {
  return running_ != 0 ||
         operations_.has_ready([&](const Operation& one) { return needs_.runner.can_begin(one); });
}

// Another thread of the program may write it, or ask for an operation that does.
void Execution::wait_for_value() {
  const OperationPtr waiting = operations_.first_ready();
  if (waiting == nullptr) throw std::logic_error("operations wait for each other");
  if (host_.is_gone) return operations_.clear();  // nobody knows whether it would have come
  if (needs_.trial.in_ambient() && other_threads_may_run()) {
    ++waiting_;
    operation_done_.wait_for(needs_.mutex, std::chrono::milliseconds(1));
    --waiting_;
  } else {
    needs_.runner.give_up_waiting(*waiting);
  }
}

void Execution::run_next(const OperationSet* goal) {
  const OperationPtr operation =
      operations_.take(needs_.trial.strategy(), needs_.trial.schedule(),
                       [&](const Operation& one) { return needs_.runner.can_begin(one); });
  if (operations_.had_choice())
    needs_.trial.order_shows("nothing orders operations of several streams");
  if (operation == nullptr) {
    if (running_ != 0) {
      ++waiting_;
      operation_done_.wait(needs_.mutex);
      --waiting_;
    } else if (operations_.waits_for_processes()) {
      leave_the_lock();
    } else {
      wait_for_value();
    }
    return;
  }
  if (const OperationSet* const more = needs_.runner.comes_after(*operation, operations_.done())) {
    operations_.learn(*operation, *more);
  }
  ++running_;
  host_.has_nothing_beside = running_ == 1 && goal != nullptr && goal->covers(operation->stamp) &&
                             !operation->next_begins_early &&
                             operations_.have_nothing_beside(*operation);
  try {
    needs_.findings.mishaps().perform(operation->asked_at);
    if (may_run(*operation)) needs_.runner.run(*operation, host_);
    needs_.findings.mishaps().perform(needs_.trial.in_ambient() ? current_call().return_address
                                                                : nullptr);
    tell_host_accesses();
  } catch (...) {
    --running_;
    operations_.finish(*operation, needs_.clock.cycles());
    throw;
  }
  --running_;
  operations_.finish(*operation, needs_.clock.cycles());
  if (waiting_ != 0) operation_done_.notify_all();
}

}  // namespace warpcheck::cudart
