// The commands of the prompt that show code: source lines and instructions.
#include <fmt/format.h>

#include <algorithm>

#include "cli/debug/prompt.hpp"
#include "cli/debug/prompt_words.hpp"

namespace warpcheck::debug {
namespace {

constexpr std::uint32_t kLines = 10;

std::uint32_t line_number(std::string_view word) {
  return static_cast<std::uint32_t>(number_of(word, "a line"));
}

std::uint32_t first_around(std::uint32_t line) { return line > kLines / 2 ? line - kLines / 2 : 1; }

}  // namespace

// A source file by its name, or by the end of its path.
std::string Prompt::source_named(std::string_view name) {
  for (const std::string& file : session_.source_files()) {
    if (file == name || file.ends_with("/" + std::string(name))) return file;
  }
  throw DebugError(fmt::format("no kernel so far has code of {}; see: info sources", name));
}

// "14", "10,20", ",20", "10,", "-", "scan.cu:14", "function"; nothing: what follows.
Prompt::Lines Prompt::lines_to_list(const std::string& rest, const CodeLocation& at) {
  if (rest.empty()) {
    if (listed_.last != 0) {
      return {listed_.file, listed_.last + 1, listed_.last + kLines};
    }
    return {at.file, first_around(at.line), first_around(at.line) + kLines - 1};
  }
  if (rest == "-") {
    const std::uint32_t end = listed_.last == 0 ? at.line : listed_.first;
    if (end <= 1) throw DebugError("the file begins there");
    return {listed_.last == 0 ? at.file : listed_.file, end > kLines ? end - kLines : 1, end - 1};
  }
  if (const std::size_t comma = rest.find(','); comma != std::string::npos) {
    const std::string begin = first_word(rest.substr(0, comma)).word;
    const std::string end = first_word(rest.substr(comma + 1)).word;
    const std::uint32_t first = begin.empty() ? 0 : line_number(begin);
    const std::uint32_t last = end.empty() ? first + kLines - 1 : line_number(end);
    if (!begin.empty()) return {at.file, std::max(first, 1u), last};
    return {at.file, last >= kLines ? last - kLines + 1 : 1, last};
  }
  std::string file = at.file;
  std::uint32_t middle = 0;
  const std::size_t colon = rest.rfind(':');
  if (is_number(rest)) {
    middle = line_number(rest);
  } else if (colon != std::string::npos && is_number(rest.substr(colon + 1))) {
    file = source_named(rest.substr(0, colon));
    middle = line_number(rest.substr(colon + 1));
  } else {
    for (const KernelText::Instruction& each : session_.kernel_text().instructions) {
      if (middle != 0 || each.at.function.find(rest) == std::string::npos) continue;
      file = each.at.file;
      middle = each.at.line;
    }
    if (middle == 0) {
      throw DebugError(
          fmt::format("list what? LINE, FIRST,LAST, FILE:LINE or a function of the "
                      "kernel (info functions), not '{}'",
                      rest));
    }
  }
  return {file, first_around(middle), first_around(middle) + kLines - 1};
}

void Prompt::list(const std::string& rest) {
  const std::vector<Frame> frames = session_.frames(session_.stop().focus);
  const CodeLocation& at = frames[std::min(frame_, frames.size() - 1)].at;
  if (at.file.empty()) {
    throw DebugError("the code has no source lines (nvcc -lineinfo); see: disassemble");
  }
  const Lines lines = lines_to_list(rest, at);
  const std::uint32_t count = source_lines_of(lines.file);
  if (count == 0) throw DebugError(fmt::format("{} cannot be read", lines.file));
  if (lines.first > count) {
    throw DebugError(fmt::format("{} has {} lines", file_name(lines.file), count));
  }
  for (std::uint32_t line = lines.first; line <= std::min(lines.last, count); ++line) {
    const bool is_here = line == at.line && lines.file == at.file;
    write_(
        fmt::format("{}{:>5}  {}\n", is_here ? "=>" : "  ", line, source_line(lines.file, line)));
  }
  listed_ = lines;
}

void Prompt::disassemble(const std::string&) {
  constexpr std::uint32_t kAround = 8;
  const std::uint32_t pc = session_.frames(session_.stop().focus).front().at.pc;
  show_instructions(pc > kAround ? pc - kAround : 0, pc + kAround);
}

// x/3i: from the next instruction on, or from one by its number.
void Prompt::list_instructions(const std::string& place, std::uint64_t count) {
  const std::uint32_t pc = session_.frames(session_.stop().focus).front().at.pc;
  const bool is_here = place.empty() || place == "$pc";
  const auto first =
      is_here ? pc : static_cast<std::uint32_t>(number_of(place, "the number of an instruction"));
  show_instructions(first,
                    first + static_cast<std::uint32_t>(std::max<std::uint64_t>(count, 1)) - 1);
}

// With the source lines that they are of.
void Prompt::show_instructions(std::uint32_t first, std::uint32_t last) {
  const std::uint32_t here = session_.frames(session_.stop().focus).front().at.pc;
  const KernelText& text = session_.kernel_text();
  std::uint32_t line = 0;
  for (std::uint32_t pc = first; pc <= last && pc < text.instructions.size(); ++pc) {
    const CodeLocation& at = text.instructions[pc].at;
    if (at.line != line) {
      line = at.line;
      write_(
          fmt::format("{}:{}  {}\n", file_name(at.file), at.line, source_line(at.file, at.line)));
    }
    write_(fmt::format("{} {:>5}  {}\n", pc == here ? "=>" : "  ", pc, at.instruction));
  }
}

}  // namespace warpcheck::debug
