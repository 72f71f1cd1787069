#include "vgpu/check/init/init_reports.hpp"

#include <fmt/format.h>

#include <string>

#include "vgpu/text/counted.hpp"

namespace warpcheck::vgpu {
namespace {

std::string range_of(const HostAccess& access, std::uint32_t offset) {
  return fmt::format("{}, first of a copy of {}", describe(*access.allocation, offset, 1),
                     counted(access.row_bytes != 0 ? access.row_bytes : access.bytes, "byte"));
}

// Text about who has left a value in memory that (1), a load of a later kernel, has found there.
std::string stored_by(const Origin& origin) {
  if (origin.program == nullptr) return "that (3) has left: " + origin.operand.name;
  return fmt::format("that kernel {} has stored, made from {}{}",
                     kernel_name(origin.program->kernel), origin.source("had written", 3),
                     origin.is_load() ? " before (3)" : "");
}

struct UseWords {
  const char* role;
  const char* sentence;
};

UseWords words_of(UndefinedUse::Kind kind) {
  if (kind == UndefinedUse::Kind::branch) return {"branch", "branches on a value"};
  if (kind == UndefinedUse::Kind::handed_on) return {"use", "takes a value"};
  return {"address", "uses an address"};
}

}  // namespace

// The launch of the origin may be an earlier one, with other extents.
AccessSide InitReports::side_of(const Origin& origin) const {
  if (origin.program == nullptr) return vgpu::side_of(origin.operand, false);
  using enum Origin::Kind;
  const char* const role = origin.kind == shuffle   ? "shuffle"
                           : origin.kind == product ? "product"
                                                    : "read";
  return side_at(role, {origin.program, origin.pc, origin.block, origin.thread});
}

void InitReports::used(const UndefinedUse& use) {
  const UseWords words = words_of(use.kind);
  reporter_.report(
      {use.program, use.origin, use.pc, use.kind == UndefinedUse::Kind::branch ? 1u : 0u}, [&] {
        Finding finding;
        finding.kind = FindingKind::uninitialized_read;
        finding.kernel = kernel_name(use.program->kernel);
        ThreadId user = thread_of(use.place, static_cast<unsigned>(__builtin_ctz(use.lanes)));
        const std::uint32_t own = origins_.of_use(use.program, use.origin, use.place, use.lanes);
        std::string value = "made from bytes that nothing has written";
        if (own != ptx::kNone) {
          const Origin& origin = origins_.at(own);
          value = "made from " + origin.source("has written");
          AccessSide side = side_of(origin);
          const std::uint32_t both = origin.lanes_that_read(use);
          if (both != 0) user = thread_of(use.place, static_cast<unsigned>(__builtin_ctz(both)));
          if (both != 0 || !origin.is_load()) {
            side = reporter_.side(side.role, *origin.program, origin.pc, user);
          }
          finding.space = origin.is_load() ? space_name(origin.space) : "";
          finding.object = origin.object;
          finding.variable = origin.variable;
          if (!origin.is_load()) finding.lack = origin.lack();
          finding.accesses.push_back(std::move(side));
        }
        finding.accesses.push_back(reporter_.side(words.role, *use.program, use.pc, user));
        if (own != ptx::kNone && origins_.earliest_of(own) != own) {
          const Origin& earlier = origins_.at(origins_.earliest_of(own));
          value = stored_by(earlier);
          if (!earlier.is_load()) finding.lack = earlier.lack();
          finding.accesses.push_back(side_of(earlier));
        }
        finding.message = fmt::format("(2) {} {}", words.sentence, value);
        return finding;
      });
}

void InitReports::copied_value(const HostAccess& access, std::uint32_t offset,
                               const Origin& origin) {
  reporter_.report({origin.program, origin.pc, ptx::kNone, 2}, [&] {
    Finding finding = copied_from(access, offset, origin);
    finding.message = fmt::format("(2) takes a value made from {}", origin.source("had written"));
    if (origin.program == nullptr) finding.message += ": " + origin.operand.name;
    add_copy(access, finding);
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
    add_copy(access, finding);
    if (reporter_.causes() != nullptr) {
      finding.cause = reporter_.causes()->of_unwritten(*access.allocation);
    }
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
        "perhaps";
    add_copy(access, finding);
    return finding;
  });
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
  finding.space = space_name(origin.is_load() ? origin.space : access.allocation->space);
  if (origin.program != nullptr) finding.kernel = kernel_name(origin.program->kernel);
  finding.object = range_of(access, offset);
  finding.accesses = {side_of(origin)};
  finding.variable = origin.variable;
  if (!origin.is_load()) finding.lack = origin.lack();
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
