#include "vgpu/litmus/listing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>

#include "vgpu/text/trimmed.hpp"

namespace warpcheck::litmus {
namespace {

constexpr std::string_view kExpect = "// expect: ";
constexpr std::string_view kMark = "//~ ";
constexpr std::string_view kProgram = "LITMUS(";

// Reads the text one line at a time; a group of `expect` lines begins a listing.
class Reader {
 public:
  std::vector<Listing> read(std::string_view text) {
    for (const std::string_view line : split_trimmed(text, "\n")) {
      ++line_;
      if (line.starts_with(kExpect)) {
        read_expectation(line.substr(kExpect.size()));
      } else if (line.starts_with("//")) {
        continue;
      } else if (!line.empty()) {
        read_code(line);
      }
    }
    end_listing();
    return std::move(listings_);
  }

 private:
  [[noreturn]] void fail(std::string_view what) const {
    throw std::runtime_error(fmt::format("line {}: {}", line_, what));
  }

  void end_listing() {
    if (!listings_.empty() && listings_.back().name.empty()) fail("expected LITMUS(name)");
  }

  void read_expectation(std::string_view text) {
    if (!in_expectations_) {
      end_listing();
      listings_.emplace_back();
      in_expectations_ = true;
    }
    if (text == "clean") return;
    const std::vector<std::string_view> words = split_trimmed(text, " ");
    Expectation expectation;
    if (!vgpu::find_kind(words[0], expectation.kind)) fail("unknown finding kind");
    for (std::size_t i = 1; i < words.size(); ++i) read_word(words[i], expectation);
    listings_.back().expectations.push_back(std::move(expectation));
  }

  void read_word(std::string_view word, Expectation& expectation) const {
    constexpr std::array<std::string_view, 6> kSpaces{"global", "shared",   "tensor",
                                                      "local",  "constant", "param"};
    if (std::ranges::find(kSpaces, word) != kSpaces.end()) {
      expectation.space = word;
    } else if (word == "note") {
      expectation.severity = vgpu::Severity::note;
    } else if (word == "independent") {
      expectation.model = vgpu::WarpModel::independent;
    } else if (word == "lockstep") {
      expectation.model = vgpu::WarpModel::lockstep;
    } else if (word == "optimized") {
      expectation.build = cudart::Build::optimized;
    } else if (word == "unoptimized") {
      expectation.build = cudart::Build::unoptimized;
    } else {
      fail("expected a space, note, a warp model or a build");
    }
  }

  void read_code(std::string_view line) {
    in_expectations_ = false;
    if (listings_.empty()) return;
    const bool is_program = line.starts_with(kProgram);
    if (is_program) {
      if (!listings_.back().name.empty()) fail("a second LITMUS without an expectation");
      const std::string_view rest = line.substr(kProgram.size());
      listings_.back().name = rest.substr(0, rest.find(')'));
    }
    const std::vector<std::string_view> parts = split_trimmed(line, kMark);
    for (std::size_t i = 1; i < parts.size(); ++i) {
      listings_.back().marks.emplace(is_program ? 0 : line_, parts[i]);
    }
  }

  std::vector<Listing> listings_;
  std::uint32_t line_ = 0;
  bool in_expectations_ = false;
};

}  // namespace

std::vector<Listing> read_listings(std::string_view text) { return Reader().read(text); }

}  // namespace warpcheck::litmus
