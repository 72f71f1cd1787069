// Files through which processes of one program share device memory, pools and events (cudaIpc...,
// shareable handles).  They are beside the records of `warpcheck exec`, which deletes them when the
// program has ended.
//
// A file is identified by the process that created it and a number in that process; all processes
// that open it map its bytes.  Behind these, in a page of its own, the file has its identity, so
// that an open file descriptor leads to it as well.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string_view>

namespace warpcheck::cudart {

// The content of a cudaIpcMemHandle_t, cudaIpcEventHandle_t or cudaMemPoolPtrExportData, followed
// by zeros.
struct ProcessFileHandle {
  enum class What : std::uint32_t {
    nothing,
    memory = 0x6d435057,
    event = 0x65435057,
    pool = 0x70435057
  };
  What what = What::nothing;
  std::int32_t process = 0;
  std::uint64_t number = 0;
  std::uint64_t bytes = 0;  // set for memory
  friend auto operator<=>(const ProcessFileHandle&, const ProcessFileHandle&) = default;
};

// Converts from and to one of CUDA's handles, which has more bytes.
template <class Known, class Opaque>
Known in_handle(const Opaque& handle) {
  std::array<std::byte, sizeof(Known)> bytes;
  static_assert(sizeof bytes <= sizeof handle);
  std::memcpy(bytes.data(), &handle, sizeof bytes);
  return std::bit_cast<Known>(bytes);
}
template <class Opaque, class Known>
Opaque to_handle(const Known& known) {
  static_assert(sizeof(Known) <= sizeof(Opaque));
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
  // Returns the handle of the file behind a descriptor; nothing: it is none of these files.
  static std::optional<ProcessFileHandle> handle_of(int descriptor);
  ~ProcessFile();
  ProcessFile(const ProcessFile&) = delete;
  ProcessFile& operator=(const ProcessFile&) = delete;

  [[nodiscard]] const ProcessFileHandle& handle() const { return handle_; }
  [[nodiscard]] std::byte* data() const { return data_; }
  // Returns a new descriptor of the file, which the caller closes, and which a process that it
  // starts inherits; -1: there is none left.
  [[nodiscard]] int descriptor() const;

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
