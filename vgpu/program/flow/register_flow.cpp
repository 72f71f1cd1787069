#include "vgpu/program/flow/register_flow.hpp"

#include <algorithm>

#include "vgpu/program/operand_roles.hpp"

namespace warpcheck::vgpu {

RegisterFlow::RegisterFlow(const Program& program) : program_(program), graph_(program) {
  if (program.code.empty() || program.functions.empty()) return;
  if (!place_frames()) return;
  known_ = true;
  list_operands();
}

// Returns false if a function has more than one call, as with recursion, or is called through
// registers, or if a stack grows.
bool RegisterFlow::place_frames() {
  const auto functions = static_cast<std::uint32_t>(program_.functions.size());
  function_of_.assign(program_.code.size(), 0);
  calls_.assign(functions, ptx::kNone);
  frames_.resize(functions);
  std::vector<std::uint32_t> by_entry(functions);
  for (std::uint32_t i = 0; i < functions; ++i) by_entry[i] = i;
  std::ranges::sort(by_entry, {}, [&](std::uint32_t i) { return program_.functions[i].entry; });
  for (std::uint32_t i = 0; i < functions; ++i) {
    const std::uint32_t begin = program_.functions[by_entry[i]].entry;
    const std::size_t end =
        i + 1 == functions ? program_.code.size() : program_.functions[by_entry[i + 1]].entry;
    std::fill(function_of_.begin() + begin, function_of_.begin() + static_cast<std::ptrdiff_t>(end),
              by_entry[i]);
  }
  std::vector<std::vector<std::uint32_t>> callees(functions);
  for (std::uint32_t pc = 0; pc < program_.code.size(); ++pc) {
    const Instr& instr = program_.code[pc];
    obstacle_ = pc;
    if (instr.kind == InstrKind::call_register || instr.kind == InstrKind::stack) return false;
    if (instr.kind != InstrKind::call) continue;
    if (instr.function == 0 || calls_[instr.function] != ptx::kNone) return false;
    calls_[instr.function] = pc;
    callees[function_of_[pc]].push_back(instr.function);
  }
  std::vector<std::uint32_t> path{0};
  while (!path.empty()) {
    const std::uint32_t caller = path.back();
    path.pop_back();
    const FunctionCode& code = program_.functions[caller];
    for (const std::uint32_t callee : callees[caller]) {
      const Frame& from = frames_[caller];
      frames_[callee] = {from.word + code.words, from.wide + code.wides,
                         from.predicate + code.predicates};
      path.push_back(callee);
    }
  }
  std::uint32_t predicates = 0;
  for (std::uint32_t i = 0; i < functions; ++i) {
    const FunctionCode& code = program_.functions[i];
    words_ = std::max(words_, frames_[i].word + code.words + code.outgoing_words);
    wides_ = std::max(wides_, frames_[i].wide + code.wides);
    predicates = std::max(predicates, frames_[i].predicate + code.predicates);
  }
  registers_ = words_ + wides_ + predicates;
  return true;
}

std::uint32_t RegisterFlow::register_of(std::uint32_t pc, const Ref& ref) const {
  const Frame& frame = frames_[function_of_[pc]];
  switch (ref.bank) {
    case Bank::word: return frame.word + ref.offset / kWordRowBytes;
    case Bank::wide: return words_ + frame.wide + ref.offset / kWideRowBytes;
    case Bank::predicate: return words_ + wides_ + frame.predicate + ref.offset / 4;
    case Bank::constant:
    case Bank::none: break;
  }
  return ptx::kNone;
}

std::uint32_t RegisterFlow::register_at(Bank bank, std::uint32_t row) const {
  if (bank == Bank::word && row < words_) return row;
  if (bank == Bank::wide && row < wides_) return words_ + row;
  if (bank == Bank::predicate && row < registers_ - words_ - wides_) return words_ + wides_ + row;
  return ptx::kNone;
}

void RegisterFlow::add(NumberLists& lists, std::uint32_t pc, const Ref& ref) const {
  const std::uint32_t number = register_of(pc, ref);
  if (number != ptx::kNone) lists.add(number);
}

void RegisterFlow::list_operands() {
  opaque_.assign(program_.code.size(), false);
  for (std::uint32_t pc = 0; pc < program_.code.size(); ++pc) {
    const Instr& instr = program_.code[pc];
    const OperandRoles roles = roles_of(instr);
    opaque_[pc] = roles.opaque;
    if (!roles.opaque || instr.kind == InstrKind::atomic) {
      roles.reads.for_each_in(instr.operands, [&](const Ref& ref) { add(reads_, pc, ref); });
      roles.writes.for_each_in(instr.operands, [&](const Ref& ref) { add(writes_, pc, ref); });
    }
    add(reads_, pc, instr.guard);
    reads_.close();
    writes_.close();
  }
}

}  // namespace warpcheck::vgpu
