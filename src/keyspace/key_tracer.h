#pragma once

#include <string_view>

namespace sorrel {

// Is told each key that a command looks for through a Door, whether or not it is there: tests prove
// with it that commands touch only keys that their users may touch.
//
// Called in builds with unit tests only (SORREL_TRACE_KEYS), and not for a key whose record was
// guessed ahead, which needs a single worker.
class KeyTracer {
 public:
  enum class For : unsigned char { kReading, kWriting };

  virtual ~KeyTracer() = default;
  // Under the key's latch; must not look into the keyspace.
  virtual void on_look(int db, std::string_view key, For what) = 0;
};

}  // namespace sorrel
