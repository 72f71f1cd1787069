// Replaces ptxas for programs that run it at run time (Triton, by TRITON_PTXAS_PATH): ptxas
// [options] FILE.ptx -o FILE.  In place of machine code, it writes the PTX as a module image, which
// cuModuleLoadData() of the virtual GPU accepts.
#include <cstdio>
#include <exception>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <string_view>

#include "vgpu/cudart/code/module_image.hpp"
#include "vgpu/ptx/module.hpp"

namespace {

constexpr const char* kVersion =
    "ptxas: warpcheck's, which keeps PTX\nCuda compilation tools, release 13.0, V13.0.0\n";

// Options about how to compile have no effect.  Options that end with '=' have a value, in the same
// word or in the next one.
constexpr std::string_view kIgnored[] = {"-v",
                                         "--verbose",
                                         "-lineinfo",
                                         "--generate-line-info",
                                         "-g",
                                         "--device-debug",
                                         "-w",
                                         "--disable-warnings",
                                         "-c",
                                         "--compile-only",
                                         "-m64",
                                         "--suppress-debug-info",
                                         "-arch=",
                                         "--gpu-name=",
                                         "-O=",
                                         "-O0",
                                         "-O1",
                                         "-O2",
                                         "-O3",
                                         "--opt-level=",
                                         "-maxrregcount=",
                                         "--maxrregcount=",
                                         "--fmad=",
                                         "-fmad=",
                                         "--machine=",
                                         "-m=",
                                         "--allow-expensive-optimizations=",
                                         "--warn-on-spills",
                                         "--disable-optimizer-constants",
                                         "--position-independent-code"};

struct Arguments {
  std::string input, output = "elf.o";
  bool wants_version = false;
};

bool is_ignored(std::string_view word, bool& value_follows) {
  for (std::string_view name : kIgnored) {
    if (!name.ends_with('=')) {
      if (word == name) return true;
      continue;
    }
    if (word.starts_with(name)) return true;
    name.remove_suffix(1);
    if (word != name) continue;
    value_follows = true;
    return true;
  }
  return false;
}

Arguments read(int count, char** words) {
  Arguments arguments;
  for (int i = 1; i < count; ++i) {
    const std::string_view word = words[i];
    bool value_follows = false;
    if (word == "--version" || word == "-V") {
      arguments.wants_version = true;
    } else if ((word == "-o" || word == "--output-file") && i + 1 < count) {
      arguments.output = words[++i];
    } else if (is_ignored(word, value_follows)) {
      i += value_follows ? 1 : 0;
    } else if (word.starts_with('-')) {
      throw std::runtime_error("option " + std::string(word) + " is not supported");
    } else if (arguments.input.empty()) {
      arguments.input = word;
    } else {
      throw std::runtime_error("more than one input: " + std::string(word));
    }
  }
  return arguments;
}

void compile(const Arguments& arguments) {
  std::ifstream file(arguments.input, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + arguments.input);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  static_cast<void>(warpcheck::ptx::parse(text, arguments.input));
  std::ofstream out(arguments.output, std::ios::binary);
  const std::string image = warpcheck::cudart::make_module_image({text});
  out.write(image.data(), static_cast<std::streamsize>(image.size()));
  if (!out.flush()) throw std::runtime_error("cannot write " + arguments.output);
}

}  // namespace

int main(int count, char** words) {
  try {
    const Arguments arguments = read(count, words);
    if (arguments.wants_version) {
      std::fputs(kVersion, stdout);
    } else {
      compile(arguments);
    }
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "ptxas fatal   : %s\n", error.what());
    return 255;
  }
}
