// warpcheck new: the files of a new pair.
#include <fmt/format.h>

#include <memory>

#include "cli/cli.hpp"
#include "harness/pair/new_pair.hpp"

namespace warpcheck {
namespace {

struct NewArguments {
  std::string name;
  bool planted = false;
};

int run_new(const NewArguments& arguments) {
  const std::string& name = arguments.name;
  const std::vector<NewFile> files = write_new_pair(".", name, arguments.planted);
  bool made_project = false;
  std::string text;
  for (const NewFile& file : files) {
    text += fmt::format("wrote {}\n", file.name);
    made_project = made_project || file.name == "CMakeLists.txt";
  }
  if (made_project) {
    text += "build it: cmake -B build && cmake --build build\n";
  } else {
    text += fmt::format(
        "add this to CMakeLists.txt, or add the files to a call that exists:\n"
        "  find_package(warpcheck REQUIRED)\n"
        "  warpcheck_add_pairs({0} FILES {0}.cu {0}_pair.cpp OPTIONS -fmad=false)\n",
        name);
  }
  print(text + fmt::format("check it: build/{} check\n", name));
  return kNothingFound;
}

void add_new_to(CLI::App& command, Run& run) {
  const auto arguments = std::make_shared<NewArguments>();
  command.add_option("NAME", arguments->name, "Name of the kernel and its pair")->required();
  command.add_flag("--planted", arguments->planted,
                   "Plant a bug in the kernel, to see how it is found");
  command.footer(
      "Writes NAME.cu, NAME_reference.hpp and NAME_pair.cpp into the current directory, and a\n"
      "CMakeLists.txt if there is none.  It overwrites no file.  The new pair builds and passes.\n"
      "\n"
      "Examples:\n"
      "  warpcheck new row_sum\n"
      "  cmake -B build && cmake --build build && build/row_sum check\n"
      "\n"
      "Exit status: 0 written, 2 not written.");
  command.callback([&run, arguments] { run = [arguments] { return run_new(*arguments); }; });
}

const RegisteredCommand kNewCommand{
    {.rank = 120, .name = "new", .help = "Write the files of a new pair", .add = add_new_to}};

}  // namespace
}  // namespace warpcheck
