#include "cli/kernel/pair_files.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <regex>

#include "cli/cli.hpp"

namespace warpcheck {
namespace {

constexpr std::size_t kFieldsMax = 16;  // of FIELDS

// "image.width" -> "image_width"
std::string field_name(std::string name) {
  std::ranges::replace(name, '.', '_');
  return name;
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

// Numbers of an element, which all have one type and no padding between them.
std::size_t numbers_of(const ArrayParameter& array) {
  const ElementType first = array.columns.front().element;
  for (const ArrayParameter::Column& column : array.columns) {
    if (column.element != first) {
      throw UsageError(
          fmt::format("array '{}': its elements ({}) have numbers of several types, "
                      "so the pair must be written by hand",
                      array.name, array.type));
    }
  }
  if (array.columns.size() * bytes_of(first) != array.element_bytes) {
    throw UsageError(
        fmt::format("array '{}': its elements ({}) have padding, so the pair must be "
                    "written by hand",
                    array.name, array.type));
  }
  return array.columns.size();
}

class PairText {
 public:
  PairText(std::string name, const AssumedKernel& assumed)
      : name_(std::move(name)),
        type_(type_name(name_)),
        kernel_(assumed.assumptions.kernel),
        assumed_(assumed) {
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
        "#include <cstdint>\n"
        "#define main main_of_the_kernels_file  // a program has one\n"
        "#include \"{1}\"\n"
        "#undef main\n"
        "\n"
        "namespace {{\n"
        "// Converts to the kernel's own types.\n"
        "struct AnyPointer {{\n"
        "  void* address;\n"
        "  template <class T>\n"
        "  operator T*() const {{\n"
        "    return static_cast<T*>(address);\n"
        "  }}\n"
        "}};\n"
        "template <class Number>\n"
        "struct AnyNumber {{\n"
        "  Number value;\n"
        "  template <class T>\n"
        "  operator T() const {{\n"
        "    return static_cast<T>(value);\n"
        "  }}\n"
        "}};\n"
        "}}  // namespace\n"
        "\n"
        "{2} {{\n",
        kernel_.name, kernel_.file, prototype());
    text += structs();
    text += fmt::format("  {}<<<grid, block, shared_bytes>>>({});\n", kernel_.name,
                        fmt::join(arguments_of_kernel(), ", "));
    return text + "  return cudaGetLastError();\n}\n";
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
        "#include <warpcheck/warpcheck.hpp>\n"
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
  static std::string type_name(std::string_view name) {
    std::string type;
    bool starts = true;
    for (const char c : name) {
      if (c != '_') type += starts ? static_cast<char>(std::toupper(c)) : c;
      starts = c == '_';
    }
    return type;
  }

  [[nodiscard]] std::string vector_type(std::size_t array) const {
    return fmt::format("std::vector<{}>",
                       number_type(kernel_.arrays[array].columns.front().element));
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

  // Assignments to the members of structs that are passed by value.
  [[nodiscard]] std::string structs() const {
    std::string text;
    for (const ParameterName& parameter : assumed_.parameters) {
      if (!parameter.is_struct) continue;
      text += fmt::format("  {} {}{{}};\n", parameter.type, parameter.name);
      const auto assign = [&](const std::string& name, const std::string& value) {
        if (!name.starts_with(parameter.name + ".")) return;
        text += fmt::format("  {} = {};\n", member_text(name), value);
      };
      for (const ScalarParameter& scalar : kernel_.scalars) {
        assign(scalar.name, number_text(scalar));
      }
      for (const ArrayParameter& array : kernel_.arrays) {
        assign(array.name, fmt::format("AnyPointer{{{}}}", field_name(array.name)));
      }
    }
    return text;
  }

  // "m.rows.0" -> "m.rows[0]"
  static std::string member_text(const std::string& name) {
    static const std::regex kIndex(R"(\.(\d+))");
    return std::regex_replace(name, kIndex, "[$1]");
  }

  static std::string number_text(const ScalarParameter& scalar) {
    return fmt::format("AnyNumber<{}>{{{}}}", scalar_type(scalar.element), field_name(scalar.name));
  }

  [[nodiscard]] std::vector<std::string> arguments_of_kernel() const {
    std::vector<std::string> arguments;
    for (std::uint32_t i = 0; i < assumed_.parameters.size(); ++i) {
      if (assumed_.parameters[i].is_struct) {
        arguments.push_back(assumed_.parameters[i].name);
        continue;
      }
      for (const ScalarParameter& scalar : kernel_.scalars) {
        if (scalar.place.parameter == i) arguments.push_back(number_text(scalar));
      }
      for (const ArrayParameter& array : kernel_.arrays) {
        if (array.place.parameter != i) continue;
        arguments.push_back(fmt::format("AnyPointer{{{}}}", field_name(array.name)));
      }
    }
    return arguments;
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
        result += fmt::format("std::int64_t(in.launch.{}.{})",
                              word.starts_with("block") ? "block" : "grid", word.back());
      } else {
        result += fmt::format("std::int64_t(in.{})", field_name(word));
      }
    }
    return result + text.substr(at);
  }

  [[nodiscard]] std::string length_text(std::size_t i) const {
    const ArrayParameter& array = kernel_.arrays[i];
    const std::size_t numbers = numbers_of(array);
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
      const std::string value = fmt::format("std::int64_t(in.{})", field_name(scalar.name));
      claims.push_back(
          fmt::format("{0} >= {1} && {0} <= {2}", value, scalar.range.low, scalar.range.high));
    }
    for (const Expression& condition : kernel_.conditions) {
      claims.push_back(fmt::format("({})", over_input(condition)));
    }
    const auto add_extents = [&](const char* what, const auto& rules) {
      for (std::size_t d = 0; d < rules.size(); ++d) {
        if (rules[d]) {
          claims.push_back(fmt::format("std::int64_t(in.launch.{}.{}) == ({})", what, "xyz"[d],
                                       over_input(*rules[d])));
        }
      }
    };
    add_extents("block", kernel_.launch.block);
    add_extents("grid", kernel_.launch.grid);
    claims.push_back(fmt::format("std::int64_t(in.launch.shared_bytes) == ({})",
                                 over_input(kernel_.launch.shared_bytes)));
    for (std::size_t i = 0; i < kernel_.arrays.size(); ++i) {
      claims.push_back(fmt::format("std::int64_t(in.{}.size()) == {}",
                                   field_name(kernel_.arrays[i].name), length_text(i)));
    }
    return fmt::format(
        "    .domain =\n        [](const {}Input& in) {{\n          return {};\n        }},\n",
        type_, fmt::join(claims, " &&\n                 "));
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

  [[nodiscard]] std::string arbitrary() const {
    std::string text =
        fmt::format("    .arbitrary =\n        [](Draw& draw) {{\n          {}Input in;\n", type_);
    for (const ScalarParameter& scalar : kernel_.scalars) {
      text += fmt::format("          in.{} = {};\n", field_name(scalar.name), scalar_draw(scalar));
    }
    text += launch_draw();
    for (std::size_t i = 0; i < kernel_.arrays.size(); ++i) {
      const ArrayParameter& array = kernel_.arrays[i];
      text += fmt::format("          in.{} = draw(vectors(std::max<std::int64_t>(0, {}), {}));\n",
                          field_name(array.name), length_text(i),
                          generator(array.columns.front().element, array.values));
    }
    return text + "          return in;\n        },\n";
  }

  [[nodiscard]] std::string launch_draw() const {
    std::string text;
    const auto& rule = kernel_.launch;
    for (std::size_t d = 0; d < 3; ++d) {
      if (!rule.block[d]) continue;
      text += fmt::format("          in.launch.block.{} = static_cast<unsigned>({});\n", "xyz"[d],
                          over_input(*rule.block[d]));
    }
    std::vector<std::string> integers{"1"};
    for (const ScalarParameter& scalar : kernel_.scalars) {
      if (is_integer(scalar.element) && scalar.element != ElementType::boolean) {
        integers.push_back(fmt::format("std::int64_t(in.{})", field_name(scalar.name)));
      }
    }
    for (std::size_t d = 0; d < 3; ++d) {
      if (rule.grid[d]) {
        text += fmt::format("          in.launch.grid.{} = static_cast<unsigned>({});\n", "xyz"[d],
                            over_input(*rule.grid[d]));
      } else if (static_cast<int>(d) < rule.grid_dims) {
        // As many blocks as the largest number needs, and sometimes one more.
        text += fmt::format(
            "          in.launch.grid.{0} = static_cast<unsigned>(\n"
            "              std::max<std::int64_t>({{{1}}}) / in.launch.block.{0} + 1 + "
            "draw.below(2));\n",
            "xyz"[d], fmt::join(integers, ", "));
      }
    }
    if (rule.shared_bytes.text() != "0") {
      text += fmt::format("          in.launch.shared_bytes = static_cast<unsigned>({});\n",
                          over_input(rule.shared_bytes));
    }
    return text;
  }

  [[nodiscard]] std::string kernel() const {
    std::string text =
        fmt::format("    .kernel =\n        [](Device& device, const {}Input& in) {{\n", type_);
    std::vector<std::string> arguments;
    for (const ScalarParameter& scalar : kernel_.scalars) {
      arguments.push_back("in." + field_name(scalar.name));
    }
    for (const ArrayParameter& array : kernel_.arrays) {
      const std::string name = field_name(array.name);
      text += fmt::format("          auto {0} = device.upload(in.{0});\n", name);
      arguments.push_back(name + ".data()");
    }
    text += fmt::format(
        "          device.check({}_launch({}{}in.launch.grid, in.launch.block,\n"
        "                                 in.launch.shared_bytes));\n",
        name_, fmt::join(arguments, ", "), arguments.empty() ? "" : ", ");
    if (outputs_.empty()) {
      return text +
             "          device.check(cudaDeviceSynchronize());\n          return 0;\n        },\n";
    }
    std::vector<std::string> results;
    for (const std::size_t i : outputs_) {
      results.push_back(field_name(kernel_.arrays[i].name) + ".download()");
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
      arguments.push_back("in." + field_name(scalar.name));
    }
    for (const ArrayParameter& array : kernel_.arrays) {
      arguments.push_back("in." + field_name(array.name));
    }
    return fmt::format(
        "    // `.reference = none` looks for races, bad accesses and unwritten values only.\n"
        "    .reference = [](const {}Input& in) {{ return {}_reference({}); }},\n",
        type_, name_, fmt::join(arguments, ", "));
  }

  std::string name_, type_;
  const KernelDescription& kernel_;
  const AssumedKernel& assumed_;
  std::vector<std::size_t> outputs_;  // arrays
};

std::string cmake_text(std::string_view name, const KernelOptions& options) {
  return fmt::format(
      "cmake_minimum_required(VERSION 3.24)\n"
      "project({0} LANGUAGES CXX CUDA)\n"
      "find_package(warpcheck REQUIRED)\n"
      "enable_testing()\n\n"
      "{1}\n",
      name, add_pairs_text(name, options));
}

}  // namespace

std::string add_pairs_text(std::string_view name, const KernelOptions& options) {
  std::string text = fmt::format(
      "warpcheck_add_pairs({0} FILES {0}_launch.cu {0}_pair.cpp OPTIONS -fmad=false", name);
  for (const std::string& option : options.nvcc) text += " " + option;
  return text + ")";
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
