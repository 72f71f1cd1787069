#include "fuzz/mutator.hpp"

#include <algorithm>

#include "fuzz/input_layout.hpp"
#include "vgpu/schedule/prng.hpp"

namespace warpcheck::fuzz {
namespace {

using Bytes = std::vector<std::uint8_t>;

// Values of byte 0 of an encoded decision: byte_schedule.hpp.
constexpr unsigned kStop = 0b1100'0000, kStart = 0b1110'0000;
constexpr std::uint64_t kIndexMax = 0xfff;
constexpr std::size_t kLaunchesMax = 6;

// The largest distance from the end of the data at which a byte is changed.
constexpr std::uint64_t kBytesAhead = 16;

// An input whose parts can be edited.
struct Parts {
  Bytes data, decisions;
  std::uint8_t tail = 0, mode = 0;

  [[nodiscard]] std::size_t size() const { return data.size() + decisions.size() + kTrailerBytes; }
  [[nodiscard]] InputLayout layout() const { return {data, decisions, tail, mode}; }
};

class Mutation {
 public:
  Mutation(Parts& parts, std::size_t size_max, std::uint64_t seed, const TrialShape& shape,
           const ByteMutation& mutate_bytes)
      : parts_(parts),
        size_max_(size_max),
        prng_(seed),
        shape_(shape),
        mutate_bytes_(mutate_bytes) {}

  void run() {
    // Kinds of edits are about as likely as they are useful: a kernel's result depends on its data
    // first, and on the places where its lanes are split next.
    const std::uint64_t kind = prng_.below(32);
    if (kind < 17) return edit_data();
    if (kind < 23) return add_decision();
    if (kind < 28) return edit_decision();
    if (kind < 30) return drop_decision();
    if (kind < 31) {
      parts_.tail = prng_.one_in(4) ? 0 : static_cast<std::uint8_t>(prng_.next());
    } else {
      parts_.mode = static_cast<std::uint8_t>(prng_.next());
    }
  }

 private:
  [[nodiscard]] std::size_t decision_count() const {
    return parts_.decisions.size() / kDecisionBytes;
  }
  [[nodiscard]] std::size_t room() const { return size_max_ - std::min(size_max_, parts_.size()); }

  void edit_data() {
    Bytes& data = parts_.data;
    const std::size_t size = data.size();
    if (!prng_.one_in(4)) return set_byte();
    data.resize(size + room());
    if (data.empty()) return;
    data.resize(mutate_bytes_(data, size));
  }

  // Changes one byte of the tape: the smallest step, and the one that goes from compare to compare.
  // Bytes between the data and it become data unchanged.
  void set_byte() {
    Bytes& data = parts_.data;
    if (data.empty() || (room() > 0 && prng_.one_in(2))) {
      const std::uint64_t distance = prng_.one_in(2) ? 1 : prng_.magnitude(kBytesAhead);
      std::size_t ahead = std::min<std::size_t>(distance, room());
      for (; ahead > 0; --ahead) data.push_back(tail_byte(parts_.tail, data.size()));
      if (!data.empty()) data.back() = static_cast<std::uint8_t>(prng_.next());
    } else {
      data[prng_.below(data.size())] = static_cast<std::uint8_t>(prng_.next());
    }
  }

  void add_decision() {
    if (room() < kDecisionBytes || decision_count() == kDecisionsMax) return edit_data();
    Bytes decision(kDecisionBytes);
    for (std::uint8_t& byte : decision) byte = static_cast<std::uint8_t>(prng_.next());
    place(decision);
    const std::size_t at = prng_.below(decision_count() + 1) * kDecisionBytes;
    parts_.decisions.insert(parts_.decisions.begin() + static_cast<std::ptrdiff_t>(at),
                            decision.begin(), decision.end());
  }

  // Half of the moments are from the last trial; the others have any magnitude.
  void place(std::span<std::uint8_t> decision) {
    if (shape_.launches.empty()) return;
    const std::uint64_t launch = prng_.below(std::min(shape_.launches.size(), kLaunchesMax));
    // Most bugs need no decision at a stop.
    const unsigned point = !prng_.one_in(8) ? 0 : prng_.one_in(2) ? kStop : kStart;
    decision[0] = static_cast<std::uint8_t>(point | ((1u << launch) - 1));
    const std::uint64_t accesses = shape_.launches[launch].accesses_max;
    if (point != 0 || accesses >= kIndexMax || prng_.one_in(2)) return;
    set_index(decision, prng_.below(accesses + 1));
  }

  static void set_index(std::span<std::uint8_t> decision, std::uint64_t index) {
    decision[4] = static_cast<std::uint8_t>(index);
    decision[5] = static_cast<std::uint8_t>(index >> 8);
  }

  void drop_decision() {
    if (decision_count() == 0) return edit_data();
    const auto at = parts_.decisions.begin() + static_cast<std::ptrdiff_t>(pick_decision());
    parts_.decisions.erase(at, at + static_cast<std::ptrdiff_t>(kDecisionBytes));
  }

  // Changes the place of a decision, or its choice.
  void edit_decision() {
    if (decision_count() == 0) return add_decision();
    const std::span<std::uint8_t> decision =
        std::span(parts_.decisions).subspan(pick_decision(), kDecisionBytes);
    switch (prng_.below(4)) {
      case 0:  // somewhere else in the grid
        return randomize(decision.first(4));
      case 1:  // another moment
        randomize(decision.subspan(4, 2));
        return place(decision);
      case 2:  // a moment nearby
        return step_index(decision);
      default:  // another choice
        return randomize(decision.last(2));
    }
  }

  void randomize(std::span<std::uint8_t> bytes) {
    bytes[prng_.below(bytes.size())] = static_cast<std::uint8_t>(prng_.next());
  }

  void step_index(std::span<std::uint8_t> decision) {
    const std::uint64_t step = 1 + prng_.below(8);
    const std::uint64_t value = decision[4] | decision[5] << 8;
    const std::uint64_t scale = value & ~kIndexMax;
    set_index(decision, scale | ((prng_.one_in(2) ? value + step : value - step) & kIndexMax));
  }

  // Byte offset of one of the decisions.
  std::size_t pick_decision() { return prng_.below(decision_count()) * kDecisionBytes; }

  Parts& parts_;
  std::size_t size_max_;
  vgpu::Prng prng_;
  const TrialShape& shape_;
  const ByteMutation& mutate_bytes_;
};

// If the parts do not fit, the end of the data is dropped first.
void fit(Parts& parts, std::size_t size_max) {
  const auto over = [&] { return parts.size() - std::min(parts.size(), size_max); };
  parts.data.resize(parts.data.size() - std::min(over(), parts.data.size()));
  const std::size_t spare = (over() + kDecisionBytes - 1) / kDecisionBytes * kDecisionBytes;
  parts.decisions.erase(parts.decisions.begin(),
                        parts.decisions.begin() + static_cast<std::ptrdiff_t>(spare));
}

}  // namespace

std::vector<std::uint8_t> mutate(std::span<const std::uint8_t> input, std::size_t size_max,
                                 std::uint64_t seed, const TrialShape& shape,
                                 const ByteMutation& mutate_bytes) {
  const InputLayout layout = split_input(input);
  Parts parts{{layout.data.begin(), layout.data.end()},
              {layout.decisions.begin(), layout.decisions.end()},
              layout.tail,
              layout.mode};
  fit(parts, size_max);
  Mutation(parts, size_max, seed, shape, mutate_bytes).run();
  return join_input(parts.layout());
}

}  // namespace warpcheck::fuzz
