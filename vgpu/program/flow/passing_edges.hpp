// Where threads bypass a barrier: the basis of the search for barriers at which threads do not
// arrive although they run on behind them.
//
// What lies *behind* a barrier is the code that can be reached from it, that leads to it no more,
// and from which something can still be done: an access, a barrier, an operation of a warp.  A
// thread that gets there without having arrived has bypassed the barrier.  Code behind a barrier
// that only leads to the end of the kernel is not counted, so that threads may return early and
// whole kernels may be guarded.
//
// In a loop, every iteration has its own execution of a barrier.  So the same holds for each loop
// that contains the barrier: without its back edges, what lies behind a barrier is what follows in
// the same iteration, and the next iteration.  A thread can bypass the barrier once an iteration,
// and the machine counts that: a thread that waits in the third iteration is bypassed when another
// thread has bypassed the barrier three times.  What can only be done in the next iteration, or
// behind the loop, counts when it is done, so that a part of a loop may be guarded as a whole
// kernel may.
//
// A thread gets behind a barrier at a branch, a jump by a table, a call or a return whose other
// successors do not inevitably lead there, or at the barrier itself if its guard is false.  These
// *edges* are executed at most once an iteration of the innermost loop that contains the barrier
// and the edge, so marking them costs nearly nothing.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "vgpu/program/program.hpp"

namespace warpcheck::vgpu {

struct PassingEdges {
  // What an edge means for the code behind some barriers, a *region*.
  struct Mark {
    std::uint32_t region = 0;
    // True: threads enter the region.  False: threads that are in the region do something.
    bool enters = true;
    bool acts = false;        // it is inevitable that they do something
    bool matters = false;     // it counts even if they do nothing
    std::uint32_t place = 0;  // pc of what they do, or of the branch that decides whether they do
  };
  struct Edge {
    std::uint32_t from = 0, to = 0;  // pcs
    std::vector<Mark> marks;
  };

  [[nodiscard]] const Edge* find(std::uint32_t from, std::uint32_t to) const {
    if (from >= first_at.size() || first_at[from] == ptx::kNone) return nullptr;
    for (std::uint32_t i = first_at[from]; i < edges.size() && edges[i].from == from; ++i) {
      if (edges[i].to == to) return &edges[i];
    }
    return nullptr;
  }
  // Returns the regions behind the barrier, or the operation of a warp, at `pc`.
  [[nodiscard]] std::span<const std::uint32_t> behind(std::uint32_t pc) const {
    const auto found = regions_behind.find(pc);
    return found == regions_behind.end() ? std::span<const std::uint32_t>() : found->second;
  }

  std::vector<Edge> edges;              // sorted by from, to
  std::vector<std::uint32_t> first_at;  // by pc: index of its first edge, or kNone
  std::vector<bool> is_of_loop;         // by region: it can be entered once an iteration
  std::map<std::uint32_t, std::vector<std::uint32_t>> regions_behind;  // by pc
};

// Returns null if no thread can pass a barrier by.
std::shared_ptr<const PassingEdges> find_passing_edges(const Program& program);

}  // namespace warpcheck::vgpu
