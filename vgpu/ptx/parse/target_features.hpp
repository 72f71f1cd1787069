// Instructions that need a target with the features of one architecture (sm_90a), or of its family
// (sm_100f).
#pragma once

#include <string>
#include <string_view>

namespace warpcheck::ptx {

// Returns why a module for that target must not have the instruction; empty: it may.
//   mnemonic: with its suffixes, "wgmma.fence.sync.aligned"
//   target: "sm_90a"
std::string lack_of_target(std::string_view mnemonic, std::string_view target);

}  // namespace warpcheck::ptx
