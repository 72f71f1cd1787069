// The symbols of a launch and its threads, and the memory that its host has allocated: a contract
// as terms.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "vgpu/ptx/module.hpp"
#include "vgpu/symbolic/prove_kernel.hpp"
#include "vgpu/symbolic/questions.hpp"
#include "vgpu/symbolic/thread_state.hpp"

namespace warpcheck::vgpu::symbolic {

class LaunchSymbols {
 public:
  // Throws std::invalid_argument for a contract that does not fit the kernel.
  LaunchSymbols(Symbols& symbols, Questions& questions, const ptx::Module& module,
                const ptx::Function& kernel, const KernelContract& contract);

  [[nodiscard]] const KernelContract& contract() const { return contract_; }
  [[nodiscard]] const std::vector<Object>& objects() const { return objects_; }
  // A special register; absent: its value depends on the order of threads, or is unknown.
  [[nodiscard]] std::optional<z3::expr> special(ptx::SpecialRegister reg);
  // The value of a parameter, as a register of `type` gets it; `offset`: bytes into it.
  [[nodiscard]] Value parameter(std::uint32_t index, std::int64_t offset, ptx::Type type);
  // The address of a variable.  Throws std::out_of_range for one that has none here.
  [[nodiscard]] Value variable(const ptx::VariableRef& variable);

  // Arrays that are stored to may hold any values.  Returns whether there was one of known values.
  bool forget_values_of_stored(const std::vector<Access>& accesses);

  // Extents and numbers, by axis.
  [[nodiscard]] const std::vector<z3::expr>& block() const { return block_; }
  [[nodiscard]] const std::vector<z3::expr>& grid() const { return grid_; }
  [[nodiscard]] const std::vector<z3::expr>& thread() const { return thread_; }
  [[nodiscard]] const std::vector<z3::expr>& block_number() const { return block_number_; }
  // The number of the thread in its block, as warps count.
  [[nodiscard]] z3::expr linear_thread() const;
  [[nodiscard]] const std::map<std::string, z3::expr>& scalars() const { return scalars_; }

 private:
  void declare_extents();
  void declare_parameters();
  void declare_parameter(std::uint32_t parameter, std::uint32_t offset, std::uint64_t bytes,
                         const ParameterContract& one, std::map<int, std::uint32_t>& arrays);
  void declare_variables();
  [[nodiscard]] z3::expr term(const Term& term) const;
  [[nodiscard]] z3::expr is_true(const Term& term) const;
  [[nodiscard]] z3::expr condition(const Condition& condition) const;
  void keep_to_powers_of_two(const Term& holds);
  std::uint32_t add_object(const std::string& name, ptx::Space space, const z3::expr& bytes,
                           std::uint32_t alignment);

  Symbols& symbols_;
  Questions& questions_;
  const ptx::Module& module_;
  const ptx::Function& kernel_;
  const KernelContract& contract_;
  std::vector<Object> objects_;
  std::vector<z3::expr> block_, grid_, thread_, block_number_;
  std::map<std::string, z3::expr> names_, scalars_;
  struct Parameter {
    Value value;
    std::uint64_t bytes = 0;
  };
  std::map<std::pair<std::uint32_t, std::uint32_t>, Parameter> parameters_;  // by number, offset
  std::map<std::uint32_t, Term> lengths_;                                    // of objects, bytes
  std::map<std::pair<int, std::uint32_t>, std::uint32_t> variables_;         // by scope and index
  std::uint32_t dynamic_ = 0;  // the object of all extern __shared__ arrays
};

}  // namespace warpcheck::vgpu::symbolic
