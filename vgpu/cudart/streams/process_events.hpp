// Events that processes of one program share: cudaEventInterprocess, cudaIpcGetEventHandle.
//
// All processes that record the event number their recordings in a shared file.  A recording is an
// operation of a stream, which marks the recording as complete in that file.  A wait for a
// recording of another process is not ready before that.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <memory>

#include "vgpu/cudart/memory/process_files.hpp"

namespace warpcheck::cudart {

class ProcessEvent {
 public:
  explicit ProcessEvent(std::shared_ptr<ProcessFile> file) : file_(std::move(file)) {}
  // Return null if this process does not run under exec, or if there is no room.
  static std::shared_ptr<ProcessEvent> make();
  static std::shared_ptr<ProcessEvent> open(const cudaIpcEventHandle_t& handle, cudaError_t& error);

  [[nodiscard]] cudaIpcEventHandle_t handle() const;
  // This process records the event.  Returns the number of the recording.
  std::uint64_t record();
  // Returns the latest recording of any process; 0: there was none.
  [[nodiscard]] std::uint64_t latest() const;
  [[nodiscard]] bool is_latest_own() const { return latest() == own_; }
  // Returns whether the recording is complete, or its process has ended.
  [[nodiscard]] bool is_done(std::uint64_t recording) const;
  void finish(std::uint64_t recording);

 private:
  std::shared_ptr<ProcessFile> file_;
  std::uint64_t own_ = 0;  // the latest recording of this process
};

// The work of such a recording; or of a wait, which has nothing to do when its turn comes.
struct ProcessEventWork {
  std::shared_ptr<ProcessEvent> event;
  std::uint64_t recording = 0;
  bool waits = false;
  [[nodiscard]] bool is_ready() const { return !waits || event->is_done(recording); }
};

}  // namespace warpcheck::cudart
