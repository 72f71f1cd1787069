// warpcheck show: a program as the machine runs it.
#include <fmt/format.h>

#include <memory>

#include "cli/cli.hpp"
#include "cli/look/listing_text.hpp"
#include "harness/case/atomic_file.hpp"

namespace warpcheck {
namespace {

struct ShowArguments {
  std::string file, json, build;
  ListingStyle style;
};

int run_show(const ShowArguments& arguments) {
  std::optional<Build> build;
  if (!arguments.build.empty()) {
    build = arguments.build == "unoptimized" ? Build::unoptimized : Build::optimized;
  }
  const ShownPrograms shown = programs_of(arguments.file, build, arguments.style.kernel);
  if (arguments.json.empty()) {
    print(listing_text(shown, arguments.style));
  } else {
    write_file_atomically(arguments.json, listing_json(shown, arguments.style));
  }
  return kNothingFound;
}

void add_show_to(CLI::App& command, Run& run) {
  const auto arguments = std::make_shared<ShowArguments>();
  command.add_option("FILE", arguments->file, "A PTX file, a program that nvcc built, or a case")
      ->required();
  command.add_option("KERNEL", arguments->style.kernel,
                     "Only kernels with this in their name (default: all)");
  command.add_option("--json", arguments->json, "Write JSON to this file, and no text")
      ->type_name("FILE");
  command
      .add_option("--build", arguments->build, "Build of a case's kernels (default: the case's)")
      ->check(CLI::IsMember({"optimized", "unoptimized"}));
  command.add_flag(
      "--full-names", arguments->style.full_names,
      "Print the whole names of kernels: of long ones, template arguments are left out "
      "otherwise");
  command.footer(
      "Basic blocks stand in the order in which lanes meet again: those at the lowest place run\n"
      "first.  `touches` is what an address was computed from.  A program is not run; a case is "
      "run\n"
      "once, to learn which kernels it launches.\n"
      "\n"
      "Examples:\n"
      "  nvcc -lineinfo -ptx scan.cu && warpcheck show scan.ptx\n"
      "  warpcheck show ./scan scan_kernel\n"
      "  warpcheck show scan.case --build unoptimized --json scan.json\n"
      "\n"
      "Exit status: 0 shown, 2 bad usage, a file that is damaged or has no kernels, or no such\n"
      "kernel.");
  command.callback([&run, arguments] { run = [arguments] { return run_show(*arguments); }; });
}

const RegisteredCommand kShowCommand{{.rank = 56,
                                      .name = "show",
                                      .help = "List a program as the machine runs it",
                                      .add = add_show_to}};

}  // namespace
}  // namespace warpcheck
