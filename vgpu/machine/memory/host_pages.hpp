// Bytes of the host that are all alike until somebody writes them: what device memory and the
// shadows of checkers are kept in.
//
// Programs ask for memory by the gigabyte and touch a part of it.  So a large block is mapped, not
// filled: pages that nobody has written are pages of one file, which all blocks share, and become
// the block's own when they are first written.  Addresses inside a block are what they would be if
// it had been filled, so whoever reads and writes it need not know.
#pragma once

#include <cstddef>
#include <functional>
#include <utility>

namespace warpcheck::vgpu {

class HostPages {
 public:
  // From this size on, a block is mapped; a smaller one is filled.
  static constexpr std::size_t kMappedMin = std::size_t{1} << 20;

  HostPages() = default;
  // Aligned to 64 bytes.  is_empty(): the host has no room for so much.
  HostPages(std::size_t bytes, std::byte value);
  HostPages(HostPages&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)),
        bytes_(std::exchange(other.bytes_, 0)),
        mapped_(other.mapped_) {}
  HostPages& operator=(HostPages&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    std::swap(mapped_, other.mapped_);
    return *this;
  }
  ~HostPages();

  [[nodiscard]] bool is_empty() const { return data_ == nullptr; }
  [[nodiscard]] std::byte* data() const { return data_; }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

  // Gives a range one value; of a mapped block, its whole pages are given back to the host.
  void fill(std::size_t offset, std::size_t bytes, std::byte value);
  // The same of a range of a mapped block.
  static void fill_at(std::byte* begin, std::size_t bytes, std::byte value);
  // Calls visit(offset, bytes) for parts of the block, ascending, outside of which nobody has
  // written anything since it was made.
  void for_each_written(const std::function<void(std::size_t, std::size_t)>& visit) const;

 private:
  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
  bool mapped_ = false;
};

// Maps pages of one value over whole pages of the host's.  False: the host cannot; they stay.
bool map_alike(std::byte* at, std::size_t bytes, std::byte value);

}  // namespace warpcheck::vgpu
