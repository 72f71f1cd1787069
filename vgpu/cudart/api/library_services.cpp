// The functions that the virtual GPU provides for libraries (library_interface.hpp).
#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <memory>

#include "vgpu/cudart/api/api.hpp"
#include "vgpu/cudart/api/calls/api_call.hpp"
#include "vgpu/cudart/copies/copies.hpp"
#include "vgpu/cudart/exec/exec_session.hpp"
#include "vgpu/cudart/libraries/library_call.hpp"
#include "vgpu/cudart/libraries/library_interface.hpp"

namespace warpcheck::cudart {
namespace {

// Sets the current call of this thread to a call of a library, like a call of the runtime.
void note_call(const char* function, const void* return_address) {
  current_call() = {function, return_address, nullptr, {}};
}

cudaError_t enqueue(const LibraryRequest* request) {
  note_call(request->function, request->return_address);
  auto call = std::make_shared<const LibraryCall>(*request);
  return on_stream(request->function, request->stream, [&](Device& device, Stream& stream) {
    return device.execution().submit(stream, LibraryWork{std::move(call)}, request->waits);
  });
}

cudaError_t copy_for_library(const LibraryCopy* asked) {
  note_call(asked->function, asked->return_address);
  return on_stream(asked->function, asked->stream, [&](Device& device, Stream& stream) {
    return copy(device, asked->function, {asked->target, asked->target_pitch},
                {const_cast<void*>(asked->source), asked->source_pitch},
                {asked->width, asked->height}, number_of(asked->kind), stream,
                asked->asynchronous ? Waiting::asynchronous : Waiting::until_done);
  });
}

void report_failure(const LibraryFailure* failure) {
  note_call(failure->function, failure->return_address);
  with_device([&](Device& device) {
    device.enter_call();
    if (!device.trial().in_ambient()) return;
    report_failed_library_call(device.findings(), *failure);
  });
}

void refuse(const char* function, const char* why) { not_supported(function, why); }

LibraryMemory memory_at(const void* pointer) {
  return with_device([&](Device& device) {
    device.enter_call();
    const vgpu::Allocation* const found = device.allocations().nearest(pointer);
    if (found == nullptr) return LibraryMemory::host;
    return found->managed || found->page_locked ? LibraryMemory::shared : LibraryMemory::device;
  });
}

void note_gap(const char* what) {
  with_device([&](Device& device) {
    device.enter_call();
    ExecSession* const session = ExecSession::instance();
    if (session != nullptr && device.trial().in_ambient()) session->not_checked(what);
  });
}

constexpr LibraryServices kServices{enqueue, copy_for_library, report_failure,
                                    refuse,  memory_at,        note_gap};

}  // namespace
}  // namespace warpcheck::cudart

extern "C" const warpcheck::cudart::LibraryServices* warpcheck_library_services() {
  return &warpcheck::cudart::kServices;
}
