// Memory locations, and the writes that are remembered of each.
//
// Every lane looks up its location at every access, so the lookup uses no hashing: a page holds one
// list head for each granule of 16 bytes, and locations come from a pool and keep their memory when
// they return to it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "vgpu/check/order/thread_order.hpp"

namespace warpcheck::vgpu {

class Locations {
 public:
  static constexpr std::size_t kBytesMax = 16;

  // Which lane did something, and in which segment.
  struct Author {
    SegmentId segment = 0;  // 0: before everything else
    unsigned lane = 0;
    BlockKey block = 0;
    std::uint32_t thread = 0;
  };
  struct Write {
    std::array<std::byte, kBytesMax> bytes{};
    Author author;
    bool strong = false;
    Reach reach = Reach::grid;
    bool is_update = false;           // by an atomic operation, which read the write before it
    std::uint64_t number = 0;         // in the order of execution
    std::uint64_t strong_number = 0;  // the number of strong writes up to this one
    // The reads that have observed it: the first read of each thread.
    std::vector<Author> readers;
  };
  struct Location {
    std::uint32_t offset = 0, bytes = 0;
    std::uint64_t made = 0, strong_made = 0;
    std::vector<Write> writes;  // in coherence order; never empty
    std::uint32_t next = 0;     // the next location of its granule, or the next free one
  };

  // Returns the location of exactly these bytes; null: there is none.  Forgets other locations that
  // overlap them, because bytes that are accessed in several sizes have only a latest value.
  //   id: Allocation::id
  Location* find(std::uint32_t id, std::uint32_t offset, std::uint32_t bytes);
  // Creates a location that does not exist yet, without a write.  It keeps its address until it is
  // dropped.
  Location& make(std::uint32_t id, std::uint32_t offset, std::uint32_t bytes);
  void drop(std::uint32_t id, const Location& location);
  void forget(std::uint32_t id);
  void clear();
  [[nodiscard]] std::size_t count() const { return count_; }

 private:
  static constexpr std::uint32_t kGranuleBytes = 16, kPageGranules = 64;
  static constexpr std::uint32_t kShelfLocations = 256;

  using Shelf = std::array<Location, kShelfLocations>;
  // Numbers of locations in pool_, starting at 1; 0: none.
  using Page = std::array<std::uint32_t, kPageGranules>;
  struct Pages {
    std::vector<std::unique_ptr<Page>> pages;
    std::vector<std::uint32_t> used;  // pages that may have a location
    std::vector<std::uint8_t> is_used;
  };

  // Returns null if the page has never had a location.
  [[nodiscard]] std::uint32_t* head_of(std::uint32_t id, std::uint32_t offset);
  [[nodiscard]] Location& at(std::uint32_t number) {
    return (*pool_[number / kShelfLocations])[number % kShelfLocations];
  }
  [[nodiscard]] std::uint32_t take();
  void release(std::uint32_t number);

  std::vector<Pages> of_;  // by Allocation::id
  std::vector<std::unique_ptr<Shelf>> pool_;
  std::uint32_t taken_ = 0;  // the highest number given out so far
  std::uint32_t free_ = 0;
  std::size_t count_ = 0;
};

}  // namespace warpcheck::vgpu
