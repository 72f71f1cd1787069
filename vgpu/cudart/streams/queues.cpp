#include "vgpu/cudart/streams/queues.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "vgpu/cudart/device/current_device.hpp"

namespace warpcheck::cudart {
namespace {

thread_local bool default_is_per_thread = false;

}  // namespace

PerThreadDefaultStream::PerThreadDefaultStream()
    : outer_(std::exchange(default_is_per_thread, true)) {}
PerThreadDefaultStream::~PerThreadDefaultStream() { default_is_per_thread = outer_; }

cudaStream_t Queues::create_stream(unsigned flags, int priority) {
  auto stream = std::make_unique<Stream>();
  stream->flags = flags;
  stream->priority = priority;
  stream->id = next_stream_id_++;
  stream->device = current_device();
  auto* const handle = reinterpret_cast<cudaStream_t>(stream.get());
  current_.push_back(stream.get());
  streams_.emplace(handle, std::move(stream));
  return handle;
}

Stream& Queues::legacy(unsigned device) {
  const bool is_first = device == 0 && !legacy_.empty();  // mostly
  while (!is_first && legacy_.size() <= device) legacy_.emplace_back();
  Stream& stream = is_first ? legacy_.front() : legacy_[device];
  stream.is_legacy = true;
  stream.device = device;
  return stream;
}

Stream* Queues::find(cudaStream_t handle) {
  if (handle == nullptr && default_is_per_thread) handle = cudaStreamPerThread;
  if (handle == nullptr || handle == cudaStreamLegacy) return &legacy(current_device());
  if (handle == cudaStreamPerThread) {
    std::unique_ptr<Stream>& own = per_thread_[{current_device(), std::this_thread::get_id()}];
    if (own == nullptr) {
      own = std::make_unique<Stream>();
      own->id = next_stream_id_++;
      own->device = current_device();
    }
    return own.get();
  }
  const auto found = streams_.find(handle);
  return found == streams_.end() ? nullptr : found->second.get();
}

cudaEvent_t Queues::create_event(unsigned flags) {
  auto event = std::make_unique<Event>();
  event->flags = flags;
  event->device = current_device();
  auto* const handle = reinterpret_cast<cudaEvent_t>(event.get());
  events_.emplace(handle, std::move(event));
  return handle;
}

Event* Queues::find(cudaEvent_t handle) const {
  const auto found = events_.find(handle);
  return found == events_.end() ? nullptr : found->second.get();
}

void Queues::destroy(cudaEvent_t handle) {
  constexpr std::size_t kRemembered = 4096;
  *events_[handle] = {};
  events_[handle]->destroyed = true;
  destroyed_events_.push_back(handle);
  if (destroyed_events_.size() <= kRemembered) return;
  events_.erase(destroyed_events_.front());
  destroyed_events_.pop_front();
}

std::vector<OperationPtr> Queues::latest(const Stream& stream) {
  std::vector<OperationPtr> list;
  add_latest(stream, list);
  return list;
}

void Queues::add_latest(const Stream& stream, std::vector<OperationPtr>& list) {
  list.insert(list.end(), stream.waits.begin(), stream.waits.end());
  if (stream.last != nullptr) list.push_back(stream.last);
}

void Queues::add_blocking(std::vector<OperationPtr>& list, unsigned device) {
  const auto add = [&](const Stream& stream) {
    if (stream.device == device && stream.is_blocking()) add_latest(stream, list);
  };
  for (const Stream* const stream : current_) add(*stream);
  // What comes after this operation comes after the last ones of these streams, too.
  std::erase_if(current_, [&](const Stream* stream) {
    const bool is_ordered = stream->device == device || !stream->is_blocking();
    return stream->destroyed && is_ordered && stream->capture == nullptr;
  });
  for (const auto& [thread, stream] : per_thread_) add(*stream);
}

// Programming Guide, "Default Stream": the legacy stream waits for every blocking stream, and they
// wait for it.
void Queues::before_next(Stream& stream, std::vector<OperationPtr>& list) {
  add_latest(stream, list);
  stream.waits.clear();
  if (stream.is_legacy) add_blocking(list, stream.device);
  if (stream.is_blocking()) add_latest(legacy(stream.device), list);
  if (orders_all_) {
    for (const Stream& other : legacy_) add_latest(other, list);
    for_each_stream([&](const Stream& other) { add_latest(other, list); });
  }
}

bool Queues::captures_blocking_stream(unsigned device) const {
  const auto captures = [&](const Stream& stream) {
    return stream.device == device && stream.is_blocking() && stream.capture != nullptr;
  };
  return std::ranges::any_of(current_, [&](const Stream* one) { return captures(*one); }) ||
         std::ranges::any_of(per_thread_, [&](const auto& one) { return captures(*one.second); });
}

void Queues::forget(unsigned device) {
  if (device < legacy_.size()) legacy_[device] = {};
  std::erase_if(per_thread_, [&](const auto& one) { return one.first.first == device; });
  for (const auto& [handle, stream] : streams_) stream->destroyed |= stream->device == device;
  std::vector<cudaEvent_t> gone;
  for (const auto& [handle, event] : events_) {
    if (event->device == device && !event->destroyed) gone.push_back(handle);
  }
  for (const cudaEvent_t handle : gone) destroy(handle);
}

void Queues::clear() {
  // Most programs create no streams, and clearing an empty table takes as long as its largest size.
  if (!streams_.empty()) streams_.clear();
  current_.clear();
  if (!per_thread_.empty()) per_thread_.clear();
  if (!events_.empty()) events_.clear();
  if (!destroyed_events_.empty()) destroyed_events_.clear();
  for (Stream& stream : legacy_) {
    std::destroy_at(&stream);
    std::construct_at(&stream);
  }
  next_stream_id_ = 1;
}

}  // namespace warpcheck::cudart
