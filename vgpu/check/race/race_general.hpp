// The general race checker, for programs that synchronise by more than whole-block barriers.
//
// The definition of a race is that of race.hpp (PTX ISA 8.7.1), and so are the classes of accesses.
// Only the order differs: it is the causality order of chapter 8.9, with release and acquire
// patterns, barriers of any set of threads, mbarriers, asynchronous copies and unordered launches
// (thread_order.hpp, sync_variables.hpp, race_cells.hpp).
//
// A synchronisation orders what comes after its whole pattern, so the operations of the pattern
// itself are checked before it takes effect.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "vgpu/check/checker.hpp"
#include "vgpu/check/order/barrier_object_order.hpp"
#include "vgpu/check/order/cluster_order.hpp"
#include "vgpu/check/order/collective_order.hpp"
#include "vgpu/check/order/proxy_fences.hpp"
#include "vgpu/check/order/sync_variables.hpp"
#include "vgpu/check/order/thread_order.hpp"
#include "vgpu/check/race/race_cell_rows.hpp"
#include "vgpu/check/race/race_cells.hpp"
#include "vgpu/check/race/race_class.hpp"
#include "vgpu/check/race/race_finding.hpp"
#include "vgpu/check/race/rows/atomic_log.hpp"
#include "vgpu/check/race/rows/row_log.hpp"
#include "vgpu/check/race/shared_owners.hpp"

namespace warpcheck::vgpu {

class GeneralRaceChecker final : public Checker {
 public:
  GeneralRaceChecker(Reporter& reporter, CollectiveOrder& collectives,
                     const EpochLimits& limits = {});

  void reset(WarpModel model) override;
  void on_sync(const Sync& sync) override;
  // Replaces on_sync() for a launch that another checker checks: this checker receives no other
  // event of it.  No earlier launch is unordered with it.
  void count_launch(const LaunchShape& shape);
  void on_access(Access& access) override;
  void on_fence(const Fence& fence) override;
  void on_meeting(const Meeting& meeting) override {
    if (phases_[meeting.place.slot].observers != 0) perform_observed();
    order_.meet(meeting);
  }
  void on_device_launch(const DeviceLaunch& event) override { order_.launch_from(event); }
  void on_barrier_object(const BarrierObject& event) override;
  void on_cluster_barrier(const ClusterBarrier& event) override;
  void on_copy_commit(const CopyCommit& commit) override { order_.commit_copies(commit); }
  void on_copy_wait(const CopyWait& wait) override { order_.wait_for_copies(wait); }
  void on_allocate(const Allocation& allocation) override { on_free(allocation); }
  void on_free(const Allocation& allocation) override;
  void on_host_access(const HostAccess& access) override;
  void on_late_host_access(const HostAccess& access) override;
  void on_device_copy(const DeviceCopy& copy) override;
  void on_operand(OperandAccess& access) override;
  void on_late_operand(const OperandAccess& access) override;

  // Returns a number that changes when a lane of the warp acquires or releases something.
  [[nodiscard]] std::uint32_t knowledge_at(const WarpPlace& place) {
    return order_.segment_of(place, false);
  }

  void recall(const RecalledAccess& recalled);

 private:
  // The row that is being checked.
  struct Row {
    const Access* access = nullptr;
    CellMemory* memory = nullptr;
    ThreadOrder::SegmentId now = 0;
    ThreadOrder::SegmentId first = 0;  // older records belong to another block's shared memory
    KnownBefore known;
    // Cached answers for earlier segments, each at its segment number modulo the table's size.
    struct Answer {
      ThreadOrder::SegmentId earlier = 0;
      ThreadOrder::Before before = ThreadOrder::Before::no_lane;
    };
    std::array<Answer, 4> answers{};
  };
  // Some segments that come before all lanes of the segment `now`, the latest known first.
  struct Recent {
    ThreadOrder::SegmentId now = 0;
    std::array<ThreadOrder::SegmentId, 4> before{};
  };
  static constexpr std::size_t kRecent = 256;
  struct Launch {
    const Program* program = nullptr;
    Dim3 grid, block;
    BlockKey first_block = 0;
  };
  // An earlier access of one lane.
  struct Earlier {
    ThreadOrder::SegmentId segment = 0;
    unsigned lane = 0;
    std::uint32_t pc = 0;
    unsigned access_class = 0;
    bool lacks_proxy_fence = false;  // it comes before, but through the other proxy
    bool is_handed = false;          // no race, but it may hand a value on
    std::uint32_t offset = 0;        // of a byte that both access
  };
  // The writes in a list that a lane, or a thread before it, has observed: for each chain, those at
  // lower positions.
  class Observations {
   public:
    void add(std::uint64_t chain, std::uint64_t below) { seen_.emplace_back(chain, below); }
    void close();
    [[nodiscard]] bool include(const CellEntry& write, unsigned write_lane) const;

