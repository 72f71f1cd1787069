// The checker for launches that do not end: deadlocks (no thread can continue) and launches that
// exceed the step limit.  A finding says what each group of threads does: where it waits and for
// what, what it polls and which thread wrote that place last, or that it has exited.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <span>
#include <string>
#include <vector>

#include "vgpu/check/checker.hpp"
#include "vgpu/machine/memory/grid_workspace.hpp"
#include "vgpu/program/program.hpp"
#include "vgpu/text/counted.hpp"

namespace warpcheck::vgpu {
namespace {

using Kind = Waiting::Kind;

constexpr std::size_t kGroupsMax = 12;
constexpr std::size_t kPlacesMax = 4;  // places one instruction reads, named each

bool is_poll(Kind kind) { return kind == Kind::reads || kind == Kind::object; }

// Groups that poll come first, because all other groups wait for what they poll.
int rank_of(Kind kind) {
  if (is_poll(kind)) return 0;
  if (kind == Kind::runs) return 1;
  return kind == Kind::exited ? 3 : 2;
}

// Each block has its own shared memory, but one shared variable counts as one place here.
bool is_same_place(const Waiting& a, const Waiting& b) {
  const auto is_shared = [](const Allocation* memory) {
    return memory != nullptr && memory->space == ptx::Space::shared;
  };
  return a.offset == b.offset &&
         (a.allocation == b.allocation || (is_shared(a.allocation) && is_shared(b.allocation)));
}

std::string_view role_of(Kind kind) {
  if (is_poll(kind)) return "spin";
  if (kind == Kind::runs) return "run";
  return kind == Kind::exited ? "exit" : "wait";
}

std::string what_they_read(const Waiting& waiting, std::uint32_t places) {
  std::string text =
      fmt::format("{}, {}", vgpu::describe(*waiting.allocation, waiting.offset, waiting.bytes),
                  counted(waiting.bytes, "byte"));
  if (places > 1) text += fmt::format(" (and {})", counted(places - 1, "other place"));
  return text;
}

// The text about transaction bytes that the current phase of an mbarrier still lacks, or has too
// many of.
std::string what_is_missing(std::int32_t bytes) {
  if (bytes == 0) return {};
  const std::string number = counted(static_cast<std::uint32_t>(std::abs(bytes)), "byte");
  return bytes > 0 ? fmt::format(", and lacks {} of asynchronous copies", number)
                   : fmt::format(", and has received {} more than it expects", number);
}

std::string blocks_that_wait(std::uint32_t blocks) {
  return fmt::format("; {} {} only when others have ended", counted(blocks, "block"),
                     blocks == 1 ? "starts" : "start");
}

// Names the blocks that cannot arrive at a barrier of the grid any more.
std::string blocks_that_left(const Deadlock& deadlock) {
  const bool waits_for_grid = std::ranges::any_of(deadlock.waiting, [](const Waiting& one) {
    return one.kind == Kind::reads && one.allocation != nullptr &&
           one.allocation->name == kGridWorkspaceName;
  });
  if (!waits_for_grid || deadlock.blocks_exited == 0) return {};
  return fmt::format("; {} of {} blocks {} exited without arriving at this barrier of the grid",
                     deadlock.blocks_exited, deadlock.blocks,
                     deadlock.blocks_exited == 1 ? "has" : "have");
}

// Returns whether the threads wait in tcgen05.alloc.
bool waits_for_columns(const Program& program, const Waiting& waiting) {
  return waiting.kind == Kind::reads && waiting.allocation == nullptr && waiting.number != 0 &&
         program.code[waiting.pc].kind == InstrKind::tensor_memory;
}

std::string what_columns_they_want(const Waiting& waiting, std::string_view waits) {
  if (waiting.written.pc == ptx::kNone) {
    return fmt::format(
        "{} to allocate {} columns of tensor memory until the other block of the "
        "pair allocates them, too",
        waits, waiting.number);
  }
  return fmt::format("{} for {} columns of tensor memory, of which {} of {} are free", waits,
                     waiting.number, waiting.arrived, waiting.expected);
}

std::string what_they_do(const Program& program, const Waiting& waiting, bool one,
                         std::uint32_t places) {
  const std::string_view waits = one ? "waits" : "wait";
  if (waits_for_columns(program, waiting)) return what_columns_they_want(waiting, waits);
  switch (waiting.kind) {
    case Kind::barrier:
      return fmt::format("{} at barrier {}, at which {} of {} threads have arrived", waits,
                         waiting.number, waiting.arrived, waiting.expected);
    case Kind::members:
      return fmt::format("{} for lanes {:#010x} of the same warp", waits, waiting.missing);
    case Kind::cluster:
      return fmt::format("{} at the barrier of the cluster, at which {} of {} threads have arrived",
                         waits, waiting.arrived, waiting.expected);
    case Kind::rejoin:
      return fmt::format("{} until the others of the same warp have come here, too", waits);
    case Kind::object:
      return fmt::format("{} for the mbarrier {}, which has {} of {} arrivals{}", waits,
                         what_they_read(waiting, places), waiting.arrived, waiting.expected,
                         what_is_missing(waiting.missing_bytes));
    case Kind::runs: return one ? "still runs" : "still run";
    case Kind::exited: return one ? "has exited" : "have exited";
    case Kind::reads: break;
  }
  if (waiting.allocation == nullptr) return one ? "runs in a loop" : "run in a loop";
  return fmt::format("{} {}, again and again, which holds {:#x}", one ? "reads" : "read",
                     what_they_read(waiting, places), waiting.value);
}

class DeadlockChecker final : public Checker {
 public:
  using Checker::Checker;
  [[nodiscard]] Watched watches() const override { return Watched::rare(); }

