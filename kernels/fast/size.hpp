// How much of the data a block takes at once.
#pragma once

namespace fast {

enum class Size {
  large,  // what is fast on a large GPU: thousands of elements
  small,  // the same kernels with small blocks, so that short inputs have many tiles
};

}  // namespace fast
