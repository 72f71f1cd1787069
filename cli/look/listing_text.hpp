// Listings of programs as text and as JSON.
#pragma once

#include <string>

#include "cli/look/shown_programs.hpp"
#include "harness/input/json_values.hpp"

namespace warpcheck {

struct ListingStyle {
  std::string kernel;       // only such kernels are listed (vgpu::shows_kernel()); empty: all
  bool full_names = false;  // of kernels
};

[[nodiscard]] std::string listing_text(const ShownPrograms& shown, const ListingStyle& style);
[[nodiscard]] std::string listing_json(const ShownPrograms& shown, const ListingStyle& style);

}  // namespace warpcheck
