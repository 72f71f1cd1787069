#include "cli/look/listing_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

#include "harness/input/json.hpp"
#include "harness/pair/source_path.hpp"
#include "harness/report/source_excerpt.hpp"
#include "vgpu/check/finding.hpp"
#include "vgpu/check/trace/trace_options.hpp"
#include "vgpu/program/listing.hpp"
#include "vgpu/text/counted.hpp"

namespace warpcheck {
namespace {

std::string title_of(const std::string& mangled, bool full_names) {
  const std::string name = vgpu::kernel_name(mangled);
  return full_names ? name : vgpu::short_kernel_name(name);
}

bool is_listed(const ListingStyle& style, const ShownKernel& kernel) {
  vgpu::TraceOptions wanted;
  wanted.kernel = style.kernel;
  return vgpu::shows_kernel(wanted, kernel.name);
}

// One kernel as text.
class ListingWriter {
 public:
  ListingWriter(const vgpu::Listing& listing, SourceFiles& files)
      : listing_(listing), files_(files) {}

  std::string write(const std::string& title, const std::string& build) {
    text_ = fmt::format("kernel {}{}\n", title, build.empty() ? "" : ", " + build + " build");
    std::uint32_t bytes = 0;
    for (const vgpu::Parameter& one : listing_.parameters) bytes += one.bytes;
    text_ += fmt::format("  {}, {}; local memory: {} a thread\n",
                         counted(listing_.parameters.size(), "parameter"), counted(bytes, "byte"),
                         counted(listing_.local_bytes, "byte"));
    for (const vgpu::Symbol& one : listing_.shared) {
      text_ += fmt::format("  shared {} at {}: {}\n", one.name, one.offset,
                           one.bytes == 0 ? "size from the launch" : counted(one.bytes, "byte"));
    }
    for (const std::string& sentence : listing_.proved) {
      text_ += fmt::format("  known: {}\n", sentence);
    }
    for (std::size_t i = 0; i < listing_.functions.size(); ++i) {
      const vgpu::Listing::Function& function = listing_.functions[i];
      if (i != 0) text_ += fmt::format("\nfunction {}\n", title_of(function.name, true));
      for (const vgpu::Listing::Block& block : function.blocks) write_block(block);
    }
    return text_;
  }

 private:
  void write_block(const vgpu::Listing::Block& block) {
    text_ += fmt::format("\nblock {}", block.number);
    if (!block.successors.empty())
      text_ += fmt::format(" -> {}", fmt::join(block.successors, ", "));
    if (block.ends) text_ += block.successors.empty() ? " -> end" : ", end";
    if (block.meets) text_ += fmt::format("; lanes that part meet again at block {}", *block.meets);
    text_ += "\n";
    place_.clear();
    for (const vgpu::Listing::Instruction& one : block.code) write_one(one);
  }

  void write_one(const vgpu::Listing::Instruction& one) {
    const std::string place =
        one.file.empty() ? "" : fmt::format("{}:{}", repository_path(one.file), one.line);
    if (place != place_ && !place.empty()) {
      text_ += fmt::format("  {}{}\n", place, source_of(one));
    }
    place_ = place;
    std::string line = fmt::format("  {:>6}  {:<44}", one.pc, one.text);
    if (!one.touches.empty()) line += fmt::format("  touches {}", one.touches);
    for (const std::string& note : one.notes) line += fmt::format("  ({})", note);
    line.erase(line.find_last_not_of(' ') + 1);
    text_ += line + "\n";
  }

  std::string source_of(const vgpu::Listing::Instruction& one) {
    const std::vector<std::string>* const lines = files_.find(one.file);
    if (lines == nullptr || one.line == 0 || one.line > lines->size()) return {};
    const std::string& line = (*lines)[one.line - 1];
    const std::size_t begin = line.find_first_not_of(" \t");
    return begin == std::string::npos ? "" : "  " + line.substr(begin);
  }

  const vgpu::Listing& listing_;
  SourceFiles& files_;
  std::string text_, place_;
};

Json json_of(const vgpu::Listing::Instruction& one) {
  Json json{{"pc", one.pc}, {"text", one.text}, {"ptx_line", one.ptx_line}};
  if (!one.file.empty()) {
    json["file"] = repository_path(one.file);
    json["line"] = one.line;
  }
  if (!one.touches.empty()) json["touches"] = one.touches;
  if (!one.notes.empty()) json["notes"] = one.notes;
  return json;
}

Json json_of(const vgpu::Listing::Block& block) {
  Json json{{"block", block.number}, {"successors", block.successors}, {"ends", block.ends}};
  if (block.meets) json["meets"] = *block.meets;
  json["code"] = Json::array();
  for (const vgpu::Listing::Instruction& one : block.code) json["code"].push_back(json_of(one));
  return json;
}

Json json_of(const vgpu::Listing& listing) {
  Json json{{"mangled", listing.kernel}, {"local_bytes", listing.local_bytes}};
  json["parameters"] = Json::array();
  for (const vgpu::Parameter& one : listing.parameters) {
    json["parameters"].push_back({{"offset", one.offset}, {"bytes", one.bytes}});
  }
  json["shared"] = Json::array();
  for (const vgpu::Symbol& one : listing.shared) {
    json["shared"].push_back({{"name", one.name}, {"offset", one.offset}, {"bytes", one.bytes}});
  }
  json["known"] = listing.proved;
  json["functions"] = Json::array();
  for (const vgpu::Listing::Function& function : listing.functions) {
    Json blocks = Json::array();
    for (const vgpu::Listing::Block& block : function.blocks) blocks.push_back(json_of(block));
    json["functions"].push_back({{"name", function.name}, {"blocks", std::move(blocks)}});
  }
  return json;
}

}  // namespace

std::string listing_text(const ShownPrograms& shown, const ListingStyle& style) {
  SourceFiles files;
  std::string text;
  for (const ShownKernel& kernel : shown.kernels) {
    if (!is_listed(style, kernel)) continue;
    if (!text.empty()) text += "\n";
    const std::string title = title_of(kernel.name, style.full_names);
    if (kernel.program == nullptr) {
      text += fmt::format("kernel {}\n  cannot be executed: {}\n", title, kernel.refusal);
      continue;
    }
    const vgpu::Listing listing = vgpu::list_program(*kernel.program);
    text += ListingWriter(listing, files).write(title, shown.build);
  }
  return text;
}

std::string listing_json(const ShownPrograms& shown, const ListingStyle& style) {
  Json kernels = Json::array();
  for (const ShownKernel& kernel : shown.kernels) {
    if (!is_listed(style, kernel)) continue;
    Json json{{"kernel", title_of(kernel.name, true)}};
    if (kernel.program == nullptr) {
      json["refusal"] = kernel.refusal;
    } else {
      json.update(json_of(vgpu::list_program(*kernel.program)));
    }
    kernels.push_back(std::move(json));
  }
  Json json{{"schema", "warpcheck-show/1"}};
  if (!shown.build.empty()) json["build"] = shown.build;
  json["kernels"] = std::move(kernels);
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace warpcheck
