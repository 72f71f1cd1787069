// Reports failed calls of the runtime API as findings, once for each place.  Whether a program
// handles the failure of a call is not visible from outside, so each is a note.  It is an error if
// nothing tells the program that work is missing: it never asks for the last error, and the call is
// a `<<<>>>`, which has no result, or one whose result the program does not read
// (HostWatch).  That is known only at the program's end.
//
// Not reported are calls whose failure is an ordinary answer to a query (whether an event is
// complete, whether a device has an attribute), calls that are refused by name or reported as
// another finding (a bad free), and calls that fail because a launch has failed before.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "vgpu/check/finding.hpp"

namespace warpcheck::cudart {

class Findings;
class KnownAddresses;
struct LibraryFailure;

// Text about a failed call whose arguments alone (api_call.hpp) do not describe it: a launch.
struct FailedCall {
  // "saxpy<<<0, 256>>>(...)"; empty: described by its arguments
  std::string text;
  std::string kernel;                    // demangled
  const void* return_address = nullptr;  // of the `<<<>>>`; null: that of the call
  // A `<<<>>>` of at least one thread: only cudaGetLastError() and cudaPeekAtLastError() tell that
  // it has failed.  Where a launch of no threads fails, nothing is missing.
  bool needs_question = false;
};

// Reports the current call of this thread as failed, and records it as a possible cause of later
// findings.
//   reason: which limit it breaks, and by what; empty: not known
struct FailureReport {
  std::size_t finding = 0;
  bool needs_question = false;  // only the last error tells the program that the call has failed
};
// Returns nothing if the failure is the answer to a query.
std::optional<FailureReport> report_failed_call(Findings& findings, const KnownAddresses& known,
                                                cudaError_t error, std::string_view reason,
                                                const FailedCall& call);
// Makes such a finding an error: the program has never asked for the last error.
void raise_unasked(vgpu::Finding& finding);

// Reports a failed call of a library in the same way (library_interface.hpp).
void report_failed_library_call(Findings& findings, const LibraryFailure& failure);

// Returns whether the error is an answer to a query, and not a failure.
bool is_question(std::string_view call, cudaError_t error);

struct ErrorText {
  const char* name;  // "cudaErrorInvalidValue"
  const char* text;  // "invalid argument"
};
ErrorText text_of(const cudaError_t& error);

}  // namespace warpcheck::cudart
