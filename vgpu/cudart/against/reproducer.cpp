#include "vgpu/cudart/against/reproducer.hpp"

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "vgpu/text/trimmed.hpp"

namespace warpcheck::cudart {
namespace {

using Lines = std::vector<std::string_view>;

// The mnemonic of a line, "mul.f32"; its guard is left out.
std::string_view mnemonic_of(std::string_view line) {
  std::string_view text = trimmed(line);
  if (text.starts_with('@')) {
    const std::size_t space = text.find_first_of(" \t");
    text = space == std::string_view::npos ? std::string_view{} : trimmed(text.substr(space));
  }
  return text.substr(0, text.find_first_of(" \t;"));
}

bool may_be_contracted(std::string_view mnemonic) {
  const bool is_operation =
      mnemonic.starts_with("add.") || mnemonic.starts_with("sub.") || mnemonic.starts_with("mul.");
  if (!is_operation) return false;
  for (const std::string_view rounding : {".rn", ".rz", ".rm", ".rp"}) {
    if (mnemonic.find(rounding) != std::string_view::npos) return false;
  }
  const auto has = [&](std::string_view type) { return mnemonic.find(type) != std::string::npos; };
  return has(".f32") || has(".f64") || has(".f16") || has(".bf16");
}

bool is_debug(std::string_view line) {
  const std::string_view text = trimmed(line);
  return text.starts_with(".loc") || text.starts_with(".file") || text.starts_with("//");
}

// The first instruction of a line, and what ends it: a line of `asm` may have several, in braces.
std::string_view first_instruction(std::string_view line) {
  if (is_debug(line)) return line;
  return line.substr(0, std::min(line.find_first_of(";{}"), line.size() - 1) + 1);
}

int braces(std::string_view line) {
  return static_cast<int>(std::ranges::count(line, '{') - std::ranges::count(line, '}'));
}

// A top-level item of a module, such as a function with its body.
struct Item {
  std::size_t begin = 0, end = 0;  // lines
  bool is_function = false, is_section = false, has_body = false;
};

std::vector<Item> items_of(const Lines& lines) {
  std::vector<Item> items;
  int depth = 0;
  Item open;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string_view text = trimmed(lines[i]);
    if (depth == 0 && open.begin == i) {
      open.is_function = text.find(".entry") != std::string_view::npos ||
                         text.find(".func") != std::string_view::npos;
      open.is_section = text.starts_with(".section");
    }
    depth += braces(text);
    open.has_body |= open.is_function && depth > 0;
    const bool is_long = open.is_function || open.is_section;
    if (depth != 0 || (is_long && !text.ends_with(';') && !text.ends_with('}'))) continue;
    open.end = i + 1;
    items.push_back(open);
    open = {.begin = i + 1};
  }
  return items;
}

bool names(std::string_view text, std::string_view word) {
  for (std::size_t at = text.find(word); at != std::string_view::npos;
       at = text.find(word, at + 1)) {
    const auto is_part = [&](std::size_t i) {
      return i < text.size() && (std::isalnum(static_cast<unsigned char>(text[i])) != 0 ||
                                 text[i] == '_' || text[i] == '$');
    };
    if ((at == 0 || !is_part(at - 1)) && !is_part(at + word.size())) return true;
  }
  return false;
}

// Statements: instructions, or blocks in braces, each of which can be removed as a whole.
std::vector<std::string> statements_of(std::span<const std::string_view> body) {
  std::vector<std::string> statements;
  int depth = 0;
  std::string open;
  for (const std::string_view line : body) {
    if (is_debug(line) || trimmed(line).empty()) continue;
    open += std::string(line) + "\n";
    depth += braces(line);
    const std::string_view text = trimmed(line);
    if (depth == 0 && (text.ends_with(';') || text.ends_with('}') || text.ends_with(':'))) {
      statements.push_back(std::move(open));
      open.clear();
    }
  }
  if (!open.empty()) statements.push_back(std::move(open));
  return statements;
}

// Labels and declarations stay: what refers to them may be removed.
bool can_be_removed(std::string_view statement) {
  const std::string_view text = trimmed(statement.substr(0, statement.find('\n')));
  return !text.ends_with(':') && !text.starts_with('.') && !text.starts_with("ret") &&
         text.find(": .") == std::string_view::npos;
}

void mark(std::span<const std::string> statements, std::string& marked) {
  if (statements.size() == 1) {
    const bool removable = can_be_removed(statements[0]);
    marked += (removable ? "//+\n" : "") + statements[0] + (removable ? "//-\n" : "");
    return;
  }
  const std::size_t half = statements.size() / 2;
  for (const auto part : {statements.first(half), statements.subspan(half)}) {
    const bool is_block = part.size() > 1 && std::ranges::all_of(part, can_be_removed);
    if (is_block) marked += "//+\n";
    if (!part.empty()) mark(part, marked);
    if (is_block) marked += "//-\n";
  }
}

// Returns the registers of an instruction, the destination first.
std::vector<std::string_view> registers_of(std::string_view line) {
  std::vector<std::string_view> registers;
  for (std::size_t at = line.find('%'); at != std::string_view::npos; at = line.find('%', at + 1)) {
    const std::size_t end = line.find_first_of(" ,;]})|", at);
    registers.push_back(line.substr(at, std::min(end, line.size()) - at));
  }
  return registers;
}

// Returns "%rd" of "%rd4".
std::string_view bank_of(std::string_view reg) {
  return reg.substr(0, reg.find_first_of("0123456789"));
}

// nvcc names registers by their types.
std::string_view type_of_bank(std::string_view bank) {
  if (bank == "%r") return "b32";
  if (bank == "%rd") return "b64";
  if (bank == "%rs") return "b16";
  if (bank == "%f") return "f32";
  return bank == "%fd" ? "f64" : "";
}

}  // namespace

