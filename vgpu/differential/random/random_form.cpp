// One instruction of forms.def, or one sequence of sequences.def, with registers of the program as
// its operands.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <map>

#include "vgpu/conformance/operands.hpp"
#include "vgpu/conformance/sequences.hpp"
#include "vgpu/differential/random/generator.hpp"
#include "vgpu/differential/reference/reference_arithmetic.hpp"

namespace warpcheck::vgpu {
namespace {

using ptx::InstructionForm;
using Family = std::vector<const InstructionForm*>;

constexpr std::array<std::string_view, 8> kResults = {"d", "e", "r2", "r3", "r4", "r5", "r6", "r7"};
constexpr std::array<std::string_view, 16> kSources = {"a",   "b",   "c",   "f",  "s4",  "s5",
                                                       "s6",  "s7",  "s8",  "s9", "s10", "s11",
                                                       "s12", "s13", "s14", "s15"};

constexpr std::string_view kWithoutLiterals[] = {"relu", "x2", "bfe", "bfi"};

// Returns whether a source other than the first may be a literal.  An assembler that knows the
// fields of bfe and bfi gives other results for fields outside the word.
bool takes_literals(const InstructionForm& form) {
  if (form.family != "integer" && form.family != "bits" && form.family != "carry") return false;
  return std::none_of(
      std::begin(kWithoutLiterals), std::end(kWithoutLiterals),
      [&](std::string_view part) { return form.mnemonic.find(part) != std::string::npos; });
}

// Returns whether an assembler implements the form by a call; that of CUDA 13.0 may crash if the
// call is in a function.
bool calls_subroutine(const InstructionForm& form) {
  constexpr std::string_view kCalling[] = {"div.", "rem.", "sqrt.", "rcp."};
  return std::any_of(std::begin(kCalling), std::end(kCalling), [&](std::string_view name) {
    return form.text.starts_with(name) ||
           form.text.find(std::string(" ").append(name)) != std::string::npos;
  });
}

// Returns forms that, with a false guard, may leave neither the old value nor the new one:
// assemblers (CUDA 13.0) forget that a part of their implementation is not executed then.
bool loses_old_value(const InstructionForm& form) {
  return form.family == "video" || form.mnemonic.starts_with("set.") ||
         form.mnemonic.starts_with("testp.");
}

// Optimising assemblers remove copies, and with them the change of a NaN; and they lose carries of
// madc.hi.
bool is_changed_by_optimization(const InstructionForm& form) {
  constexpr std::string_view kCopies[] = {"cvt.f32.f32", "cvt.f64.f64", "cvt.f16.f16",
                                          "cvt.bf16.bf16"};
  if (std::find(std::begin(kCopies), std::end(kCopies), form.mnemonic) != std::end(kCopies)) {
    return true;
  }
  const std::size_t product = form.text.find("madc.hi.");
  return product != std::string::npos && form.text.find("64 ", product) != std::string::npos;
}

// For 8-bit floats, that assembler emits several products, and reads elements of c, a and b after
// it has written the first elements of the result.
bool overwrites_sources(const InstructionForm& form) { return form.family == "matrix_byte_float"; }

// Returns whether an assembler may fuse it with an addition.
bool may_be_contracted(const InstructionForm& form) {
  if (!form.mnemonic.starts_with("mul.")) return false;
  if (form.results[0].find('f') == std::string::npos) return false;
  constexpr std::string_view kRoundings[] = {".rn", ".rz", ".rm", ".rp"};
  return std::none_of(std::begin(kRoundings), std::end(kRoundings), [&](std::string_view part) {
    return form.mnemonic.find(part) != std::string::npos;
  });
}

bool is_integer_division(const InstructionForm& form) {
  return form.family == "integer" &&
         (form.mnemonic.starts_with("div.") || form.mnemonic.starts_with("rem."));
}

// The forms that programs contain, by family.  A family is drawn first; otherwise most instructions
// would be comparisons, of which there are thousands.
std::vector<Family> families(const ProgramOptions& options) {
  std::map<std::string_view, Family> all;
  for (const InstructionForm& form : conformance::recorded_forms()) {
    if (is_drawn(form, options)) all[form.family].push_back(&form);
  }
  std::vector<Family> result;
  for (auto& [name, forms] : all) result.push_back(std::move(forms));
  return result;
}

const std::vector<Family>& families_for(const ProgramOptions& options) {
  static std::map<std::array<int, 4>, std::vector<Family>> known;
  const std::array<int, 4> key = {options.target, options.approximate, options.matrices,
                                  options.known};
  const auto found = known.find(key);
  return found != known.end() ? found->second : known.emplace(key, families(options)).first->second;
}

// There are no 8-bit registers.
std::size_t register_bytes(std::string_view type) {
  if (type == "pred") return 1;
  return std::max<std::size_t>(conformance::bytes_of(type), type.ends_with("8") ? 4 : 2);
}

// Returns whether the form uses memory at the address `at`, which belongs to the thread.
bool uses_memory(const InstructionForm& form) {
  return form.text.find("[at]") != std::string::npos;
}

bool is_name(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' || c == '%';
}

// Replaces whole words.
std::string with_names(std::string_view text,
                       const std::map<std::string_view, std::string>& names) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    while (end < text.size() && is_name(text[end])) ++end;
    if (end == at) {
      out += text[at++];
      continue;
    }
    const std::string_view word = text.substr(at, end - at);
    const std::string_view name = word.substr(0, word.find('.'));  // of "a.h1"
    const auto found = names.find(name);
    out += found == names.end() ? name : std::string_view(found->second);
    out += word.substr(name.size());
    at = end;
  }
  return out;
}

