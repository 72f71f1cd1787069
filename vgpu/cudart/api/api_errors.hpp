// Calls of the runtime API that have failed, as findings: nobody sees from outside whether a
// program looks at what a call answers, so each is a note, told once for each place.
//
// Not told are calls whose failure is an ordinary answer to a question (has an event come to pass,
// is this an attribute of the device), those that are refused by name or are a finding themselves
// (a bad free), and those that fail because a launch has died before.
#pragma once

#include <cuda_runtime_api.h>

#include <string>
#include <string_view>

namespace warpcheck::cudart {

class Allocations;
class Findings;
struct LibraryFailure;

// What a call is told with where the arguments alone (api_call.hpp) do not say it: a launch.
struct FailedCall {
  std::string text;                      // "saxpy<<<0, 256>>>(...)"; empty: as its arguments are
  std::string kernel;                    // demangled
  const void* return_address = nullptr;  // of the `<<<>>>`; null: the call's own
};

// Tells the call that this thread is in, and keeps it as a cause of what follows.
void tell_failed_call(Findings& findings, const Allocations& allocations, cudaError_t error,
                      const FailedCall& call);

// The same of a function of a library (library_interface.hpp).
void tell_failed_library_call(Findings& findings, const LibraryFailure& failure);

// Whether the failure of a call is an answer, and no mishap.
bool is_question(std::string_view call, cudaError_t error);

struct ErrorText {
  const char* name;  // "cudaErrorInvalidValue"
  const char* text;  // "invalid argument"
};
ErrorText text_of(const cudaError_t& error);

}  // namespace warpcheck::cudart
