// Streams and events: handles, their flags, and the virtual time of an event.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <memory>
#include <unordered_map>

namespace warpcheck::cudart {

struct Stream {
  unsigned flags = 0;
  int priority = 0;
  std::uint64_t id = 0;
};

struct Event {
  unsigned flags = 0;
  bool recorded = false;
  std::uint64_t cycles = 0;  // virtual time of the last record
  [[nodiscard]] bool has_time() const { return recorded && (flags & cudaEventDisableTiming) == 0; }
};

// Handles are addresses of the objects; 0, cudaStreamLegacy and cudaStreamPerThread are streams
// that always exist.
class Queues {
 public:
  cudaStream_t create_stream(unsigned flags, int priority);
  bool destroy_stream(cudaStream_t handle);
  // nullptr: no such stream.
  [[nodiscard]] const Stream* find(cudaStream_t handle) const;

  cudaEvent_t create_event(unsigned flags);
  bool destroy_event(cudaEvent_t handle);
  [[nodiscard]] Event* find(cudaEvent_t handle) const;

  void clear();

 private:
  Stream default_stream_;
  std::uint64_t next_stream_id_ = 1;
  std::unordered_map<cudaStream_t, std::unique_ptr<Stream>> streams_;
  std::unordered_map<cudaEvent_t, std::unique_ptr<Event>> events_;
};

}  // namespace warpcheck::cudart
