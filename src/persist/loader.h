#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/log.h"
#include "base/result.h"
#include "keyspace/keyspace.h"
#include "rdb/file_reader.h"

namespace sorrel::persist {

struct LoadOptions {
  bool verify_checksum = true;  // rdbchecksum
  // Keys whose time has come are left out. Not in front of an AOF: what follows counts on them.
  bool drop_expired = true;
  bool stands_alone = false;     // nothing follows the file; see rdb::FileReadOptions
  bool replace = false;          // keys that are there already; else they are a mistake
  int64_t step_bytes = 2 << 20;  // loading-process-events-interval-bytes
  // key-load-delay, if there is one. Whom LoadHooks::step lets in may change it.
  const int64_t* key_delay_us = nullptr;

  bool delays() const { return key_delay_us != nullptr && *key_delay_us > 0; }
};

// What is known of a load that runs or has run. Counts of keys go on through several files.
struct LoadProgress {
  uint64_t position = 0;      // bytes read of the file
  uint64_t keys = 0;          // loaded
  uint64_t expired_keys = 0;  // left out
  uint64_t empty_keys = 0;    // left out
  uint64_t used_memory = 0;   // of who wrote the file
};

struct LoadHooks {
  // A library of functions; `replace` as in the options. Empty: they are passed over.
  std::function<Status(std::string_view code, bool replace)> function;
  // Called every `step_bytes`: lets others in. An Error ends the load.
  std::function<Status()> step;
};

// Fills a keyspace from the bytes of an RDB file. Nobody is told of the keys: no effects, no
// events. Precondition of load(): alone in the process, but for what hooks.step lets in.
class Loader final : private rdb::FileVisitor {
 public:
  // Everything outlives it. `progress` may be looked at from within hooks.step.
  Loader(Keyspace& keyspace, const Clock& clock, Logger& log, LoadProgress& progress)
      : keyspace_(keyspace), clock_(clock), log_(log), progress_(progress) {}

  // How many bytes the file has; what stands behind it (the tail of an old AOF) is for the caller.
  // The Error says at which offset what is wrong; the keys that came before are there then.
  Result<uint64_t> load(std::string_view bytes, const LoadOptions& options, const LoadHooks& hooks);
  // The same of a file that comes piece by piece. Memory beside the keyspace: a value, and a piece.
  // Slower: texts are copied once more, and tables grow key by key.
  Result<uint64_t> load(rdb::ByteSource& source, const LoadOptions& options,
                        const LoadHooks& hooks);

 private:
  void begin(const LoadOptions& options, const LoadHooks& hooks);
  rdb::FileReadOptions reading() const;
  Result<uint64_t> read(rdb::FileReader& reader);
  Status on_version(int version) override;
  Status on_aux(std::string_view name, std::string_view value) override;
  Status on_function(std::string_view code) override;
  Status on_module_aux(std::string_view module) override;
  Status on_database(uint64_t db) override;
  Status on_sizes(uint64_t keys, uint64_t expiring) override;
  Status on_string(const rdb::FileKey& key, std::string_view text) override;
  Status on_collection(const rdb::FileKey& key, rdb::Value& value) override;
  Status on_empty(const rdb::FileKey& key) override;

  // A string that has been read and is not in its table yet. Where its bucket is is asked for when
  // it comes, the bucket some strings later, and both are there when it is its turn.
  struct Coming {
    rdb::FileKey key;  // with views that last
    std::string_view text;
    std::string own_name;  // for what does not lie in the file as it is
    std::string own_text;
    uint64_t hash = 0;
    Database* database = nullptr;  // null: none
  };
  static constexpr size_t kAhead = 32;  // a power of two
  static constexpr size_t kBucketAfter = 12;
  // What is larger is put in its place at once: so much would be copied for each that comes, and
  // waiting for a bucket is nothing beside it.
  static constexpr size_t kLargestAhead = 4096;

  // A view that lasts as long as the bytes of the file if they are all there, or as `own`.
  std::string_view kept(std::string_view text, std::string& own) const;
  static Status check_name(const rdb::FileKey& key);
  Status put_coming(Coming& coming);
  Status put_all_coming();
  Status put_large(const rdb::FileKey& key, std::string_view text);
  void release_spare();
  // Makes room for the key, or says why it cannot be there.
  Status make_room(const rdb::FileKey& key, Database& database, uint64_t hash);
  template <class Make>
  Status place(const rdb::FileKey& key, Database& database, uint64_t hash, Make&& make);
  bool is_over(const rdb::FileKey& key);
  Status step(const rdb::FileKey& key);

  Keyspace& keyspace_;
  const Clock& clock_;
  Logger& log_;
  LoadProgress& progress_;
  const LoadOptions* options_ = nullptr;  // during load()
  const LoadHooks* hooks_ = nullptr;      // during load()
  int64_t now_ms_ = 0;
  std::string_view bytes_;  // of the file, during load(), if they are all there
  std::array<Coming, kAhead> coming_;
  size_t next_coming_ = 0;  // the oldest
  uint64_t db_ = 0;         // that the file speaks of
  uint64_t reserved_ = 0;   // keys that tables have room for because the file said so
  uint64_t stepped_ = 0;    // up to where the last step was
  uint64_t logged_empty_ = 0;
  uint64_t noted_ = 0;  // notes of the file about itself
};

}  // namespace sorrel::persist
