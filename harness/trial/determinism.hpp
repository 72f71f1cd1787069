// Why a result depends on the schedule, and how far: the instructions whose order among threads
// reaches what differs (vgpu/check/proof/order_flow.hpp), and the results under several schedules.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "harness/case/case.hpp"
#include "harness/trial/engine.hpp"
#include "vgpu/check/proof/order_reason.hpp"
#include "vgpu/schedule/schedule.hpp"

namespace warpcheck {

// Compares the bytes that the host copies under `schedule` with those under the default schedule.
// Files are relative to the repository.  Runs the kernel a few times more.
[[nodiscard]] vgpu::OrderReason find_order_reason(const Case& a_case,
                                                  const vgpu::Schedule& schedule,
                                                  Engine& engine = virtual_gpu());

// The element of the output that is furthest apart.
struct ScheduleSpread {
  std::size_t index = 0;
  std::size_t values = 0;  // that it has, each once
  std::string least, greatest;
  double ulps = 0;  // from the least to the greatest, of that with the larger exponent; integers: 1
  bool is_float = false;
  bool is_number = true;  // false: it is a NaN or an infinity under some of the schedules
  unsigned schedules = 0;
};
// Runs the kernel under the default schedule, `schedule`, and others.
//   steps_of_one: of a run, so that a long one has fewer schedules
// Nothing: the output has no numbers, or is the same under all of them.
[[nodiscard]] std::optional<ScheduleSpread> spread_over_schedules(const Case& a_case,
                                                                  const vgpu::Schedule& schedule,
                                                                  std::uint64_t steps_of_one,
                                                                  Engine& engine = virtual_gpu());
// "under 16 schedules, out[0] has 3 values from 1.5 to 1.5000002, 2 ulps apart"
[[nodiscard]] std::string text_of(const ScheduleSpread& spread);

}  // namespace warpcheck
