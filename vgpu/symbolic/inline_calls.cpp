#include "vgpu/symbolic/inline_calls.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "vgpu/ptx/opcode.hpp"
#include "vgpu/symbolic/flow_graph.hpp"

namespace warpcheck::vgpu::symbolic {
namespace {

using ptx::Instruction;
using ptx::Opcode;
using ptx::Operand;
using Scope = ptx::VariableRef::Scope;

constexpr std::size_t kDepthMax = 12;
constexpr std::size_t kInstructionsMax = 20'000;

class Inliner {
 public:
  Inliner(const ptx::Module& module, const ptx::Function& kernel)
      : module_(module), kernel_(kernel), result_(kernel) {}

  ptx::Function all() {
    find_addresses();
    result_.body.clear();
    result_.labels.clear();
    Frame frame{.function = &kernel_};
    expand(frame);
    return std::move(result_);
  }

 private:
  // A parameter or result of a call, known by the variable of the caller that holds it.
  using Holder = std::pair<std::size_t, std::uint32_t>;  // number of the frame, its local
  struct Frame {
    const ptx::Function* function = nullptr;
    std::size_t number = 0;
    std::uint32_t registers = 0, locals = 0, labels = 0;  // where its own begin
    std::uint32_t end_label = ptx::kNone;                 // where its returns lead; none: a kernel
    std::map<std::uint32_t, Holder> parameters{}, results{};
    std::vector<const ptx::Function*> callers{};
  };

  static bool is_possible(const ptx::Function& callee) {
    const auto is_register = [](const ptx::Variable& one) {
      return one.first_register != ptx::kNone;
    };
    return callee.has_body && callee.unsupported.empty() && callee.branch_targets.empty() &&
           std::ranges::none_of(callee.parameters, is_register) &&
           std::ranges::none_of(callee.results, is_register) &&
           std::ranges::all_of(callee.locals, [](const ptx::Variable& one) {
             return one.space == ptx::Space::param || one.space == ptx::Space::local ||
                    one.space == ptx::Space::shared;
           });
  }

  // Whether the body of a function can stand for a call of it.
  bool can_stand(const Frame& frame, const Instruction& call, const ptx::Function* callee) const {
    if (callee == nullptr || !is_possible(*callee) || frame.callers.size() >= kDepthMax ||
        result_.body.size() + callee->body.size() > kInstructionsMax) {
      return false;
    }
    const bool is_recursive =
        callee == frame.function || std::ranges::find(frame.callers, callee) != frame.callers.end();
    const auto are_variables = [](const Operand& operand) {
      return std::ranges::all_of(operand.parts, [](const Operand& part) {
        return part.kind == Operand::Kind::variable && part.variable.scope == Scope::local;
      });
    };
    const bool fits = are_variables(call.operands[0]) && are_variables(call.operands[2]) &&
                      call.operands[2].parts.size() == callee->parameters.size() &&
                      call.operands[0].parts.size() == callee->results.size();
    return !is_recursive && fits;
  }

  // The functions that a call through a pointer may mean.
  std::vector<const ptx::Function*> meant_by(const Frame& frame, const Instruction& call) const {
    if (call.operands.size() < 4) return {};
    const auto shape =
        std::ranges::find(frame.function->prototypes, call.operands[3].name, &ptx::Prototype::name);
    if (shape == frame.function->prototypes.end()) return {};
    const auto same_bytes = [](const ptx::Variable& a, const ptx::Variable& b) {
      return a.bytes == b.bytes;
    };
    std::vector<const ptx::Function*> meant;
    for (const ptx::Function& one : module_.functions) {
      const bool is_meant = shape->targets.empty() ? addresses_.contains(one.name)
                                                   : std::ranges::find(shape->targets, one.name) !=
                                                         shape->targets.end();
      if (is_meant && !one.is_entry &&
          std::ranges::equal(one.parameters, shape->parameters, same_bytes) &&
          std::ranges::equal(one.results, shape->results, same_bytes)) {
        meant.push_back(&one);
      }
    }
    return meant;
  }

