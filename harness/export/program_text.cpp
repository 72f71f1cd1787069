// The text of an exported program: comments, sources, data, the calls of one run.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <set>
#include <span>

#include "harness/export/export.hpp"
#include "harness/pair/project.hpp"
#include "harness/report/kernel_signature.hpp"

namespace warpcheck {
namespace {

using cudart::AllocateCall;
using cudart::Call;
using cudart::DevicePlace;
using cudart::DownloadCall;
using cudart::FillCall;
using cudart::FreeCall;
using cudart::HostBytes;
using cudart::LaunchCall;
using cudart::MoveCall;
using cudart::UploadCall;

constexpr std::size_t kSharedBytesByDefault = 48 * 1024;

// The plain type that a pointer parameter points to: "int const*" -> "int"; else empty.
std::string pointee_of(std::string type) {
  if (type.empty() || type.back() != '*') return {};
  type.pop_back();
  if (type.ends_with(" const")) type.resize(type.size() - 6);
  return type;
}

struct PlainType {
  std::string_view cpp;     // in the demangler's notation
  std::string_view stored;  // in the program's text
  std::size_t bytes;
  bool is_signed;
};
// Floats are written as their bits, which keeps NaN payloads.
constexpr std::array kPlainTypes{
    PlainType{"int", "std::int32_t", 4, true},
    PlainType{"unsigned int", "std::uint32_t", 4, false},
    PlainType{"float", "std::uint32_t", 4, false},
    PlainType{"long", "std::int64_t", 8, true},
    PlainType{"unsigned long", "std::uint64_t", 8, false},
    PlainType{"long long", "std::int64_t", 8, true},
    PlainType{"unsigned long long", "std::uint64_t", 8, false},
    PlainType{"double", "std::uint64_t", 8, false},
    PlainType{"short", "std::int16_t", 2, true},
    PlainType{"unsigned short", "std::uint16_t", 2, false},
};
constexpr PlainType kByte{"unsigned char", "std::uint8_t", 1, false};

PlainType plain_type(std::string_view cpp) {
  const auto found = std::ranges::find(kPlainTypes, cpp, &PlainType::cpp);
  return found == kPlainTypes.end() ? kByte : *found;
}

bool is_floating(std::string_view cpp) { return cpp == "float" || cpp == "double"; }

std::string number_at(const std::byte* at, const PlainType& type) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, at, type.bytes);
  if (is_floating(type.cpp)) return fmt::format("0x{:0{}x}", bits, 2 * type.bytes);
  if (!type.is_signed) return fmt::format("{}{}", bits, type.bytes == 8 ? "u" : "");
  const auto unused = 64 - 8 * static_cast<int>(type.bytes);
  const std::int64_t value = static_cast<std::int64_t>(bits << unused) >> unused;
  // The lowest number of a type has no literal: its sign is an operator.
  if (value == INT64_MIN) return "INT64_MIN";
  return fmt::format("{}", value);
}

// "static const std::int32_t data0[] = {1, 0, 0};"
std::string array_text(const std::string& name, std::span<const std::byte> bytes,
                       const PlainType& type) {
  std::string text = fmt::format("static const {} {}[] = {{", type.stored, name);
  std::size_t column = text.size();
  for (std::size_t at = 0; at + type.bytes <= bytes.size(); at += type.bytes) {
    const std::string number = number_at(bytes.data() + at, type) + ",";
    if (column + number.size() > 98) {
      text += "\n   ";
      column = 3;
    }
    text += (text.back() == '{' ? "" : " ") + number;
    column += number.size() + 1;
  }
  if (bytes.empty()) text += "0";
  if (text.back() == ',') text.pop_back();
  return text + "};\n";
}

std::string hex_list(const std::vector<std::byte>& bytes) {
  std::vector<std::string> parts;
  for (const std::byte byte : bytes) parts.push_back(fmt::format("0x{:02x}", byte));
  return fmt::format("{{{}}}", fmt::join(parts, ", "));
}

std::string extents(const Dim3& dim) {
  if (dim.y == 1 && dim.z == 1) return fmt::format("{}", dim.x);
  return fmt::format("dim3({}, {}, {})", dim.x, dim.y, dim.z);
}

