// All that a pair file needs: #include <warpcheck/warpcheck.hpp> of an installed copy.
#pragma once

#include "harness/generators.hpp"
#include "harness/generators_matrices.hpp"
#include "harness/pair.hpp"
