// The state that all parts of the parser share while they parse one module.
#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "vgpu/ptx/library_files.hpp"
#include "vgpu/ptx/mnemonic.hpp"
#include "vgpu/ptx/module.hpp"
#include "vgpu/ptx/parse/function_names.hpp"
#include "vgpu/ptx/parse/lexer.hpp"
#include "vgpu/ptx/parse/symbols.hpp"

namespace warpcheck::ptx {

// Limits what a short text can make the parser allocate: `.reg .b32 %r<4000000000>`, or rows of an
// initialiser that are far apart.  Texts of nvcc are far below these limits.
struct Budget {
  std::uint64_t registers;
  std::uint64_t padding_bytes;  // of initialisers
};

// What stands between the braces of a function, for later.
struct BodyText {
  std::uint32_t function = 0;  // index into Module::functions
  std::uint32_t line = 0;      // of the first brace
  std::string_view text;
};

struct Context {
  Lexer lexer;
  Module& module;
  Budget budget;
  SymbolTable symbols;
  std::unordered_map<std::string_view, Mnemonic> mnemonics;  // each is decoded once
  FunctionNames function_names;
  FunctionsOfFiles functions_of_files;
  std::vector<BodyText>* later = nullptr;  // not null: bodies are put there, and not parsed
};

}  // namespace warpcheck::ptx
