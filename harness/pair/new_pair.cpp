#include "harness/pair/new_pair.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <system_error>

#include "harness/pair/new_pair_template.hpp"
#include "vgpu/text/replace_all.hpp"

namespace warpcheck {

std::string type_name(std::string_view name) {
  std::string type;
  bool starts = true;
  for (const char c : name) {
    if (c != '_') type += starts ? static_cast<char>(std::toupper(c)) : c;
    starts = c == '_';
  }
  return type;
}

namespace {

// Names with another meaning: words of C++, targets of CMake, and words of the template.
constexpr std::array kTakenWords{"all",
                                 "alignas",
                                 "alignof",
                                 "and",
                                 "asm",
                                 "auto",
                                 "bitand",
                                 "bitor",
                                 "bool",
                                 "break",
                                 "case",
                                 "catch",
                                 "char",
                                 "class",
                                 "clean",
                                 "compl",
                                 "concept",
                                 "const",
                                 "continue",
                                 "decltype",
                                 "default",
                                 "delete",
                                 "do",
                                 "double",
                                 "else",
                                 "enum",
                                 "explicit",
                                 "export",
                                 "extern",
                                 "false",
                                 "float",
                                 "for",
                                 "friend",
                                 "goto",
                                 "help",
                                 "if",
                                 "inline",
                                 "install",
                                 "int",
                                 "long",
                                 "main",
                                 "mutable",
                                 "namespace",
                                 "new",
                                 "noexcept",
                                 "not",
                                 "nullptr",
                                 "operator",
                                 "or",
                                 "package",
                                 "private",
                                 "protected",
                                 "public",
                                 "register",
                                 "requires",
                                 "return",
                                 "short",
                                 "signed",
                                 "sizeof",
                                 "static",
                                 "std",
                                 "struct",
                                 "switch",
                                 "template",
                                 "test",
                                 "this",
                                 "throw",
                                 "true",
                                 "try",
                                 "typedef",
                                 "typeid",
                                 "typename",
                                 "union",
                                 "unsigned",
                                 "using",
                                 "virtual",
                                 "void",
                                 "volatile",
                                 "warpcheck",
                                 "while",
                                 "xor",
                                 "and_eq",
                                 "char8_t",
                                 "char16_t",
                                 "char32_t",
                                 "co_await",
                                 "co_return",
                                 "co_yield",
                                 "consteval",
                                 "constexpr",
                                 "constinit",
                                 "const_cast",
                                 "dynamic_cast",
                                 "not_eq",
                                 "or_eq",
                                 "reinterpret_cast",
                                 "static_assert",
                                 "static_cast",
                                 "thread_local",
                                 "wchar_t",
                                 "xor_eq"};

bool is_pair_name(std::string_view name) {
  const auto is_letter = [](char c) { return c >= 'a' && c <= 'z'; };
  return !name.empty() && is_letter(name.front()) && name.back() != '_' &&
         name.find("__") == std::string_view::npos && std::ranges::all_of(name, [&](char c) {
           return is_letter(c) || (c >= '0' && c <= '9') || c == '_';
         });
}

}  // namespace

void check_pair_name(std::string_view name) {
  if (!is_pair_name(name)) {
    throw NewPairError(fmt::format(
        "'{}' cannot name a pair: lower-case letters, digits and single underscores between them "
        "are expected, a letter first",
        name));
  }
  if (std::ranges::find(kTakenWords, name) != kTakenWords.end()) {
    throw NewPairError(fmt::format("'{}' cannot name a pair: C++ or CMake has the word", name));
  }
}

namespace {

NewPairError cannot_write(const std::filesystem::path& path) {
  return NewPairError(fmt::format("cannot write {}: {}", path.string(), std::strerror(errno)));
}

// Never opens an existing file.
void write_new(const std::filesystem::path& path, const std::string& text) {
  std::FILE* file = std::fopen(path.c_str(), "wx");
  if (file == nullptr) throw cannot_write(path);
  const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  const bool closed = std::fclose(file) == 0;
  if (written && closed) return;
  NewPairError error = cannot_write(path);
  std::error_code ignored;
  std::filesystem::remove(path, ignored);
  throw NewPairError(std::move(error));
}

}  // namespace

std::vector<NewFile> new_pair_files(std::string_view name, bool planted) {
  check_pair_name(name);
  std::vector<NewFile> files;
  for (const auto& [file_name, file_text] : kNewPairTemplate) {
    NewFile file{.name = std::string(file_name), .text = std::string(file_text)};
    if (planted) replace_all(file.text, "i < n)", "i <= n)");
    for (std::string* text : {&file.name, &file.text}) {
      replace_all(*text, "saxpy", name);
      replace_all(*text, "Saxpy", type_name(name));
    }
    files.push_back(std::move(file));
  }
  return files;
}

std::vector<NewFile> write_new_pair(const std::filesystem::path& directory, std::string_view name,
                                    bool planted) {
  return write_new_files(directory, new_pair_files(name, planted));
}

std::vector<NewFile> write_new_files(const std::filesystem::path& directory,
                                     std::vector<NewFile> files) {
  std::error_code ignored;
  if (std::filesystem::exists(directory / files.back().name, ignored)) files.pop_back();
  for (const NewFile& file : files) {
    if (std::filesystem::exists(directory / file.name, ignored)) {
      throw NewPairError(fmt::format("{} is there already: give the pair another name",
                                     (directory / file.name).lexically_normal().string()));
    }
  }
  std::vector<std::filesystem::path> written;
  try {
    for (const NewFile& file : files) {
      write_new(directory / file.name, file.text);
      written.push_back(directory / file.name);
    }
  } catch (const NewPairError&) {
    for (const auto& path : written) std::filesystem::remove(path, ignored);
    throw;
  }
  return files;
}

}  // namespace warpcheck
