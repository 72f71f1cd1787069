// The device for which code is chosen.
#pragma once

namespace warpcheck::cudart {

class Trial;

struct CodeTarget {
  unsigned sm = 0;        // 90 for compute capability 9.0
  bool is_named = false;  // by `exec --device`: code that such a device does not run is refused
};

// trial.cpp
CodeTarget code_target(const Trial& trial);

}  // namespace warpcheck::cudart
