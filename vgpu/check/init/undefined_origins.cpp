#include "vgpu/check/init/undefined_origins.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "vgpu/program/program.hpp"
#include "vgpu/ptx/opcode.hpp"

namespace warpcheck::vgpu {
namespace {

// Returns whether the instruction is the first that may read a register which nothing has written.
bool reads_variable(const Program& program, std::uint32_t pc) {
  return std::ranges::any_of(program.unwritten_registers, [&](const auto& of_function) {
    return std::ranges::find(of_function, pc, &UnwrittenRegister::first_read) != of_function.end();
  });
}

Origin::Kind kind_at(const Program& program, std::uint32_t pc) {
  if (reads_variable(program, pc)) return Origin::Kind::variable;
  if (program.code[pc].kind == InstrKind::group_pending) return Origin::Kind::product;
  const bool is_shuffle = program.code[pc].opcode == ptx::Opcode::shfl_;
  return is_shuffle ? Origin::Kind::shuffle : Origin::Kind::load;
}

}  // namespace

std::string Origin::source(const std::string& verb, int side) const {
  switch (kind) {
    case Kind::load: return "bytes that nothing " + verb;
    case Kind::shuffle:
      return fmt::format(
          "the register of a lane that takes no part in ({}): it is not in the mask, or has exited",
          side);
    case Kind::product:
      return fmt::format("the result of ({}), which wgmma.wait_group had not waited for", side);
    case Kind::variable: break;
  }
  return fmt::format("a variable that nothing {} before ({}) reads it", verb, side);
}

void UndefinedOrigins::add_load(const Access& access, std::uint32_t lanes, std::uint32_t earlier) {
  std::uint32_t index = find(access.program, access.pc);
  if (index == ptx::kNone) {
    const auto first = static_cast<unsigned>(__builtin_ctz(lanes));
    index = static_cast<std::uint32_t>(origins_.size());
    Origin& origin = add(access.program, access.pc, thread_of(access.place, first));
    origin.space = access.space;
    origin.object = describe_element(access, first);
    origin.variable = variable_of(*access.allocation, access.offset[first]);
  }
  origins_[index].place = access.place;
  origins_[index].lanes = lanes;
  origins_[index].earlier = earlier;
}

Origin& UndefinedOrigins::add(const Program* program, std::uint32_t pc, ThreadId first) {
  Origin& origin = origins_.emplace_back();
  origin.program = program;
  origin.pc = pc;
  const CodePlace place = reporter_.place_of(*program, pc, first);
  origin.block = place.block;
  origin.thread = place.thread;
  return origin;
}

std::uint32_t UndefinedOrigins::find(const Program* program, std::uint32_t pc) const {
  const auto found = std::ranges::find_if(
      origins_, [&](const Origin& origin) { return origin.program == program && origin.pc == pc; });
  return found == origins_.end() ? ptx::kNone
                                 : static_cast<std::uint32_t>(found - origins_.begin());
}

std::uint32_t UndefinedOrigins::of_use(const Program* program, std::uint32_t pc,
                                       const WarpPlace& place, std::uint32_t lanes) {
  const std::uint32_t known = find(program, pc);
  if (known != ptx::kNone || pc == ptx::kNone) return known;
  const Origin::Kind kind = kind_at(*program, pc);
  if (kind == Origin::Kind::load) return ptx::kNone;
  add(program, pc, thread_of(place, static_cast<unsigned>(__builtin_ctz(lanes)))).kind = kind;
  return static_cast<std::uint32_t>(origins_.size() - 1);
}

std::uint32_t UndefinedOrigins::of_operand(const LibraryOperand& operand) {
  const auto known = std::ranges::find_if(origins_, [&](const Origin& origin) {
    return origin.program == nullptr && origin.operand.call_site == operand.call_site &&
           origin.operand.number == operand.number;
  });
  if (known != origins_.end()) return static_cast<std::uint32_t>(known - origins_.begin());
  Origin& origin = origins_.emplace_back();
  origin.pc = static_cast<std::uint32_t>(origins_.size() - 1);
  origin.space = ptx::Space::global;
  origin.operand = operand;
  return origin.pc;
}

}  // namespace warpcheck::vgpu
