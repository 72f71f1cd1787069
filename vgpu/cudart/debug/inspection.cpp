#include "vgpu/cudart/debug/inspection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <span>

#include "vgpu/machine/undefined/unwritten_memory.hpp"
#include "vgpu/program/emit/frame.hpp"
#include "vgpu/program/instr_text.hpp"
#include "vgpu/program/layout.hpp"

namespace warpcheck::cudart {
namespace {

using nlohmann::json;

DebugThread thread_of(const json& question) {
  return {question.at("block").get<std::uint32_t>(), question.at("thread").get<std::uint32_t>()};
}

ThreadFrame frame_of(const json& question, const ThreadStates& states) {
  const std::vector<ThreadFrame> stack = states.stack_of(states.fragment_of(thread_of(question)));
  const auto number = question.value("frame", std::uint32_t{0});
  if (number >= stack.size()) {
    throw NotThere(fmt::format("the thread has {} frames, no frame {}", stack.size(), number));
  }
  return stack[number];
}

json frames(const json& question, const ThreadStates& states) {
  json answer = json::array();
  for (const ThreadFrame& frame : states.stack_of(states.fragment_of(thread_of(question)))) {
    answer.push_back(
        {{"function", frame.function}, {"pc", frame.pc}, {"local_base", frame.local_base}});
  }
  return answer;
}

json registers(const json& question, const ThreadStates& states) {
  const ThreadFrame frame = frame_of(question, states);
  const DebugThread thread = thread_of(question);
  const unsigned lane = thread.lane();
  const vgpu::FunctionCode& function = states.program().functions[frame.function];
  const vgpu::UndefinedRegisters& undefined = states.warp_of(thread).undefined;
  json answer = json::array();
  if (function.text == nullptr) return answer;
  const vgpu::Frame rows(*function.text, function.param_rows);
  for (std::uint32_t i = 0; i < function.text->registers.size(); ++i) {
    const ptx::Register& one = function.text->registers[i];
    const vgpu::Ref row = rows.row_of(i);
    std::uint64_t bits = 0, unknown = 0;
    std::uint32_t bytes = std::min(ptx::bytes_of(one.type), 8u);
    if (row.bank == vgpu::Bank::predicate) {
      bytes = 1;
      bits = vgpu::read_predicate(frame.banks, row) >> lane & 1u;
      if (undefined.any()) unknown = undefined.get(frame.rows, row).mask >> lane & 1u;
    } else if (row.bank == vgpu::Bank::word || row.bank == vgpu::Bank::wide) {
      if (row.bank == vgpu::Bank::word) {
        bits = vgpu::word_of(frame.banks, row, lane);
      } else {
        std::memcpy(&bits, vgpu::row_of(frame.banks, row) + lane * sizeof bits, sizeof bits);
      }
      if (undefined.any()) unknown = undefined.bits_of(frame.rows, row)[lane];
      // A row is wider than a register of 8 or 16 bits, which may be kept with its sign.
      const std::uint64_t own = ~std::uint64_t{0} >> (64 - 8 * bytes);
      bits &= own;
      unknown &= own;
    } else {
      continue;
    }
    answer.push_back({{"name", one.name},
                      {"type", ptx::name_of(one.type)},
                      {"bytes", bytes},
                      {"bits", bits},
                      {"undefined", unknown}});
  }
  return answer;
}

// Bytes of one allocation, or of the parameters.
struct Range {
  const vgpu::Allocation* allocation = nullptr;  // null: its bytes are all defined
  const std::byte* data = nullptr;
  std::uint64_t offset = 0;  // in the allocation
  std::uint64_t bytes = 0;   // from there to its end
};

Range global_range(const ThreadStates& states, std::uint64_t address) {
  const vgpu::Allocation* const whole = states.launch().memory().find(address);
  if (whole == nullptr) throw NotThere(fmt::format("no memory is at address {:#x}", address));
  const vgpu::Allocation::PartPlace place = whole->place_at(address - whole->address);
  return {place.part, place.part->data + place.offset, place.offset,
          place.part->bytes - place.offset};
}

Range range_of(const json& question, const ThreadStates& states) {
  const std::string space = question.at("space");
  const auto offset = question.at("offset").get<std::uint64_t>();
  if (space == "global" || space == "constant") return global_range(states, offset);
  if (space == "parameter") {
    const std::span<const std::byte> bytes = states.launch().request().parameters;
    if (offset >= bytes.size()) {
      throw NotThere(fmt::format("the parameters have {} bytes", bytes.size()));
    }
    return {nullptr, bytes.data() + offset, offset, bytes.size() - offset};
  }
  const vgpu::Slot& slot = states.slot_of(question.at("block").get<std::uint32_t>());
  if (slot.shared == nullptr || offset >= slot.shared->bytes) {
    throw NotThere(fmt::format("the block has {} bytes of shared memory",
                               slot.shared == nullptr ? 0 : slot.shared->bytes));
  }
  return {slot.shared, slot.shared->data + offset, offset, slot.shared->bytes - offset};
}

// Where a byte of a thread's local memory is: words of all lanes are interleaved.
Range local_byte(const vgpu::Warp& warp, unsigned lane, std::uint64_t offset) {
  if (offset >= warp.local_bytes) {
    throw NotThere(fmt::format("the thread has {} bytes of local memory", warp.local_bytes));
  }
  const vgpu::Allocation* piece = warp.local;
  std::uint64_t begin = 0;
  for (const vgpu::Warp::LocalPiece& beyond : warp.local_beyond) {
    if (offset < beyond.begin) break;
    piece = beyond.allocation;
    begin = beyond.begin;
  }
  const std::uint64_t at = (offset - begin) / 4 * (4 * vgpu::kWarpLanes) + lane * 4 + offset % 4;
  return {piece, piece->data + at, at, 1};
}

// Appends bytes and the undefined bits of each.
void append(const Range& range, std::uint64_t count, const ThreadStates& states,
            std::vector<std::byte>& bytes, std::string& undefined) {
  bytes.insert(bytes.end(), range.data, range.data + count);
  std::vector<std::uint8_t> bits;
  auto* const memory =
      dynamic_cast<vgpu::UnwrittenMemory*>(states.launch().observers().undefined_memory);
  if (memory != nullptr && range.allocation != nullptr) {
    bits = memory->bits_of(*range.allocation, static_cast<std::uint32_t>(range.offset),
                           static_cast<std::uint32_t>(count));
  }
  bits.resize(count);
  for (const std::uint8_t byte : bits) undefined += fmt::format("{:02x}", byte);
}

json memory(const json& question, const ThreadStates& states) {
  constexpr std::uint64_t kBytesMax = 1u << 20;
  const auto wanted = std::min(question.at("bytes").get<std::uint64_t>(), kBytesMax);
  std::vector<std::byte> bytes;
  std::string undefined, why_short;
  const bool is_local = question.at("space") == "local";
  json at = question;
  while (bytes.size() < wanted) {
    try {
      const std::uint64_t rest = wanted - bytes.size();
      if (is_local) {
        const DebugThread thread = thread_of(question);
        append(local_byte(states.warp_of(thread), thread.lane(), at["offset"]), 1, states, bytes,
               undefined);
        at["offset"] = at["offset"].get<std::uint64_t>() + 1;
        continue;
      }
      const Range range = range_of(at, states);
      const std::uint64_t count = std::min(rest, range.bytes);
      append(range, count, states, bytes, undefined);
      at["offset"] = at["offset"].get<std::uint64_t>() + count;
    } catch (const NotThere& reason) {
      if (bytes.empty()) throw;
      why_short = reason.what();
      break;
    }
  }
  return {{"bytes", hex_of(bytes.data(), bytes.size())},
          {"undefined", undefined},
          {"short", why_short}};
}

// The block of the thread's cluster whose shared memory an address names; null: it names none.
const vgpu::Slot* block_of_cluster(std::uint64_t address, const json& question,
                                   const ThreadStates& states) {
  const std::uint64_t offset = address - vgpu::kSharedWindow;
  const bool is_there = vgpu::kClusterOffset <= offset && offset < vgpu::kReservedSharedOffset;
  if (!states.program().uses_clusters || !is_there) return nullptr;
  const std::uint32_t rank = vgpu::rank_of_window(offset);
  const vgpu::Slot& own = states.slot_of(question.at("block").get<std::uint32_t>());
  for (const vgpu::Slot* const slot : states.launch().resident()) {
    if (slot->cluster == own.cluster && slot->cluster_rank == rank) return slot;
  }
  throw NotThere(fmt::format("block {} of the cluster has no shared memory now", rank));
}

json resolve(const json& question, const ThreadStates& states) {
  const auto address = question.at("address").get<std::uint64_t>();
  const auto is_in = [&](std::uint64_t window) {
    return address >= window && address - window < vgpu::kWindowBytes;
  };
  if (is_in(vgpu::kSharedWindow)) {
    return {{"space", "shared"}, {"offset", address - vgpu::kSharedWindow}};
  }
  if (is_in(vgpu::kLocalWindow)) {
    return {{"space", "local"}, {"offset", address - vgpu::kLocalWindow}};
  }
  if (is_in(vgpu::kParamWindow)) {
    return {{"space", "parameter"}, {"offset", address - vgpu::kParamWindow}};
  }
  if (const vgpu::Slot* const slot = block_of_cluster(address, question, states)) {
    return {{"space", "shared"},
            {"offset", (address - vgpu::kSharedWindow) % vgpu::kWindowBytes},
            {"block", slot->block}};
  }
  const Range range = global_range(states, address);
  const bool is_constant = range.allocation->space == ptx::Space::constant;
  return {{"space", is_constant ? "constant" : "global"}, {"offset", address}};
}

// A variable of global memory: the one that the code names, or the only one of this name, which
// other kernels may use.
json global_symbol(const std::string& name, const vgpu::Program& program,
                   const ThreadStates& states) {
  const auto place_of = [](const vgpu::Allocation& found, std::uint64_t address) {
    const bool is_constant = found.space == ptx::Space::constant;
    return json{{"space", is_constant ? "constant" : "global"},
                {"offset", address},
                {"bytes", found.bytes}};
  };
  for (const vgpu::AddressPatch& patch : program.patches) {
    if (patch.name != name || !patch.wide) continue;
    std::uint64_t address = 0;
    std::memcpy(&address, program.constants.data() + patch.constant_offset, sizeof address);
    address -= static_cast<std::uint64_t>(patch.addend);
    const vgpu::Allocation* const found = states.launch().memory().find(address);
    if (found == nullptr) break;
    return place_of(*found, address);
  }
  const std::string shown = vgpu::demangled_variable(name);
  const vgpu::Allocation* only = nullptr;
  for (const vgpu::Allocation* const each : states.launch().memory().live()) {
    if (each->name != shown) continue;
    if (only != nullptr) return nullptr;
    only = each;
  }
  return only == nullptr ? json() : place_of(*only, only->address);
}

json symbol(const json& question, const ThreadStates& states) {
  const std::string name = question.at("name");
  const ThreadFrame frame = frame_of(question, states);
  const vgpu::Program& program = states.program();
  const vgpu::FunctionCode& function = program.functions[frame.function];
  if (function.text != nullptr) {
    const vgpu::Frame rows(*function.text, function.param_rows);
    for (std::uint32_t i = 0; i < function.text->locals.size(); ++i) {
      const ptx::Variable& local = function.text->locals[i];
      if (local.name != name || local.space != ptx::Space::local) continue;
      return {{"space", "local"},
              {"offset", frame.local_base + rows.local_offset(i)},
              {"bytes", local.bytes}};
    }
  }
  const vgpu::FunctionCode& kernel = program.functions.front();
  for (std::size_t i = 0; kernel.text != nullptr && i < program.parameters.size(); ++i) {
    if (i >= kernel.text->parameters.size() || kernel.text->parameters[i].name != name) continue;
    return {{"space", "parameter"},
            {"offset", program.parameters[i].offset},
            {"bytes", program.parameters[i].bytes}};
  }
  for (const vgpu::Symbol& shared : program.shared_symbols) {
    if (shared.name != name && vgpu::demangled_variable(name) != shared.name) continue;
    return {{"space", "shared"}, {"offset", shared.offset}, {"bytes", shared.bytes}};
  }
  return global_symbol(name, program, states);
}

std::string_view name_of(vgpu::Fragment::State state) {
  using State = vgpu::Fragment::State;
  switch (state) {
    case State::at_barrier: return "barrier";
    case State::at_warp_operation: return "warp_operation";
    case State::at_cluster_barrier: return "cluster_barrier";
    case State::ready: break;
  }
  return "ready";
}

json blocks(const ThreadStates& states) {
  json answer = json::array();
  for (const vgpu::Slot* const slot : states.launch().resident()) {
    json warps = json::array();
    for (std::uint32_t number = 0; number < states.launch().warps_per_block(); ++number) {
      const vgpu::Warp& warp = slot->warps[number];
      json fragments = json::array();
      for (const vgpu::Fragment& fragment : warp.fragments) {
        if (fragment.mask == 0) continue;
        fragments.push_back({{"lanes", fragment.mask},
                             {"state", name_of(fragment.state)},
                             {"barrier", fragment.barrier},
                             {"pc", states.place_of(*slot, warp, fragment).pc}});
      }
      warps.push_back(
          {{"warp", number}, {"lanes", warp.lanes}, {"live", warp.live}, {"fragments", fragments}});
    }
    answer.push_back({{"block", slot->block}, {"phase", slot->phase}, {"warps", warps}});
  }
  return answer;
}

// [file, line, column, inlined function]; -1: none
json place(const ptx::SourceLocation& at) {
  const auto number = [](std::uint32_t index) {
    return index == ptx::kNone ? -1 : static_cast<int>(index);
  };
  return json::array({number(at.file), at.line, at.column, number(at.function)});
}

}  // namespace

std::string hex_of(const std::byte* bytes, std::size_t count) {
  std::string text;
  text.reserve(2 * count);
  for (std::size_t i = 0; i < count; ++i) {
    text += fmt::format("{:02x}", std::to_integer<unsigned>(bytes[i]));
  }
  return text;
}

json answer(const json& question, const ThreadStates& states) {
  const std::string what = question.at("do");
  if (what == "frames") return frames(question, states);
  if (what == "registers") return registers(question, states);
  if (what == "memory") return memory(question, states);
  if (what == "resolve") return resolve(question, states);
  if (what == "symbol") return symbol(question, states);
  if (what == "blocks") return blocks(states);
  throw NotThere(fmt::format("unknown question '{}'", what));
}

json describe_program(const vgpu::Program& program, const ProgramLines& lines) {
  vgpu::InstrText text(program);
  json functions = json::array(), code = json::array();
  for (const vgpu::FunctionCode& function : program.functions) {
    functions.push_back({{"name", function.name}, {"entry", function.entry}});
  }
  for (std::uint32_t pc = 0; pc < program.code.size(); ++pc) {
    json chain = json::array();
    for (const ptx::SourceLocation& at : lines.chain_of(pc)) chain.push_back(place(at));
    code.push_back({{"ptx_line", program.source_of(pc).ptx_line},
                    {"text", text.of(pc)},
                    {"chain", std::move(chain)},
                    {"user", place(lines.user_place_of(pc))}});
  }
  return {{"name", program.kernel},  {"files", program.files},
          {"functions", functions},  {"inlined_functions", lines.inlined_functions()},
          {"code", std::move(code)}, {"ptx", program.ptx}};
}

}  // namespace warpcheck::cudart
