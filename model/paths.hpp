// The paths of a thread through its code, whatever its reads return: sequences of events whose
// values are expressions over the values read.
#pragma once

#include <vector>

#include "model/litmus_test.hpp"
#include "model/relation.hpp"

namespace warpcheck::model {

struct Expression {
  enum class Kind : std::uint8_t { constant, read, calculated };
  Kind kind = Kind::constant;
  std::int64_t value = 0;  // constant
  unsigned event = 0;      // read: index of the path's event
  Operator operation = Operator::copy;
  ValueType type;
  unsigned a = 0, b = 0;  // operands: indices in Path::expressions
  EventSet reads;         // events of the path on which its value depends
};

struct PathEvent {
  enum class Kind : std::uint8_t {
    memory,
    fence,
    proxy_fence,
    alias_fence,
    barrier_arrive,  // bar.sync is an arrival, then a wait
    barrier_wait,
    cluster_arrive,
    cluster_wait,
  };
  Kind kind = Kind::memory;
  const Instruction* instruction = nullptr;
  bool reads = false, writes = false;
  std::int64_t address = 0;
  unsigned value = 0;           // expression of the written value
  unsigned id_a = 0, id_b = 0;  // expressions of a barrier's identifier
  unsigned arrivals = 0;        // expression of the number of arrivals; 0: by all that use it
  EventSet depends_on;          // earlier events of the path: data, address and control
};

struct Path {
  std::vector<Expression> expressions;
  std::vector<PathEvent> events;
  std::vector<unsigned> conditions;  // expressions that are not 0 if this path is taken
  std::vector<unsigned> registers;   // expressions, at the end
  // The last event arrives at a barrier that never completes; `unknown` says for each register
  // whether it would have been set later.
  bool is_stuck = false;
  std::vector<bool> unknown;
  const Instruction* fault = nullptr;  // accesses an address without a location
};

struct Paths {
  std::vector<Path> paths;
  // Some paths were not followed to their end, because a loop was executed more often than allowed.
  bool cut = false;
};

// `unroll`: how often each branch backwards is taken.  A round of a loop that has written nothing
// and has not changed relevant registers is not counted and not followed: whatever the thread does
// afterwards is possible without that round, which can only forbid executions.
Paths paths_of(const Test& test, unsigned thread, unsigned unroll);

}  // namespace warpcheck::model
