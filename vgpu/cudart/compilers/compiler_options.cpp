#include "vgpu/cudart/compilers/compiler_options.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace warpcheck::cudart {
namespace {

constexpr std::array<std::string_view, 2> kArchitecture{"--gpu-architecture", "-arch"};
// Options that already produce line information.  Debug information includes lines; code that
// another compiler will link keeps the lines that its options request.
constexpr std::array<std::string_view, 5> kLinesAreKnown{"-lineinfo", "--generate-line-info", "-G",
                                                         "--device-debug", "--optix-ir"};
constexpr std::array<std::string_view, 2> kLinkTime{"-dlto", "--dlink-time-opt"};
// Options that select how link-time code is generated.
constexpr std::array<std::string_view, 2> kOfLinkTime{"-gen-opt-lto", "--gen-opt-lto"};

// Turns "sm_90a" into "compute_90a"; returns false, and changes nothing, for another architecture.
bool make_virtual(std::string& word, std::size_t at) {
  constexpr std::string_view kReal = "sm_";
  if (word.compare(at, kReal.size(), kReal) != 0) return false;
  word.replace(at, kReal.size(), "compute_");
  return true;
}

bool is_any_of(const auto& names, std::string_view word) {
  return std::ranges::find(names, word) != names.end();
}

}  // namespace

CompilerOptions nvrtc_options_for_the_virtual_gpu(std::vector<std::string> words) {
  CompilerOptions options{std::move(words)};
  bool lines_are_known = false, value_follows = false;
  for (std::string& word : options.words) {
    const std::size_t equals = std::min(word.find('='), word.size());
    const std::string_view name = std::string_view(word).substr(0, equals);
    if (std::exchange(value_follows, false)) {
      options.wants_machine_code |= make_virtual(word, 0);
    } else if (is_any_of(kArchitecture, name)) {
      value_follows = equals == word.size();
      options.wants_machine_code |= !value_follows && make_virtual(word, equals + 1);
    }
    lines_are_known |= is_any_of(kLinesAreKnown, word);
    if (!is_any_of(kLinkTime, word)) continue;
    word = "-rdc=true";  // -dlto implies it
    options.wants_link_time_code = true;
  }
  std::erase_if(options.words, [](const auto& word) { return is_any_of(kOfLinkTime, word); });
  if (!lines_are_known) options.words.emplace_back("-lineinfo");
  return options;
}

CompilerOptions nvvm_options_for_the_virtual_gpu(std::vector<std::string> words) {
  CompilerOptions options{std::move(words)};
  options.wants_link_time_code = std::erase(options.words, "-gen-lto") != 0;
  return options;
}

}  // namespace warpcheck::cudart
