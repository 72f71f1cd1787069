#include "vgpu/symbolic/prove_kernel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "vgpu/symbolic/inline_calls.hpp"
#include "vgpu/symbolic/obligations.hpp"
#include "vgpu/symbolic/walk.hpp"

namespace warpcheck::vgpu::symbolic {
namespace {

using Pairs = Obligations::Pairs;

// Throws NotFollowed.
void check_intervals(Walk& walk, const WalkResult& whole, Pairs pairs, Obligations& obligations) {
  obligations.check_interval(walk.first_interval(), pairs);
  for (std::size_t i = 0; i < whole.arrivals.size() && !obligations.is_suspected(); ++i) {
    const WalkResult interval = walk.interval_after(whole.arrivals[i], fmt::format("after {}", i));
    obligations.check_interval(interval, pairs);
  }
}

// Throws NotFollowed.
void check_kernel(const ptx::Function& kernel, LaunchSymbols& launch, Symbols& symbols,
                  Questions& questions, Instructions& instructions, Obligations& obligations) {
  const bool has_lockstep_warps = launch.contract().has_lockstep_warps;
  const FlowGraph graph(kernel);
  Walk walk(symbols, questions, instructions, graph, kernel);
  WalkResult whole = walk.whole_kernel();
  if (launch.forget_values_of_stored(whole.events.accesses)) whole = walk.whole_kernel();
  if (!has_lockstep_warps) obligations.note_loads(whole.events.accesses);
  obligations.note_counters(whole.events.accesses, graph);
  if (obligations.has_counters()) {
    obligations.note_resets(whole.events.accesses, walk.first_interval().events.accesses);
    obligations.note_first_values(whole.events.accesses);
  }
  obligations.check_accesses(whole.events.accesses);
  obligations.check_warp_steps(whole.events.warp_steps);
  obligations.check_assertions(whole.events.failed_assertions);
  // Barriers of a warp order its own threads alone, so these are looked at by themselves.
  const bool has_warp_barriers = std::ranges::any_of(kernel.body, is_warp_barrier);
  check_intervals(walk, whole,
                  has_warp_barriers || has_lockstep_warps ? Pairs::of_different_warps : Pairs::all,
                  obligations);
  if (has_lockstep_warps) {
    const LockstepOrder lockstep(graph);
    obligations.set_lockstep(&lockstep);
    if (!obligations.is_suspected()) {
      check_intervals(walk, whole, Pairs::of_one_lockstep_warp, obligations);
    }
    obligations.set_lockstep(nullptr);
  } else if (has_warp_barriers && !obligations.is_suspected()) {
    const FlowGraph of_warps(kernel, Together::warp);
    Walk walk_of_warps(symbols, questions, instructions, of_warps, kernel, "warps:");
    const WalkResult all = walk_of_warps.whole_kernel();
    check_intervals(walk_of_warps, all, Pairs::of_one_warp, obligations);
  }
  obligations.check_blocks(whole.events.accesses);
}

// What is asked about two threads assumes that they meet at the same barriers, and that what they
// load is not raced with.
bool is_free_of_races(const Obligations& obligations) {
  return !obligations.is_suspected() && !obligations.is_open("data-race") &&
         !obligations.is_open("barrier-divergence");
}

}  // namespace

KernelProof prove_kernel(const ptx::Module& module, std::string_view kernel,
                         const KernelContract& contract, const ProofLimits& limits) {
  const ptx::Function* const function = module.find_function(kernel);
  if (function == nullptr || !function->is_entry || !function->has_body) {
    throw std::invalid_argument(fmt::format("{} has no kernel {}", module.name, kernel));
  }
  const ptx::Function whole = with_calls_inlined(module, *function);
  Symbols symbols;
  Questions questions(symbols, limits);
  LaunchSymbols launch(symbols, questions, module, whole, contract);
  Obligations obligations(symbols, questions, launch, whole);
  KernelProof proof;
  try {
    if (!whole.unsupported.empty()) throw NotFollowed({}, whole.unsupported);
    Instructions instructions(symbols, questions, launch, whole);
    check_kernel(whole, launch, symbols, questions, instructions, obligations);
    if (obligations.failure()) {
      proof = *obligations.failure();
      proof.is_free_of_races = is_free_of_races(obligations);
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
  for (const std::uint32_t barrier : obligations.left_barriers()) {
    proof.left_barriers.push_back(whole.body[barrier].location);
  }
  proof.questions = questions.asked();
  proof.units = questions.units();
  return proof;
}

}  // namespace warpcheck::vgpu::symbolic
