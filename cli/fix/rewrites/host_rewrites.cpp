#include "cli/fix/rewrites/host_rewrites.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "cli/fix/rewrites/statement_parts.hpp"

namespace warpcheck {
namespace {

using Kind = SourceNode::Kind;

void add_new(std::vector<Patch>& patches, std::optional<Patch> patch) {
  if (patch && std::ranges::find(patches, *patch) == patches.end())
    patches.push_back(*std::move(patch));
}

std::optional<Patch> beside(const HostCall& call, bool behind, const std::string& text,
                            std::string_view words = {}) {
  const auto gap = gap_beside(call.place, behind);
  return gap ? insertion(call.place, *gap, text, words) : std::nullopt;
}

bool is_of_same_function(const HostCall& a, const HostCall& b) {
  return a.place.tree == b.place.tree && function_of(a) == function_of(b);
}

Patch with_argument(const HostCall& call, std::size_t index, std::string text) {
  const HostCall::Argument& argument = call.arguments[index];
  const std::string what = fmt::format("{} for {}", text, argument.text);
  return rewritten(*call.place.file, *call.place.tree, argument.begin, argument.end,
                   std::move(text), what);
}

// "p" of "&p", "(void**)&p", "&data.p": what is allocated, or copied.
std::string pointer_of(std::string_view argument) {
  const std::size_t cast = argument.rfind(')');
  if (cast != kNoPart && argument.starts_with('(') && cast + 1 < argument.size())
    argument.remove_prefix(cast + 1);
  argument = trimmed(argument);
  if (argument.starts_with('&')) argument.remove_prefix(1);
  return std::string(trimmed(argument));
}

bool is_one_factor(std::string_view code) {
  return std::ranges::all_of(code,
                             [](char c) { return is_word_character(c) || c == '.' || c == ':'; });
}

std::string times(std::string_view code, std::string_view factor) {
  return is_one_factor(code) ? fmt::format("{} * {}", code, factor)
                             : fmt::format("({}) * {}", code, factor);
}

// A wait of stream `second` for all that `first` has been given.
std::string wait_by_event(const HostCall& call, const std::string& first,
                          const std::string& second) {
  const SourceTree& tree = *call.place.tree;
  const std::string event = unused_name(tree, "done");
  const std::string indent(tree.indentation_at(tree[call.place.node].begin));
  return fmt::format(
      "cudaEvent_t {0};\n{1}cudaEventCreateWithFlags(&{0}, cudaEventDisableTiming);\n"
      "{1}cudaEventRecord({0}, {2});\n{1}cudaStreamWaitEvent({3}, {0}, 0);\n"
      "{1}cudaEventDestroy({0});",
      event, indent, first, second);
}

}  // namespace

std::vector<Patch> waits_of_host(const HostCalls& calls) {
  std::vector<Patch> of_stream, of_device;
  for (auto at = calls.rbegin(); at != calls.rend(); ++at) {
    const HostCall& call = *at;
    const std::string stream = stream_of(call);
    const bool is_of_device = call.is_launch || !stream.empty();
    if (!is_of_device) continue;
    if (stream != "0" && !stream.empty())
      add_new(of_stream, beside(call, true, fmt::format("cudaStreamSynchronize({});", stream)));
    add_new(of_device, beside(call, true, "cudaDeviceSynchronize();"));
  }
  for (Patch& patch : of_device) of_stream.push_back(std::move(patch));
  return of_stream;
}

std::vector<Patch> waits_of_streams(const HostCalls& calls, const HostCalls& firsts,
                                    const HostCalls& seconds) {
  std::vector<Patch> patches;
  for (const HostCall& second : seconds) {
    for (const HostCall& record : calls) {
      if (record.name != "cudaEventRecord" || !is_of_same_function(record, second)) continue;
      const std::string stream = stream_of(second);
      if (stream.empty() || record.argument(0).empty() || record.argument(1) == stream) continue;
      add_new(patches,
              beside(second, false,
                     fmt::format("cudaStreamWaitEvent({}, {}, 0);", stream, record.argument(0))));
    }
  }
  for (const HostCall& first : firsts) {
    for (const HostCall& second : seconds) {
      const std::string from = stream_of(first), to = stream_of(second);
      if (from.empty() || to.empty() || from == to || !is_of_same_function(first, second)) continue;
      add_new(patches, beside(second, false, wait_by_event(second, from, to),
                              fmt::format("a wait of stream {} for stream {}", to, from)));
    }
  }
  return patches;
}

std::vector<Patch> later_frees(const HostCalls& calls) {
  std::vector<Patch> patches, at_ends;
  for (const HostCall& call : calls) {
    const SourceTree& tree = *call.place.tree;
    const std::size_t node = call.place.node, parent = tree[node].parent;
    if (!frees_memory(call.name) || tree[node].kind != Kind::simple) continue;
    if (tree[parent].kind != Kind::block) continue;
    const std::vector<std::size_t>& all = tree[parent].children;
    const std::size_t own = index_in(tree[parent], node);
    std::size_t last = own, end = own;
    for (std::size_t i = own + 1; i < all.size(); ++i) {
      if (trimmed(tree.code_of(all[i])).starts_with("return")) break;
      end = i;
      if (find_word(tree.code_of(all[i]), pointer_of(call.argument(0))) != kNoPart) last = i;
    }
    const std::string text(tree.text().substr(tree[node].begin, tree[node].end - tree[node].begin));
    const auto move_behind = [&](std::size_t index, std::vector<Patch>& into) {
      if (index == own) return;
      auto moved = insertion(call.place, {parent, index + 1}, text);
      if (!moved) return;
      Patch removal;
      removal.files[*call.place.file] = {without(tree, node)};
      if (moved->add(removal)) add_new(into, std::move(moved));
    };
    move_behind(last, patches);
    move_behind(end, at_ends);
  }
  for (Patch& patch : at_ends) add_new(patches, std::move(patch));
  return patches;
}

std::vector<Patch> single_frees(const HostCalls& calls) {
  std::vector<Patch> patches;
  for (auto at = calls.rbegin(); at != calls.rend(); ++at) {
    const HostCall& call = *at;
    const SourceTree& tree = *call.place.tree;
    if (!frees_memory(call.name) || tree[call.place.node].kind != Kind::simple) continue;
    const auto same = std::ranges::count_if(calls, [&](const HostCall& other) {
      return frees_memory(other.name) && other.argument(0) == call.argument(0);
    });
    if (same < 2) continue;
    Patch patch;
    patch.files[*call.place.file] = {without(tree, call.place.node)};
    patch.what.push_back(fmt::format("{} of line {} left out", call.name,
                                     tree.line_of(tree[call.place.node].begin)));
    patches.push_back(std::move(patch));
  }
  return patches;
}

std::vector<Patch> zeroed_allocations(const HostCalls& calls) {
  std::vector<Patch> patches;
  for (const HostCall& call : calls) {
    if (!memory_arguments(call.name).allocates || call.arguments.size() < 2) continue;
    const std::string pointer = pointer_of(call.argument(0));
    if (call.name == "cudaMallocHost" || call.name == "cudaHostAlloc") continue;
    const std::string stream = call.name == "cudaMallocAsync" ? stream_of(call) : "";
    const std::string text =
        stream.empty()
            ? fmt::format("cudaMemset({}, 0, {});", pointer, call.argument(1))
            : fmt::format("cudaMemsetAsync({}, 0, {}, {});", pointer, call.argument(1), stream);
    add_new(patches, beside(call, true, text));
  }
  return patches;
}

namespace {

// "e" of "e / k"; "(n + 1) * sizeof(T)" of "n * sizeof(T)".
std::vector<std::string> larger_sizes(std::string_view bytes) {
  std::vector<std::string> sizes;
  int depth = 0;
  for (std::size_t at = bytes.size(); at-- > 0;) {
    const char c = bytes[at];
    if (c == ')' || c == ']') ++depth;
    if (c == '(' || c == '[') --depth;
    if (depth != 0 || (c != '/' && c != '*')) continue;
    const std::string_view left = trimmed(bytes.substr(0, at));
    const std::string_view right = trimmed(bytes.substr(at + 1));
    if (c == '/') sizes.emplace_back(left);
    if (c == '*' && right.starts_with("sizeof"))
      sizes.push_back(fmt::format("({} + 1) * {}", left, right));
    break;
  }
  return sizes;
}

}  // namespace

std::vector<Patch> other_sizes(const HostCalls& calls) {
  std::vector<Patch> in_elements, of_others, of_allocations;
  for (const HostCall& call : calls) {
    const MemoryArguments which = memory_arguments(call.name);
    if (which.bytes == MemoryArguments::kNone || call.arguments.size() <= which.bytes) continue;
    const std::string pointer = pointer_of(call.argument(which.target));
    const std::string_view bytes = call.argument(which.bytes);
    if (bytes.find("sizeof") == kNoPart) {
      add_new(in_elements,
              with_argument(call, which.bytes, times(bytes, fmt::format("sizeof(*{})", pointer))));
    }
    for (const std::string& larger : larger_sizes(which.allocates ? bytes : std::string_view()))
      add_new(of_allocations, with_argument(call, which.bytes, larger));
    for (const HostCall& other : calls) {
      const MemoryArguments others = memory_arguments(other.name);
      if (others.bytes == MemoryArguments::kNone || other.arguments.size() <= others.bytes)
        continue;
      const auto is_pointer_of_call = [&](std::size_t index) {
        if (index == MemoryArguments::kNone) return false;
        const std::string name = pointer_of(other.argument(index));
        return name == pointer ||
               (which.source != MemoryArguments::kNone && name == call.argument(which.source));
      };
      const bool is_about_it =
          is_pointer_of_call(others.target) || is_pointer_of_call(others.source);
      if (!is_about_it || other.argument(others.bytes) == bytes) continue;
      add_new(of_others,
              with_argument(call, which.bytes, std::string(other.argument(others.bytes))));
    }
  }
  for (std::vector<Patch>* const more : {&of_others, &of_allocations}) {
    for (Patch& patch : *more) add_new(in_elements, std::move(patch));
  }
  return in_elements;
}

std::vector<Patch> larger_shared(const SourceTree& tree, const HostCalls& calls) {
  std::set<std::string> types;
  const std::string_view code(tree.code());
  constexpr std::string_view kShared = "__shared__";
  for (std::size_t at = find_word(code, kShared); at != kNoPart;
       at = find_word(code, kShared, at + 1)) {
    const std::size_t open = code.find('[', at);
    if (open == kNoPart || !trimmed(code.substr(open + 1)).starts_with(']')) continue;
    std::string_view words = trimmed(code.substr(at + kShared.size(), open - at - kShared.size()));
    while (!words.empty() && is_word_character(words.back())) words.remove_suffix(1);
    if (!trimmed(words).empty() && words.find_first_of(";{}") == kNoPart)
      types.emplace(trimmed(words));
  }
  std::vector<Patch> patches;
  for (const HostCall& call : calls) {
    if (!call.is_launch || call.arguments.size() < 2) continue;
    for (const std::string& type : types) {
      const std::string element = fmt::format("sizeof({})", type);
      const std::string& block = call.arguments[1].text;
      if (call.arguments.size() == 2) {
        const std::string bytes = times(block, element);
        patches.push_back(rewritten(*call.place.file, tree, call.arguments[1].end,
                                    call.arguments[1].end, ", " + bytes,
                                    bytes + " bytes of shared memory"));
        continue;
      }
      const std::string& bytes = call.arguments[2].text;
      if (bytes.find("sizeof") == kNoPart)
        add_new(patches, with_argument(call, 2, times(bytes, element)));
      add_new(patches, with_argument(call, 2, times(block, element)));
      add_new(patches, with_argument(call, 2, fmt::format("{} + {}", bytes, element)));
      add_new(patches, with_argument(call, 2, fmt::format("{} + 2 * {}", bytes, element)));
      add_new(patches, with_argument(call, 2, fmt::format("2 * ({})", bytes)));
    }
  }
  return patches;
}

std::vector<Patch> other_directions(const HostCalls& calls) {
  constexpr std::string_view kUp = "cudaMemcpyHostToDevice", kDown = "cudaMemcpyDeviceToHost";
  std::vector<Patch> patches;
  for (const HostCall& call : calls) {
    const std::size_t direction = memory_arguments(call.name).direction;
    if (direction == MemoryArguments::kNone || call.arguments.size() <= direction) continue;
    for (const std::string_view other :
         {kUp, kDown, std::string_view("cudaMemcpyDeviceToDevice")}) {
      if (call.argument(direction) != other)
        patches.push_back(with_argument(call, direction, std::string(other)));
    }
  }
  return patches;
}

std::vector<Patch> peer_accesses(const HostCalls& calls) {
  std::vector<Patch> patches;
  for (const HostCall& call : calls) {
    if (call.name != "cudaSetDevice") continue;
    for (const HostCall& other : calls) {
      if (other.name != "cudaSetDevice" || other.argument(0) == call.argument(0)) continue;
      add_new(
          patches,
          beside(call, true, fmt::format("cudaDeviceEnablePeerAccess({}, 0);", other.argument(0))));
    }
  }
  return patches;
}

std::vector<Patch> graph_edges(const HostCalls& calls) {
  std::vector<Patch> patches;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const HostCall& call = calls[i];
    const bool adds_node = call.name.starts_with("cudaGraphAdd") && call.arguments.size() > 4;
    if (!adds_node || call.argument(3) != "0") continue;
    for (std::size_t before = i; before-- > 0;) {
      const HostCall& other = calls[before];
      if (!other.name.starts_with("cudaGraphAdd") || other.arguments.size() < 4) continue;
      if (other.argument(1) != call.argument(1)) continue;
      Patch patch = with_argument(call, 2, std::string(other.argument(0)));
      Patch count = with_argument(call, 3, "1");
      count.what.clear();
      patch.what = {fmt::format("an edge from node {} in line {}", pointer_of(other.argument(0)),
                                call.place.tree->line_of(call.arguments[2].begin))};
      if (patch.add(count)) patches.push_back(std::move(patch));
    }
  }
  return patches;
}

