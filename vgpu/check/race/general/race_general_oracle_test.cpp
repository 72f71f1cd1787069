// Compares the general race checker with the axioms of PTX ISA chapter 8 (race_axioms_testing.hpp)
// on random executions.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "vgpu/check/fake_launch.hpp"
#include "vgpu/check/race/general/race_axioms_testing.hpp"
#include "vgpu/check/race/race.hpp"
#include "vgpu/machine/compute/simd.hpp"
#include "vgpu/ptx/opcode.hpp"

namespace warpcheck::vgpu {
namespace {

using axioms::Execution;
using axioms::kNodesMax;
using axioms::Operation;
using ptx::Order;
using ptx::Scope;

class RandomExecution {
 public:
  static constexpr std::uint32_t kBlocks = 3, kWarps = 2, kLanesMax = 10, kBytes = 128;

  RandomExecution(std::uint64_t seed, WarpModel model, const EpochLimits& limits = {})
      : random_(seed),
        model_(model),
        checker_(reporter_, race_row_functions(simd_level()), limits) {
    checker_.reset(model);
    program_.synchronizes_threads = true;
    for (std::uint32_t block = 0; block < kBlocks; ++block) {
      shared_.push_back(std::make_unique<FakeMemory>(block, ptx::Space::shared, kBytes));
    }
  }

  void run() {
    strong_percent_ = 30 + below(60);
    order_percent_ = below(80);
    narrow_percent_ = chance(50) ? 0 : below(40);
    shared_percent_ = chance(50) ? 0 : 40;
    sizes_ = chance(30) ? 4 : 1;
    places_ = 1 + below(4);
    lanes_ = chance(20) ? kLanesMax : 3;
    has_copies_ = chance(50);
    // Global memory is only read at first.
    quiet_events_ = chance(40) ? below(60) : 0;
    // Shared memory that whole warps use between their own barriers.
    meets_percent_ = chance(25) ? 30 : 0;
    if (meets_percent_ != 0) {
      shared_percent_ = 90;
      order_percent_ = 0;
      has_copies_ = false;
    }
    // the program has no other memory instruction
    if (has_copies_) program_.code[0].kind = InstrKind::copy;
    // All lanes of the last warp take part in many events.
    launch_.start({kBlocks, 1, 1}, {(kWarps - 1) * 32 + lanes_, 1, 1});
    for (std::uint32_t block = 0; block < kBlocks; ++block) {
      launch_.start_block(block, block, shared_[block].get());
    }
    for (std::uint32_t steps = 10 + below(90); steps > 0; --steps) {
      step();
      if (testing::Test::HasFailure() || execution_.nodes() > kNodesMax - 400) return;
    }
  }
  [[nodiscard]] std::uint64_t races() const {
    std::uint64_t sum = 0;
    for (const Finding& finding : reporter_.findings()) sum += finding.count;
    return sum;
  }
  [[nodiscard]] std::uint32_t saved_by_order() const { return quiet_conflicts_; }

 private:
  std::uint32_t below(std::uint32_t bound) { return static_cast<std::uint32_t>(random_() % bound); }
  bool chance(std::uint32_t percent) { return below(100) < percent; }
  std::uint32_t mask() {
    const std::uint32_t all = (1u << lanes_) - 1;
    if (chance(55)) return 1u << below(lanes_);
    if (chance(30)) return all;
    return lanes_ > 3 && chance(50) ? all : 1 + below(all);
  }
  std::uint32_t actor(std::uint32_t block, std::uint32_t warp, unsigned lane) const {
    return (block * kWarps + warp) * 32 + (model_ == WarpModel::lockstep ? 0 : lane);
  }
  template <typename Visit>
  static void for_each_lane(std::uint32_t lanes, Visit visit) {
    for (; lanes != 0; lanes &= lanes - 1) visit(static_cast<unsigned>(__builtin_ctz(lanes)));
  }

