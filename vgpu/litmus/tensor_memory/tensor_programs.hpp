// Litmus programs on tensor memory, as text: PTX with short names for what every program needs, the
// sentence of the PTX ISA that decides it, and what the checkers must say.
//
//   program store_then_load [blocks 2] [threads 64]
//   "tcgen05.wait::st is used to wait for the completion of the prior asynchronous
//   ..." 9.7.16.6.4.2
//     a: st %own, 7
//     b: wait_st
//     c: ld %v, %own
//     ...
//   clean
//   fault store_not_waited_for: without b -> data-race tensor: write a, read c
//   fault store_after_all: c = st %own, 8 -> ... says "words of the message"
//   clean store_waited_for_twice: b = wait_st ; wait_st
//
// A line of the body may have a label.  `clean` alone makes a program of the whole body, which has
// the name of the group.  Each further `fault` and `clean` makes one that differs from the body in
// the lines that it names: it is without them, or has other lines in their place, separated by `;`.
// A fault lists the findings, separated by `+`, and the roles of all their sides by label.  A
// sentence below a fault is its own.
//
// `thread 0 {`, `warp 1 {` and `block 1 {` to `}`: only these execute the lines between.  Other
// lines are PTX, which ends with a semicolon or a colon, or a definition's name and its arguments.
// Definitions stand in the file definitions.txt; in them UNIQUE is another number for each use.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace warpcheck::litmus {

struct TensorProgram {
  std::string name;
  std::string file;          // without folders
  std::uint32_t blocks = 1;  // of the one cluster
  std::uint32_t threads = 128;
  std::vector<std::string> sentences;  // of the PTX ISA, with their sections
  std::string ptx;
  std::set<std::string> findings;                         // "data-race tensor"; empty: clean
  std::set<std::pair<std::uint32_t, std::string>> marks;  // lines and roles
  std::string words;                                      // that a message has; empty: any
};

struct TensorDefinition {
  std::vector<std::string> parameters;
  std::vector<std::string> lines;
};
using TensorDefinitions = std::map<std::string, TensorDefinition, std::less<>>;

// Both throw std::runtime_error, with file and line, if the text violates the rules.
TensorDefinitions read_tensor_definitions(std::string_view text, const std::string& file);
std::vector<TensorProgram> read_tensor_programs(std::string_view text, const std::string& file,
                                                const TensorDefinitions& definitions);

}  // namespace warpcheck::litmus
