#include "commands/pop_many.h"

#include "dispatch/option_parser.h"

namespace sorrel::commands {

bool parse_pop_many(Call& call, size_t first, std::string_view first_side,
                    std::string_view second_side, PopMany& parsed) {
  constexpr std::string_view kNoKeys = "ERR numkeys should be greater than 0";
  constexpr std::string_view kNoCount = "ERR count should be greater than 0";
  OptionParser options(call.args, first);
  const int64_t keys = options.integer(kNoKeys);
  if (keys <= 0) options.fail(kNoKeys);
  // After the keys there is at least the side.
  if (keys > 0 && static_cast<uint64_t>(keys) >= options.remaining()) options.fail_syntax();
  if (!options.failed()) {
    parsed.key_count = static_cast<size_t>(keys);
    options = OptionParser(call.args, first + 1 + parsed.key_count);
    parsed.second_side = options.word(second_side);
    if (!parsed.second_side && !options.word(first_side)) options.fail_syntax();
  }
  bool counted = false;
  while (options.more()) {
    if (!counted && options.word("COUNT", 1)) {
      const int64_t count = options.integer(kNoCount);
      if (count <= 0) options.fail(kNoCount);
      parsed.count = static_cast<uint64_t>(count);
      counted = true;
    } else {
      options.fail_syntax();
    }
  }
  if (options.failed()) call.reply.error(options.error());
  return !options.failed();
}

}  // namespace sorrel::commands
