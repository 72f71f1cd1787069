// All executions of a litmus test that the PTX memory model allows.
//
// Candidates are the ways of threads through their code, times what each read reads from, times
// Fence-SC orders, times coherence orders.  Each choice is followed only as long as no axiom rules
// it out; what is left is put to all axioms (ptx_model.hpp).
//
// Coherence order is partial (8.9.6).  Only writes that are morally strong or related in causality
// order are related in it, and transitively; a final value is that of a write with none after it.
#pragma once

#include "model/outcome.hpp"

namespace warpcheck::model {

struct EnumerationOptions {
  unsigned unroll = 3;  // how often each branch backwards is taken
  // Choices of what a read reads from and of the order of two fences or writes, before the search
  // is given up.  A few million a second.
  std::uint64_t choices_max = 100'000'000;
};

// Throws LitmusError for a test that accesses what is no location, or is too large.
Outcome enumerate(const Test& test, const EnumerationOptions& options = {});

}  // namespace warpcheck::model
