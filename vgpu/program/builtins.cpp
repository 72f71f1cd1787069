#include "vgpu/program/builtins.hpp"

#include <string>
#include <string_view>

#include <fmt/format.h>

namespace warpcheck::vgpu {
namespace {

struct Atomic {
  std::string_view prefix;   // of the C name: __uAtomicAdd
  std::string_view name;
  std::string_view op;       // of the PTX mnemonic
  std::string_view type;
};

constexpr Atomic kAtomics[] = {
    {"i", "Add", "add", "s32"},    {"u", "Add", "add", "u32"},    {"ull", "Add", "add", "u64"},
    {"f", "Add", "add", "f32"},    {"d", "Add", "add", "f64"},    {"i", "Exch", "exch", "b32"},
    {"u", "Exch", "exch", "b32"},  {"ull", "Exch", "exch", "b64"}, {"f", "Exch", "exch", "b32"},
    {"i", "Min", "min", "s32"},    {"u", "Min", "min", "u32"},    {"ull", "Min", "min", "u64"},
    {"ill", "Min", "min", "s64"},  {"i", "Max", "max", "s32"},    {"u", "Max", "max", "u32"},
    {"ull", "Max", "max", "u64"},  {"ill", "Max", "max", "s64"},  {"u", "Inc", "inc", "u32"},
    {"u", "Dec", "dec", "u32"},    {"i", "CAS", "cas", "b32"},    {"u", "CAS", "cas", "b32"},
    {"ull", "CAS", "cas", "b64"},  {"i", "And", "and", "b32"},    {"u", "And", "and", "b32"},
    {"ull", "And", "and", "b64"},  {"ll", "And", "and", "b64"},   {"i", "Or", "or", "b32"},
    {"u", "Or", "or", "b32"},      {"ull", "Or", "or", "b64"},    {"ll", "Or", "or", "b64"},
    {"i", "Xor", "xor", "b32"},    {"u", "Xor", "xor", "b32"},    {"ull", "Xor", "xor", "b64"},
    {"ll", "Xor", "xor", "b64"},
};

// One function: (pointer, value[, value2]) -> old value.
std::string atomic_function(const Atomic& atomic, std::string_view suffix, std::string_view scope) {
  const bool is_cas = atomic.op == "cas";
  const std::string_view width = atomic.type.substr(1);
  const std::string name = fmt::format("__{}Atomic{}{}", atomic.prefix, atomic.name, suffix);
  return fmt::format(
      ".func (.param .b{w} result) {name}(.param .b64 p, .param .b{w} a{extra_parameter})\n"
      "{{\n  .reg .b64 %address;\n  .reg .b{w} %old, %a, %b;\n"
      "  ld.param.b64 %address, [p];\n  ld.param.b{w} %a, [a];\n{extra_load}"
      "  atom{scope}.{op}.{type} %old, [%address], %a{extra_operand};\n"
      "  st.param.b{w} [result], %old;\n  ret;\n}}\n",
      fmt::arg("w", width), fmt::arg("name", name),
      fmt::arg("extra_parameter", is_cas ? fmt::format(", .param .b{} b", width) : ""),
      fmt::arg("extra_load", is_cas ? fmt::format("  ld.param.b{} %b, [b];\n", width) : ""),
      fmt::arg("scope", scope), fmt::arg("op", atomic.op), fmt::arg("type", atomic.type),
      fmt::arg("extra_operand", is_cas ? ", %b" : ""));
}

ptx::Module make_library() {
  std::string text = ".version 9.0\n.target sm_75\n.address_size 64\n";
  for (const Atomic& atomic : kAtomics) {
    text += atomic_function(atomic, "", "");
    text += atomic_function(atomic, "_block", ".cta");
    text += atomic_function(atomic, "_system", ".sys");
  }
  return ptx::parse(text, "CUDA runtime functions");
}

}  // namespace

const ptx::Module& builtin_library() {
  static const ptx::Module library = make_library();
  return library;
}

}  // namespace warpcheck::vgpu
