// The error state of one device: the last error, the error of a launch that failed fatally, and the
// reports of failed calls.
#pragma once

#include <cuda_runtime_api.h>

#include <string>
#include <string_view>
#include <utility>

#include "vgpu/cudart/api/calls/api_errors.hpp"
#include "vgpu/cudart/device/last_errors.hpp"

namespace warpcheck::cudart {

class Allocations;
class Findings;
class Trial;

class Errors {
 public:
  // Nothing is owned.
  Errors(Trial& trial, Findings& findings, const Allocations& allocations, LastErrors& last)
      : trial_(trial), findings_(findings), allocations_(allocations), last_(last) {}

  // Begins a call, of which nothing is known yet.
  void begin_call();
  // Sets the text for the report of the call, if it fails and its arguments do not describe it.
  void describe_call(FailedCall call) {
    described_call_ = std::move(call);
    is_described_ = true;
  }

  // States which limit the current call breaks, and by what ("gridDim.y 75000 > 65535"), for the
  // report.  Returns the error.
  cudaError_t because(cudaError_t error, std::string reason) {
    reason_ = std::move(reason);
    return error;
  }

  // Records an error for cudaGetLastError, reports it if no trial is running (api_errors.hpp), and
  // returns it.
  cudaError_t record(cudaError_t error);
  // Refuses the call as not supported.
  void refuse(std::string_view reason);
  // A host function (cudaLaunchHostFunc) has called the API, which is not allowed.
  cudaError_t refuse_in_host_function();

  // The last error of the calling thread.
  [[nodiscard]] cudaError_t last() { return last_.get(); }
  cudaError_t take_last() { return last_.take(); }

  // Returns the error of a launch that failed fatally, or of a program that has forked after it had
  // used the device.  Every later call that needs the device returns it.
  [[nodiscard]] cudaError_t sticky() const;
  [[nodiscard]] bool has_sticky() const { return sticky() != cudaSuccess; }
  void set_sticky(cudaError_t error) { sticky_ = error; }
  void forget_sticky() { sticky_ = cudaSuccess; }

 private:
  Trial& trial_;
  Findings& findings_;
  const Allocations& allocations_;
  FailedCall described_call_;
  bool is_described_ = false;  // whether described_call_ belongs to the current call
  std::string reason_;         // of the current call's failure; empty: none is known
  LastErrors& last_;
  cudaError_t sticky_ = cudaSuccess;
};

}  // namespace warpcheck::cudart
