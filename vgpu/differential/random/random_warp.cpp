// Warp operations in random programs, with exactly the lanes that are there, and barriers.
#include <fmt/format.h>

#include "vgpu/differential/random/generator.hpp"

namespace warpcheck::vgpu {

// Lanes outside the mask provide no value: results from them are not used.
std::string Generator::shuffle(const std::string& lanes) {
  static constexpr std::string_view kModes[] = {"up", "down", "bfly", "idx"};
  static constexpr std::string_view kSources[] = {"sub.u32 from, from, by",
                                                  "add.u32 from, from, by",
                                                  "xor.b32 from, from, by", "mov.u32 from, by"};
  const std::size_t mode = prng_.below(4);
  const unsigned clamp = mode == 0 ? 0 : 31;
  // Shuffles may be limited to groups of 32, 16, 8 ...
  const auto segment = static_cast<unsigned>(32 - (32 >> prng_.below(4)));
  const std::string result = word(), in_range = predicate();
  std::string text =
      "{\n.reg .b32 by, from, got, bit;\n.reg .pred given, other, seen;\nmov.u32 from, %laneid;\n";
  text += fmt::format("and.b32 by, {}, {};\n", word(), prng_.one_in(3) ? 63 : 31);
  text += fmt::format("shfl.sync.{}.b32 got|given, {}, by, {:#x}, {};\n", kModes[mode], word(),
                      segment << 8 | clamp, lanes);
  // The source lane: the lane of the group with these low bits, or this lane if there is none.
  if (mode == 3) {
    text += fmt::format("and.b32 by, by, {};\nand.b32 from, from, {};\nor.b32 from, from, by;\n",
                        31 - segment, segment);
  } else {
    text += fmt::format("and.b32 by, by, 31;\n{};\n", kSources[mode]);
  }
  text += fmt::format(
      "shr.u32 bit, {0}, from;\nand.b32 bit, bit, 1;\nsetp.ne.u32 seen, bit, 0;\n"
      "not.pred other, given;\nor.pred seen, seen, other;\n@seen mov.b32 {1}, got;\n"
      "@seen mov.pred {2}, given;\n}}\n",
      lanes, result, in_range);
  return text;
}

std::string Generator::vote(const std::string& lanes) {
  static constexpr std::string_view kModes[] = {"all", "any", "uni"};
  if (prng_.one_in(2)) {
    return fmt::format("vote.sync.ballot.b32 {}, {}, {};\n", word(), predicate(), lanes);
  }
  return fmt::format("vote.sync.{}.pred {}, {}{}, {};\n", one_of(kModes), predicate(),
                     prng_.one_in(2) ? "!" : "", predicate(), lanes);
}

std::string Generator::warp_operation(const Place& place) {
  static constexpr std::string_view kReductions[] = {"add.u32", "add.s32", "min.u32",
                                                     "min.s32", "max.u32", "max.s32",
                                                     "and.b32", "or.b32",  "xor.b32"};
  switch (prng_.below(7)) {
    case 0:
    case 1: return shuffle(place.lanes);
    case 2: return vote(place.lanes);
    case 3:
      return fmt::format("redux.sync.{} {}, {}, {};\n", one_of(kReductions), word(), word(),
                         place.lanes);
    case 4: {
      const unsigned bytes = prng_.one_in(2) ? 8 : 4;
      return fmt::format("match.any.sync.b{} {}, {}, {};\n", bytes * 8, word(), state(bytes),
                         place.lanes);
    }
    case 5: {
      const unsigned bytes = prng_.one_in(2) ? 8 : 4;
      return fmt::format("match.all.sync.b{} {}|{}, {}, {};\n", bytes * 8, word(), predicate(),
                         state(bytes), place.lanes);
    }
    default: return fmt::format("bar.warp.sync {};\n", place.lanes);
  }
}

std::string Generator::block_barrier() {
  static constexpr std::string_view kReductions[] = {"and", "or"};
  const std::uint32_t all = (threads_ + 31) / 32 * 32;
  switch (prng_.below(4)) {
    case 0:
      return fmt::format("bar.red.{}.pred {}, 0, {};\n", one_of(kReductions), predicate(),
                         predicate());
    case 1: return fmt::format("bar.red.popc.u32 {}, 2, {};\n", word(), predicate());
    case 2: return fmt::format("barrier.sync 3, {};\n", all);
    default: return fmt::format("bar.sync 4, {};\n", all);
  }
}

}  // namespace warpcheck::vgpu
