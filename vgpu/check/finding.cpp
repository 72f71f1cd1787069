#include "vgpu/check/finding.hpp"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <tuple>
#include <utility>

#include "vgpu/ptx/demangle.hpp"

namespace warpcheck::vgpu {
namespace {

constexpr auto kKindNames = std::to_array<std::pair<FindingKind, std::string_view>>({
#define FINDING_KIND(enumerator, name, checker) {FindingKind::enumerator, name},
#include "vgpu/check/finding_kinds.def"
#undef FINDING_KIND
});

constexpr std::array<std::pair<Relation, std::string_view>, 6> kRelationNames{{
    {Relation::none, ""},
    {Relation::lanes, "lanes"},
    {Relation::warps, "warps"},
    {Relation::blocks, "blocks"},
    {Relation::launches, "launches"},
    {Relation::host, "host"},
}};

constexpr std::array<std::pair<Lack, std::string_view>, 32> kLackNames{{
    {Lack::unknown, ""},
    {Lack::warp_barrier, "warp-barrier"},
    {Lack::block_barrier, "block-barrier"},
    {Lack::cluster_barrier, "cluster-barrier"},
    {Lack::order_of_blocks, "order-of-blocks"},
    {Lack::order_of_launches, "order-of-launches"},
    {Lack::wait_of_host, "wait-of-host"},
    {Lack::grid_wait, "grid-wait"},
    {Lack::atomicity, "atomicity"},
    {Lack::atomic_update, "atomic-update"},
    {Lack::equal_sizes, "equal-sizes"},
    {Lack::scope, "scope"},
    {Lack::flag_scope, "flag-scope"},
    {Lack::release, "release"},
    {Lack::release_scope, "release-scope"},
    {Lack::host_release, "host-release"},
    {Lack::acquire, "acquire"},
    {Lack::handover, "handover"},
    {Lack::copy_wait, "copy-wait"},
    {Lack::copy_handover, "copy-handover"},
    {Lack::phase_wait, "phase-wait"},
    {Lack::lock_fences, "lock-fences"},
    {Lack::proxy_fence, "proxy-fence"},
    {Lack::participation, "participation"},
    {Lack::separate_memory, "separate-memory"},
    {Lack::coherent_read, "coherent-read"},
    {Lack::output, "output"},
    {Lack::other_device, "other-device"},
    {Lack::order_of_grids, "order-of-grids"},
    {Lack::arrival_of_blocks, "arrival-of-blocks"},
    {Lack::peer_access, "peer-access"},
    {Lack::copy_to_host, "copy-to-host"},
}};

template <typename Names, typename Value>
std::string_view name_in(const Names& names, Value value) {
  for (const auto& [known, name] : names) {
    if (known == value) return name;
  }
  return "unknown";
}

template <typename Names, typename Value>
bool find_in(const Names& names, std::string_view name, Value& value) {
  for (const auto& [known, known_name] : names) {
    if (known_name != name) continue;
    value = known;
    return true;
  }
  return false;
}

// Returns the length of `text` without the parenthesised parameter list at its end, and without
// what stands behind that list in names of member functions.
std::size_t without_parameters(std::string_view text) {
  for (const std::string_view qualifier : {" &&", " &", " volatile", " const"}) {
    if (text.ends_with(fmt::format("){}", qualifier))) text.remove_suffix(qualifier.size());
  }
  if (text.empty() || text.back() != ')') return text.size();
  int depth = 0;
  for (std::size_t i = text.size(); i-- > 0;) {
    if (text[i] == ')') ++depth;
    if (text[i] == '(' && --depth == 0) return i;
  }
  return text.size();
}

// Returns the length of the return type with the blank behind it.  Only mangled names of templates
// contain one.
std::size_t return_type_length(std::string_view name) {
  constexpr std::string_view kOfKernels = "void ";
  if (name.starts_with(kOfKernels)) return kOfKernels.size();
  std::size_t length = 0;
  int depth = 0;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const bool begins_word = i == 0 || (name[i - 1] != '_' &&
                                        std::isalnum(static_cast<unsigned char>(name[i - 1])) == 0);
    if (begins_word && depth == 0 && name.substr(i).starts_with("operator")) break;
    if (name[i] == '<' || name[i] == '(') ++depth;
    if (name[i] == '>' || name[i] == ')') --depth;
    if (name[i] == ' ' && depth == 0) length = i + 1;
  }
  return length;
}

// Returns the text with "..." for what lies in more than `depth` pairs of angle brackets.
std::string without_arguments(std::string_view name, int depth) {
  std::string text;
  int at = 0;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const bool is_arrow = i > 0 && name[i - 1] == '-' && name[i] == '>';
    const bool is_operator = name.substr(0, i).ends_with("operator") ||
                             name.substr(0, i).ends_with("operator<") ||
                             name.substr(0, i).ends_with("operator>");
    const bool is_bracket = !is_arrow && !is_operator;
    if (is_bracket && name[i] == '>' && at > 0) --at;
    if (at <= depth) text += name[i];
    if (is_bracket && name[i] == '<' && ++at == depth + 1) text += "...";
  }
  return text;
}

