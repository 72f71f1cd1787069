// Locations of memory and the writes that are remembered of each.
//
// Every lane asks for its location at every access, so they are found without hashing: a page of
// heads of lists, one for each granule of 16 bytes, and locations that are taken from a pool and
// keep their memory when they go back to it.
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

  // Who did something, and when.
  struct Author {
    ThreadOrder::SegmentId segment = 0;  // 0: before everything
    unsigned lane = 0;
    BlockKey block = 0;
    std::uint32_t thread = 0;
  };
  struct Write {
    std::array<std::byte, kBytesMax> bytes{};
    Author author;
    bool strong = false;
    Reach reach = Reach::grid;
    bool is_update = false;           // of an atomic operation, which read the write before it
    std::uint64_t number = 0;         // in the order in which the location's writes were made
    std::uint64_t strong_number = 0;  // strong ones up to it
    // Reads that have observed it, the first of each thread.
    std::vector<Author> readers;
  };
  struct Location {
    std::uint32_t offset = 0, bytes = 0;
    std::uint64_t made = 0, strong_made = 0;
    std::vector<Write> writes;  // in coherence order; at least one
    std::uint32_t next = 0;     // of its granule, or of those that are free
  };

  // The location of just these bytes; null: there is none.  Others that have any of them are
  // forgotten: bytes that are accessed in several sizes have a latest value alone.
  //   id: Allocation::id
  Location* find(std::uint32_t id, std::uint32_t offset, std::uint32_t bytes);
  // Of one that is not there, without a write.  It stays where it is until it is dropped.
  Location& make(std::uint32_t id, std::uint32_t offset, std::uint32_t bytes);
  void drop(std::uint32_t id, const Location& location);
  void forget(std::uint32_t id);
  void clear();
  [[nodiscard]] std::size_t count() const { return count_; }

 private:
  static constexpr std::uint32_t kGranuleBytes = 16, kPageGranules = 64;
  static constexpr std::uint32_t kShelfLocations = 256;

  using Shelf = std::array<Location, kShelfLocations>;
  // Numbers of locations in pool_, from 1; 0: none.
  using Page = std::array<std::uint32_t, kPageGranules>;
  struct Pages {
    std::vector<std::unique_ptr<Page>> pages;
    std::vector<std::uint32_t> used;  // those with a location, perhaps
    std::vector<std::uint8_t> is_used;
  };

  // Null: it has never had a location.
  [[nodiscard]] std::uint32_t* head_of(std::uint32_t id, std::uint32_t offset);
  [[nodiscard]] Location& at(std::uint32_t number) {
    return (*pool_[number / kShelfLocations])[number % kShelfLocations];
  }
  [[nodiscard]] std::uint32_t take();
  void release(std::uint32_t number);

  std::vector<Pages> of_;  // by Allocation::id
  std::vector<std::unique_ptr<Shelf>> pool_;
  std::uint32_t taken_ = 0;  // numbers that have been given out, up to this one
  std::uint32_t free_ = 0;
  std::size_t count_ = 0;
};

}  // namespace warpcheck::vgpu
