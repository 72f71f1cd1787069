// Our counters, for the fuzzing engine that this target runs under.
//
// libFuzzer reads them itself: they are its extra counters, and it clears them.  AFL++ does not
// know extra counters.  It has guards: numbers that its runtime gives out once, and a call that
// counts one of them up in its map.  So each counter gets a guard, and after an input the counters
// are counted up in AFL's map.  The runtimes' functions are weak symbols, looked up here and
// defined nowhere: a target that defined trace_pc_guard_init itself would be refused by libFuzzer.
#pragma once

namespace warpcheck::fuzz {

// Around each input.
void begin_input();
void end_input();

}  // namespace warpcheck::fuzz
