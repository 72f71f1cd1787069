// The state of emitting one function.  Internal to vgpu/program.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <string>
#include <vector>

#include "vgpu/program/emit.hpp"

namespace warpcheck::vgpu {

// Until the frame's size is known, rows of words beyond it (outgoing `.param` variables) are
// marked: kOutgoingRow in row numbers, kOutgoing in offsets.
inline constexpr std::uint32_t kOutgoingRow = 0x4000'0000u;
inline constexpr std::uint32_t kOutgoing = 0x8000'0000u;

// Where `.param` variables of a function lie: rows of words from the start of its frame, results
// first.  A caller writes them just beyond its own frame, where its callee's begins.
struct ParamRows {
  std::vector<std::uint32_t> result_row, parameter_row;
  std::uint32_t rows = 0;
};
// variadic_bytes: of a parameter of which the declaration does not say the size.
ParamRows lay_out_param_rows(const CallShape& shape, std::uint64_t variadic_bytes);

class Emitter {
 public:
  Emitter(std::uint32_t instance, Layout& layout, ConstantRows& constants, Program& program);
  void run();
  // For a function without a body that can run: says so when it is called.
  void run_refusal();

 private:
  using Kind = ptx::Operand::Kind;

  // emit_calls.cpp
  void place_outgoing();
  void bind_outgoing(const ptx::Instruction& call, const CallShape& shape,
                     const std::string& callee);
  void place_builtin(const ptx::Instruction& call, const Builtin& builtin);
  // The local `.param` variable that stands in a call's list of results or arguments.
  std::uint32_t param_local(const ptx::Instruction& call, const ptx::Operand& part) const;
  void place_parameters_with_address();
  void store_parameters_with_address();
  void emit_call(const ptx::Instruction& in, Instr& out);
  void emit_builtin(const ptx::Instruction& in, const Builtin& builtin);
  void emit_stack(const ptx::Instruction& in, Instr& out);
  [[nodiscard]] std::vector<std::uint32_t> targets_of(const ptx::Instruction& in) const;  // blocks
  void emit_jump_table(const ptx::Instruction& in, Instr& out);

  // emit.cpp: structure
  void find_blocks();
  void emit_block(std::uint32_t block, std::uint32_t next_block);
  void finish(std::uint32_t first_pc);

  // emit.cpp: one instruction
  void emit_or_refuse(const ptx::Instruction& in);
  void push_refusal(Instr& out, const std::string& why);
  void emit(const ptx::Instruction& in);
  // Refuses a compute instruction that forms.def does not list.
  void require_form(const ptx::Instruction& in) const;
  void emit_control(const ptx::Instruction& in, Instr& out);
  void emit_fence(const ptx::Instruction& in, Instr& out) const;
  void emit_branch(const ptx::Instruction& in, std::uint32_t next_block);

  // emit_data.cpp
  void emit_mov(const ptx::Instruction& in, Instr& out);
  void emit_memory(const ptx::Instruction& in, Instr& out);
  void emit_param_access(const ptx::Instruction& in, Instr& out);
  void emit_param_element(const ptx::Instruction& in, const Instr& base, Ref value,
                          std::uint32_t row, std::uint32_t byte, bool is_load);
  void load_param_word(const Instr& base, Ref word, std::uint32_t row, std::uint32_t byte,
                       ptx::Type type);
  void store_param_word(const Instr& base, Ref word, std::uint32_t row, std::uint32_t byte,
                        std::uint32_t bytes);
  // A compute instruction that stands for a part of `base`.
  void push_compute(const Instr& base, ptx::Opcode opcode, ptx::Type type, ptx::Type from,
                    const ComputeRows& rows, std::uint8_t vector = 1);
  void emit_compute(const ptx::Instruction& in, Instr& out);

  // emit_atomic.cpp
  void emit_atomic(const ptx::Instruction& in, Instr& out);
  void emit_vector_atomic(const ptx::Instruction& in, Instr& out);
  void emit_cache_control(const ptx::Instruction& in, Instr& out);
  void emit_quad_mov(const ptx::Instruction& in);
  void emit_quad_memory(const ptx::Instruction& in, Instr& out);
  // The first of the two rows of a .b128 register; none for the sink.
  Ref quad(const ptx::Instruction& in, const ptx::Operand& operand) const;

  // emit_video.cpp
  void emit_video(const ptx::Instruction& in, Instr& out);

  // emit_sync.cpp
  void emit_warp_operation(const ptx::Instruction& in, Instr& out);
  void emit_barrier(const ptx::Instruction& in, Instr& out);
  void emit_barrier_object(const ptx::Instruction& in, Instr& out);
  void emit_pending_count(const ptx::Instruction& in, const Instr& base);
  void emit_copy(const ptx::Instruction& in, Instr& out);

  // emit_texture.cpp
  void emit_texture(const ptx::Instruction& in, Instr& out);
  void emit_fetch(const ptx::Instruction& in, TextureInstr& out);
  void emit_surface_access(const ptx::Instruction& in, TextureInstr& out);
  void place_coordinates(const ptx::Instruction& in, const ptx::Operand& place, ptx::Type type,
                         TextureInstr& out);
  std::array<Ref, 3> vector_operand(const ptx::Instruction& in, const ptx::Operand& operand,
                                    const TextureInstr& out);
  // emit_cluster.cpp
  void emit_cluster_barrier(const ptx::Instruction& in, Instr& out);
  void emit_bulk(const ptx::Instruction& in, Instr& out);
  void emit_async_store(const ptx::Instruction& in, Instr& out);
  void emit_mapping(const ptx::Instruction& in, Instr& out);
  void emit_rank(const ptx::Instruction& in, Instr& out);
  void emit_is_shared(const ptx::Instruction& in, Instr& out);
  Ref address_row(const ptx::Instruction& in, const ptx::Operand& operand);
  Ref cluster_rank(const ptx::Instruction& in);

