#include "vgpu/differential/reference/reference.hpp"

#include <algorithm>
#include <bit>
#include <optional>
#include <utility>

#include "vgpu/differential/random/random_program.hpp"
#include "vgpu/differential/reference/reference_arithmetic.hpp"
#include "vgpu/differential/reference/reference_atomics.hpp"
#include "vgpu/differential/reference/reference_meetings.hpp"
#include "vgpu/differential/reference/reference_memory.hpp"
#include "vgpu/ptx/opcode.hpp"

namespace warpcheck::vgpu {
namespace {

using ptx::Opcode;
using Kind = ptx::Operand::Kind;
using Scope = ptx::VariableRef::Scope;
using Bytes = ReferenceMemory::Bytes;

constexpr std::uint64_t kFunctions = 0x8000'0000'0000;  // address of function i: kFunctions + i

// The state that all threads of the block share.
struct Block {
  const ptx::Module& module;
  std::uint32_t threads;
  ReferenceMemory memory{};
  std::vector<std::uint64_t> variables{};                  // addresses of the module's variables
  std::map<const ptx::Variable*, std::uint64_t> shared{};  // shared variables of functions
};

struct Frame {
  const ptx::Function& function;
  std::uint32_t at = 0;
  bool carry = false;
  std::vector<std::uint64_t> registers{};
  std::vector<Bytes> arguments{};
  Bytes result{};
  std::vector<Bytes> variables{};              // locals in .param
  std::vector<std::uint64_t> local_address{};  // of the others
};

class Thread {
 public:
  Thread(Block& block, std::uint32_t index) : block_(block), index_(index) {
    Bytes parameter(8);
    std::memcpy(parameter.data(), &block.variables.back(), 8);
    enter(*block.module.find_function("k"), {parameter});
  }

  [[nodiscard]] bool has_ended() const { return frames_.empty(); }
  // Returns where it waits for others; empty: it does not wait.
  [[nodiscard]] const std::optional<ReferenceMeeting>& waits() const { return waits_; }
  void go_on(const ReferenceMeeting::Given& given) {
    for (std::size_t i = 0; i < given.size(); ++i) {
      if (given[i]) assign(waits_->results.at(i), *given[i]);
    }
    waits_.reset();
    ++frame().at;
  }

  // Runs until it waits or ends.
  void run() {
    while (!has_ended() && !waits_) step();
  }

 private:
  Frame& frame() { return frames_.back(); }
  const ptx::Instruction& instruction() { return frame().function.body[frame().at]; }

  void enter(const ptx::Function& function, std::vector<Bytes> arguments) {
    Frame frame{.function = function};
    frame.registers.resize(function.registers.size());
    frame.arguments = std::move(arguments);
    frame.result.resize(function.results.empty() ? 0 : function.results[0].bytes);
    for (const ptx::Variable& variable : function.locals) {
      std::uint64_t address = 0;
      if (variable.space == ptx::Space::local) address = block_.memory.add(Bytes(variable.bytes));
      if (variable.space == ptx::Space::shared) {
        const auto [found, is_new] = block_.shared.try_emplace(&variable);
        if (is_new) found->second = block_.memory.add(Bytes(variable.bytes));
        address = found->second;
      }
      frame.local_address.push_back(address);
      frame.variables.emplace_back(variable.bytes);
    }
    frames_.push_back(std::move(frame));
  }

  void leave() {
    Frame& left = frame();
    for (std::size_t i = 0; i < left.local_address.size(); ++i) {
      if (left.function.locals[i].space == ptx::Space::local) {
        block_.memory.remove(left.local_address[i]);
      }
    }
    const Bytes result = std::move(left.result);
    frames_.pop_back();
    if (frames_.empty()) return;
    const ptx::Instruction& call = frame().function.body[frame().at++];
    if (!call.operands[0].parts.empty()) parameter(call.operands[0].parts[0].variable) = result;
  }

  void step() {
    Frame& frame = this->frame();
    if (frame.at >= frame.function.body.size()) return leave();
    const ptx::Instruction& in = instruction();
    if (in.guard != ptx::kNone && (frame.registers[in.guard] != 0) == in.guard_negated) {
      ++frame.at;
      return;
    }
    const auto& labels = frame.function.labels;
    switch (in.opcode) {
      case Opcode::ret_: return leave();
      case Opcode::exit_: return frames_.clear();
      case Opcode::bra_: frame.at = labels[in.operands[0].index].position; return;
      case Opcode::brx_: {
        const auto& list = frame.function.branch_targets[in.operands[1].index].labels;
        frame.at = labels[list.at(value(in.operands[0]))].position;
        return;
      }
      case Opcode::call_: return run_call(in);
      case Opcode::bar_:
      case Opcode::barrier_:
      case Opcode::shfl_:
      case Opcode::vote_:
      case Opcode::match_:
      case Opcode::redux_: return wait(in);
      case Opcode::ld_: load(in); break;
      case Opcode::st_: store(in); break;
      case Opcode::atom_:
      case Opcode::red_: atomic(in); break;
      case Opcode::cvta_: assign(in.operands[0], value(in.operands[1])); break;
      default: compute(in); break;
    }
    ++frame.at;
  }

