// Every registered pair as GoogleTest tests:
//
//   scan.agrees_with_its_reference         a clean pair: no findings, and the reference's output
//   scan.differences_give_back_the_input   each PROPERTY
//   scan_published.shows_what_is_expected  a specimen: exactly the kinds that it expects
//
// RapidCheck drives the trials and honours RC_PARAMS; both builds and both warp models are tried.
// A failure is shrunk and reported with its replay command.  The cases of a failure database run
// first: a claim with a failing case is not repaired yet, and gets no new trials.
#pragma once

#include <string>

namespace warpcheck {

struct PairTestOptions {
  // The directory for the cases of failures.
  std::string cases_directory = "warpcheck-cases";
  // The failure database; empty: kDefaultDatabase in the working directory, else in the project's
  // root, if it exists.  It is only read.
  std::string failures{};
};

// Call after testing::InitGoogleTest() and before RUN_ALL_TESTS().  Throws RegistryError.
void register_pair_tests(const PairTestOptions& options = {});

// A program's main(): initialises GoogleTest, registers these tests, and runs them.  It spares a
// user's project the headers of GoogleTest, which take most of the time that a file as small as
// that needs.
int run_pair_tests(int argc, char** argv);

}  // namespace warpcheck
