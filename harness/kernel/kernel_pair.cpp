#include "harness/kernel/kernel_pair.hpp"

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstring>
#include <map>
#include <set>

#include "harness/input/json.hpp"
#include "harness/kernel/kernel_conditions.hpp"
#include "harness/kernel/kernel_shrinks.hpp"
#include "harness/kernel/sparse_contents.hpp"
#include "harness/pair/device.hpp"
#include "vgpu/cudart/code/text_kernel.hpp"
#include "vgpu/cudart/exec/sampled_launches.hpp"

namespace warpcheck {
namespace {

constexpr const char* kLaunch = "launch";
constexpr const char* kBlocks = "sparse blocks";  // no parameter has a name with a space

const KernelInput& typed(const AnyInput& input) {
  return *static_cast<const KernelInput*>(input.get());
}

// "scan_int_256" for "scan<int, 256>": names of pairs are names of folders.
std::string word_of(std::string_view name) {
  std::string word;
  for (const char c : name) {
    const bool is_kept = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
    if (is_kept) word += c;
    if (!is_kept && !word.empty() && word.back() != '_') word += '_';
  }
  while (word.size() > 1 && word.back() == '_') word.pop_back();
  return word;
}

Json column_json(const Column& column) {
  Json json;
  std::visit(
      [&]<class T>(const std::vector<T>& values) {
        FieldTraits<std::vector<T>>::write(json, values);
      },
      column);
  return json;
}

void read_column(const Json& json, const FieldPath& path, Column& column) {
  std::visit(
      [&]<class T>(std::vector<T>& values) {
        values = FieldTraits<std::vector<T>>::read(json, path);
      },
      column);
}

bool is_within(const Column& column, const std::optional<ValueRange>& range) {
  if (!range) return true;
  return std::visit(
      [&](const auto& values) {
        return std::ranges::all_of(values, [&](auto value) {
          if constexpr (std::is_floating_point_v<decltype(value)>) {
            return value >= static_cast<double>(range->low) &&
                   value <= static_cast<double>(range->high);
          } else {
            return std::cmp_greater_equal(value, range->low) &&
                   std::cmp_less_equal(value, range->high);
          }
        });
      },
      column);
}

bool is_in_order(const Column& column, ArrayParameter::Order order) {
  if (order == ArrayParameter::Order::any) return true;
  return std::visit(
      [&](auto values) {  // a copy, to sort
        if (order == ArrayParameter::Order::ascending) return std::ranges::is_sorted(values);
        std::ranges::sort(values);
        return std::ranges::adjacent_find(values) == values.end();
      },
      column);
}

bool is_boolean_within(const ArrayParameter& array, const std::vector<Column>& columns) {
  for (std::size_t c = 0; c < columns.size(); ++c) {
    if (array.columns[c].element == ElementType::boolean &&
        !is_within(columns[c], ValueRange{0, 1})) {
      return false;
    }
  }
  return true;
}

}  // namespace

KernelPair::KernelPair(KernelDescription kernel)
    : PairWithoutReference(word_of(kernel.name)),
      kernel_(std::move(kernel)),
      function_(
          cudart::register_kernel_text({kernel_.optimized, kernel_.unoptimized}, kernel_.mangled)) {
  for (const ScalarParameter& scalar : kernel_.scalars) {
    is_given_.push_back(is_given_by_equation(kernel_, scalar.name));
  }
}

bool KernelPair::in_domain(const AnyInput& input) const {
  const KernelInput& in = typed(input);
  if (in.launch.block.count() > 1024 || in.launch.threads() == 0) return false;
  for (std::size_t i = 0; i < kernel_.scalars.size(); ++i) {
    const ScalarParameter& scalar = kernel_.scalars[i];
    if (!is_integer(scalar.element)) continue;
    const bool is_above = in.integers[i] > scalar.range.high && !is_given_[i];
    if (in.integers[i] < scalar.range.low || is_above) return false;
  }
  if (in.blocks && in.launch.grid.count() > UINT32_MAX) return false;
  KernelInput fitted{in.integers, in.floats, {}, in.launch, in.blocks};
  if (!fit_launch(kernel_, fitted) || fitted.launch != in.launch) return false;
  const LaunchRule& rule = kernel_.launch;
  const auto has_dims = [](const Dim3& extents, int dims,
                           const std::array<std::optional<Expression>, 3>& rules) {
    return (dims > 0 || rules[0] || extents.x == 1) && (dims > 1 || rules[1] || extents.y == 1) &&
           (dims > 2 || rules[2] || extents.z == 1);
  };
  if (!has_dims(in.launch.grid, rule.grid_dims, rule.grid)) return false;
  if (!has_dims(in.launch.block, rule.block_dims, rule.block)) return false;
  for (std::size_t i = 0; i < kernel_.arrays.size(); ++i) {
    const ArrayParameter& array = kernel_.arrays[i];
    const auto length = length_of(kernel_, array, in);
    if (!length || !is_boolean_within(array, in.arrays[i])) return false;
    if (in.blocks) continue;
    for (const Column& column : in.arrays[i]) {
      if (warpcheck::size_of(column) != *length || !is_within(column, array.values) ||
          !is_in_order(column, array.order)) {
        return false;
      }
    }
  }
  return std::ranges::all_of(kernel_.conditions, [&](const Expression& condition) {
    return condition.value(names_of(kernel_, in)).value_or(0) != 0;
  });
}

bool KernelPair::identical(const AnyInput& a, const AnyInput& b) const {
  return to_json(a) == to_json(b);
}

InputSize KernelPair::size_of(const AnyInput& input) const {
  const KernelInput& in = typed(input);
  InputSize size;
  for (const std::vector<Column>& columns : in.arrays) {
    for (const Column& column : columns) {
      std::visit([&](const auto& values) { measure(values, size); }, column);
    }
  }
  for (std::size_t i = 0; i < in.integers.size(); ++i) {
    measure(in.integers[i], size);
    measure(in.floats[i], size);
  }
  measure(in.launch, size);
  return size;
}

void KernelPair::write(Json& json, const AnyInput& input) const {
  const KernelInput& in = typed(input);
  json = Json::object();
  for (std::size_t i = 0; i < kernel_.scalars.size(); ++i) {
    const ScalarParameter& scalar = kernel_.scalars[i];
    Json& value = json[scalar.name];
    if (is_integer(scalar.element)) {
      write_signed(value, in.integers[i]);
    } else if (scalar.element == ElementType::f64) {
      write_double(value, in.floats[i]);
    } else {
      write_float(value, static_cast<float>(in.floats[i]));
    }
  }
  for (std::size_t i = 0; i < kernel_.arrays.size() && !in.blocks; ++i) {
    const ArrayParameter& array = kernel_.arrays[i];
    for (std::size_t c = 0; c < array.columns.size(); ++c) {
      const std::string& column = array.columns[c].name;
      json[column.empty() ? array.name : array.name + "." + column] = column_json(in.arrays[i][c]);
    }
  }
  FieldTraits<LaunchConfig>::write(json[kLaunch], in.launch);
  if (in.blocks) FieldTraits<std::vector<std::uint32_t>>::write(json[kBlocks], *in.blocks);
}

bool KernelPair::write_definition(Json& json, bool unoptimized) const {
  json = description_json(kernel_, unoptimized);
  return true;
}

AnyInput KernelPair::from_json(const Json& json) const {
  const FieldPath root("input");
  ObjectReader fields(json, root);
  auto input = std::make_shared<KernelInput>();
  std::set<std::string> known{kLaunch};
  if (json.contains(kBlocks)) {
    known.insert(kBlocks);
    input->blocks = FieldTraits<std::vector<std::uint32_t>>::read(fields.required(kBlocks),
                                                                  FieldPath(root, kBlocks));
  }
  for (const ScalarParameter& scalar : kernel_.scalars) {
    const Json& value = fields.required(scalar.name);
    const FieldPath path(root, scalar.name);
    known.insert(scalar.name);
    const bool is_whole = is_integer(scalar.element);
    const ValueRange all = range_of(scalar.element);
    input->integers.push_back(is_whole ? read_signed(value, path, all.low, all.high) : 0);
    input->floats.push_back(is_whole                             ? 0
                            : scalar.element == ElementType::f64 ? read_double(value, path)
                                                                 : read_float(value, path));
  }
  for (const ArrayParameter& array : kernel_.arrays) {
    std::vector<Column>& columns = input->arrays.emplace_back();
    for (const ArrayParameter::Column& column : array.columns) {
      const std::string name = column.name.empty() ? array.name : array.name + "." + column.name;
      known.insert(name);
      columns.push_back(empty_column(column.element));
      if (input->blocks) continue;
      read_column(fields.required(name), FieldPath(root, name), columns.back());
    }
  }
  input->launch =
      FieldTraits<LaunchConfig>::read(fields.required(kLaunch), FieldPath(root, kLaunch));
  for (const auto& [name, value] : json.items()) {
    if (!known.contains(name)) throw_field_error(FieldPath(root, name), "unknown field");
  }
  return input;
}

AnyInput KernelPair::edited(const AnyInput& input, const InputEdit& edit) const {
  auto changed = std::make_shared<KernelInput>(typed(input));
  apply(edit, changed->launch);
  for (const InputEdit::Size& wanted : edit.sizes) {
    const auto found = std::ranges::find(kernel_.scalars, wanted.field, &ScalarParameter::name);
    if (found == kernel_.scalars.end() || !is_integer(found->element)) return nullptr;
    if (wanted.size > INT64_MAX) return nullptr;
    changed->integers[static_cast<std::size_t>(found - kernel_.scalars.begin())] =
        static_cast<std::int64_t>(wanted.size);
  }
  if (!fit(kernel_, *changed)) return nullptr;
  for (std::vector<Column>& columns : changed->arrays) {
    for (Column& column : columns) {
      std::visit([&](auto& values) { detail::edit_array(edit.data, values); }, column);
    }
  }
  return changed;
}

std::optional<std::size_t> KernelPair::for_each_shrink_from(
    std::size_t first, const AnyInput& input, FunctionRef<bool(AnyInput)> accept) const {
  std::size_t number = 0;
  const auto take = [&](Candidate<KernelInput> make) {
    if (number >= first) {
      AnyInput candidate = std::make_shared<const KernelInput>(make());
      if (in_domain(candidate) && accept(std::move(candidate))) return true;
    }
    ++number;
    return false;
  };
  if (for_each_simpler_input(kernel_, typed(input), take)) return number;
  return std::nullopt;
}

void KernelPair::launch(const KernelInput& input, const std::vector<void*>& arrays) const {
  std::vector<std::vector<std::byte>> parameters;
  for (const std::uint32_t bytes : kernel_.parameter_bytes) parameters.emplace_back(bytes);
  const auto at = [&](const ParameterPlace& place) {
    return parameters[place.parameter].data() + place.offset;
  };
  for (std::size_t i = 0; i < kernel_.scalars.size(); ++i) {
    const ScalarParameter& scalar = kernel_.scalars[i];
    write_scalar(scalar, input.integers[i], input.floats[i], at(scalar.place));
  }
  for (std::size_t i = 0; i < kernel_.arrays.size(); ++i) {
    std::memcpy(at(kernel_.arrays[i].place), &arrays[i], sizeof(void*));
  }
  std::vector<void*> arguments;
  for (std::vector<std::byte>& parameter : parameters) arguments.push_back(parameter.data());
  const std::uint32_t shared = input.launch.shared_bytes;
  if (shared > 48 << 10) {
    check(cudaFuncSetAttribute(function_, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               static_cast<int>(shared)));
  }
  check(cudaLaunchKernel(function_, input.launch.grid, input.launch.block, arguments.data(), shared,
                         nullptr));
  check(cudaDeviceSynchronize());
}

AnyOutput KernelPair::run_kernel(const AnyInput& input) const {
  const KernelInput& in = typed(input);
  if (in.blocks) return run_sparsely(in);
  std::vector<DeviceArray<std::byte>> arrays;
  std::vector<void*> pointers;
  for (std::size_t i = 0; i < kernel_.arrays.size(); ++i) {
    std::vector<std::byte> bytes = bytes_of(kernel_.arrays[i], in.arrays[i]);
    bytes.resize(
        bytes_with_rest(kernel_.arrays[i], bytes.size() / kernel_.arrays[i].element_bytes));
    arrays.emplace_back(std::span<const std::byte>(bytes));
    pointers.push_back(arrays.back().data());
  }
  launch(in, pointers);
  // Somebody reads what a kernel has written: a value that nothing has written is a finding there.
  for (std::size_t i = 0; i < kernel_.arrays.size(); ++i) {
    if (!kernel_.arrays[i].is_constant) static_cast<void>(arrays[i].download());
  }
  return std::make_shared<const int>(0);  // there was an output
}

std::uint64_t bytes_with_rest(const ArrayParameter& array, std::uint64_t length) {
  constexpr std::uint64_t kTimes = 4, kAtLeast = 4096;
  const std::uint64_t elements = array.is_open ? kTimes * length + kAtLeast : length;
  return elements * array.element_bytes;
}

bool is_sparse(const AnyPair& pair, const AnyInput& input) {
  return dynamic_cast<const KernelPair*>(&pair) != nullptr && typed(input).blocks.has_value();
}

// Nobody reads what some blocks have written.
AnyOutput KernelPair::run_sparsely(const KernelInput& input) const {
  std::vector<std::uint64_t> lengths;
  std::uint64_t bytes = 0;
  for (const ArrayParameter& array : kernel_.arrays) {
    lengths.push_back(length_of(kernel_, array, input).value_or(0));
    bytes += bytes_with_rest(array, lengths.back());
  }
  const cudart::SampledLaunches sampled(*input.blocks, 2 * bytes + (std::uint64_t{1} << 30));
  std::vector<DeviceArray<std::byte>> arrays;
  std::vector<void*> pointers;
  for (std::size_t i = 0; i < kernel_.arrays.size(); ++i) {
    arrays.emplace_back(bytes_with_rest(kernel_.arrays[i], lengths[i]));
    pointers.push_back(arrays.back().data());
    fill_sparsely(kernel_.arrays[i], lengths[i], arrays.back().data());
  }
  launch(input, pointers);
  return std::make_shared<const int>(0);
}

const AnyPair& kernel_pair_of(const Json& description) {
  static std::map<std::string, std::unique_ptr<KernelPair>> pairs;
  std::unique_ptr<KernelPair>& pair = pairs[description.dump()];
  if (pair == nullptr) {
    const FieldPath path("kernel");
    pair = std::make_unique<KernelPair>(read_description(description, path));
  }
  return *pair;
}

}  // namespace warpcheck
