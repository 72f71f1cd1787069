// Every registered pair as GoogleTest tests:
//
//   scan.agrees_with_its_reference         a clean pair: no findings, and the reference's output
//   scan.differences_give_back_the_input   each PROPERTY
//   scan_published.shows_what_is_expected  a specimen: exactly the kinds that it expects
//
// RapidCheck drives the trials and RC_PARAMS is honoured; both builds and both warp models take
// part.  A failure is shrunk and reported with its replay command.  Cases of a failure database
// come first: a claim of which one fails is not mended yet, and gets no new trials.
#pragma once

#include <string>

namespace warpcheck {

struct PairTestOptions {
  // Where the cases of failures are written.
  std::string cases_directory = "warpcheck-cases";
  // The failure database; empty: kDefaultDatabase in the working directory, else in the project's
  // root, where there is one.  It is only read.
  std::string failures{};
};

// Call after testing::InitGoogleTest() and before RUN_ALL_TESTS().  Throws RegistryError.
void register_pair_tests(const PairTestOptions& options = {});

}  // namespace warpcheck
