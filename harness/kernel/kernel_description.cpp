#include "harness/kernel/kernel_description.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "harness/input/json.hpp"

namespace warpcheck {
namespace {

constexpr std::array<std::string_view, 6> kLaunchNames{"blockDim.x", "blockDim.y", "blockDim.z",
                                                       "gridDim.x",  "gridDim.y",  "gridDim.z"};

ElementType element_from(const Json& json, const FieldPath& path) {
  std::array<std::string_view, kElementNames.size()> names;
  for (std::size_t i = 0; i < names.size(); ++i) names[i] = kElementNames[i].second;
  return kElementNames[read_name(json, path, names)].first;
}

Json json_of(const ParameterPlace& place) { return Json::array({place.parameter, place.offset}); }

ParameterPlace place_from(const Json& json, const FieldPath& path) {
  expect_list(json, path, 2);
  const auto number = [&](std::size_t i) {
    return static_cast<std::uint32_t>(
        read_unsigned(element_of(json, i), FieldPath(path, i), UINT32_MAX));
  };
  return {number(0), number(1)};
}

Json json_of(const ValueRange& range) { return Json::array({range.low, range.high}); }

ValueRange range_from(const Json& json, const FieldPath& path) {
  expect_list(json, path, 2);
  const auto number = [&](std::size_t i) {
    return read_signed(element_of(json, i), FieldPath(path, i), INT64_MIN, INT64_MAX);
  };
  return {number(0), number(1)};
}

Expression expression_from(const Json& json, const FieldPath& path) {
  try {
    return Expression(read_text(json, path));
  } catch (const ExpressionError& error) {
    throw_field_error(path, error.what());
  }
}

Json json_of(const std::array<std::optional<Expression>, 3>& extents) {
  Json json = Json::array();
  for (const auto& extent : extents) json.push_back(extent ? Json(extent->text()) : Json());
  return json;
}

std::array<std::optional<Expression>, 3> extents_from(const Json& json, const FieldPath& path) {
  expect_list(json, path, 3);
  std::array<std::optional<Expression>, 3> extents;
  for (std::size_t i = 0; i < extents.size(); ++i) {
    const Json& extent = element_of(json, i);
    if (!extent.is_null()) extents[i] = expression_from(extent, FieldPath(path, i));
  }
  return extents;
}

ArrayParameter::Order order_from(const Json& json, const FieldPath& path) {
  std::array<std::string_view, kOrderNames.size()> names;
  for (std::size_t i = 0; i < names.size(); ++i) names[i] = kOrderNames[i].second;
  return kOrderNames[read_name(json, path, names)].first;
}

Json json_of(const ArrayParameter& array) {
  Json json = {{"name", array.name},
               {"type", array.type},
               {"place", json_of(array.place)},
               {"element_bytes", array.element_bytes},
               {"const", array.is_constant},
               {"length", array.length.text()}};
  if (array.values) json["values"] = json_of(*array.values);
  if (array.order != ArrayParameter::Order::any) {
    json["order"] = kOrderNames[static_cast<std::size_t>(array.order)].second;
  }
  if (array.is_open) json["open"] = true;
  json["columns"] = Json::array();
  for (const ArrayParameter::Column& column : array.columns) {
    json["columns"].push_back(
        {{"name", column.name}, {"element", name_of(column.element)}, {"offset", column.offset}});
  }
  return json;
}

ArrayParameter array_from(const Json& json, const FieldPath& path) {
  ObjectReader fields(json, path);
  ArrayParameter array;
  array.name = fields.text("name");
  array.type = fields.text("type");
  array.place = place_from(fields.required("place"), FieldPath(path, "place"));
  array.element_bytes = fields.number<std::uint32_t>("element_bytes");
  array.is_constant = read_bool(fields.required("const"), FieldPath(path, "const"));
  array.length = expression_from(fields.required("length"), FieldPath(path, "length"));
  if (const Json* values = fields.optional("values")) {
    array.values = range_from(*values, FieldPath(path, "values"));
  }
  if (const Json* order = fields.optional("order")) {
    array.order = order_from(*order, FieldPath(path, "order"));
  }
  if (const Json* open = fields.optional("open")) {
    array.is_open = read_bool(*open, FieldPath(path, "open"));
  }
  const Json& columns = fields.required("columns");
  const FieldPath columns_path(path, "columns");
  for (std::size_t i = 0; i < list_size(columns, columns_path); ++i) {
    const FieldPath column_path(columns_path, i);
    ObjectReader column(columns[i], column_path);
    array.columns.push_back(
        {.name = column.text("name"),
         .element = element_from(column.required("element"), FieldPath(column_path, "element")),
         .offset = column.number<std::uint32_t>("offset")});
    column.finish({"name", "element", "offset"});
    const ArrayParameter::Column& read = array.columns.back();
    if (std::uint64_t{read.offset} + bytes_of(read.element) > array.element_bytes) {
      throw_field_error(column_path, "the column is outside of its element");
    }
  }
  fields.finish({"name", "type", "place", "element_bytes", "const", "length", "values", "order",
                 "open", "columns"});
  return array;
}

ScalarParameter scalar_from(const Json& json, const FieldPath& path) {
  ObjectReader fields(json, path);
  ScalarParameter scalar{
      .name = fields.text("name"),
      .element = element_from(fields.required("element"), FieldPath(path, "element")),
      .place = place_from(fields.required("place"), FieldPath(path, "place")),
      .range = range_from(fields.required("range"), FieldPath(path, "range"))};
  fields.finish({"name", "element", "place", "range"});
  return scalar;
}

void check_place(const KernelDescription& kernel, const ParameterPlace& place, std::uint32_t bytes,
                 const FieldPath& path) {
  if (place.parameter < kernel.parameter_bytes.size() &&
      std::uint64_t{place.offset} + bytes <= kernel.parameter_bytes[place.parameter]) {
    return;
  }
  throw_field_error(path, "a place is outside of the kernel's parameters");
}

}  // namespace

std::string_view name_of(ElementType element) {
  return kElementNames[static_cast<std::size_t>(element)].second;
}

std::uint32_t bytes_of(ElementType element) {
  switch (element) {
    case ElementType::boolean:
    case ElementType::i8:
    case ElementType::u8: return 1;
    case ElementType::i16:
    case ElementType::u16:
    case ElementType::f16:
    case ElementType::bf16: return 2;
    case ElementType::i32:
    case ElementType::u32:
    case ElementType::f32: return 4;
    default: return 8;
  }
}

bool is_integer(ElementType element) { return element < ElementType::f16; }

ValueRange range_of(ElementType element) {
  const auto all = []<class T>(T) {
    return ValueRange{std::numeric_limits<T>::min(), std::numeric_limits<T>::max()};
  };
  switch (element) {
    case ElementType::boolean: return {0, 1};
    case ElementType::i8: return all(std::int8_t{});
    case ElementType::u8: return all(std::uint8_t{});
    case ElementType::i16: return all(std::int16_t{});
    case ElementType::u16: return all(std::uint16_t{});
    case ElementType::i32: return all(std::int32_t{});
    case ElementType::u32: return all(std::uint32_t{});
    case ElementType::u64: return {0, INT64_MAX};
    default: return all(std::int64_t{});
  }
}

bool is_launch_name(std::string_view name) {
  return std::ranges::find(kLaunchNames, name) != kLaunchNames.end();
}

Json description_json(const KernelDescription& kernel, bool unoptimized) {
  Json json = {{"name", kernel.name}, {"mangled", kernel.mangled}, {"file", kernel.file}};
  json["parameter_bytes"] = kernel.parameter_bytes;
  json["scalars"] = Json::array();
  for (const ScalarParameter& scalar : kernel.scalars) {
    json["scalars"].push_back({{"name", scalar.name},
                               {"element", name_of(scalar.element)},
                               {"place", json_of(scalar.place)},
                               {"range", json_of(scalar.range)}});
  }
  json["arrays"] = Json::array();
  for (const ArrayParameter& array : kernel.arrays) json["arrays"].push_back(json_of(array));
  json["conditions"] = Json::array();
  for (const Expression& condition : kernel.conditions) {
    json["conditions"].push_back(condition.text());
  }
  json["block"] = json_of(kernel.launch.block);
  json["grid"] = json_of(kernel.launch.grid);
  json["dims"] = Json::array({kernel.launch.grid_dims, kernel.launch.block_dims});
  json["shared_bytes"] = kernel.launch.shared_bytes.text();
  json[unoptimized ? "unoptimized" : "optimized"] =
      unoptimized ? kernel.unoptimized : kernel.optimized;
  return json;
}

KernelDescription read_description(const Json& json, const FieldPath& path) {
  ObjectReader fields(json, path);
  KernelDescription kernel{
      .name = fields.text("name"), .mangled = fields.text("mangled"), .file = fields.text("file")};
  const auto each = [&](const char* name, auto read) {
    const Json& list = fields.required(name);
    const FieldPath list_path(path, name);
    for (std::size_t i = 0; i < list_size(list, list_path); ++i) {
      read(list[i], FieldPath(list_path, i));
    }
  };
  each("parameter_bytes", [&](const Json& bytes, const FieldPath& at) {
    kernel.parameter_bytes.push_back(
        static_cast<std::uint32_t>(read_unsigned(bytes, at, std::uint64_t{1} << 16)));
  });
  each("scalars", [&](const Json& scalar, const FieldPath& at) {
    kernel.scalars.push_back(scalar_from(scalar, at));
    check_place(kernel, kernel.scalars.back().place, bytes_of(kernel.scalars.back().element), at);
  });
  each("arrays", [&](const Json& array, const FieldPath& at) {
    kernel.arrays.push_back(array_from(array, at));
    check_place(kernel, kernel.arrays.back().place, sizeof(void*), at);
  });
  each("conditions", [&](const Json& condition, const FieldPath& at) {
    kernel.conditions.push_back(expression_from(condition, at));
  });
  kernel.launch.block = extents_from(fields.required("block"), FieldPath(path, "block"));
  kernel.launch.grid = extents_from(fields.required("grid"), FieldPath(path, "grid"));
  const ParameterPlace dims = place_from(fields.required("dims"), FieldPath(path, "dims"));
  kernel.launch.grid_dims = static_cast<int>(std::min(dims.parameter, 3U));
  kernel.launch.block_dims = static_cast<int>(std::min(dims.offset, 3U));
  kernel.launch.shared_bytes =
      expression_from(fields.required("shared_bytes"), FieldPath(path, "shared_bytes"));
  const auto text = [&](const char* name) {
    const Json* const found = fields.optional(name);
    return found == nullptr ? std::string() : read_text(*found, FieldPath(path, name));
  };
  kernel.optimized = text("optimized");
  kernel.unoptimized = text("unoptimized");
  if (kernel.optimized.empty() && kernel.unoptimized.empty()) {
    throw_field_error(path, "expected the PTX of a build, optimized or unoptimized");
  }
  fields.finish({"name", "mangled", "file", "parameter_bytes", "scalars", "arrays", "conditions",
                 "block", "grid", "dims", "shared_bytes", "optimized", "unoptimized"});
  return kernel;
}

}  // namespace warpcheck
