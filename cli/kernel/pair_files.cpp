#include "cli/kernel/pair_files.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <map>
#include <regex>
#include <set>

#include "cli/cli.hpp"
#include "vgpu/text/file_text.hpp"

namespace warpcheck {
namespace {

constexpr std::size_t kFieldsMax = 16;  // of FIELDS

// The names that the written files use themselves, and words that C++20 has taken.
constexpr std::array<std::string_view, 17> kTakenNames{
    "grid", "block",   "shared_bytes", "launch",  "arguments", "place",    "device", "input", "std",
    "Draw", "concept", "requires",     "char8_t", "co_await",  "co_yield", "none",   "draw"};

// "image.width" -> "image_width"; each name once.
std::map<std::string, std::string> field_names_of(const KernelDescription& kernel) {
  std::map<std::string, std::string> fields;
  std::set<std::string> taken(kTakenNames.begin(), kTakenNames.end());
  const auto add = [&](const std::string& name) {
    std::string field = name;
    std::ranges::replace(field, '.', '_');
    while (!taken.insert(field).second) field += '_';
    fields.emplace(name, std::move(field));
  };
  for (const ScalarParameter& scalar : kernel.scalars) add(scalar.name);
  for (const ArrayParameter& array : kernel.arrays) add(array.name);
  return fields;
}

std::string number_type(ElementType element) {
  switch (element) {
    case ElementType::boolean:
    case ElementType::u8: return "std::uint8_t";
    case ElementType::i8: return "std::int8_t";
    case ElementType::i16: return "std::int16_t";
    case ElementType::u16:
    case ElementType::f16:
    case ElementType::bf16: return "std::uint16_t";  // the bits
    case ElementType::i32: return "int";
    case ElementType::u32: return "unsigned";
    case ElementType::i64: return "std::int64_t";
    case ElementType::u64: return "std::uint64_t";
    case ElementType::f32: return "float";
    case ElementType::f64: return "double";
  }
  return "int";
}

std::string scalar_type(ElementType element) {
  const bool is_short_float = element == ElementType::f16 || element == ElementType::bf16;
  return is_short_float ? "float" : number_type(element);
}

// How a pair holds the elements of an array: as numbers of one type, or as bytes if they have
// numbers of several types, or padding.
struct ElementNumbers {
  ElementType type = ElementType::u8;
  std::size_t count = 0;  // of an element
  bool is_bytes = false;
};
ElementNumbers numbers_of(const ArrayParameter& array) {
  const ElementType first = array.columns.front().element;
  const bool is_one_type = std::ranges::all_of(
      array.columns, [&](const ArrayParameter::Column& column) { return column.element == first; });
  if (is_one_type && array.columns.size() * bytes_of(first) == array.element_bytes) {
    return {first, array.columns.size()};
  }
  if (array.values) {
    throw UsageError(
        fmt::format("array '{}': its elements ({}) have numbers of several types, or padding, and "
                    "decide what is accessed, so the pair must be written by hand",
                    array.name, array.type));
  }
  return {ElementType::u8, array.element_bytes, true};
}

class PairText {
 public:
  PairText(std::string name, const AssumedKernel& assumed)
      : name_(std::move(name)),
        type_(type_name(name_)),
        kernel_(assumed.assumptions.kernel),
        fields_(field_names_of(kernel_)) {
    for (std::size_t i = 0; i < kernel_.arrays.size(); ++i) {
      if (!kernel_.arrays[i].is_constant && assumed.assumptions.written[i]) outputs_.push_back(i);
    }
    const std::size_t fields = kernel_.scalars.size() + kernel_.arrays.size() + 1;
    if (fields > kFieldsMax) {
      throw UsageError(fmt::format("{} has {} numbers and arrays, and an input of a pair up to {}",
                                   kernel_.name, fields - 1, kFieldsMax - 1));
    }
  }

