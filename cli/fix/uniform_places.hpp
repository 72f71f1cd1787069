// Where all threads of a block come by, by what the source says: the places for a barrier.
//
// Runs show that a barrier is not reached by all threads only at the sizes that they have, and a
// program has one.  So a barrier goes only where no condition around it depends on the number of a
// thread or on what threads compute one by one.  What is not known here counts as depending.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>

#include "cli/fix/patch.hpp"
#include "cli/fix/source_tree.hpp"

namespace warpcheck {

class UniformPlaces {
 public:
  // sources: by name, those that a patch may change; not owned
  explicit UniformPlaces(const std::map<std::string, SourceTree>& sources) : sources_(sources) {}

  // Returns whether all threads of a block (__syncthreads), of a warp (__syncwarp), or of the grid
  // (this_grid().sync(), and barriers of a cluster) come by each barrier that the patch inserts.
  [[nodiscard]] bool all_come_by(const Patch& patch) const;

 private:
  // Who comes by together.
  enum class Group : unsigned char { grid, block, warp };
  using Names = std::set<std::string, std::less<>>;

  [[nodiscard]] bool comes_by(const SourceTree& tree, std::size_t at, Group group,
                              unsigned depth) const;
  // Variables of a function that differ between threads of a group.
  [[nodiscard]] Names varying(const SourceTree& tree, std::size_t function, Group group,
                              unsigned depth) const;
  void add_parameters(const SourceTree& tree, std::size_t function, Group group, unsigned depth,
                      Names& names) const;

  const std::map<std::string, SourceTree>& sources_;
};

}  // namespace warpcheck
