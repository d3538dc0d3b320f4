#include "resp/inline_split.h"

#include "base/quoted_words.h"

namespace sorrel::resp {

bool split_inline(std::string_view line, ArgList& words,
                  std::vector<std::unique_ptr<std::string>>& store) {
  using Next = QuotedWords::Next;
  QuotedWords reader(line);
  std::string_view plain;
  std::string text;
  for (;;) {
    switch (reader.next(plain, text)) {
      case Next::kPlain:
        words.push_back(plain);
        break;
      case Next::kQuoted:
        store.push_back(std::make_unique<std::string>(std::move(text)));
        words.push_back(*store.back());
        break;
      case Next::kEnd:
        return true;
      case Next::kUnbalanced:
        return false;
    }
  }
}

}  // namespace sorrel::resp
