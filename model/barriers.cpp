#include "model/barriers.hpp"

#include <array>
#include <map>
#include <optional>
#include <tuple>

namespace warpcheck::model {
namespace {

using EventKind = PathEvent::Kind;

// One thread's use of one phase.
struct Use {
  std::optional<unsigned> arrival, wait;
  bool is_stuck = false;
};

struct Barrier {
  std::map<unsigned, std::vector<Use>> uses;  // by thread
  std::int64_t arrivals = 0;  // needed to complete a phase; 0: those of all threads that use it
};

// Device, cluster and block; whether it is the cluster's; its identifier.
using BarrierKey = std::tuple<std::array<unsigned, 3>, bool, std::int64_t, std::int64_t>;

class BarrierPhases {
 public:
  BarrierPhases(const EventStructure& structure, const Evaluate& evaluate)
      : structure_(structure), evaluate_(evaluate) {
    for (unsigned event = 0; event < structure.size(); ++event) note(event);
    for (const auto& [key, barrier] : barriers_) open_.push_back(&barrier);
  }

  std::vector<Relation> run() {
    complete(0, structure_.none());
    return std::move(found_);
  }

 private:
  BarrierKey key_of(const Event& event, const PathEvent& from, bool of_cluster) const {
    const Thread& thread = structure_.test.threads[event.thread];
    if (of_cluster) return {{thread.gpu, thread.cluster, 0}, true, 0, 0};
    return {{thread.gpu, thread.cluster, thread.cta},
            false,
            evaluate_(event.thread, from.id_a),
            evaluate_(event.thread, from.id_b)};
  }

  void note(unsigned number) {
    const Event& event = structure_.events[number];
    const bool of_cluster =
        event.kind == EventKind::cluster_arrive || event.kind == EventKind::cluster_wait;
    const bool arrives =
        event.kind == EventKind::barrier_arrive || event.kind == EventKind::cluster_arrive;
    if (!of_cluster && !arrives && event.kind != EventKind::barrier_wait) return;
    const Path& path = *structure_.paths[event.thread];
    const PathEvent& from = path.events[event.index];
    Barrier& barrier = barriers_[key_of(event, from, of_cluster)];
    std::vector<Use>& uses = barrier.uses[event.thread];
    if (!of_cluster) note_arrivals(barrier, event, evaluate_(event.thread, from.arrivals));
    if (!arrives) {
      if (uses.empty() || uses.back().wait) {
        throw LitmusError(event.instruction->place, "a wait without an arrival before it");
      }
      uses.back().wait = number;
      return;
    }
    Use& use = uses.emplace_back();
    // A relaxed arrival at a barrier of the cluster orders nothing.
    if (event.order != Order::relaxed) use.arrival = number;
    use.is_stuck = path.is_stuck && event.index + 1 == path.events.size();
  }

  static void note_arrivals(Barrier& barrier, const Event& event, std::int64_t arrivals) {
    if (barrier.arrivals == 0) barrier.arrivals = arrivals;
    if (barrier.arrivals != arrivals && arrivals != 0) {
      throw LitmusError(event.instruction->place,
                        "the barrier is used with different numbers of threads");
    }
  }

  void complete(std::size_t index, const Relation& relation) {
    if (index == open_.size()) {
      found_.push_back(relation);
      return;
    }
    const Barrier& barrier = *open_[index];
    if (barrier.arrivals == 0) return all_who_use(barrier, index, relation);
    std::map<unsigned, std::size_t> done;  // phases in which each thread took part
    phase(barrier, index, done, relation);
  }

  static void join(const std::vector<const Use*>& phase, Relation& relation) {
    for (const Use* from : phase) {
      for (const Use* to : phase) {
        if (from->arrival && to->wait) relation.add(*from->arrival, *to->wait);
      }
    }
  }

  void all_who_use(const Barrier& barrier, std::size_t index, Relation relation) {
    for (std::size_t k = 0;; ++k) {
      std::vector<const Use*> together;
      for (const auto& [thread, uses] : barrier.uses) {
        if (k < uses.size()) together.push_back(&uses[k]);
      }
      if (together.empty()) break;
      join(together, relation);
    }
    complete(index + 1, relation);
  }

  // The next phase of a numbered barrier: which threads complete it.
  void phase(const Barrier& barrier, std::size_t index, std::map<unsigned, std::size_t>& done,
             const Relation& relation) {
    std::vector<unsigned> ready;
    std::int64_t left = 0;
    bool all_stuck = true;
    for (const auto& [thread, uses] : barrier.uses) {
      const std::size_t at = done[thread];
      if (at == uses.size()) continue;
      left += static_cast<std::int64_t>(uses.size() - at);
      if (!uses[at].is_stuck) ready.push_back(thread);
      for (std::size_t use = at; use < uses.size(); ++use) {
        all_stuck = all_stuck && (uses[use].is_stuck || !uses[use].wait);
      }
    }
    // The remaining arrivals complete no phase: threads that wait for it wait for ever.
    if (all_stuck && left < barrier.arrivals) complete(index + 1, relation);
    std::vector<unsigned> chosen;
    choose(barrier, index, done, relation, ready, 0, chosen);
  }

  void choose(const Barrier& barrier, std::size_t index, std::map<unsigned, std::size_t>& done,
              const Relation& relation, const std::vector<unsigned>& ready, std::size_t from,
              std::vector<unsigned>& chosen) {
    if (static_cast<std::int64_t>(chosen.size()) == barrier.arrivals) {
      Relation joined = relation;
      std::vector<const Use*> together;
      for (const unsigned thread : chosen) {
        together.push_back(&barrier.uses.at(thread)[done[thread]]);
      }
      join(together, joined);
      std::map<unsigned, std::size_t> advanced = done;
      for (const unsigned thread : chosen) ++advanced[thread];
      return phase(barrier, index, advanced, joined);
    }
    for (std::size_t next = from; next < ready.size(); ++next) {
      chosen.push_back(ready[next]);
      choose(barrier, index, done, relation, ready, next + 1, chosen);
      chosen.pop_back();
    }
  }

  const EventStructure& structure_;
  const Evaluate& evaluate_;
  std::map<BarrierKey, Barrier> barriers_;
  std::vector<const Barrier*> open_;
  std::vector<Relation> found_;
};

}  // namespace

std::vector<Relation> barrier_phases(const EventStructure& structure, const Evaluate& evaluate) {
  return BarrierPhases(structure, evaluate).run();
}

}  // namespace warpcheck::model
