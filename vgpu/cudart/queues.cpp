#include "vgpu/cudart/queues.hpp"

namespace warpcheck::cudart {

cudaStream_t Queues::create_stream(unsigned flags, int priority) {
  auto stream = std::make_unique<Stream>(Stream{flags, priority, next_stream_id_++});
  auto* const handle = reinterpret_cast<cudaStream_t>(stream.get());
  streams_.emplace(handle, std::move(stream));
  return handle;
}

bool Queues::destroy_stream(cudaStream_t handle) { return streams_.erase(handle) != 0; }

const Stream* Queues::find(cudaStream_t handle) const {
  if (handle == nullptr || handle == cudaStreamLegacy || handle == cudaStreamPerThread) {
    return &default_stream_;
  }
  const auto found = streams_.find(handle);
  return found == streams_.end() ? nullptr : found->second.get();
}

cudaEvent_t Queues::create_event(unsigned flags) {
  auto event = std::make_unique<Event>();
  event->flags = flags;
  auto* const handle = reinterpret_cast<cudaEvent_t>(event.get());
  events_.emplace(handle, std::move(event));
  return handle;
}

bool Queues::destroy_event(cudaEvent_t handle) { return events_.erase(handle) != 0; }

Event* Queues::find(cudaEvent_t handle) const {
  const auto found = events_.find(handle);
  return found == events_.end() ? nullptr : found->second.get();
}

void Queues::clear() {
  streams_.clear();
  events_.clear();
  next_stream_id_ = 1;
}

}  // namespace warpcheck::cudart
