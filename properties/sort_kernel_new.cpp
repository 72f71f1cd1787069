// A merge of sorted lists through arrays that all threads share, or are assumed to share: the
// specimen, which allocates them by `new` in every thread, and two clean twins.
#include <algorithm>
#include <cstddef>
#include <vector>

#include "harness/generators/generators.hpp"
#include "harness/input/required_classes.hpp"
#include "harness/pair/pair.hpp"
#include "kernels/merge_heads.hpp"
#include "kernels/specimens/kernel_new.hpp"

namespace warpcheck {

using Keys = std::vector<unsigned>;

// Element i belongs to list i % lists; the lists are sorted before they are merged, so that
// every vector is an input.
struct HeadsToMerge {
  Keys in;
  int lists = 1;  // threads of the block
};
FIELDS(HeadsToMerge, in, lists);

namespace {

constexpr int kHeadsMax = 1024;
// The comparisons of one thread.
constexpr int kComparisonsMax = 4'096;

bool has_lists(const HeadsToMerge& input) { return input.lists >= 1 && input.lists <= kHeadsMax; }

HeadsToMerge draw_heads(Draw& draw) {
  const int lists = static_cast<int>(draw(blocks(kHeadsMax)));
  const int n = draw(sizes({.max = std::min(1'000, kComparisonsMax / lists), .block = lists}));
  return {draw(vectors(n, integers<unsigned>())), lists};
}

Keys sorted(Keys keys) {
  std::sort(keys.begin(), keys.end());
  return keys;
}

Keys with_sorted_lists(const HeadsToMerge& input) {
  Keys in = input.in;
  const auto lists = static_cast<std::size_t>(input.lists);
  for (std::size_t first = 0; first < std::min(lists, in.size()); ++first) {
    Keys list;
    for (std::size_t i = first; i < in.size(); i += lists) list.push_back(in[i]);
    list = sorted(std::move(list));
    for (std::size_t i = 0; i < list.size(); ++i) in[first + i * lists] = list[i];
  }
  return in;
}

using MergeHeads = cudaError_t (*)(const unsigned*, unsigned*, int, int);

template <MergeHeads merge>
Keys run_merge(Device& device, const HeadsToMerge& input) {
  const auto in = device.upload(with_sorted_lists(input));
  auto out = device.array<unsigned>(input.in.size());
  device.check(merge(in.data(), out.data(), static_cast<int>(input.in.size()), input.lists));
  return out.download();
}

Keys merged_heads(const HeadsToMerge& input) { return sorted(input.in); }

}  // namespace

KERNEL_PAIR(merge_heads_shared, HeadsToMerge, Keys) = {
    .family = "sort",
    .origin = "ours: the heads of all lists in shared memory",
    .domain = has_lists,
    .arbitrary = draw_heads,
    .kernel = run_merge<merge_heads_shared>,
    .reference = merged_heads,
    .required_classes = of_array<unsigned>("in", {"lists: one", "lists: odd"}),
};

KERNEL_PAIR(merge_heads_new, HeadsToMerge, Keys) = {
    .family = "sort",
    .origin = "ours: the heads of all lists on the device heap, allocated and freed by one thread",
    .domain = has_lists,
    .arbitrary = draw_heads,
    .kernel = run_merge<merge_heads_new>,
    .reference = merged_heads,
    .required_classes = of_array<unsigned>("in", {"lists: one", "lists: odd"}),
};

KERNEL_PAIR(kernel_new_published, HeadsToMerge, Keys) = {
    .family = "sort",
    .origin = "published: `new` in the kernel, taken for shared memory",
    .expects = {"uninitialized-read", "mismatch", "leak", "out-of-bounds"},
    .domain = has_lists,
    .arbitrary = draw_heads,
    .kernel = run_merge<kernel_new_published>,
    .reference = merged_heads,
};

namespace {

// The same keys, divided into another number of lists.
HeadsToMerge dealt_to(const HeadsToMerge& input, int lists) { return {input.in, lists}; }

}  // namespace

#define MERGE_HEADS_CLAIMS(pair)                                                    \
  PROPERTY(pair, number_of_lists_does_not_matter)(HeadsToMerge input) {             \
    EXPECT_EQ(run(input), run(dealt_to(input, 1 + (input.lists + 6) % kHeadsMax))); \
  }

MERGE_HEADS_CLAIMS(merge_heads_shared)
MERGE_HEADS_CLAIMS(merge_heads_new)

}  // namespace warpcheck
