// Reads by the asynchronous proxy: of bulk copies, and of the products of warps and warpgroups.
//
// Nearly always, what is read was written by few segments, each of which comes before all lanes of
// the row through proxy fences, and nothing but reads has happened since.  Then the row needs one
// answer for each of these segments.
#pragma once

#include <array>
#include <cstdint>
#include <span>
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

 private:
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
  void leave(CheckedRow& row, Meets& meets, const ProductRead& read, std::uint32_t number,
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
  // The segment that has read all cells of a chunk of the product, before it; 0: several, or none.
  std::vector<SegmentId> read_by_;
};

}  // namespace warpcheck::vgpu
