// warpcheck export: a case as a CUDA program of its own.
#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "cli/cli.hpp"
#include "harness/case/case_file.hpp"
#include "harness/export/export.hpp"
#include "harness/export/source_text.hpp"
#include "harness/pair/registry.hpp"

namespace warpcheck {
namespace {

struct ExportArguments {
  std::string input;
  std::string output;
};

int run_export(const ExportArguments& arguments) {
  const CaseRecord record = read_case(arguments.input, Registry::global());
  const std::string name = std::filesystem::path(arguments.output).filename().string();
  if (name.find_first_of("\"\\\n") != std::string::npos) {
    throw UsageError(fmt::format("{}: a file name without quotes and backslashes was expected",
                                 arguments.output));
  }
  try {
    const std::string text = program_text(record_for_export(record, arguments.input), name);
    write_file_atomically(arguments.output, text);
  } catch (const ExportError& error) {
    throw UsageError(fmt::format("{} cannot be exported: {}", arguments.input, error.what()));
  } catch (const SourceError& error) {
    throw UsageError(fmt::format("{} cannot be exported: {}", arguments.input, error.what()));
  }
  return kNothingFound;
}

void add_export_to(CLI::App& command, Run& run) {
  const auto arguments = std::make_shared<ExportArguments>();
  command.add_option("CASE", arguments->input, "Case file")->required();
  command.add_option("-o,--output", arguments->output, "Program to write (.cu)")->required();
  command.footer(
      "The program contains the kernels' sources, the input, the calls of the pair and the output\n"
      "of the reference.  It needs only the CUDA Toolkit.  Its first lines say how to build and\n"
      "run it.\n"
      "\n"
      "Examples:\n"
      "  warpcheck export fuzz/cases/naive_sum/c327.case -o sum.cu\n"
      "  nvcc -std=c++20 -lineinfo -fmad=false -arch=native sum.cu -o sum && ./sum\n"
      "\n"
      "Exit status: 0 written, 2 bad usage, a damaged file, or a case that cannot\n"
      "be exported.");
  command.callback([&run, arguments] { run = [arguments] { return run_export(*arguments); }; });
}

const RegisteredCommand kExportCommand{
    {.rank = 60,
     .name = "export",
     .help = "Write a case as a self-contained CUDA program for a real GPU",
     .add = add_export_to}};

}  // namespace
}  // namespace warpcheck
