// The state of a campaign on disk: its findings, and how its time was used.
//
// One SQLite file.  Every change is one transaction in a write-ahead log that is synced before the
// call returns, so a kill at any moment leaves the state before or after the change.  A full disk
// is an error after which the change can be tried again (sqlite.hpp: StoreFull).
//
//   finding   (pair, hash): hash_of() a finding is over its kind, space, kernel and source lines,
//             so every case of the same defect of a pair is one row.  It has the first case that
//             showed it, and the smallest one known.
//   stage     found -> shrunk -> confirmed, or unconfirmed: its own case does not show it again
//   tier      crashing: its case fails; regression: it did once
//   progress  of a pair: trials, time, coverage, the state of the scheduler
//   incident  a worker that crashed or hung, by pair and reason, with the input it had
//
// Texts of cases are stored with their digests, which show a damaged row.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "campaign/store/sqlite.hpp"
#include "harness/input/fields.hpp"

namespace warpcheck::campaign {

enum class Stage : std::uint8_t { found, shrunk, confirmed, unconfirmed };
enum class Tier : std::uint8_t { crashing, regression };
ENUM_NAMES(Stage, Stage::found, Stage::shrunk, Stage::confirmed, Stage::unconfirmed);
ENUM_NAMES(Tier, Tier::crashing, Tier::regression);

std::string_view name_of(Stage stage);
std::string_view name_of(Tier tier);

struct FindingKey {
  std::string pair{};
  std::string hash{};
  friend auto operator<=>(const FindingKey&, const FindingKey&) = default;
};
WARPCHECK_REFLECT(FindingKey, pair, hash);

struct StoredFinding {
  FindingKey key{};
  std::string kind{};   // "data-race"
  std::string place{};  // vgpu::class_of(): the text that is hashed; empty: not known
  Tier tier = Tier::crashing;
  Stage stage = Stage::found;
  std::string case_text{};    // the smallest known
  std::string found_text{};   // the first
  double found_seconds = 0;   // of the campaign's time
  std::int64_t found_at = 0;  // seconds since 1970
  std::int64_t executions = 0;
  std::int64_t shrinks = 0;
  bool complete = false;       // nothing smaller fails; false: shrinking used up its budget
  std::int64_t shown = 0;      // by this many ...
  std::int64_t schedules = 0;  // ... of this many schedules; 0: not classified yet
  std::int64_t attempts = 0;   // failed ones to shrink and confirm it
  std::string remark{};        // why it is not shrunk, or not confirmed

  // The case fails under every schedule that was tried; false: only under some.
  [[nodiscard]] bool reproducible() const { return schedules > 0 && shown == schedules; }
};
FIELDS(StoredFinding, key, kind, place, tier, stage, case_text, found_text, found_seconds, found_at,
       executions, shrinks, complete, shown, schedules, attempts, remark);

struct PairProgress {
  std::string pair{};
  std::int64_t slots = 0;
  std::int64_t executions = 0;
  double seconds = 0;
  std::int64_t features = 0;  // of its corpus
  std::int64_t entries = 0;   // in its corpus
  double gain = 0, span = 0;  // discounted new features, and the seconds in which they were found
  std::string refusal{};      // why it cannot be run; empty: it can
  std::int64_t for_every_schedule = 0;  // executions that hold for every schedule
};
FIELDS(PairProgress, pair, slots, executions, seconds, features, entries, gain, span, refusal,
       for_every_schedule);

struct Incident {
  std::string pair{};
  std::string what{};   // "killed by signal 11 (Segmentation fault)", "hung for 60 s"
  std::string input{};  // bytes; empty: not known
  std::int64_t count = 1;
};
FIELDS(Incident, pair, what, input, count);

// Other processes may read a store while a campaign writes it; SQLite uses shared memory for that.
// A network file system has no shared memory: there a store belongs to one process.
enum class StoreUsers : std::uint8_t { of_this_machine, one };

class Store {
 public:
  // Opens or creates `path` and checks all of it.  Throws StoreDamaged if it is damaged, StoreError
  // if it belongs to another program or a newer warpcheck. users: which other processes may have it
  // open
  explicit Store(const std::filesystem::path& path, StoreUsers users = StoreUsers::of_this_machine);

  // Changes of one transaction.
  class Change {
   public:
    explicit Change(Store& store) : database_(store.database_), transaction_(store.database_) {}
    void commit() { transaction_.commit(); }

    // Returns whether it is new; a known one is not changed.
    bool add(const StoredFinding& finding);
    // All columns except the key and those of its discovery.
    void update(const StoredFinding& finding);
    void remove(const FindingKey& key);
    void save(const PairProgress& progress);
    void add(const Incident& incident);  // increments the count of a known one
    void set_seconds(double seconds);    // of the campaign, over all its starts

   private:
    Database& database_;
    Transaction transaction_;
  };

  // In order of pair and discovery.  Rows whose texts do not match their digests are in damaged()
  // instead.
  [[nodiscard]] std::vector<StoredFinding> findings();
  [[nodiscard]] std::vector<StoredFinding> damaged();
  [[nodiscard]] std::optional<StoredFinding> find(const FindingKey& key);
  [[nodiscard]] std::vector<PairProgress> progress();
  [[nodiscard]] std::vector<Incident> incidents();
  [[nodiscard]] double seconds();

 private:
  friend class Change;
  std::vector<StoredFinding> read_findings(bool damaged);

  Database database_;
};

}  // namespace warpcheck::campaign
