// Memory and code: readMemory and disassemble, and the texts by which the client names a place of
// either.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "cli/debug/dap/handlers.hpp"
#include "cli/debug/dap/numbered_session.hpp"
#include "cli/debug/dap/sources.hpp"

namespace warpcheck::dap {

// A place of memory: "global:0x7f0000001000", "shared:0x40:0,0,0:3,0,0" with block and thread.
[[nodiscard]] std::string memory_reference(const debug::Place& place);
// Throws RequestError for a text that is none.
[[nodiscard]] debug::Place place_of(std::string_view reference);

// An instruction of the running kernel: its index as a hexadecimal number, by which clients sort.
[[nodiscard]] std::string code_reference(std::int64_t pc);
// Returns the index that such an argument names.  Throws RequestError.
[[nodiscard]] std::int64_t instruction_in(const Arguments& arguments, const char* name);

void add_memory_requests(Handlers& handlers, NumberedSession& debuggee, const Sources& sources);

}  // namespace warpcheck::dap
