// Selects the next pair to search: a bandit over new features per second, with a floor for every
// pair.
//
// Searching many programs for a fixed time is the problem of Woo, Cha, Gottlieb and Brumley,
// "Scheduling black-box mutational fuzzing", CCS 2013: time is divided into epochs, and an epoch
// goes to a program with a probability that grows with the rate of its rewards.  The rewards here
// are new coverage, and findings.  As the rate of a pair falls while it is searched, old rewards
// are discounted (Garivier, Moulines, "On upper-confidence bound policies for switching bandit
// problems", ALT 2011): the reward of a pair halves whenever its own search time has grown by a
// quarter, and at the latest every minute.  Most of the coverage of a small kernel is found in the
// first second, which says little about the next.
//
// Time is CPU time: other work on the machine does not shorten slots.
//
//   1. a pair that was never searched, in order of name;
//   2. every fourth time the floor: in turn the pair with the shortest search time, and the pair
//      with the fewest trials, because a slow pair has fewer trials for its time;
//   3. else a pair drawn with probability proportional to its rate.
//
// Pairs with fewer workers come first.
//
// Several nodes of a campaign divide the pairs among themselves (nodes/share.hpp).  The progress of
// a pair is then the sum over all nodes, and a reward that one node got ages while other nodes
// search the pair.  Rules 1 and 2 apply to the pairs of the own share, so that every pair is
// searched by its node.  Rule 3 applies to all pairs, so that time goes where the rewards are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "campaign/store/store.hpp"
#include "vgpu/schedule/prng.hpp"

namespace warpcheck::campaign {

inline constexpr std::int64_t kFloorEvery = 4;
inline constexpr double kHalfLifeSecondsMax = 60;
// The reward of a finding, in features.
inline constexpr double kFindingGain = 100;

struct Arm {
  const PairProgress* progress = nullptr;
  unsigned workers = 0;   // that search it now
  bool finished = false;  // no work is left for it
  bool ours = true;       // of the own share
};

// Index of the arm to search next; `slots`: the number of slots so far.  Empty if all are finished.
std::optional<std::size_t> choose_arm(std::span<const Arm> arms, std::int64_t slots,
                                      vgpu::Prng& prng);

// Accounts for `seconds` of search with reward `gain`; other nodes have searched the pair for
// `seconds_of_others` so far.
void account(PairProgress& progress, double seconds, double gain, double seconds_of_others = 0);

// Other nodes have searched the pair for `seconds` more, `seconds_of_others` in all: this node's
// reward ages as if this node had searched it for that time.
void forget(PairProgress& progress, double seconds, double seconds_of_others);

// The length of the next slot of a pair: a quarter of its time so far, so that the corpus is read
// rarely, within [1, 20].
std::uint64_t slot_seconds(const PairProgress& progress);

}  // namespace warpcheck::campaign
