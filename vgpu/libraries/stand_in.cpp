#include "vgpu/libraries/stand_in.hpp"

#include <fmt/format.h>

#include <cstdlib>

namespace warpcheck::libraries {
namespace {

cudart::LibraryRegion plain(const Region& region, const std::string& name, bool reads,
                            bool writes) {
  return {.name = name.c_str(),
          .pointer = region.pointer,
          .element_bytes = region.element_bytes,
          .width = region.width,
          .height = region.height,
          .depth = region.depth,
          .pitch = region.pitch,
          .slice = region.slice,
          .shape = region.shape,
          .reads = reads,
          .writes = writes,
          .leaves_undefined = region.leaves_undefined,
          .on_host = region.on_host,
          .addresses = region.addresses};
}

// Inserts the function's name: "A, 64 x 64, lda 60" becomes "A of cublasSgemm, 64 x 64, lda 60".
std::string name_in(const char* function, const std::string& name) {
  const std::size_t comma = std::min(name.find(','), name.size());
  return fmt::format("{} of {}{}", std::string_view(name).substr(0, comma), function,
                     std::string_view(name).substr(comma));
}

std::int64_t bytes_of(std::int64_t elements, std::size_t element_bytes) {
  return elements * static_cast<std::int64_t>(element_bytes);
}

Region region_at(std::string name, const void* pointer, std::size_t element_bytes) {
  Region region;
  region.name = std::move(name);
  region.pointer = const_cast<void*>(pointer);
  region.element_bytes = static_cast<std::uint32_t>(element_bytes);
  return region;
}

}  // namespace

Region Region::batch(std::int64_t count, std::int64_t stride) && {
  depth = count;
  slice = bytes_of(stride, element_bytes);
  name += fmt::format(", {} of them {} apart", count, stride);
  return std::move(*this);
}

Region matrix(std::string_view name, const void* pointer, std::size_t element_bytes,
              std::int64_t rows, std::int64_t columns, std::int64_t leading) {
  Region region = region_at(fmt::format("{}, {} x {}, ld {}", name, rows, columns, leading),
                            pointer, element_bytes);
  region.width = rows;
  region.height = columns;
  region.pitch = bytes_of(leading, element_bytes);
  return region;
}

Region triangle(std::string_view name, const void* pointer, std::size_t element_bytes,
                bool is_lower, std::int64_t order, std::int64_t leading) {
  Region region = matrix(name, pointer, element_bytes, order, order, leading);
  region.name += is_lower ? ", lower triangle" : ", upper triangle";
  region.width = is_lower ? order : std::min<std::int64_t>(order, 1);
  region.shape.shift = is_lower ? 1 : 0;
  region.shape.growth = is_lower ? -1 : 1;
  return region;
}

Region band(std::string_view name, const void* pointer, std::size_t element_bytes,
            std::int64_t rows, std::int64_t columns, std::int64_t below, std::int64_t above,
            std::int64_t leading) {
  // The last columns may have no element of the band.
  Region region =
      matrix(name, pointer, element_bytes, rows, std::min(columns, rows + above), leading);
  region.name = fmt::format("{}, {} x {}, {} below and {} above the diagonal, ld {}", name, rows,
                            columns, below, above, leading);
  region.shape = {.lead = above, .shift = -1, .limit = below + above + 1};
  return region;
}

Region vector(std::string_view name, const void* pointer, std::size_t element_bytes,
              std::int64_t count, std::int64_t increment) {
  Region region = array(name, pointer, element_bytes, count);
  if (increment == 1 || increment == -1) return region;
  region.name += fmt::format(", inc {}", increment);
  region.width = 1;
  region.height = count;
  region.pitch = bytes_of(std::abs(increment), element_bytes);
  return region;
}

Region array(std::string_view name, const void* pointer, std::size_t element_bytes,
             std::int64_t count) {
  Region region =
      region_at(count == 1 ? std::string(name) : fmt::format("{}, {} elements", name, count),
                pointer, element_bytes);
  region.width = count;
  region.pitch = bytes_of(count, element_bytes);
  return region;
}

std::size_t Operation::add(Region region, bool reads, bool writes) {
  region.name = name_in(call_.function, region.name);
  regions_.emplace_back(std::move(region), cudart::LibraryRegion{.reads = reads, .writes = writes});
  return regions_.size() - 1;
}

void Operation::More::add(Region region, bool reads, bool writes) {
  const std::string name = name_in(function_, region.name);
  const cudart::LibraryRegion all = plain(region, name, reads, writes);
  add_(sink_, &all);
}

cudaError_t Operation::enqueue() {
  std::vector<cudart::LibraryRegion> all;
  for (const auto& [region, use] : regions_) {
    all.push_back(plain(region, region.name, use.reads, use.writes));
  }
  state_->function = call_.function;
  cudart::LibraryRequest request{.function = call_.function,
                                 .return_address = call_.return_address,
                                 .stream = call_.stream,
                                 .regions = all.data(),
                                 .region_count = all.size(),
                                 .waits = waits_};
  request.compute = [](void* state, const LibraryView* views) {
    static_cast<const State*>(state)->compute(Views(views));
  };
  if (state_->expand) {
    request.expand = [](void* state, const LibraryView* views, void* sink, More::Add add_to) {
      const auto& of = *static_cast<const State*>(state);
      More more(of.function, sink, add_to);
      of.expand(Views(views), more);
    };
  }
  request.release = [](void* state) { delete static_cast<State*>(state); };
  request.state = state_.release();
  return services().enqueue(&request);
}

cudaError_t copy(const Call& call, const Copy& copy) {
  const cudart::LibraryCopy request{.function = call.function,
                                    .return_address = call.return_address,
                                    .stream = call.stream,
                                    .target = copy.target,
                                    .source = copy.source,
                                    .target_pitch = copy.target_pitch,
                                    .source_pitch = copy.source_pitch,
                                    .width = copy.width,
                                    .height = copy.rows,
                                    .kind = copy.kind,
                                    .asynchronous = copy.asynchronous};
  return services().copy(&request);
}

void report_failure(const Call& call, std::string_view arguments, const char* answer,
                    const std::string& why) {
  const std::string text = arguments.empty() ? std::string(call.function)
                                             : fmt::format("{}({})", call.function, arguments);
  const cudart::LibraryFailure failure{.function = call.function,
                                       .return_address = call.return_address,
                                       .call = text.c_str(),
                                       .answer = answer,
                                       .why = why.c_str()};
  services().report_failure(&failure);
}

void refuse(const char* function, std::string_view why) {
  services().refuse(function, std::string(why).c_str());
}

}  // namespace warpcheck::libraries
