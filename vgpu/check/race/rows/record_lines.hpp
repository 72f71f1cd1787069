// Lines of 32 neighbouring cells of global memory, which keep what rows leave in their cells as
// records, in place of the cells.
//
// Most accesses to global memory are made by whole rows of 32 neighbouring lanes.  Such a row
// leaves consecutive threads with one time and one pc in 32 cells, 384 bytes in those of epochs and
// 512 in those of the general engine.  A record holds that in 16 bytes.  How records interact is
// the matter of the engine: as its cells would (row_lines.hpp, general/cells/cell_lines.hpp).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "vgpu/check/race/cells_in_line.hpp"
#include "vgpu/machine/memory/host_pages.hpp"

namespace warpcheck::vgpu {

//   Record: what one row has left in the cells of one line
//   kFirst: the number of records in a line itself
//   More: an array or a vector of further records; only few lines have them
//   State: what a line keeps besides
template <typename RecordOfRow, std::size_t kFirst, typename More, typename State>
class RecordLines {
 public:
  using Record = RecordOfRow;
  struct Line : State {
    std::array<Record, kFirst> first;
    std::uint32_t more = 0;   // the number of its further records; 0: there are none
    std::uint32_t count = 0;  // of all records
  };
  // The records of one line.
  struct Records {
    Record* first;
    Record* behind_first;  // further records start at [kFirst]
    Record& operator[](std::size_t i) const { return i < kFirst ? first[i] : behind_first[i]; }
  };

  //   cells: of the allocation
  // False: there is no memory.
  bool allocate(std::size_t cells) {
    pages_ = HostPages((cells + kLineCells - 1) / kLineCells * sizeof(Line), std::byte{0});
    return !pages_.is_empty();
  }
  [[nodiscard]] bool is_empty() const { return pages_.is_empty(); }
  [[nodiscard]] std::size_t host_bytes() const {
    return pages_.bytes() + slabs_.size() * sizeof(Slab);
  }
  // Empties every line.
  void clear() {
    if (!is_empty()) pages_.fill(0, pages_.bytes(), std::byte{0});
    used_ = 0;
    free_.clear();
  }

  [[nodiscard]] Line& line_at(std::int64_t line) const {
    return reinterpret_cast<Line*>(pages_.data())[line];
  }
  [[nodiscard]] Records records_of(Line& line) const {
    if (line.more == 0) return {line.first.data(), line.first.data()};
    return {line.first.data(), more_at(line.more).data() - kFirst};
  }
  // Calls visit(line) for each line that may have records.
  template <typename Visit>
  void for_each_line(Visit visit) const {
    pages_.for_each_written([&](std::size_t offset, std::size_t bytes) {
      for (std::size_t at = offset / sizeof(Line); at < (offset + bytes) / sizeof(Line); ++at) {
        visit(static_cast<std::int64_t>(at));
      }
    });
  }
  template <typename Visit>
  void for_each_record(Visit visit) const {
    for_each_line([&](std::int64_t at) {
      Line& line = line_at(at);
      for (std::size_t i = 0; i < line.count; ++i) visit(records_of(line)[i]);
    });
  }

 protected:
  // Makes room for so many records; those that a line has stay.
  Records with_room(Line& line, std::size_t count) {
    if (count > kFirst) make_room(line, count - kFirst);
    return records_of(line);
  }
  // Gives back the room for further records, which must not be used any more.
  void give_back_more(Line& line) {
    if (line.more != 0) free_.push_back(line.more);
    line.more = 0;
  }

 private:
  // Lines refer to further records by number, which takes less room than a pointer.
  static constexpr std::size_t kSlab = 64;
  using Slab = std::array<More, kSlab>;

  [[nodiscard]] More& more_at(std::uint32_t number) const {
    return (*slabs_[(number - 1) / kSlab])[(number - 1) % kSlab];
  }
  void make_room(Line& line, std::size_t count) {
    if (line.more == 0) line.more = take();
    if constexpr (requires(More more) { more.resize(count); }) {
      More& more = more_at(line.more);
      if (more.size() < count) more.resize(count);
    }
  }
  std::uint32_t take() {
    if (!free_.empty()) {
      const std::uint32_t number = free_.back();
      free_.pop_back();
      return number;
    }
    if (used_ == slabs_.size() * kSlab) slabs_.push_back(std::make_unique<Slab>());
    return ++used_;
  }

  HostPages pages_;
  std::vector<std::unique_ptr<Slab>> slabs_;
  std::uint32_t used_ = 0;           // numbers up to this one have been given out
  std::vector<std::uint32_t> free_;  // of them
};

}  // namespace warpcheck::vgpu
