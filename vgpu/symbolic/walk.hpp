// Follows one thread through the kernel's flow of control.
//
// Ways that meet again are merged, so each block is executed once.  A loop is summarised: at its
// header stands what is true in every iteration (loop_summary.cpp).  A walk is one of two kinds.
// The walk of the whole kernel summarises all loops and passes the barriers: it shows every access
// and the state at each barrier.  The walk of an interval starts at a barrier, or the kernel's
// begin, and ends at the next barriers; loops around barriers are followed as they run, over the
// end of an iteration into the next one.  Further iterations without a barrier are summarised.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "vgpu/symbolic/flow_graph.hpp"
#include "vgpu/symbolic/instructions.hpp"
#include "vgpu/symbolic/questions.hpp"
#include "vgpu/symbolic/thread_state.hpp"

namespace warpcheck::vgpu::symbolic {

// A thread at a barrier of the block.
struct Arrival {
  std::uint32_t barrier = 0;  // instruction
  // How often ends of iterations were passed, by loop: the same barrier may be met by a thread in
  // this iteration and in the next.
  std::map<std::uint32_t, unsigned> iterations{};
  ThreadState state{};
};

struct WalkResult {
  Events events;
  std::vector<Arrival> arrivals;  // one for each barrier and iterations
  std::vector<Path> ends;         // ways to the kernel's end
};

class Walk {
 public:
  Walk(Symbols& symbols, Questions& questions, Instructions& instructions, const FlowGraph& graph,
       const ptx::Function& kernel, std::string name = "")
      : name_(std::move(name)),
        symbols_(symbols),
        questions_(questions),
        instructions_(instructions),
        graph_(graph),
        kernel_(kernel) {}

  // All of these throw NotFollowed.
  WalkResult whole_kernel();
  WalkResult first_interval();
  WalkResult interval_after(const Arrival& arrival, const std::string& name);

 private:
  using Iterations = std::map<std::uint32_t, unsigned>;
  // A place where execution has to continue.
  struct Item {
    std::uint32_t block = 0, first = 0;  // first: instruction
    Iterations iterations;
    ThreadState state;
  };
  using Place = std::vector<std::uint32_t>;
  // A run of a part of the code.
  struct Region {
    std::uint32_t loop = ptx::kNone;  // its body alone; none: all
    bool is_interval = false;
    std::string prefix;
    WalkResult* result = nullptr;  // null: a trial, whose events do not count
    std::map<Place, Item> waiting{};
    std::vector<ThreadState> again{};                            // at the loop's header
    std::vector<std::pair<std::uint32_t, ThreadState>> exits{};  // of the loop, by block
  };

  [[nodiscard]] ThreadState at_begin() const;
  void run(Region& region);
  void execute_block(Region& region, Item item);
  void deliver(Region& region, const Item& from, std::uint32_t to, ThreadState state);
  void wait_at(Region& region, Item item);
  [[nodiscard]] Place place_of(const Region& region, const Item& item) const;
  void arrive(Region& region, const Item& item, std::uint32_t barrier);
  // What a barrier tells all threads of the block, as of __syncthreads_count().
  void receive(const ptx::Instruction& barrier, const std::string& name, ThreadState& state);
  [[nodiscard]] std::string prefix_of(const Region& region, const Item& item) const;
  [[nodiscard]] bool is_possible(const Path& path);
  [[nodiscard]] z3::expr condition_of(const Edge& edge, const ThreadState& state,
                                      const std::string& name);
  [[nodiscard]] z3::expr guard_of(const Edge& edge, const ThreadState& state,
                                  const std::string& name);

  // Loops (loop_summary.cpp).

