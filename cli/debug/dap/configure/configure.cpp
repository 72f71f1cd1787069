#include "cli/debug/dap/configure/configure.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <fstream>
#include <optional>
#include <sstream>

#include "cli/cli.hpp"
#include "cli/debug/dap/configure/launch_json.hpp"
#include "harness/case/atomic_file.hpp"
#include "harness/input/json.hpp"

namespace warpcheck::dap {
namespace {

namespace fs = std::filesystem;

constexpr const char* kType = "warpcheck";  // of configurations
constexpr int kIndent = 2;

struct Configuration {
  std::string name;
  std::string case_file;  // empty: a program
  std::string program;
  std::vector<std::string> arguments;
};

// Of what the command line names, or one of each kind with what the editor calls the open file.
std::vector<Configuration> configurations_of(const ConfiguredDebuggee& debuggee,
                                             const std::string& open_file,
                                             const std::string& program) {
  if (!debuggee.case_file.empty()) {
    return {{"warpcheck: " + fs::path(debuggee.case_file).filename().string(),
             fs::absolute(debuggee.case_file).lexically_normal().string(),
             "",
             {}}};
  }
  if (!debuggee.command.empty()) {
    const std::vector<std::string>& command = debuggee.command;
    return {{"warpcheck: " + fs::path(command[0]).filename().string(),
             "",
             fs::absolute(command[0]).lexically_normal().string(),
             {command.begin() + 1, command.end()}}};
  }
  return {{"warpcheck: the open case file", open_file, "", {}},
          {"warpcheck: a CUDA program", "", program, {}}};
}

Json vscode_configurations(const ConfiguredDebuggee& debuggee) {
  Json list = Json::array();
  for (const Configuration& each :
       configurations_of(debuggee, "${file}", "${workspaceFolder}/a.out")) {
    Json json = {{"name", each.name}, {"type", kType}, {"request", "launch"}};
    if (!each.case_file.empty()) {
      json["case"] = each.case_file;
    } else {
      json["program"] = each.program;
      json["args"] = each.arguments;
    }
    json["cwd"] = "${workspaceFolder}";
    list.push_back(json);
  }
  return list;
}

Json attribute(const char* type, const char* description) {
  return {{"type", type}, {"description", description}};
}

// A type of debuggers needs an extension that describes it.  This one has no code: it names the
// program that VS Code starts.
Json vscode_extension(const fs::path& adapter, const std::string& version) {
  const Json texts = {{"type", "array"}, {"items", {{"type", "string"}}}};
  Json arguments = texts;
  arguments["description"] = "Arguments of the program";
  const Json properties = {
      {"case", attribute("string", "A case file")},
      {"program", attribute("string", "A CUDA program, as nvcc built it")},
      {"args", arguments},
      {"cwd", attribute("string", "The directory in which it runs")},
      {"env", attribute("object", "Variables of its environment; null removes one")},
      {"stopOnEntry",
       attribute("boolean", "Stop before the first instruction of the first kernel")}};
  Json languages = Json::array();
  for (const char* each : {"cuda-cpp", "cpp", "c"}) languages.push_back({{"language", each}});
  return {{"name", "warpcheck-debugger"},
          {"publisher", "warpcheck"},
          {"displayName", "warpcheck debugger"},
          {"description", "Debugs CUDA kernels on the virtual GPU, forwards and backwards"},
          {"version", version},
          {"engines", {{"vscode", "^1.89.0"}}},
          {"categories", {"Debuggers"}},
          {"contributes",
           {{"breakpoints", languages},
            {"debuggers", Json::array({{{"type", kType},
                                        {"label", "warpcheck"},
                                        {"languages", {"cuda-cpp", "cpp"}},
                                        {"program", adapter.string()},
                                        {"args", {"debug", "--dap"}},
                                        {"configurationAttributes",
                                         {{"launch", {{"properties", properties}}}}}}})}}}};
}

std::optional<std::string> contents_of(const fs::path& path) {
  if (!fs::exists(path)) return std::nullopt;
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file) throw UsageError(fmt::format("cannot read {}", path.string()));
  return text.str();
}

// A text in Lua and in Lisp.
std::string in_quotes(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result + '"';
}

std::vector<std::string> all_in_quotes(const std::vector<std::string>& texts) {
  std::vector<std::string> result;
  for (const std::string& each : texts) result.push_back(in_quotes(each));
  return result;
}

}  // namespace