  void step() {
    if (chance(meets_percent_)) return meet();
    const std::uint32_t what = meets_percent_ == 0 ? below(100) : below(72);
    if (what < 70) return access();
    if (what < 82) return fence();
    if (what < 86) return meet();
    if (what < 88) return barrier();
    if (what < 93) return barrier_object();
    if (what < 95) return commit();
    if (what < 97) return wait();
    return access(has_copies_);
  }

  Scope scope() {
    if (chance(narrow_percent_)) return Scope::cta;
    return chance(50) ? Scope::gpu : Scope::sys;
  }

  void access(bool asynchronous = false) {
    const std::uint32_t block = below(kBlocks), warp = below(kWarps);
    const bool in_shared = chance(shared_percent_);
    const FakeMemory& memory = in_shared ? *shared_[block] : global_;
    const bool is_quiet = !in_shared && events_ < quiet_events_;
    const bool strong = !asynchronous && !is_quiet && chance(strong_percent_);
    AccessKind kind = is_quiet || chance(50) ? AccessKind::read : AccessKind::write;
    if (strong && chance(40)) kind = AccessKind::atomic;
    constexpr std::array<std::uint8_t, 4> kSizes{4, 8, 4, 1};
    std::uint8_t bytes = kSizes[below(sizes_)];
    if (kind == AccessKind::atomic && bytes == 1) bytes = 4;
    const std::uint32_t pc = 1 + below(20) * 3 + static_cast<std::uint32_t>(kind);
    Access row = launch_.access(kind, memory, block, warp, pc, bytes);
    row.asynchronous = asynchronous;
    row.mask = mask();
    row.pattern = Pattern::scattered;
    const bool one_place = chance(60);
    const std::uint32_t place = below(places_) * 8;
    for (unsigned lane = 0; lane < 32; ++lane) {
      row.offset[lane] =
          one_place ? place : below(places_) * 8 + (bytes == 4 && sizes_ > 1 ? below(2) * 4 : 0);
    }
    if (one_place) {
      row.pattern = Pattern::uniform;
    } else if (bytes == 8 || chance(60)) {
      row.pattern = Pattern::strided;
      for (unsigned lane = 0; lane < 32; ++lane) row.offset[lane] = place + lane * bytes;
    }
    if (strong) choose_order(row);
    program_.code[pc].opcode =
        kind == AccessKind::atomic && chance(25) ? ptx::Opcode::red_ : ptx::Opcode::atom_;
    const bool is_reduction = program_.code[pc].opcode == ptx::Opcode::red_;
    if (is_reduction && (row.order == Order::acquire || row.order == Order::acq_rel)) {
      row.order = Order::release;
    }
    if (kind == AccessKind::atomic && !is_reduction && chance(30))
      row.unwritten = row.mask & below(1u << lanes_);
    check(row, in_shared ? 1 + block : 0, strong, is_reduction);
  }

  void choose_order(Access& row) {
    row.scope = scope();
    row.order = Order::relaxed;
    if (!chance(order_percent_)) return;
    switch (row.kind) {
      case AccessKind::read: row.order = Order::acquire; break;
      case AccessKind::write: row.order = Order::release; break;
      case AccessKind::atomic: {
        constexpr std::array kOrders{Order::acquire, Order::release, Order::acq_rel};
        row.order = kOrders[below(3)];
        break;
      }
    }
  }

  Operation operation_of(const Access& row, unsigned lane, std::uint64_t memory, bool strong,
                         bool is_reduction) const {
    using Kind = Operation::Kind;
    Operation operation;
    operation.kind = row.kind == AccessKind::read    ? Kind::read
                     : row.kind == AccessKind::write ? Kind::write
                     : is_reduction                  ? Kind::reduction
                                                     : Kind::atomic;
    operation.actor = actor(row.place.block, row.place.warp, lane);
    operation.block = row.place.block;
    operation.memory = memory;
    operation.begin = row.offset[lane];
    operation.bytes = row.bytes;
    operation.strong = strong;
    operation.asynchronous = row.asynchronous;
    operation.writes = row.kind != AccessKind::read && (row.unwritten >> lane & 1) == 0;
    operation.order = row.order;
    operation.block_scope = strong && row.scope == Scope::cta;
    return operation;
  }

