// Parts of statements as rewrites see them: assignments, subscripts, guards.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/fix/patch.hpp"
#include "cli/fix/source_tree.hpp"

namespace warpcheck {

inline constexpr std::size_t kNoPart = std::string_view::npos;

// The patch that puts `text` in the place of the characters from `begin` to `end`.
//   what: was done, for people; the line is added
Patch rewritten(const std::string& file, const SourceTree& tree, std::size_t begin, std::size_t end,
                std::string text, std::string_view what);

// Whether the code is all that is there: no literal and no comment would be lost.
bool is_plain(const SourceTree& tree, std::size_t node);

// Whether writing the expression twice could do something twice.
bool has_effects(const SourceTree& tree, std::string_view code);

// `__syncthreads();`, `__syncwarp();`, `group.sync();`
bool is_barrier(std::string_view code);

// `target op= value;`; plain assignments have no operation.
struct Assignment {
  std::string target, operation, value;
};

std::optional<Assignment> assignment_of(std::string_view code);

// Whether it names memory: no declaration, which has two words side by side.
bool is_place(std::string_view target);

// `name[index]` in code.
struct Subscript {
  std::size_t begin, end;  // of all
  std::string name, index;
};

std::vector<Subscript> subscripts_of(std::string_view code);

// The number of elements of the shared array of that name, as its declaration writes it; empty:
// there is none, or it is not known here.
std::string shared_elements(const SourceTree& tree, std::size_t function, std::string_view name);

// The integers among a function's parameters.
std::vector<std::string> integer_parameters(const SourceTree& tree, std::size_t function);

// What the index of an access may be compared with.
std::vector<std::string> bounds_for(const SourceTree& tree, std::size_t function,
                                    const Subscript& access);

// The `if` without `else` whose only statement it is; else kNoNode.
std::size_t guard_of(const SourceTree& tree, std::size_t node);

// In brackets where it would not be one part of `c ? a : b`.
std::string as_part_of_choice(std::string_view code);

// A condition more before a statement: in the `if` around it, if that has no `else`.
Patch with_condition(const std::string& file, const SourceTree& tree, std::size_t node,
                     const std::string& condition);

// The wish, or one like it, that the file does not use.
std::string unused_name(const SourceTree& tree, std::string_view wish);

}  // namespace warpcheck
