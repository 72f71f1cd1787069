#include "vgpu/check/known_patterns.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "vgpu/check/reporter.hpp"

namespace warpcheck::vgpu {
namespace {

constexpr const char* kUniqueByKey =
    "a block of thrust::unique_by_key overwrites a tile when it knows how many items the blocks "
    "before it keep, and each of those counts when it has read its keys and values";

constexpr const char* kSelectInPlace =
    "a block that selects in place overwrites a tile when it knows how many items the blocks "
    "before it keep, and each of those counts when its items have gone through shared memory";

constexpr std::array kPatterns{
    KnownPattern{
        .space = "global",
        .kernel = "__unique::UniqueAgent<",
        .first = {"read", "cub/"},
        .second = {"write", "thrust/"},
        .argument =
            "a block of thrust::unique overwrites a tile when it knows how many items the blocks "
            "before it keep, and each of those counts from what it has read",
    },
    // The same of its values.  Where arrays are pointers, and not iterators of thrust, cub/
    // accesses them itself.
    KnownPattern{
        .space = "global",
        .kernel = "::unique_by_key::DeviceUniqueByKeySweepKernel<",
        .first = {"read", "thrust/"},
        .second = {"write", "thrust/"},
        .argument = kUniqueByKey,
    },
    KnownPattern{
        .space = "global",
        .kernel = "::unique_by_key::DeviceUniqueByKeySweepKernel<",
        .first = {"read", "cub/"},
        .second = {"write", "cub/agent/agent_unique_by_key."},
        .argument = kUniqueByKey,
    },
    // Where output and input are one array, as the instance says that they may be.
    KnownPattern{
        .space = "global",
        .kernel = "::select::DeviceSelectSweepKernel<",
        .instance = "SelectImpl)1>",
        .first = {"read", "thrust/"},
        .second = {"write", "thrust/"},
        .argument = kSelectInPlace,
    },
    KnownPattern{
        .space = "global",
        .kernel = "::select::DeviceSelectSweepKernel<",
        .instance = "SelectImpl)1>",
        .first = {"read", "cub/"},
        .second = {"write", "cub/agent/agent_select_if."},
        .argument = kSelectInPlace,
    },
    KnownPattern{
        .space = "shared",
        .kernel = "::rle::DeviceRleSweepKernel<",
        .first = {"write", "cub/warp/specializations/warp_exchange_smem."},
        .second = {"write", "cub/warp/specializations/warp_exchange_smem."},
        .argument = "NonTrivialRuns writes all items that it discards to one place, and reads none "
                    "of them",
    },
    // A lane of a tile of several warps counts its warp's arrival by an atomic with acquire order,
    // and tells the others of its warp by shfl whether theirs was the last one: they read what the
    // warps have written only then.  From sm_80 on all lanes of the warp acquire.
    KnownPattern{
        .space = "shared",
        .kernel = "",
        .first = {"write", "cooperative_groups"},
        .second = {"read", "cooperative_groups"},
        .argument = "the lane that has acquired (1) tells the lane of (2) by a shuffle to go on",
    },
    KnownPattern{
        .space = "shared",
        .kernel = "",
        .first = {"write", "cooperative_groups"},
        .second = {"write", "cooperative_groups"},
        .argument = "the lane that has acquired (1) tells the lane of (2) by a shuffle to go on",
    },
};

// Where it happened, as a program includes that file; empty: not in a library's header.
std::string_view innermost_header(const AccessSide& side) {
  if (!side.header.empty()) return short_header_name(side.header);
  return is_library_header(side.file) ? short_header_name(side.file) : std::string_view();
}

bool fits(const AccessSide& side, const KnownPattern::Side& pattern) {
  std::string_view header = innermost_header(side);
  // Releases differ in where the headers of CUB, thrust and libcu++ lie.
  constexpr std::string_view kCollection = "cccl/";
  if (header.starts_with(kCollection)) header.remove_prefix(kCollection.size());
  return side.role == pattern.role && header.starts_with(pattern.header);
}

bool is_of_kernel(const Finding& finding, const KnownPattern& pattern) {
  const std::size_t at = finding.kernel.find(pattern.kernel);
  return at != std::string::npos && finding.kernel.find(pattern.instance, at) != std::string::npos;
}

}  // namespace

std::span<const KnownPattern> known_patterns() { return kPatterns; }

std::string_view known_argument(const Finding& finding) {
  if (finding.accesses.size() != 2) return "";
  const AccessSide& a = finding.accesses[0];
  const AccessSide& b = finding.accesses[1];
  const auto found = std::ranges::find_if(kPatterns, [&](const KnownPattern& pattern) {
    return pattern.kind == finding.kind && pattern.space == finding.space &&
           is_of_kernel(finding, pattern) &&
           ((fits(a, pattern.first) && fits(b, pattern.second)) ||
            (fits(a, pattern.second) && fits(b, pattern.first)));
  });
  return found == kPatterns.end() ? "" : found->argument;
}

}  // namespace warpcheck::vgpu
