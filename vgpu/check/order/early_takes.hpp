// Tells whether a thread that takes something from a word (a lock, one of several permits, the
// right to read) would have gone the same way if it had come before the latest write.
//
// An atomic operation that finds a release is ordered after it only if the release was needed.  A
// thread that acquires a semaphore of two permits finds what another has given back, and would as
// well have found the permit that was left: then nothing orders it after the other's critical
// section.  A thread that takes a mutex would have found it locked, and would have waited.
//
// The word is followed from the operation on: the code behind it is computed with a copy of the
// registers, as far as it only computes, pauses, and accesses the same word (a load whose value a
// compare-and-swap then expects).  Two values are alike if both lead to the same instruction, and
// no register in which they differ is used there any more.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "vgpu/machine/access.hpp"
#include "vgpu/machine/state.hpp"

namespace warpcheck::vgpu {

class EarlyTakes {
 public:
  void reset() { *this = {}; }
  // Returns whether an atomic operation of the program may be such an access (takes()).
  [[nodiscard]] static bool may_take(const Program& program);
  // Returns whether the access reads a word whose value decides where the thread goes, changes the
  // word, itself or by a compare-and-swap behind it, and may acquire.
  bool takes(const Access& access);
  // For such an access: returns whether the lane goes the same way, whichever value it finds.
  bool are_alike(const Access& access, unsigned lane, std::uint64_t one, std::uint64_t other);
  // Returns what the lane leaves in the word if it finds `value`; nothing if that is not known.
  std::optional<std::uint64_t> left_by(const Access& access, unsigned lane, std::uint64_t value);
  // Returns the last access to the word on that way: of a load, the compare-and-swap.
  std::uint32_t last_access(const Access& access, unsigned lane, std::uint64_t value);

 private:
  static constexpr std::size_t kBanks = 3;  // words, wides, predicates
  struct Take {
    bool is_one = false;
    std::array<std::uint32_t, kBanks> bytes{};  // of the banks that the code behind it uses
  };
  // Where a lane comes to.
  struct Way {
    std::uint32_t pc = 0;           // of the first instruction that does something else
    std::uint32_t last_access = 0;  // to the word
    std::uint64_t left = 0;         // in the word
    std::vector<Ref> written;       // registers
  };
  struct Registers {
    std::array<RowBank, kBanks> rows;
    LaneBanks banks;
  };
  struct OfProgram {
    std::vector<std::unique_ptr<const Take>> takes;                   // by pc; null: not known yet
    std::map<std::pair<std::uint32_t, std::uint64_t>, bool> is_used;  // by pc and register
  };
  const Take& take_of(const Access& access);
  [[nodiscard]] static Take find(const Program& program, std::uint32_t pc);
  std::optional<Way> go(const Access& access, unsigned lane, std::uint64_t value,
                        Registers& registers);
  bool is_used(const Program& program, std::uint32_t pc, const Ref& ref);

  std::map<const Program*, OfProgram> programs_;
  const Program* latest_ = nullptr;
  OfProgram* of_latest_ = nullptr;
  Registers one_, other_;
};

}  // namespace warpcheck::vgpu
