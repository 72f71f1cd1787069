// The names of the PTX vocabulary; opcodes.def is the source of the opcodes.
#include "vgpu/ptx/opcode.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <unordered_map>
#include <utility>

#include "vgpu/ptx/opcode_row.hpp"

namespace warpcheck::ptx {
namespace {

constexpr std::array<std::string_view, 14> kFunctionFiles = {
    "carry",       "integer", "bits",  "compare",          "move",         "float",  "half",
    "approximate", "convert", "exact", "half_approximate", "half_compare", "packed", "video"};
static_assert(kFunctionFiles.size() == static_cast<std::size_t>(FunctionFile::count));

// Returns one bit for each file of a list; an unknown word does not compile.
consteval std::uint16_t function_files(std::string_view words) {
  std::uint16_t files = 0;
  while (!words.empty()) {
    const std::size_t end = std::min(words.find(' '), words.size());
    std::size_t file = 0;
    while (kFunctionFiles.at(file) != words.substr(0, end)) ++file;
    files = static_cast<std::uint16_t>(files | 1u << file);
    words.remove_prefix(std::min(end + 1, words.size()));
  }
  return files;
}

constexpr std::array kRows = {
    OpcodeRow{},
#define OPCODE(name, family, operands, modifiers) \
  OpcodeRow{#name, Family::family, 0, UndefinedRule::whole, operands, modifiers},
#define COMPUTE(name, family, functions, undefined, operands, modifiers)                   \
  OpcodeRow{#name,    Family::family, function_files(functions), UndefinedRule::undefined, \
            operands, modifiers},
#include "vgpu/ptx/opcodes.def"
#undef OPCODE
};
static_assert(kRows.size() == static_cast<std::size_t>(Opcode::count));

constexpr std::array<std::string_view, 36> kTypes = {
    "none",   "pred", "b8",  "b16",   "b32",     "b64",    "b128",   "u8",     "u16",
    "u32",    "u64",  "s8",  "s16",   "s32",     "s64",    "u16x2",  "s16x2",  "b1",
    "u2",     "s2",   "u4",  "s4",    "ue8m0x2", "e2m1x2", "e2m3x2", "e3m2x2", "e4m3x2",
    "e5m2x2", "tf32", "f16", "f16x2", "bf16",    "bf16x2", "f32",    "f32x2",  "f64"};
static_assert(kTypes.size() == static_cast<std::size_t>(Type::f64) + 1);

constexpr std::array<std::string_view, 6> kSpaces = {"generic", "global", "shared",
                                                     "local",   "const",  "param"};
static_assert(kSpaces.size() == static_cast<std::size_t>(Space::param) + 1);

// clang-format off
constexpr std::array<std::string_view, 54> kSpecialRegisters = {
    "none",
    "%tid.x", "%tid.y", "%tid.z", "%ntid.x", "%ntid.y", "%ntid.z",
    "%ctaid.x", "%ctaid.y", "%ctaid.z", "%nctaid.x", "%nctaid.y", "%nctaid.z",
    "%laneid", "%warpid", "%nwarpid", "%smid", "%nsmid", "%gridid", "%current_graph_exec",
    "%lanemask_eq", "%lanemask_le", "%lanemask_lt", "%lanemask_ge", "%lanemask_gt",
    "%clock", "%clock_hi", "%clock64",
    "%globaltimer", "%globaltimer_lo", "%globaltimer_hi",
    "%dynamic_smem_size", "%total_smem_size", "%aggr_smem_size",
    "%clusterid.x", "%clusterid.y", "%clusterid.z",
    "%nclusterid.x", "%nclusterid.y", "%nclusterid.z",
    "%cluster_ctaid.x", "%cluster_ctaid.y", "%cluster_ctaid.z",
    "%cluster_nctaid.x", "%cluster_nctaid.y", "%cluster_nctaid.z",
    "%cluster_ctarank", "%cluster_nctarank", "%is_explicit_cluster",
    "%reserved_smem_offset_1", "%envreg1", "%envreg2",
    "WARP_SZ"};
// clang-format on

}  // namespace

const OpcodeRow& row_of(Opcode opcode) {
  const auto at = static_cast<std::size_t>(opcode);
  return kRows[at < kRows.size() ? at : 0];
}

std::string_view name_of(Opcode opcode) {
  const std::string_view name = row_of(opcode).name;
  return name.empty() ? "invalid" : name;
}

std::string_view name_of(FunctionFile file) {
  return kFunctionFiles[static_cast<std::size_t>(file)];
}

std::string_view name_of(Type type) { return kTypes[static_cast<std::size_t>(type)]; }

std::string_view name_of(Space space) { return kSpaces[static_cast<std::size_t>(space)]; }

std::string_view name_of(SpecialRegister reg) {
  return kSpecialRegisters[static_cast<std::size_t>(reg)];
}

Opcode find_opcode(std::string_view name) {
  static const auto& by_name = *new const auto([] {
    std::unordered_map<std::string_view, Opcode> map;
    for (std::size_t at = 1; at < kRows.size(); ++at) {
      map.emplace(kRows[at].name, static_cast<Opcode>(at));
    }
    return map;
  }());
  const auto found = by_name.find(name);
  return found == by_name.end() ? Opcode::invalid : found->second;
}

SpecialRegister find_special_register(std::string_view name) {
  for (std::size_t at = 1; at < kSpecialRegisters.size(); ++at) {
    if (kSpecialRegisters[at] == name) return static_cast<SpecialRegister>(at);
  }
  return SpecialRegister::none;
}

}  // namespace warpcheck::ptx
