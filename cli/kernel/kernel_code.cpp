#include "cli/kernel/kernel_code.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "vgpu/program/library_headers.hpp"
#include "vgpu/ptx/opcode.hpp"

namespace warpcheck {
namespace {

void for_each_operand(const ptx::Operand& operand, const auto& visit) {
  visit(operand);
  for (const ptx::Operand& part : operand.parts) for_each_operand(part, visit);
}

bool calls_through_register(const ptx::Instruction& instruction) {
  return instruction.text.starts_with("call") && instruction.operands.size() > 1 &&
         instruction.operands[1].kind == ptx::Operand::Kind::reg;
}

// Code that nvcc inlined is of the file that it stands in.
bool is_of_library(const ptx::Module& module, const ptx::SourceLocation& location) {
  return location.line != 0 && location.file < module.files.size() &&
         vgpu::is_library_header(module.files[location.file]);
}

void add_register(ptx::SpecialRegister used, Dimensions& dimensions) {
  using Register = ptx::SpecialRegister;
  const auto is_at_least = [&](int& dims, Register x, Register y, Register z) {
    if (used == x) dims = std::max(dims, 1);
    if (used == y) dims = std::max(dims, 2);
    if (used == z) dims = std::max(dims, 3);
  };
  is_at_least(dimensions.block, Register::tid_x, Register::tid_y, Register::tid_z);
  is_at_least(dimensions.grid, Register::ctaid_x, Register::ctaid_y, Register::ctaid_z);
  if (used == Register::laneid || used == Register::warpid) {
    dimensions.block = std::max(dimensions.block, 1);
  }
}

Dimensions dimensions_of(const ptx::Module& module,
                         const std::vector<const ptx::Function*>& functions, bool of_libraries) {
  Dimensions used;
  for (const ptx::Function* const function : functions) {
    for (const ptx::Instruction& instruction : function->body) {
      if (is_of_library(module, instruction.location) != of_libraries) continue;
      for (const ptx::Operand& operand : instruction.operands) {
        for_each_operand(operand, [&](const ptx::Operand& part) {
          if (part.kind == ptx::Operand::Kind::special) add_register(part.special, used);
        });
      }
    }
  }
  return used;
}

// Which registers hold what `begins` says of an instruction's first result, moved from one to
// another.
std::vector<bool> holders_of(const ptx::Function& function, const auto& begins) {
  using Kind = ptx::Operand::Kind;
  std::vector<bool> holds(function.registers.size());
  bool changes = true;
  const auto hold = [&](std::uint32_t number) {
    if (!holds[number]) holds[number] = changes = true;
  };
  while (changes) {
    changes = false;
    for (const ptx::Instruction& one : function.body) {
      if (one.operands.size() != 2) continue;
      const ptx::Operand &to = one.operands[0], &from = one.operands[1];
      const bool is_copy = one.opcode == ptx::Opcode::mov_ || one.opcode == ptx::Opcode::cvt_;
      if (is_copy && to.kind == Kind::reg && from.kind == Kind::reg && holds[from.index]) {
        hold(to.index);
      }
      for (std::size_t i = 0; i < std::max<std::size_t>(to.parts.size(), 1); ++i) {
        const ptx::Operand& part = to.parts.empty() ? to : to.parts[i];
        if (part.kind == Kind::reg && begins(one, i)) hold(part.index);
      }
    }
  }
  return holds;
}

std::vector<bool> holders_of(const ptx::Function& function, ptx::SpecialRegister special) {
  return holders_of(function, [=](const ptx::Instruction& one, std::size_t) {
    const ptx::Operand& source = one.operands[1];
    return (one.opcode == ptx::Opcode::mov_ || one.opcode == ptx::Opcode::cvt_) &&
           source.kind == ptx::Operand::Kind::special && source.special == special;
  });
}

// Which registers hold the parameter there.
std::vector<bool> holders_of(const ptx::Function& function, const ParameterPlace& place) {
  return holders_of(function, [&](const ptx::Instruction& one, std::size_t part) {
    const ptx::Operand& from = one.operands[1];
    if (one.opcode != ptx::Opcode::ld_ || from.kind != ptx::Operand::Kind::address) return false;
    const std::uint64_t offset =
        static_cast<std::uint64_t>(from.offset) + part * ptx::bytes_of(one.modifiers.type);
    return from.variable.scope == ptx::VariableRef::Scope::parameter &&
           from.variable.index == place.parameter && offset == place.offset;
  });
}

bool is_held(const ptx::Operand& operand, const std::vector<bool>& holds) {
  return operand.kind == ptx::Operand::Kind::reg && holds[operand.index];
}

// By what an instruction multiplies a block's number.
struct FactorOfBlocks {
  bool is_extent = false;     // of the block
  std::int64_t constant = 0;  // 0: it is none
};

// Returns nothing if it does not multiply that.
std::optional<FactorOfBlocks> factor_of_blocks(const ptx::Instruction& one,
                                               const std::vector<bool>& numbers,
                                               const std::vector<bool>& extents) {
  using Kind = ptx::Operand::Kind;
  const bool is_shift = one.opcode == ptx::Opcode::shl_;
  const bool is_product = one.opcode == ptx::Opcode::mul_ || one.opcode == ptx::Opcode::mad_ ||
                          one.opcode == ptx::Opcode::mul24_ || one.opcode == ptx::Opcode::mad24_;
  if ((!is_shift && !is_product) || one.operands.size() < 3) return std::nullopt;
  const ptx::Operand *number = &one.operands[1], *factor = &one.operands[2];
  if (!is_shift && !is_held(*number, numbers)) std::swap(number, factor);
  if (!is_held(*number, numbers)) return std::nullopt;
  if (factor->kind == Kind::reg) return FactorOfBlocks{.is_extent = is_held(*factor, extents)};
  if (factor->kind != Kind::immediate) return FactorOfBlocks{};
  const auto bits = static_cast<std::int64_t>(factor->bits);
  if (!is_shift) return FactorOfBlocks{.constant = bits};
  return FactorOfBlocks{.constant = bits < 32 ? std::int64_t{1} << bits : 0};
}

// Calls visit(axis, factor) for each of them in a kernel's code.
void for_each_factor_of_blocks(const ptx::Module& module, const std::string& kernel,
                               const auto& visit) {
  using Register = ptx::SpecialRegister;
  constexpr std::array kNumbers{Register::ctaid_x, Register::ctaid_y, Register::ctaid_z};
  constexpr std::array kExtents{Register::ntid_x, Register::ntid_y, Register::ntid_z};
  for (const ptx::Function* const function : reachable_functions(module, kernel)) {
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const std::vector<bool> numbers = holders_of(*function, kNumbers[axis]);
      const std::vector<bool> extents = holders_of(*function, kExtents[axis]);
      for (const ptx::Instruction& one : function->body) {
        if (const auto factor = factor_of_blocks(one, numbers, extents)) visit(axis, *factor);
      }
    }
  }
}

// Where the elements of an array go: registers, variables of calls and memory of a thread or block
// that hold one, or a number that is computed from one.  What a comparison says of one is none.
class FlowOfElements {
 public:
  FlowOfElements(const ptx::Module& module, const std::string& kernel, const ParameterPlace& place)
      : functions_(reachable_functions(module, kernel)), place_(place) {
    for (const ptx::Function* const function : functions_) {
      of_.emplace(function->name, Holders(*function));
    }
    while (changes_) {
      changes_ = false;
      for (const ptx::Function* const function : functions_) {
        for (const ptx::Instruction& one : function->body) {
          follow(*function, of_.at(function->name), one);
        }
      }
    }
  }

