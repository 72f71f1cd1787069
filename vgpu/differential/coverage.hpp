// Which forms of forms.def random programs hold.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <string_view>

#include "vgpu/differential/random_program.hpp"

namespace warpcheck::vgpu {

class FormCoverage {
 public:
  explicit FormCoverage(const ProgramOptions& options) : options_(options) {}
  void add(std::string_view program);
  [[nodiscard]] std::size_t count() const;  // mnemonics of forms that were held
  // "4312 of 5,104 mnemonics", and with `names` those that are missing, a line each.
  [[nodiscard]] std::string summary(bool names) const;

 private:
  [[nodiscard]] std::set<std::string_view> wanted() const;

  ProgramOptions options_;
  std::set<std::string, std::less<>> seen_;
};

}  // namespace warpcheck::vgpu
