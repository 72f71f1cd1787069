// link_modules(): links PTX as nvlink links machine code (PTX ISA 11.6).
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "vgpu/ptx/module.hpp"

namespace warpcheck::ptx {
namespace {

// Every translation unit has its own declaration of an `extern __shared__` array; all have one
// address.
bool is_shared_by_all(const Variable& variable) {
  return variable.space == Space::shared && variable.external;
}

bool is_internal(const Variable& variable) {
  return variable.linkage == Linkage::internal && !variable.external;
}

// A function without a body is a declaration, whatever its linkage is.
bool is_internal(const Function& function) {
  return function.linkage == Linkage::internal && function.has_body;
}

bool is_weak(Linkage linkage) { return linkage == Linkage::weak || linkage == Linkage::common; }

bool same_shape(const Function& a, const Function& b) {
  const auto same = [](const std::vector<Variable>& left, const std::vector<Variable>& right) {
    return std::ranges::equal(left, right, {}, &Variable::bytes, &Variable::bytes);
  };
  return same(a.results, b.results) && same(a.parameters, b.parameters);
}

class Linker {
 public:
  Linker(std::vector<Module> modules, std::string_view name) : modules_(std::move(modules)) {
    out_.name = name;
  }

  Module run() {
    for (const Module& module : modules_) note_names(module);
    for (std::size_t i = 0; i < modules_.size(); ++i) add(i);
    return std::move(out_);
  }

 private:
  struct Place {
    bool is_function = false;
    std::size_t index = 0;
    std::size_t module = 0;  // the module that defines it, or declares it first
  };

  void note_names(const Module& module) {
    for (const Variable& variable : module.variables) {
      if (!is_internal(variable)) names_.insert(variable.name);
    }
    for (const Function& function : module.functions) {
      if (!is_internal(function)) names_.insert(function.name);
    }
  }

  // Chooses new names for names of this module that clash.
  void choose_names(const Module& module, std::size_t number) {
    renamed_.clear();
    const auto choose = [&](const std::string& name) {
      if (names_.insert(name).second) return;
      // The compiler numbers names in the same way: strings are $str, $str$1, $str$2 ...
      std::string unique = fmt::format("{}${}", name, number);
      while (!names_.insert(unique).second) unique += fmt::format("${}", number);
      renamed_[name] = std::move(unique);
    };
    for (const Variable& variable : module.variables) {
      if (is_internal(variable)) choose(variable.name);
    }
    for (const Function& function : module.functions) {
      if (is_internal(function)) choose(function.name);
    }
  }

  void rename(std::string& name) const {
    if (const auto found = renamed_.find(name); found != renamed_.end()) name = found->second;
  }

  void add(std::size_t number) {
    Module& module = modules_[number];
    choose_names(module, number);
    first_file_ = static_cast<std::uint32_t>(out_.files.size());
    first_location_ = static_cast<std::uint32_t>(out_.locations.size());
    first_inlined_ = static_cast<std::uint32_t>(out_.inlined_functions.size());
    if (number == 0) {
      out_.version_major = module.version_major;
      out_.version_minor = module.version_minor;
      out_.target = module.target;
      out_.address_bits = module.address_bits;
    }
    out_.debug |= module.debug;
    for (std::string& file : module.files) out_.files.push_back(std::move(file));
    for (std::string& name : module.inlined_functions) {
      out_.inlined_functions.push_back(std::move(name));
    }
    for (SourceLocation location : module.locations) {
      move(location);
      out_.locations.push_back(location);
    }
    new_index_.clear();
    for (Variable& variable : module.variables) add_variable(std::move(variable), number);
    for (Function& function : module.functions) add_function(std::move(function), number);
    for (Module::Alias& alias : module.aliases) {
      rename(alias.target);
      out_.aliases.push_back(std::move(alias));
    }
  }

