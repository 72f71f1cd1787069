// Where a statement more can stand in a source file, and the patch that puts it there.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/fix/patch.hpp"
#include "cli/fix/source_tree.hpp"

namespace warpcheck {

// A statement of a source file, which is named as in patches.
struct Place {
  const std::string* file = nullptr;
  const SourceTree* tree = nullptr;
  std::size_t node = SourceNode::kNoNode;
};

// Between statements number `index` - 1 and `index` of a block.
struct Gap {
  std::size_t block, index;
  friend auto operator<=>(const Gap&, const Gap&) = default;
};

std::size_t index_in(const SourceNode& block, std::size_t child);

// The gaps around a statement and around what contains it, and at both ends of the loops around it;
// the nearest first.
std::vector<Gap> gaps_around(const Place& place);

// The gap before or behind the statement; nothing: it is the only statement of a branch or loop.
std::optional<Gap> gap_beside(const Place& place, bool behind);

// The patch that inserts a statement in a gap of the place's file; nothing: the block is empty.
//   words: for people; empty: the text
std::optional<Patch> insertion(const Place& place, const Gap& gap, std::string_view text,
                               std::string_view words = {});

// Without the statement, and without its line if it fills one.
TextEdit without(const SourceTree& tree, std::size_t node);

}  // namespace warpcheck
