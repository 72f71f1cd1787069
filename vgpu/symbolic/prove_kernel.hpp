// Proofs of one kernel for every size, launch and datum of a domain, from its PTX alone.
//
// Two threads are executed with symbols for their numbers, for the launch and for the scalars: two
// of one block between barriers, and two of different blocks.  Loops are summarised.  A solver
// then looks for values with a race, an access out of bounds or misaligned, or a barrier that not
// all threads meet.  If there are none, none exist.  Values from memory are unknown: each load
// may give anything.  After Betts, Chong, Donaldson, Qadeer and Thomson, "GPUVerify: A Verifier for
// GPU Kernels", OOPSLA 2012 (two threads), and Cogumbreiro, Lange, Rong and Yoshida, "Checking
// Data-Race Freedom of GPU Kernels, Compositionally", CAV 2021 (intervals between barriers).
//
// What the solver finds is a suspicion (`suspected`): loops are summarised by what is always true
// of them, which is more than what happens.  Only a run turns it into a finding.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "vgpu/program/dim3.hpp"
#include "vgpu/ptx/module.hpp"
#include "vgpu/symbolic/term.hpp"

namespace warpcheck::vgpu::symbolic {

// Inclusive.
struct Range {
  std::int64_t low = 0, high = 0;
  friend bool operator==(const Range&, const Range&) = default;
};

// A parameter of the kernel, in the order of its signature.
struct ParameterContract {
  enum class Kind : std::uint8_t {
    scalar,   // an integer, of the parameter's size
    pointer,  // to its own array: no two pointers share an array unless their `array` says so
    unknown,  // any bytes: a float, a struct
  };
  Kind kind = Kind::unknown;
  std::string name;  // scalar: as Term::name; pointer: in texts
  Range range{};     // scalar: of its values; negative ones are those of a signed parameter
  Term bytes{};      // pointer: the number of bytes that may be accessed from it on
  std::uint32_t alignment = 256;    // pointer: of the address, bytes
  std::uint32_t element_bytes = 0;  // pointer: of the array; 0: unknown
  // pointer: of the integers of element_bytes that the array holds, as long as the kernel stores
  // none
  std::optional<Range> values{};
  // pointer: no two of them are equal, and without `values` each is below the number of elements
  bool are_distinct = false;
  // pointer: pointers with the same number are the same address; -1: it has an array of its own
  int array = -1;
  // unknown: what is known of its parts, as of a struct's members
  struct Member {
    std::uint32_t offset = 0, bytes = 0;
    std::vector<ParameterContract> contract;  // one
  };
  std::vector<Member> members{};
};

struct LaunchContract {
  // of the extents x, y, z; a constant is a range of one value
  std::array<Range, 3> grid{{{1, 2'147'483'647}, {1, 1}, {1, 1}}};
  std::array<Range, 3> block{{{1, 1'024}, {1, 1}, {1, 1}}};
  Term dynamic_shared_bytes{};
};

struct KernelContract {
  std::vector<ParameterContract> parameters;
  LaunchContract launch;
  std::vector<Condition> conditions;
  bool has_lockstep_warps = false;  // else lanes of a warp are independent
  bool has_weak_volatile = false;   // else volatile accesses are strong, as PTX defines them
  // __constant__ variables have the values that the module gives them: no host writes to them.
  bool has_initial_constants = false;
};

// Calls visit for each parameter, or for each part of one of which something is known.
void for_each_parameter(const KernelContract& contract, const auto& visit) {
  for (const ParameterContract& one : contract.parameters) {
    visit(one);
    for (const ParameterContract::Member& member : one.members) {
      for (const ParameterContract& part : member.contract) visit(part);
    }
  }
}

// Calls visit for each scalar, to change it.
void for_each_scalar(KernelContract& contract, const auto& visit) {
  const auto visit_scalar = [&](ParameterContract& one) {
    if (one.kind == ParameterContract::Kind::scalar) visit(one);
  };
  for (ParameterContract& one : contract.parameters) {
    visit_scalar(one);
    for (ParameterContract::Member& member : one.members) {
      for (ParameterContract& part : member.contract) visit_scalar(part);
    }
  }
}

struct ProofLimits {
  // Z3's resource units for one question.  Time would make the answer depend on the machine.
  std::uint32_t units = 4'000'000;
  // of all questions about a kernel
  std::uint64_t units_of_kernel = 24'000'000;
  // Gets each question in SMT-LIB's language; its status is the solver's answer.
  std::function<void(const std::string& question)> on_question{};
};

// The values with which the solver breaks something.
struct Suspect {
  std::map<std::string, std::int64_t> scalars;  // by name
  Dim3 grid{1, 1, 1}, block{1, 1, 1};
  struct Thread {
    Dim3 block{0, 0, 0}, thread{0, 0, 0};
    ptx::SourceLocation location;  // of its access, or barrier
  };
  std::vector<Thread> threads;  // two of a race or barrier, one of an access
};

inline constexpr std::string_view kDynamicSharedMemory = "dynamic shared memory";

enum class Answer : std::uint8_t { proved, suspected, undecided };

struct KernelProof {
  Answer answer = Answer::undecided;
  // suspected: "data-race", "out-of-bounds", "misaligned-access", "barrier-divergence"; "trap": an
  // assertion
  std::string kind;
  std::string array;  // suspected out-of-bounds: the name of what is left, or the one above
  Suspect suspect;
  // suspected, undecided: the line because of which, in Module::files; line 0: none
  ptx::SourceLocation location;
  std::string reason;  // "the address depends on data", in words; empty if proved
  // undecided: nevertheless there is no data race and no missed barrier, if accesses stay inside
  // their arrays and are aligned
  bool is_free_of_races = false;
  // Barriers that threads of a block may wait at when others have left the kernel.  PTX does not
  // count those that have left, so that is no defect by itself.
  std::vector<ptx::SourceLocation> left_barriers{};
  std::uint32_t questions = 0;  // to the solver
  std::uint64_t units = 0;      // that they took
};

// Returns what is known of a kernel for every launch within the contract.  Never throws for a
// kernel that it cannot follow: that is `undecided`, with the line.
// Throws std::invalid_argument for a contract that does not fit the kernel's signature, and for an
// unknown kernel.
[[nodiscard]] KernelProof prove_kernel(const ptx::Module& module, std::string_view kernel,
                                       const KernelContract& contract,
                                       const ProofLimits& limits = {});

}  // namespace warpcheck::vgpu::symbolic
