// The reads-from pairs that the trials of one search have seen: which reads saw which writes.  A
// guided strategy prefers pairs that were seen rarely.
//
// A pair is static, as in the fuzzer's coverage (fuzz/feedback.hpp): the instruction of the write,
// the instruction of the read, and how far apart their threads are.  So a loop or a larger grid
// alone gives no new pairs.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "vgpu/schedule/prng.hpp"

namespace warpcheck::vgpu {

struct ReadsFromPair {
  enum class Relation : std::uint8_t { none, lane, warp, block, grid };
  std::uint64_t write = 0;  // site; 0: the value from before the launch
  std::uint64_t read = 0;   // site
  Relation relation = Relation::none;
  friend auto operator<=>(const ReadsFromPair&, const ReadsFromPair&) = default;
};

class ReadsFromSeen {
 public:
  // add_seen(): the pair was seen. add_possible(): both instructions have touched a location in an
  // order that nothing enforces, so the pair is possible.
  void add_seen(const ReadsFromPair& pair) { note(pair, true); }
  void add_possible(const ReadsFromPair& pair) { note(pair, false); }

  [[nodiscard]] bool has_seen(const ReadsFromPair& pair) const {
    const auto at = pairs_.find(pair);
    return at != pairs_.end() && at->second.seen != 0;
  }

  // Returns one of the pairs that were seen, and aimed at, least often; nothing if no pair is
  // known.
  std::optional<ReadsFromPair> aim(Prng& prng);

 private:
  static constexpr std::size_t kPairsMax = 4096;  // further pairs are dropped

  struct Count {
    std::uint64_t seen = 0, aimed = 0;
    // Either thread may come first, so the read need not see the write.
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
