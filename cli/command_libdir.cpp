// warpcheck libdir: the directory of the virtual GPU's CUDA runtime libraries.
#include "cli/cli.hpp"
#include "cli/exec/program_file.hpp"

namespace warpcheck {
namespace {

void add_libdir_to(CLI::App& command, Run& run) {
  command.footer(
      "A program that is linked with -L and this directory runs on the virtual GPU without\n"
      "`warpcheck exec`.\n"
      "\n"
      "Examples:\n"
      "  nvcc -lineinfo -L \"$(warpcheck libdir)\" scan.cu -o scan\n"
      "\n"
      "Exit status: 0 printed, 2 not found.");
  command.callback([&run] {
    run = [] {
      print(drop_in_directory() + "\n");
      return kNothingFound;
    };
  });
}

const RegisteredCommand kLibdirCommand{
    {.rank = 110,
     .name = "libdir",
     .help = "Print the directory of the virtual GPU's CUDA runtime libraries",
     .add = add_libdir_to}};

}  // namespace
}  // namespace warpcheck