std::vector<Patch> rounded_up_grids(const std::string& file, const SourceTree& tree,
                                    const HostCalls& calls) {
  std::vector<Patch> patches;
  const auto round_up = [&](std::size_t begin, std::size_t end) {
    const std::string_view code = std::string_view(tree.code()).substr(begin, end - begin);
    const std::size_t division = code.find('/');
    if (division == kNoPart || code.find('/', division + 1) != kNoPart) return;
    std::size_t from = division, to = division + 1;
    while (from > 0 && code[from - 1] == ' ') --from;
    const std::size_t first_end = from;
    while (from > 0 && is_word_character(code[from - 1])) --from;
    while (to < code.size() && code[to] == ' ') ++to;
    const std::size_t second_begin = to;
    while (to < code.size() && (is_word_character(code[to]) || code[to] == '.')) ++to;
    if (from == first_end || to == second_begin) return;
    const std::string_view size = code.substr(from, first_end - from);
    const std::string_view block = code.substr(second_begin, to - second_begin);
    add_new(patches, rewritten(file, tree, begin + from, begin + to,
                               fmt::format("({0} + {1} - 1) / {1}", size, block),
                               fmt::format("{} / {} rounded up", size, block)));
  };
  for (const HostCall& call : calls) {
    if (!call.is_launch || call.arguments.empty()) continue;
    round_up(call.arguments[0].begin, call.arguments[0].end);
    // `const int blocks = n / 256;`
    for (std::size_t node = function_of(call); node < tree.nodes().size(); ++node) {
      if (tree[node].kind != Kind::simple || tree.function_of(node) != function_of(call)) continue;
      const std::string_view code = tree.code_of(node);
      const bool names_grid =
          is_one_factor(call.argument(0)) && find_word(code, call.argument(0)) != kNoPart;
      if (names_grid && code.find("<<<") == kNoPart) round_up(tree[node].begin, tree[node].end);
    }
  }
  return patches;
}

}  // namespace warpcheck
