// Streams and events: their handles and flags, and the operations that they stand for.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "vgpu/cudart/streams/operations.hpp"

namespace warpcheck::cudart {

struct Capture;
struct Node;

struct Stream {
  unsigned flags = 0;
  int priority = 0;
  std::uint64_t id = 0;
  unsigned device = 0;  // the current device of the thread that created it
  bool is_legacy = false;
  bool destroyed = false;  // its handle is never reused
  OperationPtr last;
  std::vector<OperationPtr> waits;      // of cudaStreamWaitEvent, for the next operation
  std::shared_ptr<Capture> capture{};   // not null: calls create nodes of a graph
  std::vector<Node*> captured_after{};  // the nodes that the next node comes after
  std::map<int, cudaStreamAttrValue> attributes{};
  [[nodiscard]] bool is_blocking() const {
    return !is_legacy && (flags & cudaStreamNonBlocking) == 0;
  }
};

struct Event {
  unsigned flags = 0;
  unsigned device = 0;
  bool destroyed = false;
  OperationPtr record;  // the latest recording; null: never recorded
  std::shared_ptr<ProcessEvent> of_processes{};
  std::shared_ptr<Capture> capture{};  // set if it was recorded while a stream was captured
  std::vector<Node*> captured_after{};
  // Returns whether another process has recorded it after this one.
  [[nodiscard]] bool is_others() const {
    return of_processes != nullptr && !of_processes->is_latest_own();
  }
  [[nodiscard]] bool is_done() const { return record == nullptr || record->is_done(); }
  [[nodiscard]] bool has_time() const {
    return record != nullptr && (flags & cudaEventDisableTiming) == 0;
  }
};

// Handles are addresses of the objects; 0, cudaStreamLegacy and cudaStreamPerThread denote the
// streams that every device always has, of the thread's current device.
class Queues {
 public:
  Queues() { clear(); }

  cudaStream_t create_stream(unsigned flags, int priority);
  // Returns nullptr if there is no such stream.  The stream may have been destroyed.
  [[nodiscard]] Stream* find(cudaStream_t handle);

  cudaEvent_t create_event(unsigned flags);
  [[nodiscard]] Event* find(cudaEvent_t handle) const;
  // The handle is remembered as destroyed until many others have been destroyed.
  void destroy(cudaEvent_t handle);

  // Appends the operations that the next operation of the stream comes after.
  void before_next(Stream& stream, std::vector<OperationPtr>& list);
  // Returns the latest operations of the stream, for which a wait for the stream waits.
  [[nodiscard]] static std::vector<OperationPtr> latest(const Stream& stream);

  template <typename Visit>
  void for_each_stream(Visit&& visit) {
    for (const auto& [handle, stream] : streams_) visit(*stream);
    for (const auto& [thread, stream] : per_thread_) visit(*stream);
  }
  // Visits the streams of a device, including its legacy stream.
  template <typename Visit>
  void for_each_stream_of(unsigned device, Visit&& visit) {
    visit(legacy(device));
    for_each_stream([&](Stream& stream) {
      if (stream.device == device) visit(stream);
    });
  }
  // Returns whether an operation of the device's legacy stream would depend on captured work.
  [[nodiscard]] bool captures_blocking_stream(unsigned device) const;

  // True: an operation comes after those of all streams (Suppositions::one_stream).
  void order_all(bool all) { orders_all_ = all; }
  // True: nodes of a graph run one after the other (Suppositions::ordered_nodes).
  void order_nodes(bool all) { orders_nodes_ = all; }
  [[nodiscard]] bool orders_nodes() const { return orders_nodes_; }

  void clear();
  // Streams and events of the device are remembered as destroyed.
  void forget(unsigned device);

 private:
  static void add_latest(const Stream& stream, std::vector<OperationPtr>& list);
  void add_blocking(std::vector<OperationPtr>& list, unsigned device);
  Stream& legacy(unsigned device);

  bool orders_all_ = false;
  bool orders_nodes_ = false;
  std::deque<Stream> legacy_;  // by device
  std::uint64_t next_stream_id_ = 1;
  std::unordered_map<cudaStream_t, std::unique_ptr<Stream>> streams_;
  // Those of them that operations of their legacy stream depend on: a destroyed stream does until
  // the next such operation.
  std::vector<Stream*> current_;
  std::map<std::pair<unsigned, std::thread::id>, std::unique_ptr<Stream>> per_thread_;
  std::unordered_map<cudaEvent_t, std::unique_ptr<Event>> events_;
  std::deque<cudaEvent_t> destroyed_events_;  // oldest first
};

// While such an object exists, a null stream means the stream of the calling thread: programs
// compiled with --default-stream per-thread call functions named ..._ptds and ..._ptsz.
class PerThreadDefaultStream {
 public:
  PerThreadDefaultStream();
  ~PerThreadDefaultStream();
  PerThreadDefaultStream(const PerThreadDefaultStream&) = delete;
  PerThreadDefaultStream& operator=(const PerThreadDefaultStream&) = delete;

 private:
  bool outer_;
};

}  // namespace warpcheck::cudart
