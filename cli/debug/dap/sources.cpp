#include "cli/debug/dap/sources.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <limits>

#include "harness/pair/source_path.hpp"
#include "vgpu/check/finding.hpp"

namespace warpcheck::dap {
namespace {

namespace fs = std::filesystem;

// Where a file is that nvcc recorded: relative paths are those of a build.
fs::path existing(const std::string& file) {
  std::error_code error;
  for (const fs::path& each : {fs::path(file), fs::path(built_path(file))}) {
    if (fs::exists(each, error)) return fs::absolute(each).lexically_normal();
  }
  return file;
}

// The number of names at the end of both paths that are the same.
std::size_t common_names(const fs::path& a, const fs::path& b) {
  const std::vector<fs::path> x(a.begin(), a.end()), y(b.begin(), b.end());
  const auto [end, other] = std::mismatch(x.rbegin(), x.rend(), y.rbegin(), y.rend());
  return static_cast<std::size_t>(end - x.rbegin());
}

}  // namespace

std::uint32_t Sources::from_client(std::int64_t line) const {
  const std::int64_t number = line + 1 - first_line_;
  const bool is_line = number > 0 && number <= std::numeric_limits<std::uint32_t>::max();
  return is_line ? static_cast<std::uint32_t>(number) : 0;
}

Json Sources::source_of(const std::string& file) const {
  return {{"name", fs::path(file).filename().string()}, {"path", existing(file).string()}};
}

void Sources::place(Json& frame, const debug::CodeLocation& at, debug::DebugSession& session) {
  frame["column"] = at.column;
  if (!at.file.empty()) {
    frame["source"] = source_of(at.file);
    frame["line"] = to_client(at.line);
    return;
  }
  const debug::KernelText& text = session.kernel_text();
  const auto number = static_cast<std::int64_t>(numbers_.size()) + 1;
  const auto [entry, is_new] = numbers_.emplace(text.name, number);
  if (is_new) texts_[number] = text.ptx;
  frame["source"] = {{"name", vgpu::kernel_name(text.name) + ".ptx"},
                     {"sourceReference", entry->second},
                     {"origin", "the code was built without -lineinfo"}};
  frame["line"] = to_client(std::max(at.ptx_line, 1u));
}

std::string Sources::recorded_file(const std::string& path,
                                   const std::vector<std::string>& recorded) {
  std::size_t common_max = 0;
  std::string best = path;
  for (const std::string& each : recorded) {
    if (each == path || existing(each) == fs::path(path)) return each;
    const std::size_t common = common_names(each, path);
    if (common > common_max) {
      common_max = common;
      best = each;
    }
  }
  return best;
}

void Sources::add_requests(Handlers& handlers) {
  handlers["source"] = [this](const Arguments& arguments) -> Answer {
    const std::int64_t number = arguments.integer("sourceReference");
    const auto text = texts_.find(number);
    if (text == texts_.end()) throw RequestError(fmt::format("there is no source {}", number));
    return Json{{"content", text->second}};
  };
}

}  // namespace warpcheck::dap
