// Our counters, passed to the fuzzing engine of this target.
//
// libFuzzer reads them itself: they are its extra counters, and it clears them.  AFL++ does not
// support extra counters.  It has guards: numbers that its runtime assigns once, and a function
// that increments the entry of a guard in its map.  So each counter gets a guard, and after an
// input the counters are added to AFL's map.  The runtimes' functions are weak symbols, looked up
// here and defined nowhere: libFuzzer would refuse a target that defined trace_pc_guard_init
// itself.
#pragma once

namespace warpcheck::fuzz {

// Call before and after each input.
void begin_input();
void end_input();

}  // namespace warpcheck::fuzz
