#include "harness/pair/project.hpp"

#include <utility>

namespace warpcheck {
namespace {

Project& the_project() {
  static Project ours{.program = "warpcheck", .source_root = WARPCHECK_SOURCE_DIR};
  return ours;
}

}  // namespace

const Project& project() { return the_project(); }

bool set_project(Project project) {
  the_project() = std::move(project);
  return true;
}

}  // namespace warpcheck