  // A register that a loop changes.
  struct Changing {
    std::uint32_t reg = 0;
    Value initial{};
    z3::expr symbol;  // its value at the header, if nothing better is known
    unsigned bits = 32;
    std::optional<z3::expr> closed{};   // its value as a function of the number of iterations
    std::optional<Value> swapped{};     // the same, of an address that is now of one array, now of
                                        // another one
    bool is_free = true;                // neither closed nor of a domain
    bool is_lost = false;               // nothing is known of it
    std::vector<Integer> sequence{};    // its values, iteration by iteration, if they are few
    std::vector<Integer> firsts{};      // of a domain: its values in the first iteration,
    std::map<Integer, Integer> next{};  // and what an iteration makes of each value
  };
  struct Summary {
    std::uint32_t loop = 0;
    std::string prefix;
    z3::expr count;  // of finished iterations
    std::size_t symbols_before = 0;
    ThreadState initial{};
    bool is_interval = false;  // its iterations end at barriers
    Iterations iterations{};   // of the loops around it
    std::vector<Changing> changing{};
    std::vector<z3::expr> invariants{};
    std::vector<z3::expr> previous{};  // what the iteration before has left true
  };
  // The state at the places that follow a loop, by block.
  std::vector<std::pair<std::uint32_t, ThreadState>> summarise(std::uint32_t loop, const Item& from,
                                                               const Region& outer,
                                                               const std::string& prefix);
  [[nodiscard]] ThreadState at_header(const Summary& summary) const;
  Region run_body(const Summary& summary, WalkResult* result);
  [[nodiscard]] std::optional<ThreadState> met(std::vector<ThreadState> states);
  void find_changing(Summary& summary);
  bool find_swapped_arrays(Summary& summary, const ThreadState& after);
  bool lose_mixed(Summary& summary, const ThreadState& after) const;
  void find_closed_forms(Summary& summary, const ThreadState& after);
  std::optional<z3::expr> linear_form(Summary& summary, const Changing& one, const z3::expr& after);
  std::optional<z3::expr> repeated_form(Summary& summary, const Changing& one,
                                        const z3::expr& after);
  // loop_domains.cpp
  void find_domain(const Summary& summary, Changing& one, const z3::expr& after);
  std::optional<std::set<Integer>> first_values(const Summary& summary, const Changing& one);
  [[nodiscard]] z3::expr with_value(const Changing& one, const z3::expr& condition, Integer value);
  void guess_invariants(Summary& summary, const ThreadState& after);
  void guess_orders(Summary& summary, const ThreadState& after);
  std::optional<Interval> step_of(const z3::expr& term, const z3::expr& symbol);
  void guess_counters(Summary& summary, const ThreadState& after);
  [[nodiscard]] bool is_chosen_by_data(const z3::expr& term);
  void guess_trip_bounds(Summary& summary);
  void guess_ranges(Summary& summary, const ThreadState& after);
  void learn_from_previous(Summary& summary, const ThreadState& after);
  void drop_unreached_values(Summary& summary, const ThreadState& after);
  void relate_sequences(Summary& summary);
  // Drops what is not true in every iteration; returns whether there was something.
  bool drop_wrong(Summary& summary, const ThreadState& after);
  [[nodiscard]] z3::expr at_start(const Summary& summary, const z3::expr& term);
  [[nodiscard]] z3::expr at_next(const Summary& summary, const z3::expr& term,
                                 const ThreadState& after);
  [[nodiscard]] z3::expr with_count(const Summary& summary, const z3::expr& term,
                                    const z3::expr& count) const;
  // The pass through the body that is recorded, and what threads have in common in it.
  struct LastPass {
    Region body;
    std::optional<ThreadState> after;
    std::set<std::size_t> shared{};  // symbols
  };
  LastPass last_pass(Summary& summary, const Region& outer);
  // ... where inner loops may need what threads have in common in this one.
  LastPass last_pass_with_inner_loops(Summary& summary, const Region& outer);
  [[nodiscard]] std::set<std::size_t> symbols_of_loop(const Summary& summary) const;
  // Those that have the same value in all threads of a block, in the same iteration.
  [[nodiscard]] std::set<std::size_t> kept_in_common(const Summary& summary,
                                                     const ThreadState& after);
  // Those, if all threads of a block leave the loop in the same iteration; else none.
  // to_barriers: the ways to barriers that an iteration may pass by.
  std::set<std::size_t> share_between_threads(Summary& summary, const ThreadState& after,
                                              Region& body, const std::vector<Path>& to_barriers);

  void find_same_in_iteration(const Summary& summary, const ThreadState& after);
  // Whether threads of a block or warp wait for each other in the loop.
  [[nodiscard]] bool meets_barriers(std::uint32_t loop) const;
  void rename_what_is_left(const Summary& summary, ThreadState& left);
  void make_exit_certain(const Summary& summary, Region& body);

  std::string name_;  // begins the names of this walk's symbols
  Symbols& symbols_;
  Questions& questions_;
  Instructions& instructions_;
  const FlowGraph& graph_;
  const ptx::Function& kernel_;
};

}  // namespace warpcheck::vgpu::symbolic
