#include "session/redaction.h"

#include <algorithm>

#include "base/bytes.h"

namespace sorrel {
namespace {

// So many arguments behind the word are secret.
struct SecretWord {
  std::string_view command;
  std::string_view word;
  size_t count;
};

constexpr SecretWord kSecretWords[] = {
    {"hello", "AUTH", 2},
    {"migrate", "AUTH", 1},
    {"migrate", "AUTH2", 2},
    {"config|set", "requirepass", 1},
    {"config|set", "masterauth", 1},
    {"config|set", "masteruser", 1},
    {"config|set", "tls-key-file-pass", 1},
    {"config|set", "tls-client-key-file-pass", 1},
};

bool knows_words(const Command& command) {
  return std::any_of(std::begin(kSecretWords), std::end(kSecretWords),
                     [&](const SecretWord& entry) { return entry.command == command.name; });
}

size_t secrets_behind(const Command& command, std::string_view word) {
  for (const SecretWord& entry : kSecretWords) {
    if (entry.command == command.name && iequals(entry.word, word)) return entry.count;
  }
  return 0;
}

}  // namespace

std::vector<bool> secret_arguments(const Command& command, std::span<const std::string_view> args) {
  const size_t names = command.parent != nullptr ? 2 : 1;
  std::vector<bool> secret;
  if (knows_words(command)) {
    secret.resize(args.size(), false);
    for (size_t i = names; i < args.size(); i++) {
      const size_t last = std::min(i + secrets_behind(command, args[i]), args.size() - 1);
      while (i < last) secret[++i] = true;
    }
  } else if (command.has(catalog::kSensitiveArgs)) {
    secret.resize(args.size(), true);
    std::fill_n(secret.begin(), std::min(names, args.size()), false);
  }
  return secret;
}

}  // namespace sorrel