// Bits to keep, and bits to set, so that sums and products are neither all lost nor all infinite.
struct Shape {
  std::string_view type;
  std::uint64_t kept, set;
};
constexpr Shape kShapes[] = {
    {"f16", 0x87ff, 0x3000},           {"bf16", 0x83ff, 0x3c00},
    {"f16x2", 0x87ff87ff, 0x30003000}, {"bf16x2", 0x83ff83ff, 0x3c003c00},
    {"f32", 0x83ffffff, 0x3c000000},   {"f64", 0x803fffffffffffff, 0x3fc0000000000000}};

}  // namespace

bool is_drawn(const InstructionForm& form, const ProgramOptions& options) {
  if (form.family == "address" || form.target > options.target) return false;
  if (form.family == "approximate" && !options.approximate) return false;
  if (form.family.starts_with("matrix") && !options.matrices) return false;
  if (options.known && !reference_knows(form)) return false;
  return !may_be_contracted(form) && !is_changed_by_optimization(form);
}

// Returns a copy of a state register in which the bits that make a float huge or tiny are replaced;
// empty if the type is no float.
std::string Generator::shaped(std::string_view type, std::size_t index, std::string& before) {
  if (type.starts_with("small_")) type.remove_prefix(6);
  const auto* const shape =
      std::find_if(std::begin(kShapes), std::end(kShapes),
                   [&](const Shape& candidate) { return candidate.type == type; });
  if (shape == std::end(kShapes)) return {};
  const std::size_t bytes = conformance::bytes_of(type);
  std::string name = fmt::format("v{}", index);
  before += fmt::format(".reg .b{0} {1};\nand.b{0} {1}, {2}, {3:#x};\nor.b{0} {1}, {1}, {4:#x};\n",
                        bytes * 8, name, state(bytes), shape->kept, shape->set);
  return name;
}

std::string Generator::source(const InstructionForm& form, std::size_t index, std::string& before) {
  const std::string& type = form.sources[index];
  const std::size_t bytes = register_bytes(type);
  if (type == "pred") {
    const bool may_be_negated = form.mnemonic.starts_with("set");
    return (may_be_negated && prng_.one_in(4) ? "!" : "") + predicate();
  }
  std::string name = fmt::format("v{}", index);
  if (type == "carry") {
    before += fmt::format(".reg .b32 {0};\nand.b32 {0}, {1}, 1;\n", name, word());
    return name;
  }
  if (index == 1 && is_integer_division(form)) {
    before += fmt::format(".reg .b{0} {1};\nor.b{0} {1}, {2}, 1;\n", bytes * 8, name, state(bytes));
    return name;
  }
  const bool is_position = type == "position" || type == "offset";
  if (is_position && prng_.one_in(2)) {  // not treated as a float: see moved()
    before += fmt::format(".reg .b32 {0};\nxor.b32 {0}, %none4, {1};\n", name, word());
    return name;
  }
  const std::uint64_t choice = prng_.below(8);
  if (choice < 4) {
    if (std::string made = shaped(type, index, before); !made.empty()) return made;
  }
  if (choice != 7 && !is_position) return state(bytes);
  const std::vector<std::uint64_t> values = conformance::special_values(type);
  const std::uint64_t value = values[prng_.below(values.size())];
  const bool fits = !is_position || value < 256;
  if (index > 0 && takes_literals(form) && fits && prng_.one_in(2)) {
    return bytes == 2 ? fmt::format("{}", static_cast<std::int16_t>(value))
                      : fmt::format("{:#x}", value);
  }
  before += fmt::format(".reg .b{0} {1};\nxor.b{0} {1}, %none{2}, {3:#x};\n", bytes * 8, name,
                        bytes, value);
  return name;
}

std::string Generator::form_text(const InstructionForm& form) {
  std::map<std::string_view, std::string> names;
  std::string before;
  for (std::size_t i = 0; i < form.results.size(); ++i) {
    std::string name;
    const auto is_taken = [&] {
      return std::any_of(names.begin(), names.end(),
                         [&](const auto& entry) { return entry.second == name; });
    };
    do {
      name = state(register_bytes(form.results[i]));
    } while (is_taken());
    names[kResults.at(i)] = name;
  }
  for (std::size_t i = 0; i < form.sources.size(); ++i) {
    std::string name = source(form, i, before);
    if (overwrites_sources(form) && name.starts_with("%")) {
      before += fmt::format(".reg .b32 v{0};\nmov.b32 v{0}, {1};\n", i, name);
      name = fmt::format("v{}", i);
    }
    names[kSources.at(i)] = std::move(name);
  }
  if (uses_memory(form)) before += ".reg .b64 at;\nmov.b64 at, %mine;\n";
  const bool is_one = form.text.find(';') + 1 == form.text.size();
  const bool may_be_guarded =
      is_one && !form.family.starts_with("matrix") && !loses_old_value(form);
  const std::string condition = may_be_guarded ? guard(5) : "";
  return "{\n.reg .b32 t;\n" + before + condition + with_names(form.text, names) + "\n}\n";
}

std::string Generator::compute(const Place& place) {
  const std::vector<Family>& all = families_for(options_);
  while (true) {
    const Family& family = all[prng_.below(all.size())];
    const InstructionForm& form = *family[prng_.below(family.size())];
    if (!place.in_kernel && (calls_subroutine(form) || uses_memory(form))) continue;
    if (!form.family.starts_with("matrix")) return form_text(form);
    if (!place.uniform || matrices_left_ == 0 || !prng_.one_in(4)) continue;
    --matrices_left_;
    return "bar.sync 0;\n" + form_text(form);
  }
}

}  // namespace warpcheck::vgpu
