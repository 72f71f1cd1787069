#include "vgpu/program/listing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "vgpu/program/flow/block_graph.hpp"
#include "vgpu/program/flow/data_uses.hpp"
#include "vgpu/program/flow/lone_blocks.hpp"
#include "vgpu/program/flow/order_sources.hpp"
#include "vgpu/program/flow/passing_edges.hpp"
#include "vgpu/program/instr_text.hpp"
#include "vgpu/program/layout.hpp"

namespace warpcheck::vgpu {
namespace {

bool has_provenance(InstrKind kind) {
  return kind == InstrKind::load || kind == InstrKind::store || kind == InstrKind::atomic ||
         kind == InstrKind::copy || kind == InstrKind::bulk_copy || kind == InstrKind::async_store;
}

std::string root_text(const Program& program, const Root& root) {
  switch (root.kind) {
    case Root::Kind::shared: return program.shared_symbols[root.index].name;
    case Root::Kind::variable: return demangled_variable(program.patches[root.index].name);
    case Root::Kind::parameter: break;
  }
  for (std::size_t i = program.parameters.size(); i-- > 0;) {
    const std::uint32_t begin = program.parameters[i].offset;
    if (root.index < begin) continue;
    return root.index == begin ? fmt::format("parameter {}", i)
                               : fmt::format("parameter {}, byte {}", i, root.index - begin);
  }
  return fmt::format("parameters, byte {}", root.index);
}

std::string touched_by(const Program& program, const Instr& instr) {
  if (!has_provenance(instr.kind)) return {};
  const ptx::Space space = instr.modifiers.space;
  const std::string in =
      space == ptx::Space::generic ? "" : fmt::format("{}: ", ptx::name_of(space));
  if (space == ptx::Space::local) return in + "the thread's frame";
  const RootSum& sum = program.provenances[instr.provenance].sum;
  std::string text;
  for (const RootTerm& term : sum) {
    const std::string root = root_text(program, program.roots[term.root]);
    text += text.empty() ? "" : term.count < 0 ? " - " : " + ";
    text += root;
  }
  if (!text.empty()) return in + text;
  return in + (space == ptx::Space::constant ? "the constant bank" : "not known");
}

std::string place_text(const Program& program, std::uint32_t pc) {
  const ptx::SourceLocation& at = program.user_location(pc);
  const std::string line = at.file < program.files.size()
                               ? fmt::format(" ({}:{})", program.files[at.file], at.line)
                               : "";
  return fmt::format("{} {}{}", pc, program.source_of(pc).text, line);
}

class Lister {
 public:
  explicit Lister(const Program& program)
      : program_(program),
        graph_(program, is_guarded_barrier),
        text_(program),
        data_use_(find_data_use(program)),
        order_(find_order_source(program)) {}

  Listing list() {
    Listing listing;
    listing.kernel = program_.kernel;
    listing.parameters = program_.parameters;
    listing.shared = program_.shared_symbols;
    listing.local_bytes = program_.local_bytes_max;
    list_proofs(listing);
    for (const FunctionCode& function : program_.functions) {
      listing.functions.push_back({function.name, {}});
    }
    for (std::uint32_t number = 0; number < graph_.blocks().size(); ++number) {
      const BlockGraph::Block& block = graph_.blocks()[number];
      if (block.begin == block.end) continue;
      Listing::Function& function = listing.functions[program_.function_of(block.begin)];
      function.blocks.push_back(list_block(number));
    }
    return listing;
  }

 private:
  Listing::Block list_block(std::uint32_t number) {
    const BlockGraph::Block& block = graph_.blocks()[number];
    Listing::Block listed;
    listed.number = number;
    const auto successors = graph_.successors(number);
    listed.successors.assign(successors.begin(), successors.end());
    std::ranges::sort(listed.successors);
    listed.ends = graph_.ends(number);
    listed.meets = meets_after(number);
    for (std::uint32_t pc = block.begin; pc < block.end; ++pc) listed.code.push_back(list_one(pc));
    return listed;
  }

  Listing::Instruction list_one(std::uint32_t pc) {
    Listing::Instruction one;
    one.pc = pc;
    one.text = text_.of(pc);
    const ptx::SourceLocation& at = program_.user_location(pc);
    if (at.file < program_.files.size() && at.line != 0) {
      one.file = program_.files[at.file];
      one.line = at.line;
    }
    one.ptx_line = program_.source_of(pc).ptx_line;
    const Instr& instr = program_.code[pc];
    one.touches = touched_by(program_, instr);
    const auto note = [&](bool is_so, std::string text) {
      if (is_so) one.notes.push_back(std::move(text));
    };
    note(pc == data_use_.pc, data_use_.is_followed ? "a value from memory may decide this"
                                                   : "values are not followed behind this");
    note(pc == order_.pc, fmt::format("shows the order of threads: it {}", order_.what));
    note(instr.is_read_address, "the address was read from memory");
    note(instr.hands_on, "stores an address of a local or shared variable");
    note(pc < program_.data_reads.size() && program_.data_reads[pc],
         "the value is used as data, not only compared");
    add_unwritten(pc, one.notes);
    add_passing(pc, one.notes);
    return one;
  }

