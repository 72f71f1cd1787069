// Sets of events and relations between them, as bits, for the axioms of a memory model
// (ptx_model.cpp).
//
// An execution of a litmus test has a few dozen events, so a relation is a small square matrix, and
// composition and closure take a few machine words for each row.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

namespace warpcheck::model {

inline constexpr unsigned kEventsMax = 128;

class EventSet {
 public:
  void insert(unsigned event) { bits_ |= bit(event); }
  void erase(unsigned event) { bits_ &= ~bit(event); }
  [[nodiscard]] bool contains(unsigned event) const { return (bits_ & bit(event)) != 0; }
  [[nodiscard]] bool empty() const { return bits_ == 0; }

  EventSet& operator|=(EventSet other) { return bits_ |= other.bits_, *this; }
  EventSet& operator&=(EventSet other) { return bits_ &= other.bits_, *this; }
  EventSet& operator-=(EventSet other) { return bits_ &= ~other.bits_, *this; }
  friend EventSet operator|(EventSet a, EventSet b) { return a |= b; }
  friend EventSet operator&(EventSet a, EventSet b) { return a &= b; }
  friend EventSet operator-(EventSet a, EventSet b) { return a -= b; }
  friend bool operator==(EventSet, EventSet) = default;

  template <typename Visit>
  void for_each(Visit visit) const {
    for (Bits rest = bits_; rest != 0; rest &= rest - 1) visit(lowest(rest));
  }

 private:
  __extension__ using Bits = unsigned __int128;

  static Bits bit(unsigned event) { return Bits{1} << event; }
  static unsigned lowest(Bits bits) {
    const auto low = static_cast<std::uint64_t>(bits);
    if (low != 0) return static_cast<unsigned>(std::countr_zero(low));
    return 64 + static_cast<unsigned>(std::countr_zero(static_cast<std::uint64_t>(bits >> 64)));
  }

  Bits bits_ = 0;
};

// Between the events 0 .. events() - 1; read `a.contains(x, y)` as "x precedes y in a".
class Relation {
 public:
  explicit Relation(unsigned events) : events_(events) {}

  [[nodiscard]] unsigned events() const { return events_; }
  void add(unsigned from, unsigned to) { rows_[from].insert(to); }
  void add(unsigned from, EventSet to) { rows_[from] |= to; }
  [[nodiscard]] bool contains(unsigned from, unsigned to) const { return rows_[from].contains(to); }
  [[nodiscard]] EventSet from(unsigned event) const { return rows_[event]; }

  Relation& operator|=(const Relation& other) {
    for (unsigned event = 0; event < events_; ++event) rows_[event] |= other.rows_[event];
    return *this;
  }
  Relation& operator&=(const Relation& other) {
    for (unsigned event = 0; event < events_; ++event) rows_[event] &= other.rows_[event];
    return *this;
  }
  Relation& operator-=(const Relation& other) {
    for (unsigned event = 0; event < events_; ++event) rows_[event] -= other.rows_[event];
    return *this;
  }
  friend Relation operator|(Relation a, const Relation& b) { return a |= b; }
  friend Relation operator&(Relation a, const Relation& b) { return a &= b; }
  friend Relation operator-(Relation a, const Relation& b) { return a -= b; }

  template <typename Visit>
  void for_each(Visit visit) const {
    for (unsigned from = 0; from < events_; ++from) {
      rows_[from].for_each([&](unsigned to) { visit(from, to); });
    }
  }

  // x precedes z if x precedes some y in this relation, and y precedes z in `second`.
  [[nodiscard]] Relation then(const Relation& second) const {
    Relation composed(events_);
    for (unsigned event = 0; event < events_; ++event) {
      rows_[event].for_each([&](unsigned middle) { composed.add(event, second.rows_[middle]); });
    }
    return composed;
  }
  // As `then`, or x itself precedes z in `second`.
  [[nodiscard]] Relation or_none_then(const Relation& second) const {
    return then(second) | second;
  }
  [[nodiscard]] Relation inverse() const {
    Relation turned(events_);
    for_each([&](unsigned from, unsigned to) { turned.add(to, from); });
    return turned;
  }
  // Without the pairs of an event and itself.
  [[nodiscard]] Relation strict() const {
    Relation kept = *this;
    for (unsigned event = 0; event < events_; ++event) kept.rows_[event].erase(event);
    return kept;
  }
  // Restricted to pairs whose first event is in `from` and second in `to`.
  [[nodiscard]] Relation between(EventSet from, EventSet to) const {
    Relation kept(events_);
    from.for_each([&](unsigned event) { kept.rows_[event] = rows_[event] & to; });
    return kept;
  }
  // The smallest transitive relation that contains this one.
  [[nodiscard]] Relation closure() const {
    Relation closed = *this;
    for (unsigned middle = 0; middle < events_; ++middle) {
      const EventSet beyond = closed.rows_[middle];
      for (unsigned event = 0; event < events_; ++event) {
        if (closed.rows_[event].contains(middle)) closed.rows_[event] |= beyond;
      }
    }
    return closed;
  }
  // Adds a pair to a transitive relation and keeps it transitive.
  void add_to_closed(unsigned from, unsigned to) {
    EventSet beyond = rows_[to];
    beyond.insert(to);
    for (unsigned event = 0; event < events_; ++event) {
      if (event == from || rows_[event].contains(from)) rows_[event] |= beyond;
    }
  }

  [[nodiscard]] bool empty() const {
    for (unsigned event = 0; event < events_; ++event) {
      if (!rows_[event].empty()) return false;
    }
    return true;
  }
  [[nodiscard]] bool irreflexive() const {
    for (unsigned event = 0; event < events_; ++event) {
      if (rows_[event].contains(event)) return false;
    }
    return true;
  }
  [[nodiscard]] bool acyclic() const { return closure().irreflexive(); }

 private:
  unsigned events_;
  std::array<EventSet, kEventsMax> rows_{};
};

}  // namespace warpcheck::model
