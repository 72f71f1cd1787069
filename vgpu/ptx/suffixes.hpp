// The suffixes of PTX mnemonics and what they set.  Source: PTX ISA 9.0, chapter 9.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "vgpu/ptx/vocabulary.hpp"

namespace warpcheck::ptx {

// The classes of suffixes, named as in the third column of opcodes.def.
// clang-format off
#define WARPCHECK_SUFFIX_CLASSES(X)                                                         \
  X(type) X(space) X(rounding) X(compare) X(boolop) X(atomop) X(order) X(scope) X(part)     \
  X(shuffle) X(vote) X(vector) X(ftz) X(sat) X(approx) X(carry) X(uni) X(aligned) X(sync)   \
  X(arrive) X(red) X(to) X(clamp) X(leftright) X(cache) X(warp) X(shiftamt) X(nan) X(xorsign) \
  X(abs) X(relu) X(satfinite) X(pack) X(permute) X(test) X(noftz) X(popc) X(idx) X(cta) \
  X(spaces) X(objectop) X(copyop) X(nocomplete) X(parity) X(noinc) X(async) X(cluster)      \
  X(bulk) X(reduce) X(multicast) X(completion) X(read) X(wait) X(proxy) X(alias) X(objectinits) \
  X(scale) X(oob) X(tensor) X(dimensions) X(tile) X(im2col) X(prefetch) X(tensormap) X(genericmap) \
  X(restricted) X(noncoherent) X(ctagroup) X(fourrows) X(cpmask)
// clang-format on

enum class SuffixClass : std::uint8_t {
#define X(name) name,
  WARPCHECK_SUFFIX_CLASSES(X)
#undef X
};

std::string_view name_of(SuffixClass suffix_class);

// Returns the class of that name, or -1.
int find_suffix_class(std::string_view name);

// A word may denote several suffixes (`.add`, `.lo`, `.and`); the opcode's row decides which one it
// is.
struct Suffix {
  std::string_view word;  // without the dot
  SuffixClass suffix_class;
  std::uint8_t value;               // in the enumeration of the class; 0 if it has none
  bool Modifiers::*flag = nullptr;  // what a suffix without a value sets; null: nothing
};

// Returns every suffix with that word; empty if the word is unknown.
std::span<const Suffix> find_suffixes(std::string_view word);

// Returns why instructions with that word are refused, though it is one of the ISA; empty: they are
// not, or the word is unknown.
std::string_view reason_against(std::string_view word);

// Sets the modifier of the suffix.  False if its class is set already (for a type: if both types
// are).
bool apply(const Suffix& suffix, Modifiers& modifiers);

}  // namespace warpcheck::ptx
