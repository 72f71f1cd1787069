// The words of global memory that one operation of a group has read and written, and which
// operations of a group have met: touched the same word, which one of them has written.
//
// Operations of a group run at the same time, as far as their order allows.  If no two operations
// that are unordered have met, each has found what it would have found if all had run one after the
// other.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <set>
#include <span>
#include <vector>

#include "vgpu/cudart/parallel/saved_pages.hpp"
#include "vgpu/machine/memory/memory.hpp"

namespace warpcheck::cudart {

class TouchedWords {
 public:
  static constexpr std::size_t kBitsOfPage = kParallelPageBytes / 4 / 64;  // 64 words at a time
  using Bits = std::array<std::uint64_t, kBitsOfPage>;
  struct Page {
    const vgpu::Allocation* allocation = nullptr;
    std::uint32_t number = 0;
    std::uint32_t bits = 0;  // index in bits_ of what was read; what was written follows
  };

  //   read, written: kBitsOfPage numbers; null: no word
  void add(const vgpu::Allocation& allocation, std::uint32_t page, const std::uint64_t* read,
           const std::uint64_t* written);
  [[nodiscard]] const std::vector<Page>& pages() const { return pages_; }
  [[nodiscard]] const Bits& read(const Page& page) const { return bits_[page.bits]; }
  [[nodiscard]] const Bits& written(const Page& page) const { return bits_[page.bits + 1]; }
  // Returns its size in host memory.
  [[nodiscard]] std::size_t bytes() const {
    return pages_.size() * sizeof(Page) + bits_.size() * sizeof(Bits);
  }

 private:
  std::vector<Page> pages_;
  std::vector<Bits> bits_;
};

// All words of a group, by page.
class WordsOfGroup {
 public:
  struct Member {
    const TouchedWords* words = nullptr;
    std::uint32_t chain = 0;  // members of one chain are ordered among themselves
  };
  explicit WordsOfGroup(std::vector<Member> members);

  using Pair = std::array<std::uint32_t, 2>;
  // Calls visit(pair) for members of different chains that have met in some page, at least one pair
  // a page, until it returns true.  Returns whether it has.
  bool find_met(const std::function<bool(const Pair&)>& visit) const;
  // Does the same for members that another operation meets in some bytes, which it writes or only
  // reads.
  bool find_touching(const vgpu::Allocation& allocation, std::uint64_t begin, std::uint64_t end,
                     bool writes, const std::function<bool(std::uint32_t)>& visit) const;
  // Does the same for members that have touched memory that the host shares.
  bool find_sharing(const std::function<bool(std::uint32_t)>& visit) const;
  // Returns whether a member has touched one of these allocations (Allocation::id).
  [[nodiscard]] bool have_touched(const std::set<std::uint32_t>& allocations) const;

 private:
  struct Entry {
    std::uint32_t id = 0, page = 0, member = 0;
    const TouchedWords::Page* at = nullptr;
  };
  bool find_met(std::span<const Entry> page, const std::function<bool(const Pair&)>& visit) const;
  [[nodiscard]] bool have_met(const Entry& a, const Entry& b) const;

  std::vector<Member> members_;
  std::vector<Entry> entries_;  // by allocation, page and member
};

}  // namespace warpcheck::cudart