  // Sends the row to the checker and compares its report with the axioms.
  void check(Access& row, std::uint64_t memory, bool strong, bool is_reduction) {
    bool expected = false;
    std::vector<Operation> operations;
    for_each_lane(row.mask, [&](unsigned lane) {
      Operation operation = operation_of(row, lane, memory, strong, is_reduction);
      expected |= execution_.begin(operation);
      if (strong) {
        operations.push_back(operation);
        return;
      }
      execution_.end(operation);
      if (row.asynchronous) {
        open_copies_[operation.actor].push_back(operation.node);
        copies_[operation.actor].push_back(operation.node);
      }
    });
    for (const Operation& operation : operations) execution_.synchronise(operation);
    const std::uint64_t before = races();
    // As rows, where the machine would.
    const bool is_row = !strong && !row.asynchronous;
    if (!is_row || !checker_.takes_row(row_of(row))) launch_.emit(row);
    ++events_;
    quiet_conflicts_ += expected ? 0 : 1;
    ASSERT_EQ(races() > before, expected) << "event " << events_;
  }

  void fence() {
    constexpr std::array kOrders{Order::sc, Order::acq_rel, Order::acquire, Order::release};
    Fence fence;
    fence.program = &program_;
    fence.place = launch_.place(below(kBlocks), below(kWarps));
    fence.mask = mask();
    fence.order = kOrders[below(4)];
    fence.scope = scope();
    ++events_;
    checker_.on_fence(fence);
    std::uint32_t done = ~0u;
    for_each_lane(fence.mask, [&](unsigned lane) {
      Operation operation;
      operation.kind = Operation::Kind::fence;
      operation.actor = actor(fence.place.block, fence.place.warp, lane);
      if (operation.actor == done) return;
      done = operation.actor;
      operation.block = fence.place.block;
      operation.strong = true;
      operation.order = fence.order;
      operation.block_scope = fence.scope == Scope::cta;
      execution_.begin(operation);
      execution_.synchronise(operation);
      const std::uint32_t after = execution_.last(operation.actor);
      if (operation.releases()) release_fences_[operation.actor] = after;
      if (!operation.acquires()) return;
      for (const std::uint32_t phase : observed_phases_[operation.actor]) {
        execution_.order(phase, after);
      }
    });
  }

  // A barrier of random threads of a block.  If no thread waits, the barrier does not complete:
  // there is only an arrival (bar.arrive).  If its thread does not wait later, the next meeting
  // orders what came before this arrival.
  void meet() {
    const std::uint32_t block = below(kBlocks);
    std::vector<WarpLanes> arrived, released;
    const bool warp_only = chance(60);
    const std::uint32_t only = warp_only && meets_percent_ != 0 ? kWarps - 1 : below(kWarps);
    for (std::uint32_t warp = 0; warp < kWarps; ++warp) {
      if (warp_only && warp != only) continue;
      const bool all = meets_percent_ != 0 && chance(70);
      arrived.push_back({warp, all ? (1u << lanes_) - 1 : mask()});
      const std::uint32_t waits =
          warp_only ? arrived.back().lanes : arrived.back().lanes & below(1u << lanes_);
      if (waits != 0) released.push_back({warp, waits});
    }
    checker_.on_meeting({&program_, launch_.place(block, 0), arrived, released});
    ++events_;
    const std::set<std::uint32_t> waiting = actors_of(block, released);
    const std::uint32_t meeting = execution_.node({});
    if (released.empty()) splits_barriers_.insert(block);
    for (const std::uint32_t thread : actors_of(block, arrived)) {
      std::vector<std::uint32_t>& early = early_arrivals_[thread];
      if (released.empty()) {
        early.push_back(execution_.last(thread));
      } else if (!splits_barriers_.contains(block)) {
        execution_.order_by_barrier(execution_.last(thread), meeting);
      } else if (waiting.contains(thread) || early.empty()) {
        execution_.order(execution_.last(thread), meeting);
      } else {
        execution_.order(early.front(), meeting);
        early.erase(early.begin());
      }
    }
    for (const std::uint32_t thread : waiting) {
      std::uint32_t& last = execution_.last(thread);
      last = execution_.node({last, meeting});
    }
  }
  std::set<std::uint32_t> actors_of(std::uint32_t block,
                                    const std::vector<WarpLanes>& parties) const {
    std::set<std::uint32_t> actors;
    for (const WarpLanes& party : parties) {
      for_each_lane(party.lanes,
                    [&](unsigned lane) { actors.insert(actor(block, party.warp, lane)); });
    }
    return actors;
  }

