#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace sorrel::catalog {

// Every fact about a command except its code. One constexpr table per family; COMMAND, COMMAND
// DOCS, admission checks, ACL, key extraction, routing, hints, fuzz seeds and the generated docs
// read it.

enum class Group : uint8_t {
  kGeneric,
  kString,
  kList,
  kSet,
  kSortedSet,
  kHash,
  kPubSub,
  kTransactions,
  kConnection,
  kServer,
  kScripting,
  kHyperLogLog,
  kCluster,
  kSentinel,
  kGeo,
  kStream,
  kBitmap,
  kModule,
};

// Bits of CommandSpec::flags. The first block is what COMMAND INFO shows, in Redis's spelling.
enum Flag : uint64_t {
  kWrite = 1ull << 0,
  kReadonly = 1ull << 1,
  kDenyOom = 1ull << 2,
  kModuleCommand = 1ull << 3,
  kAdmin = 1ull << 4,
  kPubSub = 1ull << 5,
  kNoScript = 1ull << 6,
  kBlocking = 1ull << 8,
  kLoading = 1ull << 9,
  kStale = 1ull << 10,
  kSkipMonitor = 1ull << 11,
  kSkipSlowlog = 1ull << 12,
  kAsking = 1ull << 13,
  kFast = 1ull << 14,
  kNoAuth = 1ull << 15,
  kMayReplicate = 1ull << 16,
  kSentinelCommand = 1ull << 17,
  kOnlySentinel = 1ull << 18,
  kNoMandatoryKeys = 1ull << 19,
  kProtected = 1ull << 20,
  kNoAsyncLoading = 1ull << 23,
  kNoMulti = 1ull << 24,
  kMovableKeys = 1ull << 25,  // derived by effective_flags(); never written in a table
  kAllowBusy = 1ull << 26,
  kTouchesArbitraryKeys = 1ull << 27,  // accesses keys that its arguments do not name; not shown

  // Internal facts, not shown by COMMAND.
  kSensitiveArgs = 1ull << 40,      // arguments carry secrets: never log, monitor or slow-log them
  kAllowedPaused = 1ull << 41,      // runs during CLIENT PAUSE ALL
  kAllowedSubscribed = 1ull << 42,  // allowed for clients subscribed to channels in RESP2
  kNotQueued = 1ull << 43,          // executed at once after MULTI, too
  kRunsQueued = 1ull << 44,       // runs the queued commands, and is checked by their flags as well
  kAllDatabases = 1ull << 45,     // accesses every database: FLUSHALL
  kTellsDiskErrors = 1ull << 46,  // is rejected like a write when nothing can be saved: PING
};

// The mutual exclusion that a command needs while it runs (threads > 1).
enum class Locking : uint8_t {
  kNone,    // accesses no key and nothing shared: PING, ECHO, TIME
  kKeys,    // the latches of the keys that its key specs name, in ascending order
  kQueued,  // the latches of all commands queued after MULTI, and of watched keys
  kGate,    // exclusive section: whole keyspace, other sessions, configuration
};

// Bits of KeySpec::flags, in Redis's spelling (RO, RW, OW, RM, access, update, insert, delete,
// ...).
enum KeyFlag : uint32_t {
  kKeyRO = 1 << 0,
  kKeyRW = 1 << 1,
  kKeyOW = 1 << 2,
  kKeyRM = 1 << 3,
  kKeyAccess = 1 << 4,
  kKeyUpdate = 1 << 5,
  kKeyInsert = 1 << 6,
  kKeyDelete = 1 << 7,
  kKeyNotKey = 1 << 8,
  kKeyIncomplete = 1 << 9,
  kKeyVariableFlags = 1 << 10,
};

// An option with arguments of its own, which the search for other options skips.
struct OptionWord {
  std::string_view name;
  int arguments;
  bool makes_keys = false;  // its argument, when it has a '*', is a pattern for names of keys
};

