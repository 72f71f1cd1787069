// A corpus: inputs of one pair, a file each, named by the digest of its bytes.
//
// Any bytes are an input, so a corpus can be merged by copying files into its directory, whatever
// their names.  A file that has the name of a digest and not the bytes of it was damaged: it is set
// aside.  Files appear under their name whole or not at all.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "campaign/store/directory.hpp"

namespace warpcheck::campaign {

struct CorpusEntry {
  std::filesystem::path path;
  std::vector<std::uint8_t> bytes;
};

struct Corpus {
  // Shorter ones first; of one length in order of digest.  So what is kept when redundant entries
  // are dropped does not depend on which process does it.
  std::vector<CorpusEntry> entries;
  std::vector<std::string> messages;  // a line for each file that was set aside or left out
};

// 32 hex digits.
std::string corpus_name(std::span<const std::uint8_t> bytes);

// Longer files are left out: no input of ours is.
inline constexpr std::size_t kCorpusBytesMax = 4096;

// Those of one file, or one more than the longest entry has.  Throws CaseFileError.
std::vector<std::uint8_t> read_corpus_bytes(const std::filesystem::path& path);

// Files of other names are renamed to their digest.  Throws CaseFileError where the directory is
// there and cannot be read.
Corpus read_corpus(const Directory& directory, std::string_view pair);

// Throws CaseFileError.  Not synced: what a power failure takes is searched for again.
void save_corpus_entry(const std::filesystem::path& corpus, std::span<const std::uint8_t> bytes);

// Removes what kills have left of entries that were being written.  Throws CaseFileError where the
// corpora cannot be read.
void remove_unfinished(const Directory& directory);

// Whether a file of this name has to have these bytes, and does not.
bool is_damaged_entry(const std::string& name, std::span<const std::uint8_t> bytes);

}  // namespace warpcheck::campaign
