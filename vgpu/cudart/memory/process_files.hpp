// Files by which processes of one program share device memory and events (cudaIpc...): they lie
// beside the records of `warpcheck exec`, which takes them away when the program has ended.
//
// A file is known by the process that has made it and a number of that process; its bytes are
// mapped by all who open it.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>

namespace warpcheck::cudart {

// What a cudaIpcMemHandle_t or cudaIpcEventHandle_t holds; zeros behind it.
struct ProcessFileHandle {
  enum class What : std::uint32_t { nothing, memory = 0x6d435057, event = 0x65435057 };
  What what = What::nothing;
  std::int32_t process = 0;
  std::uint64_t number = 0;
  std::uint64_t bytes = 0;  // of memory
  friend auto operator<=>(const ProcessFileHandle&, const ProcessFileHandle&) = default;
};

// From, and to, one of CUDA's handles.
template <class Opaque>
ProcessFileHandle file_handle_in(const Opaque& handle) {
  std::array<std::byte, sizeof(ProcessFileHandle)> bytes;
  static_assert(sizeof bytes <= sizeof handle);
  std::memcpy(bytes.data(), &handle, sizeof bytes);
  return std::bit_cast<ProcessFileHandle>(bytes);
}
template <class Opaque>
Opaque to_handle(const ProcessFileHandle& known) {
  Opaque handle{};
  std::memcpy(&handle, &known, sizeof known);
  return handle;
}

// Throws vgpu::Refusal where this process does not run under exec.
//   call: what cannot be done then
void require_exec(std::string_view call);

// A mapped file.
class ProcessFile {
 public:
  // A new one, of zeros; null: there is no room for it, or this process does not run under exec.
  static std::shared_ptr<ProcessFile> make(ProcessFileHandle::What what, std::uint64_t data_bytes,
                                           std::size_t file_bytes);
  // One that another process, or this one, has made; null: there is none.
  static std::shared_ptr<ProcessFile> open(const ProcessFileHandle& handle, std::size_t file_bytes);
  ~ProcessFile();
  ProcessFile(const ProcessFile&) = delete;
  ProcessFile& operator=(const ProcessFile&) = delete;

  [[nodiscard]] const ProcessFileHandle& handle() const { return handle_; }
  [[nodiscard]] std::byte* data() const { return data_; }

 private:
  ProcessFile(const ProcessFileHandle& handle, std::byte* data, std::size_t bytes)
      : handle_(handle), data_(data), bytes_(bytes) {}
  static std::shared_ptr<ProcessFile> map(const ProcessFileHandle& handle, int flags,
                                          std::size_t bytes);

  ProcessFileHandle handle_;
  std::byte* data_;
  std::size_t bytes_;
};

}  // namespace warpcheck::cudart