  void barrier() {
    const std::uint32_t block = below(kBlocks);
    launch_.barrier(block);
    ++events_;
    const std::uint32_t meeting = execution_.node({});
    for (const int pass : {0, 1}) {
      for (std::uint32_t warp = 0; warp < kWarps; ++warp) {
        for (unsigned lane = 0; lane < lanes_; ++lane) {
          std::uint32_t& last = execution_.last(actor(block, warp, lane));
          if (pass == 0) {
            execution_.order_by_barrier(last, meeting);
          } else {
            last = meeting;
          }
        }
      }
    }
  }

  // An event of the block's mbarrier.
  void barrier_object() {
    BarrierObject event;
    event.program = &program_;
    event.place = launch_.place(below(kBlocks), below(kWarps));
    event.mask = mask();
    event.allocation = &shared_[event.place.block]->allocation();
    event.offset = 24;
    std::vector<std::uint32_t>& phases = arrivals_[event.place.block];
    const bool arrives = phases.empty() || chance(50);
    event.kind = arrives ? BarrierObject::Kind::arrive : BarrierObject::Kind::wait;
    if (arrives && (phases.empty() || chance(30))) {
      phases.push_back(execution_.node({}));
      if (phases.size() > 1) execution_.order(phases[phases.size() - 2], phases.back());
    }
    event.phase = phases.size() - 1;
    if (!arrives && phases.size() > 1 && chance(50)) --event.phase;
    event.for_copies = arrives && chance(30);
    event.relaxed = !event.for_copies && chance(20);
    checker_.on_barrier_object(event);
    ++events_;
    const std::uint32_t phase = phases[event.phase];
    for_each_lane(event.mask, [&](unsigned lane) {
      const std::uint32_t thread = actor(event.place.block, event.place.warp, lane);
      std::uint32_t& last = execution_.last(thread);
      if (event.for_copies) {
        for (const std::uint32_t copy : copies_[thread]) execution_.order_alone(copy, phase);
      } else if (event.relaxed && arrives) {
        // Completes the release pattern that an earlier fence began.
        const auto fence = release_fences_.find(thread);
        if (fence != release_fences_.end()) execution_.order(fence->second, phase);
      } else if (event.relaxed) {
        // Begins an acquire pattern, which a later fence completes.
        observed_phases_[thread].push_back(execution_.node({phase}));
      } else if (arrives) {
        execution_.order(last, phase);
      } else {
        last = execution_.node({last, phase});
      }
    });
  }

  void commit() {
    CopyCommit event;
    event.program = &program_;
    event.place = launch_.place(below(kBlocks), below(kWarps));
    event.mask = model_ == WarpModel::lockstep ? 1 : mask();
    checker_.on_copy_commit(event);
    ++events_;
    for_each_lane(event.mask, [&](unsigned lane) {
      const std::uint32_t thread = actor(event.place.block, event.place.warp, lane);
      groups_[thread].push_back(std::exchange(open_copies_[thread], {}));
    });
  }

