// Global memory as it was before a launch that several machines run: each page is kept before the
// first byte of it is written, so that all can be put back.
//
// With the bytes goes what the checkers keep of each of them (Checker::states_of).
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
#include "vgpu/machine/memory/memory.hpp"

namespace warpcheck::cudart {

inline constexpr std::uint32_t kTeamPageBytes = 4096;

// What one machine has kept.
class KeptPages {
 public:
  //   data, states: of `bytes` bytes, up to a page; states may be null
  void add(std::byte* data, std::uint8_t* states, std::uint32_t bytes);
  void put_back() const;
  // Host memory is kept for reuse, up to a bound.
  void clear();

 private:
  struct Page {
    std::byte* data = nullptr;
    std::uint8_t* states = nullptr;
    std::uint32_t bytes = 0;
    const std::byte* kept = nullptr;  // the states behind the bytes
  };
  static constexpr std::size_t kBlockBytes = std::size_t{1} << 20;
  using Block = std::array<std::byte, kBlockBytes>;

  std::byte* take(std::uint32_t bytes);

  std::vector<Page> pages_;
  std::vector<std::unique_ptr<Block>> blocks_;
  std::size_t used_ = 0;  // bytes of blocks_
};

class SavedPages {
 public:
  // Of one allocation: which of its pages are kept.
  using Flags = std::vector<std::atomic<std::uint8_t>>;

  // Begins a launch.
  //   bytes_max: of the host's memory that it may take up, shadows included
  void begin(const vgpu::Checkers& whole, std::uint64_t bytes_max);
  // May be called by all machines.
  Flags& flags_of(const vgpu::Allocation& allocation);
  // Returns when the page is kept, by whomever.  False: there is no memory for it.
  bool keep(Flags& flags, const vgpu::Allocation& allocation, std::uint32_t page, KeptPages& by);
  // A machine takes up so much more.  False: there is no memory for it.
  bool count_bytes(std::int64_t bytes);
  // A machine has shadows of one page more.
  bool count_shadows();
  void clear() { flags_.clear(); }

 private:
  const vgpu::Checkers* whole_ = nullptr;
  std::atomic<std::int64_t> left_ = 0;
  std::mutex mutex_;
  std::map<std::uint32_t, std::unique_ptr<Flags>> flags_;  // by Allocation::id
};

}  // namespace warpcheck::cudart
