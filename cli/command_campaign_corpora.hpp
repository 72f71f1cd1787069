// `campaign import` and `campaign export`: corpora of fuzzing services.
#pragma once

#include "cli/cli.hpp"

namespace warpcheck {

void add_campaign_corpora_to(CLI::App& campaign, Run& run);

}  // namespace warpcheck