  // Functions whose address is taken, and a number for each.
  void find_addresses() {
    const auto add = [&](const std::string& name) {
      if (module_.find_function(name) == nullptr) return;
      addresses_.try_emplace(name, 16 * (addresses_.size() + 1));
    };
    for (const ptx::Variable& variable : module_.variables) {
      for (const ptx::Variable::Relocation& one : variable.relocations) add(one.symbol);
    }
    for (const ptx::Function& function : module_.functions) {
      for (const Instruction& one : function.body) {
        if (one.opcode == Opcode::call_) continue;
        for (const Operand& operand : one.operands) {
          if (operand.kind == Operand::Kind::function) add(operand.name);
        }
      }
    }
  }

  void expand(const Frame& frame) {
    const ptx::Function& function = *frame.function;
    std::vector<std::uint32_t> begins;  // of each instruction, in the result
    for (const ptx::Label& label : function.labels) {
      result_.labels.push_back({label.name, ptx::kNone});
    }
    for (const Instruction& one : function.body) {
      begins.push_back(static_cast<std::uint32_t>(result_.body.size()));
      if (one.opcode == Opcode::call_ && add_call(frame, one)) continue;
      add(frame, one);
    }
    begins.push_back(static_cast<std::uint32_t>(result_.body.size()));
    for (std::size_t i = 0; i < function.labels.size(); ++i) {
      const std::uint32_t position = function.labels[i].position;
      result_.labels[frame.labels + i].position =
          begins[std::min<std::size_t>(position, function.body.size())];
    }
  }

  bool add_call(const Frame& frame, const Instruction& call) {
    if (call.operands.size() > 1 && call.operands[1].name == "vprintf") return true;
    if (call.operands.size() < 3 || call.guard != ptx::kNone) return false;
    if (call.operands[1].kind == Operand::Kind::reg) return add_choice(frame, call);
    if (call.operands[1].kind != Operand::Kind::function) return false;
    const ptx::Function* const callee = module_.find_function(call.operands[1].name);
    if (!can_stand(frame, call, callee)) return false;
    add_body(frame, call, callee);
    return true;
  }

  // if (pointer == first) first(); else if ... else last();
  bool add_choice(const Frame& frame, const Instruction& call) {
    const std::vector<const ptx::Function*> meant = meant_by(frame, call);
    const bool can_all = std::ranges::all_of(
        meant, [&](const ptx::Function* one) { return can_stand(frame, call, one); });
    if (meant.empty() || !can_all) return false;
    const std::uint32_t end = new_label();
    for (const ptx::Function* const callee : meant) {
      std::uint32_t next = ptx::kNone;
      if (callee != meant.back()) {
        next = new_label();
        add_comparison(frame, call, addresses_.at(callee->name), next);
      }
      add_body(frame, call, callee);
      if (next == ptx::kNone) continue;
      add_branch(call, end, ptx::kNone);
      place(next);
    }
    place(end);
    return true;
  }

  // Leads to `next` if the pointer of a call is another one.
  void add_comparison(const Frame& frame, const Instruction& call, std::uint64_t address,
                      std::uint32_t next) {
    Operand predicate, pointer = call.operands[1], number;
    predicate.kind = Operand::Kind::reg;
    predicate.index = static_cast<std::uint32_t>(result_.registers.size());
    result_.registers.push_back({"", ptx::Type::pred});
    rename(frame, pointer);
    number.kind = Operand::Kind::immediate;
    number.bits = address;
    Instruction compare;
    compare.opcode = Opcode::setp_;
    compare.text = "setp";
    compare.location = call.location;
    compare.modifiers.type = ptx::Type::u64;
    compare.modifiers.compare = ptx::Compare::eq;
    compare.operands = {predicate, pointer, number};
    result_.body.push_back(std::move(compare));
    add_branch(call, next, predicate.index);
  }

