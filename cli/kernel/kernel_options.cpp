#include "cli/kernel/kernel_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "cli/cli.hpp"
#include "cli/kernel/contracts.hpp"
#include "cli/kernel/gpuverify_header.hpp"
#include "cli/kernel/kernel_code.hpp"
#include "cli/kernel/kernel_text.hpp"
#include "cli/kernel/signature.hpp"
#include "vgpu/text/shell_words.hpp"

namespace warpcheck {
namespace {

std::vector<std::string> options_of_nvcc(const std::vector<std::string>& texts) {
  std::vector<std::string> words;
  for (const std::string& text : texts) {
    for (std::string& word : shell_words(text)) words.push_back(std::move(word));
  }
  return words;
}

bool has_volatile(const ptx::Module& module) {
  return std::ranges::any_of(module.functions, [](const ptx::Function& function) {
    return std::ranges::any_of(function.body, [](const ptx::Instruction& one) {
      return one.modifiers.order == ptx::Order::volatile_;
    });
  });
}

Contracts contracts_of_options(const KernelOptions& options) {
  Contracts contracts;
  if (!options.block.empty()) contracts.block = extents_of(options.block, "--block");
  if (!options.grid.empty()) contracts.grid = extents_of(options.grid, "--grid");
  for (const std::string& text : options.requirements) {
    try {
      contracts.conditions.emplace_back(text);
    } catch (const ExpressionError& error) {
      throw UsageError(fmt::format("--requires {}", error.what()));
    }
  }
  for (const std::string& text : options.lengths) {
    contracts.lengths.push_back(length_of_text(text, "--length"));
  }
  return contracts;
}

}  // namespace

void KernelOptions::add_to(CLI::App& command) {
  command.add_option("FILE", file, "A .cu file, or PTX in a .ptx file")->required();
  command.add_option("KERNEL", names, "Its kernels to try (default: the only one)");
  add_options_to(command);
}

void KernelOptions::add_options_to(CLI::App& command) {
  command.add_option("--block", block,
                     "Threads of a block: 256, or 16,16 (default: 256, if the "
                     "kernel's shared memory allows)");
  command.add_option("--grid", grid,
                     "Blocks: 4, or 4,4, or expressions like (n+255)/256 (default: "
                     "drawn)");
  command.add_option("--shared", shared, "Bytes of dynamic shared memory, an expression");
  command.add_option("--let", lets,
                     "Range of an integer parameter, or of the values of an array: "
                     "n=0..1000, begin='ascending 0..63', index=distinct");
  command.add_option("--length", lengths, "Elements of an array: a=n*m");
  command.add_option("--requires", requirements, "A condition of what is run: 'n % 4 == 0'");
  command.add_option("--instantiate", instantiate, "A template to instantiate: 'scan<int, 256>'");
  command.add_option("--nvcc", nvcc, "Options for nvcc: '-I include -DN=4'");
  command.add_option("--arch", architecture, "Architecture to compile for: 90 is compute_90")
      ->check(CLI::Range(50U, 200U))
      ->capture_default_str();
}

CompileOptions KernelOptions::compilation() const {
  return {.instantiate = instantiate, .nvcc = options_of_nvcc(nvcc), .architecture = architecture};
}

CompiledKernels compiled_kernels(const KernelOptions& options) {
  KernelFile file = kernel_file(options.file, options.compilation());
  const std::string& text = file.unoptimized.empty() ? file.optimized : file.unoptimized;
  try {
    ptx::Module module = ptx::parse(text, file.path);
    return {.file = std::move(file), .module = std::move(module)};
  } catch (const ptx::ParseError& error) {
    throw UsageError(error.what());
  }
}

AssumedKernel assumed_kernel(const CompiledKernels& compiled, const KernelOptions& options,
                             std::string wanted) {
  const auto& [file, module] = compiled;
  if (wanted.empty() && options.instantiate.size() == 1) wanted = options.instantiate.front();
  const std::string mangled = find_kernel(module, file, wanted);
  std::vector<ParameterName> parameters;
  KernelDescription kernel = described(module, file, mangled, parameters);
  const std::string signature = signature_text(kernel);
  Given given;
  for (const std::string& let : options.lets) given.values.insert(values_of_text(let, "--let"));
  const Contracts contracts =
      contracts_of(file.source, kernel.name.substr(0, kernel.name.find('<')));
  given.values.insert(contracts.values.begin(), contracts.values.end());  // after the options
  given.notes = apply_contracts(contracts, kernel);
  given.claims_unchecked = contracts.unchecked;
  apply_contracts(contracts_of_options(options), kernel);
  if (!options.shared.empty()) {
    try {
      given.shared_bytes.emplace(options.shared);
    } catch (const ExpressionError& error) {
      throw UsageError(fmt::format("--shared {}", error.what()));
    }
  }
  AssumedKernel result{.assumptions = {},
                       .signature = signature,
                       .parameters = std::move(parameters),
                       .is_block_given = kernel.launch.block[0].has_value(),
                       // Operations without masks are of devices whose warps run in lockstep.
                       .has_lockstep_warps = contracts.has_lockstep_warps ||
                                             has_operations_without_masks(file.source),
                       .has_weak_volatile = contracts.has_gpuverify_launch && has_volatile(module),
                       .ranges_given = {},
                       .lengths_given = {}};
  for (const auto& [name, values] : given.values) {
    if (values.range) result.ranges_given.emplace(name, *values.range);
  }
  for (const ArrayParameter& array : kernel.arrays) {
    if (array.length.text() != "0") result.lengths_given.push_back(array.name);
  }
  result.assumptions = assumed(std::move(kernel), module, given);
  return result;
}

}  // namespace warpcheck
