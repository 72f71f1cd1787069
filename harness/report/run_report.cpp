#include "harness/report/run_report.hpp"

#include <utility>

namespace warpcheck {
namespace {

constexpr std::string_view kReplacement = "\xef\xbf\xbd";  // U+FFFD

// The length in bytes of the well-formed UTF-8 sequence at the front of `text`; 0: there is none
// (Unicode 15, table 3-7).
std::size_t sequence_length(std::string_view text) {
  const auto byte = [&](std::size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u;
  };
  const auto in = [](unsigned value, unsigned low, unsigned high) {
    return value >= low && value <= high;
  };
  const unsigned lead = byte(0);
  if (lead < 0x80) return 1;
  const bool second = in(byte(1),
                         lead == 0xe0   ? 0xa0u
                         : lead == 0xf0 ? 0x90u
                                        : 0x80u,
                         lead == 0xed   ? 0x9fu
                         : lead == 0xf4 ? 0x8fu
                                        : 0xbfu);
  const bool third = in(byte(2), 0x80, 0xbf), fourth = in(byte(3), 0x80, 0xbf);
  if (in(lead, 0xc2, 0xdf)) return second ? 2 : 0;
  if (in(lead, 0xe0, 0xef)) return second && third ? 3 : 0;
  if (in(lead, 0xf0, 0xf4)) return second && third && fourth ? 4 : 0;
  return 0;
}

bool is_allowed(std::string_view sequence) {
  const auto first = static_cast<unsigned char>(sequence.front());
  if (sequence == "\t" || sequence == "\n") return true;
  return first >= 0x20 && first != 0x7f && sequence != "\xef\xbf\xbe" && sequence != "\xef\xbf\xbf";
}

}  // namespace

std::string_view name_of(Claim::Status status) {
  switch (status) {
    case Claim::Status::passed: return "passed";
    case Claim::Status::failed: return "failed";
    case Claim::Status::cannot_run: break;
  }
  return "cannot-run";
}

void RunReport::add(Report report) {
  claims.back().reports.push_back(reports.size());
  reports.push_back(std::move(report));
}

void RunReport::add_health(const std::string& pair, const std::string& property,
                           const std::vector<HealthProblem>& problems) {
  for (const HealthProblem& problem : problems) {
    health.push_back({{"pair", pair},
                      {"property", property},
                      {"check", problem.check},
                      {"message", problem.message}});
  }
}

std::string printable(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    const std::size_t length = sequence_length(text);
    const std::string_view sequence = text.substr(0, length == 0 ? 1 : length);
    result += length != 0 && is_allowed(sequence) ? sequence : kReplacement;
    text.remove_prefix(sequence.size());
  }
  return result;
}

}  // namespace warpcheck
