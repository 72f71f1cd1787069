// Shrinking a struct with FIELDS: several fields together, then one field at a time.
//
// A kernel's domain couples its fields: the launch must cover the values, the block must equal
// their number, two vectors must have the same length.  Then no single field can shrink alone.  So
// a struct's *extents* are shrunk.  An extent is a number that fields share, as the length of
// vectors or as the value of integers.  When an extent goes from n to m,
//   - vectors of n elements drop the same positions,
//   - integers equal to n become m,
//   - vectors of n * k elements, k another integer field, keep their first m * k (a matrix loses
//     rows or columns),
//   - vectors of n * n elements, n such an integer, are square matrices: they drop the same rows
//     and columns, and
//   - launches follow if an extent of theirs is recognisably a function of n (follow()); a
//     candidate in which they do not change comes second.
// If all of that has found nothing and a vector is short, shorter vectors of zeros and ones are
// tried: [0,0,0,1] may fail although nothing can be dropped from it, and so may [1,0,0].
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "harness/input/fields.hpp"
#include "harness/input/launch_config.hpp"
#include "harness/shrink/shrink_traits.hpp"

namespace warpcheck {

namespace shrink_detail {

template <class T>
inline constexpr bool is_vector = false;
template <class T>
inline constexpr bool is_vector<std::vector<T>> = true;

template <class T>
concept ExtentInteger = std::integral<T> && !std::same_as<T, bool>;

// When an extent decreases, launches are adapted to the lower one, or do not change, or get a
// separate block for each of the few remaining elements, so that only the schedule decides their
// order.
enum class Launches { follow, stay, apart };

// Extents that are the length of a vector, and positive integers that are no such length.
struct SharedExtents {
  std::vector<std::size_t> lengths;
  std::vector<std::uint64_t> integers;

