// Every pair's own tests (harness/adaptors/pair_tests.hpp), together with the hand-written ones of
// this directory.
#include "harness/adaptors/pair_tests.hpp"

int main(int argc, char** argv) { return warpcheck::run_pair_tests(argc, argv); }