  void on_deadlock(const Deadlock& deadlock) override {
    const Program& program = *deadlock.program;
    const Waiting& first = deadlock.waiting.front();
    reporter_.report({&program, first.pc, ptx::kNone, 1}, [&] {
      Finding finding;
      finding.kind = FindingKind::deadlock;
      finding.kernel = kernel_name(program.kernel);
      std::string_view what = "no thread of the block can go on: ";
      if (deadlock.of_launch) what = "no thread of the launch can go on, whoever runs first: ";
      if (deadlock.repeats) {
        what = "the launch does not end, as memory comes back to what it was again and again: ";
      }
      finding.message = std::string(what) + describe(program, deadlock.waiting, finding);
      if (deadlock.of_launch && deadlock.blocks_not_started != 0) {
        finding.message += blocks_that_wait(deadlock.blocks_not_started);
      }
      const std::string left = blocks_that_left(deadlock);
      if (!left.empty()) finding.lack = Lack::arrival_of_blocks;
      finding.message += left;
      const bool reads_unknown = std::ranges::any_of(deadlock.waiting, [](const Waiting& one) {
        return one.kind == Kind::reads && one.allocation != nullptr &&
               one.allocation->space == ptx::Space::global && one.written.pc == ptx::kNone;
      });
      if (deadlock.host_waits) {
        finding.message += "; the host could write there, but waits for the launch";
        if (!deadlock.repeats) add_host(finding);
      } else if (deadlock.of_launch && reads_unknown) {
        finding.message += "; no other launch or copy that could run now writes there";
      }
      return finding;
    });
  }

  void on_step_limit(const StepLimit& limit) override {
    const Program& program = *limit.program;
    reporter_.report({&program, limit.pc, ptx::kNone, 0}, [&] {
      Finding finding;
      finding.kind = FindingKind::deadlock;
      finding.kernel = kernel_name(program.kernel);
      std::string who = describe(program, limit.waiting, finding);
      if (who.empty()) {
        finding.accesses = {
            reporter_.side("spin", program, limit.pc, thread_of(limit.place, limit.lane))};
        who = "(1) is where a warp was last";
      }
      finding.message =
          fmt::format("no end after {} warp instructions, the limit, though it may end later: {}",
                      limit.steps, who);
      if (limit.blocks_not_started != 0) {
        finding.message += blocks_that_wait(limit.blocks_not_started);
      }
      return finding;
    });
  }

 private:
  // Threads of any block that wait at one instruction for the same thing.
  struct Group {
    Waiting first;
    std::uint32_t threads = 0, blocks = 0, last_block = 0;
    std::uint32_t places = 0;  // places that they read
  };

  static std::vector<Group> group(std::span<const Waiting> waiting, bool by_place) {
    std::vector<Group> groups;
    for (const Waiting& one : waiting) {
      const auto is_alike = [&](const Group& other) {
        const Waiting& a = other.first;
        return a.kind == one.kind && a.pc == one.pc && a.number == one.number &&
               (!by_place || is_same_place(a, one));
      };
      const auto same = std::ranges::find_if(groups, is_alike);
      Group& joined = same != groups.end() ? *same : groups.emplace_back(Group{one});
      joined.threads += static_cast<std::uint32_t>(__builtin_popcount(one.lanes));
      if (joined.blocks == 0 || joined.last_block != one.place.block) ++joined.blocks;
      joined.last_block = one.place.block;
    }
    return groups;
  }