class CallWriter {
 public:
  explicit CallWriter(const std::vector<Call>& calls) : calls_(calls) {
    for (const Call& call : calls) learn(call);
  }

  // Definitions at namespace scope, then the function that makes the calls.
  [[nodiscard]] std::string text() {
    for (const Call& call : calls_) {
      std::visit([this](const auto& one) { write(one); }, call);
    }
    return data_ + "\n// The calls of one run.\nstatic void run_once() {\n" + body_ + "}\n";
  }
  [[nodiscard]] std::size_t downloads() const { return downloads_; }

 private:
  // Records the element types that kernels use for an allocation, and the host's module variables.
  void learn(const Call& call) {
    if (const auto* launch = std::get_if<LaunchCall>(&call)) {
      const auto parameters = signature_of(launch->kernel).parameters;
      for (std::size_t i = 0; i < launch->arguments.size(); ++i) {
        use(launch->arguments[i]);
        if (!parameters || parameters->size() != launch->arguments.size()) continue;
        const std::string pointee = pointee_of((*parameters)[i]);
        for (const HostBytes::Pointer& pointer : launch->arguments[i].pointers) {
          if (!pointee.empty()) element_of_.try_emplace(pointer.place.allocation, pointee);
        }
      }
    }
    if (const auto* upload = std::get_if<UploadCall>(&call)) {
      use(upload->target);
      use(upload->data);
    }
    if (const auto* download = std::get_if<DownloadCall>(&call)) use(download->source);
    if (const auto* fill = std::get_if<FillCall>(&call)) use(fill->target);
    if (const auto* move = std::get_if<MoveCall>(&call)) {
      use(move->target);
      use(move->source);
    }
  }
  void use(const DevicePlace& place) { used_.insert(place.allocation); }
  void use(const HostBytes& bytes) {
    for (const HostBytes::Pointer& pointer : bytes.pointers) use(pointer.place);
  }

  void line(const std::string& text) { body_ += "  " + text + "\n"; }

  [[nodiscard]] static std::string at(const DevicePlace& place) {
    if (place.allocation == DevicePlace::kNone) {
      if (place.offset == 0) return "nullptr";
      return fmt::format("reinterpret_cast<char*>({:#x})",
                         static_cast<std::uint64_t>(place.offset));
    }
    std::string text = fmt::format("memory{}", place.allocation);
    if (place.offset != 0) text += fmt::format(" + {}", place.offset);
    return text;
  }

  [[nodiscard]] std::string pointers_text(const HostBytes& value) const {
    std::vector<std::string> parts;
    for (const HostBytes::Pointer& pointer : value.pointers) {
      parts.push_back(fmt::format("{{{}, {}}}", pointer.at, at(pointer.place)));
    }
    return fmt::format("{{{}}}", fmt::join(parts, ", "));
  }

  void write(const AllocateCall& call) {
    if (call.variable.empty()) {
      line(fmt::format("char* const memory{} = exported::allocate({});", call.allocation,
                       call.bytes));
    } else if (used_.contains(call.allocation)) {
      line(fmt::format("char* const memory{} = exported::address_of({});", call.allocation,
                       signature_of(call.variable).name));
    }
  }

  void write(const FreeCall& call) { line(fmt::format("exported::release({});", at(call.place))); }

  void write(const UploadCall& call) {
    const std::string name = fmt::format("data{}", uploads_++);
    const std::vector<std::byte>& bytes = call.data.bytes;
    const auto element = element_of_.find(call.target.allocation);
    PlainType type = element == element_of_.end() ? kByte : plain_type(element->second);
    if (bytes.size() % type.bytes != 0) type = kByte;
    data_ += array_text(name, bytes, type);
    if (call.data.pointers.empty()) {
      line(fmt::format("exported::upload({}, {}, {});", at(call.target), name, bytes.size()));
      return;
    }
    // Pointers are known only at run time.
    line("{");
    line(fmt::format("  static unsigned char bytes[{}];", bytes.size()));
    line(fmt::format("  std::memcpy(bytes, {}, sizeof bytes);", name));
    line(
        fmt::format("  for (const exported::Pointer& pointer : "
                    "std::initializer_list<exported::Pointer>{}) {{",
                    pointers_text(call.data)));
    line("    std::memcpy(bytes + pointer.at, &pointer.address, sizeof pointer.address);");
    line("  }");
    line(fmt::format("  exported::upload({}, bytes, sizeof bytes);", at(call.target)));
    line("}");
  }

