// What the kernels with one defect (kernels/specimens/planted/one_defect.def) should bring, from
// integers from 0 to 15.  C++17, because nvcc compiles it into programs, too.
#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

namespace one_defect_results {

using Values = std::vector<int>;

template <typename Of>
Values each(const Values& in, Of of) {
  Values out(in.size());
  for (std::size_t i = 0; i < in.size(); ++i) out[i] = of(i);
  return out;
}

inline Values only_first(const Values& in, int value) {
  Values out(in.size(), 0);
  out.front() = value;
  return out;
}

inline Values reversed(const Values& in) { return Values(in.rbegin(), in.rend()); }
inline Values same(const Values& in) { return in; }
inline Values plus_next(const Values& in) {
  return each(in, [&](std::size_t i) { return in[i] + in[(i + 1) % in.size()]; });
}
inline Values plus_next_or_zero(const Values& in) {
  return each(in, [&](std::size_t i) { return in[i] + (i + 1 < in.size() ? in[i + 1] : 0); });
}
inline Values three_next(const Values& in) {
  return each(in, [&](std::size_t i) { return 3 * in[(i + 1) % in.size()] + 3; });
}
inline Values scanned(const Values& in) {
  Values out(in.size());
  std::partial_sum(in.begin(), in.end(), out.begin());
  return out;
}
inline Values summed(const Values& in) {
  return only_first(in, std::accumulate(in.begin(), in.end(), 0));
}
inline Values first_everywhere(const Values& in) { return Values(in.size(), in.front()); }
inline Values counted(const Values& in) { return only_first(in, static_cast<int>(in.size())); }
inline Values counted_odd(const Values& in) {
  return only_first(
      in, static_cast<int>(std::count_if(in.begin(), in.end(), [](int v) { return v % 2 != 0; })));
}
inline Values doubled(const Values& in) {
  return each(in, [&](std::size_t i) { return 2 * in[i]; });
}
inline Values reversed_doubled(const Values& in) { return doubled(reversed(in)); }
inline Values transposed(const Values& in) {
  return each(in, [&](std::size_t i) { return in[i % 8 * 8 + i / 8]; });
}
inline Values swapped(const Values& in) {
  return each(in, [&](std::size_t i) { return in[i ^ 1]; });
}
inline Values warps_reversed(const Values& in) {
  return each(in, [&](std::size_t i) { return in[i ^ 31]; });
}
inline Values warps_summed(const Values& in) {
  return each(in, [&](std::size_t i) {
    const auto begin = in.begin() + static_cast<std::ptrdiff_t>(i / 32 * 32);
    return std::accumulate(begin, begin + 32, 0);
  });
}
inline Values halves_swapped(const Values& in) {
  return each(in, [&](std::size_t i) { return in[i ^ 32]; });
}
inline Values largest(const Values& in) {
  return only_first(in, *std::max_element(in.begin(), in.end()));
}
inline Values ored(const Values& in) {
  int bits = 0;
  for (const int value : in) bits |= 1 << value;
  return only_first(in, bits);
}
inline Values histogram(const Values& in) {
  Values out(in.size(), 0);
  for (const int value : in) ++out[static_cast<std::size_t>(value)];
  return out;
}

}  // namespace one_defect_results
