// Accesses that stay within their arrays: conditions, other comparisons, other indices, and arrays
// with more elements.  As for rewrites.hpp.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "cli/fix/patch.hpp"
#include "cli/fix/source_tree.hpp"

namespace warpcheck {

// `a[i] = ...;` only if `i < n`, for each bound that the function knows, and only if `i - 1 >= 0`;
// `i < n ? a[i] : 0`.
std::vector<Patch> bounded_accesses(const std::string& file, const SourceTree& tree,
                                    std::size_t node);

// Such a condition in an `if` around the statement that has more in it.
std::vector<Patch> bounded_branches(const std::string& file, const SourceTree& tree,
                                    std::size_t node);

// `a[y * n + x] = ...;` only if `y < m`, for each variable of an index and each bound.
std::vector<Patch> bounded_variables(const std::string& file, const SourceTree& tree,
                                     std::size_t node);

// `a[min(i, n - 1)]`, `a[max(i - 1, 0)]`, and `a[n - i - 1]` for `a[n - i]`.
std::vector<Patch> other_indices(const std::string& file, const SourceTree& tree, std::size_t node);

// The comparison in the condition of a statement, around it, or of an early end before it, with `<`
// for `<=` and so on.
std::vector<Patch> shifted_comparisons(const std::string& file, const SourceTree& tree,
                                       std::size_t node);

// In the same conditions, what two comparisons compare with, exchanged: `x < width && y < height`
// for `x < height && y < width`.
std::vector<Patch> exchanged_bounds(const std::string& file, const SourceTree& tree,
                                    std::size_t node);

// In the same conditions, `x >= w || y >= h` of an early end for `x >= w && y >= h`, and
// `x < w && y < h` around the statement for `x < w || y < h`.
std::vector<Patch> exchanged_connectives(const std::string& file, const SourceTree& tree,
                                         std::size_t node);

// More elements for the arrays of the function that the statement names: `a + 2 * b` for `a + b`,
// then some more.
std::vector<Patch> larger_arrays(const std::string& file, const SourceTree& tree, std::size_t node);

}  // namespace warpcheck
