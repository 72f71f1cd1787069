// Which reads saw which writes in the trials of one search: what a strategy that is guided by it
// steers away from.
//
// A pair is static, as in the fuzzer's coverage (fuzz/feedback.hpp): the instruction of the write,
// that of the read, and how far their threads are apart.  So a loop or a larger grid is no new
// behaviour by itself.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "vgpu/schedule/prng.hpp"

namespace warpcheck::vgpu {

struct ReadsFromPair {
  enum class Relation : std::uint8_t { none, lane, warp, block, grid };
  std::uint64_t write = 0;  // site; 0: what was there before the launch
  std::uint64_t read = 0;   // site
  Relation relation = Relation::none;
  friend auto operator<=>(const ReadsFromPair&, const ReadsFromPair&) = default;
};

class ReadsFromSeen {
 public:
  // It was seen; or both instructions have touched a place in an order that nothing enforces, so
  // that it may be.
  void add_seen(const ReadsFromPair& pair) { note(pair, true); }
  void add_possible(const ReadsFromPair& pair) { note(pair, false); }

  [[nodiscard]] bool has_seen(const ReadsFromPair& pair) const {
    const auto at = pairs_.find(pair);
    return at != pairs_.end() && at->second.seen != 0;
  }

  // One of those that were seen, and aimed at, least often; nothing where none is known.
  std::optional<ReadsFromPair> aim(Prng& prng);

 private:
  static constexpr std::size_t kPairsMax = 4096;  // others are not remembered

  struct Count {
    std::uint64_t seen = 0, aimed = 0;
    // Both threads may come first: that the read sees the write is not the only order.
    bool is_free = false;
  };

  void note(const ReadsFromPair& pair, bool seen) {
    const auto at = pairs_.find(pair);
    if (at == pairs_.end() && pairs_.size() >= kPairsMax) return;
    Count& count = at == pairs_.end() ? pairs_[pair] : at->second;
    if (seen) {
      ++count.seen;
    } else {
      count.is_free = true;
    }
  }

  std::map<ReadsFromPair, Count> pairs_;
};

}  // namespace warpcheck::vgpu
