// Files through which processes of one program share device memory and events (cudaIpc...).  They
// are beside the records of `warpcheck exec`, which deletes them when the program has ended.
//
// A file is identified by the process that created it and a number in that process; all processes
// that open it map its bytes.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>

namespace warpcheck::cudart {

// The content of a cudaIpcMemHandle_t or cudaIpcEventHandle_t, followed by zeros.
struct ProcessFileHandle {
  enum class What : std::uint32_t { nothing, memory = 0x6d435057, event = 0x65435057 };
  What what = What::nothing;
  std::int32_t process = 0;
  std::uint64_t number = 0;
  std::uint64_t bytes = 0;  // set for memory
  friend auto operator<=>(const ProcessFileHandle&, const ProcessFileHandle&) = default;
};

// Converts from and to one of CUDA's handles.
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

// Throws vgpu::Refusal if this process does not run under exec.
//   call: the function that needs it
void require_exec(std::string_view call);

// A mapped file.
class ProcessFile {
 public:
  // Creates a file of zeros; null: there is no room for it, or this process does not run under
  // exec.
  static std::shared_ptr<ProcessFile> make(ProcessFileHandle::What what, std::uint64_t data_bytes,
                                           std::size_t file_bytes);
  // Opens a file that this process or another one has created; null: there is none.
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
