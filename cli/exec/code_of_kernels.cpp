#include "cli/exec/code_of_kernels.hpp"

#include <algorithm>
#include <variant>

#include "vgpu/ptx/text_parts.hpp"
#include "vgpu/text/file_text.hpp"

namespace warpcheck {

CodeOfKernels::CodeOfKernels(const ProgramRun& run) {
  for (const cudart::ExecRecord& record : run.records) {
    const auto* const kernel = std::get_if<cudart::KernelRecord>(&record.what);
    if (kernel != nullptr && !kernel->code.empty()) add(*kernel);
  }
}

void CodeOfKernels::add(const cudart::KernelRecord& kernel) {
  auto module = std::ranges::find(modules_, kernel.code, &Module::path);
  if (module == modules_.end()) {
    module =
        modules_.insert(modules_.end(), {kernel.code, text_of_file(kernel.code), std::nullopt});
    bytes_ = std::max<std::uint64_t>(bytes_, module->text.size());
  }
  try {
    if (!module->parsed)
      module->parsed = ptx::parse_parts(ptx::parts_of(module->text), kernel.code);
    programs_.push_back(vgpu::decode(*module->parsed, kernel.name));
    programs_.back().ptx = module->text;
    kernels_.push_back({&programs_.back(), kernel.threads});
  } catch (const std::exception&) {
    // A module that cannot be read: nothing is changed in it.
  }
}

}  // namespace warpcheck
