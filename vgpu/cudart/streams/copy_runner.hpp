// Copies and fills when their turn has come: ranges are checked once more, observers are told, and
// the bytes move.
#pragma once

#include "vgpu/cudart/streams/copy_sides.hpp"
#include "vgpu/cudart/streams/operations.hpp"
#include "vgpu/cudart/streams/work.hpp"

namespace warpcheck::cudart {

class Arrivals;
class CallLog;
class CallRecording;
class Clock;
class Transfers;

class CopyRunner {
 public:
  // Nothing is owned.
  CopyRunner(CopySides& sides, Transfers& transfers, Arrivals& arrivals, Clock& clock,
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
  Clock& clock_;
  const CallRecording& recording_;
};

// Row by row; `arrived` tells whether the bytes of a download are there.
void record_copy(CallLog& log, const CopyWork& work, bool arrived);
void record_fill(CallLog& log, const FillWork& work);

}  // namespace warpcheck::cudart
