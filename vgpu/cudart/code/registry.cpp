#include "vgpu/cudart/code/registry.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>

#include "vgpu/cudart/code/fatbinary_image.hpp"
#include "vgpu/cudart/code/file_marks.hpp"
#include "vgpu/cudart/device/trial.hpp"
#include "vgpu/cudart/exec/exec_session.hpp"
#include "vgpu/cudart/memory/allocations.hpp"

namespace warpcheck::cudart {
namespace {

constexpr const char* kUnoptimizedName = "unoptimised PTX";

// What a text defines for others, and its kernels, which may be of an unnamed namespace: functions
// that are not of every unit that includes their header.
std::set<std::string> functions_of(std::string_view text) {
  const ptx::Module module = ptx::parse(text.substr(0, text.find('\0')), "PTX");
  std::set<std::string> names;
  for (const ptx::Function& function : module.functions) {
    const bool is_own = function.linkage == ptx::Linkage::visible || function.is_entry;
    if (function.has_body && is_own) names.insert(function.name);
  }
  return names;
}

// The parts of relocatable code, of which some are replaced by the texts that the session has for
// them: those that define the same functions.  None: it has no such texts.
std::vector<std::string> stand_ins_of_parts(const void* wrapper,
                                            const std::vector<std::string>& names,
                                            const Trial& trial, std::string_view user) {
  ExecSession* const session = ExecSession::instance();
  std::vector<std::string> texts;
  if (session != nullptr) texts = session->stand_in_texts();
  if (texts.empty()) return {};
  std::vector<std::string> parts = ptx_in_fatbinary(wrapper, code_target(trial), user);
  std::vector<std::set<std::string>> defined;
  for (const std::string& part : parts) defined.push_back(functions_of(part));
  bool is_found = false;
  for (std::string& text : texts) {
    restore_file_marks(names, text);
    const std::set<std::string> own = functions_of(text);
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (defined[i].empty() || !std::ranges::includes(own, defined[i])) continue;
      parts[i] = text;
      std::vector<std::string> replaced;
      std::ranges::copy_if(names, std::back_inserter(replaced),
                           [&](const std::string& name) { return own.contains(name); });
      session->stood_in(replaced);
      is_found = true;
      break;
    }
  }
  return is_found ? parts : std::vector<std::string>();
}

}  // namespace

KernelAttributes& Kernel::attributes_on(const Allocations& device) {
  OfDevice& own = attributes_[&device];
  if (own.generation != device.generation()) own = {device.generation(), {}};
  return own.attributes;
}

DeviceCode& Unit::code(const Trial& trial, const Allocations& device, std::string_view user) {
  DeviceCode& code = code_of_build(trial, device, user);
  const std::shared_ptr<const ptx::Edits>& edits = trial.settings().edits;
  return edits == nullptr ? code : code.edited(edits);
}

DeviceCode& Unit::code_of_build(const Trial& trial, const Allocations& device,
                                std::string_view user) {
  if (!sought_stand_in_) {
    find_stand_in();
    std::vector<std::string> parts;
    if (replacement_ == nullptr && wrapper_ != nullptr && is_relocatable(wrapper_))
      parts = stand_ins_of_parts(wrapper_, names, trial, user);
    if (!parts.empty()) {
      replacement_ = replacements_.emplace_back(std::make_unique<Unit>(std::move(parts))).get();
      replacement_->variables = variables;
    }
  }
  if (replacement_ != nullptr) return replacement_->code_of_build(trial, device, user);
  const bool is_optimized = trial.settings().build == Build::optimized;
  const unsigned sm = trial.capability().sm();
  OfDevice& own = code_[&device];
  if (!build_texts_.empty()) return code_of_texts(trial, own, user);
  if (!loaded_texts_.empty() && own.loaded == nullptr) {
    own.loaded = std::make_unique<DeviceCode>(loaded_texts_, "loaded PTX");
  }
  if (own.loaded != nullptr) return *own.loaded;
  std::unique_ptr<DeviceCode>& code = is_optimized ? own.optimized[sm] : own.unoptimized;
  if (code != nullptr) return *code;
  if (is_optimized) {
    code = std::make_unique<DeviceCode>(ptx_in_fatbinary(wrapper_, code_target(trial), user),
                                        "embedded PTX");
  } else {
    find_unoptimized(user);
    const std::vector<std::string_view>& texts = unoptimized_texts_;
    code = unoptimized_is_linked_
               ? std::make_unique<DeviceCode>(std::vector<std::string>(texts.begin(), texts.end()),
                                              kUnoptimizedName)
               : std::make_unique<DeviceCode>(texts.front(), kUnoptimizedName);
  }
  add_managed_variables(*code);
  return *code;
}

