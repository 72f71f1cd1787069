#include "vgpu/conformance/sequences.hpp"

namespace warpcheck::conformance {
namespace {

constexpr ptx::FormRow kFormRows[] = {
#define FORM(family, target, name, operands, text) \
  ptx::FormRow{#family, target, name, operands, text},
#include "vgpu/conformance/sequences.def"
#undef FORM
};

}  // namespace

const std::vector<ptx::InstructionForm>& sequences() {
  static const std::vector<ptx::InstructionForm> all = ptx::expand_forms(kFormRows);
  return all;
}

bool is_sequence(const ptx::InstructionForm& form) { return form.family.starts_with("sequence_"); }

const std::vector<ptx::InstructionForm>& recorded_forms() {
  static const std::vector<ptx::InstructionForm> all = [] {
    std::vector<ptx::InstructionForm> forms;
    for (const ptx::InstructionForm& form : ptx::instruction_forms()) {
      if (form.family != "address" && form.recorded) forms.push_back(form);
    }
    forms.insert(forms.end(), sequences().begin(), sequences().end());
    return forms;
  }();
  return all;
}

}  // namespace warpcheck::conformance
