#include "harness/kernel/kernel_shrinks.hpp"

#include <set>

namespace warpcheck {
namespace {

// Replaces integers and lets the arrays follow.  Where a length has no value the input stays as it
// is, and is outside the domain.
KernelInput with_numbers(const KernelDescription& kernel, KernelInput input, std::int64_t from,
                         std::int64_t to, const LaunchConfig& launch) {
  for (std::size_t i = 0; i < input.integers.size(); ++i) {
    if (is_integer(kernel.scalars[i].element) && input.integers[i] == from) {
      input.integers[i] = to;
    }
  }
  input.launch = launch;
  static_cast<void>(fit(kernel, input));
  return input;
}

// All integers of one value together: they are mostly one size.
bool smaller_numbers(const KernelDescription& kernel, const KernelInput& input,
                     Take<KernelInput> take) {
  std::set<std::int64_t, std::greater<>> values(input.integers.begin(), input.integers.end());
  for (const std::int64_t value : values) {
    if (value <= 0) continue;
    const auto from = static_cast<std::uint64_t>(value);
    const bool taken = for_each_smaller_extent(from, [&](std::uint64_t to) {
      const auto number = static_cast<std::int64_t>(to);
      const LaunchConfig followed = follow(input.launch, from, to);
      const auto offer = [&](const LaunchConfig& launch) {
        return take([&] { return with_numbers(kernel, input, value, number, launch); });
      };
      if (followed != input.launch && offer(followed)) return true;
      return offer(input.launch);
    });
    if (taken) return true;
  }
  return false;
}

bool simpler_single_numbers(const KernelDescription& kernel, const KernelInput& input,
                            Take<KernelInput> take) {
  for (std::size_t i = 0; i < kernel.scalars.size(); ++i) {
    const auto take_changed = [&](auto change) {
      return take([&] {
        KernelInput changed = input;
        change(changed);
        static_cast<void>(fit(kernel, changed));
        return changed;
      });
    };
    const bool is_whole = is_integer(kernel.scalars[i].element);
    const auto take_integer = [&](Candidate<std::int64_t> make) {
      return take_changed([&](KernelInput& changed) { changed.integers[i] = make(); });
    };
    const auto take_float = [&](Candidate<float> make) {
      return take_changed([&](KernelInput& changed) { changed.floats[i] = make(); });
    };
    const auto take_double = [&](Candidate<double> make) {
      return take_changed([&](KernelInput& changed) { changed.floats[i] = make(); });
    };
    if (is_whole && shrink_values<std::int64_t>(input.integers[i], take_integer)) return true;
    if (is_whole) continue;
    const bool taken = kernel.scalars[i].element == ElementType::f64
                           ? shrink_values<double>(input.floats[i], take_double)
                           : shrink_values<float>(static_cast<float>(input.floats[i]), take_float);
    if (taken) return true;
  }
  return false;
}

bool simpler_launches_of(const KernelDescription& kernel, const KernelInput& input,
                         Take<KernelInput> take) {
  const auto take_launch = [&](Candidate<LaunchConfig> make) {
    return take([&] {
      KernelInput changed = input;
      changed.launch = make();
      static_cast<void>(fit(kernel, changed));
      return changed;
    });
  };
  return shrink_sizes<LaunchConfig>(input.launch, take_launch);
}

bool simpler_contents(const KernelInput& input, Take<KernelInput> take) {
  for (std::size_t i = 0; i < input.arrays.size(); ++i) {
    for (std::size_t c = 0; c < input.arrays[i].size(); ++c) {
      const bool taken = std::visit(
          [&]<class T>(const std::vector<T>& values) {
            const auto take_values = [&](Candidate<std::vector<T>> make) {
              return take([&] {
                KernelInput changed = input;
                changed.arrays[i][c] = make();
                return changed;
              });
            };
            return shrink_values<std::vector<T>>(values, take_values);
          },
          input.arrays[i][c]);
      if (taken) return true;
    }
  }
  return false;
}

}  // namespace

bool for_each_simpler_input(const KernelDescription& kernel, const KernelInput& input,
                            Take<KernelInput> take) {
  return smaller_numbers(kernel, input, take) || simpler_launches_of(kernel, input, take) ||
         simpler_single_numbers(kernel, input, take) || simpler_contents(input, take);
}

}  // namespace warpcheck