  [[nodiscard]] std::string launcher() const {
    std::string text = fmt::format(
        "// Launches {0} of {1}.\n"
        "#include <cuda_bf16.h>\n"
        "#include <cuda_fp16.h>\n"
        "#include <cuda_runtime.h>\n"
        "\n"
        "#include <cstdint>\n"
        "#include <cstring>\n"
        "#define main main_of_the_kernels_file  // a program has one\n"
        "#include \"{1}\"\n"
        "#undef main\n"
        "\n"
        "{2} {{\n",
        kernel_.name, kernel_.file, prototype());
    for (std::size_t i = 0; i < kernel_.parameter_bytes.size(); ++i) {
      text += fmt::format("  alignas(16) unsigned char place{}[{}]{{}};\n", i,
                          kernel_.parameter_bytes[i]);
    }
    for (const ScalarParameter& scalar : kernel_.scalars) text += assignment(scalar);
    for (const ArrayParameter& array : kernel_.arrays) {
      text += copy_to(array.place, field_name(array.name), array.name);
    }
    std::vector<std::string> places;
    for (std::size_t i = 0; i < kernel_.parameter_bytes.size(); ++i) {
      places.push_back(fmt::format("place{}", i));
    }
    places.emplace_back("nullptr");
    return text + fmt::format(
                      "  void* arguments[] = {{{}}};\n"
                      "  return cudaLaunchKernel(reinterpret_cast<const void*>(&{}), grid, block, "
                      "arguments,\n"
                      "                          shared_bytes, nullptr);\n}}\n",
                      fmt::join(places, ", "), kernel_.name);
  }

  [[nodiscard]] std::string reference() const {
    std::string text = fmt::format(
        "// What {} should compute: to be filled in.  The arguments are the arrays before the "
        "launch.\n"
        "#include <cstdint>\n#include <vector>\n\n",
        kernel_.name);
    if (outputs_.empty()) return text + "// It writes no array, so there is nothing to compare.\n";
    if (outputs_.size() > 1) {
      text += fmt::format("struct {}Output {{\n", type_);
      for (const std::size_t i : outputs_) {
        text += fmt::format("  {} {}{{}};\n", vector_type(i), field_name(kernel_.arrays[i].name));
      }
      text += "};\n\n";
    }
    std::vector<std::string> parameters;
    for (const ScalarParameter& scalar : kernel_.scalars) {
      parameters.push_back(fmt::format("[[maybe_unused]] {} {}", scalar_type(scalar.element),
                                       field_name(scalar.name)));
    }
    for (std::size_t i = 0; i < kernel_.arrays.size(); ++i) {
      const bool is_output = std::ranges::find(outputs_, i) != outputs_.end();
      const std::string name = field_name(kernel_.arrays[i].name);
      parameters.push_back(
          is_output ? fmt::format("{} {}", vector_type(i), name)
                    : fmt::format("[[maybe_unused]] const {}& {}", vector_type(i), name));
    }
    text += fmt::format("inline {} {}_reference(\n    {}) {{\n", output_type(), name_,
                        fmt::join(parameters, ",\n    "));
    std::vector<std::string> results;
    for (const std::size_t i : outputs_) results.push_back(field_name(kernel_.arrays[i].name));
    if (results.size() == 1) return text + fmt::format("  return {};\n}}\n", results.front());
    return text + fmt::format("  return {{{}}};\n}}\n", fmt::join(results, ", "));
  }

  [[nodiscard]] std::string pair() const {
    std::string text = fmt::format(
        "// {} of {}, as `warpcheck new --kernel` saw it.\n"
        "#include <warpcheck/warpcheck.hpp>\n\n"
        "#include <algorithm>\n#include <set>\n#include <vector>\n\n"
        "#include \"{}_reference.hpp\"\n"
        "using namespace warpcheck;\n"
        "{};  // in {}_launch.cu\n\n",
        kernel_.name, kernel_.file, name_, prototype(), name_);
    text += fmt::format("struct {}Input {{\n", type_);
    std::vector<std::string> fields;
    for (const ScalarParameter& scalar : kernel_.scalars) {
      fields.push_back(field_name(scalar.name));
      text += fmt::format("  {} {}{{}};\n", scalar_type(scalar.element), fields.back());
    }
    for (std::size_t i = 0; i < kernel_.arrays.size(); ++i) {
      fields.push_back(field_name(kernel_.arrays[i].name));
      text += fmt::format("  {} {}{{}};\n", vector_type(i), fields.back());
    }
    text += fmt::format("  LaunchConfig launch{{}};\n}};\nFIELDS({}Input, {}, launch);\n", type_,
                        fmt::join(fields, ", "));
    if (fields.empty())
      text = std::regex_replace(text, std::regex("Input, , launch"), "Input, launch");
    if (outputs_.size() > 1) {
      std::vector<std::string> names;
      for (const std::size_t i : outputs_) names.push_back(field_name(kernel_.arrays[i].name));
      text += fmt::format("FIELDS({}Output, {});\n", type_, fmt::join(names, ", "));
    }
    text += fmt::format("\nKERNEL_PAIR({}, {}Input, {}) = {{\n", name_, type_, output_type());
    return text + domain() + arbitrary() + kernel() + reference_member() + "};\n";
  }

