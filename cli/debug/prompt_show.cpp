// The commands of the prompt that show the state at a stop.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "cli/debug/prompt.hpp"
#include "cli/debug/prompt_words.hpp"
#include "vgpu/check/finding_groups.hpp"
#include "vgpu/program/dim3_text.hpp"
#include "vgpu/program/warp_rows.hpp"
#include "vgpu/text/counted.hpp"

namespace warpcheck::debug {

using vgpu::kWarpLanes;

namespace {

std::string value_of(const Register& one) {
  if (one.type == "pred") return one.bits != 0 ? "true" : "false";
  if (one.type == "f32") {
    return fmt::format("{}", std::bit_cast<float>(static_cast<std::uint32_t>(one.bits)));
  }
  if (one.type == "f64") return fmt::format("{}", std::bit_cast<double>(one.bits));
  if (one.bytes < 8 || one.bits < 1u << 16) {
    const unsigned unused = 64 - 8 * std::max(one.bytes, 1u);
    const auto number = static_cast<std::int64_t>(one.bits << unused) >> unused;
    return fmt::format("{} ({:#x})", number, one.bits);
  }
  return fmt::format("{:#x}", one.bits);
}

std::string text_of(const Register& one, bool is_written) {
  return fmt::format("{:<8} {:<5} {}{}\n", one.name, one.type,
                     is_written ? value_of(one) : "<not written>",
                     one.undefined_bits != 0 ? "  made from what nothing has written" : "");
}

std::string state_of(const LaneState& state) {
  switch (state.kind) {
    case LaneState::Kind::at_barrier: return fmt::format("waits at barrier {}", state.barrier);
    case LaneState::Kind::at_warp_operation: return "waits for lanes of its warp";
    case LaneState::Kind::at_cluster_barrier: return "waits at the cluster's barrier";
    case LaneState::Kind::exited: return "has exited";
    case LaneState::Kind::ready: break;
  }
  return "can run";
}

std::string place_of(const CodeLocation& at) {
  return fmt::format("{}:{}  {}", file_name(at.file), at.line, at.instruction);
}

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

void Prompt::info(const std::string& rest) {
  const auto is = [&](std::string_view name) { return !rest.empty() && name.starts_with(rest); };
  if (is("threads")) return show_threads();
  if (is("warps")) return show_warps();
  if (is("registers")) return show_registers();
  if (is("findings")) return show_findings();
  if (is("breakpoints") || is("watchpoints")) return show_breakpoints();
  if (is("locals") || is("args")) return show_locals();
  if (is("checkpoints")) return write_(session_.checkpoints() + "\n");
  throw DebugError("info threads, warps, registers, findings, breakpoints, locals or checkpoints");
}

// Groups of threads in the same state.
void Prompt::show_threads() {
  const Stop& stop = session_.stop();
  for (const BlockState& block : session_.blocks()) {
    for (const WarpState& warp : block.warps) {
      for (const LaneGroup& group : warp.groups) {
        const std::uint32_t first =
            warp.warp * kWarpLanes + static_cast<std::uint32_t>(std::countr_zero(group.lanes));
        const std::uint32_t last =
            warp.warp * kWarpLanes + 31 - static_cast<std::uint32_t>(std::countl_zero(group.lanes));
        const bool has_focus =
            block.block == stop.focus.block &&
            stop.block.linear(stop.focus.thread) / kWarpLanes == warp.warp &&
            (group.lanes >> stop.block.linear(stop.focus.thread) % kWarpLanes & 1u) != 0;
        const bool has_exited = group.state.kind == LaneState::Kind::exited;
        write_(fmt::format("{} block {} thread {}{}  warp {} lanes {}: {}{}\n",
                           has_focus ? '*' : ' ', triple(block.block),
                           triple(stop.block.position_of(first)),
                           first == last ? "" : " to " + triple(stop.block.position_of(last)),
                           warp.warp, lanes_text(group.lanes), state_of(group.state),
                           has_exited ? "" : " at " + place_of(group.state.at)));
      }
    }
  }
}

void Prompt::show_warps() {
  const Stop& stop = session_.stop();
  for (const BlockState& block : session_.blocks()) {
    write_(fmt::format("block {}, {} passed\n", triple(block.block),
                       counted(block.barriers_passed, "barrier")));
    for (const WarpState& warp : block.warps) {
      std::string text;
      for (const LaneGroup& group : warp.groups) {
        text += fmt::format("{}lanes {} {}", text.empty() ? "" : "; ", lanes_text(group.lanes),
                            state_of(group.state));
      }
      const bool runs = block.block == stop.focus.block && warp.warp == stop.warp;
      write_(fmt::format("{} warp {}: {}\n", runs ? '*' : ' ', warp.warp, text));
    }
  }
}

void Prompt::show_registers() {
  const std::vector<Frame> frames = session_.frames(session_.stop().focus);
  const std::uint32_t physical = frame_ < frames.size() ? frames[frame_].physical : 0;
  const std::vector<Register> all = session_.registers(session_.stop().focus, physical);
  const std::vector<bool> is_written = inspector_.are_written(all, here());
  for (std::size_t i = 0; i < all.size(); ++i) write_(text_of(all[i], is_written[i]));
}

void Prompt::show_findings() {
  const std::vector<FoundFinding> all = session_.findings();
  if (all.empty()) return write_("no findings so far\n");
  for (const FoundFinding& each : all) {
    write_(fmt::format("{:>3} position {}: {}\n", each.index + 1, each.position,
                       vgpu::headline_of(each.finding)));
    for (std::size_t i = 0; i < each.finding.accesses.size(); ++i) {
      const vgpu::AccessSide& side = each.finding.accesses[i];
      write_(fmt::format("      ({}) {} by block {} thread {} at {}:{}\n", i + 1, side.role,
                         triple(side.block), triple(side.thread), file_name(side.file), side.line));
    }
  }
}

void Prompt::show_locals() {
  for (const auto& list : {inspector_.arguments(here()), inspector_.locals(here())}) {
    for (const Inspector::Shown& each : list) {
      write_(fmt::format("{} = {}\n", each.value.name, each.text));
    }
  }
  const std::string missing = inspector_.missing_variables();
  if (!missing.empty()) write_(missing + "\n");
}

// "block 3 thread 17", "thread (1,0,0)", "lane 5": what is not named stays.
void Prompt::focus(const std::string& rest) {
  const Stop& stop = session_.stop();
  if (!stop.has_location) throw DebugError("no kernel is running");
  Thread thread = stop.focus;
  const std::vector<std::string> words = words_of(rest);
  std::size_t i = !words.empty() && words[0] == "focus" ? 1 : 0;
  for (; i + 1 < words.size(); i += 2) {
    const std::string& what = words[i];
    if (what == "block") {
      thread.block = position_of(words[i + 1], stop.grid, what);
    } else if (what == "thread") {
      thread.thread = position_of(words[i + 1], stop.block, what);
    } else if (what == "lane" || what == "warp") {
      const std::uint32_t now = stop.block.linear(thread.thread);
      const auto number = static_cast<std::uint32_t>(number_of(words[i + 1], what));
      const std::uint32_t linear = what == "lane" ? now / kWarpLanes * kWarpLanes + number
                                                  : number * kWarpLanes + now % kWarpLanes;
      if ((what == "lane" && number >= kWarpLanes) || linear >= stop.block.count()) {
        throw DebugError(fmt::format("there is no {} {}", what, number));
      }
      thread.thread = stop.block.position_of(linear);
    } else {
      throw DebugError(fmt::format("block, thread, warp or lane, not '{}'", what));
    }
  }
  if (i < words.size()) throw DebugError(fmt::format("{} needs a number", words[i]));
  session_.set_focus(thread);
  choose_frame();
  const CodeLocation at = session_.frames(thread)[frame_].at;
  write_(fmt::format("block {} thread {}\n{}:{}  {}\n    {}  {}\n", triple(thread.block),
                     triple(thread.thread), file_name(at.file), at.line,
                     trimmed_line(at.file, at.line), at.pc, at.instruction));
}

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

void Prompt::print(const std::string& rest) {
  const auto [format, expression] = formatted(rest);
  if (expression.empty()) throw DebugError("print what? an expression, or a register: print %r1");
  const bool is_register =
      expression.starts_with('%') && expression.find_first_of(" +-*/[]().") == std::string::npos;
  if (is_register && format == Format::natural) {
    const std::vector<Frame> frames = session_.frames(session_.stop().focus);
    const std::uint32_t physical = frame_ < frames.size() ? frames[frame_].physical : 0;
    if (const auto found = session_.register_of(session_.stop().focus, expression, physical)) {
      return write_(text_of(*found, inspector_.are_written({*found}, here()).front()));
    }
  }
  write_(inspector_.evaluate(expression, here(), format).text + "\n");
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

// x/4xd PLACE: count, format (d, x, f; h: half), bytes of an element.
void Prompt::examine(const std::string& rest) {
  std::uint64_t count = 1, bytes = 4;
  char format = 'x';
  std::string place_text = rest;
  if (rest.starts_with('/')) {
    const auto [letters, after] = first_word(rest);
    place_text = after;
    std::string digits;
    for (const char letter : letters.substr(1)) {
      if (std::isdigit(static_cast<unsigned char>(letter)) != 0) {
        digits += letter;
      } else if (std::string_view("bhwg").find(letter) != std::string_view::npos) {
        bytes = letter == 'b' ? 1 : letter == 'h' ? 2 : letter == 'w' ? 4 : 8;
      } else if (std::string_view("xduf").find(letter) != std::string_view::npos) {
        format = letter;
      } else {
        throw DebugError(fmt::format("unknown format '{}': x, d, u or f; b, h, w or g", letter));
      }
    }
    if (!digits.empty()) count = number_of(digits, "the count");
  }
  const std::vector<std::string> words = words_of(place_text);
  Place place{.thread = session_.stop().focus};
  const auto space = [&](std::string_view name, Space value) {
    if (words.size() != 2 || words[0] != name) return false;
    place.space = value;
    place.offset = number_of(words[1], "the place");
    return true;
  };
  if (words.size() == 1 && words[0].starts_with("0x")) {
    place = session_.resolve(place.thread, number_of(words[0], "the address"));
  } else if (!space("shared", Space::shared) && !space("global", Space::global) &&
             !space("local", Space::local) && !space("constant", Space::constant) &&
             !space("param", Space::parameter)) {
    if (place_text.empty()) throw DebugError("x what? shared 16, global 0x.., or an expression");
    place = inspector_.place_of(place_text, here());
  }
  const Memory memory = session_.memory(place, count * bytes);
  for (std::uint64_t i = 0; (i + 1) * bytes <= memory.bytes.size(); ++i) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &memory.bytes[i * bytes], bytes);
    bool is_written = true;
    for (std::uint64_t b = 0; b < bytes; ++b) is_written &= memory.is_written[i * bytes + b];
    std::string value = fmt::format("{:#x}", bits);
    const auto unused = static_cast<unsigned>(64 - 8 * bytes);
    if (format == 'd') value = std::to_string(static_cast<std::int64_t>(bits << unused) >> unused);
    if (format == 'u') value = std::to_string(bits);
    if (format == 'f' && bytes == 8) value = fmt::format("{}", std::bit_cast<double>(bits));
    if (format == 'f' && bytes == 4) {
      value = fmt::format("{}", std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
    }
    write_(fmt::format("{:#x}: {}{}\n", place.offset + i * bytes, value,
                       is_written ? "" : "  not written"));
  }
  if (!memory.why_short.empty()) write_(memory.why_short + "\n");
}

void Prompt::list(const std::string& rest) {
  constexpr std::uint32_t kLines = 10;
  const std::vector<Frame> frames = session_.frames(session_.stop().focus);
  const CodeLocation& at = frames[std::min(frame_, frames.size() - 1)].at;
  std::uint32_t first = listed_ + 1;
  if (!rest.empty() || listed_ == 0) {
    const std::uint64_t middle = rest.empty() ? at.line : number_of(rest, "a line");
    first = static_cast<std::uint32_t>(middle > kLines / 2 ? middle - kLines / 2 : 1);
  }
  const std::uint32_t count = source_lines_of(at.file);
  if (at.file.empty()) {
    throw DebugError("the code has no source lines (nvcc -lineinfo); see: disassemble");
  }
  if (count == 0) throw DebugError(fmt::format("{} cannot be read", at.file));
  for (std::uint32_t line = first; line < first + kLines && line <= count; ++line) {
    write_(fmt::format("{}{:>5}  {}\n", line == at.line ? "=>" : "  ", line,
                       source_line(at.file, line)));
    listed_ = line;
  }
}

void Prompt::disassemble(const std::string&) {
  constexpr std::uint32_t kAround = 8;
  const Frame frame = session_.frames(session_.stop().focus).front();
  const KernelText& text = session_.kernel_text();
  const std::uint32_t here = frame.at.pc;
  std::uint32_t line = 0;
  for (std::uint32_t pc = here > kAround ? here - kAround : 0;
       pc <= here + kAround && pc < text.instructions.size(); ++pc) {
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
