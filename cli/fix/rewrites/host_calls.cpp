#include "cli/fix/rewrites/host_calls.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "cli/fix/rewrites/statement_parts.hpp"

namespace warpcheck {
namespace {

using Kind = SourceNode::Kind;

// Which argument of a call is its stream.
struct StreamArgument {
  std::string_view name;
  std::size_t index;
};
constexpr std::array kStreams{StreamArgument{"cudaMemcpyAsync", 4},
                              StreamArgument{"cudaMemsetAsync", 3},
                              StreamArgument{"cudaMemcpy2DAsync", 7},
                              StreamArgument{"cudaMemcpyPeerAsync", 5},
                              StreamArgument{"cudaMallocAsync", 2},
                              StreamArgument{"cudaFreeAsync", 1},
                              StreamArgument{"cudaGraphLaunch", 1},
                              StreamArgument{"cudaLaunchKernel", 5},
                              StreamArgument{"cudaMemcpyToSymbolAsync", 5},
                              StreamArgument{"cudaMemcpyFromSymbolAsync", 5},
                              StreamArgument{"cudaLaunchCooperativeKernel", 5}};
constexpr std::array<std::string_view, 6> kOfDefaultStream{
    "cudaMemcpy",     "cudaMemset",         "cudaMemcpy2D",
    "cudaMemcpyPeer", "cudaMemcpyToSymbol", "cudaMemcpyFromSymbol"};

bool is_host_code(const SourceTree& tree, std::size_t function) {
  const std::string_view code = tree.code_of(function);
  const std::string_view signature = code.substr(0, code.find('{'));
  if (signature.find("__global__") != kNoPart) return false;
  return signature.find("__device__") == kNoPart || signature.find("__host__") != kNoPart;
}

// The arguments in [begin, end) of the file.
std::vector<HostCall::Argument> arguments_in(const SourceTree& tree, std::size_t begin,
                                             std::size_t end) {
  std::vector<HostCall::Argument> arguments;
  const std::string_view code(tree.code());
  for (const std::string_view part :
       split_arguments(code.substr(begin, end - begin), Angles::operators)) {
    if (part.empty()) continue;
    const auto at = static_cast<std::size_t>(part.data() - code.data());
    arguments.push_back({at, at + part.size(), tree.text().substr(at, part.size())});
  }
  return arguments;
}

std::string_view word_before(std::string_view code, std::size_t end) {
  std::size_t begin = end;
  while (begin > 0 && is_word_character(code[begin - 1])) --begin;
  return code.substr(begin, end - begin);
}

// `kernel<<<`, `kernel<int><<<`
std::string_view launched_name(std::string_view code, std::size_t at) {
  std::size_t end = at;
  if (end > 0 && code[end - 1] == '>') {
    int depth = 0;
    while (end > 0) {
      --end;
      if (code[end] == '>') ++depth;
      if (code[end] == '<' && --depth == 0) break;
    }
  }
  return word_before(code, end);
}

std::optional<HostCall> call_at(const Place& place, std::size_t at) {
  const SourceTree& tree = *place.tree;
  const std::string_view code(tree.code());
  HostCall call;
  call.place = place;
  if (code.substr(at, 3) == "<<<") {
    const std::size_t close = code.find(">>>", at);
    if (close == kNoPart) return std::nullopt;
    call.name = launched_name(code, at);
    call.is_launch = true;
    call.arguments = arguments_in(tree, at + 3, close);
    call.end = close;
    return call;
  }
  if (code[at] != '(') return std::nullopt;
  call.name = word_before(code, at);
  if (!call.name.starts_with("cuda")) return std::nullopt;
  const std::size_t close = closing_bracket(code, at);
  if (close == kNoPart) return std::nullopt;
  call.arguments = arguments_in(tree, at + 1, close);
  call.end = close;
  return call;
}

}  // namespace

std::size_t function_of(const HostCall& call) {
  return call.place.tree->function_of(call.place.node);
}

std::vector<HostCall> host_calls(const std::string& file, const SourceTree& tree) {
  std::vector<HostCall> calls;
  for (std::size_t node = 0; node < tree.nodes().size(); ++node) {
    const Kind kind = tree[node].kind;
    if (kind == Kind::function || kind == Kind::block) continue;
    if (!is_host_code(tree, tree.function_of(node))) continue;
    const std::size_t begin = kind == Kind::simple ? tree[node].begin : tree[node].head_begin;
    const std::size_t end = kind == Kind::simple ? tree[node].end : tree[node].head_end;
    for (std::size_t at = begin; at < end; ++at) {
      if (auto call = call_at({&file, &tree, node}, at)) calls.push_back(*std::move(call));
    }
  }
  return calls;
}

std::string stream_of(const HostCall& call) {
  if (call.is_launch) {
    const std::string_view stream = call.argument(3);
    return stream.empty() ? "0" : std::string(stream);
  }
  for (const StreamArgument& known : kStreams) {
    if (call.name != known.name) continue;
    const std::string_view stream = call.argument(known.index);
    return stream.empty() ? "0" : std::string(stream);
  }
  return std::ranges::find(kOfDefaultStream, call.name) == kOfDefaultStream.end() ? "" : "0";
}

MemoryArguments memory_arguments(std::string_view name) {
  if (name == "cudaMalloc" || name == "cudaMallocManaged" || name == "cudaMallocAsync" ||
      name == "cudaMallocHost" || name == "cudaHostAlloc")
    return {.target = 0, .bytes = 1, .allocates = true};
  if (name == "cudaMemcpy" || name == "cudaMemcpyAsync")
    return {.target = 0, .source = 1, .bytes = 2, .direction = 3};
  if (name == "cudaMemset" || name == "cudaMemsetAsync") return {.target = 0, .bytes = 2};
  return {};
}

bool frees_memory(std::string_view name) {
  return name == "cudaFree" || name == "cudaFreeAsync" || name == "cudaFreeHost";
}

}  // namespace warpcheck