  // guard: the branch is taken if it is false; none: always.
  void add_branch(const Instruction& call, std::uint32_t label, std::uint32_t guard) {
    Operand target;
    target.kind = Operand::Kind::label;
    target.index = label;
    Instruction branch;
    branch.opcode = Opcode::bra_;
    branch.text = "bra";
    branch.location = call.location;
    branch.guard = guard;
    branch.guard_negated = guard != ptx::kNone;
    branch.operands = {target};
    result_.body.push_back(std::move(branch));
  }

  std::uint32_t new_label() {
    result_.labels.push_back({"", ptx::kNone});
    return static_cast<std::uint32_t>(result_.labels.size() - 1);
  }
  void place(std::uint32_t label) {
    result_.labels[label].position = static_cast<std::uint32_t>(result_.body.size());
  }

  void add_body(const Frame& frame, const Instruction& call, const ptx::Function* callee) {
    Frame inner{.function = callee,
                .number = ++frames_,
                .registers = static_cast<std::uint32_t>(result_.registers.size()),
                .locals = static_cast<std::uint32_t>(result_.locals.size()),
                .callers = frame.callers};
    inner.callers.push_back(frame.function);
    for (std::uint32_t i = 0; i < callee->parameters.size(); ++i) {
      inner.parameters[i] = {frame.number, call.operands[2].parts[i].variable.index};
    }
    for (std::uint32_t i = 0; i < callee->results.size(); ++i) {
      inner.results[i] = {frame.number, call.operands[0].parts[i].variable.index};
    }
    result_.registers.insert(result_.registers.end(), callee->registers.begin(),
                             callee->registers.end());
    result_.locals.insert(result_.locals.end(), callee->locals.begin(), callee->locals.end());
    inner.end_label = new_label();
    inner.labels = static_cast<std::uint32_t>(result_.labels.size());
    expand(inner);
    place(inner.end_label);
  }

  void add(const Frame& frame, Instruction one) {
    if (one.guard != ptx::kNone) one.guard += frame.registers;
    for (Operand& operand : one.operands) {
      rename(frame, operand);
      const auto address = operand.kind == Operand::Kind::function && one.opcode != Opcode::call_
                               ? addresses_.find(operand.name)
                               : addresses_.end();
      if (address == addresses_.end()) continue;
      operand.kind = Operand::Kind::immediate;
      operand.bits = address->second;
    }
    if (one.opcode == Opcode::ret_ && frame.end_label != ptx::kNone) {
      one.opcode = Opcode::bra_;
      Operand label;
      label.kind = Operand::Kind::label;
      label.index = frame.end_label;
      one.operands = {label};
    }
    if (one.modifiers.space == ptx::Space::param && add_moves(frame, one)) return;
    for (Operand& operand : one.operands) rename_local(frame, operand);
    if (frame.end_label != ptx::kNone && std::ranges::any_of(one.operands, is_parameter)) {
      one.unsupported = "the address of a parameter of a called function";
    }
    result_.body.push_back(std::move(one));
  }

  static void rename(const Frame& frame, Operand& operand) {
    using Kind = Operand::Kind;
    if (operand.kind == Kind::reg) operand.index += frame.registers;
    if (operand.kind == Kind::address && operand.index != ptx::kNone)
      operand.index += frame.registers;
    if (operand.kind == Kind::label) operand.index += frame.labels;
    for (Operand& part : operand.parts) rename(frame, part);
  }

  static bool is_parameter(const Operand& operand) {
    return operand.variable.scope == Scope::parameter || operand.variable.scope == Scope::result ||
           std::ranges::any_of(operand.parts, is_parameter);
  }

