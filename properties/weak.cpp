// Blocks that communicate: five idioms without their fences, which must be found, and the same with
// fences, which must be clean.
#include <numeric>
#include <type_traits>
#include <vector>

#include "harness/generators/generators.hpp"
#include "harness/pair/pair.hpp"
#include "kernels/specimens/weak/communication.hpp"

namespace warpcheck {

using Ints = std::vector<int>;

struct Message {
  Ints in;
};
FIELDS(Message, in);

struct Queue {
  Ints in;
  int consumers = 1;
};
FIELDS(Queue, in, consumers);

namespace {

constexpr std::size_t kItemsMax = 6;
constexpr int kConsumersMax = 4;
constexpr Fences kFenced = Fences::both, kBare = Fences::none;

Ints draw_items(Draw& draw) {
  Ints items(static_cast<std::size_t>(draw.between(1, kItemsMax)));
  for (int& item : items) item = static_cast<int>(draw.between(-99, 99));
  return items;
}

using Launcher = cudaError_t (*)(const int*, int*, int, SharedByBlocks*, Fences);

template <Launcher launch, Fences fences>
Ints run(Device& device, const Message& in, std::size_t outputs) {
  const auto items = device.upload(in.in);
  auto shared = device.upload(std::vector<SharedByBlocks>(1));
  auto out = device.upload(Ints(outputs));
  device.check(
      launch(items.data(), out.data(), static_cast<int>(in.in.size()), shared.data(), fences));
  return out.download();
}

template <Launcher launch, Fences fences>
Ints run_each(Device& device, const Message& in) {
  return run<launch, fences>(device, in, in.in.size());
}

template <Launcher launch, Fences fences>
Ints run_sum(Device& device, const Message& in) {
  return run<launch, fences>(device, in, 1);
}

template <Fences fences>
Ints run_queue(Device& device, const Queue& in) {
  const auto items = device.upload(in.in);
  auto shared = device.upload(std::vector<SharedByBlocks>(1));
  auto out = device.upload(Ints(in.in.size()));
  device.check(work_queue(items.data(), out.data(), static_cast<int>(in.in.size()), in.consumers,
                          shared.data(), fences));
  return out.download();
}

template <class Input>
Input draw_small(Draw& draw) {
  Input input;
  input.in = draw_items(draw);
  if constexpr (std::is_same_v<Input, Queue>) {
    input.consumers = static_cast<int>(draw.between(1, kConsumersMax));
  }
  return input;
}

template <class Input>
bool is_small(const Input& input) {
  if constexpr (std::is_same_v<Input, Queue>) {
    if (input.consumers < 1 || input.consumers > kConsumersMax) return false;
  }
  return !input.in.empty() && input.in.size() <= kItemsMax;
}

Ints same(const Message& in) { return in.in; }
Ints scan_of(const Message& in) {
  Ints sums(in.in.size());
  std::partial_sum(in.in.begin(), in.in.end(), sums.begin());
  return sums;
}
Ints summed(const Message& in) { return {std::accumulate(in.in.begin(), in.in.end(), 0)}; }
Ints doubled(const Queue& in) {
  Ints out;
  for (const int item : in.in) out.push_back(2 * item);
  return out;
}

}  // namespace

#define FENCED_KERNEL_PAIR(name, Input, run_kernel, of_reference) \
  KERNEL_PAIR(name, Input, Ints) = {                              \
      .family = "weak",                                           \
      .origin = "ours: blocks that communicate, with fences",     \
      .domain = is_small<Input>,                                  \
      .arbitrary = draw_small<Input>,                             \
      .kernel = run_kernel,                                       \
      .reference = of_reference,                                  \
  }
#define UNFENCED_KERNEL_PAIR(name, Input, run_kernel, of_reference)                    \
  KERNEL_PAIR(name, Input, Ints) = {                                                   \
      .family = "weak",                                                                \
      .origin = "ours: the same without fences; all accesses are volatile, or atomic", \
      .expects = {"mismatch"},                                                         \
      .domain = is_small<Input>,                                                       \
      .arbitrary = draw_small<Input>,                                                  \
      .kernel = run_kernel,                                                            \
      .reference = of_reference,                                                       \
  }

FENCED_KERNEL_PAIR(message_passing, Message, (run_each<message_passing, kFenced>), same);
UNFENCED_KERNEL_PAIR(message_passing_unfenced, Message, (run_each<message_passing, kBare>), same);
FENCED_KERNEL_PAIR(look_back_scan, Message, (run_each<look_back_scan, kFenced>), scan_of);
UNFENCED_KERNEL_PAIR(look_back_scan_unfenced, Message, (run_each<look_back_scan, kBare>), scan_of);
FENCED_KERNEL_PAIR(ticket_lock, Message, (run_sum<ticket_lock, kFenced>), summed);
UNFENCED_KERNEL_PAIR(ticket_lock_unfenced, Message, (run_sum<ticket_lock, kBare>), summed);
FENCED_KERNEL_PAIR(last_block, Message, (run_sum<last_block, kFenced>), summed);
UNFENCED_KERNEL_PAIR(last_block_unfenced, Message, (run_sum<last_block, kBare>), summed);
FENCED_KERNEL_PAIR(work_queue, Queue, run_queue<kFenced>, doubled);
UNFENCED_KERNEL_PAIR(work_queue_unfenced, Queue, run_queue<kBare>, doubled);

}  // namespace warpcheck
