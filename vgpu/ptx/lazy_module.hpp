// A module whose functions are parsed when a kernel needs them.
//
// A program may bring thousands of kernels and launch a few.  What stands between the braces of its
// functions is nearly all of its text and, once parsed, twenty times as large.  So the declarations
// are parsed first, and the body of a function with the first kernel that may reach it.
//
// A syntax error in a body is found when the body is parsed.  parse() finds all of them.
#pragma once

#include <memory>
#include <string_view>

#include "vgpu/ptx/module.hpp"

namespace warpcheck::ptx {

class LazyModule {
 public:
  // Parses the declarations.  text: must outlive this.  Throws ParseError.
  LazyModule(std::string_view text, std::string_view name);
  // Of which all is parsed.
  explicit LazyModule(Module whole);
  ~LazyModule();

  // The module, with the bodies of those functions that were asked for.  Its functions and
  // variables stay where they are.
  [[nodiscard]] const Module& module() const;

  // Parses the bodies of all functions that a kernel may reach: those that it calls and those that
  // they call; all of the module if one of them calls through a register, or takes parameters of
  // unknown size, because such code depends on what else the module has.  No function of that name:
  // nothing happens.  Throws ParseError.
  void parse_reached_from(std::string_view kernel);
  void parse_all();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace warpcheck::ptx