  void write(const DownloadCall& call) {
    const std::size_t number = downloads_++;
    data_ += fmt::format("alignas(16) static unsigned char result{}[{}];\n", number,
                         std::max<std::uint64_t>(call.size, 1));
    line(fmt::format("exported::download(result{}, {}, {});", number, at(call.source), call.size));
  }

  void write(const MoveCall& call) {
    line(fmt::format("exported::move({}, {}, {});", at(call.target), at(call.source), call.size));
  }

  void write(const FillCall& call) {
    line(fmt::format("exported::fill({}, {}, {});", at(call.target), call.value, call.size));
  }

  [[nodiscard]] std::string argument_text(const HostBytes& value, const std::string& type) const {
    const bool is_pointer = !type.empty() && type.back() == '*';
    if (is_pointer && value.bytes.size() == sizeof(void*)) {
      if (!value.pointers.empty()) {
        return fmt::format("reinterpret_cast<{}>({})", type, at(value.pointers.front().place));
      }
      std::uint64_t address = 0;
      std::memcpy(&address, value.bytes.data(), sizeof address);
      return address == 0 ? "nullptr" : fmt::format("reinterpret_cast<{}>({:#x})", type, address);
    }
    const PlainType plain = plain_type(type);
    if (plain.cpp == type && !is_floating(type) && plain.bytes == value.bytes.size() &&
        value.pointers.empty()) {
      return type == "int"
                 ? number_at(value.bytes.data(), plain)
                 : fmt::format("{}({})", plain.stored, number_at(value.bytes.data(), plain));
    }
    return fmt::format("exported::from_bytes<{}>({}{})", type, hex_list(value.bytes),
                       value.pointers.empty() ? "" : ", " + pointers_text(value));
  }

  void write(const LaunchCall& call) {
    const KernelSignature kernel = signature_of(call.kernel);
    const std::string shared = std::to_string(call.dynamic_shared_bytes);
    if (call.dynamic_shared_bytes > kSharedBytesByDefault) {
      line(fmt::format("exported::allow_shared_memory({}, {});", kernel.name, shared));
    }
    if (!kernel.parameters || kernel.parameters->size() != call.arguments.size()) {
      write_untyped(call, kernel.name);
      return;
    }
    std::vector<std::string> arguments;
    for (std::size_t i = 0; i < call.arguments.size(); ++i) {
      arguments.push_back(argument_text(call.arguments[i], (*kernel.parameters)[i]));
    }
    line(fmt::format("{}<<<{}, {}, {}>>>({});", kernel.name, extents(call.grid),
                     extents(call.block), shared, fmt::join(arguments, ", ")));
    line(fmt::format("exported::check(cudaGetLastError(), \"the launch of {}\");", kernel.name));
  }

  void write_untyped(const LaunchCall& call, const std::string& name) {
    line("{");
    std::vector<std::string> addresses;
    for (std::size_t i = 0; i < call.arguments.size(); ++i) {
      const HostBytes& value = call.arguments[i];
      line(fmt::format("  struct Argument{} {{ alignas({}) unsigned char bytes[{}]; }};", i,
                       value.bytes.size() % 8 == 0 ? 8 : 4, value.bytes.size()));
      line(fmt::format("  auto argument{0} = exported::from_bytes<Argument{0}>({1}, {2});", i,
                       hex_list(value.bytes), pointers_text(value)));
      addresses.push_back(fmt::format("&argument{}", i));
    }
    line(
        fmt::format("  void* arguments[] = {{{}}};",
                    addresses.empty() ? "nullptr" : fmt::format("{}", fmt::join(addresses, ", "))));
    line(fmt::format(
        "  exported::check(cudaLaunchKernel(reinterpret_cast<const void*>(&{}), {}, "
        "{}, arguments, {}, nullptr), \"the launch of {}\");",
        name, extents(call.grid), extents(call.block), call.dynamic_shared_bytes, name));
    line("}");
  }

