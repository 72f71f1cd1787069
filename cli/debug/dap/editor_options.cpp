#include "cli/debug/dap/editor_options.hpp"

#include <filesystem>

#include "cli/debug/dap/configure/configure.hpp"
#include "cli/debug/dap/serve.hpp"
#include "cli/version.hpp"

namespace warpcheck::dap {

void EditorOptions::add_to(CLI::App& command) {
  CLI::Option* const dap = command.add_flag(
      "--dap", is_dap_,
      "For editors: speak the Debug Adapter Protocol over standard input and output");
  CLI::Option* const port =
      command
          .add_option("--port", port_,
                      "Speak it to one client, at this port of 127.0.0.1; 0: a free one, which is "
                      "printed")
          ->type_name("N");
  command
      .add_option("--configure", editor_,
                  "Write .vscode/launch.json (vscode), or print a configuration (nvim, emacs)")
      ->check(CLI::IsMember({"vscode", "nvim", "emacs"}))
      ->type_name("EDITOR")
      ->excludes(dap)
      ->excludes(port);
}

int EditorOptions::run(const debug::Target& target) const {
  if (port_) {
    serve_port(*port_, target);
    return kNothingFound;
  }
  if (is_dap_) {
    serve_standard_streams(target);
    return kNothingFound;
  }
  const ConfiguredDebuggee debuggee{target.case_file, target.program};
  const std::filesystem::path adapter = std::filesystem::read_symlink("/proc/self/exe");
  if (editor_ == "vscode") {
    print(configure_vscode(".", adapter, version(), debuggee));
  } else if (editor_ == "nvim") {
    print(nvim_configuration(adapter, debuggee));
  } else {
    print(emacs_configuration(adapter, debuggee));
  }
  return kNothingFound;
}

}  // namespace warpcheck::dap