  [[nodiscard]] bool reaches_address_of_store() const {
    return std::ranges::any_of(functions_, [&](const ptx::Function* function) {
      return std::ranges::any_of(function->body, [&](const ptx::Instruction& one) {
        if (one.opcode != ptx::Opcode::st_) return false;
        const ptx::Operand& to = one.operands[0];
        return to.index != ptx::kNone && of_.at(function->name).registers[to.index].element;
      });
    });
  }

  [[nodiscard]] bool has_result_of_global_atomic() const {
    return std::ranges::any_of(functions_, [&](const ptx::Function* function) {
      return std::ranges::any_of(function->body, [&](const ptx::Instruction& one) {
        const bool has_result = one.opcode == ptx::Opcode::atom_ && one.operands.size() > 1 &&
                                one.operands[0].kind == ptx::Operand::Kind::reg;
        if (!has_result || one.operands[1].index == ptx::kNone) return false;
        return of_.at(function->name).registers[one.operands[1].index].outside &&
               is_read(*function, one.operands[0].index);
      });
    });
  }

 private:
  static bool is_read(const ptx::Function& function, std::uint32_t number) {
    return std::ranges::any_of(function.body, [&](const ptx::Instruction& one) {
      for (std::size_t i = one.opcode == ptx::Opcode::st_ ? 0 : 1; i < one.operands.size(); ++i) {
        bool reads = false;
        for_each_operand(one.operands[i], [&](const ptx::Operand& part) {
          using Kind = ptx::Operand::Kind;
          reads |= (part.kind == Kind::reg || part.kind == Kind::address) && part.index == number;
        });
        if (reads) return true;
      }
      return false;
    });
  }

