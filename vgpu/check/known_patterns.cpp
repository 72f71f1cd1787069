#include "vgpu/check/known_patterns.hpp"

#include <algorithm>
#include <array>
#include <tuple>

#include "vgpu/check/reporter.hpp"

namespace warpcheck::vgpu {
namespace {

constexpr const char* kUniqueByKey =
    "a block of thrust::unique_by_key overwrites a tile when it knows how many items the blocks "
    "before it keep, and each of those counts when it has read its keys and values";

// A block also compares its first item with the one before.
constexpr const char* kTileBefore =
    "(1) and (2) are at the last item of a tile: the block of that tile overwrites it only if it "
    "and the blocks before it keep all items, each at its place, so that the item stays as it is";

constexpr const char* kSelectInPlace =
    "a block that selects in place overwrites a tile when it knows how many items the blocks "
    "before it keep, and each of those counts when its items have gone through shared memory";

// Code of cooperative groups that accesses the memory of a tile.  What moves the user's own data
// (memcpy_async) does not belong to it.
constexpr std::string_view kTiles = "cooperative_groups";
constexpr std::string_view kMovesUsersData = "cooperative_groups/details/async";

constexpr std::array kPatterns{
    KnownPattern{
        .space = "global",
        .kernel = "__unique::UniqueAgent<",
        .first = {"read", "cub/"},
        .second = {"write", "thrust/"},
        .argument =
            "a block of thrust::unique overwrites a tile when it knows how many items the blocks "
            "before it keep, and each of those counts from what it has read",
        .writer = KnownPattern::Writer::later_block,
    },
    KnownPattern{
        .space = "global",
        .kernel = "__unique::UniqueAgent<",
        .first = {"read", "cub/"},
        .second = {"write", "thrust/"},
        .argument = kTileBefore,
        .writer = KnownPattern::Writer::tile_before,
    },
    KnownPattern{
        .space = "global",
        .kernel = "::unique_by_key::DeviceUniqueByKeySweepKernel<",
        .first = {"read", "thrust/"},
        .second = {"write", "thrust/"},
        .argument = kTileBefore,
        .writer = KnownPattern::Writer::tile_before,
    },
    KnownPattern{
        .space = "global",
        .kernel = "::unique_by_key::DeviceUniqueByKeySweepKernel<",
        .first = {"read", "cub/"},
        .second = {"write", "cub/agent/agent_unique_by_key."},
        .argument = kTileBefore,
        .writer = KnownPattern::Writer::tile_before,
    },
    // The same race, on the values of unique_by_key.  If the arrays are pointers and not thrust
    // iterators, code in cub/ accesses them itself.
    KnownPattern{
        .space = "global",
        .kernel = "::unique_by_key::DeviceUniqueByKeySweepKernel<",
        .first = {"read", "thrust/"},
        .second = {"write", "thrust/"},
        .argument = kUniqueByKey,
        .writer = KnownPattern::Writer::later_block,
    },
    KnownPattern{
        .space = "global",
        .kernel = "::unique_by_key::DeviceUniqueByKeySweepKernel<",
        .first = {"read", "cub/"},
        .second = {"write", "cub/agent/agent_unique_by_key."},
        .argument = kUniqueByKey,
        .writer = KnownPattern::Writer::later_block,
    },
    // Output and input are the same array; the template instance allows that.
    KnownPattern{
        .space = "global",
        .kernel = "::select::DeviceSelectSweepKernel<",
        .instance = "SelectImpl)1>",
        .first = {"read", "thrust/"},
        .second = {"write", "thrust/"},
        .argument = kSelectInPlace,
        .writer = KnownPattern::Writer::later_block,
    },
    KnownPattern{
        .space = "global",
        .kernel = "::select::DeviceSelectSweepKernel<",
        .instance = "SelectImpl)1>",
        .first = {"read", "cub/"},
        .second = {"write", "cub/agent/agent_select_if."},
        .argument = kSelectInPlace,
        .writer = KnownPattern::Writer::later_block,
    },
    KnownPattern{
        .space = "shared",
        .kernel = "::rle::DeviceRleSweepKernel<",
        .first = {"write", "cub/warp/specializations/warp_exchange_smem."},
        .second = {"write", "cub/warp/specializations/warp_exchange_smem."},
        .argument = "NonTrivialRuns writes all items that it discards to one place, and reads none "
                    "of them",
    },
    // In a tile of several warps, one lane per warp counts the arrival of its warp by an atomic
    // with acquire order.  It tells the other lanes of its warp by shfl whether its warp was the
    // last one, and those lanes read what other warps have written only after that.  From sm_80 on,
    // all lanes of the warp acquire by themselves.
    KnownPattern{
        .space = "shared",
        .kernel = "",
        .first = {"write", kTiles},
        .second = {"read", kTiles},
        .argument = "the lane that has acquired (1) lets the lane of (2) continue by a shuffle",
    },
    KnownPattern{
        .space = "shared",
        .kernel = "",
        .first = {"write", kTiles},
        .second = {"write", kTiles},
        .argument = "the lane that has acquired (1) lets the lane of (2) continue by a shuffle",
    },
};

// Returns the innermost header of a side, as a program includes it; empty: the side is not in a
// library header.
std::string_view innermost_header(const AccessSide& side) {
  if (!side.header.empty()) return short_header_name(side.header);
  return is_library_header(side.file) ? short_header_name(side.file) : std::string_view();
}

bool fits(const AccessSide& side, const KnownPattern::Side& pattern) {
  std::string_view header = innermost_header(side);
  // Toolkit releases place the headers of CUB, thrust and libcu++ in different folders.
  constexpr std::string_view kCollection = "cccl/";
  if (header.starts_with(kCollection)) header.remove_prefix(kCollection.size());
  return side.role == pattern.role && header.starts_with(pattern.header) &&
         !header.starts_with(kMovesUsersData) && !header.ends_with("memcpy_async.h");
}

bool is_of_kernel(const Finding& finding, const KnownPattern& pattern) {
  const std::size_t at = finding.kernel.find(pattern.kernel);
  return at != std::string::npos && finding.kernel.find(pattern.instance, at) != std::string::npos;
}

// Kernels that call operators for values that they discard: those of lanes that have none, and of
// items behind the last one.
constexpr std::array<std::string_view, 5> kDiscardingKernels{
    "::DeviceScanKernel<", "::DeviceScanByKeyKernel<", "::DeviceReduceByKeyKernel<",
    "::ReduceByKeyAgent<", "::SetOpAgent<"};

constexpr std::string_view kDiscarded =
    "the kernel is the toolkit's, which calls operators for values that it discards";

// Returns whether a value that the kernel itself has not written begins at this side.  What its
// caller has not written begins at a read of global memory; what an operator has not written, at a
// line of that operator, or in a register that is the operator's (flow/unwritten_registers.cpp).
bool is_of_kernel_itself(const Finding& finding, const AccessSide& origin) {
  if (origin.role != "read" || !is_library_header(origin.file)) return false;
  if (finding.space == "local" || finding.space == "shared") return true;
  // What does not fit into shared memory is in a temporary allocation.
  return finding.space == "global" &&
         finding.kernel.find("::_kernel_agent_vshmem<") != std::string::npos &&
         origin.file.find("/thread_load.") == std::string::npos;
}

bool branches_on_discarded(const Finding& finding) {
  return finding.kind == FindingKind::uninitialized_read &&
         (finding.kernel.starts_with("cub::") || finding.kernel.starts_with("thrust::")) &&
         std::ranges::any_of(kDiscardingKernels,
                             [&](std::string_view name) {
                               return finding.kernel.find(name) != std::string::npos;
                             }) &&
         is_of_kernel_itself(finding, finding.accesses[0]) && finding.accesses[1].role == "branch";
}

// Blocks take tiles in order.
bool is_writer(KnownPattern::Writer writer, const AccessSide& a, const AccessSide& b) {
  constexpr std::uint32_t kWarp = 32;
  const AccessSide& write = a.role == "write" ? a : b;
  const AccessSide& read = a.role == "write" ? b : a;
  switch (writer) {
    case KnownPattern::Writer::any: return true;
    case KnownPattern::Writer::later_block:
      return std::tie(read.block.z, read.block.y, read.block.x) <=
             std::tie(write.block.z, write.block.y, write.block.x);
    case KnownPattern::Writer::tile_before:
      return read.block.y == write.block.y && read.block.z == write.block.z &&
             read.block.x == write.block.x + 1 && write.thread.x % kWarp == kWarp - 1;
  }
  return false;
}

const KnownPattern* pattern_of(const Finding& finding) {
  if (finding.accesses.size() != 2) return nullptr;
  const AccessSide& a = finding.accesses[0];
  const AccessSide& b = finding.accesses[1];
  const auto found = std::ranges::find_if(kPatterns, [&](const KnownPattern& pattern) {
    return pattern.kind == finding.kind && pattern.space == finding.space &&
           is_of_kernel(finding, pattern) && is_writer(pattern.writer, a, b) &&
           ((fits(a, pattern.first) && fits(b, pattern.second)) ||
            (fits(a, pattern.second) && fits(b, pattern.first)));
  });
  return found == kPatterns.end() ? nullptr : &*found;
}

}  // namespace

std::span<const KnownPattern> known_patterns() { return kPatterns; }

bool known_pattern_of_threads(const Finding& finding) {
  const KnownPattern* const pattern = pattern_of(finding);
  return pattern != nullptr && pattern->writer != KnownPattern::Writer::any;
}

std::string_view known_argument(const Finding& finding) {
  if (finding.accesses.size() != 2) return "";
  if (branches_on_discarded(finding)) return kDiscarded;
  const KnownPattern* const pattern = pattern_of(finding);
  return pattern == nullptr ? "" : pattern->argument;
}

}  // namespace warpcheck::vgpu
