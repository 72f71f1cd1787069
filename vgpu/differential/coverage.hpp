// Counts which forms of forms.def random programs contain.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <string_view>

#include "vgpu/differential/random/random_program.hpp"

namespace warpcheck::vgpu {

class FormCoverage {
 public:
  explicit FormCoverage(const ProgramOptions& options) : options_(options) {}
  void add(std::string_view program);
  [[nodiscard]] std::size_t count() const;  // mnemonics of forms that occurred
  // Returns "4312 of 5,104 mnemonics"; with `names` also the missing ones, one per line.
  [[nodiscard]] std::string summary(bool names) const;

 private:
  [[nodiscard]] std::set<std::string_view> wanted() const;

  ProgramOptions options_;
  std::set<std::string, std::less<>> seen_;
};

}  // namespace warpcheck::vgpu
