#include "cli/fix/rewrites/order_rewrites.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "cli/fix/rewrites/insertion.hpp"
#include "cli/fix/rewrites/statement_parts.hpp"

namespace warpcheck {
namespace {

using Kind = SourceNode::Kind;
constexpr std::size_t kNoPlace = std::string_view::npos;

// A name in the source, and what it is at a wider scope.
struct ScopeName {
  std::string_view narrow, wide;
  bool is_word = true;  // else a part of inline PTX, which is text within a literal
};
constexpr std::array kOfDevice{ScopeName{"__threadfence_block", "__threadfence"},
                               ScopeName{"thread_scope_block", "thread_scope_device"},
                               ScopeName{"thread_scope_cluster", "thread_scope_device"},
                               ScopeName{"memory_scope_block", "memory_scope_device"},
                               ScopeName{"atomicAdd_block", "atomicAdd"},
                               ScopeName{"atomicSub_block", "atomicSub"},
                               ScopeName{"atomicExch_block", "atomicExch"},
                               ScopeName{"atomicMin_block", "atomicMin"},
                               ScopeName{"atomicMax_block", "atomicMax"},
                               ScopeName{"atomicInc_block", "atomicInc"},
                               ScopeName{"atomicDec_block", "atomicDec"},
                               ScopeName{"atomicCAS_block", "atomicCAS"},
                               ScopeName{"atomicAnd_block", "atomicAnd"},
                               ScopeName{"atomicOr_block", "atomicOr"},
                               ScopeName{"atomicXor_block", "atomicXor"},
                               ScopeName{"membar.cta", "membar.gl", false},
                               ScopeName{".cta.", ".gpu.", false},
                               ScopeName{".cta;", ".gpu;", false}};
constexpr std::array kOfSystem{ScopeName{"__threadfence_block", "__threadfence_system"},
                               ScopeName{"__threadfence", "__threadfence_system"},
                               ScopeName{"thread_scope_block", "thread_scope_system"},
                               ScopeName{"thread_scope_device", "thread_scope_system"},
                               ScopeName{"memory_scope_device", "memory_scope_system"},
                               ScopeName{"atomicAdd", "atomicAdd_system"},
                               ScopeName{"atomicSub", "atomicSub_system"},
                               ScopeName{"atomicExch", "atomicExch_system"},
                               ScopeName{"atomicMin", "atomicMin_system"},
                               ScopeName{"atomicMax", "atomicMax_system"},
                               ScopeName{"atomicInc", "atomicInc_system"},
                               ScopeName{"atomicCAS", "atomicCAS_system"},
                               ScopeName{"atomicAnd", "atomicAnd_system"},
                               ScopeName{"atomicOr", "atomicOr_system"},
                               ScopeName{"atomicXor", "atomicXor_system"},
                               ScopeName{"membar.gl", "membar.sys", false},
                               ScopeName{"membar.cta", "membar.sys", false},
                               ScopeName{".gpu.", ".sys.", false},
                               ScopeName{".gpu;", ".sys;", false},
                               ScopeName{".cta.", ".sys.", false},
                               ScopeName{".cta;", ".sys;", false}};

// Whether an odd number of quotes stands before it in its line.
bool is_in_literal(std::string_view text, std::size_t at) {
  const std::size_t begin = at == 0 ? 0 : text.rfind('\n', at - 1) + 1;
  return std::ranges::count(text.substr(begin, at - begin), '"') % 2 == 1;
}

template <std::size_t count>
void add_scopes(const std::string& file, const SourceTree& tree,
                const std::array<ScopeName, count>& names, std::vector<Patch>& patches) {
  for (const ScopeName& name : names) {
    for (std::size_t at = 0;; at += name.narrow.size()) {
      at = name.is_word ? find_word(tree.code(), name.narrow, at)
                        : tree.text().find(name.narrow, at);
      if (at == kNoPlace) break;
      if (!name.is_word && !is_in_literal(tree.text(), at)) continue;
      patches.push_back(rewritten(file, tree, at, at + name.narrow.size(), std::string(name.wide),
                                  fmt::format("{} for {}", name.wide, name.narrow)));
    }
  }
}

// The first name of a barrier's address in inline PTX: `"r"(address)` behind "mbarrier.".
std::optional<std::string> barrier_operand(std::string_view statement) {
  if (statement.find("mbarrier.") == kNoPlace && statement.find("mbarrier::") == kNoPlace)
    return std::nullopt;
  const std::size_t inputs = statement.rfind("\"r\"(");
  const bool is_copy = statement.find("mbarrier::") != kNoPlace;
  const std::size_t at = is_copy ? inputs : statement.find("\"r\"(");
  if (at == kNoPlace) return std::nullopt;
  const std::size_t open = at + 3, close = closing_bracket(statement, open);
  if (close == kNoPlace) return std::nullopt;
  return std::string(trimmed(statement.substr(open + 1, close - open - 1)));
}

std::string_view last_word(std::string_view code) {
  std::size_t begin = code.size();
  while (begin > 0 && is_word_character(code[begin - 1])) --begin;
  return code.substr(begin);
}

// Whether other threads wait for the statement or are told something by it: an arrival, a wait, an
// update of a flag; a statement, or one under a condition, that declares nothing.
bool is_handover(const SourceTree& tree, std::size_t node) {
  const bool is_if = tree[node].kind == Kind::branch && tree[node].children.size() == 1;
  if (tree[node].kind != Kind::simple && !is_if) return false;
  if (!is_if && assignment_of(tree.code_of(node))) return false;
  // Inline PTX is within literals.
  const std::string_view text =
      std::string_view(tree.text()).substr(tree[node].begin, tree[node].end - tree[node].begin);
  return std::ranges::any_of(
      std::array{"arrive", "wait", "bar.", "barrier", "sync(", "__syncthreads", "__syncwarp",
                 "atomicExch", "atomicAdd", "atomicSub", "atomicOr", ".store(", "st.release",
                 "release("},
      [&](const char* word) { return text.find(word) != kNoPlace; });
}

// Behind a comment that follows the statement in its line.
std::size_t end_of_line(const SourceTree& tree, std::size_t node) {
  const std::string_view code(tree.code());
  const std::size_t end = std::min(code.find('\n', tree[node].end), code.size());
  const bool is_last = trimmed(code.substr(tree[node].end, end - tree[node].end)).empty();
  return is_last ? end : tree[node].end;
}

std::size_t begin_of_line(const SourceTree& tree, std::size_t node) {
  return tree[node].begin - tree.indentation_at(tree[node].begin).size();
}

}  // namespace

std::vector<Patch> wider_scopes(const std::string& file, const SourceTree& tree, bool of_system) {
  std::vector<Patch> patches;
  if (of_system) {
    add_scopes(file, tree, kOfSystem, patches);
  } else {
    add_scopes(file, tree, kOfDevice, patches);
  }
  if (patches.size() < 2) return patches;
  Patch all;
  all.what.push_back(fmt::format("the scope of {} for all fences and atomics",
                                 of_system ? "the system" : "the device"));
  bool is_made = true;
  for (const Patch& patch : patches) {
    Patch only = patch;
    only.what.clear();
    is_made = is_made && all.add(only);
  }
  if (is_made) patches.push_back(std::move(all));
  return patches;
}

std::vector<Patch> wider_masks(const std::string& file, const SourceTree& tree,
                               std::size_t function) {
  constexpr std::string_view kAll = "0xffffffff", kEnd = "_sync(", kBarrier = "__syncwarp(";
  std::vector<Patch> patches;
  const std::string_view code(tree.code());
  for (std::size_t at = tree[function].begin; at < tree[function].end; ++at) {
    const bool is_barrier = code.substr(at).starts_with(kBarrier);
    if (!is_barrier && !code.substr(at).starts_with(kEnd)) continue;
    const std::size_t open = at + (is_barrier ? kBarrier.size() : kEnd.size()) - 1;
    const std::size_t close = closing_bracket(code, open);
    if (close == kNoPlace || close > tree[function].end) continue;
    const std::string_view arguments = code.substr(open + 1, close - open - 1);
    const std::string_view mask = trimmed(arguments.substr(0, arguments.find(',')));
    // One with calls or commas of its own is not understood.
    const bool is_simple = !mask.empty() && mask.find('(') == kNoPlace;
    if (!is_simple || mask == kAll || mask == "-1" || mask == "0xffffffffu") continue;
    const std::size_t begin = is_barrier ? at : code.find(mask, open);
    const std::size_t end = is_barrier ? close + 1 : begin + mask.size();
    patches.push_back(rewritten(file, tree, begin, end,
                                std::string(is_barrier ? "__syncwarp()" : kAll),
                                "a mask of all lanes"));
  }
  return patches;
}

std::vector<std::string> phase_waits(const SourceTree& tree, std::size_t function) {
  std::vector<std::string> waits;
  std::vector<std::string> known;
  for (std::size_t node = function; node < tree.nodes().size(); ++node) {
    if (tree[node].kind != Kind::simple || tree.function_of(node) != function) continue;
    const std::string_view text =
        std::string_view(tree.text()).substr(tree[node].begin, tree[node].end - tree[node].begin);
    const auto operand = barrier_operand(text);
    if (!operand || std::ranges::find(known, *operand) != known.end()) continue;
    known.push_back(*operand);
    for (const int parity : {0, 1}) {
      waits.push_back(fmt::format(
          "for (unsigned is_done = 0; is_done == 0;) asm volatile(\"{{ .reg .pred p; "
          "mbarrier.try_wait.parity.shared.b64 p, [%1], {}; selp.u32 %0, 1, 0, p; }}\" : "
          "\"=r\"(is_done) : \"r\"({}) : \"memory\");",
          parity, *operand));
    }
  }
  return waits;
}

std::vector<std::string> library_waits(const SourceTree& tree, std::size_t function) {
  std::vector<std::string> waits;
  const auto add = [&](std::string wait) {
    if (std::ranges::find(waits, wait) == waits.end()) waits.push_back(std::move(wait));
  };
  const std::string_view code = tree.code_of(function);
  for (std::size_t at = code.find(".arrive("); at != kNoPart; at = code.find(".arrive(", at + 1)) {
    const std::string_view object = last_word(code.substr(0, at));
    std::string_view before = trimmed(code.substr(0, at - object.size()));
    if (!before.ends_with('=')) continue;
    before.remove_suffix(1);
    add(fmt::format("{}.wait(cuda::std::move({}));", object, last_word(trimmed(before))));
  }
  for (std::size_t at = find_word(code, "init"); at != kNoPart;
       at = find_word(code, "init", at + 1)) {
    const std::size_t open = at + std::string_view("init").size();
    if (open >= code.size() || code.substr(open, 2) != "(&") continue;
    const std::size_t comma = code.find(',', open);
    if (comma == kNoPart) continue;
    add(fmt::format("{}.arrive_and_wait();", trimmed(code.substr(open + 2, comma - open - 2))));
  }
  for (const std::string_view member : {".producer_commit(", ".consumer_release("}) {
    const std::size_t at = code.find(member);
    if (at != kNoPart) add(fmt::format("{}.consumer_wait();", last_word(code.substr(0, at))));
  }
  if (find_word(code, "__pipeline_commit") != kNoPart) add("__pipeline_wait_prior(0);");
  return waits;
}

std::vector<Patch> group_syncs(const Place& place) {
  const SourceTree& tree = *place.tree;
  std::vector<Patch> patches;
  for (const Gap& gap : gaps_around(place)) {
    const std::vector<std::size_t>& all = tree[gap.block].children;
    for (std::size_t i = 0; i < std::min(gap.index, all.size()); ++i) {
      if (tree[all[i]].kind != Kind::simple) continue;
      const auto declared = assignment_of(tree.code_of(all[i]));
      if (!declared || is_place(declared->target)) continue;
      const bool is_group = std::ranges::any_of(
          std::array{"coalesced_threads(", "_partition"},
          [&](std::string_view call) { return declared->value.find(call) != std::string::npos; });
      if (!is_group) continue;
      auto patch = insertion(place, gap, fmt::format("{}.sync();", last_word(declared->target)));
      if (patch) patches.push_back(*std::move(patch));
    }
  }
  return patches;
}

std::vector<Patch> other_counts(const std::string& file, const SourceTree& tree,
                                std::size_t function) {
  std::vector<Patch> patches;
  const std::string_view code(tree.code());
  for (std::size_t at = find_word(code, "init", tree[function].begin);
       at != kNoPart && at < tree[function].end; at = find_word(code, "init", at + 1)) {
    const std::size_t open = at + std::string_view("init").size();
    if (open >= code.size() || code.substr(open, 2) != "(&") continue;
    const std::size_t close = closing_bracket(code, open), comma = code.find(',', open);
    if (close == kNoPart || comma == kNoPart || comma > close) continue;
    const std::string_view count = trimmed(code.substr(comma + 1, close - comma - 1));
    for (const std::string_view other : {"blockDim.x", "1"}) {
      if (count == other) continue;
      patches.push_back(rewritten(file, tree, comma + 1, close, fmt::format(" {}", other),
                                  fmt::format("a count of {} for {}", other, count)));
    }
  }
  return patches;
}

std::vector<Patch> moved_barriers(const std::string& file, const SourceTree& tree,
                                  std::size_t node) {
  std::vector<Patch> patches;
  if (tree[node].kind != Kind::simple || !is_barrier(trimmed(tree.code_of(node)))) return patches;
  const std::string barrier(trimmed(tree.code_of(node)));
  const TextEdit removal = without(tree, node);
  const auto add = [&](TextEdit insertion, std::string what) {
    Patch patch;
    patch.what.push_back(std::move(what));
    std::vector<TextEdit>& edits = patch.files[file];
    edits = {removal, std::move(insertion)};
    std::ranges::sort(edits);
    patches.push_back(std::move(patch));
  };
  for (std::size_t at = tree[node].parent; tree[at].kind != Kind::function; at = tree[at].parent) {
    const bool is_around = tree[at].kind == Kind::branch || tree[at].kind == Kind::loop;
    if (!is_around || tree[tree[at].parent].kind != Kind::block) continue;
    const std::string indent(tree.indentation_at(tree[at].begin));
    const std::string line = fmt::format("{}{}", indent, barrier);
    add({.at = tree[at].end, .removed = 0, .text = "\n" + line},
        fmt::format("{} moved behind line {}", barrier, tree.line_of(tree[at].end - 1)));
    add({.at = begin_of_line(tree, at), .removed = 0, .text = line + "\n"},
        fmt::format("{} moved before line {}", barrier, tree.line_of(tree[at].begin)));
  }
  Patch left_out;
  left_out.what.push_back(
      fmt::format("{} of line {} left out", barrier, tree.line_of(tree[node].begin)));
  left_out.files[file] = {removal};
  patches.push_back(std::move(left_out));
  return patches;
}

std::vector<Patch> exchanged_handovers(const std::string& file, const SourceTree& tree,
                                       std::size_t node) {
  constexpr std::size_t kNearest = 3;
  std::vector<Patch> patches;
  for (std::size_t at = node; tree[at].kind != Kind::function; at = tree[at].parent) {
    const std::size_t parent = tree[at].parent;
    if (tree[parent].kind != Kind::block) continue;
    const std::vector<std::size_t>& all = tree[parent].children;
    const std::size_t own = index_in(tree[parent], at);
    const auto add = [&](std::size_t moved, bool behind) {
      const std::string text =
          tree.text().substr(tree[moved].begin, tree[moved].end - tree[moved].begin);
      const std::string indent(tree.indentation_at(tree[at].begin));
      const std::string place =
          fmt::format("{} line {}", behind ? "behind" : "before", tree.line_of(tree[at].begin));
      Patch patch;
      patch.what.push_back(fmt::format("line {} moved {}", tree.line_of(tree[moved].begin), place));
      std::vector<TextEdit>& edits = patch.files[file];
      edits = {without(tree, moved),
               {.at = behind ? end_of_line(tree, at) : begin_of_line(tree, at),
                .removed = 0,
                .text = behind ? "\n" + indent + text : indent + text + "\n"}};
      std::ranges::sort(edits);
      patches.push_back(std::move(patch));
    };
    for (std::size_t i = own, count = 0; i-- > 0 && count < kNearest; ++count) {
      if (is_handover(tree, all[i])) add(all[i], true);
    }
    for (std::size_t i = own + 1; i < all.size() && i <= own + kNearest; ++i) {
      if (is_handover(tree, all[i])) add(all[i], false);
    }
  }
  return patches;
}

}  // namespace warpcheck
