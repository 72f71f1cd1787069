// Classes of accesses, and which classes may race whatever their order: the part of PTX ISA 8.7
// that depends on the instructions alone.
#pragma once

#include <array>
#include <cstdint>

#include "vgpu/check/race/rows/race_rows.hpp"
#include "vgpu/machine/access.hpp"

namespace warpcheck::vgpu {

// Weak reads, weak writes, and strong reads and writes of 1 to 16 bytes, either with a scope that
// covers one block only (narrow: cta; a cluster is one block here) or with one that covers the
// grid.  An atomic is a strong write with classes of its own, because it passes no data on.
struct AccessClass {
  bool write = false;
  bool strong = false;
  unsigned size_log2 = 0;  // strong: of one scalar
  bool narrow = false;     // of a strong access
  bool atomic = false;     // implies strong and write

  [[nodiscard]] constexpr unsigned index() const {
    if (!strong) return write ? 1 : 0;
    return 2 + (atomic ? 20 : write ? 10 : 0) + 2 * size_log2 + (narrow ? 1 : 0);
  }
  [[gnu::always_inline]] static constexpr AccessClass of_index(unsigned index) {
    if (index < 2) return {.write = index == 1};
    const unsigned rest = index - 2;
    return {.write = rest >= 10,
            .strong = true,
            .size_log2 = rest % 10 / 2,
            .narrow = rest % 2 == 1,
            .atomic = rest >= 20};
  }
};

inline constexpr unsigned kWeakRead = AccessClass{}.index();
inline constexpr unsigned kWeakWrite = AccessClass{.write = true}.index();

// Groups of classes, one bit for each class: weak reads, weak writes, strong reads, strong writes,
// atomics.
inline constexpr std::array<std::uint32_t, 5> kClassGroups = [] {
  std::array<std::uint32_t, 5> groups{};
  for (unsigned index = 0; index < kAccessClasses; ++index) {
    const AccessClass one = AccessClass::of_index(index);
    const unsigned of_strong = one.atomic ? 4 : one.write ? 3 : 2;
    groups[one.strong ? of_strong : index] |= 1u << index;
  }
  return groups;
}();

constexpr bool conflict(const AccessClass& a, const AccessClass& b) { return a.write || b.write; }

// Aligned scalars that overlap do so completely if their sizes are equal.
constexpr bool morally_strong(const AccessClass& a, const AccessClass& b, bool one_block) {
  return a.strong && b.strong && a.size_log2 == b.size_log2 &&
         (one_block || (!a.narrow && !b.narrow));
}

// For accesses of classes a and b that are unordered, bit b of
//   race[a]: they race;
//   race_across[a]: they race if they are of different blocks;
//   race_apart[a]: they also race if their scopes do not include each other's device;
//   hand_over[a]: one may hand a value on to the other.
struct ClassRelations {
  std::array<std::uint32_t, kAccessClasses> race{};
  std::array<std::uint32_t, kAccessClasses> race_across{};
  std::array<std::uint32_t, kAccessClasses> race_apart{};
  std::array<std::uint32_t, kAccessClasses> hand_over{};
};

constexpr ClassRelations relate_classes() {
  ClassRelations relations;
  for (unsigned i = 0; i < kAccessClasses; ++i) {
    for (unsigned j = 0; j < kAccessClasses; ++j) {
      const AccessClass a = AccessClass::of_index(i), b = AccessClass::of_index(j);
      if (!conflict(a, b)) continue;
      relations.race_apart[i] |= 1u << j;
      const bool alike = a.strong && b.strong && a.size_log2 == b.size_log2;
      const bool has_atomic = a.atomic || b.atomic;
      if (alike && !has_atomic) relations.hand_over[i] |= 1u << j;
      if (!morally_strong(a, b, true)) {
        relations.race[i] |= 1u << j;
      } else if (!morally_strong(a, b, false)) {
        relations.race_across[i] |= 1u << j;
      }
    }
  }
  return relations;
}

inline constexpr ClassRelations kClassRelations = relate_classes();

// An access of an earlier launch of the trial, or of the current one, as one checker passes it to
// another.
struct RecalledAccess {
  std::uint32_t allocation = 0, allocation_bytes = 0;
  bool is_global = false;  // in memory that all blocks can reach
  std::uint32_t offset = 0, bytes = 0;
  unsigned access_class = 0;
  std::uint32_t launch = 0, block = 0, thread = 0, pc = 0;
  std::uint32_t phase = 0;  // of the block in the current launch; of earlier launches: 0
};

// Returns the class of an atomic of so many bytes.
inline AccessClass class_of_atomic(std::uint32_t bytes, ptx::Scope scope) {
  return {.write = true,
          .strong = true,
          .size_log2 = static_cast<unsigned>(__builtin_ctz(bytes)),
          .narrow = scope == ptx::Scope::cta || scope == ptx::Scope::cluster,
          .atomic = true};
}

inline AccessClass class_of(const Access& access) {
  AccessClass result{.write = access.kind != AccessKind::read};
  result.atomic = access.kind == AccessKind::atomic;
  result.strong = access.kind == AccessKind::atomic || access.order != ptx::Order::weak;
  if (result.strong) {
    // The elements of an atomic on a vector are separate operations.
    result.size_log2 = static_cast<unsigned>(__builtin_ctz(access.bytes / access.elements()));
    result.narrow = access.scope == ptx::Scope::cta || access.scope == ptx::Scope::cluster;
  }
  return result;
}

}  // namespace warpcheck::vgpu
