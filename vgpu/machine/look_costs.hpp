// What looking ahead (progress/lookahead.hpp) costs a launch, and what it may cost: a tenth of the
// launch's own work.
//
// Everything that a look-ahead does is counted in one unit, the time of one warp instruction of
// machine code (4 ns), which is the least that a step of the launch takes: instructions that are
// executed ahead; states that are saved, compared, hashed and restored; changes of memory that are
// recorded.  The launch pays by its steps, so the results do not depend on any clock.
//
// A look that has used up what was paid ends without a result, and the next one begins when twice
// as much has been paid.  So every look that would find something will be completed, after some
// multiple of the steps that it costs.  Looks with a result are free: they end the launch, or they
// save more than they cost.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

namespace warpcheck::vgpu {

// The cost of one look, in units.
class LookCost {
 public:
  static constexpr std::uint64_t kNoLimit = std::numeric_limits<std::uint64_t>::max();
  // an instruction that is executed ahead: interpreted, reported to an observer, then compared
  static constexpr std::uint64_t kOfInstruction = 48;
  static constexpr std::uint64_t kOfState = 64;   // the allocations of a saved state
  static constexpr std::uint64_t kOfChange = 16;  // a change of memory, recorded and hashed
  static constexpr std::uint64_t kOfEntry = 16;   // an entry of a map
  // bytes that are copied or compared in one unit, and bytes that are hashed
  static constexpr std::uint64_t kBytesCopied = 32, kBytesHashed = 8;

  //   most: what the look may cost
  explicit LookCost(std::uint64_t most) : most_(most) {}

  void count(std::uint64_t units) { units_ += units; }
  void count_copied(std::uint64_t bytes) { units_ += bytes / kBytesCopied; }
  void count_hashed(std::uint64_t bytes) { units_ += bytes / kBytesHashed; }
  [[nodiscard]] std::uint64_t units() const { return units_; }
  [[nodiscard]] std::uint64_t most() const { return most_; }
  // Returns whether the look must end.
  [[nodiscard]] bool is_used_up() const { return is_refused_ || units_ > most_; }
  // Returns whether that many more units may be spent.  If not, the look must end.
  [[nodiscard]] bool affords(std::uint64_t units) {
    is_refused_ |= units > most_ - std::min(most_, units_);
    return !is_refused_;
  }

 private:
  std::uint64_t units_ = 0, most_;
  bool is_refused_ = false;
};

// What the steps of a launch, or of a block, have paid, and what looks without a result have spent.
class LookAccount {
 public:
  static constexpr std::uint64_t kUnitsMin = 1u << 11;  // no look begins with less

  // The shares of the steps that are paid for looks at the launch, and at the warps of a block:
  // less than a tenth together.
  static constexpr std::uint64_t kShareOfLaunch = 16, kShareOfBlock = 32;

  // Begins with what is paid in advance.
  //   steps: so far
  void begin(std::uint64_t steps, std::uint64_t advance, std::uint64_t share) {
    begin_ = steps;
    share_ = share;
    advance_ = advance;
    spent_ = 0;
    needed_ = kUnitsMin;
  }
  // Returns what may be spent after so many steps.
  [[nodiscard]] std::uint64_t left(std::uint64_t steps) const {
    const std::uint64_t paid = advance_ + (steps - begin_) / share_;
    return paid - std::min(paid, spent_);
  }
  [[nodiscard]] bool is_overdrawn(std::uint64_t steps) const {
    return spent_ > advance_ + (steps - begin_) / share_;
  }
  [[nodiscard]] bool may_look(std::uint64_t steps) const { return left(steps) >= needed_; }
  // Returns the number of steps at which the next look may begin.
  [[nodiscard]] std::uint64_t next_look() const {
    const std::uint64_t due = spent_ + needed_;
    return begin_ + share_ * (due - std::min(due, advance_));
  }
  // Called after a look without a result.  If it was complete, the next one may cost as much.
  void spend(const LookCost& cost) {
    spent_ += cost.units();
    needed_ = std::max(kUnitsMin, cost.is_used_up() ? 2 * cost.most() : cost.units());
  }

 private:
  std::uint64_t begin_ = 0, advance_ = 0, spent_ = 0, needed_ = kUnitsMin;
  std::uint64_t share_ = kShareOfLaunch;
};

}  // namespace warpcheck::vgpu
