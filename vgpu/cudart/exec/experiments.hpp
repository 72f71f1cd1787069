// Experiments with a program under `warpcheck exec`: the command starts it once more, and from
// before main() on copies of that process run, each with settings of its own (changed device code,
// other schedules).  A copy needs no new start of the program, which takes longer than what small
// programs do.
//
// Experiments must leave nothing behind.  The copies print nowhere, and they can change no files
// but those beside the records, nor connect to anything (landlock(7)): such calls fail with EACCES.
// A system that cannot promise that runs no experiments.
#pragma once

#include "vgpu/cudart/exec/exec_records.hpp"

namespace warpcheck::cudart {

// What the process sends before it waits for settings, if it cannot run experiments; else "ready".
inline constexpr const char* kNoExperiments = "this system cannot keep them from changing files";

// Receives settings (to_text() in a line each) by the socket settings.experiments, and sends how
// each copy ended: the status of wait4() and the processor time in microseconds as a line.  Returns
// in each copy, with its settings; the process itself ends when the socket is closed.
ExecSettings next_experiment(const ExecSettings& settings);

}  // namespace warpcheck::cudart
