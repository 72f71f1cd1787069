// Shrinks a text of PTX that shows a difference.
//
// Parts between the lines `//+` and `//-` may be removed, with or without the parts nested in them.
// The largest parts are tried first, until no part can be removed or the budget is used up.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

namespace warpcheck::ptx {

// shows: returns whether a smaller text still shows the difference; called at most `budget` times.
std::string shrink(std::string text, std::size_t budget,
                   const std::function<bool(const std::string&)>& shows);

}  // namespace warpcheck::ptx
