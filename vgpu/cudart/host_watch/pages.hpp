// Pages of memory that host and device share, and which of them are released to the program at the
// moment.  Called by signal handlers, under a lock of the caller.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "vgpu/cudart/host_watch/host_watch.hpp"

namespace warpcheck::cudart {

class Pages {
 public:
  static constexpr std::uint64_t kBytes = 4096;
  static std::uint64_t page_of(std::uint64_t address) { return address & ~(kBytes - 1); }

  // Protects these pages: the program cannot access them any more.
  void take(const AddressRange& range);
  // Protects them permanently.
  void take_freed(const AddressRange& range);
  // Protects the released pages again.
  void take_again();
  // Releases all pages except freed ones: until take_again(), or until take().
  void give_all_for_now();
  void give_all();
  void forget_all();

  [[nodiscard]] bool is_taken(std::uint64_t page) const { return is_in(taken_, page); }
  [[nodiscard]] bool is_freed(std::uint64_t page) const { return is_in(freed_, page); }
  [[nodiscard]] bool takes_any() const { return !taken_.empty(); }
  [[nodiscard]] std::size_t ranges() const { return taken_.size(); }
  // lend(): releases a page for one instruction. give(): until take_again() or give_all();
  // give_reads(): likewise, but writes are still seen.
  void lend(std::uint64_t page) const;
  void give(std::uint64_t page);
  void give_reads(std::uint64_t page);
  // Releases a page that is neither protected nor freed any more.  False: there is no such page.
  static bool give_unknown(std::uint64_t page);
  // Protects it again after an instruction, if it still should be.
  void take_back(std::uint64_t page);
  // Returns how often reads of it, or writes, have been seen since it was protected.
  std::uint32_t count(std::uint64_t page, bool write) {
    Counts& counts = counts_[page];
    return write ? ++counts.writes : ++counts.reads;
  }
  // The system has refused to change a page's protection: nothing is protected any more.
  [[nodiscard]] bool has_failed() const { return has_failed_; }

 private:
  // Sorted by beginning; whole pages, each at most once.
  using Ranges = std::vector<AddressRange>;
  static bool is_in(const Ranges& ranges, std::uint64_t page);
  static void insert(Ranges& ranges, AddressRange range);
  void protect(const AddressRange& range, int protection) const;

  Ranges taken_, freed_;
  struct Counts {
    std::uint32_t reads = 0, writes = 0;
  };
  std::unordered_map<std::uint64_t, bool> given_;  // and whether writes are still seen
  std::unordered_map<std::uint64_t, Counts> counts_;
  bool all_given_ = false;
  mutable bool has_failed_ = false;
};

}  // namespace warpcheck::cudart
