// All linked pairs as GoogleTest tests.
#include "harness/adaptors/pair_tests.hpp"

int main(int argc, char** argv) { return warpcheck::run_pair_tests(argc, argv); }
