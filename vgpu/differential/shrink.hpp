// Makes a random program that shows something smaller.
//
// What stands between the lines `//+` and `//-` may be left out, with what is nested in it or
// without it.  The largest parts are tried first, until none can be left out or the budget is
// used up.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

namespace warpcheck::vgpu {

// shows: whether a smaller text still shows it; called at most `budget` times.
std::string shrink(std::string text, std::size_t budget,
                   const std::function<bool(const std::string&)>& shows);

}  // namespace warpcheck::vgpu
