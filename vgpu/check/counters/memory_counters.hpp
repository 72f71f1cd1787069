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
    return {.rows = true, .blocks = false, .memory = false, .runs = true};
  }
  void on_sync(const Sync& sync) override;
  void on_rows(const Program& program, std::span<const RowAccess> rows) override;
  void on_access(const Access& access) override;
  void on_run(const InstrRun& run) override;
  void on_divergence(const Program& program, std::uint32_t pc) override;

 private:
  // Several instructions of the machine may be one of the PTX.
  struct Counter {
    MemoryCounts counts;
    // Runs that begin here, less those that end; and their lanes.
    std::int64_t runs = 0, lanes = 0;
    bool is_counted = true;  // false: its accesses take another way than those of threads
    // Of a matrix that is transposed, the machine moves the even rows and then the odd ones.
    enum class Half : std::uint8_t { none, even, odd } half = Half::none;
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
  void count(Counter& counter, AccessedLanes lanes, ptx::Space space, AccessKind kind);
  [[nodiscard]] bool has_whole_matrix(const Counter& counter, AccessedLanes& lanes);

  AccessCosts costs_;
  std::array<std::uint32_t, kWarpLanes> matrix_{};  // the words of a transposed matrix
  std::map<const Program*, OfProgram> programs_;
  std::vector<CountedInstr> earlier_;  // of programs that are gone
  const Program* last_ = nullptr;
  Counter* last_counters_ = nullptr;
};

}  // namespace warpcheck::vgpu
