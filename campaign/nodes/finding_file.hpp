// A finding as a file that nodes of one campaign show each other (exchange.hpp).
//
// JSON text with every column of the store.  The cases are in it, so that one file, which appears
// under its name whole or not at all, is all that another node needs.
#pragma once

#include <string>
#include <string_view>

#include "campaign/store/store.hpp"

namespace warpcheck::campaign {

// "scan_tree-0123456789abcdef.json"; a pair's name has no '-'.
std::string finding_file_name(const FindingKey& key);

std::string finding_file_text(const StoredFinding& finding);
// `name`: how messages call it.  Throws CaseFileError: what is missing or wrong, and where.
StoredFinding parse_finding_file(std::string_view text, const std::string& name);

}  // namespace warpcheck::campaign
