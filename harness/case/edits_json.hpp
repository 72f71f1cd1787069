// Changes of device code as JSON, as a case file stores them:
//
//   {"insert": "bar.sync 0;", "after": {"file": "kernels/scan.cu", "line": 14}}
//   {"remove": {"file": "kernels/scan.cu", "line": 12, "mnemonic": "bar.sync"}}
//   {"replace": {"function": "_Z4scanPiS_j", "instruction": 31}, "by": "membar.cta;"}
//   {"respell": {...}, "as": "ld.acquire.gpu.global.u32", "build": "optimized"}
#pragma once

#include "harness/input/json_values.hpp"
#include "vgpu/ptx/edit/program_edit.hpp"

namespace warpcheck {

[[nodiscard]] Json to_json(const ptx::Edits& edits);
// Throws FieldError.
[[nodiscard]] ptx::Edits edits_from(const Json& json, const FieldPath& path);

}  // namespace warpcheck