  const std::vector<Call>& calls_;
  std::map<std::size_t, std::string> element_of_;  // by allocation
  std::set<std::size_t> used_;                     // allocations that the host uses
  std::string data_, body_;
  std::size_t uploads_ = 0, downloads_ = 0;
};

// The functions by which main() judges a run.
std::string results_text(const ExportedCase& exported, std::size_t downloads) {
  std::string text = "\nstatic std::uint64_t hash_of_results() {\n";
  text += "  std::uint64_t hash = 0xcbf29ce484222325;  // FNV-1a\n";
  text += "  const auto add = [&](const unsigned char* bytes, std::size_t size) {\n";
  text += "    for (std::size_t i = 0; i < size; ++i) hash = (hash ^ bytes[i]) * 0x100000001b3;\n";
  text += "  };\n  (void)add;\n";
  std::vector<std::uint64_t> sizes;
  for (const Call& call : exported.calls) {
    if (const auto* download = std::get_if<DownloadCall>(&call)) sizes.push_back(download->size);
  }
  for (std::size_t i = 0; i < downloads; ++i) {
    text += fmt::format("  add(result{}, {});\n", i, sizes[i]);
  }
  text += "  return hash;\n}\n\n";
  text += fmt::format("constexpr const char* kTitle = \"{}\";\n", exported.title);
  text += fmt::format("constexpr bool kCompared = {};\n", exported.expected.has_value());
  text += fmt::format("constexpr bool kRunsMayDiffer = {};\n\n",
                      exported.expected && exported.expected->rule.order_sensitive);
  if (!exported.expected) {
    return text + fmt::format(
                      "// Not compared: {}.\nstatic bool is_wrong(bool) {{ return false; "
                      "}}\n",
                      exported.not_compared);
  }
  const ExpectedDownloads& expected = *exported.expected;
  const std::size_t element_bytes =
      expected.downloaded == "float" ? sizeof(float) : expected.reference.element_bytes;
  text += "static bool is_wrong(bool tell) {\n  bool wrong = false;\n";
  if (expected.rule.comparison == Comparison::same_elements) {
    text += fmt::format("  exported::sort<{}>(result{}, {});\n", expected.downloaded,
                        expected.first, expected.reference.size());
    text += fmt::format("  exported::sort<{}>(reference, {});\n", expected.reference.element,
                        expected.reference.size());
  }
  std::size_t index = 0;
  for (std::size_t i = expected.first; i <= expected.last; ++i) {
    text += fmt::format("  wrong |= differs<{}>(result{}, {}, {}, tell && !wrong);\n",
                        expected.downloaded, i, sizes[i] / element_bytes, index);
    index += sizes[i] / element_bytes;
  }
  return text + "  return wrong;\n}\n";
}

