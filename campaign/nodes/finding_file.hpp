// A finding as a file for the other nodes of a campaign (exchange.hpp).
//
// JSON text with every column of the store.  It contains the cases, so that one file, which is
// written whole or not at all, is all that another node needs.
#pragma once

#include <string>
#include <string_view>

#include "campaign/store/store.hpp"

namespace warpcheck::campaign {

// "scan_tree-0123456789abcdef.json"; a pair's name has no '-'.
std::string finding_file_name(const FindingKey& key);

std::string finding_file_text(const StoredFinding& finding);
// `name`: for messages.  Throws CaseFileError that says what is missing or wrong, and where.
StoredFinding parse_finding_file(std::string_view text, const std::string& name);

}  // namespace warpcheck::campaign