  // emit_matrix.cpp
  // wmma.load, wmma.store: the lanes' shares of a matrix in memory.
  struct Fragment {
    ptx::Space space = ptx::Space::generic;
    std::uint32_t bits = 0;                     // of an element
    bool is_wide = false;                       // registers of 64 bits
    std::uint32_t registers = 0, per_lane = 0;  // of a lane, and its elements
    std::uint32_t lanes_per_line = 1;           // a line: a row, or a column of b
    bool contiguous = true;                     // neighbours in a line are so in memory
    bool is_load = true;
    Ref stride;  // from line to line, or between neighbours, in elements
  };
  static constexpr InstrKind kMeetingKind = InstrKind::warp_sync;
  void emit_matrix(const ptx::Instruction& in);
  void emit_product(const ptx::Instruction& in);
  void emit_fragment(const ptx::Instruction& in);
  void access_fragment(const ptx::Instruction& in, const Fragment& fragment);
  void emit_matrix_rows(const ptx::Instruction& in);
  void emit_transposition(const ptx::Instruction& in);
  Ref calculate(const ptx::Instruction& in, ptx::Opcode opcode, ptx::Modifiers modifiers,
                std::initializer_list<Ref> sources, Bank bank);
  Ref calculate(const ptx::Instruction& in, ptx::Opcode opcode, ptx::Type type,
                std::initializer_list<Ref> sources);
  void copy_row(const ptx::Instruction& in, Ref to, Ref from, bool guarded);
  Ref lane_number(const ptx::Instruction& in);
  Ref shuffled(const ptx::Instruction& in, Ref value, Ref lane);
  Ref shuffled_address(const ptx::Instruction& in, Ref address, Ref lane);
  void access_element(const ptx::Instruction& in, ptx::Space space, ptx::Type type, Ref address,
                      std::int64_t offset, Ref value, bool is_load);
  Ref joined(const ptx::Instruction& in, Ref whole, Ref element, std::uint32_t shift);
  Ref shifted_down(const ptx::Instruction& in, Ref whole, std::uint32_t shift);

  // operands.cpp
  Ref source(const ptx::Instruction& in, const ptx::Operand& operand, ptx::Type type);
  Ref destination(const ptx::Instruction& in, const ptx::Operand& operand);
  Ref immediate(const ptx::Operand& operand, ptx::Type type);
  Ref variable_address(const ptx::Instruction& in, const ptx::Operand& operand, bool is_wide);
  Ref address(const ptx::Instruction& in, const ptx::Operand& operand, Instr& out);
  // Of the byte at `offset` of the frame's local memory.
  Ref local_address(const ptx::Instruction& in, std::int64_t offset, bool is_wide);
  Ref temporary(Bank bank);
  // The first of some rows that lie side by side.
  Ref rows(Bank bank, std::uint32_t count);
  const ptx::Variable& variable(const ptx::VariableRef& ref) const;
  bool param_place(const ptx::Operand& operand, std::uint32_t& row) const;

  Instr begin(const ptx::Instruction& in);
  void push(const Instr& instruction) {
    using ptx::SpecialRegister;
    program_.has_grid_workspace |= instruction.special == SpecialRegister::envreg1;
    if (instruction.special == SpecialRegister::reserved_smem_offset_1) {
      program_.uses_reserved_shared = program_.uses_clusters = true;
    }
    program_.code.push_back(instruction);
  }
  [[noreturn]] void refuse(const ptx::Instruction& in, const std::string& why) const;

  const Instance& instance_;
  std::uint32_t index_;
  const ptx::Function& function_;
  Layout& layout_;
  ConstantRows& constants_;
  Program& program_;

  std::vector<Ref> rows_;  // of function_.registers
  std::uint32_t words_ = 0, wides_ = 0, predicates_ = 0, local_bytes_ = 0;
  Ref carry_{};  // the condition code register CC.CF
  ParamRows own_;
  // Local index -> row of a call's `.param` variable: in the callee (marked), or, of a builtin,
  // in this frame.
  std::map<std::uint32_t, std::uint32_t> outgoing_row_;
  std::map<std::uint32_t, std::uint32_t> local_offset_;  // local index -> byte in local memory
  // Parameter index -> byte in local memory, of parameters whose address is taken.
  std::map<std::uint32_t, std::uint32_t> parameter_offset_;
  std::uint32_t outgoing_words_ = 0;        // rows
  std::vector<std::uint32_t> jump_tables_;  // indices into Program::jump_tables

  std::vector<std::uint32_t> block_start_;  // first instruction of each block
  std::vector<std::vector<std::uint32_t>> successors_;
  std::vector<std::uint32_t> block_of_;  // of each body position
  std::vector<std::uint32_t> block_pc_;
  struct Fixup {
    std::uint32_t pc, block;
  };
  std::vector<Fixup> fixups_;
  std::uint32_t at_ = 0;  // position in the body, for calls
  std::uint32_t next_block_ = ptx::kNone;
};

}  // namespace warpcheck::vgpu