// Where keys are among the arguments. Begin at a fixed index, or after a keyword; then a range, or
// a count followed by that many.
struct KeySpec {
  uint32_t flags = 0;
  enum class Begin : uint8_t { kIndex, kKeyword, kUnknown } begin = Begin::kIndex;
  int index = 1;                  // kIndex: position of the first key (or of the count)
  std::string_view keyword = {};  // kKeyword: the word before it
  int start_from = 0;             // kKeyword: where the search starts; negative: from the end
  // kKeyword: a word with that many arguments of its own, which may equal the keyword. When it is
  // given, the search starts at the first argument, and start_from is only shown by COMMAND.
  std::string_view passed_word = {};
  int passed_arguments = 0;
  // The key is the argument of an option at any position (kKeyword, or kUnknown when COMMAND does
  // not show more): from `start_from` on the arguments are options, those with arguments of their
  // own are listed here, and the last `keyword` counts. Without a keyword: the keys whose names are
  // derived from such options.
  std::span<const OptionWord> options = {};
  // Not 0: options begin at this position, those with arguments are listed in `options`, and all
  // arguments after the first `keyword` are keys. They replace the first spec's key, whose argument
  // must be empty then. start_from is only shown by COMMAND.
  int instead_from = 0;
  enum class Find : uint8_t { kRange, kKeyNum, kUnknown } find = Find::kRange;
  int last = 0;   // kRange: last key relative to the first, negative: from the end of arguments
  int step = 1;   // distance between one key and the next
  int limit = 0;  // kRange with last == -1: 2 = first half of the rest, 3 = first third ...
  int key_num_index = 0;  // kKeyNum: where the count is, relative to the begin
  int first_key = 0;      // kKeyNum: where the first key is, relative to the begin
  // kKeyVariableFlags: `flags` is the most that the command may do. When none of `wide_words`
  // occurs at `words_from` or after it, it does only `narrow_flags`.
  uint32_t narrow_flags = 0;
  std::span<const std::string_view> wide_words = {};
  int words_from = 0;
  std::string_view notes = {};
};

// The arguments that name pub/sub channels, which the user must be allowed to use.
struct ChannelSpec {
  int index = 0;         // of the first one; 0: there is none
  bool many = false;     // all arguments from there on, not only that one
  bool pattern = false;  // they are patterns, and must be allowed literally
};

// An argument that is a database number: at a fixed position, or after an option's word.
struct DatabaseSpec {
  int index = 0;                  // its position; with a word: its earliest position
  std::string_view keyword = {};  // the option's word directly before it
};

enum class ArgType : uint8_t {
  kString,
  kInteger,
  kDouble,
  kKey,
  kPattern,
  kUnixTime,
  kPureToken,
  kOneOf,
  kBlock,
};

// One argument in COMMAND DOCS, from which redis-cli builds its hints.
struct Arg {
  std::string_view name;
  ArgType type = ArgType::kString;
  std::string_view token = {};
  std::string_view display = {};  // shown by hints instead of the name
  bool optional = false;
  bool multiple = false;
  bool multiple_token = false;
  int key_spec = -1;
  std::string_view since = {};
  std::string_view deprecated_since = {};
  std::span<const Arg> parts = {};  // of kOneOf and kBlock
};

struct Change {
  std::string_view version;
  std::string_view what;
};

struct CommandSpec {
  std::string_view name;         // lower case; a subcommand's own word ("get" of CONFIG GET)
  std::string_view parent = {};  // lower case container name, empty for a top-level command
  std::string_view summary;
  std::string_view since;
  Group group;
  std::string_view complexity = {};
  int arity;  // as in Redis: counts the name (and the container); negative: at least
  uint64_t flags = 0;
  Locking locking = Locking::kGate;
  uint64_t acl_categories = 0;  // bits of AclCategory, explicit ones; implied ones are derived
  std::span<const KeySpec> keys = {};
  ChannelSpec channels = {};
  std::span<const DatabaseSpec> databases = {};
  std::span<const Arg> args = {};
  std::span<const Change> history = {};
  std::span<const std::string_view> tips = {};
  bool container =
      false;  // has no handler of its own (except COMMAND, which has one and subcommands as well)
  std::string_view deprecated_since = {};
  std::string_view replaced_by = {};
  bool system_command = false;  // COMMAND DOCS doc_flags "syscmd"
};

// Bits of CommandSpec::acl_categories, in the order ACL CAT lists them.
enum AclCategory : uint64_t {
  kAclKeyspace = 1ull << 0,
  kAclRead = 1ull << 1,
  kAclWrite = 1ull << 2,
  kAclSet = 1ull << 3,
  kAclSortedSet = 1ull << 4,
  kAclList = 1ull << 5,
  kAclHash = 1ull << 6,
  kAclString = 1ull << 7,
  kAclBitmap = 1ull << 8,
  kAclHyperLogLog = 1ull << 9,
  kAclGeo = 1ull << 10,
  kAclStream = 1ull << 11,
  kAclPubSub = 1ull << 12,
  kAclAdmin = 1ull << 13,
  kAclFast = 1ull << 14,
  kAclSlow = 1ull << 15,
  kAclBlocking = 1ull << 16,
  kAclDangerous = 1ull << 17,
  kAclConnection = 1ull << 18,
  kAclTransaction = 1ull << 19,
  kAclScripting = 1ull << 20,
  kAclBloom = 1ull << 21,
};
inline constexpr int kAclCategoryCount = 22;

}  // namespace sorrel::catalog
