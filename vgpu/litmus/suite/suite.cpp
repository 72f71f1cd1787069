// Compiled for each suite, with its definitions.
#include "vgpu/litmus/suite/suite.hpp"

namespace warpcheck::litmus {

const Suite kSuite{.checker = &vgpu::CheckerSet::WARPCHECK_LITMUS_CHECKER,
                   .verdicts = WARPCHECK_VERDICTS,
                   .verdicts_seen = WARPCHECK_VERDICTS_SEEN};

}  // namespace warpcheck::litmus
