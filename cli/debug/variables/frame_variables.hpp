// The variables that a frame of a stopped thread can see, with their values.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/debug/variables/module_description.hpp"
#include "cli/debug/variables/thread_view.hpp"
#include "cli/debug/variables/value.hpp"

namespace warpcheck::debug {

class FrameVariables {
 public:
  // inlined: of the frames that share the thread's registers at this place, the number of this one;
  // 0 is the innermost.
  // is_outermost: it is the last of them.  It has the variables of all functions around it, because
  // unoptimised PTX does not say for each line where it was inlined, so a frame may stand for
  // several functions.  Both objects must outlive this one.
  FrameVariables(const ModuleDescription& module, const ThreadView& thread, std::size_t inlined = 0,
                 bool is_outermost = true);

  [[nodiscard]] const ModuleDescription& module() const { return module_; }
  [[nodiscard]] const ThreadView& thread() const { return thread_; }

  // Parameters, and variables in scope, the innermost first; one that hides another comes first.
  [[nodiscard]] std::vector<NamedValue> arguments() const;
  [[nodiscard]] std::vector<NamedValue> locals() const;
  // Variables outside functions.
  [[nodiscard]] std::vector<NamedValue> globals() const;

  // Nothing: no variable of that name can be seen from here.
  [[nodiscard]] std::optional<NamedValue> find(std::string_view name) const;
  // Why find() knows no variable of that name, and what to do: "no variable `n` ...".
  [[nodiscard]] std::string why_unknown(std::string_view name) const;

 private:
  [[nodiscard]] std::optional<NamedValue> find_local(std::string_view name) const;
  [[nodiscard]] std::optional<NamedValue> find_member_of_this(std::string_view name) const;
  [[nodiscard]] std::vector<NamedValue> of_scopes(bool parameters) const;
  [[nodiscard]] NamedValue value_of(const Variable& variable) const;
  [[nodiscard]] NamedValue value_of(const ModuleDescription::Declared& declared) const;

  const ModuleDescription& module_;
  const ThreadView& thread_;
  std::vector<Scope> scopes_;  // of this frame, the innermost first
};

}  // namespace warpcheck::debug
