// The parts of random_program(): random_program.hpp says what a program may contain.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "vgpu/differential/random/random_program.hpp"
#include "vgpu/ptx/forms.hpp"
#include "vgpu/schedule/prng.hpp"

namespace warpcheck::vgpu {

inline constexpr std::uint32_t kLocalBytes = 64;  // local memory of a thread

// The place of a statement, and what is known about the threads that reach it.
struct Place {
  bool in_kernel = false;
  bool uniform = false;  // all threads of the block reach it
  // a register with the mask of the warp's lanes that reach it; empty: unknown
  std::string lanes{};
  unsigned loop_depth = 0;
  unsigned budget = 0;  // how much may still be nested
};

// Returns whether programs with these options may contain the form.
bool is_drawn(const ptx::InstructionForm& form, const ProgramOptions& options);

class Generator {
 public:
  Generator(std::uint64_t seed, const ProgramOptions& options);
  std::string run();

 private:
  // ---- bodies: random_program.cpp ----
  std::string head();
  std::string function(unsigned index);
  std::string kernel();
  std::string declarations() const;
  std::string beginning();
  static std::string folded();
  std::string results() const;

  // ---- control flow: random_control.cpp ----
  std::string statements(const Place& place);
  std::string statement(const Place& place);
  std::string either(const Place& place);
  std::string loop(const Place& place);
  std::string jump_table(const Place& place);
  std::string call(const Place& place);

  // ---- memory: random_memory.cpp ----
  struct AccessType;
  struct PrivatePlace;
  std::string private_access(const Place& place);
  std::string private_atomic(const Place& place);
  std::string constant_load();
  std::string exchange();
  std::string shared_atomics();
  std::string private_address(const PrivatePlace& place, unsigned bytes);
  std::string moved(const AccessType& type, unsigned elements, bool loads, std::string_view space);

  // ---- warp operations: random_warp.cpp ----
  std::string warp_operation(const Place& place);
  std::string shuffle(const std::string& lanes);
  std::string vote(const std::string& lanes);
  std::string block_barrier();

  // ---- compute instructions: random_form.cpp ----
  std::string compute(const Place& place);
  std::string form_text(const ptx::InstructionForm& form);
  std::string carry_chain();  // random_carry.cpp
  std::string source(const ptx::InstructionForm& form, std::size_t index, std::string& before);
  std::string shaped(std::string_view type, std::size_t index, std::string& before);

  // ---- operands ----
  // Returns a register of the state with that many bytes; 1: a predicate.
  std::string state(std::size_t bytes);
  std::string word() { return state(4); }
  std::string wide() { return state(8); }
  std::string predicate() { return state(1); }
  std::string guard(unsigned rarity);  // "@%p1 ", in one of `rarity` cases
  template <std::size_t n>
  std::string_view one_of(const std::string_view (&list)[n]) {
    return list[prng_.below(n)];
  }

  Prng prng_;
  ProgramOptions options_;
  std::uint32_t threads_ = 0;
  unsigned functions_ = 0, label_ = 0;
  unsigned calls_left_ = 0;     // of the current function
  unsigned matrices_left_ = 0;  // their tiles use shared memory
};

}  // namespace warpcheck::vgpu
