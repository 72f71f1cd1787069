// SQLite's C interface as three types: a database, a statement, a transaction.
//
// The types of errors tell the caller what to do: wait for room (StoreFull), set the file aside
// (StoreDamaged), or give up (StoreError).
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

struct sqlite3;
struct sqlite3_stmt;

namespace warpcheck::campaign {

// what() is one line that names the file.
class StoreError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The disk is full, or cannot be written now.  The operation can be tried again.
class StoreFull : public StoreError {
 public:
  using StoreError::StoreError;
};

// The file is no database, or an incomplete one.
class StoreDamaged : public StoreError {
 public:
  using StoreError::StoreError;
};

class Database {
 public:
  // Opens or creates.  Writers wait for each other for up to ten seconds.
  explicit Database(std::filesystem::path path);

  void execute(const std::string& sql);
  // The same for a statement for which SQLite does not wait itself: a change of the journal mode,
  // which fails at once while another process changes it, too.
  void execute_when_free(const std::string& sql);
  [[nodiscard]] std::int64_t number(const std::string& sql);
  [[nodiscard]] std::int64_t changes() const;
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] sqlite3* handle() const { return handle_.get(); }

  // Throws the error of the last call.
  [[noreturn]] void fail() const;

 private:
  struct Close {
    void operator()(sqlite3* handle) const;
  };
  std::filesystem::path path_;
  std::unique_ptr<sqlite3, Close> handle_;
};

// One statement, its parameters bound in order:
//   Statement(db, "SELECT a FROM t WHERE b = ?").bind(7)
class Statement {
 public:
  Statement(Database& database, std::string_view sql);

  Statement& bind(std::int64_t value);
  Statement& bind(double value);
  Statement& bind(std::string_view value);

  // Whether there is a row.
  bool step();
  // For statements without rows.
  void run() { step(); }

  // A column of the row, from 0.
  [[nodiscard]] std::int64_t integer(int column) const;
  [[nodiscard]] double real(int column) const;
  [[nodiscard]] std::string text(int column) const;

  [[nodiscard]] const std::filesystem::path& database_path() const { return database_.path(); }

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* handle) const;
  };
  void check(int code) const;

  Database& database_;
  std::unique_ptr<sqlite3_stmt, Finalize> handle_;
  int bound_ = 0;
};

// All or nothing: without commit() it is rolled back.
class Transaction {
 public:
  explicit Transaction(Database& database);
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;

  void commit();

 private:
  Database& database_;
  bool open_ = true;
};

}  // namespace warpcheck::campaign
