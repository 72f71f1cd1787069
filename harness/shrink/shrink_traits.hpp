// ShrinkTraits<T>: the simpler values of one T, most aggressive first.
//
//   static bool sizes(const T&, Take<T>);    fewer elements, fewer blocks, fewer threads
//   static bool values(const T&, Take<T>);   the same size, simpler content
// both return true as soon as `take` does, and then offer nothing more.
//
// Candidates are lazy: a Take<T> receives a function that *makes* the candidate, so that skipping
// one costs nothing even if the value is a long vector.  Every candidate is simpler than its value
// in a well-founded order, so greedy acceptance always ends.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "harness/input/fields.hpp"
#include "harness/input/function_ref.hpp"
#include "harness/input/launch_config.hpp"

namespace warpcheck {

template <class T>
using Candidate = FunctionRef<T()>;
// Returns true if it takes the candidate: no further one is needed.
template <class T>
using Take = FunctionRef<bool(Candidate<T>)>;

template <class T>
struct ShrinkTraits;

template <class T>
bool shrink_sizes(const T& value, Take<T> take) {
  return ShrinkTraits<T>::sizes(value, take);
}
template <class T>
bool shrink_values(const T& value, Take<T> take) {
  return ShrinkTraits<T>::values(value, take);
}

// A range of positions to drop (or to simplify) in something of a given length.
struct Chunk {
  std::size_t begin = 0;
  std::size_t end = 0;
  [[nodiscard]] std::size_t length() const { return end - begin; }
};

// Small numbers are tried one by one before larger steps: the smallest failure is often among them,
// and halving often does not reach it (a kernel that is wrong for blocks of 3, 6, 7 and 12 to 15).
inline constexpr std::uint64_t kSmallMax = 8;

// Offers chunks of [0, length): all but the first 0, 1 ... 8 positions, then the last and the
// first half, quarter ... single position, then all other chunks of those sizes.
bool for_each_chunk(std::size_t length, FunctionRef<bool(Chunk)> visit);

// Offers numbers below `value` as an extent: 0 to 8, then value/2, 3 value/4 ... value - 1.
bool for_each_smaller_extent(std::uint64_t value, FunctionRef<bool(std::uint64_t)> visit);

template <class T>
std::vector<T> without(const std::vector<T>& values, Chunk chunk) {
  std::vector<T> rest;
  rest.reserve(values.size() - chunk.length());
  rest.insert(rest.end(), values.begin(),
              values.begin() + static_cast<std::ptrdiff_t>(chunk.begin));
  rest.insert(rest.end(), values.begin() + static_cast<std::ptrdiff_t>(chunk.end), values.end());
  return rest;
}

// The order of simplicity of single numbers: 0, 1, -1, 2 ... for integers; for floats +0, -0,
// integers, other finite ones by their decimal digits, infinities, NaNs.
template <std::integral T>
bool simpler(T a, T b) {
  const auto magnitude = [](T x) {
    const auto wide = static_cast<std::uint64_t>(x);
    return x < 0 ? 0 - wide : wide;
  };
  if (magnitude(a) != magnitude(b)) return magnitude(a) < magnitude(b);
  return a > b;
}
bool simpler(float a, float b);
bool simpler(double a, double b);

// Simpler numbers, most aggressive first.
std::vector<float> simpler_floats(float value);
std::vector<double> simpler_floats(double value);
// Numbers far below the largest become 1, the others become the first number to which adding 1
// changes nothing (2^24 for floats), all with their signs: the simplest array of two magnitudes, in
// which sums lose the small ones.  Returns the same array if that is not simpler.
std::vector<float> of_two_magnitudes(std::vector<float> values);
std::vector<double> of_two_magnitudes(std::vector<double> values);
// Fewer blocks, fewer threads, fewer dimensions, less dynamic shared memory; if the block shrinks,
// shared memory that was a multiple of its threads is also offered in proportion.
std::vector<LaunchConfig> simpler_launches(const LaunchConfig& launch);
// `launch`, made for `from` elements, adapted to `to` elements: every extent and shared memory size
// that is recognisably a function of `from` is adapted.
LaunchConfig follow(const LaunchConfig& launch, std::uint64_t from, std::uint64_t to);

namespace shrink_detail {

// Offers the elements of a short list of complete candidates.
template <class T>
bool offer_all(const std::vector<T>& candidates, Take<T> take) {
  return std::any_of(candidates.begin(), candidates.end(),
                     [&](const T& candidate) { return take([&] { return candidate; }); });
}

}  // namespace shrink_detail

template <std::integral T>
struct ShrinkTraits<T> {
  static bool sizes(T, Take<T>) { return false; }