  void wait(const ptx::Instruction& in) {
    ReferenceMeeting meeting{.instruction = &in};
    const bool has_result = in.operands[0].kind == Kind::reg || in.operands[0].kind == Kind::vector;
    const bool is_barrier = in.opcode == Opcode::bar_ || in.opcode == Opcode::barrier_;
    const std::size_t results = has_result && (!is_barrier || in.modifiers.red) ? 1 : 0;
    if (results == 1) {
      const ptx::Operand& first = in.operands[0];
      meeting.results = first.kind == Kind::vector ? first.parts : std::vector{first};
    }
    for (std::size_t i = results; i < in.operands.size(); ++i) {
      meeting.sources.push_back(value(in.operands[i]));
    }
    waits_ = std::move(meeting);
  }

  void compute(const ptx::Instruction& in) {
    if (ptx::bytes_of(in.modifiers.type) > 8) throw std::logic_error(in.text);
    ReferenceOperands operands;
    const ptx::Operand& to = in.operands[0];
    std::size_t count = 0;
    for (std::size_t i = 1; i < in.operands.size(); ++i) {
      const ptx::Operand& operand = in.operands[i];
      if (operand.kind != Kind::vector) {
        operands.source.at(count++) = value(operand);
        continue;
      }
      // The elements of a vector are adjacent bits.
      const unsigned bits =
          ptx::bytes_of(in.modifiers.type) * 8 / static_cast<unsigned>(operand.parts.size());
      for (std::size_t part = 0; part < operand.parts.size(); ++part) {
        operands.source[0] |= value(operand.parts[part]) << (part * bits);
      }
    }
    operands.carry_in = frame().carry;
    const std::uint64_t result = reference_result(in, operands);
    if (in.modifiers.carry_out) frame().carry = operands.carry_out;
    if (to.kind != Kind::vector) return assign(to, result);
    if (to.pair) {
      assign(to.parts[0], result);
      assign(to.parts[1], operands.second_result);
      return;
    }
    const unsigned bits =
        ptx::bytes_of(in.modifiers.type) * 8 / static_cast<unsigned>(to.parts.size());
    for (std::size_t part = 0; part < to.parts.size(); ++part) {
      assign(to.parts[part], result >> (part * bits));
    }
  }

  std::uint64_t value(const ptx::Operand& operand) {
    switch (operand.kind) {
      case Kind::reg: {
        const std::uint64_t bits = frame().registers[operand.index];
        return operand.negated ? bits ^ 1 : bits;
      }
      case Kind::immediate: return operand.bits;
      case Kind::special:
        return operand.special == ptx::SpecialRegister::tid_x ? index_ : index_ % 32;
      case Kind::variable:
        if (operand.variable.scope == Scope::module) {
          return block_.variables.at(operand.variable.index);
        }
        return frame().local_address.at(operand.variable.index);
      default: throw std::logic_error(instruction().text);
    }
  }

  void assign(const ptx::Operand& operand, std::uint64_t bits) {
    if (operand.kind == Kind::sink) return;
    const ptx::Type type = frame().function.registers.at(operand.index).type;
    if (type == ptx::Type::pred) bits &= 1;
    const unsigned width = ptx::bytes_of(type) * 8;
    if (type != ptx::Type::pred && width < 64) bits &= (std::uint64_t{1} << width) - 1;
    frame().registers[operand.index] = bits;
  }

  // Returns the bytes of a `.param` variable.
  Bytes& parameter(const ptx::VariableRef& ref) {
    if (ref.scope == Scope::parameter) return frame().arguments.at(ref.index);
    if (ref.scope == Scope::result) return frame().result;
    return frame().variables.at(ref.index);
  }

  std::uint64_t address_of(const ptx::Operand& place) {
    const std::uint64_t base = place.index != ptx::kNone
                                   ? frame().registers[place.index]
                                   : block_.variables.at(place.variable.index);
    return base + static_cast<std::uint64_t>(place.offset);
  }

