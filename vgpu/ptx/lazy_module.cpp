#include "vgpu/ptx/lazy_module.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "vgpu/ptx/opcode.hpp"
#include "vgpu/ptx/parse/body_parser.hpp"
#include "vgpu/ptx/parse/module_parser.hpp"

namespace warpcheck::ptx {

class LazyModule::Impl {
 public:
  explicit Impl(Module whole) : module_(std::move(whole)) {}
  Impl(std::string_view text, std::string_view name)
      : name_(name), context_(begin_module(module_, text, name_)) {
    context_->later = &bodies_;
    parse_module(*context_);
    body_of_.assign(module_.functions.size(), kNone);
    for (std::uint32_t at = 0; at < bodies_.size(); ++at) body_of_[bodies_[at].function] = at;
  }

  [[nodiscard]] const Module& module() const { return module_; }

  void parse_all() {
    for (std::uint32_t function = 0; function < body_of_.size(); ++function) parse(function);
  }

  void parse_reached_from(std::string_view kernel) {
    if (!context_) return;
    std::vector<std::uint32_t> reached = functions_named(kernel);
    std::set<std::uint32_t> seen(reached.begin(), reached.end());
    while (!reached.empty()) {
      const Function& function = module_.functions[reached.back()];
      parse(reached.back());
      reached.pop_back();
      if (needs_all(function)) return parse_all();
      for (const Instruction& call : function.body) {
        if (call.opcode != Opcode::call_) continue;
        for (const std::uint32_t callee : functions_named(call.operands[1].name)) {
          if (seen.insert(callee).second) reached.push_back(callee);
        }
      }
    }
  }

 private:
  // Returns the functions that a name means: the one that is declared so, and what it is an alias
  // of.
  [[nodiscard]] std::vector<std::uint32_t> functions_named(std::string_view name) const {
    std::vector<std::uint32_t> found;
    const auto add = [&](std::string_view one) {
      const std::optional<Symbol> symbol = context_->symbols.find(one);
      if (symbol && symbol->kind == Symbol::Kind::function) found.push_back(symbol->index);
    };
    add(name);
    for (const Module::Alias& alias : module_.aliases) {
      if (alias.name == name) add(alias.target);
    }
    return found;
  }

  static bool needs_all(const Function& function) {
    const auto has_unknown_size = [](const std::vector<Variable>& variables) {
      return std::ranges::any_of(variables, [](const Variable& one) { return one.bytes == 0; });
    };
    return has_unknown_size(function.results) || has_unknown_size(function.parameters) ||
           std::ranges::any_of(function.prototypes,
                               [&](const Prototype& prototype) {
                                 return has_unknown_size(prototype.parameters);
                               }) ||
           std::ranges::any_of(function.body, [](const Instruction& call) {
             return call.opcode == Opcode::call_ &&
                    (call.operands.size() < 2 || call.operands[1].kind != Operand::Kind::function);
           });
  }

  // A body with a syntax error has the same error again.
  void parse(std::uint32_t function) {
    const std::uint32_t at = body_of_[function];
    if (at == kNone) return;
    context_->lexer = Lexer(bodies_[at].text, name_, bodies_[at].line);
    Function parsed = module_.functions[function];
    try {
      parse_body(*context_, parsed);
    } catch (...) {
      while (context_->symbols.depth() > 0) context_->symbols.close_scope();
      throw;
    }
    context_->function_names.resolve(module_.inlined_functions);
    module_.functions[function] = std::move(parsed);
    body_of_[function] = kNone;
  }

  std::string name_;
  Module module_;
  std::optional<Context> context_;  // none: all is parsed
  std::vector<BodyText> bodies_;
  // By function: into bodies_; kNone: it has no body, or that is parsed.
  std::vector<std::uint32_t> body_of_;
};

LazyModule::LazyModule(std::string_view text, std::string_view name)
    : impl_(std::make_unique<Impl>(text, name)) {}
LazyModule::LazyModule(Module whole) : impl_(std::make_unique<Impl>(std::move(whole))) {}
LazyModule::~LazyModule() = default;
const Module& LazyModule::module() const { return impl_->module(); }
void LazyModule::parse_reached_from(std::string_view kernel) { impl_->parse_reached_from(kernel); }
void LazyModule::parse_all() { impl_->parse_all(); }

}  // namespace warpcheck::ptx
