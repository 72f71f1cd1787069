// Calls whose result a program never reads.
//
// The machine code behind a call shows that: its result (register eax) is overwritten, on each
// path, before an instruction reads it.  The decoder (host_watch/unread_result_decoder.cpp) is
// linked into the libraries that replace the toolkit's, and not into the harness, where every
// result counts as read.
#pragma once

#include <string_view>
#include <vector>

namespace warpcheck::cudart {

// Returns whether a call of this name allocates, moves data, launches or waits: if it fails, work
// is missing.  Others change only how work is done, or end something.
bool does_work(std::string_view call);

// return_addresses: those that lead to the call, innermost first.  Returns false if it is not
// known.
bool result_is_unread(const std::vector<const void*>& return_addresses);

using ResultDecoder = bool (*)(const std::vector<const void*>& return_addresses);
void set_result_decoder(ResultDecoder decoder);

}  // namespace warpcheck::cudart
