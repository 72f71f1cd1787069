// What the general engine keeps of a trial: the order of its threads, and the records of accesses.
#pragma once

#include <vector>

#include "vgpu/check/order/barrier_object_order.hpp"
#include "vgpu/check/order/cluster_order.hpp"
#include "vgpu/check/order/early_takes.hpp"
#include "vgpu/check/order/poll_exits.hpp"
#include "vgpu/check/order/proxy_fences.hpp"
#include "vgpu/check/order/sync_variables.hpp"
#include "vgpu/check/order/thread_order.hpp"
#include "vgpu/check/race/general/cells/race_cells.hpp"
#include "vgpu/check/race/general/checked_row.hpp"
#include "vgpu/check/race/general/missed_reads.hpp"
#include "vgpu/check/race/race_work.hpp"

namespace warpcheck::vgpu {

struct GeneralState {
  //   has_lines: as for CellMemories
  explicit GeneralState(bool has_lines) : memories(has_lines) {}

  std::vector<CheckedLaunch> launches;  // of the trial
  ThreadOrder order;
  SyncVariables variables{order};
  PollExits polls;
  EarlyTakes takes;
  ClusterOrder cluster_order{order};
  BarrierObjectOrder barrier_objects{order};
  ProxyFences proxy_fences{order};  // fence.proxy.async
  MapFences map_fences{order};
  CellMemories memories;
  CellLists lists;
  MissedReads missed;
  RaceWork work;
};

}  // namespace warpcheck::vgpu
