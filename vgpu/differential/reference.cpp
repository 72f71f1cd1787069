#include "vgpu/differential/reference.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>

#include "vgpu/differential/reference_arithmetic.hpp"

namespace warpcheck::vgpu {
namespace {

using ptx::Opcode;
using Kind = ptx::Operand::Kind;
using Scope = ptx::VariableRef::Scope;
using Bytes = std::vector<std::uint8_t>;

constexpr std::uint64_t kOut = 0x10000;      // the address of the results
constexpr std::uint64_t kTables = 0x100000;  // of variable i: kTables + i * kTableStep
constexpr std::uint64_t kTableStep = 0x1000;
constexpr std::uint64_t kFunctions = 0x800000;  // of function i: kFunctions + i

class Thread {
 public:
  Thread(const ptx::Module& module, std::uint32_t thread, Bytes& out)
      : module_(module), thread_(thread), out_(out) {}

  // Runs the function with these arguments; returns its result.
  Bytes call(const ptx::Function& function, const std::vector<Bytes>& arguments) {
    Frame frame{function, std::vector<std::uint64_t>(function.registers.size()), arguments, {}, {},
                false};
    frame.result.resize(function.results.empty() ? 0 : function.results[0].bytes);
    for (std::size_t i = 0; i < function.locals.size(); ++i) {
      frame.local_address.push_back(stack_.size());
      if (function.locals[i].space == ptx::Space::local) {
        stack_.resize(stack_.size() + function.locals[i].bytes);
      }
      frame.variables.emplace_back(function.locals[i].bytes);
    }
    const std::size_t top = frame.local_address.empty() ? stack_.size() : frame.local_address[0];
    std::uint32_t at = 0;
    while (at < function.body.size()) at = step(frame, at);
    stack_.resize(top);
    return frame.result;
  }

 private:
  struct Frame {
    const ptx::Function& function;
    std::vector<std::uint64_t> registers;
    std::vector<Bytes> arguments;
    Bytes result;
    std::vector<std::uint64_t> local_address;  // of locals in .local
    bool carry = false;
    std::vector<Bytes> variables{};  // locals in .param
  };

  // Executes one instruction; returns where the next one is.
  std::uint32_t step(Frame& frame, std::uint32_t at) {
    const ptx::Instruction& in = frame.function.body[at];
    const auto end = static_cast<std::uint32_t>(frame.function.body.size());
    if (in.guard != ptx::kNone && (frame.registers[in.guard] != 0) == in.guard_negated)
      return at + 1;
    switch (in.opcode) {
      case Opcode::ret_: return end;
      case Opcode::bra_: return frame.function.labels[in.operands[0].index].position;
      case Opcode::brx_: {
        const auto& list = frame.function.branch_targets[in.operands[1].index].labels;
        return frame.function.labels[list.at(value(frame, in.operands[0]))].position;
      }
      case Opcode::call_: run_call(frame, in); return at + 1;
      case Opcode::ld_: load(frame, in); return at + 1;
      case Opcode::st_: store(frame, in); return at + 1;
      default: compute(frame, in); return at + 1;
    }
  }

  void compute(Frame& frame, const ptx::Instruction& in) {
    ReferenceOperands operands;
    for (std::size_t i = 1; i < in.operands.size(); ++i) {
      operands.source.at(i - 1) = value(frame, in.operands[i]);
    }
    operands.carry_in = frame.carry;
    assign(frame, in.operands[0], reference_result(in, operands));
    if (in.modifiers.carry_out) frame.carry = operands.carry_out;
  }

  std::uint64_t value(const Frame& frame, const ptx::Operand& operand) const {
    switch (operand.kind) {
      case Kind::reg: {
        const std::uint64_t bits = frame.registers[operand.index];
        return operand.negated ? bits ^ 1 : bits;
      }
      case Kind::immediate: return operand.bits;
      case Kind::special: return thread_;  // %tid.x is all there is
      case Kind::variable:
        if (operand.variable.scope == Scope::module) {
          return kTables + operand.variable.index * kTableStep;
        }
        return frame.local_address.at(operand.variable.index);
      default: throw std::logic_error("the reference does not know an operand");
    }
  }

