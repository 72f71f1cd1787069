#include "harness/causes/remedies.hpp"

#include <algorithm>

namespace warpcheck {
namespace {

using vgpu::FindingKind;
using vgpu::Lack;
using vgpu::Relation;

constexpr InsertedText kWarpBarrier{"bar.warp.sync 0xffffffff;", "__syncwarp();", "__syncwarp()"};
constexpr InsertedText kBlockBarrier{"bar.sync 0;", "__syncthreads();", "__syncthreads()"};
constexpr InsertedText kClusterBarrier{
    "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;",
    "asm volatile(\"barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;\" ::: "
    "\"memory\");",
    "cluster.sync()"};
constexpr InsertedText kFence{"membar.gl;", "__threadfence();", "__threadfence()"};
constexpr InsertedText kFenceOfBlock{"membar.cta;", "__threadfence_block();",
                                     "__threadfence_block()"};
constexpr InsertedText kFenceOfSystem{"membar.sys;", "__threadfence_system();",
                                      "__threadfence_system()"};
constexpr InsertedText kCopyWait{"cp.async.wait_all;",
                                 "asm volatile(\"cp.async.wait_all;\" ::: \"memory\");",
                                 "a wait for the copies"};
constexpr InsertedText kCopyWaitAndBarrier{
    "cp.async.wait_all; bar.sync 0;",
    "asm volatile(\"cp.async.wait_all;\" ::: \"memory\"); __syncthreads();",
    "a wait for the copies and __syncthreads()"};
constexpr InsertedText kProxyFence{
    "fence.proxy.async; bar.sync 0;",
    "asm volatile(\"fence.proxy.async;\" ::: \"memory\"); __syncthreads();",
    "fence.proxy.async and __syncthreads()"};
constexpr InsertedText kGridWait{"griddepcontrol.wait;",
                                 "asm volatile(\"griddepcontrol.wait;\" ::: \"memory\");",
                                 "cudaGridDependencySynchronize()"};
constexpr InsertedText kGridBarrier{"", "cooperative_groups::this_grid().sync();", "grid.sync()"};

bool is_within_warp(const vgpu::Finding& finding) {
  return finding.relation == Relation::lanes &&
         std::ranges::all_of(finding.also_between,
                             [](Relation other) { return other == Relation::lanes; });
}

bool is_within_block(const vgpu::Finding& finding) {
  return finding.relation == Relation::lanes || finding.relation == Relation::warps ||
         finding.relation == Relation::none;
}

// A flag is written behind the one access and read before the other.
bool is_by_flag(const vgpu::Finding& finding) {
  switch (finding.lack) {
    case Lack::handover:
    case Lack::release:
    case Lack::acquire:
    case Lack::lock_fences: return true;
    default: return false;
  }
}

std::vector<Remedy> orders_within_block(const vgpu::Finding& finding, const RemedyFacts& facts) {
  if (!is_within_warp(finding)) return {Remedy::block_barrier};
  return facts.one_warp || facts.races_between_warps
             ? std::vector{Remedy::wider_mask, Remedy::block_barrier, Remedy::warp_barrier}
             : std::vector{Remedy::wider_mask, Remedy::warp_barrier, Remedy::block_barrier};
}

std::vector<Remedy> orders_for(const vgpu::Finding& finding, const RemedyFacts& facts) {
  switch (finding.lack) {
    case Lack::grid_wait: return {Remedy::grid_wait};
    case Lack::phase_wait: return {Remedy::phase_wait};
    case Lack::copy_wait: return {Remedy::copy_wait, Remedy::copy_wait_and_barrier};
    case Lack::copy_handover:
      return {Remedy::block_barrier, Remedy::copy_wait, Remedy::copy_wait_and_barrier};
    case Lack::proxy_fence: return {Remedy::proxy_fence};
    case Lack::cluster_barrier: return {Remedy::cluster_barrier};
    case Lack::order_of_blocks: return {Remedy::grid_barrier, Remedy::wider_scope, Remedy::fence};
    // A grid sees what the thread that launches it knows of.
    case Lack::order_of_grids: return {Remedy::block_barrier};
    default: break;
  }
  // Blocks have each other's shared memory only within a cluster.
  if (finding.relation == Relation::blocks && finding.space == "shared")
    return {Remedy::cluster_barrier, Remedy::wider_scope, Remedy::fence};
  if (!is_within_block(finding))
    return {Remedy::wider_scope, is_of_system(finding) ? Remedy::fence_of_system : Remedy::fence};
  std::vector<Remedy> orders = orders_within_block(finding, facts);
  if (is_by_flag(finding)) orders.push_back(Remedy::fence_of_block);
  return orders;
}

}  // namespace

const InsertedText& inserted_text(Remedy remedy) {
  switch (remedy) {
    case Remedy::warp_barrier: return kWarpBarrier;
    case Remedy::cluster_barrier: return kClusterBarrier;
    case Remedy::fence: return kFence;
    case Remedy::fence_of_block: return kFenceOfBlock;
    case Remedy::fence_of_system: return kFenceOfSystem;
    case Remedy::copy_wait: return kCopyWait;
    case Remedy::copy_wait_and_barrier: return kCopyWaitAndBarrier;
    case Remedy::proxy_fence: return kProxyFence;
    case Remedy::grid_wait: return kGridWait;
    case Remedy::grid_barrier: return kGridBarrier;
    default: return kBlockBarrier;
  }
}

bool is_of_system(const vgpu::Finding& finding) {
  return finding.relation == Relation::host || finding.relation == Relation::launches;
}

std::vector<Remedy> remedies_for(const vgpu::Finding& finding, const RemedyFacts& facts) {
  std::vector<Remedy> remedies;
  switch (finding.kind) {
    case FindingKind::data_race:
    case FindingKind::schedule_dependent:
      remedies = orders_for(finding, facts);
      for (const Remedy more : {Remedy::split, Remedy::atomic_update, Remedy::atomic_access})
        remedies.push_back(more);
      return remedies;
    case FindingKind::out_of_bounds:
    case FindingKind::misaligned_access:
      if (facts.results_are_known) remedies = {Remedy::bound};
      return remedies;
    case FindingKind::uninitialized_read:
      if (!facts.results_are_known) return remedies;
      // Where threads race for the variable, it is their order that is missing.
      if (!facts.races) remedies.push_back(Remedy::first_value);
      remedies.push_back(Remedy::bound);
      return remedies;
    case FindingKind::barrier_divergence:
    case FindingKind::deadlock: return {Remedy::wider_mask, Remedy::barrier_elsewhere};
    // A block of a cluster has left, while another one uses its shared memory.
    case FindingKind::use_after_free:
      if (finding.space == "shared") remedies = {Remedy::cluster_barrier};
      return remedies;
    default: return remedies;
  }
}

}  // namespace warpcheck
