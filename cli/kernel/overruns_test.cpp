#include "cli/kernel/overruns.hpp"

#include <gtest/gtest.h>

#include <functional>

namespace warpcheck {
namespace {

// A kernel of integers n, m, last and bordered, and arrays a and b.
KernelDescription kernel_of_arrays(const std::string& a, const std::string& b) {
  KernelDescription kernel;
  for (const char* const name : {"n", "m", "last", "bordered"}) {
    kernel.scalars.push_back({name, ElementType::i32, {}, {0, 100}});
  }
  for (const auto& [name, length] : {std::pair{"a", a}, std::pair{"b", b}}) {
    ArrayParameter array;
    array.name = name;
    array.length = Expression(length);
    kernel.arrays.push_back(array);
  }
  return kernel;
}

// What a run with these numbers sees of both arrays.
using Seen = std::function<void(std::int64_t n, std::int64_t m, Extents& extents)>;

std::vector<Probe> runs_of(const Seen& seen) {
  std::vector<Probe> runs;
  for (std::int64_t i = 0; i < 12; ++i) {
    const std::int64_t n = i * 7 % 23, m = i * 5 % 13 + 2;
    KernelInput input;
    input.integers = {n, m, n + 3, n + 5};
    input.floats = {0, 0, 0, 0};
    input.launch = {Dim3(1), Dim3(32), 0};
    Extents extents;
    extents.elements = {0, 0};
    extents.written = {true, true};
    extents.reach.resize(2);
    seen(n, m, extents);
    runs.emplace_back(input, extents);
  }
  return runs;
}

// An instruction accesses the elements of an array from one to another.
void access(Extents& extents, std::size_t array, std::int64_t first, std::int64_t last,
            bool descends = false) {
  Reach& reach = extents.reach[array];
  reach.spans[static_cast<std::uint32_t>(reach.spans.size())] = {first, last, descends};
  if (last + 1 <= extents.elements[array]) return;
  extents.elements[array] = last + 1;
  reach.last_threads = {static_cast<std::uint64_t>(last)};
}

std::string shorter(const std::string& length, const Seen& seen, const std::string& other = "n") {
  const auto found = length_without_overrun(kernel_of_arrays(length, other), runs_of(seen), 0,
                                            Expression(length), {"bordered"});
  return found ? found->text() : "";
}

TEST(Overruns, AreOfOneInstructionThatAccessesAll) {
  EXPECT_EQ(shorter("n + 1", [](auto n, auto, Extents& seen) { access(seen, 0, 0, n); }), "n");
  EXPECT_EQ(shorter("n * m + 1", [](auto n, auto m, Extents& seen) { access(seen, 0, 0, n * m); }),
            "n * m");
  EXPECT_EQ(shorter("(n + 1) * m",
                    [](auto n, auto m, Extents& seen) { access(seen, 0, 0, (n + 1) * m - 1); }),
            "n * m");
  // Backwards: in[n - i].
  EXPECT_EQ(shorter("n + 1", [](auto n, auto, Extents& seen) { access(seen, 0, 1, n, true); }),
            "n");
}

TEST(Overruns, AreWhereOneBorderIsLeftOut) {
  // for (i = first; i < n; ++i) b[i] = a[i - 1] + a[i + 1];
  const auto from = [](std::int64_t first) {
    return shorter("n + 1", [=](auto n, auto, Extents& seen) {
      access(seen, 0, first - 1, n - 2);
      access(seen, 0, first + 1, n);
      access(seen, 1, first, n - 1);
    });
  };
  EXPECT_EQ(from(1), "n");
  // Of which nothing is left out.
  const auto differences = [](auto n, auto, Extents& seen) {
    access(seen, 0, 0, n - 1);
    access(seen, 0, 1, n);
    access(seen, 1, 0, n - 1);
  };
  EXPECT_EQ(shorter("n + 1", differences), "");
}

TEST(Overruns, AreNotWhereRowsBeginAndEnd) {
  const auto rows = [](auto n, auto, Extents& seen) {
    access(seen, 0, 0, n - 1);
    access(seen, 0, 1, n);
  };
  EXPECT_EQ(shorter("n + 1", rows), "");
  EXPECT_EQ(shorter("n + 1", [](auto n, auto, Extents& seen) { access(seen, 0, 1, n); }), "");
  EXPECT_EQ(shorter("n + 2", [](auto n, auto, Extents& seen) { access(seen, 0, 0, n + 1); }), "");
  // The weights of a window.
  EXPECT_EQ(shorter("n * 2 + 1", [](auto n, auto, Extents& seen) { access(seen, 0, 0, 2 * n); }),
            "");
}

TEST(Overruns, AreNotElementsThatAreMeant) {
  const Seen whole = [](auto n, auto, Extents& seen) { access(seen, 0, 0, n); };
  EXPECT_EQ(shorter("last + 1", [](auto n, auto, Extents& seen) { access(seen, 0, 0, n + 3); }),
            "");
  EXPECT_EQ(shorter("n + 1", whole, "n + 2"), "");
  EXPECT_EQ(shorter("bordered * m + m",
                    [](auto n, auto m, Extents& seen) { access(seen, 0, 0, (n + 6) * m - 1); }),
            "");
  // Offsets end with a size, and counts with the number that is looked at.
  const auto ends_with = [&](bool is_other) {
    return shorter("n + 1", [=](auto n, auto m, Extents& seen) {
      access(seen, 0, 0, n);
      seen.reach[0].last_value = is_other ? m : n + 7;
    });
  };
  EXPECT_EQ(ends_with(true), "");
  EXPECT_EQ(ends_with(false), "n");
  // Faces: the last one is beside the last cell.
  const auto beside = [&](std::uint64_t thread) {
    return shorter("n + 1", [=](auto n, auto, Extents& seen) {
      access(seen, 0, 0, n);
      access(seen, 1, 0, n - 1);
      seen.reach[1].last_threads = {static_cast<std::uint64_t>(n) - 1 + thread};
    });
  };
  EXPECT_EQ(beside(1), "");
  EXPECT_EQ(beside(0), "n");
}

}  // namespace
}  // namespace warpcheck
