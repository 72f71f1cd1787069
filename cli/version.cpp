#include "cli/version.hpp"

#include "warpcheck_commit.hpp"

namespace warpcheck {

std::string version() { return WARPCHECK_VERSION; }

std::string version_and_commit() {
  const std::string commit = kCommit;
  return commit.empty() ? version() : version() + " (" + commit + ")";
}

}  // namespace warpcheck
