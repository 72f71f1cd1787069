// Which machines that run in parallel use a page of global memory in one launch, as far as that
// decides whether their words in the page must be compared at the end of the launch
// (footprint.hpp).
//
// Most pages are used by one machine, or only read.
#pragma once

#include <atomic>
#include <cstdint>

namespace warpcheck::cudart {

class PageUsers {
 public:
  enum class Use : std::uint8_t { read, write, reduce };
  // The largest number of machines.
  static constexpr std::uint32_t kMachinesMax = 0x0fff;

  // A machine begins to use the page in some way; may be called by all machines at once.  Returns
  // true in exactly one call of a launch if machines must be compared: when several have used the
  // page and one of them writes, or when a reduction is performed in it.
  //   machine: its number, below kMachinesMax
  bool add(std::uint32_t machine, Use use) {
    const std::uint32_t me = machine + 1;
    std::uint16_t before = users_.load(std::memory_order_relaxed);
    std::uint32_t after = 0;
    do {
      after = before;
      if ((before & kFirst) == 0) after |= me;
      if ((after & kFirst) != me) after |= kSeveral;
      if (use == Use::write) after |= kWritten;
      if (use == Use::reduce) after |= kReduced;
      if (after == before) return false;
    } while (!users_.compare_exchange_weak(before, static_cast<std::uint16_t>(after),
                                           std::memory_order_relaxed));
    return must_compare(after) && !must_compare(before);
  }

 private:
  static constexpr std::uint32_t kFirst = kMachinesMax;  // one plus the number of the first user
  static constexpr std::uint32_t kSeveral = 0x1000, kWritten = 0x2000, kReduced = 0x4000;
  static bool must_compare(std::uint32_t users) {
    constexpr std::uint32_t kBoth = kSeveral | kWritten;
    return (users & kReduced) != 0 || (users & kBoth) == kBoth;
  }

  std::atomic<std::uint16_t> users_ = 0;
};

}  // namespace warpcheck::cudart
