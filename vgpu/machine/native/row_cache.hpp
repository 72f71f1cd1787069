// The row cache: which register rows are in the host's vector registers, within a basic block.
//
// The result of an instruction stays in vector registers for later instructions of the block.  Its
// row in memory is written at once if the value may be read after the block, and otherwise only
// before a call, because called functions read rows in memory.
#pragma once

#include <cstdint>
#include <vector>

#include "vgpu/machine/native/flow/live_rows.hpp"
#include "vgpu/program/program.hpp"

namespace warpcheck::vgpu::native {

// A row in consecutive vector registers; one that is the same in all lanes, in a single vector
// register; or one that equals a row of constants.
struct CachedRow {
  Ref row;
  Ref constant{};           // absent: it is in vector registers
  std::uint32_t first = 0;  // number of its first vector register
  bool is_uniform = false;  // there is only that one
  bool is_stored = false;   // the row in memory has the same value
  friend bool operator==(const CachedRow&, const CachedRow&) = default;
};

// The destination of a row that the current instruction computes: a vector register, memory, or
// both.
struct RowPlan {
  CachedRow row;
  bool is_cached = false;
  bool is_stored = false;
};

class RowCache {
 public:
  //   first_vector, vectors: the vector registers that may be used
  //   vector_bytes: size of one
  RowCache(const std::vector<Instr>& code, const LiveRows& live, std::uint32_t first_vector,
           std::uint32_t vectors, std::uint32_t vector_bytes)
      : code_(code),
        live_(live),
        first_vector_(first_vector),
        vectors_(vectors),
        vector_bytes_(vector_bytes) {}

  // The state at one place of the code.
  struct State {
    std::uint32_t pc = 0, end = 0;  // of the current instruction and its block
    std::vector<CachedRow> before;  // rows before the instruction
    std::vector<CachedRow> rows;    // those of them that still have their vector registers
    std::vector<RowPlan> plans;     // for its results
  };
  State state;

  void begin_block(std::uint32_t end) {
    state = {};
    state.end = end;
  }
  void begin_instruction(std::uint32_t pc) {
    state.pc = pc;
    state.before = state.rows;
  }
  // Drops the rows that no further instruction of the block reads.
  void end_instruction();
  // Returns where a source of the current instruction is; null: in memory.
  [[nodiscard]] const CachedRow* find(const Ref& row) const;
  // Plans a row that the current instruction computes.
  //   uniform: the same value for all lanes
  //   make_room(row): stores a row that has to give up its vector registers
  template <class MakeRoom>
  RowPlan plan(const Ref& row, bool uniform, MakeRoom make_room) {
    for (const RowPlan& plan : state.plans) {
      if (plan.row.row == row) return plan;
    }
    RowPlan plan{.row = {.row = row, .is_uniform = uniform}, .is_stored = outlasts_block(row)};
    if (next_use(row) != ptx::kNone) {
      while (!place(plan)) {
        CachedRow* const victim = find_victim();
        if (victim == nullptr) break;
        make_room(*victim);
        state.rows.erase(state.rows.begin() + (victim - state.rows.data()));
      }
      plan.is_stored |= !plan.is_cached;
    }
    plan.row.is_stored = plan.is_stored;
    state.plans.push_back(plan);
    return plan;
  }
  // Plans a row that equals a row of constants.
  RowPlan plan_constant(const Ref& row, const Ref& constant);
  // Returns results of the current instruction that equalled rows of constants or were uniform, no
  // longer are, and are not stored.
  std::vector<CachedRow> take_uniform_results();
  // Returns whether the row's value before the current instruction may be read.
  [[nodiscard]] bool is_read(const Ref& row) const { return live_.is_live(state.pc, row); }
  // Returns whether a result of the instruction at `pc` may be read.
  [[nodiscard]] bool has_reader(std::uint32_t pc) const;
  // The number of vectors of a row in memory.
  [[nodiscard]] std::uint32_t parts(const Ref& row) const {
    return (row.bank == Bank::wide ? kWideRowBytes : kWordRowBytes) / vector_bytes_;
  }
  // The number of vector registers of a row that is in such registers.
  [[nodiscard]] std::uint32_t registers(const CachedRow& cached) const {
    return cached.is_uniform ? 1 : parts(cached.row);
  }

 private:
  // Returns the next instruction of the block that reads the current result in `row`; kNone: none.
  [[nodiscard]] std::uint32_t next_use(const Ref& row) const;
  // Returns whether that result may be read after the block.
  [[nodiscard]] bool outlasts_block(const Ref& row) const;
  // Assigns vector registers to it.  False: there are too few.
  bool place(RowPlan& plan) const;
  // Returns the cached row that is read last; null: the current instruction reads all of them.
  [[nodiscard]] CachedRow* find_victim();

  const std::vector<Instr>& code_;
  const LiveRows& live_;
  std::uint32_t first_vector_, vectors_, vector_bytes_;
};

}  // namespace warpcheck::vgpu::native
