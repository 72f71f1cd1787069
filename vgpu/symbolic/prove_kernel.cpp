#include "vgpu/symbolic/prove_kernel.hpp"

#include <fmt/format.h>

#include <stdexcept>

#include "vgpu/symbolic/obligations.hpp"
#include "vgpu/symbolic/walk.hpp"

namespace warpcheck::vgpu::symbolic {
namespace {

// Throws NotFollowed.
void check_kernel(Walk& walk, Obligations& obligations) {
  const WalkResult whole = walk.whole_kernel();
  obligations.check_accesses(whole.events.accesses);
  obligations.check_warp_steps(whole.events.warp_steps);
  obligations.check_interval(walk.first_interval(), whole.events.accesses);
  for (std::size_t i = 0; i < whole.arrivals.size() && !obligations.is_suspected(); ++i) {
    const WalkResult interval = walk.interval_after(whole.arrivals[i], fmt::format("after {}", i));
    obligations.check_interval(interval, whole.events.accesses);
  }
  obligations.check_blocks(whole.events.accesses);
}

}  // namespace

KernelProof prove_kernel(const ptx::Module& module, std::string_view kernel,
                         const KernelContract& contract, const ProofLimits& limits) {
  const ptx::Function* const function = module.find_function(kernel);
  if (function == nullptr || !function->is_entry || !function->has_body) {
    throw std::invalid_argument(fmt::format("{} has no kernel {}", module.name, kernel));
  }
  Symbols symbols;
  Questions questions(symbols, limits);
  LaunchSymbols launch(symbols, questions, module, *function, contract);
  Obligations obligations(symbols, questions, launch, *function);
  KernelProof proof;
  try {
    if (!function->unsupported.empty()) throw NotFollowed({}, function->unsupported);
    const FlowGraph graph(*function);
    Instructions instructions(symbols, questions, launch, *function);
    Walk walk(symbols, questions, instructions, graph, *function);
    check_kernel(walk, obligations);
    if (obligations.failure()) {
      proof = *obligations.failure();
    } else {
      proof.answer = Answer::proved;
    }
  } catch (const NotFollowed& error) {
    if (obligations.is_suspected()) {
      proof = *obligations.failure();
    } else {
      proof.location = error.at();
      proof.reason = error.what();
    }
  } catch (const LimitReached& error) {
    if (obligations.failure()) {
      proof = *obligations.failure();
    } else {
      proof.location = error.at();
      proof.reason = error.what();
    }
  }
  proof.questions = questions.asked();
  proof.units = questions.units();
  return proof;
}

}  // namespace warpcheck::vgpu::symbolic
