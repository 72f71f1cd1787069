// The scopes of a frame: the variables that it sees, its thread's registers, what the lanes of its
// warp hold side by side, where it stands in the launch, and what was found.
#pragma once

#include <string>
#include <vector>

#include "cli/debug/dap/numbered_session.hpp"
#include "cli/debug/inspector.hpp"

namespace warpcheck::dap {

[[nodiscard]] inline debug::Inspector::At at_of(const ThreadFrame& frame) {
  return {frame.thread, frame.index};
}

struct FrameScope {
  std::string name;
  std::string hint;           // how the client shows it: "locals", "registers"; may be empty
  bool is_expensive = false;  // not opened before its user asks for it
  Members variables;
};

// The variables are read when they are asked for; `debuggee` must still be at this stop then.
[[nodiscard]] std::vector<FrameScope> scopes_of(NumberedSession& debuggee, const ThreadFrame& frame,
                                                debug::Format format);

[[nodiscard]] ShownVariable shown(NumberedSession& debuggee, const ThreadFrame& frame,
                                  const debug::Inspector::Shown& value, debug::Format format);

// "5 (0x5)"; a register that was computed from what nobody has written says so.
[[nodiscard]] std::string register_text(const debug::Register& value, debug::Format format);

}  // namespace warpcheck::dap
