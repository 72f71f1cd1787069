#include "cli/kernel/signature.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <set>

#include "cli/cli.hpp"
#include "cli/debug/variables/debug_info.hpp"
#include "harness/report/kernel_signature.hpp"
#include "vgpu/text/nearest_word.hpp"

namespace warpcheck {
namespace {

using debug::Type;
using Kind = Type::Kind;

constexpr std::size_t kScalarsMax = 64;  // of all parameters
constexpr std::size_t kColumnsMax = 32;  // of one element

std::string without_spaces(std::string_view text) {
  std::string kept;
  for (const char c : text) {
    if (c != ' ') kept += c;
  }
  return kept;
}

std::string without_arguments(const std::string& name) { return name.substr(0, name.find('<')); }

std::optional<ElementType> element_of(const Type& type) {
  if (type.kind == Kind::boolean) return ElementType::boolean;
  if (type.kind == Kind::brain) return ElementType::bf16;
  if (type.kind == Kind::floating) {
    return type.bytes == 2   ? ElementType::f16
           : type.bytes == 4 ? ElementType::f32
                             : ElementType::f64;
  }
  if (!debug::is_integral(type)) return std::nullopt;
  switch (type.bytes) {
    case 1: return type.is_signed ? ElementType::i8 : ElementType::u8;
    case 2: return type.is_signed ? ElementType::i16 : ElementType::u16;
    case 4: return type.is_signed ? ElementType::i32 : ElementType::u32;
    case 8: return type.is_signed ? ElementType::i64 : ElementType::u64;
    default: return std::nullopt;
  }
}

// The typedef of this name on the way to the type itself.
bool is_called(const Type* type, std::string_view name) {
  for (; type != nullptr; type = type->kind == Kind::alias ? type->target : nullptr) {
    if (type->name == name) return true;
  }
  return false;
}

// A number in a value, which may be a struct: its path, place and type.
struct Leaf {
  std::string path;
  std::uint64_t offset = 0;
  const Type* type = nullptr;  // behind typedefs
};

class Flattener {
 public:
  // parameter: its name, for messages
  explicit Flattener(std::string parameter) : parameter_(std::move(parameter)) {}

  [[nodiscard]] std::vector<Leaf> leaves(const Type& type) {
    leaves_.clear();
    add("", 0, type);
    return std::move(leaves_);
  }

  [[noreturn]] void refuse(std::string_view why) const {
    throw UsageError(fmt::format("parameter '{}' cannot be made: {}", parameter_, why));
  }

 private:
  void add(const std::string& path, std::uint64_t offset, const Type& named) {
    for (const std::string_view texture : {"cudaTextureObject_t", "cudaSurfaceObject_t"}) {
      if (is_called(&named, texture)) {
        refuse(
            fmt::format("it is a {}, and a texture has contents and settings that only host "
                        "code knows; run the program with `warpcheck exec`",
                        texture));
      }
    }
    const Type& type = debug::stripped(named);
    switch (type.kind) {
      case Kind::structure: return add_members(path, offset, type);
      case Kind::array: return add_elements(path, offset, type);
      case Kind::union_: refuse("it is a union, or has one");
      case Kind::reference: refuse("a reference needs an object of the host");
      case Kind::void_:
      case Kind::function:
      case Kind::unknown: refuse(fmt::format("its type '{}' is not known", named.name));
      default: break;
    }
    if (leaves_.size() == kScalarsMax)
      refuse(fmt::format("it has more than {} numbers", kScalarsMax));
    leaves_.push_back({path, offset, &type});
  }

  void add_members(const std::string& path, std::uint64_t offset, const Type& type) {
    for (const debug::Member& member : type.members) {
      if (member.bit_count != 0) refuse("it has bit fields");
      const bool is_nameless = member.is_base || member.name.empty();
      add(is_nameless ? path : joined(path, member.name), offset + member.offset, *member.type);
    }
  }

  void add_elements(const std::string& path, std::uint64_t offset, const Type& type) {
    const std::uint64_t bytes = debug::stripped(type.target).bytes;
    for (std::uint64_t i = 0; i < type.count; ++i) {
      add(joined(path, std::to_string(i)), offset + i * bytes, *type.target);
    }
  }

  static std::string joined(const std::string& path, const std::string& name) {
    return path.empty() ? name : path + "." + name;
  }