  // Each once; lengths come first.
  void add_length(std::size_t length);
  void add_integer(std::uint64_t integer);
};

template <Reflected T>
SharedExtents extents_of(const T& value) {
  SharedExtents extents;
  for_each_field(value, [&]<class Member>(const char*, const Member& member) {
    if constexpr (is_vector<Member>) extents.add_length(member.size());
  });
  for_each_field(value, [&]<class Member>(const char*, const Member& member) {
    if constexpr (ExtentInteger<Member>) {
      if (member > 0) extents.add_integer(static_cast<std::uint64_t>(member));
    }
  });
  return extents;
}

// Whether `length` is `extent` times another integer field of the struct.
template <Reflected T>
bool is_multiple_by_field(const T& value, std::uint64_t length, std::uint64_t extent) {
  bool found = false;
  for_each_field(value, [&]<class Member>(const char*, const Member& member) {
    if constexpr (ExtentInteger<Member>) {
      if (member <= 0 || length % extent != 0) return;
      found = found || length / extent == static_cast<std::uint64_t>(member);
    }
  });
  return found;
}

// Whether other fields share this vector's length; if not, dropping positions of the extent without
// changing launches is the same as shrinking the vector alone.
template <Reflected T>
bool shares_length(const T& value, std::size_t length) {
  int fields = 0;
  for_each_field(value, [&]<class Member>(const char*, const Member& member) {
    if constexpr (is_vector<Member>) fields += member.size() == length ? 1 : 0;
    if constexpr (ExtentInteger<Member>) fields += std::cmp_equal(member, length) ? 1 : 0;
  });
  return fields > 1;
}

// Adapts integers and launches of `changed` to an extent's step.
template <Reflected T>
void follow_extent(T& changed, std::uint64_t from, std::uint64_t to, Launches launches) {
  for_each_field(changed, [&]<class Member>(const char*, Member& member) {
    if constexpr (ExtentInteger<Member>) {
      if (member > 0 && static_cast<std::uint64_t>(member) == from) {
        member = static_cast<Member>(to);
      }
    } else if constexpr (std::same_as<Member, LaunchConfig>) {
      if (launches == Launches::follow) member = follow(member, from, to);
      if (launches == Launches::apart) member = {Dim3(to), Dim3(1), member.shared_bytes};
    }
  });
}

template <Reflected T>
T drop_positions(const T& value, std::size_t length, Chunk chunk, Launches launches) {
  T changed = value;
  for_each_field(changed, [&]<class Member>(const char*, Member& member) {
    if constexpr (is_vector<Member>) {
      if (member.size() == length) member = without(member, chunk);
    }
  });
  follow_extent(changed, length, length - chunk.length(), launches);
  return changed;
}

template <Reflected T>
T lower_integer(const T& value, std::uint64_t from, std::uint64_t to, Launches launches) {
  T changed = value;
  for_each_field(changed, [&]<class Member>(const char*, Member& member) {
    if constexpr (is_vector<Member>) {
      if (is_multiple_by_field(value, member.size(), from)) {
        member.resize(member.size() / from * to);
      }
    }
  });
  follow_extent(changed, from, to, launches);
  return changed;
}

// Whether a vector is a matrix of `extent` rows and columns.
template <Reflected T>
bool has_square(const T& value, std::uint64_t extent) {
  bool found = false;
  for_each_field(value, [&]<class Member>(const char*, const Member& member) {
    if constexpr (is_vector<Member>) {
      found = found || (extent > 1 && member.size() == extent * extent);
    }
  });
  return found;
}

template <Reflected T>
T drop_rows_and_columns(const T& value, std::size_t extent, Chunk chunk, Launches launches) {
  const auto is_kept = [&](std::size_t i) { return i < chunk.begin || i >= chunk.end; };
  T changed = value;
  for_each_field(changed, [&]<class Member>(const char*, Member& member) {
    if constexpr (is_vector<Member>) {
      if (member.size() != extent * extent) return;
      std::size_t kept = 0;
      for (std::size_t i = 0; i < extent * extent; ++i) {
        if (is_kept(i / extent) && is_kept(i % extent)) member[kept++] = member[i];
      }
      member.resize(kept);
    }
  });
  follow_extent(changed, extent, extent - chunk.length(), launches);
  return changed;
}

// Vectors up to this length are also tried as zeros and ones: at most 2 + 4 + ... + 32 candidates.
inline constexpr std::size_t kPatternLengthMax = 6;

// The first vector of numbers with `length` elements gets `to` elements, the bits of `pattern`;
// everything else changes as if the last positions were dropped.
template <Reflected T>
T with_pattern(const T& value, std::size_t length, std::size_t to, unsigned pattern,
               Launches launches) {
  T changed = drop_positions(value, length, Chunk{to, length}, launches);
  bool done = false;
  const auto set = [&]<class Member>(const Member& before, Member& after) {
    if constexpr (is_vector<Member>) {
      using Element = typename Member::value_type;
      if constexpr (std::is_arithmetic_v<Element>) {
        if (done || before.size() != length) return;
        for (std::size_t i = 0; i < to; ++i) after[i] = static_cast<Element>(pattern >> i & 1);
        done = true;
      }
    }
  };
  std::apply([&](auto... field) { (set(value.*field.member, changed.*field.member), ...); },
             fields_of<T>());
  return changed;
}

// Whether a launch of `value` changes with the extent; if not, both ways are one candidate.
template <Reflected T>
bool launches_follow(const T& value, std::uint64_t from, std::uint64_t to) {
  bool follows = false;
  for_each_field(value, [&]<class Member>(const char*, const Member& member) {
    if constexpr (std::same_as<Member, LaunchConfig>) {
      follows = follows || follow(member, from, to) != member;
    }
  });
  return follows;
}

template <Reflected T>
bool launches_part(const T& value, std::uint64_t to) {
  if (to == 0 || to > kSmallMax) return false;
  bool part = false;
  for_each_field(value, [&]<class Member>(const char*, const Member& member) {
    if constexpr (std::same_as<Member, LaunchConfig>) {
      part = part || (member.blocks() > 1 && member.block.count() > 1);
    }
  });
  return part;
}

// make(launches) in every way that makes a difference, most promising first.
template <Reflected T>
bool offer_launches(const T& value, std::uint64_t from, std::uint64_t to, Take<T> take,
                    FunctionRef<T(Launches)> make) {
  const auto offer = [&](Launches launches) { return take([&] { return make(launches); }); };
  return (launches_follow(value, from, to) && offer(Launches::follow)) || offer(Launches::stay) ||
         (launches_part(value, to) && offer(Launches::apart));
}

}  // namespace shrink_detail

template <Reflected T>
struct ShrinkTraits<T> {
  static bool sizes(const T& value, Take<T> take) {
    return shared_extents(value, take) || each_field<true>(value, take) || patterns(value, take);
  }
  static bool values(const T& value, Take<T> take) { return each_field<false>(value, take); }

