#include "vgpu/differential/coverage.hpp"

#include <fmt/format.h>

#include "vgpu/differential/random/generator.hpp"

namespace warpcheck::vgpu {

// Looks up every word of the text; no other word looks like a mnemonic.
void FormCoverage::add(std::string_view program) {
  for (std::size_t at = 0; at < program.size();) {
    const std::size_t end = std::min(program.find_first_of(" ;\n", at), program.size());
    if (end > at) seen_.emplace(program.substr(at, end - at));
    at = end + 1;
  }
}

std::set<std::string_view> FormCoverage::wanted() const {
  std::set<std::string_view> names;
  for (const ptx::InstructionForm& form : ptx::instruction_forms()) {
    if (is_drawn(form, options_)) names.insert(form.mnemonic);
  }
  return names;
}

std::size_t FormCoverage::count() const {
  std::size_t found = 0;
  for (const std::string_view name : wanted()) found += seen_.contains(name) ? 1 : 0;
  return found;
}

std::string FormCoverage::summary(bool names) const {
  std::string missing;
  const std::set<std::string_view> all = wanted();
  for (const std::string_view name : all) {
    if (!seen_.contains(name)) missing += fmt::format("missing: {}\n", name);
  }
  return fmt::format("{} of {} mnemonics\n{}", count(), all.size(), names ? missing : "");
}

}  // namespace warpcheck::vgpu
