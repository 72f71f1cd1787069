// What all parts of the parser share while they read one module.
#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>

#include "vgpu/ptx/mnemonic.hpp"
#include "vgpu/ptx/module.hpp"
#include "vgpu/ptx/parse/lexer.hpp"
#include "vgpu/ptx/parse/symbols.hpp"

namespace warpcheck::ptx {

// Bounds what a short text can make the parser allocate: `.reg .b32 %r<4000000000>`, or rows of an
// initialiser far apart.  A text of nvcc's never comes near.
struct Budget {
  std::uint64_t registers;
  std::uint64_t padding_bytes;  // of initialisers
};

struct Context {
  Lexer lexer;
  Module& module;
  Budget budget;
  SymbolTable symbols;
  std::unordered_map<std::string_view, Mnemonic> mnemonics;  // each is read once
};

}  // namespace warpcheck::ptx
