// Reads by the asynchronous proxy: of bulk copies, and of the products of warps and warpgroups.
//
// Nearly always, what is read was written by few segments, each of which comes before all lanes of
// the row through proxy fences, and nothing but reads has happened since.  Then the row needs one
// answer for each of these segments.
//
// Four warps read the columns of a product, and a loop may read a tile again.  So what a walk over
// the cells of a product's chunks has found is kept, as long as nothing but such reads accesses the
// memory.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "vgpu/check/race/general/general_state.hpp"
#include "vgpu/check/race/general/row_causality.hpp"
#include "vgpu/machine/access/product_read.hpp"

namespace warpcheck::vgpu {

class ProxyReads {
 public:
  ProxyReads(GeneralState& state, RowCausality& causality) : state_(state), causality_(causality) {}

  // Records the reads, if what they read comes before all of them, through proxy fences of its
  // writers.  False: nothing was done.
  bool take(CheckedRow& row);
  bool take(CheckedRow& row, const ProductRead& read);
  // Segments have new numbers, or memory has ended.
  void forget_tiles() {
    if (std::exchange(has_tiles_, false)) tiles_ = {};
  }

 private:
  // The chunks of a product.  In each, all cells are of one segment that wrote them and of one, or
  // none, that read them; there are no lists.
  struct Tile {
    const CellMemory* memory = nullptr;  // null: none
    std::uint64_t changes = 0;           // of the memory
    std::vector<std::uint32_t> chunks;
    std::vector<SegmentId> writes;  // each once
    // The threads, or first threads of warps, to which the writes are visible.
    std::vector<std::uint64_t> readers;
    [[nodiscard]] bool is_of(const CellMemory& of, const ProductRead& read) const;
  };
  static constexpr std::size_t kTiles = 64;

  // A read of the running row, and what is known of the segments that it meets.
  struct Meets {
    // Lanes of a segment whose writes are visible to the row.
    struct Write {
      SegmentId segment = 0;
      std::uint32_t lanes = 0;
    };
    struct Read {
      SegmentId segment = 0;
      bool is_of_product = false;
    };
    bool of_product = false;  // the row is a part of the product of a warpgroup
    int only_lane = -1;       // that reads; -1: there may be several
    std::array<Write, 4> writes{};
    std::array<Read, 4> reads{};
    // Segments, met alone in a cell: reads in the one come before the row; reads in the other
    // stand for the row.  0: none.
    SegmentId replaced = 0, standing = 0;

    [[nodiscard]] bool is_seen_by_all(SegmentId by) const {
      const Write& known = writes[by % writes.size()];
      return known.segment == by && known.lanes == ~0u;
    }
    [[nodiscard]] bool has_seen(const Record& write) const {
      const Write& known = writes[write.segment() % writes.size()];
      return known.segment == write.segment() && (known.lanes >> write.lane() & 1) != 0;
    }
  };

  template <typename ForEachCell>
  bool take(CheckedRow& row, Meets& meets, ForEachCell for_each_cell);
  bool is_clean(CheckedRow& row, Meets& meets, const Cell& cell);
  void leave(CheckedRow& row, Meets& meets, unsigned lane, Cell& cell);
  Tile& tile_of(const CellMemory& memory, const ProductRead& read);
  [[nodiscard]] std::uint64_t reader_of(const ProductRead& read) const;
  bool is_visible(CheckedRow& row, const Tile& tile, std::uint64_t reader);
  bool look_at_chunks(CheckedRow& row, Meets& meets, const ProductRead& read, Tile& tile);
  void leave(CheckedRow& row, Meets& meets, const ProductRead& read);
  bool leave_alike(CheckedRow& row, Meets& meets, const ProductRead& read, std::uint32_t number,
                   std::span<Cell> cells);
  bool is_visible(CheckedRow& row, Meets& meets, const Record& write);
  bool is_visible_to_lane(CheckedRow& row, const Record& write, unsigned lane);
  std::uint32_t visible_lanes(CheckedRow& row, SegmentId by);
  bool is_of_product(const CheckedRow& row, Meets& meets, SegmentId segment) const;
  [[nodiscard]] bool are_of_one_product(const CheckedRow& row, SegmentId segment) const;
  bool stands_for(const CheckedRow& row, Meets& meets, Cell& cell);
  void record(CheckedRow& row, Meets& meets, unsigned lane, Cell& cell);

  GeneralState& state_;
  RowCausality& causality_;
  std::array<Tile, kTiles> tiles_;
  bool has_tiles_ = false;
  std::vector<bool> is_read_alike_;  // by chunk of the running product: Tile's rule of reads holds
};

}  // namespace warpcheck::vgpu