  std::string parameter_;
  std::vector<Leaf> leaves_;
};

bool is_const(const Type* type) {
  for (; type != nullptr && type->kind == Kind::alias; type = type->target) {
    if (type->name.find("const") != std::string::npos) return true;
  }
  return false;
}

ArrayParameter array_of(const std::string& name, const Type& pointer, ParameterPlace place) {
  const Type* const target = pointer.target;
  Flattener flattener(name);
  if (target == nullptr || debug::stripped(target).kind == Kind::void_) {
    // Bytes: nothing says what they are.
    return {.name = name,
            .type = "void",
            .place = place,
            .element_bytes = 1,
            .is_constant = is_const(target),
            .columns = {{"", ElementType::u8, 0}},
            .values = {}};
  }
  const Type& element = debug::stripped(target);
  if (element.kind == Kind::function) flattener.refuse("it is a pointer to a function");
  ArrayParameter array{.name = name,
                       .type = element.name,
                       .place = place,
                       .element_bytes = static_cast<std::uint32_t>(element.bytes),
                       .is_constant = is_const(target),
                       .columns = {},
                       .values = {}};
  for (const Leaf& leaf : flattener.leaves(element)) {
    const auto number = element_of(*leaf.type);
    if (leaf.type->kind == Kind::pointer) {
      flattener.refuse("it is a pointer to pointers, and nothing says what each of them points to");
    }
    if (!number) flattener.refuse(fmt::format("its elements have a {}", leaf.type->name));
    array.columns.push_back({leaf.path, *number, static_cast<std::uint32_t>(leaf.offset)});
  }
  if (array.columns.size() > kColumnsMax) {
    flattener.refuse(fmt::format("its elements have more than {} numbers", kColumnsMax));
  }
  if (array.columns.empty() || array.element_bytes == 0) {
    flattener.refuse("its elements are empty");
  }
  return array;
}

// An enumeration has the values between its smallest and its largest one.
ValueRange values_of(const Type& type, ElementType element) {
  if (type.kind != Kind::enumeration || type.enumerators.empty()) return range_of(element);
  const auto [low, high] = std::ranges::minmax(type.enumerators, {}, &debug::Enumerator::value);
  return {low.value, high.value};
}

void add_parameter(KernelDescription& kernel, const std::string& name, const Type& type,
                   std::uint32_t parameter) {
  Flattener flattener(name);
  for (const Leaf& leaf : flattener.leaves(type)) {
    const ParameterPlace place{parameter, static_cast<std::uint32_t>(leaf.offset)};
    const std::string path = leaf.path.empty() ? name : name + "." + leaf.path;
    if (leaf.type->kind == Kind::pointer) {
      kernel.arrays.push_back(array_of(path, *leaf.type, place));
    } else if (const auto element = element_of(*leaf.type)) {
      kernel.scalars.push_back({path, *element, place, values_of(*leaf.type, *element)});
    } else {
      flattener.refuse(fmt::format("it has a {}", leaf.type->name));
    }
  }
}

// What debug information says; nothing: there is none for the kernel.
std::optional<std::vector<debug::Variable>> described_parameters(const debug::DebugInfo& info,
                                                                 const ptx::Function& function) {
  if (!info.has_variables() || function.body.empty()) return std::nullopt;
  const std::vector<debug::Scope> scopes = info.scopes_at(function.body.front().ptx_line);
  if (scopes.empty()) return std::nullopt;
  std::vector<debug::Variable> parameters;
  for (const debug::Variable& variable : scopes.back().variables) {
    if (variable.is_parameter) parameters.push_back(variable);
  }
  if (parameters.size() != function.parameters.size()) return std::nullopt;
  return parameters;
}

// A type by the words of a demangled name: "float const*", "unsigned int".
const Type* type_of_words(std::string words, debug::BasicTypes& types) {
  for (const std::string_view noise : {" const", " volatile", " restrict", " __restrict__"}) {
    for (std::size_t at = 0; (at = words.find(noise, at)) != std::string::npos;) {
      words.erase(at, noise.size());
    }
  }
  while (!words.empty() && words.back() == ' ') words.pop_back();
  if (words.ends_with('*')) {
    const Type* const target = type_of_words(words.substr(0, words.size() - 1), types);
    return target == nullptr ? nullptr : &types.pointer_to(*target);
  }
  if (words == "__half") words = "half";
  return types.find(words);
}

void add_by_name(KernelDescription& kernel, const ptx::Function& function) {
  const KernelSignature signature = signature_of(function.name);
  debug::BasicTypes types;
  for (std::uint32_t i = 0; i < function.parameters.size(); ++i) {
    const std::string name = fmt::format("p{}", i);
    const ptx::Variable& parameter = function.parameters[i];
    const std::string words = signature.parameters && i < signature.parameters->size()
                                  ? (*signature.parameters)[i]
                                  : std::string();
    const Type* type = type_of_words(words, types);
    if (type == nullptr && words.empty()) type = &types.of_ptx(parameter.element);
    if (type == nullptr || type->bytes != parameter.bytes) {
      throw UsageError(
          fmt::format("parameter {} of {} cannot be made: the PTX does not say what a '{}' of {} "
                      "bytes is; give "
                      "the .cu file, or PTX of nvcc -G, which describes its types",
                      i + 1, signature.name, words, parameter.bytes));
    }
    add_parameter(kernel, name, *type, i);
    if (words.find("const*") != std::string::npos && !kernel.arrays.empty()) {
      kernel.arrays.back().is_constant = true;
    }
  }
}

void make_names_unique(KernelDescription& kernel) {
  std::set<std::string> taken{"launch"};  // the launch of an input
  const auto rename = [&](std::string& name) {
    while (!taken.insert(name).second) name += "_";
  };
  for (ScalarParameter& scalar : kernel.scalars) rename(scalar.name);
  for (ArrayParameter& array : kernel.arrays) rename(array.name);
}

}  // namespace

std::string find_kernel(const ptx::Module& module, const KernelFile& file, std::string_view name) {
  std::vector<std::string> all;
  std::vector<std::string> exact, base;
  for (const ptx::Function& function : module.functions) {
    if (!function.is_entry || !function.has_body) continue;
    const std::string shown = signature_of(function.name).name;
    all.push_back(shown);
    const std::string wanted = without_spaces(name);
    const std::string bare = without_spaces(without_arguments(shown));
    if (function.name == name || without_spaces(shown) == wanted) exact.push_back(function.name);
    if (name.empty() || bare == wanted || bare.ends_with("::" + wanted)) {
      base.push_back(function.name);
    }
  }
  if (exact.size() == 1) return exact.front();
  if (base.size() == 1) return base.front();
  if (all.empty()) {
    throw UsageError(
        fmt::format("{} has no kernel{}", file.path,
                    file.source.find("template") == std::string::npos
                        ? ""
                        : "; say which template is meant: --instantiate 'scan<int, 256>'"));
  }
  std::ranges::sort(all);
  const bool is_unknown = exact.empty() && base.empty();
  throw UsageError(fmt::format(
      "{}: {}{}{}", file.path,
      is_unknown ? fmt::format("no kernel '{}'{}; its kernels are ", name, is_it(name, all))
                 : std::string("several kernels; name one of them behind the file: "),
      fmt::join(all, ", "),
      file.source.find("template") != std::string::npos
          ? "; a template needs --instantiate 'scan<int, 256>'"
          : ""));
}

KernelDescription described(const ptx::Module& module, const KernelFile& file,
                            const std::string& mangled, std::vector<ParameterName>& names) {
  const ptx::Function& function = *module.find_function(mangled);
  KernelDescription kernel{
      .name = signature_of(mangled).name, .mangled = mangled, .file = file.path};
  kernel.optimized = file.optimized;
  kernel.unoptimized = file.unoptimized;
  for (const ptx::Variable& parameter : function.parameters) {
    kernel.parameter_bytes.push_back(static_cast<std::uint32_t>(parameter.bytes));
  }
  std::optional<std::vector<debug::Variable>> parameters;
  std::optional<debug::DebugInfo> info;
  if (!file.unoptimized.empty()) {
    info.emplace(file.unoptimized, file.path);
    parameters = described_parameters(*info, function);
  }
  if (parameters) {
    for (std::uint32_t i = 0; i < parameters->size(); ++i) {
      const debug::Variable& parameter = (*parameters)[i];
      add_parameter(kernel, parameter.name, *parameter.type, i);
      const Type& type = debug::stripped(parameter.type);
      names.push_back({parameter.name, type.name});
    }
  } else {
    add_by_name(kernel, function);
    for (std::uint32_t i = 0; i < function.parameters.size(); ++i) {
      names.push_back({fmt::format("p{}", i), {}});
    }
  }
  if (kernel.scalars.size() > kScalarsMax) {
    throw UsageError(
        fmt::format("{} has more than {} numbers as parameters", kernel.name, kScalarsMax));
  }
  make_names_unique(kernel);
  return kernel;
}

std::string signature_text(const KernelDescription& kernel) {
  std::vector<std::pair<ParameterPlace, std::string>> parts;
  for (const ScalarParameter& scalar : kernel.scalars) {
    parts.emplace_back(scalar.place, fmt::format("{} {}", name_of(scalar.element), scalar.name));
  }
  for (const ArrayParameter& array : kernel.arrays) {
    parts.emplace_back(array.place, fmt::format("{}{}* {}", array.is_constant ? "const " : "",
                                                array.type, array.name));
  }
  std::ranges::sort(parts, {}, [](const auto& part) {
    return std::pair(part.first.parameter, part.first.offset);
  });
  std::vector<std::string> texts;
  for (const auto& [place, text] : parts) texts.push_back(text);
  return fmt::format("{}({})", kernel.name, fmt::join(texts, ", "));
}

}  // namespace warpcheck
