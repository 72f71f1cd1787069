#include "vgpu/ptx/edit/program_edit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "vgpu/ptx/mnemonic.hpp"
#include "vgpu/ptx/module.hpp"
#include "vgpu/ptx/opcode.hpp"
#include "vgpu/ptx/parse/body_parser.hpp"
#include "vgpu/ptx/parse/context.hpp"

namespace warpcheck::ptx {
namespace {

// One change of one function.
struct Change {
  std::uint32_t index = 0;
  const ProgramEdit* edit = nullptr;
};

std::string place_text(const ProgramEdit& edit) {
  if (const auto* const at = std::get_if<InstructionPlace>(&edit.place)) {
    return fmt::format("instruction {} of {}", at->index, at->function);
  }
  const auto& line = std::get<LinePlace>(edit.place);
  return fmt::format("{}:{}", line.file, line.line);
}

[[noreturn]] void throw_edit_error(const ProgramEdit& edit, std::string_view why) {
  throw EditError(fmt::format("{}: {}", describe(edit), why));
}

bool concerns(const Module& module, const ProgramEdit& edit) {
  return edit.build == EditedBuild::both ||
         (edit.build == EditedBuild::unoptimized) == module.debug;
}

bool is_insertion(EditKind kind) {
  return kind == EditKind::insert_before || kind == EditKind::insert_after;
}

// Where straight pieces of code end: behind branches, and before labels.
std::vector<bool> starts_piece(const Function& function) {
  std::vector<bool> starts(function.body.size() + 1, false);
  for (const Label& label : function.labels) {
    if (label.position < starts.size()) starts[label.position] = true;
  }
  for (std::size_t at = 0; at < function.body.size(); ++at) {
    const Opcode opcode = function.body[at].opcode;
    if (opcode == Opcode::bra_ || opcode == Opcode::brx_ || opcode == Opcode::ret_ ||
        opcode == Opcode::exit_) {
      starts[at + 1] = true;
    }
  }
  return starts;
}

// Of a line's instructions: the first or last one in each straight piece of code.
std::vector<std::uint32_t> ends_of_pieces(const Function& function,
                                          const std::vector<std::uint32_t>& all, EditKind kind) {
  const std::vector<bool> starts = starts_piece(function);
  const auto same_piece = [&](std::uint32_t a, std::uint32_t b) {
    return std::none_of(starts.begin() + a + 1, starts.begin() + b + 1, [](bool s) { return s; });
  };
  std::vector<std::uint32_t> chosen;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const bool is_first = i == 0 || !same_piece(all[i - 1], all[i]);
    const bool is_last = i + 1 == all.size() || !same_piece(all[i], all[i + 1]);
    if (kind == EditKind::insert_before ? is_first : is_last) chosen.push_back(all[i]);
  }
  return chosen;
}

// The instructions and labels of the text, as a function that shares the names of `function`; its
// registers, labels and variables are those of `function` and new ones behind them.
Function parse_statements_of(Module& module, const Function& function, const ProgramEdit& edit) {
  constexpr std::uint64_t kRegistersMax = 1 << 12;
  Function parsed = function;
  parsed.body.clear();
  const std::string text = "{ " + edit.text + " }";
  Context context{Lexer(text, "edit"), module, Budget{kRegistersMax, 0}, {}, {}, {}, {}};
  for (std::uint32_t at = 0; at < module.functions.size(); ++at) {
    context.symbols.declare(module.functions[at].name, {Symbol::Kind::function, {}, at});
  }
  for (std::uint32_t at = 0; at < module.variables.size(); ++at) {
    context.symbols.declare(module.variables[at].name,
                            {Symbol::Kind::variable, VariableRef::Scope::module, at});
  }
  try {
    parse_statements(context, parsed);
  } catch (const ParseError& error) {
    throw_edit_error(edit, error.what());
  }
  for (const Instruction& instruction : parsed.body) {
    if (!instruction.unsupported.empty()) throw_edit_error(edit, instruction.unsupported);
    if (instruction.opcode == Opcode::invalid) {
      throw_edit_error(edit, fmt::format("unknown instruction '{}'", instruction.text));
    }
  }
  return parsed;
}

void respell(const ProgramEdit& edit, Instruction& instruction) {
  Mnemonic mnemonic = read_mnemonic(edit.text);
  if (mnemonic.opcode == Opcode::invalid) {
    throw_edit_error(edit, fmt::format("unknown instruction '{}'", edit.text));
  }
  if (!mnemonic.unsupported.empty()) throw_edit_error(edit, mnemonic.unsupported);
  const std::string misfit = find_misfit(mnemonic, instruction.operands);
  if (!misfit.empty()) throw_edit_error(edit, misfit);
  instruction.opcode = mnemonic.opcode;
  instruction.modifiers = mnemonic.modifiers;
  instruction.text = edit.text;
  instruction.unsupported.clear();
}

// Puts the text's instructions at `at` in place of `removed` instructions.  Labels at `at` lead to
// the new instructions if `jumps_too`, else behind them.
void splice(Module& module, Function& function, const ProgramEdit& edit, std::uint32_t at,
            std::uint32_t removed, bool jumps_too, const SourceLocation& location,
            std::uint32_t ptx_line) {
  const std::size_t labels_before = function.labels.size();
  Function parsed = edit.text.empty() ? Function{} : parse_statements_of(module, function, edit);
  const auto added = static_cast<std::uint32_t>(parsed.body.size());
  for (Label& label : function.labels) {
    const bool moves = jumps_too || removed != 0 ? label.position > at : label.position >= at;
    if (moves) label.position += added - removed;
  }
  if (!edit.text.empty()) {
    for (std::size_t i = labels_before; i < parsed.labels.size(); ++i) {
      parsed.labels[i].position += at;
      function.labels.push_back(std::move(parsed.labels[i]));
    }
    function.registers = std::move(parsed.registers);
    function.locals = std::move(parsed.locals);
    function.branch_targets = std::move(parsed.branch_targets);
    function.prototypes = std::move(parsed.prototypes);
    for (Instruction& instruction : parsed.body) {
      instruction.location = location;
      instruction.ptx_line = ptx_line;
    }
  }
  const auto place = function.body.begin() + at;
  function.body.erase(place, place + removed);
  function.body.insert(function.body.begin() + at, std::make_move_iterator(parsed.body.begin()),
                       std::make_move_iterator(parsed.body.end()));
}

void make(Module& module, Function& function, const Change& change) {
  const ProgramEdit& edit = *change.edit;
  Instruction& there = function.body[change.index];
  if (edit.kind == EditKind::respell) return respell(edit, there);
  if (edit.kind == EditKind::remove ? !edit.text.empty() : edit.text.empty()) {
    throw_edit_error(edit,
                     edit.kind == EditKind::remove ? "a removal has no text" : "there is no text");
  }
  const SourceLocation location = there.location;
  const std::uint32_t line = there.ptx_line;
  const bool after = edit.kind == EditKind::insert_after;
  splice(module, function, edit, change.index + (after ? 1 : 0), is_insertion(edit.kind) ? 0 : 1,
         !after, location, line);
}

std::vector<Change> changes_of(const Module& module, const Function& function, const Edits& edits) {
  std::vector<Change> changes;
  for (const ProgramEdit& edit : edits) {
    if (!concerns(module, edit)) continue;
    if (const auto* const at = std::get_if<InstructionPlace>(&edit.place)) {
      if (at->function != function.name) continue;
      if (at->index >= function.body.size()) {
        throw_edit_error(edit,
                         fmt::format("the function has {} instructions", function.body.size()));
      }
      changes.push_back({at->index, &edit});
      continue;
    }
    const auto& place = std::get<LinePlace>(edit.place);
    for (const std::uint32_t index : instructions_at(module, function, place, edit.kind)) {
      changes.push_back({index, &edit});
    }
  }
  // From the end, so that the indices of what remains to be done stay true; of several changes at
  // one instruction, what comes behind it first, and insertions before it last.
  const auto rank = [](const Change& change) {
    return change.edit->kind == EditKind::insert_after    ? 0
           : change.edit->kind == EditKind::insert_before ? 2
                                                          : 1;
  };
  std::ranges::stable_sort(changes, [&](const Change& a, const Change& b) {
    return std::pair(b.index, rank(a)) < std::pair(a.index, rank(b));
  });
  return changes;
}

}  // namespace

