#include "vgpu/conformance/kernel_text.hpp"

#include <array>
#include <cstddef>

#include <fmt/format.h>

#include "vgpu/conformance/operands.hpp"

namespace warpcheck::conformance {
namespace {

constexpr std::array<std::string_view, 8> kResults = {"d", "e", "r2", "r3", "r4", "r5", "r6", "r7"};
constexpr std::array<std::string_view, 16> kSources = {"a",   "b",   "c",   "f",  "s4",  "s5",
                                                       "s6",  "s7",  "s8",  "s9", "s10", "s11",
                                                       "s12", "s13", "s14", "s15"};

// PTX has no 8-bit registers, so an 8-bit operand is in a wider register.
unsigned register_bytes(std::string_view type) {
  const auto bytes = static_cast<unsigned>(bytes_of(type));
  return type != "pred" && bytes == 1 ? 4 : bytes;
}

std::string declaration(std::string_view type, std::string_view name) {
  if (type == "pred") return fmt::format(".reg .pred {};\n", name);
  return fmt::format(".reg .b{} {};\n", 8 * register_bytes(type), name);
}

std::string load(std::string_view type, std::string_view name) {
  if (type == "pred") {
    return fmt::format("ld.global.u32 t, [at];\nsetp.ne.u32 {}, t, 0;\n", name);
  }
  return fmt::format("ld.global.b{} {}, [at];\n", 8 * register_bytes(type), name);
}

std::string store(std::string_view type, std::string_view name) {
  if (type == "pred") {
    return fmt::format("selp.u32 t, 1, 0, {};\nst.global.u32 [at], t;\n", name);
  }
  return fmt::format("st.global.b{} [at], {};\n", 8 * register_bytes(type), name);
}

}  // namespace

std::string_view source_name(std::size_t index) { return kSources.at(index); }

unsigned result_bytes(std::string_view type) { return register_bytes(type); }

std::string module_head(int target) {
  // Many instructions that sm_100 introduced exist only on the architecture-specific target
  // sm_100a.
  return fmt::format(".version 8.8\n.target sm_{}{}\n.address_size 64\n", target,
                     target < 100 ? "" : "a");
}

std::string kernel_text(const ptx::InstructionForm& form, std::string_view name) {
  std::string text = fmt::format(
      ".visible .entry {}(.param .u64 operands, .param .u64 results)\n{{\n"
      ".reg .b32 t, block, threads, blocks;\n.reg .b64 at, step;\n",
      name);
  for (std::size_t r = 0; r < form.results.size(); ++r) {
    text += declaration(form.results[r], kResults[r]);
  }
  for (std::size_t k = 0; k < form.sources.size(); ++k) {
    text += declaration(form.sources[k], kSources[k]);
  }
  text +=
      "mov.u32 block, %ctaid.x;\nmov.u32 threads, %ntid.x;\nmov.u32 blocks, %nctaid.x;\n"
      "mov.u32 t, %tid.x;\nmad.lo.u32 t, block, threads, t;\nmul.lo.u32 blocks, blocks, threads;\n"
      "mul.wide.u32 step, blocks, 8;\n"
      "ld.param.u64 at, [operands];\nmad.wide.u32 at, t, 8, at;\n";
  for (std::size_t k = 0; k < form.sources.size(); ++k) {
    text += load(form.sources[k], kSources[k]) + "add.u64 at, at, step;\n";
  }
  text +=
      "mov.u32 t, %tid.x;\nmad.lo.u32 t, block, threads, t;\n"
      "ld.param.u64 at, [results];\nmad.wide.u32 at, t, 8, at;\n";
  text += form.text + "\n";
  for (std::size_t r = 0; r < form.results.size(); ++r) {
    text += store(form.results[r], kResults[r]) + "add.u64 at, at, step;\n";
  }
  return text + "ret;\n}\n";
}

}  // namespace warpcheck::conformance
