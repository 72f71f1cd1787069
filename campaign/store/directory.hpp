// A campaign's directory, which is also a failure database:
//
//   warpcheck.db               the store (store.hpp), with its -wal and -shm
//   cases/PAIR/HASH.case       every finding's smallest case, for `replay`; written from the store
//   corpus/PAIR/DIGEST         inputs that reach new coverage (corpus.hpp)
//   damaged/                   what could not be read, set aside as it was
//   lock                       held by the campaign that runs
//
// The cases are a second copy of what matters most: a store that is damaged is set aside, and
// another one is made from them.
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "campaign/store/store.hpp"

namespace warpcheck::campaign {

class Directory {
 public:
  // Makes it.  Throws StoreError.
  explicit Directory(std::filesystem::path root);

  [[nodiscard]] const std::filesystem::path& root() const { return root_; }
  [[nodiscard]] std::filesystem::path store_path() const { return root_ / "warpcheck.db"; }
  [[nodiscard]] std::filesystem::path cases() const { return root_ / "cases"; }
  [[nodiscard]] std::filesystem::path case_path(const FindingKey& key) const;
  [[nodiscard]] std::filesystem::path corpus(std::string_view pair) const;

  // Moves a file to damaged/, beside others of its name, and returns where it is now.  What it was
  // called is kept below damaged/, less the directory's own path.
  std::filesystem::path set_aside(const std::filesystem::path& path) const;
  // The same for what is no file here: the text is written there.
  std::filesystem::path set_text_aside(const std::string& name, std::string_view text) const;

 private:
  [[nodiscard]] std::filesystem::path free_place(const std::filesystem::path& name) const;

  std::filesystem::path root_;
};

// Held until it is destroyed, or its process dies.
class DirectoryLock {
 public:
  // Throws StoreError when another process holds it, and still does after `patience`.
  explicit DirectoryLock(const Directory& directory,
                         std::chrono::milliseconds patience = std::chrono::milliseconds(0));
  ~DirectoryLock();
  DirectoryLock(const DirectoryLock&) = delete;
  DirectoryLock& operator=(const DirectoryLock&) = delete;

 private:
  int file_ = -1;
};

// The directory's store.  A damaged one is set aside and a new one begun; damaged rows are set
// aside and removed.  `messages` says so, a line for each.
std::unique_ptr<Store> open_store(const Directory& directory, std::vector<std::string>& messages,
                                  StoreUsers users = StoreUsers::of_this_machine);

// Writes the case file of a finding from its row, unless it is there as it should be.
void write_case_file(const Directory& directory, const StoredFinding& finding);

}  // namespace warpcheck::campaign