  struct Held {
    bool pointer = false;  // to the array
    bool outside = false;  // comes from a parameter of the kernel, as pointers to global memory do
    bool element = false;
  };
  struct Holders {
    explicit Holders(const ptx::Function& function)
        : registers(function.registers.size()),
          locals(function.locals.size()),
          parameters(function.parameters.size()),
          results(function.results.size()) {}
    std::vector<Held> registers, locals, parameters, results;
  };

  void add(Held& to, const Held& from) {
    const Held before = to;
    to.pointer |= from.pointer;
    to.outside |= from.outside;
    to.element |= from.element;
    changes_ |= to.pointer != before.pointer || to.outside != before.outside ||
                to.element != before.element;
  }

  // Nothing: a variable of the module.
  static Held* variable(Holders& holders, const ptx::VariableRef& named) {
    using Scope = ptx::VariableRef::Scope;
    auto* const all = named.scope == Scope::local       ? &holders.locals
                      : named.scope == Scope::parameter ? &holders.parameters
                      : named.scope == Scope::result    ? &holders.results
                                                        : nullptr;
    return all == nullptr || named.index >= all->size() ? nullptr : &(*all)[named.index];
  }

  static Held held(Holders& holders, const ptx::Operand& operand) {
    using Kind = ptx::Operand::Kind;
    Held found;
    if (operand.kind == Kind::reg) found = holders.registers[operand.index];
    if (operand.kind == Kind::variable) {
      if (const Held* const one = variable(holders, operand.variable)) found = *one;
    }
    for (const ptx::Operand& part : operand.parts) {
      const Held more = held(holders, part);
      found = {found.pointer || more.pointer, found.outside || more.outside,
               found.element || more.element};
    }
    return found;
  }

  void give(Holders& holders, const ptx::Operand& to, const Held& what) {
    if (to.kind == ptx::Operand::Kind::reg) add(holders.registers[to.index], what);
    if (to.kind == ptx::Operand::Kind::variable) {
      if (Held* const one = variable(holders, to.variable)) add(*one, what);
    }
    for (const ptx::Operand& part : to.parts) give(holders, part, what);
  }

  void follow(const ptx::Function& function, Holders& holders, const ptx::Instruction& one) {
    using ptx::Opcode;
    if (one.operands.empty() || one.opcode == Opcode::setp_ || one.opcode == Opcode::set_) return;
    if (one.text.starts_with("call")) return follow_call(holders, one);
    if (one.opcode == Opcode::st_) return follow_store(holders, one);
    if (one.opcode == Opcode::ld_) return follow_load(function, holders, one);
    if (one.opcode == Opcode::atom_ || one.opcode == Opcode::red_) return;  // a count, no element
    Held all;
    for (std::size_t i = 1; i < one.operands.size(); ++i) {
      const Held more = held(holders, one.operands[i]);
      all = {all.pointer || more.pointer, all.outside || more.outside, all.element || more.element};
    }
    give(holders, one.operands[0], all);
  }

  void follow_load(const ptx::Function& function, Holders& holders, const ptx::Instruction& one) {
    const ptx::Operand& from = one.operands[1];
    Held loaded;
    if (from.index != ptx::kNone) {
      const Held& address = holders.registers[from.index];
      loaded.element = address.pointer || address.element || (!address.outside && keeps_elements_);
    } else if (Held* const named = variable(holders, from.variable)) {
      loaded = *named;
      if (function.is_entry && from.variable.scope == ptx::VariableRef::Scope::parameter) {
        loaded.outside = ptx::bytes_of(one.modifiers.type) == sizeof(void*);
        loaded.pointer = from.variable.index == place_.parameter &&
                         from.offset == static_cast<std::int64_t>(place_.offset);
      }
    } else {
      loaded.element = keeps_elements_;
    }
    give(holders, one.operands[0], loaded);
  }

