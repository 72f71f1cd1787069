#include "vgpu/program/flow/unwritten_registers.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <string_view>

#include "vgpu/program/flow/bits.hpp"
#include "vgpu/program/flow/register_flow.hpp"
#include "vgpu/program/library_headers.hpp"
#include "vgpu/program/operand_roles.hpp"
#include "vgpu/program/tensor_memory.hpp"
#include "vgpu/ptx/opcode.hpp"

namespace warpcheck::vgpu {
namespace {

// Of larger programs, the sets of all blocks would take more than 2 MiB.
constexpr std::size_t kWordsMax = std::size_t{1} << 18;

enum class Counts : std::uint8_t { all_reads, reads_of_variables };

// Returns whether the instruction moves bytes of a parameter.  An empty class and the padding of a
// struct are passed as bytes that nothing has written, and a store of bytes is inserted into what
// the row contains.
bool moves_bytes_of_parameter(const Program& program, std::uint32_t pc) {
  const ptx::Opcode opcode = program.code[pc].opcode;
  if (opcode != ptx::Opcode::bfi_ && opcode != ptx::Opcode::bfe_) return false;
  const std::string_view text = program.source_of(pc).text;
  return text.starts_with("st.param") || text.starts_with("ld.param");
}

// Whose value a register holds.  A variable belongs to the innermost function that contains all
// code which reads and writes it, so a variable of the caller that a header reads is the caller's,
// and an item that a kernel of the toolkit hands to an operator is the toolkit's.  Inlined
// functions count as functions: code of one inlined call has the chain of places from which it was
// inlined.
class Ownership {
 public:
  explicit Ownership(const Program& program) : program_(program) {}

  void add(std::uint32_t pc) {
    std::vector<Place> chain = chain_of(pc);
    if (chain.empty()) return;
    const std::uint32_t entry = program_.functions[program_.function_of(pc)].entry;
    const std::vector<Place> home = chain_of(entry);
    is_inside_users_ |= std::ranges::any_of(chain, [&](const Place& at) { return is_users(at); }) ||
                        (!home.empty() && is_users(home.front()));
    chains_.push_back(std::move(chain));
  }
  void add_write(std::uint32_t pc) {
    is_written_ = true;
    add(pc);
  }

  // Returns whether the variable is a library's.  Of one that nothing ever writes, no code is left
  // but the reads: it is the user's if the user's code calls what reads it.
  [[nodiscard]] bool is_of_library() const {
    if (chains_.empty()) return is_kernel_of_library();
    if (!is_written_) return !is_inside_users_;
    // The last place of a chain is inside its innermost function, the others are calls.  In
    // unoptimised code, what is always inlined has no calls, so several files may be at one depth.
    std::size_t depth = chains_.front().size() - 1;
    for (const std::vector<Place>& chain : chains_) {
      const auto end =
          chain.begin() + static_cast<std::ptrdiff_t>(std::min(depth, chain.size() - 1));
      depth = static_cast<std::size_t>(
          std::mismatch(chain.begin(), end, chains_.front().begin()).first - chain.begin());
    }
    return std::ranges::none_of(
        chains_, [&](const std::vector<Place>& chain) { return is_users(chain[depth]); });
  }

 private:
  struct Place {
    std::uint32_t file = 0, line = 0, column = 0;
    friend bool operator==(const Place&, const Place&) = default;
  };

