// A corpus: inputs of one pair, one file each, named by the digest of its bytes.
//
// Any bytes are an input, so a corpus can be merged by copying files with any names into its
// directory.  A file whose name is a digest of other bytes is damaged and set aside.  Files are
// written whole or not at all.
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
  // Shorter ones first; entries of the same length in order of digest.  So every process drops the
  // same redundant entries.
  std::vector<CorpusEntry> entries;
  std::vector<std::string> messages;  // a line for each file that was set aside or left out
};

// 32 hex digits.
std::string corpus_name(std::span<const std::uint8_t> bytes);

// Longer files are left out; no input of ours is longer.
inline constexpr std::size_t kCorpusBytesMax = 4096;

// The bytes of one file, or the first kCorpusBytesMax + 1 of a longer one.  Throws CaseFileError.
std::vector<std::uint8_t> read_corpus_bytes(const std::filesystem::path& path);

// Renames files with other names to their digest.  Throws CaseFileError if the directory exists and
// cannot be read.
Corpus read_corpus(const Directory& directory, std::string_view pair);

// Throws CaseFileError.  Not synced: the search finds what a power failure loses again.
void save_corpus_entry(const std::filesystem::path& corpus, std::span<const std::uint8_t> bytes);

// Removes temporary files of entries that killed processes left.  Throws CaseFileError if the
// corpora cannot be read.
void remove_unfinished(const Directory& directory);

// Whether the file's name is a digest, but not that of these bytes.
bool is_damaged_entry(const std::string& name, std::span<const std::uint8_t> bytes);

}  // namespace warpcheck::campaign