  // Local variables of an inlined function stand behind those of the kernel.  Shared ones are the
  // same in each call.
  void rename_local(const Frame& frame, Operand& operand) {
    if (operand.variable.scope == Scope::local) {
      const std::uint32_t own = operand.variable.index;
      operand.variable.index += frame.locals;
      if (frame.function->locals[own].space == ptx::Space::shared) {
        operand.variable.index =
            shared_.try_emplace({frame.function, own}, operand.variable.index).first->second;
      }
    }
    for (Operand& part : operand.parts) rename_local(frame, part);
  }

  // Loads and stores of parameters and results become moves.  False: the kernel's own parameter.
  bool add_moves(const Frame& frame, const Instruction& access) {
    const bool is_load = access.opcode == Opcode::ld_;
    if (!is_load && access.opcode != Opcode::st_) return false;
    const Operand& address = access.operands.at(is_load ? 1 : 0);
    const Operand& value = access.operands.at(is_load ? 0 : 1);
    const auto holder = holder_of(frame, address.variable);
    if (!holder || address.index != ptx::kNone) return false;
    const std::uint32_t bytes = ptx::bytes_of(access.modifiers.type);
    const std::vector<Operand> parts =
        value.kind == Operand::Kind::vector ? value.parts : std::vector<Operand>{value};
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const std::int64_t offset = address.offset + static_cast<std::int64_t>(i * bytes);
      Operand slot;
      slot.kind = Operand::Kind::reg;
      slot.index = slot_of(*holder, offset, bytes, access.modifiers.type);
      Instruction move = access;
      move.opcode = Opcode::mov_;
      move.text = "mov";
      move.modifiers = {};
      move.modifiers.type = access.modifiers.type;
      move.operands =
          is_load ? std::vector<Operand>{parts[i], slot} : std::vector<Operand>{slot, parts[i]};
      result_.body.push_back(std::move(move));
    }
    return true;
  }

  static std::optional<Holder> holder_of(const Frame& frame, const ptx::VariableRef& variable) {
    const auto bound = [&](const std::map<std::uint32_t, Holder>& all) -> std::optional<Holder> {
      const auto found = all.find(variable.index);
      if (found == all.end()) return std::nullopt;
      return found->second;
    };
    switch (variable.scope) {
      case Scope::local: return Holder{frame.number, variable.index};
      case Scope::parameter: return bound(frame.parameters);
      case Scope::result: return bound(frame.results);
      default: return std::nullopt;
    }
  }

  std::uint32_t slot_of(const Holder& holder, std::int64_t offset, std::uint32_t bytes,
                        ptx::Type type) {
    const auto [slot, is_new] = slots_.try_emplace(
        {holder, offset, bytes}, static_cast<std::uint32_t>(result_.registers.size()));
    if (is_new) result_.registers.push_back({"", type});
    return slot->second;
  }

  const ptx::Module& module_;
  const ptx::Function& kernel_;
  ptx::Function result_;
  std::size_t frames_ = 0;
  std::map<std::string, std::uint64_t> addresses_;  // of functions, where they are taken
  std::map<std::pair<const ptx::Function*, std::uint32_t>, std::uint32_t> shared_;  // variables
  std::map<std::tuple<Holder, std::int64_t, std::uint32_t>, std::uint32_t> slots_;
};

bool has_call(const ptx::Function& kernel) {
  return std::ranges::any_of(kernel.body, [](const Instruction& one) {
    return one.opcode == Opcode::call_ && !is_failed_assertion(one);
  });
}

}  // namespace

ptx::Function with_calls_inlined(const ptx::Module& module, const ptx::Function& kernel) {
  const bool has_param_stores = std::ranges::any_of(kernel.body, [](const Instruction& one) {
    return one.opcode == Opcode::st_ && one.modifiers.space == ptx::Space::param;
  });
  if (!has_call(kernel) && !has_param_stores) return kernel;
  return Inliner(module, kernel).all();
}

}  // namespace warpcheck::vgpu::symbolic