// The reference's output, the bounds, and the comparing loop.
std::string reference_text(const ExpectedDownloads& expected) {
  const PlainOutput& reference = expected.reference;
  const auto stored = [&]() -> PlainType {
    if (reference.element == "float") return plain_type("float");
    if (reference.element == "double") return plain_type("double");
    for (const PlainType& type : kPlainTypes) {
      if (type.stored == reference.element && !is_floating(type.cpp)) return type;
    }
    return kByte;
  }();
  std::string text(program_comparison(expected.rule.comparison));
  text += "\n}  // namespace exported\n\n// What the reference makes of the input";
  text += is_floating(stored.cpp) ? fmt::format(": bits of {}s.\n", stored.cpp) : ".\n";
  std::string elements = array_text("reference", reference.bytes, stored);
  if (expected.rule.comparison == Comparison::same_elements) {
    elements.erase(elements.find("const "), std::strlen("const "));  // because it is sorted there
  }
  text += elements;
  std::string bound = fmt::format("{}", expected.rule.ulps);
  if (expected.rule.comparison == Comparison::within_bounds) {
    text += "// How far each element may be away, as bits of doubles.\n";
    const std::vector<double>& bounds = expected.rule.bounds;
    text += array_text("bounds", std::as_bytes(std::span(bounds)), plain_type("double"));
    bound = "bound";
  }
  text += R"cuda(
// Tells of the first element that is wrong.  The first of `bytes` is element `first` of the output.
template <class Out>
bool differs(const unsigned char* bytes, std::size_t count, std::size_t first, bool tell) {
  for (std::size_t i = 0; i < count; ++i) {
    Out out;
    std::memcpy(&out, bytes + i * sizeof out, sizeof out);
)cuda";
  text += fmt::format("    {} wanted;\n", reference.element);
  text += "    std::memcpy(&wanted, &reference[first + i], sizeof wanted);\n";
  if (bound == "bound") {
    text += "    double bound;\n    std::memcpy(&bound, &bounds[first + i], sizeof bound);\n";
  }
  text += fmt::format("    if (exported::agrees(out, wanted, {})) continue;\n", bound);
  text += R"cuda(    if (tell) {
      std::printf("out[%zu] = ", first + i);
      exported::print(out);
      std::printf(", reference ");
      exported::print(wanted);
      std::printf("\n");
    }
    return true;
  }
  return false;
}
)cuda";
  return text;
}

// The vendor's tools that look for such findings.
std::string tool_for(const std::vector<std::string>& kinds) {
  const auto has = [&](std::string_view kind) { return std::ranges::count(kinds, kind) != 0; };
  if (has("data-race")) return "racecheck";
  if (has("barrier-divergence")) return "synccheck";
  if (has("uninitialized-read") && !has("out-of-bounds")) return "initcheck";
  return "memcheck";
}

std::string heading(const ExportedCase& exported, const std::string& name) {
  const std::string program = name.substr(0, name.rfind('.'));
  std::string text =
      fmt::format("// {}: {}\n", exported.title,
                  exported.kinds.empty() ? "nothing recorded"
                                         : fmt::format("{}", fmt::join(exported.kinds, ", ")));
  text += fmt::format("// Written by `{} export {}`; needs only the CUDA Toolkit:\n//\n",
                      project().program, exported.file);
  text += fmt::format("//   nvcc -std=c++20 {} -arch=native {} -o {}\n", exported.options, name,
                      program);
  text += fmt::format("//   ./{} [RUNS]   (1000 if not given)\n", program);
  text += fmt::format("//   compute-sanitizer --tool {} ./{} 1\n//\n", tool_for(exported.kinds),
                      program);
  text +=
      "// Every run makes the calls of the case.  Status: 0 all runs alike and right, 1 a wrong\n"
      "// result, results that differ, or a failed call, 2 it could not be run.\n//\n";
  // A comment must not contain the line ends of the input.
  std::string summary = exported.summary;
  std::ranges::replace(summary, '\n', ' ');
  std::ranges::replace(summary, '\\', '/');
  return text + fmt::format("// input: {}\n", summary);
}

}  // namespace

std::string program_text(const ExportedCase& exported, const std::string& name) {
  const bool launches = std::ranges::any_of(
      exported.calls, [](const Call& call) { return std::holds_alternative<LaunchCall>(call); });
  if (!launches) throw ExportError("the case launches no kernel");
  CallWriter calls(exported.calls);
  const std::string run = calls.text();
  std::string text = heading(exported, name);
  text += "\n// ---- the kernels, from their files --------------------------------------------\n";
  text += exported.sources;
  const auto lines = std::ranges::count(text, '\n');
  text += fmt::format("#line {} \"{}\"\n", lines + 2, name);
  text += "\n// ---- the case ------------------------------------------------------------------\n";
  text += program_helpers();
  text += exported.expected ? reference_text(*exported.expected) : "\n}  // namespace exported\n";
  text += "\n// What is copied to the device, and where results are copied to.\n" + run;
  text += results_text(exported, calls.downloads());
  text += program_main();
  return text;
}

}  // namespace warpcheck