  void wait() {
    CopyWait event;
    event.program = &program_;
    event.place = launch_.place(below(kBlocks), below(kWarps));
    event.mask = model_ == WarpModel::lockstep ? 1 : mask();
    event.groups_left = below(3);
    checker_.on_copy_wait(event);
    ++events_;
    for_each_lane(event.mask, [&](unsigned lane) {
      const std::uint32_t thread = actor(event.place.block, event.place.warp, lane);
      const auto& groups = groups_[thread];
      std::uint32_t& last = execution_.last(thread);
      last = execution_.node({last});
      for (std::size_t i = 0; i + event.groups_left < groups.size(); ++i) {
        for (const std::uint32_t copy : groups[i]) execution_.order(copy, last);
      }
    });
  }

  std::mt19937_64 random_;
  WarpModel model_;
  Program program_ = fake_program();
  Reporter reporter_;
  RaceChecker checker_;
  FakeLaunch launch_{program_, {&reporter_, &checker_}};
  FakeMemory global_{kBlocks, ptx::Space::global, kBytes};
  std::vector<std::unique_ptr<FakeMemory>> shared_;
  Execution execution_;
  std::map<std::uint32_t, std::vector<std::uint32_t>> arrivals_;              // phases, by block
  std::map<std::uint32_t, std::vector<std::uint32_t>> copies_, open_copies_;  // by actor
  std::map<std::uint32_t, std::vector<std::vector<std::uint32_t>>> groups_;
  std::map<std::uint32_t, std::uint32_t> release_fences_;                // by actor: the latest
  std::map<std::uint32_t, std::vector<std::uint32_t>> observed_phases_;  // by actor
  std::map<std::uint32_t, std::vector<std::uint32_t>> early_arrivals_;   // by actor: oldest first
  std::set<std::uint32_t> splits_barriers_;  // blocks that have arrived without waiting
  std::uint32_t strong_percent_ = 0, order_percent_ = 0, narrow_percent_ = 0;
  std::uint32_t shared_percent_ = 0, meets_percent_ = 0, sizes_ = 1, places_ = 1;
  std::uint32_t lanes_ = 1;  // number of lanes of a warp
  bool has_copies_ = false;
  std::uint32_t quiet_events_ = 0;
  std::uint32_t events_ = 0, quiet_conflicts_ = 0;
};

class GeneralRaceOracle : public testing::TestWithParam<WarpModel> {};

TEST_P(GeneralRaceOracle, ReportsExactlyWhatTheAxiomsCallARace) {
  constexpr std::uint64_t kExecutions = 600;
  std::size_t racy = 0;
  for (std::uint64_t seed = 0; seed < kExecutions; ++seed) {
    RandomExecution execution(seed, GetParam());
    execution.run();
    ASSERT_FALSE(HasFailure()) << "seed " << seed;
    racy += execution.races() == 0 ? 0 : 1;
  }
  // The generator must produce executions with and without races.
  EXPECT_GT(racy, kExecutions / 10);
  EXPECT_LT(racy, kExecutions);
}

// Every few events, segments are forgotten and the others renumbered.
TEST_P(GeneralRaceOracle, ForgettingSegmentsChangesNothing) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    RandomExecution execution(seed, GetParam(), {.segments = 3});
    execution.run();
    ASSERT_FALSE(HasFailure()) << "seed " << seed;
  }
}

INSTANTIATE_TEST_SUITE_P(Models, GeneralRaceOracle,
                         testing::Values(WarpModel::independent, WarpModel::lockstep),
                         [](const auto& test) {
                           return test.param == WarpModel::lockstep ? "lockstep" : "independent";
                         });

}  // namespace
}  // namespace warpcheck::vgpu
