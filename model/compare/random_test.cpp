#include "model/compare/random_test.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

namespace warpcheck::model {
namespace {

class RandomTest {
 public:
  RandomTest(vgpu::Prng& random, Style style) : random_(random), style_(style) {}

  std::string run() {
    const std::uint64_t threads = 2 + below(2);
    std::vector<std::vector<std::string>> columns(threads);
    for (std::uint64_t thread = 0; thread < threads; ++thread) {
      thread_ = thread;
      registers_ = 0;
      columns[thread].push_back(fmt::format("P{}@cta {},gpu 0", thread, below(2)));
      const std::uint64_t accesses = 1 + below(threads == 2 ? 4 : 3);
      for (std::uint64_t i = 0; i < accesses; ++i) add_step(columns[thread]);
    }
    std::string text = "PTX random\n{ x=0; y=0; z=0; }\n";
    std::size_t rows = 0;
    for (const auto& column : columns) rows = std::max(rows, column.size());
    for (std::size_t row = 0; row < rows; ++row) {
      for (std::size_t thread = 0; thread < columns.size(); ++thread) {
        text += fmt::format("{} {} ", thread == 0 ? "" : "|",
                            row < columns[thread].size() ? columns[thread][row] : "");
      }
      text += ";\n";
    }
    return text + fmt::format("exists (x=0 /\\ y=0 /\\ z=0{})\n", asked_);
  }

 private:
  std::uint64_t below(std::uint64_t bound) { return random_.below(bound); }
  std::string pick(std::initializer_list<const char*> words) {
    return words.begin()[below(words.size())];
  }

  void add_step(std::vector<std::string>& column) {
    if (below(12) == 0) {
      column.push_back(fmt::format("bar.sync {}", below(2)));
    } else if (style_ == Style::sequential) {
      below(2) == 0 ? weak_access(column, pick({"x", "y"})) : flag_access(column);
    } else if (below(4) == 0) {
      column.push_back(pick({"fence.sc.gpu", "fence.sc.cta", "fence.acq_rel.gpu",
                             "fence.acq_rel.cta", "fence.acquire.gpu", "fence.release.gpu"}));
    } else {
      any_access(column);
    }
  }

  std::string next_register() {
    std::string name = fmt::format("r{}", registers_++);
    asked_ += fmt::format(" /\\ {}:{}=0", thread_, name);
    return name;
  }

  void weak_access(std::vector<std::string>& column, const std::string& location) {
    column.push_back(below(2) == 0 ? fmt::format("ld.weak {}, {}", next_register(), location)
                                   : fmt::format("st.weak {}, {}", location, ++written_));
  }

  void flag_access(std::vector<std::string>& column) {
    column.emplace_back("fence.sc.gpu");
    switch (below(3)) {
      case 0: column.push_back(fmt::format("ld.acquire.gpu {}, z", next_register())); break;
      case 1: column.push_back(fmt::format("st.release.gpu z, {}", ++written_)); break;
      default:
        column.push_back(
            fmt::format("atom.acq_rel.gpu.exch {}, z, {}", next_register(), ++written_));
    }
  }

  void any_access(std::vector<std::string>& column) {
    const std::string location = pick({"x", "y", "z"}), scope = pick({"cta", "gpu"});
    switch (below(4)) {
      case 0: weak_access(column, location); break;
      case 1:
        column.push_back(fmt::format("ld.{}.{} {}, {}", pick({"relaxed", "acquire"}), scope,
                                     next_register(), location));
        break;
      case 2:
        column.push_back(fmt::format("st.{}.{} {}, {}", pick({"relaxed", "release"}), scope,
                                     location, ++written_));
        break;
      default:
        if (below(3) == 0) {
          column.push_back(fmt::format("red.{}.{}.add {}, {}", pick({"relaxed", "release"}), scope,
                                       location, ++written_));
          break;
        }
        column.push_back(fmt::format(
            "atom.{}.{}.{} {}, {}, {}", pick({"relaxed", "acquire", "release", "acq_rel"}), scope,
            pick({"add", "exch", "max"}), next_register(), location, ++written_));
    }
  }

  vgpu::Prng& random_;
  Style style_;
  std::uint64_t thread_ = 0;
  unsigned registers_ = 0, written_ = 0;
  std::string asked_;
};

}  // namespace

std::string random_test(vgpu::Prng& random, Style style) { return RandomTest(random, style).run(); }

}  // namespace warpcheck::model