std::vector<std::string> with_copies(std::string_view ptx) {
  std::vector<std::string> texts;
  for (const std::string_view line : split(ptx, '\n')) {
    const std::string_view text = trimmed(line);
    const std::string_view mnemonic = mnemonic_of(line);
    const bool computes = !mnemonic.empty() && !mnemonic.starts_with('.') && text.ends_with(';') &&
                          !text.starts_with('@') && !mnemonic.starts_with("mov") &&
                          text.find('[') == std::string_view::npos;
    if (!computes) continue;
    const std::vector<std::string_view> registers = registers_of(text);
    for (std::size_t i = 1; i < registers.size(); ++i) {
      const std::string_view type = type_of_bank(bank_of(registers[0]));
      if (type.empty() || bank_of(registers[i]) != bank_of(registers[0])) continue;
      std::string copy(ptx.substr(0, static_cast<std::size_t>(line.data() - ptx.data())));
      copy.append("mov.").append(type).append(" ").append(registers[0]).append(", ");
      copy.append(registers[i]).append(";");
      copy.append(ptx.substr(static_cast<std::size_t>(line.data() - ptx.data()) + line.size()));
      texts.push_back(std::move(copy));
    }
  }
  return texts;
}

std::string without_contraction(std::string_view ptx) {
  std::string strict;
  for (std::string_view line : split(ptx, '\n')) {
    while (!line.empty()) {
      const std::string_view instruction = first_instruction(line);
      const std::string_view mnemonic = mnemonic_of(instruction);
      const std::size_t dot =
          may_be_contracted(mnemonic)
              ? static_cast<std::size_t>(mnemonic.data() - instruction.data()) + 3
              : instruction.size();
      strict += instruction.substr(0, dot);
      if (dot < instruction.size()) strict += ".rn";
      strict += instruction.substr(dot);
      line.remove_prefix(instruction.size());
    }
    strict += "\n";
  }
  return strict;
}

std::string marked_for_shrinking(std::string_view ptx, std::string_view kernel) {
  const Lines lines = split(ptx.substr(0, ptx.find('\0')), '\n');
  std::string marked;
  for (const Item& item : items_of(lines)) {
    const std::span<const std::string_view> of_item =
        std::span(lines).subspan(item.begin, item.end - item.begin);
    std::size_t open = 0;
    while (open < of_item.size() && of_item[open].find('{') == std::string_view::npos) ++open;
    if (!item.has_body || open == of_item.size()) {
      const std::string_view text = trimmed(of_item.front());
      if (text.starts_with(".section")) continue;
      for (const std::string_view line : of_item) {
        if (!is_debug(line) && !trimmed(line).empty()) marked += std::string(line) + "\n";
      }
      continue;
    }
    std::string head;
    for (const std::string_view line : of_item.first(open + 1)) head += std::string(line) + "\n";
    const bool is_entry = head.find(".entry") != std::string::npos;
    if (is_entry && !names(head, kernel)) continue;
    if (!is_entry) marked += "//+\n";
    marked += head;
    const std::vector<std::string> body =
        statements_of(of_item.subspan(open + 1, of_item.size() - open - 2));
    if (!body.empty()) mark(body, marked);
    marked += "}\n";
    if (!is_entry) marked += "//-\n";
  }
  return marked;
}

std::string without_marks(std::string_view ptx) {
  std::string text;
  for (const std::string_view line : split(ptx, '\n')) {
    if (line != "//+" && line != "//-") text += std::string(line) + "\n";
  }
  return text;
}

}  // namespace warpcheck::cudart
