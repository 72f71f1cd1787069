#include "vgpu/cudart/parallel/touched_words.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace warpcheck::cudart {
namespace {

using Bits = TouchedWords::Bits;

// What members of one chain have touched in a page.
struct OfChain {
  std::uint32_t chain = 0;
  Bits read{}, written{};
};

bool meet(const Bits& read, const Bits& written, const Bits& other_read,
          const Bits& other_written) {
  std::uint64_t common = 0;
  for (std::size_t i = 0; i < TouchedWords::kBitsOfPage; ++i) {
    common |= (written[i] & (other_read[i] | other_written[i])) | (read[i] & other_written[i]);
  }
  return common != 0;
}

// Returns whether any of the words from `first` to `last` is set.
bool has_any(const Bits& bits, std::uint32_t first, std::uint32_t last) {
  for (std::uint32_t i = first / 64; i <= last / 64; ++i) {
    std::uint64_t mask = ~std::uint64_t{0};
    if (i == first / 64) mask &= ~std::uint64_t{0} << first % 64;
    if (i == last / 64) mask &= ~std::uint64_t{0} >> (63 - last % 64);
    if ((bits[i] & mask) != 0) return true;
  }
  return false;
}

}  // namespace

void TouchedWords::add(const vgpu::Allocation& allocation, std::uint32_t page,
                       const std::uint64_t* read, const std::uint64_t* written) {
  pages_.push_back({&allocation, page, static_cast<std::uint32_t>(bits_.size())});
  for (const std::uint64_t* const from : {read, written}) {
    Bits& bits = bits_.emplace_back();
    if (from != nullptr) std::copy_n(from, kBitsOfPage, bits.begin());
  }
}

WordsOfGroup::WordsOfGroup(std::vector<Member> members) : members_(std::move(members)) {
  for (std::uint32_t i = 0; i < members_.size(); ++i) {
    for (const TouchedWords::Page& page : members_[i].words->pages()) {
      entries_.push_back({page.allocation->id, page.number, i, &page});
    }
  }
  std::ranges::sort(entries_, {},
                    [](const Entry& one) { return std::tuple(one.id, one.page, one.member); });
}

bool WordsOfGroup::have_met(const Entry& a, const Entry& b) const {
  const TouchedWords &one = *members_[a.member].words, &other = *members_[b.member].words;
  return meet(one.read(*a.at), one.written(*a.at), other.read(*b.at), other.written(*b.at));
}

bool WordsOfGroup::find_met(const std::function<bool(const Pair&)>& visit) const {
  for (std::size_t begin = 0; begin < entries_.size();) {
    const Entry& first = entries_[begin];
    std::size_t end = begin + 1;
    while (end < entries_.size() && entries_[end].id == first.id &&
           entries_[end].page == first.page) {
      ++end;
    }
    const auto page = std::span(entries_).subspan(begin, end - begin);
    if (page.size() > 1 && find_met(page, visit)) return true;
    begin = end;
  }
  return false;
}

// Members are compared one by one only if their chains have met: a chain is mostly a stream, whose
// launches use the same memory again and again.
bool WordsOfGroup::find_met(std::span<const Entry> page,
                            const std::function<bool(const Pair&)>& visit) const {
  std::vector<OfChain> chains;
  for (const Entry& one : page) {
    const Member& member = members_[one.member];
    auto found = std::ranges::find(chains, member.chain, &OfChain::chain);
    if (found == chains.end()) found = chains.insert(chains.end(), {member.chain});
    for (std::size_t i = 0; i < TouchedWords::kBitsOfPage; ++i) {
      found->read[i] |= member.words->read(*one.at)[i];
      found->written[i] |= member.words->written(*one.at)[i];
    }
  }
  const auto is_of = [&](const Entry& one, const OfChain& chain) {
    return members_[one.member].chain == chain.chain;
  };
  for (std::size_t i = 0; i < chains.size(); ++i) {
    for (std::size_t j = i + 1; j < chains.size(); ++j) {
      if (!meet(chains[i].read, chains[i].written, chains[j].read, chains[j].written)) continue;
      for (const Entry& one : page) {
        if (!is_of(one, chains[i])) continue;
        for (const Entry& other : page) {
          const bool have = is_of(other, chains[j]) && have_met(one, other);
          if (have && visit({one.member, other.member})) return true;
        }
      }
    }
  }
  return false;
}

bool WordsOfGroup::find_touching(const vgpu::Allocation& allocation, std::uint64_t begin,
                                 std::uint64_t end, bool writes,
                                 const std::function<bool(std::uint32_t)>& visit) const {
  if (begin >= end) return false;
  const auto first_page = static_cast<std::uint32_t>(begin / kParallelPageBytes);
  const auto last_page = static_cast<std::uint32_t>((end - 1) / kParallelPageBytes);
  auto at = std::ranges::lower_bound(entries_, std::tuple(allocation.id, first_page), {},
                                     [](const Entry& one) { return std::tuple(one.id, one.page); });
  for (; at != entries_.end() && at->id == allocation.id && at->page <= last_page; ++at) {
    const std::uint64_t start = std::uint64_t{at->page} * kParallelPageBytes;
    const std::uint64_t from = std::max(begin, start) - start;
    const std::uint64_t to = std::min(end, start + kParallelPageBytes) - start;
    const auto first = static_cast<std::uint32_t>(from / 4);
    const auto last = static_cast<std::uint32_t>((to - 1) / 4);
    const TouchedWords& words = *members_[at->member].words;
    const bool meets = has_any(words.written(*at->at), first, last) ||
                       (writes && has_any(words.read(*at->at), first, last));
    if (meets && visit(at->member)) return true;
  }
  return false;
}

bool WordsOfGroup::find_sharing(const std::function<bool(std::uint32_t)>& visit) const {
  return std::ranges::any_of(entries_, [&](const Entry& one) {
    return one.at->allocation->is_shared_with_host() && visit(one.member);
  });
}

bool WordsOfGroup::have_touched(const std::set<std::uint32_t>& allocations) const {
  return !allocations.empty() && std::ranges::any_of(entries_, [&](const Entry& one) {
    return allocations.contains(one.id);
  });
}

}  // namespace warpcheck::cudart