  // 0, the opposite sign, then ever smaller steps towards 0: x/2, 3x/4, ... x -+ 1.
  static bool values(T value, Take<T> take) {
    if (value == 0) return false;
    if (take([] { return T{0}; })) return true;
    if constexpr (std::same_as<T, bool>) {
      return false;
    } else {
      if (value < 0 && value != std::numeric_limits<T>::min() &&
          take([&] { return static_cast<T>(-value); })) {
        return true;
      }
      for (T step = static_cast<T>(value / 2); step != 0; step = static_cast<T>(step / 2)) {
        if (take([&] { return static_cast<T>(value - step); })) return true;
      }
      return false;
    }
  }
};

template <std::floating_point T>
struct ShrinkTraits<T> {
  static bool sizes(T, Take<T>) { return false; }
  static bool values(T value, Take<T> take) {
    return shrink_detail::offer_all<T>(simpler_floats(value), take);
  }
};

template <NamedEnum E>
struct ShrinkTraits<E> {
  static bool sizes(E, Take<E>) { return false; }
  // The enumerators that are declared before it.
  static bool values(E value, Take<E> take) {
    for (const auto& [constant, name] : warpcheck_enum_names(static_cast<const E*>(nullptr))) {
      if (constant == value) return false;
      if (take([&, simplest = constant] { return simplest; })) return true;
    }
    return false;
  }
};

template <>
struct ShrinkTraits<LaunchConfig> {
  static bool sizes(const LaunchConfig& launch, Take<LaunchConfig> take) {
    return shrink_detail::offer_all<LaunchConfig>(simpler_launches(launch), take);
  }
  static bool values(const LaunchConfig&, Take<LaunchConfig>) { return false; }
};

template <>
struct ShrinkTraits<Dim3> {
  static bool sizes(const Dim3& extents, Take<Dim3> take) {
    const auto launch_take = [&](Candidate<LaunchConfig> make) {
      return take([&] { return make().grid; });
    };
    return ShrinkTraits<LaunchConfig>::sizes({.grid = extents}, launch_take);
  }
  static bool values(const Dim3&, Take<Dim3>) { return false; }
};

template <>
struct ShrinkTraits<std::string> {
  static bool sizes(const std::string& text, Take<std::string> take);
  static bool values(const std::string& text, Take<std::string> take);
};

template <class T, std::size_t count>
struct ShrinkTraits<std::array<T, count>> {
  using Array = std::array<T, count>;
  static bool sizes(const Array& array, Take<Array> take) {
    return each_element(array, take, &shrink_sizes<T>);
  }
  static bool values(const Array& array, Take<Array> take) {
    return each_element(array, take, &shrink_values<T>);
  }

 private:
  static bool each_element(const Array& array, Take<Array> take, bool (*pass)(const T&, Take<T>)) {
    for (std::size_t i = 0; i < count; ++i) {
      const auto take_element = [&](Candidate<T> make) {
        return take([&] {
          Array copy = array;
          copy[i] = make();
          return copy;
        });
      };
      if (pass(array[i], take_element)) return true;
    }
    return false;
  }
};

template <class T>
struct ShrinkTraits<std::vector<T>> {
  using Vector = std::vector<T>;

