#include "vgpu/machine/undefined/undefined_origins.hpp"

#include "vgpu/program/program.hpp"
#include "vgpu/ptx/opcode.hpp"

#include <algorithm>

namespace warpcheck::vgpu {
namespace {

// Returns whether the instruction is the first that may read a register which nothing has written.
bool reads_variable(const Program& program, std::uint32_t pc) {
  return std::ranges::any_of(program.unwritten_registers, [&](const auto& of_function) {
    return std::ranges::find(of_function, pc, &UnwrittenRegister::first_read) != of_function.end();
  });
}

UndefinedOrigin::Kind kind_at(const Program& program, std::uint32_t pc) {
  if (reads_variable(program, pc)) return UndefinedOrigin::Kind::variable;
  if (program.code[pc].kind == InstrKind::group_pending) return UndefinedOrigin::Kind::product;
  const bool is_shuffle = program.code[pc].opcode == ptx::Opcode::shfl_;
  return is_shuffle ? UndefinedOrigin::Kind::shuffle : UndefinedOrigin::Kind::load;
}

}  // namespace

void UndefinedOrigins::add_load(const Access& access, std::uint32_t lanes, std::uint32_t earlier) {
  const std::uint32_t known = find(access.program, access.pc);
  UndefinedOrigin& origin = known != ptx::kNone
                                ? origins_[known]
                                : add({.program = access.program,
                                       .pc = access.pc,
                                       .place = access.place,
                                       .lane = static_cast<unsigned>(__builtin_ctz(lanes)),
                                       .load = &access});
  origin.place = access.place;
  origin.lanes = lanes;
  origin.earlier = earlier;
}

void UndefinedOrigins::add_tensor_memory(const Program& program, std::uint32_t pc,
                                         const WarpPlace& place, std::uint32_t lanes) {
  const std::uint32_t known = find(&program, pc);
  if (known == ptx::kNone) {
    add({.program = &program,
         .pc = pc,
         .place = place,
         .lane = static_cast<unsigned>(__builtin_ctz(lanes))})
        .kind = UndefinedOrigin::Kind::tensor_memory;
  }
  UndefinedOrigin& origin = known == ptx::kNone ? origins_.back() : origins_[known];
  origin.place = place;
  origin.lanes = lanes;
}

UndefinedOrigin& UndefinedOrigins::add(const UndefinedValuesListener::First& first) {
  UndefinedOrigin& origin = origins_.emplace_back();
  origin.program = first.program;
  origin.pc = first.pc;
  UndefinedValuesListener::First numbered = first;
  numbered.index = static_cast<std::uint32_t>(origins_.size() - 1);
  if (listener_ != nullptr) listener_->on_origin(numbered);
  return origin;
}

std::uint32_t UndefinedOrigins::find(const Program* program, std::uint32_t pc) const {
  const auto found = std::ranges::find_if(origins_, [&](const UndefinedOrigin& origin) {
    return origin.program == program && origin.pc == pc;
  });
  return found == origins_.end() ? ptx::kNone
                                 : static_cast<std::uint32_t>(found - origins_.begin());
}

std::uint32_t UndefinedOrigins::of_use(const Program* program, std::uint32_t pc,
                                       const WarpPlace& place, std::uint32_t lanes) {
  const std::uint32_t known = find(program, pc);
  if (known != ptx::kNone || pc == ptx::kNone) return known;
  const UndefinedOrigin::Kind kind = kind_at(*program, pc);
  if (kind == UndefinedOrigin::Kind::load) return ptx::kNone;
  add({.program = program,
       .pc = pc,
       .place = place,
       .lane = static_cast<unsigned>(__builtin_ctz(lanes))})
      .kind = kind;
  return static_cast<std::uint32_t>(origins_.size() - 1);
}

std::uint32_t UndefinedOrigins::of_operand(std::uint64_t call_site, std::uint32_t operand) {
  const auto known = std::ranges::find_if(origins_, [&](const UndefinedOrigin& origin) {
    return origin.program == nullptr && origin.call_site == call_site && origin.operand == operand;
  });
  if (known != origins_.end()) return static_cast<std::uint32_t>(known - origins_.begin());
  UndefinedOrigin& origin = origins_.emplace_back();
  origin.pc = static_cast<std::uint32_t>(origins_.size() - 1);
  origin.call_site = call_site;
  origin.operand = operand;
  return origin.pc;
}

}  // namespace warpcheck::vgpu
