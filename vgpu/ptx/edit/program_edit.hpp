// Changes of a parsed program, for experiments: what would happen if this barrier were missing, or
// if there were one more?
//
// An edit changes the instructions of a Module before it is decoded, so that everything behind the
// parser treats the changed program as any other. It names its place by the index of an
// instruction, which holds for one text, or by a source line, which holds for every build of the
// file. New instructions are PTX statements that the ordinary parser reads; they see all names of
// the function, may declare registers of their own, and have the source location of the
// instruction beside them.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace warpcheck::ptx {

struct Module;
struct Function;
struct SourceLocation;

enum class EditKind : std::uint8_t {
  insert_before,  // whoever reaches the instruction executes the text first, jumps included
  insert_after,   // whoever goes on from the instruction to the next one does; jumps do not
  replace,        // by the text; labels before the instruction remain
  remove,
  respell,  // the text is a mnemonic with the same operands: "ld.acquire.gpu.global.u32"
};

struct InstructionPlace {
  std::string function;     // mangled name of a kernel or device function
  std::uint32_t index = 0;  // into Function::body, as parsed
  friend bool operator==(const InstructionPlace&, const InstructionPlace&) = default;
};

// All instructions of a source line; of inlined code, all copies.
struct LinePlace {
  std::string file;  // its path, or the end of it: "kernels/scan.cu"
  std::uint32_t line = 0;
  // Only instructions that begin with this mnemonic, "bar.sync" or "bar". Empty: for insertions,
  // the first or last instruction of the line in each straight piece of code; for other kinds, all.
  std::string mnemonic;
  std::string function;  // only in this one; empty: in all
  friend bool operator==(const LinePlace&, const LinePlace&) = default;
};

enum class EditedBuild : std::uint8_t { both, optimized, unoptimized };

struct ProgramEdit {
  EditKind kind = EditKind::insert_before;
  std::variant<InstructionPlace, LinePlace> place;
  std::string text;  // empty: remove
  EditedBuild build = EditedBuild::both;
  friend bool operator==(const ProgramEdit&, const ProgramEdit&) = default;
};

using Edits = std::vector<ProgramEdit>;

// An edit that cannot be made: what() names its place and the reason.
class EditError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Makes the edits; all places are those of the module as it was. Returns the number of places that
// were changed: edits of other builds, other functions and other files change nothing.
// Throws EditError.
std::size_t apply_edits(Module& module, const Edits& edits);

// The instructions that a line place denotes in one function, in ascending order.
std::vector<std::uint32_t> instructions_at(const Module& module, const Function& function,
                                           const LinePlace& place, EditKind kind);

// Returns whether the innermost location is that line of the file.
bool is_at(const Module& module, const SourceLocation& location, std::string_view file,
           std::uint32_t line);

// Returns whether `mnemonic`, "bar.sync", is what the instruction's text begins with: whole words
// between dots.
bool has_mnemonic(std::string_view text, std::string_view mnemonic);

// "remove bar.sync of scan.cu:14", for reports.
std::string describe(const ProgramEdit& edit);

}  // namespace warpcheck::ptx