  void follow_store(Holders& holders, const ptx::Instruction& one) {
    const ptx::Operand& to = one.operands[0];
    const Held stored = held(holders, one.operands[1]);
    if (to.index == ptx::kNone) {
      if (Held* const named = variable(holders, to.variable)) return add(*named, stored);
    } else if (holders.registers[to.index].outside) {
      return;
    }
    if (!stored.element || keeps_elements_) return;
    keeps_elements_ = changes_ = true;
  }

  void follow_call(Holders& holders, const ptx::Instruction& one) {
    if (one.operands.size() < 3) return;
    const auto& [results, called, arguments] =
        std::tie(one.operands[0], one.operands[1], one.operands[2]);
    const auto found = of_.find(called.name);
    if (found == of_.end() || found->second.parameters.size() != arguments.parts.size()) {
      return give(holders, results, held(holders, arguments));
    }
    for (std::size_t i = 0; i < arguments.parts.size(); ++i) {
      add(found->second.parameters[i], held(holders, arguments.parts[i]));
    }
    for (std::size_t i = 0; i < std::min(results.parts.size(), found->second.results.size()); ++i) {
      give(holders, results.parts[i], found->second.results[i]);
    }
  }

  std::vector<const ptx::Function*> functions_;
  ParameterPlace place_;
  std::map<std::string, Holders> of_;  // by the function's name
  bool keeps_elements_ = false;        // memory of threads or blocks has some
  bool changes_ = true;
};

}  // namespace

bool elements_are_indices_of_stores(const ptx::Module& module, const std::string& kernel,
                                    const ParameterPlace& place) {
  return FlowOfElements(module, kernel, place).reaches_address_of_store();
}

bool has_global_tickets(const ptx::Module& module, const std::string& kernel) {
  return FlowOfElements(module, kernel, {.parameter = ptx::kNone, .offset = 0})
      .has_result_of_global_atomic();
}

std::array<bool, 3> blocks_are_items(const ptx::Module& module, const std::string& kernel,
                                     const std::array<std::int64_t, 3>& block) {
  std::array<bool, 3> are_items{true, true, true};
  for_each_factor_of_blocks(module, kernel, [&](std::size_t axis, const FactorOfBlocks& factor) {
    const std::int64_t extent = block[axis];
    const bool is_multiple = extent > 1 && factor.constant > 0 && factor.constant % extent == 0;
    if (factor.is_extent || is_multiple) are_items[axis] = false;
  });
  return are_items;
}

std::array<std::int64_t, 3> constants_of_blocks(const ptx::Module& module,
                                                const std::string& kernel) {
  std::array<std::int64_t, 3> constants{};
  std::array<bool, 3> has_extent{};
  for_each_factor_of_blocks(module, kernel, [&](std::size_t axis, const FactorOfBlocks& factor) {
    has_extent[axis] |= factor.is_extent;
    if (factor.constant < 8 || factor.constant > 1024) return;
    std::int64_t& known = constants[axis];
    known = known == 0 ? factor.constant : std::min(known, factor.constant);
  });
  for (std::size_t axis = 0; axis < 3; ++axis) {
    if (has_extent[axis]) constants[axis] = 0;
  }
  return constants;
}

std::vector<const ptx::Function*> reachable_functions(const ptx::Module& module,
                                                      const std::string& kernel) {
  std::vector<const ptx::Function*> found;
  std::set<const ptx::Function*> known;
  const auto add = [&](const ptx::Function* function) {
    if (function != nullptr && known.insert(function).second) found.push_back(function);
  };
  add(module.find_function(kernel));
  for (std::size_t i = 0; i < found.size(); ++i) {
    for (const ptx::Instruction& instruction : found[i]->body) {
      for (const ptx::Operand& operand : instruction.operands) {
        for_each_operand(operand, [&](const ptx::Operand& part) {
          if (part.kind == ptx::Operand::Kind::function) add(module.find_function(part.name));
        });
      }
      if (!calls_through_register(instruction)) continue;
      for (const ptx::Function& function : module.functions) {
        if (!function.is_entry) add(&function);
      }
    }
  }
  return found;
}

Dimensions dimensions_of(const ptx::Module& module, const std::string& kernel) {
  const auto functions = reachable_functions(module, kernel);
  const Dimensions own = dimensions_of(module, functions, false);
  const Dimensions of_libraries = dimensions_of(module, functions, true);
  // A kernel that leaves it all to a library has a line of threads, or of blocks.
  return {.grid = own.grid != 0 ? own.grid : std::min(of_libraries.grid, 1),
          .block = own.block != 0 ? own.block : std::min(of_libraries.block, 1)};
}