   private:
    // by chain, the highest position first
    std::vector<std::pair<std::uint64_t, std::uint64_t>> seen_;
  };
  // What one lane accesses, and the class of the access.
  struct LaneAccess {
    unsigned lane = 0;
    std::uint32_t offset = 0, bytes = 0;
    unsigned access_class = 0;
  };
  void begin_launch(const LaunchShape& launch, std::span<const std::uint32_t> unordered = {},
                    std::uint32_t early_after = ptx::kNone);
  // Begins the launches that were only counted, because the checker now needs its state.
  void catch_up();

  // race_general_cluster.cpp
  void end_shared(const Sync& sync);
  bool is_known_use(const Row& row, const LaneAccess& mine, const Earlier& earlier);
  [[nodiscard]] bool is_fenced_init(const Row& row, const LaneAccess& mine,
                                    const Earlier& earlier) const;
  [[nodiscard]] bool is_before_awaited_arrival(const Row& row, ThreadOrder::SegmentId earlier,
                                               unsigned earlier_lane, unsigned lane) const;
  [[nodiscard]] ThreadOrder::SegmentId segment_of(const Access& access);

  // race_general_tidy.cpp
  void tidy_up();
  template <typename Visit>
  void for_each_segment(Visit visit);

  // The current phase of a block's shared memory, as long as it needs no cells.
  struct Phase {
    RowLog log;
    const Allocation* shared = nullptr;  // null: there is none
    ThreadOrder::SegmentId first = 0;    // of the phase
    std::uint32_t observers = 0;         // warps of the block with deferred rows that have read
  };

  void begin_phase(const WarpPlace& place);
  bool log(const Access& access);
  bool log_atomics(Phase& phase, const Access& access);
  void move_to_cells(Phase& phase);
  Row row_of(const Access& access);
  CellMemory& memory_of(const Allocation& allocation, std::uint32_t bytes);
  void check_weak(Row& row);
  bool check_neighbours(Row& row);
  bool check_common_read(Row& row);
  bool check_read(Row& row, const LaneAccess& mine, std::uint32_t lanes);
  bool check_lane(Row& row, const LaneAccess& mine);
  template <typename Visit>
  static void for_each_cell(const Row& row, const LaneAccess& mine, Visit visit) {
    const unsigned shift = row.memory->shift();
    Cell* const cells = row.memory->cells();
    const std::uint32_t begin = mine.offset >> shift;
    const std::uint32_t end = (mine.offset + mine.bytes - 1) >> shift;
    for (std::uint32_t cell = begin; cell <= end; ++cell) visit(cells[cell]);
  }

  // race_general_atomics.cpp
  void check_strong(Row& row);
  void perform_strong(const Row& row, const LaneAccess& mine);
  [[nodiscard]] StrongOperation operation_of(const Access& access, const LaneAccess& mine) const;
  void perform(const Row& row, const StrongOperation& operation, unsigned access_class,
               SyncVariables& variables);
  // Defers a row of atomics until another operation needs its effects.
  bool defer(Row& row);
  [[nodiscard]] bool may_defer(Row& row, const LaneAccess& mine, std::uint64_t mark);
  [[nodiscard]] bool meets_deferred(const Row& row) const;
  void perform_deferred(std::uint32_t allocation);
  void perform_all_deferred();
  void perform_observed();
  void perform_before(const Fence& fence);
  void begin_deferring(const LaunchShape& launch, std::span<const std::uint32_t> unordered);
  void overwrite(const Allocation& allocation, std::uint32_t offset, std::uint32_t bytes);
  [[nodiscard]] bool has_deferred(const WarpPlace& place);
  bool asks_again(const Row& row);
  void forget_before(Cell& cell, ThreadOrder::SegmentId first);
  void perform_rows(AtomicLog& log, ThreadOrder::SegmentId first);

