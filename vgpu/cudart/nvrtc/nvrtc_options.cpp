#include "vgpu/cudart/nvrtc/nvrtc_options.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace warpcheck::cudart {
namespace {

constexpr std::array<std::string_view, 2> kArchitecture{"--gpu-architecture", "-arch"};
// Debug information has lines, too; code that is yet to be linked by another compiler has them
// where it asks for them.
constexpr std::array<std::string_view, 7> kLinesAreKnown{
    "-lineinfo", "--generate-line-info", "-G",        "--device-debug",
    "-dlto",     "--dlink-time-opt",     "--optix-ir"};

// "sm_90a" becomes "compute_90a"; another architecture stays.
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

NvrtcOptions options_for_the_virtual_gpu(std::vector<std::string> words) {
  NvrtcOptions options{std::move(words)};
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
  }
  if (!lines_are_known) options.words.emplace_back("-lineinfo");
  return options;
}

}  // namespace warpcheck::cudart