 private:
  [[nodiscard]] std::string vector_type(std::size_t array) const {
    return fmt::format("std::vector<{}>", number_type(numbers_of(kernel_.arrays[array]).type));
  }

  [[nodiscard]] std::string output_type() const {
    if (outputs_.empty()) return "int";
    return outputs_.size() > 1 ? type_ + "Output" : vector_type(outputs_.front());
  }

  [[nodiscard]] std::string prototype() const {
    std::vector<std::string> parameters;
    for (const ScalarParameter& scalar : kernel_.scalars) {
      parameters.push_back(
          fmt::format("{} {}", scalar_type(scalar.element), field_name(scalar.name)));
    }
    for (const ArrayParameter& array : kernel_.arrays) {
      parameters.push_back("void* " + field_name(array.name));
    }
    parameters.insert(parameters.end(), {"dim3 grid", "dim3 block", "unsigned shared_bytes"});
    return fmt::format("cudaError_t {}_launch({})", name_, fmt::join(parameters, ", "));
  }

  [[nodiscard]] const std::string& field_name(const std::string& name) const {
    return fields_.at(name);
  }

  // Copies a variable to its place in the kernel's parameters; parameter: what it is there.
  static std::string copy_to(const ParameterPlace& place, const std::string& variable,
                             const std::string& parameter) {
    return fmt::format("  std::memcpy(place{0} + {1}, &{2}, sizeof {2});  // {3}\n",
                       place.parameter, place.offset, variable, parameter);
  }

  [[nodiscard]] std::string assignment(const ScalarParameter& scalar) const {
    const std::string name = field_name(scalar.name);
    if (scalar.element == ElementType::f16 || scalar.element == ElementType::bf16) {
      const bool is_half = scalar.element == ElementType::f16;
      return fmt::format("  const {0} {1}_value = {2}({1});\n",
                         is_half ? "__half" : "__nv_bfloat16", name,
                         is_half ? "__float2half" : "__float2bfloat16") +
             copy_to(scalar.place, name + "_value", scalar.name);
    }
    return copy_to(scalar.place, name, scalar.name);
  }

  // An expression of the kernel's integers, in C++ over the fields of `in`.
  [[nodiscard]] std::string over_input(const Expression& expression) const {
    static const std::regex kName(R"([A-Za-z_][\w.]*)");
    const std::string& text = expression.text();
    std::string result;
    std::size_t at = 0;
    for (std::sregex_iterator name(text.begin(), text.end(), kName), end; name != end; ++name) {
      result += text.substr(at, static_cast<std::size_t>(name->position()) - at);
      const std::string word = name->str();
      at = static_cast<std::size_t>(name->position()) + word.size();
      if (word == "true" || word == "false") {
        result += word;
      } else if (is_launch_name(word)) {
        result += fmt::format("std::int64_t(input.launch.{}.{})",
                              word.starts_with("block") ? "block" : "grid", word.back());
      } else {
        result += fmt::format("std::int64_t(input.{})", field_name(word));
      }
    }
    return result + text.substr(at);
  }

  [[nodiscard]] std::string length_text(std::size_t i) const {
    const ArrayParameter& array = kernel_.arrays[i];
    const std::size_t numbers = numbers_of(array).count;
    const std::string length = over_input(array.length);
    return numbers == 1 ? fmt::format("({})", length) : fmt::format("({}) * {}", length, numbers);
  }