DeviceCode& Unit::code_of_texts(const Trial& trial, OfDevice& own, std::string_view user) const {
  const bool is_optimized = trial.settings().build == Build::optimized;
  const std::string& text = is_optimized ? build_texts_.optimized : build_texts_.unoptimized;
  std::unique_ptr<DeviceCode>& code =
      is_optimized ? own.optimized[trial.capability().sm()] : own.unoptimized;
  if (code != nullptr) return *code;
  if (text.empty()) {
    throw vgpu::Refusal(fmt::format("{}: there is no PTX of the {} build", user,
                                    is_optimized ? "optimised" : "unoptimised"));
  }
  code = std::make_unique<DeviceCode>(text, is_optimized ? "PTX" : kUnoptimizedName);
  add_managed_variables(*code);
  return *code;
}

void Unit::replace_texts(BuildTexts texts) {
  replacement_ = nullptr;
  if (texts.empty()) return;
  restore_file_marks(names, texts.optimized);
  restore_file_marks(names, texts.unoptimized);
  replacement_ = replacements_.emplace_back(std::make_unique<Unit>(std::move(texts))).get();
  replacement_->variables = variables;
}

void Unit::find_stand_in() {
  sought_stand_in_ = true;
  ExecSession* const session = ExecSession::instance();
  if (session == nullptr || names.empty()) return;
  for (std::string text : session->stand_in_texts()) {
    restore_file_marks(names, text);
    const DeviceCode code(std::string_view(text), "PTX");
    const bool has_all =
        std::ranges::all_of(names, [&](const std::string& name) { return code.mentions(name); });
    if (!has_all) continue;
    session->stood_in(names);
    return replace_texts({.optimized = text, .unoptimized = text});
  }
}

void Unit::find_unoptimized(std::string_view user) {
  Registry& registry = Registry::instance();
  if (unoptimized_texts_.empty() && is_relocatable(wrapper_)) {
    unoptimized_texts_ = registry.claim_linked(names);
    unoptimized_is_linked_ = !unoptimized_texts_.empty();
  }
  if (unoptimized_texts_.empty()) unoptimized_texts_ = registry.claim_text(names);
  if (!unoptimized_texts_.empty()) return;
  throw vgpu::Refusal(fmt::format(
      "{}: no unoptimised build of its translation unit is linked in; compile the file with "
      "warpcheck_kernels(), or embed the output of `nvcc -ptx -G` and hand it to "
      "warpcheck_register_unoptimized()",
      user));
}

void Unit::add_managed_variables(DeviceCode& code) const {
  for (const Variable& variable : variables) {
    if (variable.managed) code.add_managed(variable.name, static_cast<void**>(variable.host));
  }
}

void Unit::place_managed(const Trial& trial, Allocations& allocations) {
  for (const Variable& variable : variables) {
    if (!variable.managed) continue;
    code(trial, allocations, variable.name).variable(variable.name, allocations);
  }
}

Registry& Registry::instance() {
  static auto* const registry = new Registry;
  return *registry;
}

Unit& Registry::add_unit(const void* fatbinary_wrapper) {
  units_.push_back(std::make_unique<Unit>(fatbinary_wrapper));
  return *units_.back();
}

// The unit object remains: another thread may be running one of its kernels, and programs keep
// cudaKernel_t in static variables.
void Registry::remove_unit(Unit& unit) {
  unit.removed = true;
  found_last_ = nullptr;
  std::erase_if(kernel_of_, [&](const auto& entry) { return entry.second->unit == &unit; });
  std::erase_if(symbol_of_, [&](const auto& entry) { return entry.second.unit == &unit; });
}

void Registry::add_kernel(Unit& unit, const void* host_function, std::string_view name) {
  unit.names.emplace_back(name);
  if (kernel_of_.contains(host_function)) return;
  auto kernel = std::make_unique<Kernel>();
  kernel->unit = &unit;
  kernel->host_function = host_function;
  kernel->name = name;
  kernel_of_[host_function] = kernel.get();
  kernel_of_[kernel.get()] = kernel.get();  // the entry for the handle
  kernels_.push_back(std::move(kernel));
}

Unit& Registry::add_loaded_unit(std::vector<std::string> texts) {
  units_.push_back(std::make_unique<Unit>(std::move(texts)));
  return *units_.back();
}