  void add_unwritten(std::uint32_t pc, std::vector<std::string>& notes) const {
    const std::uint32_t function = program_.function_of(pc);
    if (function >= program_.unwritten_registers.size()) return;
    for (const UnwrittenRegister& one : program_.unwritten_registers[function]) {
      if (one.first_read == pc) notes.push_back("may read a register that was never written");
    }
  }

  void add_passing(std::uint32_t pc, std::vector<std::string>& notes) const {
    if (program_.passing_edges == nullptr) return;
    for (const PassingEdges::Edge& edge : program_.passing_edges->edges) {
      const bool enters = std::ranges::any_of(edge.marks, &PassingEdges::Mark::enters);
      if (edge.from != pc || !enters) continue;
      notes.push_back(
          fmt::format("threads that go to {} pass a barrier by, if others come to it", edge.to));
    }
  }

  // Blocks that may follow in the same function; a call goes on behind it.
  [[nodiscard]] std::vector<std::uint32_t> next_in_function(std::uint32_t number) const {
    const BlockGraph::Block& block = graph_.blocks()[number];
    if (block.begin == block.end) return {};
    const std::uint32_t function = program_.function_of(block.begin);
    const InstrKind kind = program_.code[block.end - 1].kind;
    const bool is_call = kind == InstrKind::call || kind == InstrKind::call_register;
    if (is_call && block.end < program_.code.size()) return {graph_.block_of(block.end)};
    std::vector<std::uint32_t> next;
    for (const std::uint32_t one : graph_.successors(number)) {
      const std::uint32_t begin = graph_.blocks()[one].begin;
      const bool is_near = begin < program_.code.size() && program_.function_of(begin) == function;
      if (is_near && kind != InstrKind::ret) next.push_back(one);
    }
    return next;
  }

  // Returns the first block, from `limit` on, that lanes at block `from` can come to while they run
  // below `limit`.
  [[nodiscard]] std::optional<std::uint32_t> first_from(std::uint32_t limit,
                                                        std::uint32_t from) const {
    std::optional<std::uint32_t> first;
    std::set<std::uint32_t> seen{from};
    std::vector<std::uint32_t> waiting{from};
    while (!waiting.empty()) {
      const std::uint32_t at = waiting.back();
      waiting.pop_back();
      for (const std::uint32_t to : next_in_function(at)) {
        if (to >= limit) first = std::min(first.value_or(to), to);
        if (to < limit && seen.insert(to).second) waiting.push_back(to);
      }
    }
    return first;
  }

  // The lanes at the lower block run until they come to that of the others, or behind it; then the
  // others are the lower ones.
  [[nodiscard]] std::optional<std::uint32_t> meeting_of(std::uint32_t a, std::uint32_t b) const {
    while (a != b) {
      if (a > b) std::swap(a, b);
      const std::optional<std::uint32_t> next = first_from(b, a);
      if (!next) return std::nullopt;
      a = *next;
    }
    return a;
  }

  [[nodiscard]] std::optional<std::uint32_t> meets_after(std::uint32_t number) const {
    const std::vector<std::uint32_t> next = next_in_function(number);
    if (next.size() < 2) return std::nullopt;
    std::optional<std::uint32_t> at = next.front();
    for (std::size_t i = 1; i < next.size() && at; ++i) at = meeting_of(*at, next[i]);
    return at;
  }

  void list_proofs(Listing& listing) const {
    std::vector<std::string>& proved = listing.proved;
    if (data_use_.pc == ptx::kNone) {
      proved.emplace_back(
          "no value from memory decides an address, a branch, a guard or a size: threads make the "
          "same accesses for all data");
    } else {
      proved.push_back(
          (data_use_.is_followed
               ? "a value from memory may decide something, first at "
               : "values are not followed, so one from memory may decide something: ") +
          place_text(program_, data_use_.pc));
    }
    if (order_.pc == ptx::kNone) {
      proved.emplace_back(
          "no instruction shows the order of threads: without a race, every schedule gives the "
          "same result");
    } else {
      proved.push_back(fmt::format("the order of threads may show, first at {}: it {}",
                                   place_text(program_, order_.pc), order_.what));
    }
    proved.emplace_back(program_.synchronizes_threads
                            ? "threads may be ordered by more than barriers of the whole block"
                            : "only barriers of the whole block order threads");
    if (program_.passing_edges == nullptr) proved.emplace_back("no thread can pass a barrier by");
    if (program_.unwritten_registers.empty()) {
      proved.emplace_back("no variable in a register is known to be read before it is written");
    }
    if (blocks_may_run_apart(program_)) {
      proved.emplace_back("no instruction tells apart where or when a block runs");
    }
  }

  const Program& program_;
  BlockGraph graph_;
  InstrText text_;
  DataUse data_use_;
  OrderSource order_;
};

}  // namespace

Listing list_program(const Program& program) { return Lister(program).list(); }

}  // namespace warpcheck::vgpu