 private:
  static bool shared_extents(const T& value, Take<T> take) {
    using namespace shrink_detail;  // NOLINT(google-build-using-namespace)
    const SharedExtents shared = extents_of(value);
    for (const std::uint64_t extent : shared.integers) {
      if (has_square(value, extent)) {
        const auto offer_square = [&](Chunk chunk) {
          return offer_launches<T>(value, extent, extent - chunk.length(), take,
                                   [&](Launches launches) {
                                     return drop_rows_and_columns(value, extent, chunk, launches);
                                   });
        };
        if (for_each_chunk(extent, offer_square)) return true;
        continue;
      }
      const auto offer = [&](std::uint64_t to) {
        return offer_launches<T>(value, extent, to, take, [&](Launches launches) {
          return lower_integer(value, extent, to, launches);
        });
      };
      if (for_each_smaller_extent(extent, offer)) return true;
    }
    for (const std::size_t length : shared.lengths) {
      const auto offer = [&](Chunk chunk) {
        return offer_launches<T>(
            value, length, length - chunk.length(), take,
            [&](Launches launches) { return drop_positions(value, length, chunk, launches); });
      };
      if (for_each_chunk(length, offer)) return true;
      // Fewer threads if the blocks do not divide the extent.
      if (launches_part(value, length) && take([&] {
            T changed = value;
            follow_extent(changed, length, length, Launches::apart);
            return changed;
          })) {
        return true;
      }
    }
    return false;
  }

  static bool patterns(const T& value, Take<T> take) {
    using namespace shrink_detail;  // NOLINT(google-build-using-namespace)
    for (const std::size_t length : extents_of(value).lengths) {
      if (length > kPatternLengthMax) continue;
      for (std::size_t to = 1; to < length; ++to) {
        for (unsigned pattern = 0; pattern < 1U << to; ++pattern) {
          const auto offer = [&](Launches launches) {
            return take([&] { return with_pattern(value, length, to, pattern, launches); });
          };
          if (launches_follow(value, length, to) && offer(Launches::follow)) return true;
          if (offer(Launches::stay)) return true;
        }
      }
    }
    return false;
  }

  template <bool of_sizes>
  static bool each_field(const T& value, Take<T> take) {
    bool taken = false;
    std::apply(
        [&](auto... field) {
          ((taken = taken || one_field<of_sizes>(value, field.member, take)), ...);
        },
        fields_of<T>());
    return taken;
  }

  template <bool of_sizes, class Member>
  static bool one_field(const T& value, Member T::*member, Take<T> take) {
    const auto take_member = [&](Candidate<Member> make) {
      return take([&] {
        T copy = value;
        copy.*member = make();
        return copy;
      });
    };
    if constexpr (of_sizes && shrink_detail::is_vector<Member>) {
      if (!shrink_detail::shares_length(value, (value.*member).size())) return false;
    }
    if constexpr (of_sizes) {
      return shrink_sizes<Member>(value.*member, take_member);
    } else {
      return shrink_values<Member>(value.*member, take_member);
    }
  }
};

}  // namespace warpcheck