Kernel& Registry::add_loaded_kernel(Unit& unit, std::string_view name) {
  auto kernel = std::make_unique<Kernel>();
  kernel->unit = &unit;
  kernel->host_function = kernel.get();
  kernel->name = name;
  kernel_of_[kernel.get()] = kernel.get();
  kernels_.push_back(std::move(kernel));
  return *kernels_.back();
}

Kernel& Registry::add_text_kernel(BuildTexts texts, std::string_view name) {
  units_.push_back(std::make_unique<Unit>(std::move(texts)));
  return add_loaded_kernel(*units_.back(), name);
}

void Registry::add_symbol(Unit& unit, const Unit::Variable& variable) {
  unit.variables.push_back(variable);
  unit.names.push_back(variable.name);
  symbol_of_.try_emplace(variable.host, Symbol{&unit, variable.name, variable.bytes});
}

std::vector<const Kernel*> Registry::kernels_of(const Unit& unit) const {
  std::vector<const Kernel*> kernels;
  for (const std::unique_ptr<Kernel>& kernel : kernels_) {
    if (kernel->unit == &unit) kernels.push_back(kernel.get());
  }
  return kernels;
}

void Registry::add_unoptimized(std::string_view text) {
  unoptimized_.push_back(
      {.text = text.data(), .code = std::make_unique<DeviceCode>(text, kUnoptimizedName)});
}

void Registry::add_source(const char* text, const KernelSource& source) {
  for (Unoptimized& known : unoptimized_) {
    if (known.text == text) known.source = source;
  }
}

unsigned Registry::newest_target() const {
  unsigned newest = 0;
  for (const std::unique_ptr<Unit>& unit : units_) {
    if (unit->removed || unit->wrapper() == nullptr) continue;
    newest = std::max(newest, newest_target_in_fatbinary(unit->wrapper()));
  }
  return newest;
}

KernelSource Registry::source_of(Unit& unit) {
  if (unit.wrapper_ == nullptr) return {};  // only its PTX is known
  try {
    unit.find_unoptimized({});
  } catch (const vgpu::Refusal&) {
    return {};  // there is no such text, so it has no source
  }
  if (unit.unoptimized_is_linked_) return {};
  for (const Unoptimized& known : unoptimized_) {
    if (known.text == unit.unoptimized_texts_.front().data()) return known.source;
  }
  return {};
}

Kernel* Registry::find_kernel(const void* function) {
  if (found_last_ != nullptr && found_last_->first == function) return found_last_->second;
  const auto found = kernel_of_.find(function);
  if (found == kernel_of_.end()) return nullptr;
  found_last_ = &*found;
  return found->second;
}

const Symbol* Registry::find_symbol(const void* host_variable) const {
  const auto found = symbol_of_.find(host_variable);
  return found == symbol_of_.end() ? nullptr : &found->second;
}

std::vector<std::string_view> Registry::claim_linked(const std::vector<std::string>& names) {
  std::vector<std::string_view> texts;
  std::set<std::string> wanted(names.begin(), names.end());
  std::set<const Unoptimized*> chosen;
  for (bool found = true; found;) {
    found = false;
    for (Unoptimized& text : unoptimized_) {
      if (chosen.contains(&text)) continue;
      const ptx::Module& module = text.code->module();
      const auto is_wanted = [&](const auto& symbol) { return wanted.contains(symbol.name); };
      const bool defines =
          std::ranges::any_of(module.functions,
                              [&](const auto& f) { return f.has_body && is_wanted(f); }) ||
          std::ranges::any_of(module.variables,
                              [&](const auto& v) { return !v.external && is_wanted(v); });
      if (!defines) continue;
      found = true;
      chosen.insert(&text);
      text.taken = true;
      texts.emplace_back(text.code->text());
      for (const auto& function : module.functions) {
        if (!function.has_body) wanted.insert(function.name);
      }
      for (const auto& variable : module.variables) {
        if (variable.external) wanted.insert(variable.name);
      }
    }
  }
  return texts;
}

std::vector<std::string_view> Registry::claim_text(const std::vector<std::string>& names) {
  if (names.empty()) return {};
  const auto mentions_all = [&](const Unoptimized& text) {
    return std::all_of(names.begin(), names.end(),
                       [&](const std::string& name) { return text.code->mentions(name); });
  };
  for (const bool taken : {false, true}) {
    for (Unoptimized& text : unoptimized_) {
      if (text.taken != taken || !mentions_all(text)) continue;
      text.taken = true;
      return {text.code->text()};
    }
  }
  return {};
}

}  // namespace warpcheck::cudart
