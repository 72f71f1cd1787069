// The command line for all linked pairs.
#include "cli/run_cli.hpp"

int main(int argc, char** argv) { return warpcheck::run_cli(argc, argv); }