  static void assign(Frame& frame, const ptx::Operand& operand, std::uint64_t bits) {
    const ptx::Type type = frame.function.registers.at(operand.index).type;
    const unsigned width = ptx::bytes_of(type) * 8;
    if (width == 32) bits &= 0xffffffffu;
    frame.registers[operand.index] = bits;
  }

  // The bytes of a `.param` variable.
  static Bytes& parameter(Frame& frame, const ptx::VariableRef& ref) {
    if (ref.scope == Scope::parameter) return frame.arguments.at(ref.index);
    if (ref.scope == Scope::result) return frame.result;
    return frame.variables.at(ref.index);
  }

  void load(Frame& frame, const ptx::Instruction& in) {
    const ptx::Operand& place = in.operands[1];
    const std::size_t bytes = ptx::bytes_of(in.modifiers.type);
    std::uint64_t bits = 0;
    if (in.modifiers.space == ptx::Space::param) {
      std::memcpy(&bits, parameter(frame, place.variable).data() + place.offset, bytes);
    } else {
      const std::uint64_t address =
          frame.registers[place.index] + static_cast<std::uint64_t>(place.offset);
      if (in.modifiers.space == ptx::Space::local) {
        std::memcpy(&bits, &stack_.at(address), bytes);
      } else {
        bits = entry_at(address);
      }
    }
    assign(frame, in.operands[0], bits);
  }

  // Tables hold the addresses of functions.
  std::uint64_t entry_at(std::uint64_t address) const {
    const ptx::Variable& table = module_.variables.at((address - kTables) / kTableStep);
    for (const ptx::Variable::Relocation& relocation : table.relocations) {
      if (relocation.offset != (address - kTables) % kTableStep) continue;
      const ptx::Function* const function = module_.find_function(relocation.symbol);
      return kFunctions + static_cast<std::uint64_t>(function - module_.functions.data());
    }
    throw std::logic_error("the reference reads no such table");
  }

  void store(Frame& frame, const ptx::Instruction& in) {
    const ptx::Operand& place = in.operands[0];
    const std::size_t bytes = ptx::bytes_of(in.modifiers.type);
    const std::uint64_t bits = value(frame, in.operands[1]);
    if (in.modifiers.space == ptx::Space::param) {
      std::memcpy(parameter(frame, place.variable).data() + place.offset, &bits, bytes);
      return;
    }
    const std::uint64_t address =
        frame.registers[place.index] + static_cast<std::uint64_t>(place.offset);
    const bool is_local = in.modifiers.space == ptx::Space::local;
    Bytes& memory = is_local ? stack_ : out_;
    const std::uint64_t offset = is_local ? address : address - kOut;
    if (offset + bytes > memory.size()) throw std::logic_error("the reference stores nowhere");
    std::memcpy(memory.data() + offset, &bits, bytes);
  }

  void run_call(Frame& frame, const ptx::Instruction& in) {
    const ptx::Operand& callee = in.operands[1];
    const ptx::Function& function =
        callee.kind == Kind::function
            ? *module_.find_function(callee.name)
            : module_.functions.at(frame.registers[callee.index] - kFunctions);
    std::vector<Bytes> arguments;
    for (const ptx::Operand& argument : in.operands[2].parts) {
      arguments.push_back(parameter(frame, argument.variable));
    }
    const Bytes result = call(function, arguments);
    if (!in.operands[0].parts.empty()) parameter(frame, in.operands[0].parts[0].variable) = result;
  }

  const ptx::Module& module_;
  std::uint32_t thread_;
  Bytes& out_;
  Bytes stack_;
};

}  // namespace

std::vector<std::uint32_t> reference_results(const ptx::Module& module, std::uint32_t threads,
                                             std::uint32_t words) {
  Bytes out(std::size_t{threads} * words * 4);
  Bytes parameter(8);
  std::memcpy(parameter.data(), &kOut, 8);
  for (std::uint32_t thread = 0; thread < threads; ++thread) {
    Thread(module, thread, out).call(*module.find_function("k"), {parameter});
  }
  std::vector<std::uint32_t> results(out.size() / 4);
  std::memcpy(results.data(), out.data(), out.size());
  return results;
}

}  // namespace warpcheck::vgpu
