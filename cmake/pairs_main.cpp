// The command line over every pair that was linked in.
#include "cli/run_cli.hpp"

int main(int argc, char** argv) { return warpcheck::run_cli(argc, argv); }
