// The PTX of one translation unit in one build, on one device.  Its declarations are parsed on
// first use; each kernel is parsed, decoded and linked at its first launch; variables are placed in
// the device's memory once per generation (a trial).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "vgpu/machine/memory/memory.hpp"
#include "vgpu/program/flow/order_sources.hpp"
#include "vgpu/program/program.hpp"
#include "vgpu/ptx/edit/program_edit.hpp"
#include "vgpu/ptx/lazy_module.hpp"
#include "vgpu/ptx/module.hpp"

namespace warpcheck::cudart {

class Allocations;
class DeviceCode;
class KernelHashes;

// A kernel that is ready to launch.
struct LinkedKernel {
  DeviceCode* code = nullptr;  // the code that contains it
  vgpu::Program program;
  std::uint64_t ptx_hash = 0;
  vgpu::OrderSource order_source;
  std::uint64_t patched_in = 0;  // generation whose variable addresses were written to it
};

// Writes the address of a variable at `place` to the constants of a program that uses it.
void write_address(vgpu::Program& program, const vgpu::AddressPatch& patch, std::uint64_t place);

class DeviceCode {
 public:
  // name: for messages.
  DeviceCode(std::string_view text, std::string name);
  ~DeviceCode();
  DeviceCode(const DeviceCode&) = delete;
  DeviceCode& operator=(const DeviceCode&) = delete;
  // Several texts are the parts of relocatable device code, which must be linked.
  DeviceCode(const std::vector<std::string>& texts, std::string name);

  // Returns the same code with edits, made on first use; it lives as long as this.  Nothing that
  // was parsed, decoded or compiled without the edits is used again.
  DeviceCode& edited(const std::shared_ptr<const ptx::Edits>& edits);
  // Returns how many places of the module the edits have changed; 0: there are none.
  [[nodiscard]] std::size_t edited_places() const { return edited_places_; }

  [[nodiscard]] std::string_view text() const { return text_; }
  // Returns whether it is the parts of relocatable device code, linked.
  [[nodiscard]] bool is_linked() const { return part_ends_.size() > 1; }

  // Returns whether the text contains `identifier` as a whole word; does not parse.
  [[nodiscard]] bool mentions(std::string_view identifier) const;

  // Throws vgpu::Refusal (every time) for a kernel that cannot run, ptx::ParseError for a text that
  // is not PTX.
  LinkedKernel& link(std::string_view kernel);
  // Does the same, and writes the addresses of this generation's variables to it.
  LinkedKernel& load(std::string_view kernel, Allocations& allocations);

  // Returns the kernel whose address device code has taken; nullptr: there is none.
  LinkedKernel* load_at(std::uint64_t address, Allocations& allocations);

  // Returns a module variable, placed in this generation; nullptr if there is no such variable.
  vgpu::Allocation* variable(std::string_view name, Allocations& allocations);

  // Called when the module is unloaded: frees the memory of its variables.
  void free_variables(Allocations& allocations);

  // Sets the host variable that holds the address of a __managed__ variable.
  void add_managed(std::string name, void** host_pointer) {
    managed_.emplace_back(std::move(name), host_pointer);
  }

  // Returns the declarations, and the bodies of functions that linked kernels reach.
  const ptx::Module& module() { return lazy_module().module(); }
  // Returns the module after all of its text has been parsed.
  const ptx::Module& whole_module();
  // Returns the bytes of all constant variables.
  std::size_t constant_bytes();

 private:
  ptx::Module linked() const;
  ptx::LazyModule& lazy_module();
  void place_variables(Allocations& allocations);
  [[nodiscard]] vgpu::Allocation* placed_elsewhere(const ptx::Variable& variable,
                                                   const Allocations& allocations) const;
  [[nodiscard]] std::uint32_t index_of(std::string_view name) const;  // kNone: no such variable
  // Returns the address of a variable that has been placed, or of a device function.
  [[nodiscard]] std::optional<std::uint64_t> address_of(std::string_view symbol) const;
  void patch(LinkedKernel& kernel);

  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view name) const {
      return std::hash<std::string_view>{}(name);
    }
  };
  struct Cached {
    std::unique_ptr<LinkedKernel> kernel;
    std::string refusal;  // not empty: why there is no kernel
  };

  std::string storage_;
  std::string_view text_;  // of all parts
  std::vector<std::size_t> part_ends_;
  std::string name_;
  std::unique_ptr<ptx::LazyModule> module_;
  std::unique_ptr<const KernelHashes> hashes_;
  std::shared_ptr<const ptx::Edits> edits_;  // null: none
  std::size_t edited_places_ = 0;
  std::vector<std::unique_ptr<DeviceCode>> edited_;  // the same code with other edits
  using Kernels = std::unordered_map<std::string, Cached, Hash, std::equal_to<>>;
  Kernels kernels_;
  const Kernels::value_type* linked_last_ = nullptr;  // mostly the next one, too
  std::vector<std::pair<std::string, void**>> managed_;
  std::vector<vgpu::Allocation*> places_;     // of module_->variables; null: not in memory
  std::vector<std::string> unplaced_reason_;  // beside places_: why a variable cannot be used
  std::uint64_t placed_in_ = 0;               // generation
};

}  // namespace warpcheck::cudart
