// warpcheck new: the files of a new pair.
#include <fmt/format.h>

#include <fstream>
#include <memory>
#include <utility>

#include "cli/cli.hpp"
#include "cli/kernel/pair_files.hpp"
#include "harness/pair/new_pair.hpp"

namespace warpcheck {
namespace {

struct NewArguments {
  std::string name;
  std::string kernel;  // FILE.cu:KERNEL; empty: the pair of an example
  KernelOptions options;
  bool planted = false;
};

int print_new_files(const std::vector<NewFile>& files, const std::string& name,
                    const std::string& add_pairs) {
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
        "  {}\n",
        add_pairs);
  }
  print(text + fmt::format("check it: build/{} check\n", name));
  return kNothingFound;
}

// The first `:` after the file's suffix separates them: names of kernels may contain `::`.
void split_new_kernel(NewArguments& arguments) {
  const std::size_t suffix = arguments.kernel.find(".cu");
  const std::size_t colon = arguments.kernel.find(':', suffix == std::string::npos ? 0 : suffix);
  if (suffix == std::string::npos) {
    throw UsageError(
        fmt::format("--kernel {}: expected FILE.cu or FILE.cu:KERNEL", arguments.kernel));
  }
  arguments.options.file = arguments.kernel.substr(0, colon);
  if (colon != std::string::npos) {
    arguments.options.names = {arguments.kernel.substr(colon + 1)};
  }
}

int run_new_of_kernel(NewArguments arguments) {
  if (arguments.planted) throw UsageError("--planted is for the pair of an example, not --kernel");
  split_new_kernel(arguments);
  if (!arguments.name.empty()) check_pair_name(arguments.name);
  const std::vector<std::string>& names = arguments.options.names;
  const AssumedKernel kernel = assumed_kernel(
      compiled_kernels(arguments.options), arguments.options, names.empty() ? "" : names.front());
  const std::string name =
      arguments.name.empty() ? pair_name_of(kernel.assumptions.kernel.name) : arguments.name;
  check_pair_name(name);
  auto files = kernel_pair_files(name, kernel, arguments.options);
  const NewFile launcher = files.front();
  const std::string beside = launcher_beside(".", launcher);
  if (!beside.empty()) files.erase(files.begin());
  files = write_new_files(".", std::move(files));
  if (!beside.empty()) {
    std::ofstream(beside, std::ios::app) << "\n" << launch_function_of(launcher);
    print(fmt::format("added {}_launch() to {}, which includes {} already\n", name, beside,
                      arguments.options.file));
  }
  print(fmt::format("{}: write in {}_reference.hpp what it computes; until then the pair fails\n",
                    kernel.signature, name));
  return print_new_files(
      files, name,
      add_pairs_text(name, beside.empty() ? launcher.name : beside, arguments.options));
}

int run_new(const NewArguments& arguments) {
  if (!arguments.kernel.empty()) return run_new_of_kernel(arguments);
  if (arguments.name.empty()) throw UsageError("NAME is required, or --kernel FILE.cu:KERNEL");
  const std::string& name = arguments.name;
  return print_new_files(
      write_new_pair(".", name, arguments.planted), name,
      fmt::format("warpcheck_add_pairs({0} FILES {0}.cu {0}_pair.cpp OPTIONS -fmad=false)", name));
}

void add_new_to(CLI::App& command, Run& run) {
  const auto arguments = std::make_shared<NewArguments>();
  command.add_option("NAME", arguments->name, "Name of the kernel and its pair");
  command.add_flag("--planted", arguments->planted,
                   "Plant a bug in the kernel, to see how it is found");
  command
      .add_option("--kernel", arguments->kernel,
                  "Write the pair of this kernel, from its signature; the options below are those "
                  "of `warpcheck kernel`")
      ->type_name("FILE.cu:KERNEL");
  arguments->options.add_options_to(command);
  command.footer(
      "Writes NAME.cu, NAME_reference.hpp and NAME_pair.cpp into the current directory, and a\n"
      "CMakeLists.txt if there is none.  It overwrites no file.  The new pair builds and passes.\n"
      "With --kernel: NAME_launch.cu, which launches the kernel, in place of NAME.cu; the new "
      "pair\n"
      "builds, and fails until NAME_reference.hpp says what the kernel computes.\n"
      "\n"
      "Examples:\n"
      "  warpcheck new row_sum\n"
      "  warpcheck new --kernel scan.cu:block_scan --block 128\n"
      "  cmake -B build && cmake --build build && build/row_sum check\n"
      "\n"
      "Exit status: 0 written, 2 not written.");
  command.callback([&run, arguments] { run = [arguments] { return run_new(*arguments); }; });
}

const RegisteredCommand kNewCommand{
    {.rank = 120, .name = "new", .help = "Write the files of a new pair", .add = add_new_to}};

}  // namespace
}  // namespace warpcheck
