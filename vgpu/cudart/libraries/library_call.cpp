#include "vgpu/cudart/libraries/library_call.hpp"

#include <span>
#include <utility>

#include "vgpu/cudart/api/calls/call_place.hpp"

namespace warpcheck::cudart {

LibraryCall::LibraryCall(const LibraryRequest& request)
    : request_(request),
      callers_(
          std::make_shared<const std::vector<const void*>>(callers_from(request.return_address))) {
  for (const LibraryRegion& region : std::span(request.regions, request.region_count)) {
    operands_.push_back(operand_of(region, operands_.size()));
  }
  request_.regions = nullptr;
}

LibraryCall::~LibraryCall() {
  if (request_.release != nullptr) request_.release(request_.state);
}

LibraryCall::Operand LibraryCall::operand_of(const LibraryRegion& region,
                                             std::size_t number) const {
  vgpu::LibraryOperand reported;
  reported.function = request_.function;
  reported.name = region.name;
  reported.call_site = reinterpret_cast<std::uint64_t>(request_.return_address);
  reported.number = static_cast<std::uint32_t>(number);
  reported.find_place = [callers = callers_] {
    CallPlace place = place_of(*callers);
    return vgpu::SourceLine{std::move(place.file), place.line};
  };
  Operand operand{region, std::make_shared<const vgpu::LibraryOperand>(std::move(reported))};
  operand.region.name = operand.reported_as->name.c_str();
  return operand;
}

std::vector<LibraryCall::Operand> LibraryCall::expand(const LibraryView* views) const {
  struct Sink {
    const LibraryCall& call;
    std::vector<Operand> added;
  } sink{*this, {}};
  if (request_.expand != nullptr) {
    request_.expand(request_.state, views, &sink, [](void* to, const LibraryRegion* region) {
      auto& [call, added] = *static_cast<Sink*>(to);
      added.push_back(call.operand_of(*region, call.operands_.size() + added.size()));
    });
  }
  return std::move(sink.added);
}

}  // namespace warpcheck::cudart
