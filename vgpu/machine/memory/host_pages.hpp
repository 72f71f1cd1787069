// Host bytes that all have one value until they are written.  Device memory and the shadows of
// checkers are kept in such blocks.
//
// Programs allocate gigabytes and touch only a part of them.  So a large block is mapped and not
// filled: pages that were never written are pages of one file that all blocks share, and become
// private pages of the block at the first write.  The addresses inside a block are those of a
// filled block, so code that reads and writes it does not see a difference.
#pragma once

#include <cstddef>
#include <functional>
#include <utility>

namespace warpcheck::vgpu {

class HostPages {
 public:
  // Blocks of at least this size are mapped; smaller blocks are filled.
  static constexpr std::size_t kMappedMin = std::size_t{1} << 20;

  HostPages() = default;
  // The block is aligned to 64 bytes. is_empty() afterwards: the host has not enough memory.
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

  // Sets a range to one value; in a mapped block, whole pages of it are returned to the host.
  void fill(std::size_t offset, std::size_t bytes, std::byte value);
  // Does the same for a range of a mapped block.
  static void fill_at(std::byte* begin, std::size_t bytes, std::byte value);
  // Calls visit(offset, bytes) for parts of the block, in ascending order.  No byte outside these
  // parts was written since the block was created.
  void for_each_written(const std::function<void(std::size_t, std::size_t)>& visit) const;

 private:
  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
  bool mapped_ = false;
};

// Maps pages of one value over whole host pages.  False: the host cannot map them; the old pages
// stay.
bool map_alike(std::byte* at, std::size_t bytes, std::byte value);

}  // namespace warpcheck::vgpu