  [[nodiscard]] std::string domain() const {
    std::vector<std::string> claims;
    for (const ScalarParameter& scalar : kernel_.scalars) {
      const ValueRange all = range_of(scalar.element);
      if (!is_integer(scalar.element) ||
          (scalar.range == all && scalar.element != ElementType::boolean))
        continue;
      const std::string value = fmt::format("std::int64_t(input.{})", field_name(scalar.name));
      claims.push_back(
          fmt::format("{0} >= {1} && {0} <= {2}", value, scalar.range.low, scalar.range.high));
    }
    for (const Expression& condition : kernel_.conditions) {
      claims.push_back(fmt::format("({})", over_input(condition)));
    }
    const auto add_extents = [&](const char* what, const auto& rules) {
      for (std::size_t d = 0; d < rules.size(); ++d) {
        if (rules[d]) {
          claims.push_back(fmt::format("std::int64_t(input.launch.{}.{}) == ({})", what, "xyz"[d],
                                       over_input(*rules[d])));
        }
      }
    };
    add_extents("block", kernel_.launch.block);
    add_extents("grid", kernel_.launch.grid);
    for (std::size_t d = 0; d < 3; ++d) {
      if (!is_grid_drawn(d)) continue;
      claims.push_back(
          fmt::format("std::int64_t(input.launch.grid.{0}) * input.launch.block.{0} >= {1}",
                      "xyz"[d], largest_text()));
    }
    claims.push_back(fmt::format("std::int64_t(input.launch.shared_bytes) == ({})",
                                 over_input(kernel_.launch.shared_bytes)));
    for (std::size_t i = 0; i < kernel_.arrays.size(); ++i) {
      claims.push_back(fmt::format("std::int64_t(input.{}.size()) == {}",
                                   field_name(kernel_.arrays[i].name), length_text(i)));
    }
    for (const ArrayParameter& array : kernel_.arrays) {
      add_claims_of_values(array, claims);
    }
    return fmt::format(
        "    .domain =\n        [](const {}Input& input) {{\n          return {};\n        }},\n",
        type_, fmt::join(claims, " &&\n                 "));
  }

  // What shrinking must keep.
  void add_claims_of_values(const ArrayParameter& array, std::vector<std::string>& claims) const {
    const std::string name = field_name(array.name);
    const ElementType element = numbers_of(array).type;
    std::optional<ValueRange> range = array.values;
    if (element == ElementType::boolean) range = range_of(element);
    if (range) {
      claims.push_back(
          fmt::format("std::ranges::all_of(input.{}, [](auto value) {{ return value >= {} && value "
                      "<= {}; }})",
                      name, range->low, range->high));
    }
    if (array.order == ArrayParameter::Order::ascending) {
      claims.push_back(fmt::format("std::ranges::is_sorted(input.{})", name));
    }
    if (array.order == ArrayParameter::Order::distinct) {
      claims.push_back(fmt::format(
          "std::set(input.{0}.begin(), input.{0}.end()).size() == input.{0}.size()", name));
    }
  }

  [[nodiscard]] static std::string generator(ElementType element,
                                             const std::optional<ValueRange>& range) {
    const std::string type = number_type(element);
    if (element == ElementType::f16) return "halves()";
    if (element == ElementType::bf16) return "bfloats()";
    if (!is_integer(element)) return fmt::format("floats<{}>()", type);
    if (range) return fmt::format("integers<{}>({}, {})", type, range->low, range->high);
    if (element == ElementType::boolean) return fmt::format("integers<{}>(0, 1)", type);
    return fmt::format("integers<{}>()", type);
  }

  [[nodiscard]] static std::string scalar_draw(const ScalarParameter& scalar) {
    const std::string type = scalar_type(scalar.element);
    if (!is_integer(scalar.element)) return fmt::format("draw(floats<{}>())", type);
    const ValueRange& range = scalar.range;
    if (range.low >= 0 && range.high <= 1 << 20) {
      return fmt::format("static_cast<{}>(draw(sizes({{.min = {}, .max = {}}})))", type, range.low,
                         range.high);
    }
    return fmt::format("draw({})", generator(scalar.element, range));
  }

  [[nodiscard]] std::string array_draw(std::size_t i) const {
    const ArrayParameter& array = kernel_.arrays[i];
    const std::string name = field_name(array.name);
    const ElementNumbers numbers = numbers_of(array);
    if (array.order == ArrayParameter::Order::distinct) {
      // A permutation; with a range, of its first numbers.
      return fmt::format(
          "          input.{0}.resize(std::max<std::int64_t>(0, {1}));\n"
          "          for (std::size_t i = 0; i < input.{0}.size(); ++i) {{\n"
          "            input.{0}[i] = static_cast<{2}>({3} + i);\n"
          "            std::swap(input.{0}[i], input.{0}[draw.below(i + 1)]);\n"
          "          }}\n",
          name, length_text(i), number_type(numbers.type), array.values ? array.values->low : 0);
    }
    std::string text =
        fmt::format("          input.{} = draw(vectors(std::max<std::int64_t>(0, {}), {}));{}\n",
                    name, length_text(i), generator(numbers.type, array.values),
                    numbers.is_bytes ? "  // bytes of " + array.type : "");
    if (array.order == ArrayParameter::Order::ascending) {
      text += fmt::format("          std::ranges::sort(input.{});\n", name);
    }
    return text;
  }

