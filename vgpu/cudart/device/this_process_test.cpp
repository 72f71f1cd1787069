#include "vgpu/cudart/device/this_process.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace warpcheck::cudart {
namespace {

// Returns whether the number is right here, and in a child, and in a child of that.
bool is_right(int generations) {
  if (this_process() != ::getpid() || this_process() != ::getpid()) return false;
  if (generations == 0) return true;
  const pid_t child = ::fork();
  if (child == 0) ::_exit(is_right(generations - 1) ? 0 : 1);
  int status = 0;
  const bool has_ended = ::waitpid(child, &status, 0) == child;
  return has_ended && WIFEXITED(status) && WEXITSTATUS(status) == 0 && this_process() == ::getpid();
}

TEST(ThisProcess, HasItsOwnNumberAfterAFork) { EXPECT_TRUE(is_right(2)); }

}  // namespace
}  // namespace warpcheck::cudart
