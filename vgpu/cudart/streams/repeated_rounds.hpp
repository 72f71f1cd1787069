// Detects a host that asks for the same work again and again, and finds the same each time.
//
// A loop of the host that waits for a result launches kernels, copies a result to the host, and
// begins again.  If a round begins with the memory with which the round before began, and asks for
// the same operations, it does the same and ends with the same result.  Then nothing that the
// device does can end the loop.  The host may still count its rounds: a benchmark repeats a launch
// some thousand times.  So only very many rounds are told, and only rounds in which the host reads
// something from the device; which of the two it is remains open.
//
// A round is a sequence of up to kOperationsMax operations that equals the one before it.
// Comparing operations costs a number for each.  The memory is compared in a few rounds, and only
// after kRounds of them, so that it costs next to nothing beside them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace warpcheck::cudart {

class RepeatedRounds {
 public:
  static constexpr std::size_t kOperationsMax = 16;
  static constexpr std::uint64_t kRounds = 10'000;
  // The number of consecutive rounds that must begin with the same memory.
  static constexpr std::uint64_t kSame = 4;

  enum class Kind : std::uint8_t { other, launch, read };  // read: bytes come to the host

  // Adds an operation that is about to run.  Returns whether kRounds rounds were the same, once for
  // each loop.
  //   hash: of what it does
  //   memory: returns a hash of all memory
  bool add(std::uint64_t hash, Kind kind, const std::function<std::uint64_t()>& memory);
  // Something else happens: a loop that goes on is another one.
  void interrupt() { *this = {}; }
  [[nodiscard]] std::uint64_t rounds() const { return rounds_; }
  // The number of times that memory was hashed, for the tests.
  [[nodiscard]] std::uint64_t looks() const { return looks_; }

 private:
  struct Entry {
    std::uint64_t hash = 0;
    Kind kind = Kind::other;
  };

  void find_round();
  bool compare(const std::function<std::uint64_t()>& memory);

  std::array<Entry, 2 * kOperationsMax> latest_{};  // in a circle
  std::size_t count_ = 0;                           // of operations so far
  std::vector<Entry> round_;                        // empty: none is known
  std::size_t at_ = 0;                              // in the round
  std::uint64_t rounds_ = 0;
  std::uint64_t compare_at_ = kRounds;  // the number of rounds at which memory is looked at
  std::uint64_t same_ = 0, memory_ = 0;
  std::uint64_t looks_ = 0;
  bool is_told_ = false;
};

}  // namespace warpcheck::cudart
