// Statements written in another way: what an inserted line cannot do.
//
// Each takes a file's name in reports, its tree and a statement, and returns nothing where the
// statement has not the form that it knows, or where writing an expression twice could change what
// it does.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/fix/patch.hpp"
#include "cli/fix/source_tree.hpp"

namespace warpcheck {

// `a[i] += a[j];` under an `if`: the value is read, all threads wait, the result is stored.
std::optional<Patch> split_statement(const std::string& file, const SourceTree& tree,
                                     std::size_t node, std::string_view barrier);

// `x += e;` as `atomicAdd(&x, e);`, `if (e > x) x = e;` as `atomicMax(&x, e);`, and the like.
std::vector<Patch> atomic_updates(const std::string& file, const SourceTree& tree,
                                  std::size_t node);

// `slot = count++;` as `slot = atomicAdd(&count, 1);`.
std::vector<Patch> atomic_steps(const std::string& file, const SourceTree& tree, std::size_t node);

// `flag = e;` as `atomicExch(&flag, e);`.
std::optional<Patch> atomic_store(const std::string& file, const SourceTree& tree,
                                  std::size_t node);

// A statement for threadIdx.x as a loop over all elements of a shared array.
std::vector<Patch> strided_accesses(const std::string& file, const SourceTree& tree,
                                    std::size_t node);

// All statements of a function that strided_accesses() knows: an array that a block of another size
// fills must be read by such a loop, too.  Nothing: there are less than two.
std::optional<Patch> all_strided_accesses(const std::string& file, const SourceTree& tree,
                                          std::size_t function);

// Of `for (int stride = width / 4; stride > 0; stride /= 2)`: the first value is the largest power
// of two that is not above the width, so that every stride is one.
std::vector<Patch> halving_from_power_of_two(const std::string& file, const SourceTree& tree,
                                             std::size_t function);

}  // namespace warpcheck
