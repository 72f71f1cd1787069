// ptx_differential --program FILE: the one in that file.
// ptx_differential --programs N --seed S [--write DIRECTORY]: random programs from seed S on, on
// the machine and on the reference.  Exit 1: some differ.  --write: also each program as
// DIRECTORY/SEED.ptx and what it should leave as DIRECTORY/SEED.expected, for a run on a real
// GPU.
#include <fmt/format.h>

#include <charconv>
#include <cstdint>
#include <cstring>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include "vgpu/differential/compare.hpp"
#include "vgpu/differential/random_program.hpp"
#include "vgpu/differential/reference.hpp"

namespace {

using namespace warpcheck::vgpu;  // NOLINT(google-build-using-namespace)

struct Options {
  std::uint64_t programs = 1000, seed = 0;
  std::filesystem::path directory, program;
};

bool read_number(std::string_view text, std::uint64_t& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc{} && end == text.data() + text.size();
}

bool read_options(int count, char** arguments, Options& options) {
  for (int i = 1; i + 1 < count; i += 2) {
    const std::string_view name = arguments[i], value = arguments[i + 1];
    const bool is_known = name == "--programs"  ? read_number(value, options.programs)
                          : name == "--seed"    ? read_number(value, options.seed)
                          : name == "--program" ? (options.program = value, true)
                          : name == "--write"   ? (options.directory = value, true)
                                                : false;
    if (!is_known) return false;
  }
  return count % 2 == 1;
}

void write(const std::filesystem::path& directory, std::uint64_t seed) {
  const std::string text = random_program(seed);
  std::ofstream(directory / fmt::format("{}.ptx", seed)) << text;
  std::ofstream expected(directory / fmt::format("{}.expected", seed));
  for (const std::uint32_t word : reference_results(warpcheck::ptx::parse(text, "random"),
                                                    kDifferentialThreads, kOutputWords)) {
    expected << fmt::format("{:08x}\n", word);
  }
}

}  // namespace

int main(int count, char** arguments) try {
  Options options;
  if (!read_options(count, arguments, options)) {
    fmt::print(
        stderr,
        "usage: ptx_differential [--programs N] [--seed S] [--write DIRECTORY] | --program FILE\n");
    return 2;
  }
  if (!options.program.empty()) {
    std::ifstream file(options.program);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    const std::string found = difference_in(text, options.program.string());
    if (!found.empty()) fmt::print("{}\n", found);
    return found.empty() ? 0 : 1;
  }
  std::uint64_t differing = 0;
  for (std::uint64_t seed = options.seed; seed < options.seed + options.programs; ++seed) {
    const std::string text = difference(seed);
    if (!options.directory.empty()) write(options.directory, seed);
    if (text.empty()) continue;
    ++differing;
    fmt::print("{}\n", text);
  }
  fmt::print("{} programs, {} differ\n", options.programs, differing);
  return differing == 0 ? 0 : 1;
} catch (const std::exception& error) {
  fmt::print(stderr, "ptx_differential: {}\n", error.what());
  return 2;
}
