// A plane of shadow values beside the bytes of a memory or of a bank of registers.
//
// A cell is two bytes.  Each cell of a value of 2, 4 or 8 bytes keeps the whole value and which
// part of it the cell is, so that code may take a value apart, move its parts, and put it together
// again (a shuffle moves a double as two words).  Single bytes are not followed.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "vgpu/ptx/vocabulary.hpp"

namespace warpcheck::vgpu {

enum class ShadowState : std::uint8_t {
  plain,  // the bytes are a value that no data has influenced, and mean what they say
  lost,   // they depend on data, and in which way is not known
  value,  // they belong to a shadow value
};

// What an operand is.
template <class Value>
struct ShadowReading {
  ShadowState state = ShadowState::plain;
  Value value{};
  std::uint32_t site = ptx::kNone;  // lost: where, a number of the plane
};

template <class Value>
class ShadowCells {
 public:
  struct Cell {
    Value value{};
    std::uint32_t site = ptx::kNone;
    ShadowState state = ShadowState::plain;
    std::uint8_t bytes = 0, part = 0;  // of the value; part: the number of the cell in it
  };

  void clear() { pages_.clear(); }
  // Returns whether no cell is anything but plain.
  [[nodiscard]] bool empty() const { return pages_.empty(); }

  // Reads `bytes` bytes (1, 2, 4 or 8) from `at` on.
  //   site: where a value is read in another width or torn
  [[nodiscard]] ShadowReading<Value> read(std::uint64_t at, std::uint32_t bytes,
                                          std::uint32_t site) const {
    if (pages_.empty()) return {};
    const Cell& first = cell(at / 2);
    bool is_plain = first.state == ShadowState::plain;
    bool is_value = is_head(first, bytes) && at % 2 == 0;
    std::uint32_t lost_at = first.state == ShadowState::lost ? first.site : site;
    for (std::uint64_t i = 1; i < cells_of(at, bytes); ++i) {
      const Cell& next = cell(at / 2 + i);
      is_plain = is_plain && next.state == ShadowState::plain;
      is_value = is_value && next.state == ShadowState::value && next.part == i &&
                 next.bytes == bytes && next.value == first.value;
      if (next.state == ShadowState::lost && lost_at == site) lost_at = next.site;
    }
    if (is_plain) return {};
    if (is_value) return {ShadowState::value, first.value, ptx::kNone};
    return {ShadowState::lost, {}, lost_at};
  }

  // bytes: 2, 4 or 8; at: a multiple of 2
  void set(std::uint64_t at, std::uint32_t bytes, const Value& value) {
    for (std::uint32_t i = 0; i < bytes / 2; ++i) {
      writable(at / 2 + i) = {value, ptx::kNone, ShadowState::value,
                              static_cast<std::uint8_t>(bytes), static_cast<std::uint8_t>(i)};
    }
  }
  void lose(std::uint64_t at, std::uint64_t bytes, std::uint32_t site) {
    for (std::uint64_t i = 0; i < cells_of(at, bytes); ++i) {
      writable(at / 2 + i) = {.site = site, .state = ShadowState::lost};
    }
  }
  // The bytes are plain from now on; of a cell of which only one byte is, the other is lost.
  void make_plain(std::uint64_t at, std::uint64_t bytes, std::uint32_t site) {
    if (pages_.empty()) return;
    for (std::uint64_t i = 0; i < cells_of(at, bytes); ++i) {
      put(at / 2 + i, {}, is_whole(at, bytes, i), site);
    }
  }
  // Gives a range the cells of another; the two may be in the same plane, and do not overlap.
  void copy(std::uint64_t to, const ShadowCells& source, std::uint64_t from, std::uint64_t bytes,
            std::uint32_t site) {
    if (pages_.empty() && source.pages_.empty()) return;
    const bool is_aligned = to % 2 == 0 && from % 2 == 0 && bytes % 2 == 0;
    if (!is_aligned) return copy_bytes(to, source, from, bytes, site);
    for (std::uint64_t i = 0; i < bytes / 2; ++i) put(to / 2 + i, source.cell(from / 2 + i));
  }

  [[nodiscard]] const Cell& cell(std::uint64_t index) const {
    static constexpr Cell kPlain{};
    const std::uint64_t page = index / kPageCells;
    return page >= pages_.size() || pages_[page] == nullptr ? kPlain
                                                            : (*pages_[page])[index % kPageCells];
  }
  void put(std::uint64_t index, const Cell& cell_now) {
    if (cell_now.state == ShadowState::plain && cell(index).state == ShadowState::plain) return;
    writable(index) = cell_now;
  }

 private:
  static constexpr std::uint64_t kPageCells = 256;
  using Page = std::array<Cell, kPageCells>;

  static std::uint64_t cells_of(std::uint64_t at, std::uint64_t bytes) {
    return bytes == 0 ? 0 : (at + bytes - 1) / 2 - at / 2 + 1;
  }
  static bool is_head(const Cell& first, std::uint32_t bytes) {
    return first.state == ShadowState::value && first.part == 0 && first.bytes == bytes;
  }
  // Returns whether both bytes of cell `i` of a range are in the range.
  static bool is_whole(std::uint64_t at, std::uint64_t bytes, std::uint64_t i) {
    const std::uint64_t begin = (at / 2 + i) * 2;
    return begin >= at && begin + 2 <= at + bytes;
  }
  void put(std::uint64_t index, const Cell& cell_now, bool is_whole, std::uint32_t site) {
    if (is_whole) return put(index, cell_now);
    const bool is_plain =
        cell_now.state == ShadowState::plain && cell(index).state == ShadowState::plain;
    if (!is_plain) writable(index) = {.site = site, .state = ShadowState::lost};
  }
  void copy_bytes(std::uint64_t to, const ShadowCells& source, std::uint64_t from,
                  std::uint64_t bytes, std::uint32_t site) {
    for (std::uint64_t i = 0; i < bytes; ++i) {
      const Cell& one = source.cell((from + i) / 2);
      const bool is_plain = one.state == ShadowState::plain;
      put((to + i) / 2, is_plain ? Cell{} : Cell{.site = site, .state = ShadowState::lost}, false,
          one.state == ShadowState::lost ? one.site : site);
    }
  }
  Cell& writable(std::uint64_t index) {
    const std::uint64_t page = index / kPageCells;
    if (page >= pages_.size()) pages_.resize(page + 1);
    if (pages_[page] == nullptr) pages_[page] = std::make_unique<Page>();
    return (*pages_[page])[index % kPageCells];
  }

  std::vector<std::unique_ptr<Page>> pages_;
};

}  // namespace warpcheck::vgpu
