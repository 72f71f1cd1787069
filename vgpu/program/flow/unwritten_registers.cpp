#include "vgpu/program/flow/unwritten_registers.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

#include "vgpu/program/flow/bits.hpp"
#include "vgpu/program/flow/register_flow.hpp"
#include "vgpu/program/library_headers.hpp"
#include "vgpu/program/operand_roles.hpp"

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

// Returns whether the instruction is code of the toolkit's headers, which reads what it has not
// written where that cannot matter: thrust::set_difference() compares keys behind the last one of a
// tile.
bool is_of_library(const Program& program, std::uint32_t pc) {
  const ptx::SourceLocation& place = program.source_of(pc).location;
  if (place.file < program.files.size()) {
    const std::string_view file = program.files[place.file];
    return is_library_header(file) && is_library_code(file);
  }
  // Without lines, only the name of the kernel is known.
  constexpr std::array<std::string_view, 3> kNamespaces{"_ZN3cub", "_ZN6thrust", "_ZN4cuda"};
  return std::ranges::any_of(
      kNamespaces, [&](std::string_view name) { return program.kernel.starts_with(name); });
}

// Calls visit(ref) for the registers that an instruction reads.
void for_each_read(const Program& program, const Instr& instr, auto&& visit) {
  visit(instr.guard);
  roles_of(instr).reads.for_each_in(instr.operands, visit);
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
        at_begin_(flow.blocks().size(), Bits(flow.registers() / 64 + 1)) {
    at_begin_[flow.block_of(flow.program().functions.front().entry)].assign(
        flow.registers() / 64 + 1, ~std::uint64_t{0});
    for (bool grows = true; grows;) {
      grows = false;
      for (std::uint32_t block = 0; block < flow.blocks().size(); ++block) grows |= pass_on(block);
    }
  }

  // Calls visit(pc, ref, number) for each register that may be read unwritten, in the order of the
  // code.
  void for_each_read(auto&& visit) const {
    const Program& program = flow_.program();
    for (std::uint32_t block = 0; block < flow_.blocks().size(); ++block) {
      Bits unwritten = at_begin_[block];
      const RegisterFlow::Block& code = flow_.blocks()[block];
      for (std::uint32_t pc = code.begin; pc < code.end; ++pc) {
        const bool counts = counts_ == Counts::all_reads ||
                            (!moves_bytes_of_parameter(program, pc) && !is_of_library(program, pc));
        vgpu::for_each_read(program, program.code[pc], [&](const Ref& ref) {
          const std::uint32_t number = counts ? flow_.register_of(pc, ref) : ptx::kNone;
          if (number != ptx::kNone && test(unwritten, number)) visit(pc, ref, number);
        });
        write(pc, unwritten);
      }
    }
  }

 private:
  // Returns whether more registers are unwritten at the beginning of another block now.
  bool pass_on(std::uint32_t block) {
    Bits unwritten = at_begin_[block];
    const RegisterFlow::Block& code = flow_.blocks()[block];
    for (std::uint32_t pc = code.begin; pc < code.end; ++pc) write(pc, unwritten);
    bool grows = false;
    for (const std::uint32_t next : flow_.successors(block)) {
      Bits& there = at_begin_[next];
      for (std::size_t i = 0; i < there.size(); ++i) {
        grows |= (unwritten[i] & ~there[i]) != 0;
        there[i] |= unwritten[i];
      }
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
  return flow.blocks().size() * (flow.registers() / 64 + 1) <= kWordsMax;
}

}  // namespace

std::vector<std::vector<UnwrittenRegister>> unwritten_registers(const Program& program) {
  const RegisterFlow flow(program);
  if (!flow.is_known() || !is_small(flow)) return {};
  std::vector<std::vector<UnwrittenRegister>> found;
  Bits seen(flow.registers() / 64 + 1);
  Unwritten(flow, Counts::reads_of_variables)
      .for_each_read([&](std::uint32_t pc, const Ref& ref, std::uint32_t number) {
        if (test(seen, number)) return;
        assign(seen, number, true);
        found.resize(program.functions.size());
        found[flow.function_of(pc)].push_back({ref, pc});
      });
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
