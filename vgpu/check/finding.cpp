#include "vgpu/check/finding.hpp"

#include <cxxabi.h>
#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <utility>

namespace warpcheck::vgpu {
namespace {

constexpr std::array<std::pair<FindingKind, std::string_view>, 12> kKindNames{{
    {FindingKind::data_race, "data-race"},
    {FindingKind::out_of_bounds, "out-of-bounds"},
    {FindingKind::misaligned_access, "misaligned-access"},
    {FindingKind::uninitialized_read, "uninitialized-read"},
    {FindingKind::use_after_free, "use-after-free"},
    {FindingKind::invalid_free, "invalid-free"},
    {FindingKind::leak, "leak"},
    {FindingKind::barrier_divergence, "barrier-divergence"},
    {FindingKind::deadlock, "deadlock"},
    {FindingKind::trap, "trap"},
    {FindingKind::mismatch, "mismatch"},
    {FindingKind::schedule_dependent, "schedule-dependent"},
}};

// The length of `text` without the parenthesised list that ends it.
std::size_t without_parameters(std::string_view text) {
  if (text.empty() || text.back() != ')') return text.size();
  int depth = 0;
  for (std::size_t i = text.size(); i-- > 0;) {
    if (text[i] == ')') ++depth;
    if (text[i] == '(' && --depth == 0) return i;
  }
  return text.size();
}

}  // namespace

std::string_view name_of(FindingKind kind) {
  for (const auto& [known, name] : kKindNames) {
    if (known == kind) return name;
  }
  return "unknown";
}

bool find_kind(std::string_view name, FindingKind& kind) {
  for (const auto& [known, known_name] : kKindNames) {
    if (known_name == name) {
      kind = known;
      return true;
    }
  }
  return false;
}

std::string_view name_of(Severity severity) {
  return severity == Severity::error ? "error" : "note";
}

std::string kernel_name(std::string_view mangled) {
  if (!mangled.starts_with("_Z")) return std::string(mangled);  // extern "C"; `f` reads as float
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text{
      abi::__cxa_demangle(std::string(mangled).c_str(), nullptr, nullptr, &status), &std::free};
  if (status != 0 || text == nullptr) return std::string(mangled);
  std::string_view name{text.get()};
  name = name.substr(0, without_parameters(name));
  // Only templates carry their return type, and a kernel returns nothing.
  constexpr std::string_view kReturnType = "void ";
  if (name.starts_with(kReturnType)) name.remove_prefix(kReturnType.size());
  return std::string(name);
}

std::string class_of(const Finding& finding) {
  std::vector<std::pair<std::string_view, std::uint32_t>> lines;
  for (const AccessSide& side : finding.accesses) {
    if (!side.file.empty()) lines.emplace_back(side.file, side.line);
  }
  std::ranges::sort(lines);
  std::string text = fmt::format("{}|{}|{}", name_of(finding.kind), finding.space, finding.kernel);
  for (const auto& [file, line] : lines) text += fmt::format("|{}:{}", file, line);
  return text;
}

std::string hash_of(const Finding& finding) {
  const std::string text = class_of(finding);
  return fmt::format("{:016x}", XXH3_64bits(text.data(), text.size()));
}

}  // namespace warpcheck::vgpu
