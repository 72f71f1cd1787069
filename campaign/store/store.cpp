#include "campaign/store/store.hpp"

#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "harness/search/search.hpp"

namespace warpcheck::campaign {
namespace {

constexpr std::int64_t kApplicationId = 0x77636b21;  // "wck!"
constexpr std::int64_t kSchemaVersion = 1;

constexpr const char* kSchema = R"(
CREATE TABLE findings(
  pair TEXT NOT NULL, hash TEXT NOT NULL, kind TEXT NOT NULL, place TEXT NOT NULL,
  tier TEXT NOT NULL, stage TEXT NOT NULL,
  case_text TEXT NOT NULL, case_digest TEXT NOT NULL,
  found_text TEXT NOT NULL, found_digest TEXT NOT NULL,
  found_seconds REAL NOT NULL, found_at INTEGER NOT NULL, executions INTEGER NOT NULL,
  shrinks INTEGER NOT NULL, complete INTEGER NOT NULL,
  shown INTEGER NOT NULL, schedules INTEGER NOT NULL,
  attempts INTEGER NOT NULL, remark TEXT NOT NULL,
  PRIMARY KEY(pair, hash)) WITHOUT ROWID;
CREATE TABLE progress(
  pair TEXT PRIMARY KEY, slots INTEGER NOT NULL, executions INTEGER NOT NULL,
  seconds REAL NOT NULL, features INTEGER NOT NULL, entries INTEGER NOT NULL,
  gain REAL NOT NULL, span REAL NOT NULL, refusal TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE incidents(
  pair TEXT NOT NULL, what TEXT NOT NULL, input BLOB NOT NULL, count INTEGER NOT NULL,
  PRIMARY KEY(pair, what)) WITHOUT ROWID;
CREATE TABLE campaign(only INTEGER PRIMARY KEY CHECK(only = 1), seconds REAL NOT NULL);
INSERT INTO campaign VALUES(1, 0);
)";

// Separate from the schema, because older campaigns lack this table.
constexpr const char* kEverySchedule =
    "CREATE TABLE IF NOT EXISTS every_schedule("
    "pair TEXT PRIMARY KEY, executions INTEGER NOT NULL) WITHOUT ROWID";

constexpr std::string_view kFindingColumns =
    "pair, hash, kind, place, tier, stage, case_text, case_digest, found_text, found_digest, "
    "found_seconds, found_at, executions, shrinks, complete, shown, schedules, attempts, remark";

// Columns that change after a finding was stored.
constexpr std::string_view kChangingColumns =
    "kind, place, tier, stage, case_text, case_digest, shrinks, complete, shown, schedules, "
    "attempts, remark";
constexpr std::string_view kChangingValues = "?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?";

std::string digest(std::string_view text) { return fmt::format("{:016x}", hash_of_text(text)); }

// An enumerator from a column of a finding.
template <NamedEnum E>
E value_named(const Statement& row, int column, std::string_view what) {
  const std::string name = row.text(column);
  std::string expected;
  for (const auto& [value, known] : warpcheck_enum_names(static_cast<const E*>(nullptr))) {
    if (known == name) return value;
    expected += expected.empty() ? "" : ", ";
    expected += known;
  }
  throw StoreError(fmt::format("{}: finding {} of {}: its {} is '{}', and should be one of {}",
                               row.database_path().string(), row.text(1), row.text(0), what, name,
                               expected));
}

template <NamedEnum E>
std::string_view name_in(E value) {
  for (const auto& [known, name] : warpcheck_enum_names(&value)) {
    if (known == value) return name;
  }
  return "";
}

StoredFinding finding_of(const Statement& row) {
  return {.key = {row.text(0), row.text(1)},
          .kind = row.text(2),
          .place = row.text(3),
          .tier = value_named<Tier>(row, 4, "tier"),
          .stage = value_named<Stage>(row, 5, "stage"),
          .case_text = row.text(6),
          .found_text = row.text(8),
          .found_seconds = row.real(10),
          .found_at = row.integer(11),
          .executions = row.integer(12),
          .shrinks = row.integer(13),
          .complete = row.integer(14) != 0,
          .shown = row.integer(15),
          .schedules = row.integer(16),
          .attempts = row.integer(17),
          .remark = row.text(18)};
}

Statement& bind_what_changes(Statement& statement, const StoredFinding& finding) {
  return statement.bind(finding.kind)
      .bind(finding.place)
      .bind(name_of(finding.tier))
      .bind(name_of(finding.stage))
      .bind(finding.case_text)
      .bind(digest(finding.case_text))
      .bind(finding.shrinks)
      .bind(std::int64_t{finding.complete})
      .bind(finding.shown)
      .bind(finding.schedules)
      .bind(finding.attempts)
      .bind(finding.remark);
}

bool is_damaged(const Statement& row) {
  return digest(row.text(6)) != row.text(7) || digest(row.text(8)) != row.text(9);
}

void check_whole(Database& database) {
  Statement check(database, "PRAGMA quick_check(1)");
  if (!check.step() || check.text(0) != "ok") {
    throw StoreDamaged(fmt::format("{}: {}", database.path().string(), check.text(0)));
  }
}

// Whether the file has the schema; false: it is new.  Call it within a transaction, because it
// makes several queries.
bool has_schema(Database& database) {
  const std::int64_t application = database.number("PRAGMA application_id");
  const std::int64_t version = database.number("PRAGMA user_version");
  if (application == kApplicationId && version == kSchemaVersion) return true;
  if (application == kApplicationId) {
    throw StoreError(fmt::format("{}: its format is version {}, and this warpcheck reads {}",
                                 database.path().string(), version, kSchemaVersion));
  }
  if (application != 0 || database.number("SELECT count(*) FROM sqlite_schema") != 0) {
    throw StoreError(
        fmt::format("{}: this is another program's database", database.path().string()));
  }
  return false;
}

void prepare(Database& database, StoreUsers users) {
  // Before the log is opened, so that its index is kept in the memory of this process.
  if (users == StoreUsers::one) database.execute("PRAGMA locking_mode = EXCLUSIVE");
  database.execute("BEGIN");
  const bool is_new = !has_schema(database);
  database.execute("COMMIT");
  database.execute_when_free("PRAGMA journal_mode = WAL");
  database.execute("PRAGMA synchronous = FULL");
  if (!is_new) {
    const char* const known = "SELECT count(*) FROM sqlite_schema WHERE name = 'every_schedule'";
    if (database.number(known) == 0) database.execute_when_free(kEverySchedule);
    return;
  }
  Transaction transaction(database);
  if (has_schema(database)) return;  // another process was faster
  database.execute(kEverySchedule);
  database.execute(kSchema);
  database.execute(fmt::format("PRAGMA application_id = {}", kApplicationId));
  database.execute(fmt::format("PRAGMA user_version = {}", kSchemaVersion));
  transaction.commit();
}

}  // namespace

std::string_view name_of(Stage stage) { return name_in(stage); }
std::string_view name_of(Tier tier) { return name_in(tier); }

Store::Store(const std::filesystem::path& path, StoreUsers users) : database_(path) {
  prepare(database_, users);
  check_whole(database_);
}

// --- changes ------------------------------------------------------------------------------------

bool Store::Change::add(const StoredFinding& finding) {
  Statement insert(database_, fmt::format("INSERT OR IGNORE INTO findings({}, found_text, "
                                          "found_digest, found_seconds, found_at, executions, "
                                          "pair, hash) VALUES({}, ?, ?, ?, ?, ?, ?, ?)",
                                          kChangingColumns, kChangingValues));
  bind_what_changes(insert, finding)
      .bind(finding.found_text)
      .bind(digest(finding.found_text))
      .bind(finding.found_seconds)
      .bind(finding.found_at)
      .bind(finding.executions)
      .bind(finding.key.pair)
      .bind(finding.key.hash)
      .run();
  return database_.changes() != 0;
}

void Store::Change::update(const StoredFinding& finding) {
  Statement update(database_, fmt::format("UPDATE findings SET ({}) = ({}) "
                                          "WHERE pair = ? AND hash = ?",
                                          kChangingColumns, kChangingValues));
  bind_what_changes(update, finding).bind(finding.key.pair).bind(finding.key.hash).run();
}

void Store::Change::remove(const FindingKey& key) {
  Statement(database_, "DELETE FROM findings WHERE pair = ? AND hash = ?")
      .bind(key.pair)
      .bind(key.hash)
      .run();
}

void Store::Change::save(const PairProgress& progress) {
  Statement(database_, "INSERT OR REPLACE INTO progress VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)")
      .bind(progress.pair)
      .bind(progress.slots)
      .bind(progress.executions)
      .bind(progress.seconds)
      .bind(progress.features)
      .bind(progress.entries)
      .bind(progress.gain)
      .bind(progress.span)
      .bind(progress.refusal)
      .run();
  Statement(database_, "INSERT OR REPLACE INTO every_schedule VALUES(?, ?)")
      .bind(progress.pair)
      .bind(progress.for_every_schedule)
      .run();
}

void Store::Change::add(const Incident& incident) {
  Statement(database_,
            "INSERT INTO incidents VALUES(?, ?, ?, ?) "
            "ON CONFLICT(pair, what) DO UPDATE SET count = count + excluded.count")
      .bind(incident.pair)
      .bind(incident.what)
      .bind(incident.input)
      .bind(incident.count)
      .run();
}

void Store::Change::set_seconds(double seconds) {
  Statement(database_, "UPDATE campaign SET seconds = ?").bind(seconds).run();
}

// --- queries ------------------------------------------------------------------------------------

std::vector<StoredFinding> Store::read_findings(bool damaged) {
  Statement rows(database_,
                 fmt::format("SELECT {} FROM findings ORDER BY pair, found_seconds, found_at, hash",
                             kFindingColumns));
  std::vector<StoredFinding> findings;
  while (rows.step()) {
    if (is_damaged(rows) == damaged) findings.push_back(finding_of(rows));
  }
  return findings;
}

std::vector<StoredFinding> Store::findings() { return read_findings(false); }
std::vector<StoredFinding> Store::damaged() { return read_findings(true); }

std::optional<StoredFinding> Store::find(const FindingKey& key) {
  Statement row(database_, fmt::format("SELECT {} FROM findings WHERE pair = ? AND hash = ?",
                                       kFindingColumns));
  row.bind(key.pair).bind(key.hash);
  if (!row.step() || is_damaged(row)) return std::nullopt;
  return finding_of(row);
}

std::vector<PairProgress> Store::progress() {
  Statement rows(database_,
                 "SELECT progress.*, ifnull(every_schedule.executions, 0) FROM progress "
                 "LEFT JOIN every_schedule USING(pair) ORDER BY pair");
  std::vector<PairProgress> list;
  while (rows.step()) {
    list.push_back({.pair = rows.text(0),
                    .slots = rows.integer(1),
                    .executions = rows.integer(2),
                    .seconds = rows.real(3),
                    .features = rows.integer(4),
                    .entries = rows.integer(5),
                    .gain = rows.real(6),
                    .span = rows.real(7),
                    .refusal = rows.text(8),
                    .for_every_schedule = rows.integer(9)});
  }
  return list;
}

std::vector<Incident> Store::incidents() {
  Statement rows(database_, "SELECT pair, what, input, count FROM incidents ORDER BY pair, what");
  std::vector<Incident> list;
  while (rows.step()) {
    list.push_back({rows.text(0), rows.text(1), rows.text(2), rows.integer(3)});
  }
  return list;
}

double Store::seconds() {
  Statement row(database_, "SELECT seconds FROM campaign");
  return row.step() ? row.real(0) : 0;
}

}  // namespace warpcheck::campaign