bool divides_by(const ptx::Module& module, const std::string& kernel, const ParameterPlace& place) {
  const ptx::Function& function = *module.find_function(kernel);
  const std::vector<bool> holds = holders_of(function, place);
  return std::ranges::any_of(function.body, [&](const ptx::Instruction& one) {
    const bool is_division = one.opcode == ptx::Opcode::div_ || one.opcode == ptx::Opcode::rem_;
    return is_division && one.operands.size() == 3 && is_held(one.operands[2], holds);
  });
}

bool multiplies_by_one_more(const ptx::Module& module, const std::string& kernel,
                            const ParameterPlace& place) {
  const ptx::Function& function = *module.find_function(kernel);
  const std::vector<bool> holds = holders_of(function, place);
  std::vector<bool> more(function.registers.size());
  for (const ptx::Instruction& one : function.body) {
    const bool adds_one = one.opcode == ptx::Opcode::add_ && one.operands.size() == 3 &&
                          is_held(one.operands[1], holds) &&
                          one.operands[2].kind == ptx::Operand::Kind::immediate &&
                          one.operands[2].bits == 1;
    if (adds_one) more[one.operands[0].index] = true;
  }
  const std::vector<bool> copies = holders_of(
      function,
      [&](const ptx::Instruction& one, std::size_t) { return is_held(one.operands[1], more); });
  for (std::size_t i = 0; i < more.size(); ++i) more[i] = more[i] || copies[i];
  return std::ranges::any_of(function.body, [&](const ptx::Instruction& one) {
    const bool is_product = one.opcode == ptx::Opcode::mul_ || one.opcode == ptx::Opcode::mad_;
    return is_product && one.operands.size() >= 3 &&
           (is_held(one.operands[1], more) || is_held(one.operands[2], more));
  });
}

bool has_atomic_results(const ptx::Module& module, const std::string& kernel) {
  return std::ranges::any_of(
      reachable_functions(module, kernel), [](const ptx::Function* function) {
        return std::ranges::any_of(function->body, [](const ptx::Instruction& one) {
          return one.opcode == ptx::Opcode::atom_;
        });
      });
}

std::uint64_t shared_bytes_of(const ptx::Module& module, const std::string& kernel) {
  std::uint64_t bytes = 0;
  const auto add = [&](const std::vector<ptx::Variable>& variables) {
    for (const ptx::Variable& variable : variables) {
      if (variable.space == ptx::Space::shared) bytes += variable.bytes + variable.alignment;
    }
  };
  add(module.variables);
  for (const ptx::Function* const function : reachable_functions(module, kernel)) {
    add(function->locals);
  }
  return bytes;
}

bool uses_unset_constants(const ptx::Module& module, const std::string& kernel) {
  bool is_used = false;
  for (const ptx::Function* const function : reachable_functions(module, kernel)) {
    for (const ptx::Instruction& instruction : function->body) {
      for (const ptx::Operand& operand : instruction.operands) {
        for_each_operand(operand, [&](const ptx::Operand& part) {
          if (part.variable.scope != ptx::VariableRef::Scope::module) return;
          const ptx::Variable& variable = module.variables[part.variable.index];
          is_used |= variable.space == ptx::Space::constant && variable.initial.empty();
        });
      }
    }
  }
  return is_used;
}

std::string without_assertions(std::string ptx) {
  constexpr std::string_view kAssert = "__assertfail", kIgnored = "warpcheck_ignored_assertion";
  const std::string declaration = fmt::format(".extern .func {}", kAssert);
  const std::size_t begin = ptx.find(declaration);
  if (begin == std::string::npos) return ptx;
  const std::size_t end = ptx.find(')', begin), close = ptx.find(';', begin);
  if (close == std::string::npos || end > close) return ptx;
  ptx.replace(end + 1, close - end, "\n{ ret; }");
  ptx.replace(begin, declaration.size(), fmt::format(".func {}", kAssert));
  for (std::size_t at = 0; (at = ptx.find(kAssert, at)) != std::string::npos;) {
    ptx.replace(at, kAssert.size(), kIgnored);
    at += kIgnored.size();
  }
  return ptx;
}

}  // namespace warpcheck
