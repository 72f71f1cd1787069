// What the API's calls answer for one device: the last error, the error of a launch that died, and
// what is told of a call that has failed.
#pragma once

#include <cuda_runtime_api.h>

#include <string_view>
#include <utility>

#include "vgpu/cudart/api/api_errors.hpp"
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

  // Nothing is known of the call that begins.
  void begin_call();
  // What it is to be told with if it fails, where its arguments do not say it.
  void describe_call(FailedCall call) {
    described_call_ = std::move(call);
    is_described_ = true;
  }

  // Remembers an error for cudaGetLastError, tells it outside of trials (api_errors.hpp), and hands
  // it back.
  cudaError_t record(cudaError_t error);
  // The call cannot be done.
  void refuse(std::string_view reason);
  // A host function (cudaLaunchHostFunc) has called the API, which it must not.
  cudaError_t refuse_in_host_function();

  // Of the calling thread.
  [[nodiscard]] cudaError_t last() const { return last_.get(); }
  cudaError_t take_last() { return last_.take(); }

  // The error of a launch that died, or of a program that has forked after it had used the device;
  // every later call that needs the device answers it.
  [[nodiscard]] cudaError_t sticky() const;
  [[nodiscard]] bool has_sticky() const { return sticky() != cudaSuccess; }
  void set_sticky(cudaError_t error) { sticky_ = error; }
  void forget_sticky() { sticky_ = cudaSuccess; }

 private:
  Trial& trial_;
  Findings& findings_;
  const Allocations& allocations_;
  FailedCall described_call_;
  bool is_described_ = false;  // it is the call's
  LastErrors& last_;
  cudaError_t sticky_ = cudaSuccess;
};

}  // namespace warpcheck::cudart
