// Executes copies and fills when it is their turn: checks their ranges again, reports them to the
// observers, and moves the bytes.
#pragma once

#include "vgpu/cudart/streams/copy_sides.hpp"
#include "vgpu/cudart/streams/operations.hpp"
#include "vgpu/cudart/streams/work.hpp"

namespace warpcheck::cudart {

class Arrivals;
class CallLog;
class CallRecording;
class VirtualClock;
class Transfers;

class CopyRunner {
 public:
  // Nothing is owned.
  CopyRunner(CopySides& sides, Transfers& transfers, Arrivals& arrivals, VirtualClock& clock,
             const CallRecording& recording)
      : sides_(sides),
        transfers_(transfers),
        arrivals_(arrivals),
        clock_(clock),
        recording_(recording) {}

  void run(const CopyWork& work, const Operation& operation);
  void run(const FillWork& work, const Operation& operation);

 private:
  CopySides& sides_;
  Transfers& transfers_;
  Arrivals& arrivals_;
  VirtualClock& clock_;
  const CallRecording& recording_;
};

// Records the copy row by row; `arrived`: the bytes of a download are available.
void record_copy(CallLog& log, const CopyWork& work, bool arrived);
void record_fill(CallLog& log, const FillWork& work);

}  // namespace warpcheck::cudart
