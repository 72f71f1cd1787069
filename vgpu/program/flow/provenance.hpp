// The provenance of an address: what it was computed from, if the code shows it.
//
// In C++, a pointer may only access the object that it was made from ([expr.add]).  Device memory
// separates objects only by gaps; two __shared__ arrays have none, and a large index skips any gap.
// So the decoder traces each address back to the variables and kernel parameters whose sum it is
// (find_provenance.cpp).  A launch, which knows the values of the parameters, then determines the
// one object among them.
#pragma once

#include <compare>
#include <cstdint>
#include <vector>

namespace warpcheck::vgpu {

// A source of addresses in a kernel.
struct Root {
  enum class Kind : std::uint8_t { shared, variable, parameter };
  Kind kind = Kind::parameter;
  // shared: index into Program::shared_symbols; variable: index into Program::patches, of one of
  // its addresses; parameter: byte offset of 8 bytes, which may or may not hold an address.
  std::uint32_t index = 0;
  friend auto operator<=>(const Root&, const Root&) = default;
};

// How often a root occurs in a sum: `q - p` has q once and p minus once.  Sorted by root; no zeros.
struct RootTerm {
  std::uint32_t root = 0;  // index into Program::roots
  std::int32_t count = 0;
  friend auto operator<=>(const RootTerm&, const RootTerm&) = default;
};
using RootSum = std::vector<RootTerm>;

// An address of local memory has no roots: what counts is the function whose variables it was
// computed from.  Which of the function's variables it is, is not known: nvcc puts all of them into
// one.
//
// An address that is a sum of roots and of integers of unknown origin.  If every sum in
// `differences` cancels (its roots belong to one object and cancel, or hold no addresses), and
// `sum` contains exactly one object, once, then the address is meant for that object.  Otherwise
// nothing is known.
struct Provenance {
  RootSum sum;
  std::vector<RootSum> differences;
  std::uint32_t frame = UINT32_MAX;  // local memory: index into Program::functions
  friend auto operator<=>(const Provenance&, const Provenance&) = default;
};

}  // namespace warpcheck::vgpu