  [[nodiscard]] static std::uint32_t offset_in(const Row& row, const LaneAccess& mine,
                                               const Cell& cell);
  [[nodiscard]] std::uint32_t handed_classes(const Row& row, const LaneAccess& mine) const;
  void check(Row& row, const LaneAccess& mine, Cell& cell);
  void check_list(Row& row, const LaneAccess& mine, const Cell& cell);
  static bool is_over(const Row& row, const CellList& list);
  std::size_t first_in_question(const Row& row, unsigned access_class, CellList& list) const;
  void check_proxy(Row& row, const LaneAccess& mine, Earlier earlier);
  [[nodiscard]] bool is_one_group(const Row& row, const CellEntry& entry) const;
  [[nodiscard]] bool are_apart(const Row& row, const CellEntry& entry) const;
  bool is_before(Row& row, ThreadOrder::SegmentId earlier, unsigned earlier_lane, unsigned lane);
  ThreadOrder::Before ask(Row& row, ThreadOrder::SegmentId earlier);
  void remember(Row& row, ThreadOrder::SegmentId earlier);
  bool all_before(Row& row, ThreadOrder::SegmentId earlier);
  Observations observations_of(Row& row, const CellList& list, unsigned lane);
  void record_weak_write(Row& row, unsigned lane, Cell& cell);
  void record_weak_read(Row& row, unsigned lane, Cell& cell);

  // Reports a race.  Returns whether the rest of the row needs no check; false: only this lane's
  // access is known to be harmless.
  bool report(const Row& row, const LaneAccess& mine, const Earlier& earlier);
  [[nodiscard]] bool has_seen_release(const Row& row, unsigned lane, const Earlier& earlier);
  [[nodiscard]] Weight weight_of(const Row& row, const LaneAccess& mine, const Earlier& earlier);
  [[nodiscard]] bool is_passed_on(const Access& access, unsigned lane, const Earlier& earlier);
  [[nodiscard]] bool is_handed(const Row& row, const LaneAccess& mine,
                               const CellEntry& entry) const;
  [[nodiscard]] bool stores_same_bytes(const Row& row, const LaneAccess& mine) const;
  static std::string explain_early(const EarlyLaunches& early, std::uint32_t earlier);
  [[nodiscard]] RaceExplanation explain(const Row& row, const LaneAccess& mine,
                                        const Earlier& earlier) const;
  [[nodiscard]] RaceExplanation what_was_missed(const Row& row, const LaneAccess& mine,
                                                const Earlier& earlier) const;
  [[nodiscard]] AccessSide side_of(const Earlier& earlier) const;
  // operand: of a library function; null: a copy or fill, or an access by host code.
  void check_host(const HostAccess& access, const LibraryOperand* operand = nullptr);
  void report_host(const HostAccess& access, std::uint32_t offset, const Earlier& earlier,
                   const LibraryOperand* operand);

  // The latest answer of has_seen_release() for a whole block.
  struct SeenRelease {
    ThreadOrder::SegmentId earlier = 0, now = 0;
    bool seen = false;
  };

  // Launches that were only counted since the last other event, as indices into shapes_: there may
  // be millions of launches of a few kernels.  As long as there was no other event in the trial,
  // all state below is as reset() has left it.
  std::vector<std::uint32_t> counted_;
  std::vector<LaunchShape> shapes_;
  bool is_idle_ = false;
  WarpModel model_{};
  CollectiveOrder& collectives_;
  SwapGuesses guesses_;
  SeenRelease seen_release_;
  const CellRowFunctions& rows_;
  std::uint32_t segments_kept_;  // before the first call of tidy_up()
  std::uint32_t deferred_max_;   // rows per allocation
  std::uint32_t tidy_at_;        // number of segments
  ThreadOrder order_;
  std::array<Recent, kRecent> recent_{};  // indexed by the segment `now`
  bool has_recent_ = false;
  SyncVariables variables_{order_};
  ClusterOrder cluster_order_{order_};
  BarrierObjectOrder barrier_objects_{order_};
  SharedOwners owners_{order_};
  ProxyFences proxy_fences_{order_};
  CellLists lists_;
  std::deque<CellMemory> memories_;              // by Allocation::id
  std::vector<Phase> phases_;                    // by slot
  std::map<std::uint32_t, AtomicLog> deferred_;  // by Allocation::id; none is empty
  // a race cannot be explained before the deferred rows are performed
  bool asks_again_ = false;
  bool logs_ = false;                      // programs of the current launch
  std::vector<Launch> launches_;           // of the trial
  std::vector<std::vector<Miss>> misses_;  // by slot: the latest of its block, for messages
};

}  // namespace warpcheck::vgpu
