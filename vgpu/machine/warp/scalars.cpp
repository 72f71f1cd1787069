#include "vgpu/machine/warp/scalars.hpp"

#include <bit>
#include <cstring>

#include "vgpu/machine/device_runtime.hpp"
#include "vgpu/machine/running_launch.hpp"

namespace warpcheck::vgpu {
namespace {

// Of each block's shared memory, reserved for the system on devices of capability 8.0 and newer.
constexpr std::uint32_t kSystemSharedBytes = 1024;

std::uint32_t multiprocessors_of(const RunningLaunch& launch) {
  const DeviceRuntime* const runtime = launch.request().device_runtime;
  const std::uint32_t count = runtime == nullptr ? 0 : runtime->size().multiprocessors;
  return count != 0 ? count : launch.limits().resident_blocks;
}

}  // namespace

using ptx::SpecialRegister;

void Scalars::move(RunningFragment& run, const Instr& instr, std::uint32_t active) const {
  std::uint64_t value = run.local_base + static_cast<std::uint64_t>(instr.local_offset);
  if (instr.kind == InstrKind::param) {
    value = 0;
    const std::uint32_t bytes = ptx::bytes_of(instr.modifiers.type);
    std::memcpy(&value, launch_.request().parameters.data() + instr.parameter_offset, bytes);
    if (ptx::is_signed(instr.modifiers.type) && bytes < 8) {
      const unsigned unused = 64 - 8 * bytes;
      value = static_cast<std::uint64_t>(static_cast<std::int64_t>(value << unused) >> unused);
    }
  }
  const Ref& to = instr[ScalarOperand::result];
  launch_.rows().broadcast(row_of(run.banks, to), to.bank == Bank::wide, value, active);
  if (run.warp.undefined.any())
    run.warp.undefined.set(run.frame, to, {}, active, launch_.program());
}

void Scalars::number_threads() const {
  const Dim3& block = launch_.request().block;
  block_ = block;
  threads_.resize(launch_.warps_per_block() * kThreadWords);
  for (std::uint32_t warp = 0; warp < launch_.warps_per_block(); ++warp) {
    for (std::uint32_t lane = 0; lane < kWarpLanes; ++lane) {
      const std::uint32_t thread = warp * kWarpLanes + lane;
      std::uint32_t* const of_lane = threads_.data() + warp * kThreadWords + lane;
      of_lane[0] = thread % block.x;
      of_lane[kWarpLanes] = thread / block.x % block.y;
      of_lane[std::size_t{2} * kWarpLanes] = thread / block.x / block.y;
    }
  }
}

void Scalars::read_special(RunningFragment& run, const Instr& instr, std::uint32_t mask) const {
  const Ref& to = instr[ScalarOperand::result];
  std::byte* row = row_of(run.banks, to);
  const bool wide = to.bank == Bank::wide;
  if (run.warp.undefined.any()) run.warp.undefined.set(run.frame, to, {}, mask, launch_.program());
  const auto each = [&](auto value_of_lane) {
    for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
      const auto lane = static_cast<unsigned>(std::countr_zero(rest));
      const std::uint64_t value = value_of_lane(lane);
      std::memcpy(row + lane * (wide ? 8u : 4u), &value, wide ? 8 : 4);
    }
  };
  const auto count_up = [&](std::uint32_t from) {
    if (wide || mask != ~0u) return each([&](unsigned l) { return from + l; });
    launch_.rows().count_up(reinterpret_cast<std::uint32_t*>(row), from, 1);
  };
  const auto place = [&](std::size_t dimension) {
    const std::uint32_t* const numbers =
        threads() + run.warp.index * kThreadWords + dimension * kWarpLanes;
    if (wide || mask != ~0u) return each([&](unsigned l) { return numbers[l]; });
    std::memcpy(row, numbers, kWordRowBytes);
  };
  switch (instr.special) {
    case SpecialRegister::tid_x: return place(0);
    case SpecialRegister::tid_y: return place(1);
    case SpecialRegister::tid_z: return place(2);
    case SpecialRegister::laneid: return count_up(0);
    case SpecialRegister::lanemask_eq: return each([](unsigned l) { return 1u << l; });
    case SpecialRegister::lanemask_lt: return each([](unsigned l) { return (1u << l) - 1; });
    case SpecialRegister::lanemask_le: return each([](unsigned l) { return (2u << l) - 1; });
    case SpecialRegister::lanemask_gt: return each([](unsigned l) { return ~((2u << l) - 1); });
    case SpecialRegister::lanemask_ge: return each([](unsigned l) { return ~((1u << l) - 1); });
    case SpecialRegister::none: return;
    case SpecialRegister::is_explicit_cluster: {
      std::uint32_t bits = 0;
      std::memcpy(&bits, row, sizeof bits);
      bits = launch_.request().explicit_cluster ? bits | mask : bits & ~mask;
      std::memcpy(row, &bits, sizeof bits);
      return;
    }
    default: launch_.rows().broadcast(row, wide, value_of(run, instr.special), mask);
  }
}

// Returns the value of a special register that is the same for all lanes of a warp.
std::uint64_t Scalars::value_of(const RunningFragment& run, SpecialRegister special) const {
  const Dim3& block = launch_.request().block;
  const Dim3& grid = launch_.request().grid;
  switch (special) {
    case SpecialRegister::ntid_x: return block.x;
    case SpecialRegister::ntid_y: return block.y;
    case SpecialRegister::ntid_z: return block.z;
    case SpecialRegister::ctaid_x: return run.slot.position.x;
    case SpecialRegister::ctaid_y: return run.slot.position.y;
    case SpecialRegister::ctaid_z: return run.slot.position.z;
    case SpecialRegister::nctaid_x: return grid.x;
    case SpecialRegister::nctaid_y: return grid.y;
    case SpecialRegister::nctaid_z: return grid.z;
    case SpecialRegister::warpid: return run.warp.index;
    case SpecialRegister::nwarpid: return 32;
    case SpecialRegister::smid: return run.slot.index % multiprocessors_of(launch_);
    case SpecialRegister::nsmid: return multiprocessors_of(launch_);
    case SpecialRegister::gridid: return launch_.request().index;
    case SpecialRegister::current_graph_exec: return launch_.request().graph;
    // Time is the number of warp instructions of the launch, including this one, and what has been
    // left out while all warps waited for time (progress/time_waits.hpp).  It depends only on the
    // case, every reading is later than the readings before it, and all warps read the same clock.
    case SpecialRegister::clock:
    case SpecialRegister::clock64:
    case SpecialRegister::globaltimer:
    case SpecialRegister::globaltimer_lo: ++run.warp.time_reads; return launch_.time();
    case SpecialRegister::clock_hi:
    case SpecialRegister::globaltimer_hi: ++run.warp.time_reads; return launch_.time() >> 32;
    case SpecialRegister::dynamic_smem_size: return launch_.request().dynamic_shared_bytes;
    case SpecialRegister::total_smem_size:
      return launch_.program().dynamic_shared_offset + launch_.request().dynamic_shared_bytes;
    case SpecialRegister::aggr_smem_size:
      return launch_.program().dynamic_shared_offset + launch_.request().dynamic_shared_bytes +
             kSystemSharedBytes;
    case SpecialRegister::envreg1: return workspace_.address() >> 32;
    case SpecialRegister::envreg2: return workspace_.address();
    case SpecialRegister::warp_size: return kWarpLanes;
    case SpecialRegister::reserved_smem_offset_1: return kReservedSharedOffset;
    default: return clusters_.special(run.slot, special);
  }
}

}  // namespace warpcheck::vgpu
