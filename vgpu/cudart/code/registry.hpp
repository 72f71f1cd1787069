// The registry of everything that static constructors register before main: translation units,
// their kernels and variables, and the texts of unoptimised builds.  Nothing is parsed here.
//
// nvcc's host objects call __cudaRegisterFatBinary once per translation unit, and then register its
// kernels and variables, each by a host address (the stub function, the shadow variable) and a
// mangled device name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "vgpu/cudart/api/calls/call_log.hpp"
#include "vgpu/cudart/code/device_code.hpp"
#include "vgpu/cudart/code/text_kernel.hpp"
#include "vgpu/cudart/device/virtual_device.hpp"

namespace warpcheck::cudart {

class Allocations;
class Trial;
class Unit;

// The attributes set by cudaFuncSetAttribute.
struct KernelAttributes {
  int dynamic_shared_bytes_max = -1;                     // -1: not set
  std::vector<const void*> dynamic_shared_bytes_set_at;  // the callers of cudaFuncSetAttribute
  int carveout = -1;
  Dim3 cluster{0, 0, 0};  // required
  int non_portable_clusters = 0;
  int cluster_policy = 0;
};

// The kernel that a host function pointer, or a cudaKernel_t, denotes.
struct Kernel {
  Unit* unit = nullptr;
  const void* host_function = nullptr;
  std::string name;  // mangled

  // Returns the attributes on the device that owns this memory; valid until it is reset.
  KernelAttributes& attributes_on(const Allocations& device);

 private:
  struct OfDevice {
    std::uint64_t generation = 0;
    KernelAttributes attributes;
  };
  std::map<const Allocations*, OfDevice> attributes_;
};

// A __device__ or __constant__ variable for the host.
struct Symbol {
  Unit* unit = nullptr;
  std::string name;  // in the PTX
  std::size_t bytes = 0;
};

// A translation unit.
class Unit {
 public:
  explicit Unit(const void* fatbinary_wrapper) : wrapper_(fatbinary_wrapper) {}
  // For PTX that the program loads at run time; it is the same in both builds.  Several texts are
  // linked.
  explicit Unit(std::vector<std::string> texts) : loaded_texts_(std::move(texts)) {}
  // For PTX that the harness has as text, in each build.
  explicit Unit(BuildTexts texts) : build_texts_(std::move(texts)) {}

  // Returns the unit's code in the build of the trial, on the device that owns this memory.  It is
  // found on first use: in the fatbinary, by the device's compute capability, or among the
  // registered texts; and it has the edits of the trial. user: the requested kernel or variable,
  // for messages.  Throws vgpu::Refusal.
  DeviceCode& code(const Trial& trial, const Allocations& device, std::string_view user);

  // For an experiment with a changed source: runs these texts instead of the unit's own code, until
  // there are others, or none (empty).  Code that has run lives as long as the unit.
  // They get the unit's own names of internal linkage.
  void replace_texts(BuildTexts texts);

  [[nodiscard]] const void* wrapper() const { return wrapper_; }  // null: loaded at run time

  // A variable with all arguments of its registration, so that it can be registered with a real
  // runtime too.
  struct Variable {
    void* host = nullptr;  // its shadow, or a pointer to it
    std::string name;
    std::size_t bytes = 0;
    int external = 0, constant = 0, global = 0;
    bool managed = false;
  };
  std::vector<Variable> variables;

  std::vector<std::string> names;  // of its kernels and variables
  bool removed = false;
  // Sets the addresses of the __managed__ variables, before host code uses them.
  void place_managed(const Trial& trial, Allocations& allocations);

 private:
  friend class Registry;
  struct OfDevice {
    std::map<unsigned, std::unique_ptr<DeviceCode>> optimized;  // by compute capability, 75
    std::unique_ptr<DeviceCode> unoptimized;
    std::unique_ptr<DeviceCode> loaded;
  };
  void add_managed_variables(DeviceCode& code) const;
  void find_unoptimized(std::string_view user);
  void find_stand_in();
  DeviceCode& code_of_build(const Trial& trial, const Allocations& device, std::string_view user);
  DeviceCode& code_of_texts(const Trial& trial, OfDevice& own, std::string_view user) const;

  const void* wrapper_ = nullptr;
  std::vector<std::string> loaded_texts_;
  BuildTexts build_texts_;
  std::vector<std::unique_ptr<Unit>> replacements_;
  bool sought_stand_in_ = false;
  Unit* replacement_ = nullptr;                      // among these; null: its own code
  std::vector<std::string_view> unoptimized_texts_;  // empty: not searched for, or there are none
  bool unoptimized_is_linked_ = false;               // of relocatable device code
  std::map<const Allocations*, OfDevice> code_;
};

class Registry {
 public:
  // Created on first use, which may be before main, and never destroyed.
  static Registry& instance();

  Unit& add_unit(const void* fatbinary_wrapper);
  void remove_unit(Unit& unit);
  // The first registration of a host address counts: a template that is instantiated in several
  // units has one host function and equal device functions.
  void add_kernel(Unit& unit, const void* host_function, std::string_view name);
  void add_symbol(Unit& unit, const Unit::Variable& variable);
  // For modules that the program loads: their kernels have only handles.
  Unit& add_loaded_unit(std::vector<std::string> texts);
  Kernel& add_loaded_kernel(Unit& unit, std::string_view name);
  // Adds a kernel of which only the text is known; its handle is its host function.
  Kernel& add_text_kernel(BuildTexts texts, std::string_view name);
  void add_unoptimized(std::string_view text);
  // Registers the source of the unoptimised text that begins at `text`.
  void add_source(const char* text, const KernelSource& source);

  [[nodiscard]] const std::vector<std::unique_ptr<Unit>>& units() const { return units_; }
  [[nodiscard]] std::vector<const Kernel*> kernels_of(const Unit& unit) const;

  // Finds a kernel by host function or by handle; nullptr if there is none.
  [[nodiscard]] Kernel* find_kernel(const void* function);
  [[nodiscard]] const Symbol* find_symbol(const void* host_variable) const;
  // Returns the newest PTX target of all units, 75 for compute_75; 0: no unit has PTX.
  [[nodiscard]] unsigned newest_target() const;
  // Returns the file that a unit was compiled from; an empty path: it was not registered.
  [[nodiscard]] KernelSource source_of(Unit& unit);

 private:
  friend class Unit;
  struct Unoptimized {
    const char* text = nullptr;
    std::unique_ptr<DeviceCode> code;
    KernelSource source{};
    bool taken = false;  // belongs to a unit
  };

  // Returns the texts that mention one of the unit's names, and the texts that define what these
  // only declare.
  std::vector<std::string_view> claim_linked(const std::vector<std::string>& names);
  // Returns the unit's own text: the first free one that mentions all of the unit's names; or none.
  std::vector<std::string_view> claim_text(const std::vector<std::string>& names);

  std::vector<std::unique_ptr<Unit>> units_;
  std::vector<std::unique_ptr<Kernel>> kernels_;
  std::unordered_map<const void*, Kernel*> kernel_of_;
  const std::pair<const void* const, Kernel*>* found_last_ = nullptr;  // an entry of kernel_of_
  std::unordered_map<const void*, Symbol> symbol_of_;
  std::vector<Unoptimized> unoptimized_;
};

}  // namespace warpcheck::cudart
