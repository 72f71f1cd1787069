// Finds the orders of a pair's kernels, in both builds, and joins those of one source place.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/orders/order.hpp"
#include "harness/pair/any_pair.hpp"
#include "harness/trial/engine.hpp"
#include "vgpu/program/program.hpp"

namespace warpcheck {

// One of each size that trials draw.
inline constexpr std::uint64_t kInputsObserved = 101;

// A kernel that a pair launches, in one build, and how often each of its instructions was executed.
struct RanKernel {
  const vgpu::Program* program = nullptr;
  std::vector<std::uint64_t> counts;  // by pc
};

// Runs the first `inputs` inputs that `check` with this seed draws, in the default order.  Programs
// live as long as the process.  Throws DomainError, and std::runtime_error for a kernel that cannot
// run.
[[nodiscard]] std::vector<RanKernel> kernels_of_pair(const AnyPair& pair, cudart::Build build,
                                                     std::uint64_t seed,
                                                     std::uint64_t inputs = kInputsObserved);

// An instruction of a function, with the lines by which a kernel comes to it.
struct CodePoint {
  const ptx::Function* function = nullptr;
  std::uint32_t index = 0;  // into its body
  SourceChain place;
  // For a call of a function that does nothing but order threads, such as __threadfence() in
  // unoptimised code: the instruction that it contains.  Else the instruction itself.
  const ptx::Function* order_function = nullptr;
  const ptx::Instruction* instruction = nullptr;
  std::uint64_t executed = 0;
  std::string beside;  // Order::beside
};
// Those that some kernel reaches in one way only: a function that is called at two lines cannot be
// changed for one of them.
[[nodiscard]] std::vector<CodePoint> code_points(const std::vector<RanKernel>& kernels);

// The edits that make a change at a point; for a call, its arguments are not stored either.
[[nodiscard]] ptx::Edits edits_at(const CodePoint& point, ptx::EditKind kind,
                                  const std::string& text, ptx::EditedBuild build);

// In order of place.  The line table of the unoptimised build does not name the callers of code
// that nvcc inlines even there: if a place may be several of the optimised build, it is left out,
// and the orders are those of the optimised build alone.
[[nodiscard]] std::vector<Order> find_orders(const AnyPair& pair, std::uint64_t seed);

// The same for kernels of one build, that which runs.
[[nodiscard]] std::vector<Order> orders_of_kernels(const std::vector<RanKernel>& kernels);

}  // namespace warpcheck
