// Counts what each instruction does to memory, as a GPU would: sectors of global memory, wavefronts
// of shared memory, lanes of atomics on one address, bytes of local memory, how often it is
// executed by how many lanes, and where lanes part (memory_counts.hpp).
//
// Not counted: registers that the assembler keeps in local memory (spills), which PTX does not
// have; textures, constant memory, and copies that do not go through a thread (cp.async.bulk).
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "vgpu/check/counters/access_cost.hpp"
#include "vgpu/check/counters/memory_counts.hpp"
#include "vgpu/machine/observer.hpp"

namespace warpcheck::vgpu {

class NativeTier;

class MemoryCounters final : public Observer {
 public:
  // Returns the counts of the instructions that were executed, kernel after kernel.
  [[nodiscard]] std::vector<CountedInstr> counts() const;
  // Returns the sum over all instructions.
  [[nodiscard]] MemoryCounts total() const;
  void clear();

  [[nodiscard]] Watched watches() const override {
    return {.rows = true, .blocks = false, .memory = false, .tallies = true};
  }
  void on_sync(const Sync& sync) override;
  void on_rows(const Program& program, std::span<const RowAccess> rows) override;
  void on_access(const Access& access) override;
  // Reads by the asynchronous proxy are not counted.
  bool takes_product(const ProductRead& /*read*/) override { return true; }
  void on_tally(const Program& program, std::span<const InstrTally> tally) override;

 private:
  // What one access costs.
  struct Cost {
    ptx::Space space = ptx::Space::generic;
    AccessCost moved;             // in sectors or wavefronts
    std::uint32_t contended = 0;  // MemoryCounts
    std::uint32_t bytes = 0;      // of all lanes
    void add_to(MemoryCounts& counts, std::uint64_t times) const;
  };
  // An instruction mostly has its lanes in the same shape again, so accesses in the shape of its
  // last one are only numbered.
  struct Repeated {
    LaneShape shape;
    Cost cost;
    AccessKind kind = AccessKind::read;
    std::uint32_t bytes = 0;  // of a lane
    std::uint64_t times = 0;
    [[nodiscard]] bool is(const AccessedLanes& lanes, ptx::Space space, AccessKind of_kind,
                          const LaneShapeFunctions& functions) const {
      return cost.space == space && kind == of_kind && bytes == lanes.bytes &&
             shape.is_of(lanes, functions);
    }
  };
  // Several instructions of the machine may be one of the PTX.
  struct Counter {
    MemoryCounts counts;                 // without those of `repeated`
    std::unique_ptr<Repeated> repeated;  // null: none so far
    std::uint32_t span = 0;            // from lane 0 to the last lane of the latest scattered lanes
    std::int64_t runs = 0, lanes = 0;  // InstrTally
    bool is_counted = true;            // false: its accesses take another way than those of threads
    // Of a matrix that is transposed, the machine moves the even rows and then the odd ones.
    enum class Half : std::uint8_t { none, even, odd } half = Half::none;
    [[nodiscard]] MemoryCounts all() const;
  };
  // The place of a PTX instruction, which outlives its program.
  struct Place {
    std::uint32_t begin = 0, end = 0;  // its instructions in the machine's code
    std::string file, ptx;
    std::uint32_t line = 0;
  };
  struct OfProgram {
    std::shared_ptr<const NativeTier> tier;  // identifies the program; no other program has it
    std::string kernel;
    std::vector<Counter> counters;  // by pc
    std::vector<Place> places;
    [[nodiscard]] std::vector<CountedInstr> counts() const;
  };
  OfProgram& begin(const Program& program);
  Counter& counter_at(const Program* program, std::uint32_t pc) {
    if (program != last_) [[unlikely]]
      last_counters_ = begin(*(last_ = program)).counters.data();
    return last_counters_[pc];
  }
  void count(Counter& counter, AccessedLanes lanes, ptx::Space space, AccessKind kind,
             std::uint64_t times);
  [[nodiscard]] static bool may_repeat(Counter& counter, const AccessedLanes& lanes);
  [[nodiscard]] Cost cost_of(const AccessedLanes& lanes, ptx::Space space, AccessKind kind);
  static void note_shape(Counter& counter, const AccessedLanes& lanes, const Cost& cost,
                         AccessKind kind);
  void count_tallied(Counter& counter, const Instr& instr, const InstrTally& tally);
  [[nodiscard]] bool has_whole_matrix(const Counter& counter, AccessedLanes& lanes);

  AccessCosts costs_;
  std::array<std::uint32_t, kWarpLanes> matrix_{};  // the words of a transposed matrix
  std::map<const Program*, OfProgram> programs_;
  std::vector<CountedInstr> earlier_;  // of programs that are gone
  const Program* last_ = nullptr;
  Counter* last_counters_ = nullptr;
};

}  // namespace warpcheck::vgpu
