// The commands of the prompt that show the state at a stop.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <span>

#include "cli/debug/prompt.hpp"
#include "cli/debug/prompt_words.hpp"
#include "vgpu/check/finding_groups.hpp"
#include "vgpu/program/dim3_text.hpp"
#include "vgpu/program/warp_rows.hpp"
#include "vgpu/text/counted.hpp"

namespace warpcheck::debug {

using vgpu::kWarpLanes;

namespace {

// The format letter behind a slash: "/x EXPR".
struct Formatted {
  Format format = Format::natural;
  std::string rest;
};
Formatted formatted(const std::string& rest) {
  if (!rest.starts_with('/')) return {Format::natural, rest};
  const auto [letter, expression] = first_word(rest);
  const std::optional<Format> format = format_of(letter.substr(1));
  if (!format) throw DebugError(fmt::format("unknown format '{}': /d, /x, /f or /t", letter));
  return {*format, expression};
}

}  // namespace

void Prompt::backtrace(const std::string&) {
  const std::vector<Frame> frames = session_.frames(session_.stop().focus);
  for (std::size_t i = 0; i < frames.size(); ++i) {
    write_(fmt::format("{} #{} {} at {}:{}\n", i == frame_ ? '*' : ' ', i, frame_name(frames[i]),
                       file_name(frames[i].at.file), frames[i].at.line));
  }
}

void Prompt::frame(const std::string& rest) {
  const std::vector<Frame> frames = session_.frames(session_.stop().focus);
  const std::uint64_t number = rest.empty() ? frame_ : number_of(rest, "a frame");
  if (number >= frames.size()) {
    throw DebugError(fmt::format("no frame {}: the stack has {}, from 0", number,
                                 counted(frames.size(), "frame")));
  }
  frame_ = number;
  const CodeLocation& at = frames[frame_].at;
  write_(fmt::format("#{} {} at {}:{}  {}\n", frame_, frame_name(frames[frame_]),
                     file_name(at.file), at.line, trimmed_line(at.file, at.line)));
}

void Prompt::up(const std::string&) {
  if (frame_ + 1 >= session_.frames(session_.stop().focus).size()) {
    throw DebugError("this is the outermost frame");
  }
  frame(std::to_string(frame_ + 1));
}
void Prompt::down(const std::string&) {
  if (frame_ == 0) throw DebugError("this is the innermost frame");
  frame(std::to_string(frame_ - 1));
}

// What `print` says of "/x EXPR" or of a register.
std::string Prompt::text_of_print(const std::string& rest) {
  const auto [format, expression] = formatted(rest);
  const bool is_register =
      expression.starts_with('%') && expression.find_first_of(" +-*/[]().") == std::string::npos;
  if (is_register && format == Format::natural) {
    const std::vector<Frame> frames = session_.frames(session_.stop().focus);
    const std::uint32_t physical = frame_ < frames.size() ? frames[frame_].physical : 0;
    if (const auto found = session_.register_of(session_.stop().focus, expression, physical)) {
      return text_of_register(*found, inspector_.are_written({*found}, here()).front());
    }
  }
  return inspector_.evaluate(expression, here(), format).text + "\n";
}

void Prompt::print(const std::string& rest) {
  if (formatted(rest).rest.empty()) {
    throw DebugError("print what? an expression, or a register: print %r1");
  }
  write_(text_of_print(rest));
}

// At each stop from now on, and now.
void Prompt::display(const std::string& rest) {
  if (rest.empty()) return show_displays("");
  const int number = displays_.empty() ? 1 : displays_.rbegin()->first + 1;
  displays_[number] = rest;
  if (session_.stop().has_location) write_(text_of_display(number));
}

std::string Prompt::text_of_display(int number) {
  const std::string& rest = displays_.at(number);
  try {
    const std::string text = text_of_print(rest);
    const bool has_name = text.starts_with(rest + " ");  // a register's
    return fmt::format("{}: {}{}", number, has_name ? "" : rest + " = ", text);
  } catch (const DebugError& error) {
    return fmt::format("{}: {}: {}\n", number, rest, error.what());
  }
}

void Prompt::show_displays(const std::string&) {
  if (displays_.empty()) return write_("nothing is displayed at each stop; see: help display\n");
  for (const auto& [number, rest] : displays_) {
    write_(session_.stop().has_location ? text_of_display(number)
                                        : fmt::format("{}: {}\n", number, rest));
  }
}

void Prompt::undisplay(const std::string& rest) {
  if (rest.empty()) return displays_.clear();
  for (const std::string& word : words_of(rest)) {
    const auto number = static_cast<int>(number_of(word, "a display"));
    if (displays_.erase(number) == 0) {
      throw DebugError(fmt::format("there is no display {}; see: info display", number));
    }
  }
}

void Prompt::lanes(const std::string& rest) {
  const auto [format, expression] = formatted(rest);
  if (expression.empty()) throw DebugError("lanes of what? an expression: lanes t");
  const auto values = inspector_.lanes(expression, here(), format);
  const Stop& stop = session_.stop();
  const std::uint32_t first = stop.block.linear(stop.focus.thread) / kWarpLanes * kWarpLanes;
  const bool has_value = std::ranges::any_of(
      values, [](const Inspector::LaneValue& each) { return !each.text.empty(); });
  // Then what is wrong is said once.
  if (!has_value) write_(inspector_.evaluate(expression, here(), format).text + "\n");
  for (std::size_t lane = 0; lane < values.size() && first + lane < stop.block.count(); ++lane) {
    const auto& [text, note] = values[lane];
    if (!text.empty()) {
      write_(fmt::format("lane {:>2}: {}{}\n", lane, text, note.empty() ? "" : "  (" + note + ")"));
    } else if (!note.empty()) {
      write_(fmt::format("lane {:>2}: ({})\n", lane, note));
    }
  }
}

void Prompt::ptype(const std::string& rest) { write_(inspector_.declaration(rest, here()) + "\n"); }

namespace {

// "/4xw": count, format, bytes of an element.
struct ExamineLetters {
  std::uint64_t count = 1, bytes = 4;
  char format = 'x';
};
ExamineLetters letters_of(std::string_view letters) {
  ExamineLetters found;
  std::string digits;
  for (const char letter : letters) {
    if (std::isdigit(static_cast<unsigned char>(letter)) != 0) {
      digits += letter;
    } else if (std::string_view("bhwg").find(letter) != std::string_view::npos) {
      found.bytes = letter == 'b' ? 1 : letter == 'h' ? 2 : letter == 'w' ? 4 : 8;
    } else if (std::string_view("xdufi").find(letter) != std::string_view::npos) {
      found.format = letter;
    } else {
      throw DebugError(fmt::format("unknown format '{}': x, d, u, f or i; b, h, w or g", letter));
    }
  }
  if (!digits.empty()) found.count = number_of(digits, "the count");
  return found;
}

std::string text_of_element(const std::byte* bytes, std::uint64_t size, char format) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, bytes, size);
  const auto unused = static_cast<unsigned>(64 - 8 * size);
  if (format == 'd') return std::to_string(static_cast<std::int64_t>(bits << unused) >> unused);
  if (format == 'u') return std::to_string(bits);
  if (format == 'f' && size == 8) return fmt::format("{}", std::bit_cast<double>(bits));
  if (format == 'f' && size == 4) {
    return fmt::format("{}", std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
  }
  return fmt::format("{:#x}", bits);
}

}  // namespace

