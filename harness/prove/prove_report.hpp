// The results of proofs for users and programs: lines, JSON, and an HTML page with a map of size
// against block.
#pragma once

#include <string>
#include <vector>

#include "harness/prove/prove.hpp"

namespace warpcheck {

// "3 to 40" or "3": the sizes, blocks or grids of some points; there is at least one.
[[nodiscard]] std::string range_of(const std::vector<ProvedPoint>& points,
                                   std::uint32_t Point::*member);

// "PROVED scan_tree   ...": a few lines, with the reason if no more is proved.
[[nodiscard]] std::string prove_text(const PairProof& proof);
[[nodiscard]] Json prove_json(const std::vector<PairProof>& proofs);
[[nodiscard]] std::string prove_html(const std::vector<PairProof>& proofs);

}  // namespace warpcheck
