// The list of compute instructions that the virtual GPU executes: forms.def, expanded.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace warpcheck::ptx {

// A row of forms.def with one alternative chosen in each pair of braces.
struct InstructionForm {
  std::string family;
  int target = 0;                    // the lowest sm that supports it
  std::string mnemonic;              // "add.rn.f32"
  std::vector<std::string> results;  // types of d, e
  std::vector<std::string> sources;  // types of a, b, c, f
  std::string text;                  // "add.rn.f32 d, a, b;"
  bool recorded = true;              // false: it was never compared with a GPU
};

// A row of forms.def as written, with alternatives in braces.
struct FormRow {
  std::string_view family;
  int target = 0;
  std::string_view mnemonic, operands, text;
  bool recorded = true;
};
std::span<const FormRow> form_rows();

// Returns every form of such rows, in order; each text occurs once.
std::vector<InstructionForm> expand_forms(std::span<const FormRow> rows);

// Returns every form, in the order of the table; each text occurs once.
const std::vector<InstructionForm>& instruction_forms();

// Returns whether some form has that mnemonic.
bool has_form(std::string_view mnemonic);

}  // namespace warpcheck::ptx
