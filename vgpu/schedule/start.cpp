#include "vgpu/schedule/start.hpp"

#include <numeric>

#include "vgpu/schedule/prng.hpp"

namespace warpcheck::vgpu {
namespace {

// Seeds that are counted on from one another.
constexpr unsigned kRunBits = 10;
// A run of a command has about so many schedules: what takes more than them cannot be met in full.
constexpr std::uint64_t kScheduleRun = 8;
constexpr std::uint64_t kTurnEvery = 256;

}  // namespace

StartOrder nth_start(std::uint64_t seed, const StartPoint& point) {
  const std::uint64_t blocks = point.blocks, warps = point.warps_per_block;
  // Launches of one trial must not go in step for ever.
  const std::uint64_t key = seed >> kRunBits << 32 ^ point.launch;
  const std::uint64_t offset = key == 0 ? 0 : Prng(key).below(std::uint64_t{1} << 48);
  const std::uint64_t number = seed + offset;
  // Both go round together, and are shifted against each other when both are where they were.
  const std::uint64_t period = std::lcm(blocks, warps);
  const std::uint64_t shift =
      number / (period < kScheduleRun ? period : 4 * period) % std::gcd(blocks, warps);
  const std::uint64_t contenders = blocks * warps;
  StartOrder order;
  order.first = {static_cast<std::uint32_t>(number % blocks),
                 static_cast<std::uint32_t>((number + shift) % warps)};
  if (blocks <= 2 && warps <= 2) return order;  // a circle of two has one direction
  // A turn in between would repeat who is last, and so first behind a barrier, and leave out
  // others.
  const bool both_fit = 2 * contenders <= kScheduleRun;
  order.descending = (both_fit ? number / contenders : Prng(number / kTurnEvery).next()) % 2 != 0;
  return order;
}

}  // namespace warpcheck::vgpu
