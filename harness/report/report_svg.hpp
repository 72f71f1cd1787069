// An interleaving as an SVG element inside an HTML page; its colours are the page's.
#pragma once

#include <pugixml.hpp>
#include <string>

#include "harness/report/interleaving.hpp"

namespace warpcheck {

// missing_order: the missing synchronisation: "no barrier orders (1) and (2)".
void append_svg(pugi::xml_node parent, const Interleaving& picture,
                const std::string& missing_order);

}  // namespace warpcheck
