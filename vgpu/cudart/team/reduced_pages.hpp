// What one machine's atomic operations come to, where their order cannot show: sums of integers and
// the like, whose old values nobody uses.
//
// The machine performs them in pages of its own, which begin with what changes nothing (0 for a
// sum); when all machines are done, what each has come to is combined with global memory.  So
// machines need not wait for each other where all of them count in the same words.  Of a page, all
// operations are of one kind, and nobody reads or writes its words otherwise (footprint.hpp).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "vgpu/cudart/team/saved_pages.hpp"
#include "vgpu/machine/block_share.hpp"
#include "vgpu/program/flow/order_sources.hpp"

namespace warpcheck::cudart {

// Which atomic operations of a program those are.
class Reductions {
 public:
  explicit Reductions(const vgpu::Program& program);
  // A number of its kind; 0: it is none.
  [[nodiscard]] std::uint8_t kind_at(std::uint32_t pc) const { return kind_of_pc_[pc]; }
  [[nodiscard]] const vgpu::Reduction& operator[](std::uint8_t kind) const {
    return kinds_[kind - 1u];
  }

 private:
  std::vector<std::uint8_t> kind_of_pc_;
  std::vector<vgpu::Reduction> kinds_;
};

class ReducedPages final : public vgpu::ReductionPages {
 public:
  explicit ReducedPages(SavedPages& saved) : saved_(saved) {}

  // Begins a launch of the program that `reductions`, which has to live on, are of.
  void begin(const Reductions& reductions, vgpu::SharedGrid& grid);
  std::byte* page_of(const vgpu::Allocation& allocation, std::uint32_t page,
                     std::uint32_t pc) override;
  // 0: there is none.
  [[nodiscard]] std::uint8_t kind_of(std::uint32_t allocation_id, std::uint32_t page) const;
  // Combines all pages with global memory.
  void combine() const;
  // Forgets all pages; host memory is kept for reuse, up to a bound.
  void clear();

 private:
  using Bytes = std::array<std::byte, kPageBytes>;
  struct Page {
    const vgpu::Allocation* allocation = nullptr;
    std::uint32_t number = 0;
    std::uint8_t kind = 0;
    std::byte* bytes = nullptr;
  };
  static constexpr std::uint32_t kNoPage = ~std::uint32_t{0};

  SavedPages& saved_;
  const Reductions* reductions_ = nullptr;
  vgpu::SharedGrid* grid_ = nullptr;
  std::vector<Page> pages_;
  std::vector<std::unique_ptr<Bytes>> memory_;            // of pages_, and of earlier ones
  std::vector<std::vector<std::uint32_t>> page_numbers_;  // in pages_; by Allocation::id and page
};

}  // namespace warpcheck::cudart
