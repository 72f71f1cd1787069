#include "cli/debug/dap/memory_requests.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <span>
#include <utility>

namespace warpcheck::dap {
namespace {

using debug::Place;
using debug::Space;

constexpr std::pair<Space, std::string_view> kSpaces[] = {{Space::global, "global"},
                                                          {Space::shared, "shared"},
                                                          {Space::local, "local"},
                                                          {Space::constant, "constant"},
                                                          {Space::parameter, "parameter"}};
constexpr std::int64_t kBytesMax = 1 << 20;         // of one readMemory
constexpr std::int64_t kInstructionsMax = 100'000;  // of one disassemble
constexpr int kHex = 16;

bool belongs_to_thread(Space space) { return space == Space::shared || space == Space::local; }

std::string numbers_of(const Dim3& at) { return fmt::format("{},{},{}", at.x, at.y, at.z); }

// Takes a number and what follows it, if that is expected there.
bool take(std::string_view& text, auto& number, int base, std::string_view end) {
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  if (error != std::errc{}) return false;
  text.remove_prefix(static_cast<std::size_t>(rest - text.data()));
  if (!text.starts_with(end)) return false;
  text.remove_prefix(end.size());
  return true;
}

bool take(std::string_view& text, Dim3& at, std::string_view end) {
  return take(text, at.x, 10, ",") && take(text, at.y, 10, ",") && take(text, at.z, 10, end);
}

bool take_prefix(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

std::string base64(std::span<const std::byte> bytes) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t begin = 0; begin < bytes.size(); begin += 3) {
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - begin);
    std::uint32_t bits = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      bits = bits << 8 | (i < count ? std::to_integer<std::uint32_t>(bytes[begin + i]) : 0);
    }
    for (std::size_t i = 0; i < 4; ++i) {
      text += i <= count ? kDigits[bits >> (18 - 6 * i) & 63] : '=';
    }
  }
  return text;
}

Answer read_memory(NumberedSession& debuggee, const Arguments& arguments) {
  Place place = place_of(arguments.text("memoryReference"));
  const std::int64_t count = arguments.integer("count");
  if (count < 0) arguments.refuse("count", "a number of bytes");
  place.offset += static_cast<std::uint64_t>(arguments.integer_or("offset", 0));
  const debug::Memory memory = debuggee.stopped_session().memory(
      place, static_cast<std::uint64_t>(std::min(count, kBytesMax)));
  Json body = {{"address", fmt::format("0x{:x}", place.offset)}, {"data", base64(memory.bytes)}};
  const auto read = static_cast<std::int64_t>(memory.bytes.size());
  if (!memory.why_short.empty()) body["unreadableBytes"] = count - read;
  return body;
}

Json shown_instruction(const debug::KernelText& text, std::int64_t pc, const Sources& sources,
                       std::string& file) {
  Json json = {{"address", code_reference(pc)}};
  if (pc < 0 || pc >= static_cast<std::int64_t>(text.instructions.size())) {
    json["instruction"] = "";
    json["presentationHint"] = "invalid";
    return json;
  }
  const debug::CodeLocation& at = text.instructions[static_cast<std::size_t>(pc)].at;
  json["instruction"] = at.instruction;
  if (!at.function.empty()) json["symbol"] = at.function;
  if (at.file.empty()) return json;
  // A file is named where it changes.
  if (std::exchange(file, at.file) != at.file) json["location"] = sources.source_of(at.file);
  json["line"] = sources.to_client(at.line);
  return json;
}

Answer disassemble(NumberedSession& debuggee, const Sources& sources, const Arguments& arguments) {
  // Every instruction has one address, so both offsets count the same.
  const std::int64_t pc = instruction_in(arguments, "memoryReference") +
                          arguments.integer_or("offset", 0) +
                          arguments.integer_or("instructionOffset", 0);
  const std::int64_t count = arguments.integer("instructionCount");
  if (count < 0 || count > kInstructionsMax) {
    arguments.refuse("instructionCount", fmt::format("0 to {}", kInstructionsMax));
  }
  const debug::KernelText& kernel = debuggee.stopped_session().kernel_text();
  Json instructions = Json::array();
  std::string file;
  for (std::int64_t i = 0; i < count; ++i) {
    instructions.push_back(shown_instruction(kernel, pc + i, sources, file));
  }
  return Json{{"instructions", std::move(instructions)}};
}

}  // namespace

std::string memory_reference(const Place& place) {
  const auto space =
      std::ranges::find(kSpaces, place.space, &std::pair<Space, std::string_view>::first);
  std::string text = fmt::format("{}:0x{:x}", space->second, place.offset);
  if (belongs_to_thread(place.space)) {
    text += fmt::format(":{}:{}", numbers_of(place.thread.block), numbers_of(place.thread.thread));
  }
  return text;
}

Place place_of(std::string_view reference) {
  for (const auto& [space, name] : kSpaces) {
    std::string_view rest = reference;
    if (!take_prefix(rest, name) || !take_prefix(rest, ":0x")) continue;
    Place place{.space = space, .offset = 0, .thread = {}};
    const bool is_place = belongs_to_thread(space) ? take(rest, place.offset, kHex, ":") &&
                                                         take(rest, place.thread.block, ":") &&
                                                         take(rest, place.thread.thread, "")
                                                   : take(rest, place.offset, kHex, "");
    if (is_place && rest.empty()) return place;
  }
  throw RequestError(fmt::format(
      "memoryReference: expected the place of a variable, \"global:0x10\", found \"{}\"",
      reference));
}

std::string code_reference(std::int64_t pc) {
  return pc < 0 ? fmt::format("-0x{:x}", -pc) : fmt::format("0x{:x}", pc);
}

std::int64_t instruction_in(const Arguments& arguments, const char* name) {
  const std::string text = arguments.text(name);
  std::string_view reference = text;
  std::int64_t pc = 0;
  if (!take_prefix(reference, "0x") || !take(reference, pc, kHex, "") || !reference.empty()) {
    arguments.refuse(name, "an instruction, as a frame names it");
  }
  return pc;
}

void add_memory_requests(Handlers& handlers, NumberedSession& debuggee, const Sources& sources) {
  handlers["readMemory"] = [&](const Arguments& arguments) {
    return read_memory(debuggee, arguments);
  };
  handlers["disassemble"] = [&](const Arguments& arguments) {
    return disassemble(debuggee, sources, arguments);
  };
}

}  // namespace warpcheck::dap
