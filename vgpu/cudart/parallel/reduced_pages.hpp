// The results of one machine's reductions: atomic operations whose order is not visible, such as
// sums of integers whose old values are unused.
//
// The machine performs them in pages of its own, which begin with the neutral element (0 for a
// sum).  When all machines are done, the pages of all machines are combined with global memory.  So
// machines need not wait for each other if all of them count in the same words.  All operations in
// a page are of one kind, and its words are not accessed in any other way (footprint.hpp).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "vgpu/cudart/parallel/saved_pages.hpp"
#include "vgpu/machine/block_share.hpp"
#include "vgpu/program/flow/order_sources.hpp"

namespace warpcheck::cudart {

// The atomic operations of a program that are reductions.
class Reductions {
 public:
  explicit Reductions(const vgpu::Program& program);
  // Returns a number for its kind; 0: it is no reduction.
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

  // Begins a launch of the program of `reductions`, which must outlive the launch.
  void begin(const Reductions& reductions, vgpu::SharedGrid& grid);
  std::byte* page_of(const vgpu::Allocation& allocation, std::uint32_t page,
                     std::uint32_t pc) override;
  // Returns 0 if there is none.
  [[nodiscard]] std::uint8_t kind_of(std::uint32_t allocation_id, std::uint32_t page) const;
  // Combines all pages with global memory.
  void combine() const;
  // Drops all pages; host memory is kept for reuse, up to a limit.
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
  std::vector<std::unique_ptr<Bytes>> memory_;  // of pages_, and of earlier pages
  // indices in pages_; by Allocation::id and page
  std::vector<std::vector<std::uint32_t>> page_numbers_;
};

}  // namespace warpcheck::cudart
