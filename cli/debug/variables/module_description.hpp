// What the PTX text of one module says of its variables and types: by its debug information if it
// was made by nvcc -G, else by its own declarations.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/debug/variables/debug_info.hpp"
#include "cli/debug/variables/thread_view.hpp"
#include "cli/debug/variables/types.hpp"
#include "vgpu/ptx/module.hpp"

namespace warpcheck::debug {

class ModuleDescription {
 public:
  // text: PTX; name: of it, for errors.
  ModuleDescription(std::string_view text, std::string_view name);

  // nullptr: the text has no debug information, or it cannot be read.
  [[nodiscard]] const DebugInfo* debug_info() const { return debug_info_.get(); }
  // Why the debug information cannot be read; empty: it can, or there is none.
  [[nodiscard]] const std::string& problem() const { return problem_; }

  // A type of C++, or of the program; nullptr: there is none of that name.
  [[nodiscard]] const Type* find_type(std::string_view name) const;
  [[nodiscard]] BasicTypes& basic_types() const { return *basic_types_; }

  // The value of a register of the thread's frame.  Its bits are unwritten if no path to the place
  // writes it.  Nothing: the function has no such register.
  [[nodiscard]] std::optional<RegisterBits> register_bits(const ThreadView& thread,
                                                          std::string_view name) const;

  // A variable that the text declares, by its name in PTX or in C++: "share" for
  // "_ZZ6kernelPiE5share".
  struct Declared {
    std::string name;  // in PTX
    std::string shown;
    const Type* type = nullptr;  // an array of bytes if the text says no more
  };
  // function: mangled; its own variables come first.
  [[nodiscard]] std::optional<Declared> find_declared(std::string_view name,
                                                      std::string_view function) const;
  // The parameters of a kernel, as its mangled name and the text describe them: "param 0".
  [[nodiscard]] std::vector<Declared> parameters_of(std::string_view function) const;
  // The variables of the module, and the shared ones of the function.
  [[nodiscard]] const std::vector<Declared>& variables_of(std::string_view function) const;

 private:
  // element: nullptr: the type of its elements that the text gives
  [[nodiscard]] Declared declared(const ptx::Variable& variable, const Type* element) const;

  std::unique_ptr<const DebugInfo> debug_info_;
  std::string problem_;
  std::unique_ptr<BasicTypes> basic_types_ = std::make_unique<BasicTypes>();
  ptx::Module module_;
  mutable std::map<std::string, std::vector<Declared>, std::less<>> variables_;  // by function
};

}  // namespace warpcheck::debug