// "shared 16", "0xf0000000000", or an expression.
Place Prompt::place_to_examine(const std::string& text) {
  const std::vector<std::string> words = words_of(text);
  Place place{.thread = session_.stop().focus};
  const auto space = [&](std::string_view name, Space value) {
    if (words.size() != 2 || words[0] != name) return false;
    place.space = value;
    place.offset = number_of(words[1], "the place");
    return true;
  };
  if (words.size() == 1 && words[0].starts_with("0x")) {
    return session_.resolve(place.thread, number_of(words[0], "the address"));
  }
  if (space("shared", Space::shared) || space("global", Space::global) ||
      space("local", Space::local) || space("constant", Space::constant) ||
      space("param", Space::parameter)) {
    return place;
  }
  if (text.empty()) throw DebugError("x what? shared 16, global 0x.., or an expression");
  return inspector_.place_of(text, here());
}

void Prompt::examine(const std::string& rest) {
  ExamineLetters letters;
  std::string text = rest;
  if (rest.starts_with('/')) {
    const auto [word, after] = first_word(rest);
    letters = letters_of(std::string_view(word).substr(1));
    text = after;
  }
  const std::uint64_t bytes = letters.bytes;
  if (letters.format == 'i') return list_instructions(text, letters.count);
  const Place place = place_to_examine(text);
  const Memory memory = session_.memory(place, letters.count * bytes);
  for (std::uint64_t i = 0; (i + 1) * bytes <= memory.bytes.size(); ++i) {
    const auto unwritten = std::span(memory.unwritten).subspan(i * bytes, bytes);
    const bool is_written = std::ranges::all_of(unwritten, [](auto bits) { return bits == 0; });
    const bool is_partly = std::ranges::any_of(unwritten, [](auto bits) { return bits != 0xff; });
    write_(fmt::format("{:#x}: {}{}\n", place.offset + i * bytes,
                       text_of_element(&memory.bytes[i * bytes], bytes, letters.format),
                       is_written  ? ""
                       : is_partly ? "  partly not written"
                                   : "  not written"));
  }
  if (!memory.why_short.empty()) write_(memory.why_short + "\n");
}

}  // namespace warpcheck::debug
