#include "vgpu/schedule/start.hpp"

#include <numeric>

#include "vgpu/schedule/prng.hpp"

namespace warpcheck::vgpu {
namespace {

// Seeds are grouped into runs of consecutive numbers.
constexpr unsigned kRunBits = 10;
// The number of schedules in one run of a command; combinations beyond it cannot all be covered.
constexpr std::uint64_t kScheduleRun = 8;
constexpr std::uint64_t kTurnEvery = 256;

}  // namespace

StartOrder nth_start(std::uint64_t seed, const StartPoint& point) {
  const std::uint64_t blocks = point.blocks, warps = point.warps_per_block;
  // The launches of one trial must not stay in step.
  const std::uint64_t key = seed >> kRunBits << 32 ^ point.launch;
  const std::uint64_t offset = key == 0 ? 0 : Prng(key).below(std::uint64_t{1} << 48);
  const std::uint64_t number = seed + offset;
  // Block and warp advance together, and are shifted against each other when both are back at their
  // beginning.
  const std::uint64_t period = std::lcm(blocks, warps);
  const std::uint64_t shift =
      number / (period < kScheduleRun ? period : 4 * period) % std::gcd(blocks, warps);
  const std::uint64_t contenders = blocks * warps;
  StartOrder order;
  order.first = {static_cast<std::uint32_t>(number % blocks),
                 static_cast<std::uint32_t>((number + shift) % warps)};
  if (blocks <= 2 && warps <= 2) return order;  // a circle of two has only one direction
  // A change of direction in between would repeat a last warp, which is first after a barrier, and
  // leave out another one.
  const bool both_fit = 2 * contenders <= kScheduleRun;
  order.descending = (both_fit ? number / contenders : Prng(number / kTurnEvery).next()) % 2 != 0;
  return order;
}

}  // namespace warpcheck::vgpu
