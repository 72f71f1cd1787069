// Global memory as it was before a launch that several machines run: each page is saved before its
// first byte is written, so that all pages can be restored.
//
// The checkers' states of each byte are saved with the bytes (Checker::states_of).
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "vgpu/check/checkers.hpp"
#include "vgpu/cudart/parallel/page_users.hpp"
#include "vgpu/machine/memory/memory.hpp"

namespace warpcheck::cudart {

inline constexpr std::uint32_t kParallelPageBytes = 4096;

// The pages that one machine has saved.
class KeptPages {
 public:
  //   data: `bytes` bytes from `offset` on, up to a page; states: of their allocation, may be null
  void add(std::byte* data, std::uint32_t bytes, vgpu::MemoryShadow* states, std::uint32_t offset);
  void put_back() const;
  // Host memory is kept for reuse, up to a limit.
  void clear();
  // The number of bytes that were copied, for the tests.
  [[nodiscard]] std::size_t bytes_copied() const { return used_; }
  // Bytes that it may use, of those that SavedPages has counted in advance.
  std::int64_t granted = 0;

 private:
  struct Page {
    std::byte* data = nullptr;
    vgpu::MemoryShadow* states = nullptr;
    std::uint32_t offset = 0;
    std::uint32_t bytes = 0;
    bool is_alike = false;  // all states are `state`, as in most pages
    std::uint8_t state = 0;
    bool has_one_value = false;  // all bytes are `value`, as in memory that nobody has written
    std::byte value{};
    // The bytes and the states, without those that are alike.
    const std::byte* kept = nullptr;
  };
  static constexpr std::size_t kBlockBytes = std::size_t{1} << 20;
  using Block = std::array<std::byte, kBlockBytes>;

  std::byte* take(std::uint32_t bytes);

  std::vector<Page> pages_;
  std::vector<std::unique_ptr<Block>> blocks_;
  std::size_t used_ = 0;  // used bytes of blocks_
};

class SavedPages {
 public:
  // What all machines know of a page: whether it is saved, and who uses it.
  struct PageFlags {
    std::atomic<std::uint8_t> state = 0;
    PageUsers users;
  };
  // The pages of one allocation.
  using Flags = std::vector<PageFlags>;

  // Begins a launch.
  //   bytes_max: limit for the host memory that it may use, including shadows
  void begin(const vgpu::Checkers& whole, std::uint64_t bytes_max);
  // May be called by all machines at once.
  Flags& flags_of(const vgpu::Allocation& allocation);
  // Returns when the page is saved, by any machine.  False: there is not enough memory.
  bool keep(Flags& flags, const vgpu::Allocation& allocation, std::uint32_t page, KeptPages& by);
  // A machine uses that much more memory.  False: there is not enough.
  bool count_bytes(std::int64_t bytes);
  // A machine has created shadows for one more page.
  bool count_shadows();
  void clear() { flags_.clear(); }

 private:
  const vgpu::Checkers* whole_ = nullptr;
  std::atomic<std::int64_t> left_ = 0;
  std::mutex mutex_;
  std::map<std::uint32_t, std::unique_ptr<Flags>> flags_;  // by Allocation::id
};

}  // namespace warpcheck::cudart
