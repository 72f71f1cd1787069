#include "cli/fix/build_options.hpp"

#include <algorithm>
#include <array>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string_view>

#include "vgpu/text/shell_words.hpp"

namespace warpcheck {
namespace {

namespace fs = std::filesystem;

template <class Words>
bool is_one_of(std::string_view word, const Words& words) {
  return std::ranges::find(words, word) != std::ranges::end(words);
}

// Alone, and those that the next word belongs to.
constexpr std::array kDropped{std::string_view("-c"),
                              std::string_view("-dc"),
                              std::string_view("-dw"),
                              std::string_view("-G"),
                              std::string_view("-g"),
                              std::string_view("-lineinfo"),
                              std::string_view("-MD"),
                              std::string_view("-MMD"),
                              std::string_view("--compile"),
                              std::string_view("-rdc=true"),
                              std::string_view("-ptx"),
                              std::string_view("--device-debug"),
                              std::string_view("--debug"),
                              std::string_view("-keep"),
                              std::string_view("-forward-unknown-to-host-compiler")};
constexpr std::array kDroppedWithNext{
    std::string_view("-o"),    std::string_view("-x"),         std::string_view("-MT"),
    std::string_view("-MF"),   std::string_view("-gencode"),   std::string_view("--generate-code"),
    std::string_view("-arch"), std::string_view("-Xcompiler"), std::string_view("-ccbin")};
constexpr std::array kPathsBehind{std::string_view("-I"), std::string_view("-isystem"),
                                  std::string_view("-include"), std::string_view("--options-file"),
                                  std::string_view("-optf")};

std::optional<std::vector<std::string>> options_in(const fs::path& database, const fs::path& file) {
  std::ifstream in(database);
  const nlohmann::json entries = nlohmann::json::parse(in, nullptr, false);
  if (!entries.is_array()) return std::nullopt;
  for (const nlohmann::json& entry : entries) {
    const fs::path directory = entry.value("directory", "");
    const fs::path named = entry.value("file", "");
    const fs::path input = (named.is_absolute() ? named : directory / named).lexically_normal();
    std::error_code error;
    if (input != file && !fs::equivalent(input, file, error)) continue;
    const std::vector<std::string> words =
        entry.contains("arguments") ? entry.at("arguments").get<std::vector<std::string>>()
                                    : shell_words(entry.value("command", ""));
    return device_options(words, directory, named);
  }
  return std::nullopt;
}

}  // namespace

std::vector<std::string> device_options(const std::vector<std::string>& words,
                                        const fs::path& directory, const fs::path& input) {
  std::vector<std::string> options;
  const auto absolute = [&](const std::string& path) {
    return (fs::path(path).is_absolute() ? fs::path(path) : directory / path)
        .lexically_normal()
        .string();
  };
  for (std::size_t at = 1; at < words.size(); ++at) {
    const std::string& word = words[at];
    if (word == input.string() || is_one_of(word, kDropped)) continue;
    if (is_one_of(word, kDroppedWithNext)) {
      ++at;
      continue;
    }
    const bool is_target = word.starts_with("-arch=") || word.starts_with("-gencode=") ||
                           word.starts_with("--generate-code=") ||
                           word.starts_with("-Xcompiler=") ||
                           word.starts_with("--gpu-architecture") || word.starts_with("-O");
    if (is_target) continue;
    if (is_one_of(word, kPathsBehind) && at + 1 < words.size()) {
      if (word == "-I") {
        options.push_back("-I" + absolute(words[++at]));
      } else {
        options.push_back(word);
        options.push_back(absolute(words[++at]));
      }
    } else if (word.starts_with("-I")) {
      options.push_back("-I" + absolute(word.substr(2)));
    } else if (word.starts_with('-')) {
      options.push_back(word);
    }
  }
  return options;
}

std::optional<std::vector<std::string>> options_of_build(const fs::path& file,
                                                         const std::vector<fs::path>& folders) {
  for (const fs::path& folder : folders) {
    for (const fs::path& at : {folder, folder / "build"}) {
      if (auto options = options_in(at / "compile_commands.json", file)) return options;
    }
  }
  return std::nullopt;
}

}  // namespace warpcheck