  // Returns the places of an instruction, the outermost first; none: they are not known.
  [[nodiscard]] std::vector<Place> chain_of(std::uint32_t pc) const {
    std::vector<Place> chain;
    const ptx::SourceLocation* at = &program_.source_of(pc).location;
    for (;;) {
      if (at->file >= program_.files.size() || at->line == 0) return {};
      chain.push_back({at->file, at->line, at->column});
      if (at->inlined_at >= program_.locations.size()) break;
      at = &program_.locations[at->inlined_at];
    }
    // Headers that wrap one instruction have no variables of their own.
    auto own = chain.begin();
    while (own + 1 != chain.end() && is_wrapper(*own)) ++own;
    chain.erase(chain.begin(), own);
    std::ranges::reverse(chain);
    return chain;
  }
  [[nodiscard]] bool is_wrapper(const Place& place) const {
    const std::string_view file = program_.files[place.file];
    return is_library_header(file) && !is_library_code(file);
  }
  [[nodiscard]] bool is_users(const Place& place) const {
    return !is_library_header(program_.files[place.file]) || is_wrapper(place);
  }
  // Without lines, only the name of the kernel is known.
  [[nodiscard]] bool is_kernel_of_library() const {
    constexpr std::array<std::string_view, 3> kNamespaces{"_ZN3cub", "_ZN6thrust", "_ZN4cuda"};
    return std::ranges::any_of(
        kNamespaces, [&](std::string_view name) { return program_.kernel.starts_with(name); });
  }

  const Program& program_;
  std::vector<std::vector<Place>> chains_;  // of all code that reads or writes the variable
  bool is_written_ = false, is_inside_users_ = false;
};

void for_each_read(const TensorMemoryInstr& tensor, auto&& visit) {
  for (const Ref& ref :
       {tensor.address, tensor.columns, tensor.half_offset, tensor.blocks, tensor.a, tensor.b,
        tensor.description, tensor.adds, tensor.metadata, tensor.scale_a, tensor.scale_b}) {
    visit(ref);
  }
  for (const Ref& ref : tensor.disabled) visit(ref);
  if (tensor.op != TensorOp::store) return;
  for (const Ref& ref : tensor.values) visit(ref);
}

// Calls visit(ref) for the registers that an instruction reads.
void for_each_read(const Program& program, const Instr& instr, auto&& visit) {
  visit(instr.guard);
  roles_of(instr).reads.for_each_in(instr.operands, visit);
  if (instr.kind == InstrKind::tensor_memory) {
    return for_each_read(tensor_instr_of(program, instr), visit);
  }
  if (instr.kind != InstrKind::texture) return;
  const TextureInstr& texture = program.texture_instrs[instr.texture];
  for (const Ref& ref : {texture.object, texture.layer, texture.level}) visit(ref);
  for (const auto* const refs : {&texture.at, &texture.dx, &texture.dy}) {
    for (const Ref& ref : *refs) visit(ref);
  }
  if (texture.operation != TextureInstr::Operation::store) return;
  for (const Ref& ref : texture.values) visit(ref);
}

// The registers that may be unwritten, from the beginning of the kernel on.
class Unwritten {
 public:
  Unwritten(const RegisterFlow& flow, Counts counts)
      : flow_(flow),
        counts_(counts),
        at_begin_(flow.graph().blocks().size(), Bits(flow.registers() / 64 + 1)) {
    const std::uint32_t first = flow.graph().block_of(flow.program().functions.front().entry);
    at_begin_[first].assign(flow.registers() / 64 + 1, ~std::uint64_t{0});
    follow_paths(
        flow.graph(), first, [this](std::uint32_t block) { return after(block); },
        [this](std::uint32_t next, const Bits& unwritten) { return join(next, unwritten); });
  }

  // Calls visit(pc, ref, number) for each register that may be read unwritten, in the order of the
  // code.
  void for_each_read(auto&& visit) const {
    const Program& program = flow_.program();
    for (std::uint32_t block = 0; block < flow_.graph().blocks().size(); ++block) {
      Bits unwritten = at_begin_[block];
      const BlockGraph::Block& code = flow_.graph().blocks()[block];
      for (std::uint32_t pc = code.begin; pc < code.end; ++pc) {
        const bool counts = counts_ == Counts::all_reads || !moves_bytes_of_parameter(program, pc);
        vgpu::for_each_read(program, program.code[pc], [&](const Ref& ref) {
          const std::uint32_t number = counts ? flow_.register_of(pc, ref) : ptx::kNone;
          if (number != ptx::kNone && test(unwritten, number)) visit(pc, ref, number);
        });
        write(pc, unwritten);
      }
    }
  }

