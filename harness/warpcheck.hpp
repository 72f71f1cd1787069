// All that a pair file needs: #include <warpcheck/warpcheck.hpp> of an installed copy.
#pragma once

#include "harness/generators/generators.hpp"
#include "harness/generators/generators_matrices.hpp"
#include "harness/pair/pair.hpp"
