#include "vgpu/cudart/streams/process_events.hpp"

#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <new>

namespace warpcheck::cudart {
namespace {

constexpr std::size_t kFileBytes = 4096;

// The content of a file.  The process of the latest recording is written before its number.
struct Recordings {
  std::atomic<std::uint64_t> latest{0}, done{0};
  std::atomic<std::int32_t> process{0};
};

Recordings& recordings_in(const ProcessFile& file) {
  return *std::launder(reinterpret_cast<Recordings*>(file.data()));
}

}  // namespace

std::shared_ptr<ProcessEvent> ProcessEvent::make() {
  auto file = ProcessFile::make(ProcessFileHandle::What::event, 0, kFileBytes);
  if (file == nullptr) return nullptr;
  new (file->data()) Recordings;
  return std::make_shared<ProcessEvent>(std::move(file));
}

std::shared_ptr<ProcessEvent> ProcessEvent::open(const cudaIpcEventHandle_t& handle,
                                                 cudaError_t& error) {
  const ProcessFileHandle known = in_handle<ProcessFileHandle>(handle);
  error = cudaErrorInvalidValue;
  if (known.what != ProcessFileHandle::What::event) return nullptr;
  error = cudaErrorDeviceUninitialized;
  if (known.process == ::getpid()) return nullptr;
  error = cudaErrorMapBufferObjectFailed;
  auto file = ProcessFile::open(known, kFileBytes);
  if (file == nullptr) return nullptr;
  error = cudaSuccess;
  return std::make_shared<ProcessEvent>(std::move(file));
}

cudaIpcEventHandle_t ProcessEvent::handle() const {
  return to_handle<cudaIpcEventHandle_t>(file_->handle());
}

std::uint64_t ProcessEvent::record() {
  Recordings& all = recordings_in(*file_);
  all.process = ::getpid();
  own_ = ++all.latest;
  return own_;
}

std::uint64_t ProcessEvent::latest() const { return recordings_in(*file_).latest; }

bool ProcessEvent::is_done(std::uint64_t recording) const {
  const Recordings& all = recordings_in(*file_);
  if (all.done.load(std::memory_order_acquire) >= recording) return true;
  return ::kill(all.process, 0) != 0 && errno == ESRCH;
}

void ProcessEvent::finish(std::uint64_t recording) {
  std::atomic<std::uint64_t>& done = recordings_in(*file_).done;
  std::uint64_t known = done;
  while (known < recording && !done.compare_exchange_weak(known, recording)) {
  }
}

}  // namespace warpcheck::cudart