  // Threads that poll different places at one instruction form separate groups, as long as there
  // are at most kPlacesMax places.
  static std::vector<Group> group(std::span<const Waiting> waiting) {
    std::vector<Group> groups;
    const std::vector<Group> by_place = group(waiting, true);
    for (const Group& all : group(waiting, false)) {
      std::vector<Group> parts;
      std::ranges::copy_if(by_place, std::back_inserter(parts), [&](const Group& part) {
        return part.first.kind == all.first.kind && part.first.pc == all.first.pc &&
               part.first.number == all.first.number;
      });
      if (parts.size() <= kPlacesMax) {
        groups.insert(groups.end(), parts.begin(), parts.end());
      } else {
        groups.push_back(all);
        groups.back().places = static_cast<std::uint32_t>(parts.size());
      }
    }
    std::ranges::stable_sort(groups, {}, [](const Group& one) { return rank_of(one.first.kind); });
    return groups;
  }

  // Adds a side for each group and for each known write.  Returns the text that says what the
  // groups do; it refers to those sides by number.
  std::string describe(const Program& program, std::span<const Waiting> waiting,
                       Finding& finding) const {
    std::vector<Group> groups = group(waiting);
    const std::size_t left_out = groups.size() - std::min(groups.size(), kGroupsMax);
    groups.resize(groups.size() - left_out);
    for (const Group& group : groups) {
      const Waiting& first = group.first;
      const auto lane = static_cast<unsigned>(__builtin_ctz(first.lanes));
      finding.accesses.push_back(
          reporter_.side(role_of(first.kind), program, first.pc, thread_of(first.place, lane)));
    }
    std::string text;
    for (std::size_t i = 0; i < groups.size(); ++i) {
      const Group& group = groups[i];
      const bool one = group.threads == 1;
      text +=
          fmt::format("{}({}) {}{} {}", i == 0 ? "" : "; ", i + 1, counted(group.threads, "thread"),
                      group.blocks > 1 ? fmt::format(" of {} blocks", group.blocks) : "",
                      what_they_do(program, group.first, one, group.places));
      const LastWrite& write = group.first.written;
      if (write.pc != ptx::kNone) text += describe_writer(program, write, waiting, groups, finding);
    }
    if (left_out != 0)
      text += fmt::format("; {} of threads {} not go on", counted(left_out, "more group"),
                          left_out == 1 ? "does" : "do");
    return text;
  }

  // Adds the host call in which the host waits, if that call is known.
  void add_host(Finding& finding) const {
    const HostPlace place = reporter_.place_of_call();
    if (place.file.empty()) return;
    finding.accesses.push_back(host_side("host call"));
    name_place(finding, finding.accesses.size() - 1, place);
    finding.message += fmt::format(" ({})", finding.accesses.size());
  }

  // Returns " since (3), whose thread waits at (2)".
  std::string describe_writer(const Program& program, const LastWrite& write,
                              std::span<const Waiting> waiting, const std::vector<Group>& groups,
                              Finding& finding) const {
    const bool allocates = program.code[write.pc].kind == InstrKind::tensor_memory;
    const AccessSide side = reporter_.side(allocates ? "allocate" : "write", program, write.pc,
                                           thread_of(write.place, write.lane));
    auto number = static_cast<std::size_t>(std::ranges::find(finding.accesses, side) -
                                           finding.accesses.begin() + 1);
    if (number > finding.accesses.size()) finding.accesses.push_back(side);
    std::string text =
        fmt::format("{} since ({})", allocates ? ", the others are taken" : "", number);
    if (write.has_exited) return text + ", whose thread has exited";
    const auto it = std::ranges::find_if(waiting, [&](const Waiting& one) {
      return one.place.block == write.place.block && one.place.warp == write.place.warp &&
             (one.lanes >> write.lane & 1u) != 0 && one.kind != Kind::exited;
    });
    if (it == waiting.end()) return text;
    for (std::size_t i = 0; i < groups.size(); ++i) {
      const Waiting& first = groups[i].first;
      const bool same_place = groups[i].places != 0 || is_same_place(first, *it);
      if (first.kind == it->kind && first.pc == it->pc && first.number == it->number &&
          same_place) {
        return text + fmt::format(", whose thread is at ({})", i + 1);
      }
    }
    return text;
  }
};

}  // namespace

std::unique_ptr<Checker> make_deadlock_checker(Reporter& reporter) {
  return std::make_unique<DeadlockChecker>(reporter);
}

}  // namespace warpcheck::vgpu
