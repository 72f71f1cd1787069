// The command line over every pair that was linked in.
#include "harness/cli.hpp"

int main(int argc, char** argv) { return warpcheck::run_cli(argc, argv); }
