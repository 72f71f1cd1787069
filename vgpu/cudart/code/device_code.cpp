#include "vgpu/cudart/code/device_code.hpp"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <bit>
#include <cctype>
#include <cstring>
#include <new>

#include "vgpu/cudart/code/ptx_hash.hpp"
#include "vgpu/cudart/memory/allocations.hpp"
#include "vgpu/machine/machine.hpp"
#include "vgpu/program/layout.hpp"
#include "vgpu/ptx/text_parts.hpp"

namespace warpcheck::cudart {
namespace {

bool is_identifier_char(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$' || c == '%';
}

bool lives_in_memory(const ptx::Variable& variable) {
  return variable.space == ptx::Space::global || variable.space == ptx::Space::constant;
}

std::uint64_t hash_with_edits(std::uint64_t hash, const ptx::Edits& edits) {
  for (const ptx::ProgramEdit& edit : edits) {
    const std::string text = ptx::describe(edit);
    hash = XXH3_64bits_withSeed(text.data(), text.size(), hash);
  }
  return hash;
}

}  // namespace

bool DeviceCode::mentions(std::string_view identifier) const {
  for (std::size_t at = text_.find(identifier); at != std::string_view::npos;
       at = text_.find(identifier, at + 1)) {
    const std::size_t end = at + identifier.size();
    const bool starts = at == 0 || !is_identifier_char(text_[at - 1]);
    if (starts && (end == text_.size() || !is_identifier_char(text_[end]))) return true;
  }
  return false;
}

DeviceCode::DeviceCode(std::string_view text, std::string name)
    : text_(text), name_(std::move(name)) {}

DeviceCode::~DeviceCode() = default;

DeviceCode::DeviceCode(const std::vector<std::string>& texts, std::string name)
    : name_(std::move(name)) {
  for (const std::string& text : texts) {
    storage_.append(text, 0, text.find('\0')) += '\n';
    part_ends_.push_back(storage_.size());
  }
  text_ = storage_;
}

DeviceCode& DeviceCode::edited(const std::shared_ptr<const ptx::Edits>& edits) {
  for (const std::unique_ptr<DeviceCode>& known : edited_) {
    if (known->edits_ == edits || *known->edits_ == *edits) return *known;
  }
  auto code = std::make_unique<DeviceCode>(text_, name_);
  code->part_ends_ = part_ends_;
  code->managed_ = managed_;
  code->edits_ = edits;
  return *edited_.emplace_back(std::move(code));
}

ptx::Module DeviceCode::linked() const {
  std::vector<ptx::TextPart> parts;
  std::size_t begin = 0;
  std::uint32_t lines = 0;
  for (const std::size_t end : part_ends_) {
    parts.push_back({text_.substr(begin, end - begin), lines});
    lines += static_cast<std::uint32_t>(std::ranges::count(parts.back().text, '\n'));
    begin = end;
  }
  try {
    return ptx::parse_parts(parts, name_);
  } catch (const ptx::LinkError& error) {
    throw vgpu::Refusal(error.what());
  }
}

ptx::LazyModule& DeviceCode::lazy_module() {
  if (module_ != nullptr) return *module_;
  if (!is_linked() && edits_ == nullptr) {
    module_ = std::make_unique<ptx::LazyModule>(text_, name_);
    return *module_;
  }
  ptx::Module module = is_linked() ? linked() : ptx::parse(text_, name_);
  if (edits_ != nullptr) {
    try {
      edited_places_ = ptx::apply_edits(module, *edits_);
    } catch (const ptx::EditError& error) {
      throw vgpu::Refusal(error.what());
    }
  }
  module_ = std::make_unique<ptx::LazyModule>(std::move(module));
  return *module_;
}

const ptx::Module& DeviceCode::whole_module() {
  lazy_module().parse_all();
  return module();
}

std::size_t DeviceCode::constant_bytes() {
  std::size_t bytes = 0;
  for (const ptx::Variable& variable : module().variables) {
    if (variable.space == ptx::Space::constant) bytes += variable.bytes;
  }
  return bytes;
}

LinkedKernel& DeviceCode::link(std::string_view kernel) {
  if (linked_last_ != nullptr && linked_last_->first == kernel) return *linked_last_->second.kernel;
  auto found = kernels_.find(kernel);
  const bool first = found == kernels_.end();
  if (first) found = kernels_.try_emplace(std::string(kernel)).first;
  Cached& cached = found->second;
  if (first) {
    try {
      auto linked = std::make_unique<LinkedKernel>();
      linked->code = this;
      lazy_module().parse_reached_from(kernel);
      linked->program = vgpu::decode(module(), kernel);
      linked->program.ptx = text_;
      vgpu::link(linked->program);
      if (hashes_ == nullptr) hashes_ = std::make_unique<KernelHashes>(text_);
      linked->ptx_hash = hashes_->of(kernel);
      if (edited_places_ != 0) linked->ptx_hash = hash_with_edits(linked->ptx_hash, *edits_);
      linked->order_source = vgpu::find_order_source(linked->program);
      cached.kernel = std::move(linked);
    } catch (const vgpu::Refusal& refusal) {
      cached.refusal = refusal.what();
    } catch (...) {
      kernels_.erase(found);
      throw;
    }
  }
  if (cached.kernel == nullptr) throw vgpu::Refusal(cached.refusal);
  linked_last_ = &*found;
  return *cached.kernel;
}

LinkedKernel& DeviceCode::load(std::string_view kernel, Allocations& allocations) {
  LinkedKernel& linked = link(kernel);
  place_variables(allocations);
  if (linked.patched_in != placed_in_) patch(linked);
  return linked;
}

LinkedKernel* DeviceCode::load_at(std::uint64_t address, Allocations& allocations) {
  for (const ptx::Function& function : module().functions) {
    if (!function.is_entry || vgpu::function_address(function.name) != address) continue;
    return &load(function.name, allocations);
  }
  return nullptr;
}

vgpu::Allocation* DeviceCode::variable(std::string_view name, Allocations& allocations) {
  module();
  place_variables(allocations);
  const std::uint32_t index = index_of(name);
  return index == ptx::kNone ? nullptr : places_[index];
}

void DeviceCode::free_variables(Allocations& allocations) {
  if (placed_in_ != allocations.generation()) return;
  for (vgpu::Allocation* const place : places_) {
    if (place != nullptr) allocations.free(*place);
  }
  placed_in_ = 0;
}

std::uint32_t DeviceCode::index_of(std::string_view name) const {
  const std::vector<ptx::Variable>& variables = module_->module().variables;
  const auto found =
      std::find_if(variables.begin(), variables.end(), [&](const ptx::Variable& variable) {
        return variable.name == name && lives_in_memory(variable);
      });
  if (found == variables.end()) return ptx::kNone;
  return static_cast<std::uint32_t>(found - variables.begin());
}

std::optional<std::uint64_t> DeviceCode::address_of(std::string_view symbol) const {
  if (const std::uint32_t index = index_of(symbol); index != ptx::kNone) {
    if (places_[index] == nullptr) return std::nullopt;
    return places_[index]->address;
  }
  const ptx::Function* const function = module_->module().find_function(symbol);
  if (function == nullptr || function->is_entry) return std::nullopt;
  return vgpu::function_address(symbol);
}

// A managed variable is shared by all devices: returns where another device has placed it; nullptr:
// none has.
vgpu::Allocation* DeviceCode::placed_elsewhere(const ptx::Variable& variable,
                                               const Allocations& allocations) const {
  if (!variable.managed) return nullptr;
  for (const auto& [name, host_pointer] : managed_) {
    if (name != variable.name) continue;
    vgpu::Allocation* const found = allocations.find(*host_pointer);
    const bool is_it = found != nullptr && found->managed && found->name == name;
    if (is_it && found->device != allocations.device()) return found;
  }
  return nullptr;
}

// Each generation places the variables again, in the order of the text, with their initial bytes.
// So a trial that uses the same units in the same order gets the same addresses.
void DeviceCode::place_variables(Allocations& allocations) {
  if (placed_in_ == allocations.generation()) return;
  const std::vector<ptx::Variable>& variables = module().variables;
  if (places_.size() == variables.size() && std::ranges::none_of(variables, lives_in_memory)) {
    placed_in_ = allocations.generation();
    return;
  }
  places_.assign(variables.size(), nullptr);
  unplaced_reason_.assign(variables.size(), {});
  for (std::size_t i = 0; i < variables.size(); ++i) {
    const ptx::Variable& variable = variables[i];
    if (!lives_in_memory(variable)) continue;
    if (variable.external) {
      unplaced_reason_[i] = "it is defined in another translation unit";
      continue;
    }
    if (vgpu::Allocation* const placed = placed_elsewhere(variable, allocations)) {
      places_[i] = placed;
      continue;
    }
    const std::string shown = vgpu::demangled_variable(variable.name);
    vgpu::Allocation* place = variable.managed
                                  ? allocations.allocate_mapped(variable.bytes, shown)
                                  : allocations.allocate(variable.bytes, variable.space, shown);
    if (place == nullptr) throw std::bad_alloc();
    if (variable.managed) {
      place->managed = true;
      for (const auto& [name, host_pointer] : managed_) {
        if (name == variable.name) *host_pointer = reinterpret_cast<void*>(place->address);
      }
    }
    std::memset(place->data, 0, place->bytes);
    std::copy(variable.initial.begin(), variable.initial.end(),
              reinterpret_cast<std::uint8_t*>(place->data));
    places_[i] = place;
  }
  placed_in_ = allocations.generation();
  for (std::size_t i = 0; i < variables.size(); ++i) {
    if (places_[i] == nullptr || places_[i]->device != allocations.device()) continue;
    for (const ptx::Variable::Relocation& relocation : variables[i].relocations) {
      const std::optional<std::uint64_t> symbol = address_of(relocation.symbol);
      if (!symbol) {
        unplaced_reason_[i] = fmt::format(
            "it holds the address of '{}', which is neither a variable nor a device function",
            relocation.symbol);
        continue;
      }
      const std::uint64_t address = *symbol + static_cast<std::uint64_t>(relocation.addend);
      const std::uint64_t stored = (address & relocation.mask) >> std::countr_zero(relocation.mask);
      if (relocation.offset + relocation.bytes <= places_[i]->bytes) {
        std::memcpy(places_[i]->data + relocation.offset, &stored,
                    std::min<std::size_t>(relocation.bytes, sizeof stored));
      }
    }
    allocations.fill_from_host(*places_[i]);
  }
}

void write_address(vgpu::Program& program, const vgpu::AddressPatch& patch, std::uint64_t place) {
  const std::uint64_t address = place + static_cast<std::uint64_t>(patch.addend);
  std::byte* const row = program.constants.data() + patch.constant_offset;
  const std::size_t bytes = patch.wide ? 8 : 4;
  for (unsigned lane = 0; lane < vgpu::kWarpLanes; ++lane) {
    std::memcpy(row + lane * bytes, &address, bytes);
  }
}

void DeviceCode::patch(LinkedKernel& kernel) {
  vgpu::Program& program = kernel.program;
  for (const vgpu::AddressPatch& patch : program.patches) {
    const vgpu::Allocation* place = places_[patch.variable];
    const std::string& reason = unplaced_reason_[patch.variable];
    if (place == nullptr || !reason.empty()) {
      throw vgpu::Refusal(fmt::format("{}: kernel {}: variable '{}' cannot be used: {}", name_,
                                      program.kernel,
                                      module_->module().variables[patch.variable].name,
                                      reason.empty() ? "it has no address" : reason));
    }
    write_address(program, patch, place->address);
  }
  kernel.patched_in = placed_in_;
}

}  // namespace warpcheck::cudart
