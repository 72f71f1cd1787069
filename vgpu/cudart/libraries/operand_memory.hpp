// An operand of a library function in memory: the bytes that the function gets, and which of them
// are in an allocation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "vgpu/cudart/copies/transfers.hpp"
#include "vgpu/cudart/libraries/library_call.hpp"

namespace warpcheck::cudart {

class Allocations;
class Findings;

class OperandMemory {
 public:
  // Adds findings if the operand is not entirely in memory.
  OperandMemory(LibraryCall::Operand operand, Allocations& allocations, Findings& findings);

  [[nodiscard]] const LibraryRegion& region() const { return operand_.region; }
  [[nodiscard]] const vgpu::LibraryOperand& reported_as() const { return *operand_.reported_as; }
  [[nodiscard]] vgpu::OperandRef ref() const { return {operand_.reported_as}; }
  [[nodiscard]] const LibraryView& view() const { return view_; }
  // Returns whether it is larger than any memory, so that nothing can be computed.
  [[nodiscard]] bool is_impossible() const { return is_impossible_; }
  // Returns its places in device memory: one; several if it lies across mappings side by side;
  // nothing if it is not inside one allocation, or is in host memory.
  [[nodiscard]] std::vector<Rows> rows() const;

  // The bytes of a row that are in device memory.
  struct Row {
    std::int64_t number = 0;  // counted over all slices
    const vgpu::Allocation* allocation = nullptr;
    std::uint64_t offset = 0, bytes = 0;
    std::byte* data = nullptr;   // of the view
    std::uint64_t row_byte = 0;  // the first byte, counted from the begin of the row
  };
  template <typename Visit>
  void for_each_row_on_device(Visit&& visit) const {
    for_each_row([&](std::int64_t number, std::int64_t at, std::byte* data, std::int64_t bytes) {
      for (const Piece& piece : pieces_) {
        const std::int64_t begin = std::max(at, piece.begin);
        const std::int64_t end =
            std::min(at + bytes, piece.begin + static_cast<std::int64_t>(piece.allocation->bytes));
        if (begin >= end) continue;
        visit(Row{number, piece.allocation, static_cast<std::uint64_t>(begin - piece.begin),
                  static_cast<std::uint64_t>(end - begin), data + (begin - at),
                  static_cast<std::uint64_t>(begin - at)});
      }
    });
  }
  // Calls visit(row number, offset from the operand's begin, bytes of the view, count).
  template <typename Visit>
  void for_each_row(Visit&& visit) const {
    const LibraryRegion& all = operand_.region;
    const std::int64_t element = all.element_bytes;
    for (std::int64_t slice = 0; slice < all.depth; ++slice) {
      for (std::int64_t row = 0; row < all.height; ++row) {
        const RowShape::Span span = all.shape.of_row(all.width, row);
        const std::int64_t bytes = span.size() * element, begin = span.begin * element;
        if (bytes <= 0 || view_.data == nullptr) continue;
        visit(slice * all.height + row, slice * all.slice + row * all.pitch + begin,
              view_.data + slice * view_.slice + row * view_.pitch + begin, bytes);
      }
    }
  }
  // Copies what the function has written to memory, if the function got other bytes.
  void bring_back() const;

 private:
  void find_on_device(Allocations& allocations, Findings& findings);
  void find_on_host(const Allocations& allocations, Findings& findings);
  [[nodiscard]] bool find_mappings_beside(const Allocations& allocations);
  void make_spare();
  void require_alignment(Findings& findings) const;
  [[nodiscard]] std::uint64_t address() const {
    return reinterpret_cast<std::uint64_t>(operand_.region.pointer);
  }

  LibraryCall::Operand operand_;
  std::optional<std::uint64_t> extent_;  // from the first to the last byte; nothing: too many
  // An allocation, and where it begins, counted from the operand's begin.
  struct Piece {
    vgpu::Allocation* allocation = nullptr;
    std::int64_t begin = 0;
  };
  std::vector<Piece> pieces_;  // several: mappings side by side
  vgpu::Allocation* allocation_ = nullptr;
  std::uint64_t offset_ = 0;
  LibraryView view_;
  std::vector<std::byte> spare_;
  bool is_impossible_ = false;
  bool is_across_mappings_ = false;  // and wholly in them
};

}  // namespace warpcheck::cudart
