#include "vgpu/cudart/streams/execution.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <iterator>
#include <stdexcept>
#include <string_view>
#include <thread>
#include <utility>

#include "vgpu/check/streams.hpp"
#include "vgpu/cudart/api/calls/api_call.hpp"
#include "vgpu/cudart/api/calls/call_log.hpp"
#include "vgpu/cudart/code/device_code.hpp"
#include "vgpu/cudart/device/findings.hpp"
#include "vgpu/cudart/device/meanwhile.hpp"
#include "vgpu/cudart/device/trial.hpp"
#include "vgpu/cudart/device/virtual_clock.hpp"
#include "vgpu/cudart/device/virtual_gpu.hpp"
#include "vgpu/cudart/graphs/graphs.hpp"
#include "vgpu/cudart/streams/idle_progress.hpp"

namespace warpcheck::cudart {
namespace {

// The maximal number of pending operations, so that a program that never waits does not fill
// memory.  Kernels take little memory, and run on several threads only while the host waits for
// them.
constexpr std::size_t kPendingMax = 16'384, kPendingOthersMax = 1024;

// After such a time, a polled value counts as never written. kLong: for memory that only calls can
// write, if the host makes no requests. kVeryLong: for host memory, if the host has only asked
// kQuestions times whether the kernel has ended.
constexpr std::chrono::seconds kLong{10}, kVeryLong{30};
constexpr std::uint64_t kQuestions = 100'000;

// The maximal number of kernels in progress.
constexpr std::size_t kKernelsMax = 128;

// Returns whether the work runs device code.
bool is_kernel(const Work& work) {
  return std::holds_alternative<KernelWork>(work) ||
         std::holds_alternative<ConditionalWork>(work) ||
         std::holds_alternative<GraphEndWork>(work);
}

// Returns whether it writes a single value, which may be a flag for a running kernel.
bool brings_value(const Work& work) {
  constexpr std::size_t kValueBytes = 8;
  if (const auto* const copy = std::get_if<CopyWork>(&work)) {
    return copy->target_in == Where::device && copy->box.bytes() <= kValueBytes;
  }
  if (const auto* const fill = std::get_if<FillWork>(&work)) {
    return fill->box.bytes() <= kValueBytes;
  }
  const auto* const value = std::get_if<ValueWork>(&work);
  return value != nullptr && !value->is_wait;
}

}  // namespace

// ---- requests by calls ----

Stream* Execution::find_stream(std::string_view call, cudaStream_t handle) {
  Stream* const stream = queues_.find(handle);
  if (stream == nullptr || !stream->destroyed) return stream;
  dependencies_.findings.add(vgpu::use_of_destroyed(reported_name(call), "stream"));
  return nullptr;
}

Event* Execution::find_event(std::string_view call, cudaEvent_t handle) {
  Event* const event = queues_.find(handle);
  if (event == nullptr || !event->destroyed) return event;
  dependencies_.findings.add(vgpu::use_of_destroyed(reported_name(call), "event"));
  return nullptr;
}

cudaError_t Execution::submit(Stream& stream, Work work, bool until_done) {
  if (stream.capture != nullptr) return capture_work(stream, std::move(work), until_done);
  if (stream.is_legacy && queues_.captures_blocking_stream(stream.device)) {
    return cudaErrorStreamCaptureImplicit;
  }
  if (stream.last != nullptr) let_begin_early(work, *stream.last);
  before_.clear();  // an exception may have left entries
  queues_.before_next(stream, before_);
  launches_in(&stream);
  stream.last = enqueue(std::move(work), before_, stream.device);
  launches_in(nullptr);
  before_.clear();
  // While calls are recorded, they run in the order in which the program makes them.
  const bool waits = until_done || dependencies_.trial.settings().supposed.host_waits;
  if (!waits && dependencies_.recording.log() == nullptr) return cudaSuccess;
  const OperationPtr last = stream.last;
  wait_for(last);
  return until_done ? dependencies_.devices[stream.device].errors.sticky() : cudaSuccess;
}

// A plain program may have more threads, and its own accesses are steps between the operations.
bool Execution::everything_comes_before_next(Stream& stream) {
  const bool may_differ = dependencies_.trial.in_ambient() ||
                          dependencies_.recording.log() != nullptr ||
                          dependencies_.runner.host_may_know() != nullptr;
  const bool is_plain = running_ == 0 && suspended_.empty() && stream.waits.empty() &&
                        stream.capture == nullptr &&
                        !(stream.is_legacy && queues_.captures_blocking_stream(stream.device));
  if (may_differ || !is_plain || operations_.pending_others() != 0) return false;
  if (operations_.pending() == 0 && operations_.host_knows_all()) return true;
  OperationSet before = operations_.known_to_host();
  before_.clear();
  queues_.before_next(stream, before_);
  for (const OperationPtr& operation : before_) before.join(operation->clock);
  before_.clear();
  return before.includes(operations_.all());
}

std::optional<cudaError_t> Execution::run_at_once(Stream& stream, const CopyWork& work) {
  if (!everything_comes_before_next(stream)) return std::nullopt;
  const bool has_pending = operations_.pending() != 0;
  run_all_pending();
  Operation operation;
  operations_.begin_at_once(operation, stream.device);
  operation.is_alone = host_.runs_alone = true;
  perform(operation, nullptr, [&] {
    if (may_run(operation)) dependencies_.runner.run(work, operation, host_);
    return true;
  });
  operations_.host_waited_for(operation);
  if (has_pending) host_has_waited();  // the copy itself leaves nothing to be told or forgotten
  return dependencies_.devices[stream.device].errors.sticky();
}

cudaError_t Execution::submit_together(Stream& stream, std::vector<TogetherWork> works) {
  if (stream.capture != nullptr) return spoil_capture(stream);
  std::vector<OperationPtr> before;
  queues_.before_next(stream, before);
  std::vector<OperationPtr> all, read_in_call;
  for (TogetherWork& one : works) {
    std::vector<OperationPtr> after = before;
    if (one.early) {
      after.push_back(enqueue(std::move(*one.early), {}, stream.device));
      if (one.is_read_in_call) read_in_call.push_back(after.back());
    }
    all.push_back(enqueue(std::move(one.work), after, stream.device));
  }
  stream.last = enqueue(EmptyWork{}, all.empty() ? before : all, stream.device);
  for (const OperationPtr& read : read_in_call) wait_for(read);
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

namespace {

// Returns whether the code of the kernel is for devices with programmatic dependent launches
// (sm_90).
bool is_made_for_early_launches(const KernelWork& kernel) {
  constexpr std::string_view kTarget = ".target sm_";
  constexpr unsigned kFirst = 90;
  if (kernel.linked == nullptr) return false;
  const std::string_view ptx = kernel.linked->program.ptx;
  const std::size_t at = ptx.find(kTarget);
  if (at == std::string_view::npos) return false;
  unsigned sm = 0;
  std::from_chars(ptx.data() + at + kTarget.size(), ptx.data() + ptx.size(), sm);
  return sm >= kFirst;
}

}  // namespace

// All trials have the same device, whatever their code is for.
void Execution::let_begin_early(Work& work, Operation& before) {
  auto* const kernel = std::get_if<KernelWork>(&work);
  if (kernel == nullptr || !kernel->may_begin_early) return;
  const Trial& trial = dependencies_.trial;
  const bool may = before.is_kernel && (trial.capability().has_early_launches() ||
                                        (trial.in_trial() && is_made_for_early_launches(*kernel)));
  if (!may || operations_.known_to_host().covers(before.stamp)) return;
  kernel->early_after = before.stamp;
  before.next_begins_early = true;
}

OperationPtr Execution::enqueue(Work&& work, const std::vector<OperationPtr>& after,
                                unsigned device, const void* asked_at) {
  dependencies_.runner.asked_for(work);
  OperationPtr operation = operations_.add(std::move(work), after, device);
  if (const OperationSet* const seen = dependencies_.runner.host_may_know()) {
    operations_.learn(*operation, *seen);
  }
  if (dependencies_.trial.in_ambient()) operation->asked_at = asked_at;
  if (is_kernel(operation->work)) {
    operation->rights =
        dependencies_.devices[device].allocations.permissions().of_launch(device, stream_);
  }
  const bool are_too_many =
      operations_.pending() > kPendingMax || operations_.pending_others() > kPendingOthersMax;
  if (are_too_many && can_run_next()) run_next();
  if (dependencies_.trial.in_ambient()) dependencies_.idle.watch();
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
  run_all_pending();
  host_has_waited();
}

void Execution::run_all_pending() {
  if (operations_.pending() != 0) {
    const OperationSet goal = operations_.all();
    while (operations_.pending() != 0) run_next(&goal);
  }
  operations_.host_waited_for_all();
}

void Execution::host_knows(const Operation& operation) {
  operations_.host_waited_for(operation);
  notify_if_host_knows_all(false);
}

bool Execution::notify_if_host_knows_all(bool has_waited) {
  const bool knows_all = suspended_.empty() && operations_.host_knows_all();
  if (knows_all) dependencies_.runner.host_knows_all(has_waited);
  return knows_all;
}

void Execution::host_has_waited() {
  dependencies_.runner.bring_out_prints();
  if (all_done_at_ == operations_.asked_for()) return;
  const bool knows_all = notify_if_host_knows_all(true);
  if (operations_.pending() != 0) return;
  dependencies_.runner.all_done(operations_.known_to_host(), operations_.asked_for());
  if (knows_all) all_done_at_ = operations_.asked_for();
}

void Execution::make_progress() {
  if (operations_.pending() == 0) return;
  can_run_next() ? run_next() : give_up_after_long(true);
}

void Execution::resume_for_nobody() {
  const Meanwhile meanwhile(host_.waits, false);
  SuspendableKernel* const call = find_resumable();
  call != nullptr ? resume(*call, nullptr) : give_up_after_long(false);
}

void Execution::run_all_for_nobody() {
  const Meanwhile meanwhile(host_.waits, false);
  while (operations_.pending() > running_) {
    operations_.take_up_held();
    if (!can_run_next()) break;
    run_next();
    if (!suspended_.empty()) break;  // lets other calls enter
  }
  dependencies_.runner.bring_out_prints();
}

void Execution::run_what_can_begin() {
  const Meanwhile meanwhile(host_.waits, false);
  const auto may_begin = [&](const Operation& one) { return can_begin(one); };
  for (operations_.take_up_held(); operations_.has_ready(may_begin); operations_.take_up_held()) {
    run_next();
  }
}

void Execution::wait_for_processes(const ProcessEvent& event, std::uint64_t recording) {
  while (!event.is_done(recording)) {
    operations_.take_up_held();
    if (operations_.pending() != 0 && can_run_next()) {
      run_next();
    } else {
      free_the_lock();
    }
  }
}

// Releases the lock while waiting for another process.
void Execution::free_the_lock() {
  dependencies_.mutex.unlock();
  std::this_thread::sleep_for(std::chrono::microseconds(200));
  dependencies_.mutex.lock();
}

void Execution::run_what_is_left() {
  const Meanwhile meanwhile(host_.is_gone, true);
  report_host_accesses();
  try {
    wait_for_all();
  } catch (const vgpu::Refusal& refusal) {
    dependencies_.devices.front().errors.refuse(refusal.what());
    operations_.clear();
  }
}

void Execution::reset() {
  queues_.clear();
  operations_.clear();
  all_done_at_.reset();
}

void Execution::wait_shortly() {
  constexpr std::chrono::microseconds kShortly{100};
  ++waiting_;
  operation_done_.wait_for(dependencies_.mutex, kShortly);
  --waiting_;
}

// ---- running operations ----

// Returns false if a launch has failed fatally.
bool Execution::may_run(const Operation& operation) const {
  const auto* const kernel = std::get_if<KernelWork>(&operation.work);
  const unsigned device = kernel == nullptr ? operation.device : kernel->device;
  return !dependencies_.devices[device].errors.has_sticky();
}

bool Execution::can_run_next() const {
  return running_ != 0 || find_resumable() != nullptr ||
         operations_.has_ready([&](const Operation& one) { return can_begin(one); });
}

// The bodies of conditional nodes count as one operation, which runs when no other operation is in
// progress.
bool Execution::can_begin(const Operation& operation) const {
  const bool may = suspended_.empty() || !is_kernel(operation.work) ||
                   (operation.is_kernel && suspended_.size() < kKernelsMax);
  return may && dependencies_.runner.can_begin(operation);
}

// Returns a suspended kernel to resume: if possible, one whose polled memory has changed.
SuspendableKernel* Execution::find_resumable() const {
  for (const auto& call : suspended_) {
    if (call->has_changed()) return call.get();
  }
  for (const auto& call : suspended_) {
    if (call->can_resume()) return call.get();
  }
  return nullptr;
}

// Returns whether a kernel that could continue must be suspended: the host does not wait for it,
// another operation can begin, or another thread of the program may make progress.
bool Execution::must_suspend(const SuspendableKernel& call) const {
  if (host_.is_gone) return false;
  return !call.is_waited_for() ||
         operations_.has_ready([&](const Operation& one) { return can_begin(one); }) ||
         others_may_help();
}

// Returns whether the program has threads that do not wait for the device.
bool Execution::others_may_help() const {
  return !host_.is_gone && dependencies_.trial.in_ambient() && threads_of_program() > waiting_ + 1;
}

void Execution::wait_for_others(const OperationSet* goal) {
  if (running_ != 0) {
    ++waiting_;
    operation_done_.wait(dependencies_.mutex);
    --waiting_;
  } else if (operations_.waits_for_processes()) {
    free_the_lock();
  } else if (SuspendableKernel* const call = find_resumable()) {
    if (others_may_help()) wait_shortly();
    if (find_resumable() == call) resume(*call, goal);
  } else if (suspended_.empty()) {
    wait_for_value();
  } else {
    wait_for_change();
  }
}

// Waits while all kernels that have begun wait, and so does the host.
void Execution::wait_for_change() {
  if (!host_.is_gone && dependencies_.runner.has_other_processes()) {
    free_the_lock();
  } else if (others_may_help()) {
    wait_shortly();
  } else {
    give_up(*suspended_.front());
  }
}

// Gives up kernels if for a long time the host only asks whether they have ended, or makes no
// calls.
void Execution::give_up_after_long(bool is_asked) {
  if (suspended_.empty() || dependencies_.runner.has_other_processes()) return;
  SuspendableKernel* const call = suspended_.front().get();
  const auto now = std::chrono::steady_clock::now();
  if (stuck_.call != call || stuck_.operations != operations_.asked_for()) {
    stuck_ = {.call = call, .operations = operations_.asked_for(), .since = now};
  }
  stuck_.questions += is_asked ? 1 : 0;
  const auto took = now - stuck_.since;
  const bool is_over =
      call->waits_for_host() ? took >= kVeryLong && stuck_.questions >= kQuestions : took >= kLong;
  if (is_over) give_up(*call);
}

void Execution::give_up(SuspendableKernel& call) {
  call.give_up();
  resume(call, nullptr);
}

// Waits for a value that another thread of the program may write, or for which it may request an
// operation.
void Execution::wait_for_value() {
  const OperationPtr waiting = operations_.first_ready();
  if (waiting == nullptr) throw std::logic_error("operations wait for each other");
  // it is not known whether the value would have been written
  if (host_.is_gone) return operations_.clear();
  if (dependencies_.trial.in_ambient() && other_threads_may_run()) {
    ++waiting_;
    operation_done_.wait_for(dependencies_.mutex, std::chrono::milliseconds(1));
    --waiting_;
  } else {
    dependencies_.runner.give_up_waiting(*waiting);
  }
}

void Execution::run_next(const OperationSet* goal) {
  for (const auto& call : suspended_) {
    if (call->has_changed()) return resume(*call, goal);
  }
  if (goal != nullptr && running_ == 0 && suspended_.empty()) {
    dependencies_.runner.run_ahead(operations_, *goal, host_);
  }
  const OperationPtr operation =
      operations_.take(dependencies_.trial.strategy(), dependencies_.trial.schedule(),
                       [&](const Operation& one) { return can_begin(one); });
  if (operations_.had_choice())
    dependencies_.trial.order_shows("nothing orders operations of several streams");
  if (operation == nullptr) return wait_for_others(goal);
  if (const OperationSet* const more =
          dependencies_.runner.comes_after(*operation, operations_.done())) {
    operations_.learn(*operation, *more);
    // The store is not known: it may be one of a kernel that has not ended.
    for (const auto& call : suspended_) {
      if (more == &operations_.done()) operations_.learn(*operation, call->operation()->clock);
    }
  }
  run(operation, goal);
}

void Execution::run(const OperationPtr& operation, const OperationSet* goal) {
  host_.runs_alone = running_ == 0 && suspended_.empty() && goal != nullptr &&
                     goal->covers(operation->stamp) && !operation->next_begins_early &&
                     operations_.nothing_is_concurrent_with(*operation);
  // No other operation runs before the host knows of this one.  A plain program may access memory
  // meanwhile.
  operation->is_alone =
      host_.runs_alone && operations_.pending() == 1 && !dependencies_.trial.in_ambient();
  if (dependencies_.trial.in_ambient() && is_kernel(operation->work)) {
    std::unique_ptr<SuspendableKernel> call;
    if (spare_.empty()) {
      call = std::make_unique<SuspendableKernel>(
          [this](const SuspendableKernel& one) { return must_suspend(one); });
    } else {
      call = std::move(spare_.back());
      spare_.pop_back();
    }
    Operation& work = *operation;
    call->begin(operation, [this, &work] {
      if (may_run(work)) dependencies_.runner.run(work, host_);
    });
    suspended_.push_back(std::move(call));
    return resume(*suspended_.back(), goal);
  }
  const bool writes_value = !suspended_.empty() && brings_value(operation->work);
  perform(*operation, operation->asked_at, [&] {
    if (may_run(*operation)) dependencies_.runner.run(*operation, host_);
    return true;
  });
  for (const auto& call : suspended_) {
    const bool is_told = call->has_changed() || (call->can_resume() && writes_value);
    if (is_told) dependencies_.runner.signalled(*call->operation(), *operation);
  }
}

// Resumes an element of suspended_.
//   goal: as in run_next()
void Execution::resume(SuspendableKernel& call, const OperationSet* goal) {
  const OperationPtr operation = call.operation();
  const Meanwhile<vgpu::ConcurrentWork*> meanwhile(host_.concurrent_work, &call);
  // A deadlock is reported at the call that waits.
  const void* caller = operation->asked_at;
  if (call.is_given_up()) caller = host_.is_gone ? nullptr : current_call().return_address;
  const auto put_away = [&] {
    const auto found =
        std::ranges::find(suspended_, &call, &std::unique_ptr<SuspendableKernel>::get);
    spare_.push_back(std::move(*found));
    suspended_.erase(found);
  };
  call.set_waited_for(goal != nullptr && goal->covers(operation->stamp));
  stuck_ = {};
  report_host_accesses();  // before the kernel continues
  dependencies_.runner.resumes(*operation, operations_.known_to_host());
  try {
    const bool has_ended = perform(*operation, caller, [&] { return call.resume(); });
    if (has_ended) {
      put_away();
    } else if (call.can_resume()) {  // after the other kernels that can continue
      const auto found =
          std::ranges::find(suspended_, &call, &std::unique_ptr<SuspendableKernel>::get);
      std::rotate(found, std::next(found), suspended_.end());
    }
  } catch (...) {
    put_away();
    throw;
  }
  dependencies_.idle.look_soon(!suspended_.empty());
}

// Runs a part of an operation; run() returns whether the operation has ended.
//   caller: return address of the call at which findings are reported
template <typename Run>
bool Execution::perform(Operation& operation, const void* caller, Run run) {
  ++running_;
  bool has_ended = true;
  try {
    dependencies_.findings.mishaps().perform(caller);
    has_ended = run();
    dependencies_.findings.mishaps().perform(
        dependencies_.trial.in_ambient() ? current_call().return_address : nullptr);
    if (!has_ended) dependencies_.runner.suspended(operation);
    report_host_accesses();
    if (!has_ended) dependencies_.runner.reported_beside(operation);
  } catch (...) {
    --running_;
    operations_.finish(operation, dependencies_.clock.cycles());
    throw;
  }
  --running_;
  if (has_ended) operations_.finish(operation, dependencies_.clock.cycles());
  if (has_ended && waiting_ != 0) operation_done_.notify_all();
  return has_ended;
}

}  // namespace warpcheck::cudart
