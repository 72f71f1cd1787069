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
struct QueuedRows;  // machine/access/appended_rows.hpp
struct RecordedRow;
struct RecordedAtomics;

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
  bool takes_appended(const Program& program, const AppendedRows& appended) override;
  void on_access(const Access& access) override;
  // Reads by the asynchronous proxy are not counted.
  bool takes_product(const ProductRead& /*read*/) override { return true; }
  void on_tally(const Program& program, std::span<const InstrTally> tally) override;

 private:
  // What is counted of an access.
  struct CountedRow {
    AccessedLanes lanes;
    ptx::Space space = ptx::Space::generic;
    AccessKind kind = AccessKind::read;
    std::uint32_t key = 0;  // the same for rows of the same kind and width
    static std::uint32_t key_of(ptx::Space space, AccessKind kind, Pattern pattern,
                                std::uint32_t bytes) {
      return 1u << 31 | static_cast<std::uint32_t>(pattern) << 24 | bytes << 16 |
             static_cast<std::uint32_t>(kind) << 8 | static_cast<std::uint32_t>(space);
    }
  };
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
    std::uint32_t key = 0;
    std::uint64_t times = 0;
  };
  // Several instructions of the machine may be one of the PTX.
  struct Counter {
    MemoryCounts counts;                 // without those of `repeated` and `words`
    std::unique_ptr<Repeated> repeated;  // null: none so far
    std::uint64_t words = 0;             // rows of words in shared memory that take a wavefront
    std::uint32_t span = 0;            // from lane 0 to the last lane of the latest scattered lanes
    std::int64_t runs = 0, lanes = 0;  // InstrTally
    // none: its accesses take another way than those of threads.  Of a matrix that is transposed,
    // the machine moves the even rows and then the odd ones.
    enum class Counts : std::uint8_t { all, none, even_half, odd_half } its = Counts::all;
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
  // Returns the counters of a program, by pc.
  Counter* counters_of(const Program& program) {
    if (&program != last_) [[unlikely]]
      last_counters_ = begin(*(last_ = &program)).counters.data();
    return last_counters_;
  }
  [[nodiscard]] bool repeats(Counter& counter, std::uint32_t key, std::uint64_t begin,
                             const std::uint32_t* offsets);
  void count(Counter& counter, const RowAccess& row);
  void count(Counter& counter, const RecordedAtomics& row);
  void count(Counter* counters, const QueuedRows& queued);
  void count_new(Counter& counter, const RecordedRow& row, const AppendedRows& appended);
  void count_new(Counter& counter, const CountedRow& row);
  [[nodiscard]] static bool lies_as_before(Counter& counter, const std::uint32_t* offsets);
  void note_shape(Counter& counter, const CountedRow& row);
  void count_sectors(Counter& counter, const AccessedLanes& lanes);
  void count_half_of_matrix(Counter& counter, CountedRow row);
  void count_tallied(Counter& counter, const Instr& instr, const InstrTally& tally);
  [[nodiscard]] Cost cost_of(const CountedRow& row);

  AccessCosts costs_;
  std::array<std::uint32_t, kWarpLanes> matrix_{};  // the words of a transposed matrix
  std::map<const Program*, OfProgram> programs_;
  std::vector<CountedInstr> earlier_;  // of programs that are gone
  const Program* last_ = nullptr;
  Counter* last_counters_ = nullptr;
};

}  // namespace warpcheck::vgpu
