// Kernels as text, and what patches make of them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/fix/patch.hpp"
#include "cli/fix/source_tree.hpp"

namespace warpcheck {

// A kernel whose body is these lines, from line 3 on.
inline SourceTree kernel_with(const std::string& lines) {
  return SourceTree("// { not code\n__global__ void k(int* a, const int* in, int n) {\n" + lines +
                    "}\n");
}

inline std::string applied(const SourceTree& tree, const Patch& patch) {
  const std::string text = edited_text(tree.text(), patch.files.at("k.cu"));
  const std::size_t begin = text.find("{\n", text.find('\n')) + 2;
  return text.substr(begin, text.size() - begin - 2);
}

inline std::vector<std::string> applied(const SourceTree& tree, const std::vector<Patch>& patches) {
  std::vector<std::string> texts;
  for (const Patch& patch : patches) texts.push_back(applied(tree, patch));
  return texts;
}

// The line of each patched text.
inline std::vector<std::string> patched_lines(const SourceTree& tree,
                                              const std::vector<Patch>& patches, int line) {
  std::vector<std::string> lines;
  for (const Patch& patch : patches) {
    std::string text = edited_text(tree.text(), patch.files.at("k.cu"));
    for (int i = 1; i < line; ++i) text.erase(0, text.find('\n') + 1);
    lines.push_back(text.substr(0, text.find('\n')));
  }
  return lines;
}

inline std::size_t statement_of(const SourceTree& tree, std::uint32_t line) {
  const std::vector<std::size_t> found = tree.statements_at(line);
  return found.empty() ? SourceNode::kNoNode : found.back();
}

}  // namespace warpcheck