  void add_variable(Variable variable, std::size_t number) {
    rename(variable.name);
    for (Variable::Relocation& relocation : variable.relocations) rename(relocation.symbol);
    const auto append = [&] {
      out_.variables.push_back(std::move(variable));
      return out_.variables.size() - 1;
    };
    if (is_shared_by_all(variable)) {
      new_index_.push_back(append());
      return;
    }
    const auto [at, is_new] = places_.try_emplace(variable.name);
    Place& place = at->second;
    if (is_new) {
      place = {false, append(), number};
      new_index_.push_back(place.index);
      return;
    }
    require(!place.is_function, variable.name, place, number, "a function and a variable");
    Variable& known = out_.variables[place.index];
    require(known.space == variable.space, variable.name, place, number,
            "variables of different state spaces");
    new_index_.push_back(place.index);
    if (variable.external) return;
    if (!known.external && !is_weak(known.linkage) && !is_weak(variable.linkage)) {
      fail_twice(variable.name, place, number);
    }
    const bool is_larger = known.linkage == Linkage::common &&
                           variable.linkage == Linkage::common && variable.bytes > known.bytes;
    if (known.external || is_larger || (is_weak(known.linkage) && !is_weak(variable.linkage))) {
      known = std::move(variable);
      place.module = number;
    }
  }

  void add_function(Function function, std::size_t number) {
    rename(function.name);
    const auto [at, is_new] = places_.try_emplace(function.name);
    Place& place = at->second;
    if (is_new) {
      move(function);
      out_.functions.push_back(std::move(function));
      place = {true, out_.functions.size() - 1, number};
      return;
    }
    require(place.is_function, function.name, place, number, "a function and a variable");
    Function& known = out_.functions[place.index];
    require(same_shape(known, function), function.name, place, number,
            "functions with different parameters");
    if (!function.has_body) return;
    if (known.has_body && !is_weak(known.linkage) && !is_weak(function.linkage)) {
      fail_twice(function.name, place, number);
    }
    if (!known.has_body || (is_weak(known.linkage) && !is_weak(function.linkage))) {
      move(function);
      known = std::move(function);
      place.module = number;
    }
  }

  // ---- from numbers of a module to numbers of the linked module ----
  void move(SourceLocation& location) const {
    if (location.file != kNone) location.file += first_file_;
    if (location.inlined_at != kNone) location.inlined_at += first_location_;
    if (location.function != kNone) location.function += first_inlined_;
  }

  void move(Operand& operand) const {
    if (operand.variable.scope == VariableRef::Scope::module) {
      operand.variable.index = static_cast<std::uint32_t>(new_index_[operand.variable.index]);
    }
    if (operand.kind == Operand::Kind::function) rename(operand.name);
    for (Operand& part : operand.parts) move(part);
  }

  void move(Function& function) const {
    for (Instruction& instruction : function.body) {
      move(instruction.location);
      for (Operand& operand : instruction.operands) move(operand);
    }
    for (Prototype& prototype : function.prototypes) {
      for (std::string& target : prototype.targets) rename(target);
    }
  }

  // ---- errors ----
  void require(bool holds, const std::string& name, const Place& place, std::size_t number,
               std::string_view what) const {
    if (holds) return;
    throw LinkError(fmt::format("{}: '{}' stands for {} in {} and {}", out_.name, name, what,
                                modules_[place.module].name, modules_[number].name));
  }

  [[noreturn]] void fail_twice(const std::string& name, const Place& place,
                               std::size_t number) const {
    throw LinkError(fmt::format("{}: multiple definition of '{}' in {}, first defined in {}",
                                out_.name, name, modules_[number].name,
                                modules_[place.module].name));
  }

  std::vector<Module> modules_;
  Module out_;
  std::set<std::string> names_;          // used names of all modules
  std::map<std::string, Place> places_;  // by name in the linked module
  // State for the current module: new names by old names.
  std::map<std::string, std::string> renamed_;
  std::vector<std::size_t> new_index_;  // new indices of the module's variables
  std::uint32_t first_file_ = 0, first_location_ = 0, first_inlined_ = 0;
};

}  // namespace

Module link_modules(std::vector<Module> modules, std::string_view name) {
  return Linker(std::move(modules), name).run();
}

}  // namespace warpcheck::ptx
