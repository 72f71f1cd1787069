#include "harness/report/kernel_signature.hpp"

#include <regex>

#include "vgpu/ptx/demangle.hpp"

namespace warpcheck {
namespace {

// nvcc puts entities without linkage into a namespace of their file.
std::string without_unnamed_namespaces(const std::string& text) {
  static const std::regex kUnnamed(R"(\(anonymous namespace\)::|_(INTERNAL|GLOBAL__N)_\w+::)");
  return std::regex_replace(text, kUnnamed, "");
}

bool opens(char c) { return c == '(' || c == '<' || c == '['; }
bool closes(char c) { return c == ')' || c == '>' || c == ']'; }

// "a, b<c, d>" -> "a", "b<c, d>"
std::vector<std::string> split_list(std::string_view list) {
  std::vector<std::string> parts;
  if (list.empty()) return parts;
  parts.emplace_back();
  int depth = 0;
  for (const char c : list) {
    if (opens(c)) ++depth;
    if (closes(c)) --depth;
    if (c == ',' && depth == 0) {
      parts.emplace_back();
    } else if (c != ' ' || !parts.back().empty()) {
      parts.back() += c;
    }
  }
  return parts;
}

}  // namespace

KernelSignature signature_of(std::string_view mangled) {
  const std::optional<std::string> full = ptx::demangle(mangled);
  if (!full || full->empty() || full->back() != ')') return {std::string(mangled), std::nullopt};
  const std::string text = without_unnamed_namespaces(*full);
  std::size_t open = text.size() - 1;
  for (int depth = 0; open > 0; --open) {
    if (text[open] == ')') ++depth;
    if (text[open] == '(' && --depth == 0) break;
  }
  KernelSignature signature{text.substr(0, open), split_list(std::string_view(text).substr(
                                                      open + 1, text.size() - open - 2))};
  // Only templates include their return type, and a kernel returns nothing.
  if (signature.name.starts_with("void ")) signature.name.erase(0, 5);
  return signature;
}

}  // namespace warpcheck