  static bool sizes(const Vector& vector, Take<Vector> take);
  static bool values(const Vector& vector, Take<Vector> take);

 private:
  static bool zero_chunks(const Vector& vector, Take<Vector> take) {
    const auto is_zero = [](T x) { return !simpler(T{}, x); };
    return for_each_chunk(vector.size(), [&](Chunk chunk) {
      const auto begin = static_cast<std::ptrdiff_t>(chunk.begin);
      const auto end = static_cast<std::ptrdiff_t>(chunk.end);
      if (std::all_of(vector.begin() + begin, vector.begin() + end, is_zero)) return false;
      return take([&] {
        Vector copy = vector;
        std::fill(copy.begin() + begin, copy.begin() + end, T{});
        return copy;
      });
    });
  }

  static bool two_magnitudes(const Vector& vector, Take<Vector> take) {
    if constexpr (std::floating_point<T>) {
      Vector simple = of_two_magnitudes(vector);
      return !identical(simple, vector) && take([&] { return simple; });
    }
    return false;
  }

  // Runs: an element becomes equal to a simpler neighbour.
  static bool equal_neighbours(const Vector& vector, Take<Vector> take) {
    const auto offer = [&](std::size_t to, std::size_t from) {
      if (!simpler(vector[from], vector[to])) return false;
      return take([&] {
        Vector copy = vector;
        copy[to] = vector[from];
        return copy;
      });
    };
    for (std::size_t i = 1; i < vector.size(); ++i) {
      if (offer(i, i - 1) || offer(i - 1, i)) return true;
    }
    return false;
  }

  // All elements of one value together, for failures that need them to be equal.
  static bool equal_elements(const Vector& vector, Take<Vector> take) {
    Vector sorted = vector;
    std::sort(sorted.begin(), sorted.end(), [](T a, T b) { return simpler(a, b); });
    const auto same = [](T a, T b) { return identical<T>(a, b); };
    for (auto it = sorted.begin();
         (it = std::adjacent_find(it, sorted.end(), same)) != sorted.end();) {
      const T value = *it;
      const auto take_all = [&](Candidate<T> make) {
        return take([&] {
          Vector copy = vector;
          const T replacement = make();
          for (auto&& element : copy) {
            if (same(element, value)) element = replacement;
          }
          return copy;
        });
      };
      if (shrink_values<T>(value, take_all)) return true;
      it = std::find_if_not(it, sorted.end(), [&](T x) { return same(x, value); });
    }
    return false;
  }

  static bool single_elements(const Vector& vector, Take<Vector> take) {
    for (std::size_t i = 0; i < vector.size(); ++i) {
      const auto take_element = [&](Candidate<T> make) {
        return take([&] {
          Vector copy = vector;
          copy[i] = make();
          return copy;
        });
      };
      if (shrink_sizes<T>(vector[i], take_element)) return true;
      if (shrink_values<T>(vector[i], take_element)) return true;
    }
    return false;
  }
};

template <class T>
bool ShrinkTraits<std::vector<T>>::sizes(const Vector& vector, Take<Vector> take) {
  return for_each_chunk(vector.size(),
                        [&](Chunk chunk) { return take([&] { return without(vector, chunk); }); });
}

template <class T>
bool ShrinkTraits<std::vector<T>>::values(const Vector& vector, Take<Vector> take) {
  if constexpr (std::is_arithmetic_v<T>) {
    return zero_chunks(vector, take) || two_magnitudes(vector, take) ||
           equal_neighbours(vector, take) || equal_elements(vector, take) ||
           single_elements(vector, take);
  } else {
    return single_elements(vector, take);
  }
}

// Compiled once, and not in each pair file.
extern template struct ShrinkTraits<std::vector<int>>;
extern template struct ShrinkTraits<std::vector<std::uint32_t>>;
extern template struct ShrinkTraits<std::vector<float>>;
extern template struct ShrinkTraits<std::vector<double>>;

}  // namespace warpcheck
