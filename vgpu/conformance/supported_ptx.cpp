#include "vgpu/conformance/supported_ptx.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "vgpu/ptx/forms.hpp"
#include "vgpu/ptx/opcode.hpp"

namespace warpcheck::conformance {
namespace {

constexpr std::string_view kHead =
    R"(# Supported PTX

Written by `conformance_record --supported` from `vgpu/ptx/forms.def`; a test compares the two.

The virtual GPU executes these compute instructions, and no others: any other form is refused when
its kernel is launched, with its name, its PTX line and its source line. Alternatives stand in
braces. Each form has vectors that were recorded on a real GPU and are replayed by the tests, unless
it is said to be unrecorded; see [conformance.md](../develop/conformance.md). `sm` is the lowest
target that has the form. Of atomics these are the forms with vectors, not all that are executed.
)";

constexpr std::string_view kTail =
    R"(
## Textures and surfaces

On objects in registers, as `vgpu/program/emit/texture.cpp` reads them. What they compute is
compared with a real GPU by other means: see [conformance.md](../develop/conformance.md).

| form |
|---|
| `tex.{1d,2d,3d,a1d,a2d,cube,acube}.v4.{f32,s32,u32}.f32` |
| `tex.1d.v4.{f32,s32,u32}.s32` |
| `tex.level.{1d,2d,3d,a1d,a2d,cube,acube}.v4.{f32,s32,u32}.f32` |
| `tex.grad.{1d,2d,3d,a1d,a2d}.v4.{f32,s32,u32}.f32` |
| `tld4.{r,g,b,a}.2d.v4.{f32,s32,u32}.f32` |
| `{suld,sust}.b.{1d,2d,3d,a1d,a2d}.{,v2.,v4.}{b8,b16,b32}.{trap,clamp,zero}` |
| `{suld,sust}.b.{1d,2d,3d,a1d,a2d}.{,v2.}b64.{trap,clamp,zero}` |

## Instructions that calculate nothing

Memory, control flow and synchronisation have no forms here. They are executed, or refused by name,
by the decoder (`vgpu/program`) and the machine (`vgpu/machine`):
)";

std::string heading(std::string_view family) {
  std::string title(family);
  for (char& c : title) c = c == '_' ? ' ' : c;
  title.front() = static_cast<char>(title.front() - 'a' + 'A');
  return title;
}

std::string_view opcode_of(std::string_view mnemonic) {
  return mnemonic.substr(0, mnemonic.find('.'));
}

}  // namespace

std::string supported_ptx() {
  std::map<std::string_view, std::size_t> forms;
  std::set<std::string_view> calculated;
  for (const ptx::InstructionForm& form : ptx::instruction_forms()) {
    ++forms[form.family];
    if (form.family != "atomic") calculated.insert(opcode_of(form.mnemonic));
  }
  std::string page(kHead);
  std::vector<ptx::FormRow> rows(ptx::form_rows().begin(), ptx::form_rows().end());
  std::map<std::string_view, std::size_t> order;  // position of each family's first row
  for (const ptx::FormRow& row : rows) order.try_emplace(row.family, order.size());
  std::ranges::stable_sort(rows, {}, [&](const ptx::FormRow& row) { return order[row.family]; });
  std::string_view family;
  std::string last;
  for (const ptx::FormRow& row : rows) {
    if (row.family != family && forms.contains(row.family)) {
      page += fmt::format("\n## {} ({} forms)\n\n| sm | form |\n|---|---|\n", heading(row.family),
                          forms.at(row.family));
      family = row.family;
    }
    const std::string line = fmt::format("| {} | `{}`{} |\n", row.target, row.mnemonic,
                                         row.recorded ? "" : " (unrecorded)");
    if (line != last) page += line;
    last = line;
  }
  page += kTail;
  page += "\n";
  std::string_view separator;
  for (std::size_t at = 1; at < static_cast<std::size_t>(ptx::Opcode::count); ++at) {
    const std::string_view name = ptx::name_of(static_cast<ptx::Opcode>(at));
    if (calculated.contains(name)) continue;
    page += fmt::format("{}`{}`", separator, name);
    separator = ", ";
  }
  return page + ".\n";
}

}  // namespace warpcheck::conformance