std::string configure_vscode(const fs::path& folder, const fs::path& adapter,
                             const std::string& version, const ConfiguredDebuggee& debuggee) {
  const fs::path launch = folder / ".vscode/launch.json";
  const fs::path extension = folder / ".vscode/extensions/warpcheck-debugger/package.json";
  const Json configurations = vscode_configurations(debuggee);
  std::optional<std::string> text;
  if (const std::optional<std::string> old = contents_of(launch)) {
    try {
      text = with_configurations(*old, configurations);
    } catch (const LaunchJsonError& error) {
      throw UsageError(fmt::format("{}: {}; correct it or move it away, and try again",
                                   launch.string(), error.what()));
    }
  } else {
    text = new_launch_json(configurations);
  }
  if (text) write_file_atomically(launch, *text);
  write_file_atomically(extension, vscode_extension(adapter, version).dump(kIndent) + "\n");
  std::vector<std::string> names;
  for (const Json& each : configurations)
    names.push_back(in_quotes(each["name"].get<std::string>()));
  return fmt::format(
      "{} {} {}\n"
      "{} describes the debugger to VS Code\n"
      "What is left to do, once, in VS Code 1.89 or newer:\n"
      "  open this folder and trust it; in the view Extensions, under Recommended, install\n"
      "  \"warpcheck debugger\" into the workspace.\n"
      "Then choose the configuration in the view Run and Debug, and press F5.\n",
      launch.string(), text ? "has now" : "has already", fmt::join(names, " and "),
      extension.string());
}

std::string nvim_configuration(const fs::path& adapter, const ConfiguredDebuggee& debuggee) {
  std::string text = fmt::format(
      "-- For init.lua, with the plugin nvim-dap.  Breakpoints: :DapToggleBreakpoint, start:\n"
      "-- :DapContinue, back: require(\"dap\").step_back() and .reverse_continue().\n"
      "local dap = require(\"dap\")\n"
      "dap.adapters.{} = {{\n"
      "  type = \"executable\",\n"
      "  command = {},\n"
      "  args = {{ \"debug\", \"--dap\" }},\n"
      "}}\n"
      "local configurations = {{\n",
      kType, in_quotes(adapter.string()));
  for (const Configuration& each : configurations_of(debuggee, "${file}", "")) {
    text += fmt::format("  {{\n    name = {},\n    type = \"{}\",\n    request = \"launch\",\n",
                        in_quotes(each.name), kType);
    if (!each.case_file.empty()) {
      text += fmt::format("    case = {},\n", in_quotes(each.case_file));
    } else if (each.program.empty()) {
      text +=
          "    program = function()\n"
          "      return vim.fn.input(\"Program: \", vim.fn.getcwd() .. \"/\", \"file\")\n"
          "    end,\n";
    } else {
      text += fmt::format("    program = {},\n    args = {{ {} }},\n", in_quotes(each.program),
                          fmt::join(all_in_quotes(each.arguments), ", "));
    }
    text += "    cwd = \"${workspaceFolder}\",\n  },\n";
  }
  return text +
         "}\n"
         "-- cuda: sources; json: case files, if *.case is read as JSON\n"
         "for _, filetype in ipairs({ \"cuda\", \"cpp\", \"json\" }) do\n"
         "  dap.configurations[filetype] = vim.list_extend(dap.configurations[filetype] or {}, "
         "configurations)\n"
         "end\n"
         "vim.filetype.add({ extension = { case = \"json\" } })\n";
}

std::string emacs_configuration(const fs::path& adapter, const ConfiguredDebuggee& debuggee) {
  std::string text =
      ";; For init.el, with the package dape.  Start: M-x dape, and the name of a configuration.\n"
      "(with-eval-after-load 'dape\n";
  for (const Configuration& each : configurations_of(debuggee, "", "a.out")) {
    const bool is_case = each.program.empty();
    std::string what;
    if (is_case) {
      what =
          ":case " + (each.case_file.empty() ? "dape-buffer-default" : in_quotes(each.case_file));
    } else {
      what = fmt::format(":program {} :args [{}]", in_quotes(each.program),
                         fmt::join(all_in_quotes(each.arguments), " "));
    }
    text += fmt::format(
        "  (add-to-list 'dape-configs\n"
        "               '({}-{}\n"
        "                 command {}\n"
        "                 command-args (\"debug\" \"--dap\")\n"
        "                 command-cwd dape-command-cwd\n"
        "                 :type \"{}\" :request \"launch\"\n"
        "                 {}\n"
        "                 :cwd dape-cwd))\n",
        kType, is_case ? "case" : "program", in_quotes(adapter.string()), kType, what);
  }
  text.insert(text.size() - 1, ")");
  return text;
}

}  // namespace warpcheck::dap