  [[nodiscard]] std::string arbitrary() const {
    std::string text = fmt::format(
        "    .arbitrary =\n        [](Draw& draw) {{\n          {}Input input;\n", type_);
    for (const ScalarParameter& scalar : kernel_.scalars) {
      text +=
          fmt::format("          input.{} = {};\n", field_name(scalar.name), scalar_draw(scalar));
    }
    text += launch_draw();
    for (std::size_t i = 0; i < kernel_.arrays.size(); ++i) text += array_draw(i);
    return text + "          return input;\n        },\n";
  }

  [[nodiscard]] bool is_grid_drawn(std::size_t d) const {
    return !kernel_.launch.grid[d] && static_cast<int>(d) < kernel_.launch.grid_dims;
  }

  // The largest of the integers, which drawn grids cover.
  [[nodiscard]] std::string largest_text() const {
    std::vector<std::string> integers{"1"};
    for (const ScalarParameter& scalar : kernel_.scalars) {
      if (is_integer(scalar.element) && bytes_of(scalar.element) > 1) {
        integers.push_back(fmt::format("std::int64_t(input.{})", field_name(scalar.name)));
      }
    }
    return fmt::format("std::max<std::int64_t>({{{}}})", fmt::join(integers, ", "));
  }

  [[nodiscard]] std::string launch_draw() const {
    std::string text;
    const auto& rule = kernel_.launch;
    for (std::size_t d = 0; d < 3; ++d) {
      if (!rule.block[d]) continue;
      text += fmt::format("          input.launch.block.{} = static_cast<unsigned>({});\n",
                          "xyz"[d], over_input(*rule.block[d]));
    }
    for (std::size_t d = 0; d < 3; ++d) {
      if (rule.grid[d]) {
        text += fmt::format("          input.launch.grid.{} = static_cast<unsigned>({});\n",
                            "xyz"[d], over_input(*rule.grid[d]));
      } else if (is_grid_drawn(d)) {
        // As many blocks as the largest number needs, and sometimes one more.
        text += fmt::format(
            "          input.launch.grid.{0} = static_cast<unsigned>(\n"
            "              {1} / input.launch.block.{0} + 1 + draw.below(2));\n",
            "xyz"[d], largest_text());
      }
    }
    if (rule.shared_bytes.text() != "0") {
      text += fmt::format("          input.launch.shared_bytes = static_cast<unsigned>({});\n",
                          over_input(rule.shared_bytes));
    }
    return text;
  }

  [[nodiscard]] std::string kernel() const {
    std::string text =
        fmt::format("    .kernel =\n        [](Device& device, const {}Input& input) {{\n", type_);
    std::vector<std::string> arguments;
    for (const ScalarParameter& scalar : kernel_.scalars) {
      arguments.push_back("input." + field_name(scalar.name));
    }
    for (const ArrayParameter& array : kernel_.arrays) {
      const std::string name = field_name(array.name);
      if (array.is_open) {
        text += fmt::format(
            "          // Trials do not show how long {0} must be: zeros follow it.\n"
            "          auto {0}_longer = input.{0};\n"
            "          {0}_longer.resize(4 * input.{0}.size() + {1});\n",
            name, 4096 * numbers_of(array).count);
      }
      text += fmt::format("          auto {0}_array = device.upload({1});\n", name,
                          array.is_open ? name + "_longer" : "input." + name);
      arguments.push_back(name + "_array.data()");
    }
    text += fmt::format(
        "          device.check({}_launch({}{}input.launch.grid, input.launch.block,\n"
        "                                 input.launch.shared_bytes));\n",
        name_, fmt::join(arguments, ", "), arguments.empty() ? "" : ", ");
    if (outputs_.empty()) {
      return text +
             "          device.check(cudaDeviceSynchronize());\n          return 0;\n        },\n";
    }
    std::vector<std::string> results;
    for (const std::size_t i : outputs_) {
      const std::string name = field_name(kernel_.arrays[i].name);
      results.push_back(name + (kernel_.arrays[i].is_open ? "_longer" : "_array.download()"));
      if (!kernel_.arrays[i].is_open) continue;
      text += fmt::format(
          "          {0}_longer = {0}_array.download();\n"
          "          {0}_longer.resize(input.{0}.size());\n",
          name);
    }
    if (results.size() == 1)
      return text + fmt::format("          return {};\n        }},\n", results.front());
    return text + fmt::format("          return {}Output{{{}}};\n        }},\n", type_,
                              fmt::join(results, ", "));
  }

