// Finds the functions that a kernel can reach, and decides which of them get copies of their own:
// find_reached().
#include <algorithm>
#include <set>
#include <string>
#include <unordered_map>

#include <fmt/format.h>

#include "vgpu/program/layout.hpp"
#include "vgpu/ptx/opcode.hpp"

namespace warpcheck::vgpu {
namespace {

using Kind = ptx::Operand::Kind;

// Returns the name of the called function; null: a call through a register.
const std::string* name_of_callee(const ptx::Instruction& call) {
  const ptx::Operand& callee = call.operands.at(1);
  return callee.kind == Kind::function ? &callee.name : nullptr;
}

class Reach {
 public:
  Reach(const ptx::Module& module, Program& program, Layout& layout)
      : module_(module), program_(program), layout_(layout) {
    for (const ptx::Function& function : module.functions) by_name_[function.name] = &function;
    for (const ptx::Module::Alias& alias : module.aliases) {
      by_name_[alias.name] = module.find_function(alias.name);
    }
  }

  void run(std::string_view kernel) {
    const ptx::Function* entry = find(kernel);
    if (entry == nullptr || !entry->is_entry || !entry->has_body) {
      throw Refusal(fmt::format("{}: no kernel named '{}' in this PTX", module_.name, kernel));
    }
    add(*entry, ptx::kNone, ptx::kNone, false);
    for (std::uint32_t index = 0; index < layout_.instances.size(); ++index) find_callees(index);
  }

 private:
  // Beyond this number of PTX instructions, functions are not copied; it is enough for all of CUB
  // unoptimised.
  static constexpr std::size_t kCopiedMax = 100'000;

  [[nodiscard]] const ptx::Function* find(std::string_view name) const {
    const auto found = by_name_.find(name);
    return found == by_name_.end() ? nullptr : found->second;
  }

  std::uint32_t add(const ptx::Function& function, std::uint32_t parent, std::uint32_t called_from,
                    bool by_address) {
    if (!function.unsupported.empty() && !by_address) {
      throw Refusal(fmt::format("{}:{}: function '{}' is not supported: {}", module_.name,
                                function.ptx_line, function.name, function.unsupported));
    }
    copied_ += function.body.size();
    Instance instance;
    instance.function = &function;
    instance.parent = parent;
    instance.called_from = called_from;
    instance.by_address = by_address;
    layout_.instances.push_back(std::move(instance));
    return static_cast<std::uint32_t>(layout_.instances.size() - 1);
  }

  void find_callees(std::uint32_t index) {
    const ptx::Function& function = *layout_.instances[index].function;
    for (std::uint32_t at = 0; at < function.body.size(); ++at) {
      const ptx::Instruction& call = function.body[at];
      if (call.opcode != ptx::Opcode::call_ || !call.unsupported.empty()) continue;
      const std::string* const name = name_of_callee(call);
      if (name == nullptr) {
        add_candidates(signature_of(shape_of(module_, function, call)));
        continue;
      }
      const ptx::Function* const target = find(*name);
      const bool has_body = target != nullptr && target->has_body;
      // A program's own function of that name is no builtin.  But the toolkit's device runtime
      // library, which is linked into programs, expects hardware that does not exist here, so its
      // functions are replaced.
      const Builtin* const builtin = find_builtin(*name);
      if (builtin != nullptr && (!has_body || builtin->kind == InstrKind::device_call)) {
        layout_.instances[index].builtins[at] = builtin;
      } else if (has_body) {
        const std::uint32_t callee = callee_of(index, *target, call);
        layout_.instances[index].callees[at] = callee;
      } else if (!layout_.instances[index].by_address) {
        throw Refusal(fmt::format("{}: {}", place_of(index, call), why_not(*name)));
      }
    }
  }

