// What an address was made from, where the code shows it.
//
// C++ lets a pointer reach the object that it was made from and no other ([expr.add]).  Device
// memory knows objects only as far as there is a gap between them; two __shared__ arrays have none,
// and a large index leaps over any.  So the decoder follows each address back to the variables and
// kernel parameters that it is a sum of (find_provenance.cpp), and a launch, which knows what the
// parameters hold, finds the one object among them.
#pragma once

#include <compare>
#include <cstdint>
#include <vector>

namespace warpcheck::vgpu {

// Something that a kernel gets an address from.
struct Root {
  enum class Kind : std::uint8_t { shared, variable, parameter };
  Kind kind = Kind::parameter;
  // shared: into Program::shared_symbols; variable: into Program::patches, of one of its
  // addresses; parameter: byte offset of 8 bytes, which may hold an address or not.
  std::uint32_t index = 0;
  friend auto operator<=>(const Root&, const Root&) = default;
};

// How often roots go into a sum: `q - p` has q once and p minus once.  By ascending root; no zeros.
struct RootTerm {
  std::uint32_t root = 0;  // index into Program::roots
  std::int32_t count = 0;
  friend auto operator<=>(const RootTerm&, const RootTerm&) = default;
};
using RootSum = std::vector<RootTerm>;

// An address that is a sum of roots and of integers that the code does not say more about.  If
// every sum of `differences` comes to nothing (its roots are of one object and cancel out, or hold
// no addresses), and one object is left in `sum`, once, then that object is meant; otherwise
// nothing is known.
struct Provenance {
  RootSum sum;
  std::vector<RootSum> differences;
  friend auto operator<=>(const Provenance&, const Provenance&) = default;
};

}  // namespace warpcheck::vgpu