  void load(const ptx::Instruction& in) {
    const ptx::Operand& to = in.operands[0];
    const ptx::Operand& place = in.operands[1];
    const std::size_t bytes = ptx::bytes_of(in.modifiers.type);
    const std::vector<ptx::Operand> parts = to.kind == Kind::vector ? to.parts : std::vector{to};
    for (std::size_t i = 0; i < parts.size(); ++i) {
      std::uint64_t bits = 0;
      if (in.modifiers.space == ptx::Space::param) {
        std::memcpy(&bits, parameter(place.variable).data() + place.offset, bytes);
      } else {
        bits = block_.memory.load(address_of(place) + i * bytes, bytes);
      }
      if (ptx::is_signed(in.modifiers.type)) {
        const auto unused = static_cast<unsigned>(64 - 8 * bytes);
        bits = static_cast<std::uint64_t>(static_cast<std::int64_t>(bits << unused) >> unused);
      }
      assign(parts[i], bits);
    }
  }

  void store(const ptx::Instruction& in) {
    const ptx::Operand& place = in.operands[0];
    const ptx::Operand& from = in.operands[1];
    const std::size_t bytes = ptx::bytes_of(in.modifiers.type);
    if (in.modifiers.space == ptx::Space::param) {
      const std::uint64_t bits = value(from);
      std::memcpy(parameter(place.variable).data() + place.offset, &bits, bytes);
      return;
    }
    const std::vector<ptx::Operand> parts =
        from.kind == Kind::vector ? from.parts : std::vector{from};
    for (std::size_t i = 0; i < parts.size(); ++i) {
      block_.memory.store(address_of(place) + i * bytes, bytes, value(parts[i]));
    }
  }

  void atomic(const ptx::Instruction& in) {
    const std::size_t first = in.opcode == Opcode::atom_ ? 1 : 0;
    const std::uint64_t address = address_of(in.operands[first]);
    const std::size_t bytes = ptx::bytes_of(in.modifiers.type);
    const std::uint64_t old = block_.memory.load(address, bytes);
    const bool is_cas = in.modifiers.atom_op == ptx::AtomOp::cas;
    const std::uint64_t c = is_cas ? value(in.operands[first + 2]) : 0;
    block_.memory.store(address, bytes,
                        reference_atomic(in.modifiers, old, value(in.operands[first + 1]), c));
    if (first == 1) assign(in.operands[0], old);
  }

  void run_call(const ptx::Instruction& in) {
    const ptx::Operand& callee = in.operands[1];
    const ptx::Function& function =
        callee.kind == Kind::function
            ? *block_.module.find_function(callee.name)
            : block_.module.functions.at(frame().registers[callee.index] - kFunctions);
    std::vector<Bytes> arguments;
    for (const ptx::Operand& argument : in.operands[2].parts) {
      arguments.push_back(parameter(argument.variable));
    }
    enter(function, std::move(arguments));
  }

  Block& block_;
  std::uint32_t index_;
  std::vector<Frame> frames_;
  std::optional<ReferenceMeeting> waits_;
};

// Places the module's variables and, as the last one, the result buffer.
void place_variables(Block& block) {
  for (const ptx::Variable& variable : block.module.variables) {
    Bytes bytes = variable.initial;
    bytes.resize(variable.bytes);
    for (const ptx::Variable::Relocation& relocation : variable.relocations) {
      const auto* const function = block.module.find_function(relocation.symbol);
      const std::uint64_t address =
          kFunctions + static_cast<std::uint64_t>(function - block.module.functions.data());
      std::memcpy(bytes.data() + relocation.offset, &address, sizeof address);
    }
    block.variables.push_back(block.memory.add(std::move(bytes)));
  }
  Bytes buffer(buffer_bytes(block.threads));
  for (std::size_t i = 0; i < buffer.size(); ++i) buffer[i] = initial_byte(i);
  block.variables.push_back(block.memory.add(std::move(buffer)));
}

// Lets threads continue whose partners have all arrived.  Returns whether there were any.
bool let_meet(std::vector<Thread>& threads) {
  bool any = false;
  ReferenceMeetings meetings;
  for (std::uint32_t i = 0; i < threads.size(); ++i) {
    if (!threads[i].has_ended()) meetings.add(i, *threads[i].waits());
  }
  for (const auto& [thread, given] : meetings.complete()) {
    threads[thread].go_on(given);
    any = true;
  }
  return any;
}

}  // namespace

Result run_on_reference(const ptx::Module& module, std::uint32_t threads, std::string& unknown) {
  Block block{module, threads};
  place_variables(block);
  std::vector<Thread> all;
  for (std::uint32_t i = 0; i < threads; ++i) all.emplace_back(block, i);
  Result result;
  try {
    do {
      for (Thread& thread : all) thread.run();
    } while (let_meet(all));
  } catch (const std::logic_error& error) {
    unknown = error.what();
    return result;
  }
  if (std::any_of(all.begin(), all.end(), [](const Thread& t) { return !t.has_ended(); })) {
    result.problem = "threads wait for ever";
    return result;
  }
  result.bytes = block.memory.block(block.variables.back());
  return result;
}

}  // namespace warpcheck::vgpu
