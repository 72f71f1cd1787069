// Rows of registers that vectors of the host hold, within a block of straight code.
//
// What an instruction computes stays in vectors for those of the block that read it.  Its row in
// memory is written at once if somebody may read it behind the block, and else not at all, unless a
// call comes in between: what is called sees rows in memory alone.
#pragma once

#include <cstdint>
#include <vector>

#include "vgpu/machine/native/live_rows.hpp"
#include "vgpu/program/program.hpp"

namespace warpcheck::vgpu::native {

// A row in consecutive vectors, or one that is as a row of constants is.
struct CachedRow {
  Ref row;
  Ref constant{};           // absent: it is in vectors
  std::uint32_t first = 0;  // number of its first vector
  bool is_stored = false;   // the row in memory is the same
  friend bool operator==(const CachedRow&, const CachedRow&) = default;
};

// What becomes of a row that the current instruction computes.
struct RowPlan {
  CachedRow row;
  bool is_cached = false;
  bool is_stored = false;
};

class RowCache {
 public:
  //   first_vector, vectors: those that may be taken
  //   vector_bytes: of one
  RowCache(const std::vector<Instr>& code, const LiveRows& live, std::uint32_t first_vector,
           std::uint32_t vectors, std::uint32_t vector_bytes)
      : code_(code),
        live_(live),
        first_vector_(first_vector),
        vectors_(vectors),
        vector_bytes_(vector_bytes) {}

  // What is known at one place of the code.
  struct State {
    std::uint32_t pc = 0, end = 0;  // of the current instruction and its block
    std::vector<CachedRow> before;  // before it
    std::vector<CachedRow> rows;    // of them, those that have not given up their vectors
    std::vector<RowPlan> plans;     // of its results
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
  // Of the rows there are now, forgets those that no further instruction of the block reads.
  void end_instruction();
  // What a source of the current instruction is in; null: memory.
  [[nodiscard]] const CachedRow* find(const Ref& row) const;
  // Of a row that the current instruction computes.
  //   make_room(row): stores one that has to give up its vectors
  template <class MakeRoom>
  RowPlan plan(const Ref& row, MakeRoom make_room) {
    for (const RowPlan& plan : state.plans) {
      if (plan.row.row == row) return plan;
    }
    RowPlan plan{.row = {.row = row}, .is_stored = outlasts_block(row)};
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
  // Of one that is as a row of constants is.
  RowPlan plan_constant(const Ref& row, const Ref& constant);
  // Results of the current instruction that have been as rows of constants are, which they can no
  // longer be: those that are not stored.
  std::vector<CachedRow> take_constant_results();
  // Whether somebody may read what the row holds before the current instruction.
  [[nodiscard]] bool is_read(const Ref& row) const { return live_.is_live(state.pc, row); }
  // Whether somebody may read one of those that the instruction at `pc` computes.
  [[nodiscard]] bool has_reader(std::uint32_t pc) const;
  [[nodiscard]] std::uint32_t parts(const Ref& row) const {
    return (row.bank == Bank::wide ? kWideRowBytes : kWordRowBytes) / vector_bytes_;
  }

 private:
  // The next instruction of the block that reads what the current one leaves there; kNone: none.
  [[nodiscard]] std::uint32_t next_use(const Ref& row) const;
  // Whether somebody may read that behind the block.
  [[nodiscard]] bool outlasts_block(const Ref& row) const;
  // Gives it vectors.  False: there are too few.
  bool place(RowPlan& plan) const;
  // The cached row that is read last; null: the current instruction reads all.
  [[nodiscard]] CachedRow* find_victim();

  const std::vector<Instr>& code_;
  const LiveRows& live_;
  std::uint32_t first_vector_, vectors_, vector_bytes_;
};

}  // namespace warpcheck::vgpu::native
