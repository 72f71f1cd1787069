// A parsed PTX translation unit: the content of the text, before any decisions.
//
// The parser resolves names to indices.  Registers, `.param` variables and labels are scoped, and
// `{ ... }` scopes may redeclare a name, so names are not unique; indices are.  Everything that
// needs another pass over the program (frame layout, reconvergence) belongs to vgpu/program.
// Source: PTX ISA 9.0, chapters 4 (syntax), 5 (state spaces, types), 9 (instructions).
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "vgpu/ptx/vocabulary.hpp"

namespace warpcheck::ptx {

// The source location of an instruction.  `file` indexes Module::files; line 0 means "unknown".
// Code that nvcc inlined has a chain: the innermost location, then the place where it was inlined.
struct SourceLocation {
  std::uint32_t file = kNone;
  std::uint32_t line = 0;
  std::uint32_t column = 0;
  std::uint32_t inlined_at = kNone;  // index into Module::locations, or kNone
  // The inlined function whose code this is: index into Module::inlined_functions; kNone: the code
  // of the function that contains the instruction.
  std::uint32_t function = kNone;
};

struct Register {
  std::string name;  // as written, e.g. "%rd4"
  Type type = Type::none;
};

// Which modules may refer to a name (PTX ISA 11.6).
enum class Linkage : std::uint8_t { internal, visible, weak, common };

// A variable in a state space other than .reg: a global, a shared array, a local array, a
// parameter of a function, or a `.param` variable of a call sequence.
struct Variable {
  std::string name;
  Space space = Space::generic;
  Type element = Type::b8;
  std::uint32_t alignment = 1;  // bytes
  std::uint64_t bytes = 0;      // 0 for an `.extern .shared` array without a size
  bool external = false;
  Linkage linkage = Linkage::internal;  // at module scope
  // An address stored in the initial bytes: the low `bytes` bytes of
  // ((symbol + addend) & mask) >> (zero bits at the end of mask), little-endian.
  struct Relocation {
    std::uint64_t offset = 0;
    std::string symbol;  // a variable or a function
    std::int64_t addend = 0;
    bool generic = false;  // generic(symbol): its generic address, else in its own space
    std::uint32_t bytes = 8;
    std::uint64_t mask = ~std::uint64_t{0};  // 0xFF00(symbol) stores one byte of the address
  };
  bool managed = false;  // .attribute(.managed)
  // A parameter or result of a function that is a register (`.reg`), or the elements of a vector:
  // the first of them, in Function::registers; kNone: it is memory.
  std::uint32_t first_register = kNone;
  // Initial bytes; may be shorter than `bytes`, the rest is zero.  Empty: zero-filled (global,
  // const) or undefined (the other spaces).
  std::vector<std::uint8_t> initial;
  std::vector<Relocation> relocations;
};

struct Operand {
  enum class Kind : std::uint8_t {
    none,
    reg,        // index: Function::registers
    immediate,  // bits: integers sign-extended to 64; floats as their own bits, see is_float
    special,    // special
    variable,   // variable: the variable's address (mov) or name (call parameters)
    address,    // [base + offset]: base is reg, variable, or nothing (absolute); texture
                // coordinates, `[tex, {x, y}]`, stand in parts
    label,      // index: Function::labels
    function,   // name: the called or referenced function
    vector,     // parts
    sink,       // `_`
    name,       // name: call prototype, branch-target list, special register without support
  };
  Kind kind = Kind::none;
  bool negated = false;          // `!%p`; vmad: `-%r1`
  bool is_float = false;         // immediate written 0f.. or 0d.. or decimal float
  bool float_is_double = false;  // 0d.. or decimal: bits are a double's, else a float's
  bool pair = false;             // vector written `%p|%q`
  std::uint32_t index = kNone;   // see Kind; for address: the base register, or kNone
  VariableRef variable{};        // for variable, and address with a variable base
  SpecialRegister special = SpecialRegister::none;
  std::uint64_t bits = 0;      // immediate
  std::int64_t offset = 0;     // address, variable (`mov %rd, symbol+8`)
  std::string name;            // function, name; reg: what a video instruction selects of it, "b3"
  std::vector<Operand> parts;  // vector; `%p|%q` pairs also come as a vector of two
};

struct Instruction {
  Opcode opcode{};  // invalid: not in the table; `text` names it
  Modifiers modifiers;
  std::vector<Operand> operands;  // destinations first, in the order of the text
  std::uint32_t guard = kNone;    // predicate register of `@%p` / `@!%p`
  bool guard_negated = false;
  SourceLocation location;
  std::uint32_t ptx_line = 0;
  std::string text;         // mnemonic with its suffixes: "ld.shared.u32"
  std::string unsupported;  // not empty: why this instruction is refused at launch
  // Unless `unsupported` is set, number and kinds of the operands are those of the opcode's row.
  // call has three operands, or four:
  //   [0] vector of the result variables (locals of Space::param) or registers; parts may be empty
  //   [1] function, or reg for an indirect call
  //   [2] vector of the arguments: variables, registers, immediates; parts may be empty
  //   [3] name of the prototype or target list, if given (index: Function::prototypes)
  // brx.idx has two: [0] reg, [1] name (index: Function::branch_targets).
};

struct Label {
  std::string name;
  std::uint32_t position = kNone;  // index into Function::body; body.size() if nothing follows
};

// `name: .branchtargets A, B;`: the targets of brx.idx, as indices into Function::labels.
struct BranchTargets {
  std::string name;
  std::vector<std::uint32_t> labels;
};

// `name: .callprototype (...) _ (...);`: the shape of an indirectly called function; or
// `name: .calltargets f, g;`: functions of that shape, one of which is called.
struct Prototype {
  std::string name;
  std::vector<Variable> results;
  std::vector<Variable> parameters;
  std::vector<std::string> targets;  // not empty: of .calltargets
};

struct Function {
  std::string name;  // mangled
  bool is_entry = false;
  bool has_body = false;
  bool external = false;
  Linkage linkage = Linkage::internal;
  std::vector<Variable> results;  // .func only
  std::vector<Variable> parameters;
  std::vector<Variable> locals;  // .local and .shared inside the body, and call `.param`s
  std::vector<Register> registers;
  std::vector<Label> labels;
  std::vector<BranchTargets> branch_targets;
  std::vector<Prototype> prototypes;
  std::vector<Instruction> body;
  std::string unsupported;        // not empty: why the whole function is refused at launch
  std::uint32_t max_threads = 0;  // .maxntid product, 0: not given
  std::uint32_t required_threads[3] = {0, 0, 0};  // .reqntid
  std::uint32_t required_cluster[3] = {0, 0, 0};  // .reqnctapercluster, blocks
  bool explicit_cluster = false;                  // .explicitcluster
  std::uint32_t ptx_line = 0;
};

struct Module {
  std::string name;  // file name or "embedded PTX", used in errors
  std::uint32_t version_major = 0, version_minor = 0;
  std::string target;  // "sm_75"
  bool debug = false;  // .target ..., debug: made by nvcc -G
  std::uint32_t address_bits = 64;
  std::vector<std::string> files;              // indexed by the number of the `.file` directive
  std::vector<SourceLocation> locations;       // chain targets of inlined_at
  std::vector<std::string> inlined_functions;  // mangled; empty: the text does not name it
  std::vector<Variable> variables;             // module scope: .global, .const, .shared
  std::vector<Function> functions;  // one per name: a prototype and its later body are one
  struct Alias {
    std::string name, target;  // .alias name, target;
  };
  std::vector<Alias> aliases;

  // Returns the function with that name, after aliases are resolved; nullptr if there is none.
  [[nodiscard]] const Function* find_function(std::string_view function_name) const;
};

// A syntax error.  what() reads "FILE:LINE: expected X, found 'TOKEN'".
class ParseError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Modules that cannot be linked together. what() names the symbol and both modules.
class LinkError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Links the modules of a program that was compiled in parts (nvcc -rdc=true): declarations get
// their definitions; one of several weak definitions remains; clashing internal names are changed.
// A name without a definition remains a declaration: only kernels that need it cannot run.
//   name: of the linked module.
// Throws LinkError for a name that is defined twice, or as different things.
Module link_modules(std::vector<Module> modules, std::string_view name);

// Parses the PTX text of one translation unit.
//   text: the whole source; NUL bytes at the end are ignored.
//   name: shown in errors.
// Throws ParseError.  An unknown opcode or modifier is not an error here: the instruction gets
// Opcode::invalid or a non-empty `unsupported`, and the kernel that contains it is refused at
// launch.
Module parse(std::string_view text, std::string_view name);

}  // namespace warpcheck::ptx