 private:
  [[nodiscard]] Bits after(std::uint32_t block) const {
    Bits unwritten = at_begin_[block];
    const BlockGraph::Block& code = flow_.graph().blocks()[block];
    for (std::uint32_t pc = code.begin; pc < code.end; ++pc) write(pc, unwritten);
    return unwritten;
  }
  // Returns whether more registers are unwritten at the beginning of the block now.
  bool join(std::uint32_t block, const Bits& unwritten) {
    Bits& there = at_begin_[block];
    bool grows = false;
    for (std::size_t i = 0; i < there.size(); ++i) {
      grows |= (unwritten[i] & ~there[i]) != 0;
      there[i] |= unwritten[i];
    }
    return grows;
  }
  // An instruction with a guard may write nothing.  Loads have guards where the compiler executes
  // them for more threads than the source does: then the value does not matter to the others
  // (speculated_loads.hpp).
  void write(std::uint32_t pc, Bits& unwritten) const {
    const Instr& instr = flow_.program().code[pc];
    const bool is_of_compiler =
        counts_ == Counts::reads_of_variables && instr.kind == InstrKind::load;
    if (instr.guard.bank != Bank::none && !is_of_compiler) return;
    for (const std::uint32_t number : flow_.writes(pc)) assign(unwritten, number, false);
    if (!flow_.is_opaque(pc)) return;
    for (const Ref& ref : destinations_of(flow_.program(), instr)) {
      const std::uint32_t number = flow_.register_of(pc, ref);
      if (number != ptx::kNone) assign(unwritten, number, false);
    }
  }

  const RegisterFlow& flow_;
  Counts counts_;
  std::vector<Bits> at_begin_;  // by block
};

bool is_small(const RegisterFlow& flow) {
  return flow.graph().blocks().size() * (flow.registers() / 64 + 1) <= kWordsMax;
}

// Adds the code that writes the registers to what is known of them.
void add_writes(const RegisterFlow& flow, std::map<std::uint32_t, Ownership>& owners) {
  const auto add = [&](std::uint32_t pc, std::uint32_t number) {
    const auto owner = owners.find(number);
    if (owner != owners.end()) owner->second.add_write(pc);
  };
  const Program& program = flow.program();
  for (std::uint32_t pc = 0; pc < program.code.size(); ++pc) {
    for (const std::uint32_t number : flow.writes(pc)) add(pc, number);
    if (!flow.is_opaque(pc)) continue;
    for (const Ref& ref : destinations_of(program, program.code[pc])) {
      add(pc, flow.register_of(pc, ref));
    }
  }
}

}  // namespace

std::vector<std::vector<UnwrittenRegister>> unwritten_registers(const Program& program) {
  const RegisterFlow flow(program);
  if (!flow.is_known() || !is_small(flow)) return {};
  struct Read {
    std::uint32_t pc = 0;
    Ref ref;
    std::uint32_t number = 0;
  };
  std::vector<Read> first_reads;
  std::map<std::uint32_t, Ownership> owners;  // by number of a register
  Unwritten(flow, Counts::reads_of_variables)
      .for_each_read([&](std::uint32_t pc, const Ref& ref, std::uint32_t number) {
        const auto [owner, is_first] = owners.try_emplace(number, program);
        owner->second.add(pc);
        if (is_first) first_reads.push_back({pc, ref, number});
      });
  add_writes(flow, owners);
  std::vector<std::vector<UnwrittenRegister>> found;
  for (const auto& [pc, ref, number] : first_reads) {
    if (owners.at(number).is_of_library()) continue;
    found.resize(program.functions.size());
    found[flow.function_of(pc)].push_back({ref, pc});
  }
  return found;
}

bool reads_unwritten_register(const Program& program) {
  const RegisterFlow flow(program);
  if (!flow.is_known() || !is_small(flow)) return true;
  bool reads = false;
  Unwritten(flow, Counts::all_reads).for_each_read([&](auto...) { reads = true; });
  return reads;
}

}  // namespace warpcheck::vgpu