  // Returns "file.ptx:12 (from a.cu:7)": the call, or the innermost of its callers that has a line.
  [[nodiscard]] std::string place_of(std::uint32_t caller, const ptx::Instruction& call) const {
    std::string place = fmt::format("{}:{}", module_.name, call.ptx_line);
    ptx::SourceLocation from = call.location;
    const std::uint32_t called_from = layout_.instances[caller].called_from;
    if (from.line == 0 && called_from != ptx::kNone) from = program_.locations[called_from];
    if (from.line == 0 || from.file >= program_.files.size()) return place;
    return place + fmt::format(" (from {}:{})", program_.files[from.file], from.line);
  }

  static std::string why_not(std::string_view name) {
    for (const std::string_view launch :
         {"__cudaCDP2", "__cuda_syscall_cnp", "cudaLaunchDevice", "cudaGetParameterBuffer"}) {
      if (!name.starts_with(launch)) continue;
      return fmt::format("'{}' of the device runtime is not supported", name);
    }
    return fmt::format("the called function '{}' has no body and is not supported", name);
  }

  std::uint32_t callee_of(std::uint32_t caller, const ptx::Function& target,
                          const ptx::Instruction& call) {
    std::uint32_t ancestor = caller;
    for (; ancestor != ptx::kNone; ancestor = layout_.instances[ancestor].parent) {
      if (layout_.instances[ancestor].function == &target) return ancestor;
    }
    if (copied_ > kCopiedMax) return shared(target, layout_.instances[caller].by_address);
    ptx::SourceLocation site = call.location;
    if (site.inlined_at == ptx::kNone) site.inlined_at = layout_.instances[caller].called_from;
    const auto location = static_cast<std::uint32_t>(program_.locations.size());
    program_.locations.push_back(site);
    return add(target, caller, location, layout_.instances[caller].by_address);
  }

  // Returns the one instance of a function for many callers.
  std::uint32_t shared(const ptx::Function& function, bool by_address) {
    const auto [known, is_new] = shared_.try_emplace({&function, by_address});
    if (is_new) known->second = add(function, ptx::kNone, ptx::kNone, by_address);
    return known->second;
  }

  // Adds every function of this shape whose address the module mentions, because a call through a
  // register may call any of them.
  void add_candidates(const Signature& signature) {
    if (!seen_.insert(signature).second) return;
    layout_.number_of(signature);
    if (mentioned_.empty()) list_mentioned();
    for (const std::string& name : mentioned_) {
      const ptx::Function* const function = find(name);
      if (function == nullptr || function->is_entry ||
          signature_of({function->results, function->parameters}) != signature) {
        continue;
      }
      const auto [at, is_new] = program_.function_at.try_emplace(function_address(name));
      if (is_new) {
        at->second = shared(*function, true);
      } else if (layout_.instances[at->second].function != function) {
        throw Refusal(fmt::format("{}: functions '{}' and '{}' would have the same address",
                                  module_.name, name,
                                  layout_.instances[at->second].function->name));
      }
    }
  }

  void list_mentioned() {
    for (const ptx::Variable& variable : module_.variables) {
      for (const auto& relocation : variable.relocations) mentioned_.insert(relocation.symbol);
    }
    for (const ptx::Function& function : module_.functions) {
      for (const ptx::Instruction& instruction : function.body) {
        if (instruction.opcode == ptx::Opcode::call_) continue;
        for (const ptx::Operand& operand : instruction.operands) {
          if (operand.kind == Kind::function) mentioned_.insert(operand.name);
        }
      }
    }
  }

