// The emitters of instructions, by family: each decodes one instruction of the text into one or
// more instructions.
#pragma once

#include "vgpu/program/emit/emission.hpp"

namespace warpcheck::vgpu {

// out: already has the opcode, modifiers and guard of `in`.
using Emit = void (*)(Emission& e, const ptx::Instruction& in, Instr& out);

// data.cpp
void emit_compute(Emission& e, const ptx::Instruction& in, Instr& out);
// compositions.cpp: instructions that are split into several of emit_compute()
bool is_composed(const ptx::Instruction& in);
void emit_composed(Emission& e, const ptx::Instruction& in, Instr& out);
// data.cpp
void emit_mov(Emission& e, const ptx::Instruction& in, Instr& out);
void emit_memory(Emission& e, const ptx::Instruction& in, Instr& out);
// param_access.cpp: ld.param and st.param of variables
void emit_param_access(Emission& e, const ptx::Instruction& in, Instr& out);
// The same for a register or a constant that is a parameter: `row` is its first word row.
//   type: of the parameter
void emit_param_value(Emission& e, const ptx::Instruction& in, const ptx::Operand& value,
                      ptx::Type type, std::uint32_t row, bool is_load);
// Copies a parameter to other rows, unless they are the same.
void emit_param_copy(Emission& e, const ptx::Instruction& in, std::uint32_t to, std::uint32_t from,
                     std::uint32_t words);
// The entry and the returns of a function whose parameters or results are registers.
void emit_register_parameters(Emission& e);
void emit_register_results(Emission& e, const Instr& base);
// atomic.cpp
void emit_atomic(Emission& e, const ptx::Instruction& in, Instr& out);
void emit_quad_mov(Emission& e, const ptx::Instruction& in);
void emit_quad_memory(Emission& e, const ptx::Instruction& in, Instr& out);
void emit_cache_control(Emission& e, const ptx::Instruction& in, Instr& out);
// video.cpp
void emit_video(Emission& e, const ptx::Instruction& in, Instr& out);
// sync.cpp
void emit_warp_operation(Emission& e, const ptx::Instruction& in, Instr& out);
void emit_barrier(Emission& e, const ptx::Instruction& in, Instr& out);
void emit_barrier_object(Emission& e, const ptx::Instruction& in, Instr& out);
void emit_copy(Emission& e, const ptx::Instruction& in, Instr& out);
void emit_fence(Emission& e, const ptx::Instruction& in, Instr& out);
// texture.cpp
void emit_texture(Emission& e, const ptx::Instruction& in, Instr& out);
// cluster.cpp
void emit_cluster_barrier(Emission& e, const ptx::Instruction& in, Instr& out);
void emit_bulk(Emission& e, const ptx::Instruction& in, Instr& out);
void emit_bulk_zeros(Emission& e, const ptx::Instruction& in, Instr& out);
// tensor.cpp
void emit_tensor_map(Emission& e, const ptx::Instruction& in, Instr& out);
void emit_tensor_copy(Emission& e, const ptx::Instruction& in, Instr& out);
void emit_prefetch(Emission& e, const ptx::Instruction& in, Instr& out);  // in bulk
void emit_async_store(Emission& e, const ptx::Instruction& in, Instr& out);
void emit_mapping(Emission& e, const ptx::Instruction& in, Instr& out);
void emit_rank(Emission& e, const ptx::Instruction& in, Instr& out);
void emit_space_test(Emission& e, const ptx::Instruction& in, Instr& out);
// multimem.cpp
void emit_multimem(Emission& e, const ptx::Instruction& in, Instr& out);
// matrix.cpp
void emit_matrix(Emission& e, const ptx::Instruction& in, Instr& out);
// launch_control.cpp
void emit_launch_control(Emission& e, const ptx::Instruction& in, Instr& out);
// tensor_memory.cpp
void emit_tensor_memory(Emission& e, const ptx::Instruction& in, Instr& out);
// warpgroup.cpp
void emit_warpgroup(Emission& e, const ptx::Instruction& in, Instr& out);
// calls.cpp
void emit_call(Emission& e, const ptx::Instruction& in, Instr& out);
void emit_stack(Emission& e, const ptx::Instruction& in, Instr& out);
// branches.cpp
void emit_branch(Emission& e, const ptx::Instruction& in, Instr& out);
void emit_jump_table(Emission& e, const ptx::Instruction& in, Instr& out);
void emit_end(Emission& e, const ptx::Instruction& in, Instr& out);  // ret, exit, trap, brkpt
void emit_sleep(Emission& e, const ptx::Instruction& in, Instr& out);
void emit_nothing(Emission& e, const ptx::Instruction& in, Instr& out);

}  // namespace warpcheck::vgpu
