#include "vgpu/check/init/init_reports.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "vgpu/program/program.hpp"
#include "vgpu/text/counted.hpp"

namespace warpcheck::vgpu {
namespace {

std::string range_of(const HostAccess& access, std::uint32_t offset) {
  return fmt::format("{}, first of a copy of {}", describe(*access.allocation, offset, 1),
                     counted(access.row_bytes != 0 ? access.row_bytes : access.bytes, "byte"));
}

// The finding is about what the origin has read; this says where the copied value lies, if that is
// something else.
std::string place_of_copy(const HostAccess& access, std::uint32_t offset, const Origin& origin) {
  if (origin.object.empty()) return {};
  return fmt::format("; the value lies in {} memory, {}", space_name(access.allocation->space),
                     range_of(access, offset));
}

std::string_view space_of(const Origin& origin) {
  return origin.kind == Origin::Kind::tensor_memory ? "tensor" : space_name(origin.space);
}

// Text about who has left a value in memory that (1), a load of a later kernel, has found there.
std::string stored_by(const Origin& origin) {
  if (origin.program == nullptr) return "that (3) has left: " + origin.of_library.name;
  return fmt::format("that kernel {} has stored, made from {}{}",
                     kernel_name(origin.program->kernel), origin.source("had written", 3),
                     origin.reads_memory() ? " before (3)" : "");
}

}  // namespace

// The launch of the origin may be an earlier one, with other extents.
AccessSide InitReports::side_of(const Origin& origin) const {
  if (origin.program == nullptr) return vgpu::side_of(origin.of_library, false);
  using enum Origin::Kind;
  const char* const role = origin.kind == shuffle   ? "shuffle"
                           : origin.kind == product ? "product"
                                                    : "read";
  return side_at(role, {origin.program, origin.pc, origin.block, origin.thread});
}

InitReports::UseWords InitReports::words_of(UndefinedUse::Kind kind) {
  if (kind == UndefinedUse::Kind::branch) return {"branch", "branches on a value", 1};
  if (kind == UndefinedUse::Kind::handed_on) return {"use", "takes a value", 0};
  return {"address", "uses an address", 0};
}

void InitReports::used(const UndefinedUse& use, const FindOrigins& find) {
  report_use(use, words_of(use.kind), find);
}

void InitReports::stored(const UndefinedUse& use, bool is_atomic, const FindOrigins& find) {
  report_use(
      use,
      is_atomic ? UseWords{"atomic", "takes a value", 6} : UseWords{"write", "stores a value", 6},
      find);
}

void InitReports::report_use(const UndefinedUse& use, const UseWords& words,
                             const FindOrigins& find) {
  reporter_.report({use.program, use.origin, use.pc, words.tag}, [&] {
    Finding finding;
    finding.kind = FindingKind::uninitialized_read;
    finding.kernel = kernel_name(use.program->kernel);
    ThreadId user = thread_of(use.place, static_cast<unsigned>(__builtin_ctz(use.lanes)));
    const Origins origins = find();
    std::string value = "made from bytes that nothing has written";
    if (origins.own) {
      const Origin& origin = *origins.own;
      value = "made from " + origin.source("has written");
      AccessSide side = side_of(origin);
      const std::uint32_t both = origin.lanes_that_read(use);
      if (both != 0) user = thread_of(use.place, static_cast<unsigned>(__builtin_ctz(both)));
      if (both != 0 || !origin.reads_memory()) {
        side = reporter_.side(side.role, *origin.program, origin.pc, user);
      }
      finding.space = origin.reads_memory() ? space_of(origin) : "";
      finding.object = origin.object;
      finding.variable = origin.variable;
      if (!origin.reads_memory()) finding.lack = origin.lack();
      finding.accesses.push_back(std::move(side));
    }
    finding.accesses.push_back(reporter_.side(words.role, *use.program, use.pc, user));
    if (origins.earlier) {
      const Origin& earlier = *origins.earlier;
      value = stored_by(earlier);
      if (!earlier.reads_memory()) finding.lack = earlier.lack();
      finding.accesses.push_back(side_of(earlier));
    }
    finding.message = fmt::format("(2) {} {}", words.sentence, value);
    if (const auto& first = origins.earlier ? origins.earlier : origins.own) {
      add_cause(first->allocation, first->offset, finding);
    }
    return finding;
  });
}

void InitReports::read_by_library(const OperandAccess& access, std::uint32_t number) {
  const auto first = static_cast<std::uint32_t>(
      std::ranges::find_if(access.undefined, [](std::uint8_t bits) { return bits != 0; }) -
      access.undefined.begin());
  reporter_.report({nullptr, number, ptx::kNone, 7}, [&] {
    Finding finding;
    finding.kind = FindingKind::uninitialized_read;
    finding.space = space_name(access.allocation->space);
    finding.object = describe(*access.allocation, access.offset + first, 1);
    finding.accesses = {vgpu::side_of(*access.operand, false)};
    finding.message = "(1) reads bytes that nothing has written: " + access.operand->name;
    return finding;
  });
}

void InitReports::copied_value(const HostAccess& access, std::uint32_t offset,
                               const Origin& origin) {
  reporter_.report({origin.program, origin.pc, ptx::kNone, 2}, [&] {
    Finding finding = copied_from(access, offset, origin);
    finding.message = fmt::format("(2) takes a value made from {}", origin.source("had written"));
    if (origin.program == nullptr) finding.message += ": " + origin.of_library.name;
    finding.message += place_of_copy(access, offset, origin);
    add_copy(access, finding);
    add_cause(origin.allocation, origin.offset, finding);
    return finding;
  });
}

// Reports `bytes` bytes from `offset` on.
void InitReports::copied_element(const HostAccess& access, std::uint32_t offset,
                                 std::uint32_t bytes) {
  reporter_.report({access.allocation, ptx::kNone, ptx::kNone, 4}, [&] {
    Finding finding;
    finding.kind = FindingKind::uninitialized_read;
    finding.space = space_name(access.allocation->space);
    finding.object = range_of(access, offset);
    finding.message = bytes == access.bytes
                          ? std::string("(1) takes bytes none of which anything has written")
                          : fmt::format(
                                "(1) takes {} bytes in a row that nothing has written: "
                                "whole elements, more than padding",
                                bytes);
    const Allocation& whole = access.allocation->object();
    if (whole.pitch != 0 &&
        access.allocation->offset_in_object(offset) % whole.pitch >= whole.row_bytes) {
      finding.message += fmt::format(
          ": they lie between the rows of the memory, which are {} bytes apart; is the pitch of "
          "the copy another one?",
          whole.pitch);
    }
    add_copy(access, finding);
    add_cause(access.allocation, offset, finding);
    return finding;
  });
}

void InitReports::copied_padding(const HostAccess& access, std::uint32_t offset,
                                 const Origin& origin) {
  reporter_.report({origin.program, origin.pc, ptx::kNone, 5}, [&] {
    Finding finding = copied_from(access, offset, origin);
    finding.severity = Severity::note;
    finding.message =
        "(2) takes bytes that nothing had written, beside others of their word that were: padding, "
        "perhaps" +
        place_of_copy(access, offset, origin);
    add_copy(access, finding);
    return finding;
  });
}

void InitReports::add_cause(const Allocation* allocation, std::uint32_t offset,
                            Finding& finding) const {
  if (allocation == nullptr || reporter_.causes() == nullptr) return;
  finding.cause = reporter_.causes()->of_unwritten(*allocation, offset);
}

// Adds the copy as the last side.
void InitReports::add_copy(const HostAccess& access, Finding& finding) const {
  finding.accesses.push_back(host_side("host copy"));
  name_place(finding, finding.accesses.size() - 1, reporter_.place_of_call(), access.call);
}

// Makes a finding without its message and the copy.
Finding InitReports::copied_from(const HostAccess& access, std::uint32_t offset,
                                 const Origin& origin) const {
  Finding finding;
  finding.kind = FindingKind::uninitialized_read;
  finding.space = origin.reads_memory() ? space_of(origin) : space_name(access.allocation->space);
  if (origin.program != nullptr) finding.kernel = kernel_name(origin.program->kernel);
  finding.object = origin.object.empty() ? range_of(access, offset) : origin.object;
  finding.accesses = {side_of(origin)};
  finding.variable = origin.variable;
  if (!origin.reads_memory()) finding.lack = origin.lack();
  return finding;
}

void InitReports::copied_bytes(const HostAccess& access, std::uint32_t offset) {
  reporter_.report({access.allocation, ptx::kNone, ptx::kNone, 3}, [&] {
    Finding finding;
    finding.kind = FindingKind::uninitialized_read;
    finding.severity = Severity::note;
    finding.space = space_name(access.allocation->space);
    finding.object = range_of(access, offset);
    finding.message = "(1) takes bytes that nothing has written; they may be padding";
    add_copy(access, finding);
    return finding;
  });
}

}  // namespace warpcheck::vgpu
