// The list of compute instructions that the virtual GPU executes: forms.def, expanded.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace warpcheck::ptx {

// One row of forms.def with every alternative chosen.
struct InstructionForm {
  std::string family;
  int target = 0;                    // the lowest sm that has it
  std::string mnemonic;              // "add.rn.f32"
  std::vector<std::string> results;  // types of d, e
  std::vector<std::string> sources;  // types of a, b, c, f
  std::string text;                  // "add.rn.f32 d, a, b;"
  bool recorded = true;              // false: nobody has compared it with a GPU
};

// A row of forms.def as it is written, alternatives in braces.
struct FormRow {
  std::string_view family;
  int target = 0;
  std::string_view mnemonic, operands, text;
  bool recorded = true;
};
std::span<const FormRow> form_rows();

// Every form of such rows, in their order; no text occurs twice.
std::vector<InstructionForm> expand_forms(std::span<const FormRow> rows);

// Every form, in the order of the table; no text occurs twice.
const std::vector<InstructionForm>& instruction_forms();

// Whether some form has that mnemonic.
bool has_form(std::string_view mnemonic);

}  // namespace warpcheck::ptx