bool has_mnemonic(std::string_view text, std::string_view mnemonic) {
  if (!text.starts_with(mnemonic)) return false;
  return text.size() == mnemonic.size() || text[mnemonic.size()] == '.';
}

bool is_at(const Module& module, const SourceLocation& location, std::string_view file,
           std::uint32_t line) {
  if (location.line != line || location.file >= module.files.size()) return false;
  const std::string_view name = module.files[location.file];
  const auto ends_in = [](std::string_view path, std::string_view end) {
    if (!path.ends_with(end)) return false;
    return path.size() == end.size() || path[path.size() - end.size() - 1] == '/';
  };
  return !file.empty() && (ends_in(name, file) || ends_in(file, name));
}

std::vector<std::uint32_t> instructions_at(const Module& module, const Function& function,
                                           const LinePlace& place, EditKind kind) {
  if (!place.function.empty() && place.function != function.name) return {};
  std::vector<std::uint32_t> all;
  for (std::uint32_t at = 0; at < function.body.size(); ++at) {
    const Instruction& instruction = function.body[at];
    if (!is_at(module, instruction.location, place.file, place.line)) continue;
    if (!place.mnemonic.empty() && !has_mnemonic(instruction.text, place.mnemonic)) continue;
    all.push_back(at);
  }
  if (!is_insertion(kind) || !place.mnemonic.empty()) return all;
  return ends_of_pieces(function, all, kind);
}

std::size_t apply_edits(Module& module, const Edits& edits) {
  std::size_t changed = 0;
  for (Function& function : module.functions) {
    if (!function.has_body) continue;
    const std::vector<Change> changes = changes_of(module, function, edits);
    for (const Change& change : changes) make(module, function, change);
    changed += changes.size();
  }
  return changed;
}

std::string describe(const ProgramEdit& edit) {
  const auto* const line = std::get_if<LinePlace>(&edit.place);
  const std::string which =
      line == nullptr || line->mnemonic.empty() ? "" : line->mnemonic + " of ";
  const std::string place = which + place_text(edit);
  switch (edit.kind) {
    case EditKind::insert_before: return fmt::format("insert '{}' before {}", edit.text, place);
    case EditKind::insert_after: return fmt::format("insert '{}' after {}", edit.text, place);
    case EditKind::replace: return fmt::format("replace {} by '{}'", place, edit.text);
    case EditKind::remove: return fmt::format("remove {}", place);
    case EditKind::respell: return fmt::format("make {} '{}'", place, edit.text);
  }
  return place;
}

}  // namespace warpcheck::ptx
