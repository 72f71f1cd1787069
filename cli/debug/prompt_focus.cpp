// The commands of the prompt that choose a thread: its block, thread, warp and lane.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "cli/debug/prompt.hpp"
#include "cli/debug/prompt_words.hpp"
#include "vgpu/program/dim3_text.hpp"
#include "vgpu/program/warp_rows.hpp"

namespace warpcheck::debug {

using vgpu::kWarpLanes;

namespace {

constexpr std::array<std::string_view, 6> kParts{"kernel", "grid", "block",
                                                 "thread", "warp", "lane"};

bool is_part(std::string_view word) { return std::ranges::find(kParts, word) != kParts.end(); }

// "block(1, 0, 0), thread 3" is "block", "(1,0,0)", "thread", "3".
std::vector<std::string> words_of_focus(std::string_view line) {
  std::string text;
  bool is_inside = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char letter = line[i];
    if (letter == '(') text += ' ';
    if (letter == '(' || letter == ')') is_inside = letter == '(';
    const bool separates =
        letter == ',' && !is_inside && (i + 1 == line.size() || line[i + 1] == ' ');
    if (is_inside && letter == ' ') continue;
    text += separates ? ' ' : letter;
  }
  return words_of(text);
}

// The thread of a block that a warp or a lane names, the other staying as it is.
Dim3 thread_of(std::string_view part, std::uint64_t number, const Dim3& block, const Dim3& thread) {
  const std::uint32_t now = block.linear(thread);
  const std::uint64_t linear = part == "lane" ? now / kWarpLanes * kWarpLanes + number
                                              : number * kWarpLanes + now % kWarpLanes;
  if ((part == "lane" && number >= kWarpLanes) || number >= block.count() ||
      linear >= block.count()) {
    throw DebugError(fmt::format("there is no {} {}", part, number));
  }
  return block.position_of(static_cast<std::uint32_t>(linear));
}

}  // namespace

void Prompt::show_focus() {
  const Stop& stop = session_.stop();
  const std::uint32_t linear = stop.block.linear(stop.focus.thread);
  write_(fmt::format("launch {}: {}, grid {} block {}\nblock {} thread {}, warp {} lane {}\n",
                     stop.launch, stop.kernel, triple(stop.grid), triple(stop.block),
                     triple(stop.focus.block), triple(stop.focus.thread), linear / kWarpLanes,
                     linear % kWarpLanes));
}

// "block 3 thread 17", "thread (1,0,0)", "lane 5": what is not named stays.  Names without numbers
// show the focus, as in cuda-gdb.
void Prompt::focus(const std::string& rest) {
  const Stop& stop = running();
  std::vector<std::string> words = words_of_focus(rest);
  if (!words.empty() && !is_part(words[0])) words.erase(words.begin());  // "focus", "cuda"
  if (std::ranges::all_of(words, is_part)) return show_focus();
  Thread thread = stop.focus;
  for (std::size_t i = 0; i < words.size(); i += 2) {
    const std::string& part = words[i];
    if (!is_part(part)) {
      throw DebugError(
          fmt::format("block, thread, warp or lane, not '{}': a thread has no other "
                      "place on the virtual GPU",
                      part));
    }
    if (i + 1 == words.size()) throw DebugError(fmt::format("{} needs a number", part));
    const std::string& where = words[i + 1];
    if (part == "thread" && where == "apply") {
      throw DebugError(
          "what all threads do is shown by: info threads; a value of each lane by: "
          "lanes EXPR");
    }
    if (part == "block") {
      thread.block = position_of(where, stop.grid, part);
    } else if (part == "thread") {
      thread.thread = position_of(where, stop.block, part);
    } else if (part == "kernel" || part == "grid") {
      if (number_of(where, part) == stop.launch) continue;
      throw DebugError(
          fmt::format("launch {} is running: others have ended, or have not begun", stop.launch));
    } else {
      thread.thread = thread_of(part, number_of(where, part), stop.block, thread.thread);
    }
  }
  session_.set_focus(thread);
  choose_frame();
  const CodeLocation at = session_.frames(thread)[frame_].at;
  write_(fmt::format("block {} thread {}\n{}:{}  {}\n    {}  {}\n", triple(thread.block),
                     triple(thread.thread), file_name(at.file), at.line,
                     trimmed_line(at.file, at.line), at.pc, at.instruction));
}

}  // namespace warpcheck::debug