// A line that is called from everywhere needs no complete list.
void add_other_caller(const SourceLine& line, AccessSide& side) {
  constexpr std::size_t kOtherCallersMax = 8;
  std::vector<SourceLine>& all = side.other_callers;
  const auto place = std::ranges::lower_bound(all, line);
  const bool is_known = (place != all.end() && *place == line) ||
                        std::ranges::find(side.callers, line) != side.callers.end();
  if (!is_known && all.size() < kOtherCallersMax) all.insert(place, line);
}

}  // namespace

std::string_view name_of(FindingKind kind) { return name_in(kKindNames, kind); }
std::string_view name_of(Relation relation) { return name_in(kRelationNames, relation); }
std::string_view name_of(Lack lack) { return name_in(kLackNames, lack); }

bool find_kind(std::string_view name, FindingKind& kind) { return find_in(kKindNames, name, kind); }
bool find_relation(std::string_view name, Relation& relation) {
  return find_in(kRelationNames, name, relation);
}
bool find_lack(std::string_view name, Lack& lack) { return find_in(kLackNames, name, lack); }

std::string_view name_of(Severity severity) {
  return severity == Severity::error ? "error" : "note";
}

std::string kernel_name(std::string_view mangled) {
  const std::optional<std::string> text = ptx::demangle(mangled);
  if (!text) return std::string(mangled);
  std::string_view name{*text};
  name = name.substr(0, without_parameters(name));
  return std::string(name.substr(return_type_length(name)));
}

std::string short_kernel_name(std::string_view name) {
  constexpr std::size_t kLong = 120;
  if (name.size() <= kLong) return std::string(name);
  std::string shorter = without_arguments(name, 1);
  return shorter.size() <= kLong ? shorter : without_arguments(name, 0);
}

void add_other_callers(const Finding& same, Finding& kept) {
  std::vector<bool> is_used(same.accesses.size());
  for (AccessSide& side : kept.accesses) {
    for (std::size_t i = 0; i < same.accesses.size(); ++i) {
      const AccessSide& other = same.accesses[i];
      if (is_used[i] ||
          std::tie(other.role, other.file, other.line) != std::tie(side.role, side.file, side.line))
        continue;
      is_used[i] = true;
      for (const SourceLine& line : other.other_callers) add_other_caller(line, side);
      const auto differs = std::ranges::mismatch(other.callers, side.callers).in1;
      if (differs != other.callers.end()) add_other_caller(*differs, side);
      break;
    }
  }
}

std::string class_of(const Finding& finding) {
  using Places = std::vector<std::pair<std::string_view, std::uint32_t>>;
  Places lines, instructions;
  for (const AccessSide& side : finding.accesses) {
    // Which of several lines change a result is another question for each input.
    if (finding.kind == FindingKind::schedule_dependent) break;
    if (!side.file.empty()) {
      lines.emplace_back(side.file, side.line);
    } else if (!side.ptx.empty()) {
      instructions.emplace_back(side.ptx, side.instruction);
    }
  }
  std::ranges::sort(lines);
  std::ranges::sort(instructions);
  std::string text = fmt::format("{}|{}|{}", name_of(finding.kind), finding.space, finding.kernel);
  for (const auto& [file, line] : lines) text += fmt::format("|{}:{}", file, line);
  for (const auto& [ptx, index] : instructions) text += fmt::format("|{} #{}", ptx, index);
  // Failed calls on the same line, or in a program without lines, are distinguished by the called
  // function.
  if (finding.kind == FindingKind::api_error) {
    text +=
        fmt::format("|{}|{}", finding.object.substr(0, finding.object.find('(')), finding.message);
  }
  return text;
}

std::string hash_of(const Finding& finding) {
  const std::string text = class_of(finding);
  return fmt::format("{:016x}", XXH3_64bits(text.data(), text.size()));
}

}  // namespace warpcheck::vgpu