  [[nodiscard]] std::string reference_member() const {
    if (outputs_.empty()) return "    .reference = none,\n";
    std::vector<std::string> arguments;
    for (const ScalarParameter& scalar : kernel_.scalars) {
      arguments.push_back("input." + field_name(scalar.name));
    }
    for (const ArrayParameter& array : kernel_.arrays) {
      arguments.push_back("input." + field_name(array.name));
    }
    return fmt::format(
        "    // `.reference = none` looks for races, bad accesses and unwritten values only.\n"
        "    .reference = [](const {}Input& input) {{ return {}_reference({}); }},\n",
        type_, name_, fmt::join(arguments, ", "));
  }

  std::string name_, type_;
  const KernelDescription& kernel_;
  std::map<std::string, std::string> fields_;  // by the names of the kernel's parameters
  std::vector<std::size_t> outputs_;           // arrays
};

std::string cmake_text(std::string_view name, const KernelOptions& options) {
  return fmt::format(
      "cmake_minimum_required(VERSION 3.24)\n"
      "project({0} LANGUAGES CXX CUDA)\n"
      "find_package(warpcheck REQUIRED)\n"
      "enable_testing()\n\n"
      "{1}\n",
      name, add_pairs_text(name, fmt::format("{}_launch.cu", name), options));
}

// Ends the part of a launcher that includes the kernel's file.
constexpr std::string_view kAfterInclude = "#undef main\n";

}  // namespace

std::string add_pairs_text(std::string_view name, std::string_view launcher,
                           const KernelOptions& options) {
  std::string nvcc = "OPTIONS -fmad=false";
  for (const std::string& option : options.nvcc) nvcc += " " + option;
  if (options.architecture == 75) {  // the default
    return fmt::format("warpcheck_add_pairs({0} FILES {1} {0}_pair.cpp {2})", name, launcher, nvcc);
  }
  return fmt::format(
      "warpcheck_kernels({0}_kernels FILES {1} ARCHITECTURE {2} {3})\n"
      "warpcheck_add_pairs({0} FILES {0}_pair.cpp LINK {0}_kernels)",
      name, launcher, options.architecture, nvcc);
}

std::string launch_function_of(const NewFile& launcher) {
  return launcher.text.substr(launcher.text.find(kAfterInclude) + kAfterInclude.size());
}

std::string launcher_beside(const std::string& directory, const NewFile& launcher) {
  const std::size_t begin = launcher.text.find("#define main");
  const std::string include =
      launcher.text.substr(begin, launcher.text.find(kAfterInclude) - begin);
  std::vector<std::string> found;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    const std::string name = entry.path().filename().string();
    if (!name.ends_with("_launch.cu")) continue;
    if (text_of_file(entry.path()).find(include) != std::string::npos) found.push_back(name);
  }
  return found.empty() ? "" : *std::ranges::min_element(found);
}

std::vector<NewFile> kernel_pair_files(std::string_view name, const AssumedKernel& kernel,
                                       const KernelOptions& options) {
  const PairText text(std::string(name), kernel);
  return {{fmt::format("{}_launch.cu", name), text.launcher()},
          {fmt::format("{}_reference.hpp", name), text.reference()},
          {fmt::format("{}_pair.cpp", name), text.pair()},
          {"CMakeLists.txt", cmake_text(name, options)}};
}

std::string pair_name_of(std::string_view kernel) {
  std::string name;
  for (const char c : kernel) {
    const auto byte = static_cast<unsigned char>(c);
    const bool is_kept = std::isalnum(byte) != 0;
    if (is_kept) name += static_cast<char>(std::tolower(byte));
    if (!is_kept && !name.empty() && name.back() != '_') name += '_';
  }
  while (!name.empty() && name.back() == '_') name.pop_back();
  return name;
}

}  // namespace warpcheck