  const ptx::Module& module_;
  Program& program_;
  Layout& layout_;
  std::unordered_map<std::string_view, const ptx::Function*> by_name_;
  std::size_t copied_ = 0;
  std::map<std::pair<const ptx::Function*, bool>, std::uint32_t> shared_;
  std::set<Signature> seen_;
  std::set<std::string> mentioned_;  // functions (and variables) whose address is taken
};

// Returns the size of the largest argument list that the module passes, for functions whose
// declaration does not give it: `.param .align 8 .b8 %VAParam[]`.
std::uint64_t largest_arguments(const ptx::Module& module) {
  std::uint64_t bytes = 0;
  for (const ptx::Function& function : module.functions) {
    for (const ptx::Variable& local : function.locals) {
      if (local.space == ptx::Space::param) bytes = std::max(bytes, local.bytes);
    }
  }
  return bytes;
}

}  // namespace

const Builtin* find_builtin(std::string_view name) {
  static const auto& kBuiltins = *new const std::vector<Builtin>{
      {"malloc", InstrKind::heap_allocate, 8, {8}},
      {"free", InstrKind::heap_free, 0, {8}},
      {"vprintf", InstrKind::print, 4, {8, 8}},
      {"__assertfail", InstrKind::assertion, 0, {8, 8, 4, 8, 8}},
#define DEVICE_CALL(name, result, stored, ...) \
  {#name, InstrKind::device_call, result, {__VA_ARGS__}, DeviceFunction::name, stored},
#include "vgpu/program/device_calls.def"
#undef DEVICE_CALL
  };
  constexpr std::string_view kPerThread = "_ptsz";
  if (name.starts_with("__cudaCDP2") && name.ends_with(kPerThread)) {
    name.remove_suffix(kPerThread.size());
  }
  const auto found = std::ranges::find(kBuiltins, name, &Builtin::name);
  return found == kBuiltins.end() ? nullptr : &*found;
}

CallShape shape_of(const ptx::Module& module, const ptx::Function& caller,
                   const ptx::Instruction& call) {
  if (call.operands.size() > 3 && call.operands[3].index < caller.prototypes.size()) {
    const ptx::Prototype& prototype = caller.prototypes[call.operands[3].index];
    if (prototype.targets.empty()) return {prototype.results, prototype.parameters};
    if (const ptx::Function* target = module.find_function(prototype.targets.front())) {
      return {target->results, target->parameters};
    }
  }
  throw Refusal(fmt::format("{}:{}: a call through a register without a prototype", module.name,
                            call.ptx_line));
}

Signature signature_of(const CallShape& shape) {
  Signature signature;
  for (const ptx::Variable& result : shape.results) signature.results.push_back(result.bytes);
  for (const ptx::Variable& one : shape.parameters) signature.parameters.push_back(one.bytes);
  return signature;
}

// FNV-1a over the name; functions are 16 bytes apart.
std::uint64_t function_address(std::string_view name) {
  std::uint64_t hash = 0xcbf2'9ce4'8422'2325;
  for (const char c : name) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x0000'0100'0000'01b3;
  }
  constexpr std::uint64_t kPlaces = (kFunctionEnd - kFunctionBase) / 16;
  return kFunctionBase + (hash ^ hash >> 40) % kPlaces * 16;
}

namespace {

// Returns whether an instruction is for blocks that form clusters.
bool is_for_clusters(const ptx::Instruction& in) {
  using ptx::Opcode;
  const auto says = [&](std::string_view word) {
    return in.text.find(word) != std::string_view::npos;
  };
  const bool stores_there =
      in.modifiers.async && (in.opcode == Opcode::st_ || in.opcode == Opcode::red_);
  return stores_there || in.opcode == Opcode::mapa_ || in.opcode == Opcode::getctarank_ ||
         in.opcode == Opcode::clusterlaunchcontrol_ || says("::cluster") ||
         says("barrier.cluster") || says("cta_group::2");
}

}  // namespace

void find_reached(const ptx::Module& module, std::string_view kernel, Program& program,
                  Layout& layout) {
  layout.variadic_bytes = largest_arguments(module);
  Reach(module, program, layout).run(kernel);
  layout.has_ranks = std::ranges::any_of(layout.instances, [](const Instance& instance) {
    return std::ranges::any_of(instance.function->body, is_for_clusters);
  });
  program.uses_clusters = layout.has_ranks;
}

}  // namespace warpcheck::vgpu
