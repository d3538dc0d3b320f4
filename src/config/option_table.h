#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/directive.h"
#include "config/file_access.h"
#include "config/option_rows.h"

namespace sorrel::config {

// The table of a program's directives: chapters of rows, each supplied by the component that
// receives the values or by the program.

// A chapter: its title in the documented file and its rows.
struct Chapter {
  std::string_view title;
  std::vector<Directive> rows;
};

// `rows` refer to the struct that `find_group` returns. `part` receives the changes of rows without
// a part of their own.
template <class Group>
Chapter make_chapter(std::string_view title, std::span<const typename In<Group>::Row> rows,
                     const Part* part, const void* (*find_group)(const Values& options)) {
  Chapter chapter{title, {}};
  for (const auto& row : rows) {
    Directive made{row.name, row.alias, row.flags, row.part, row.kind.kind, row.help, find_group};
    if (made.part == nullptr && !made.without_effect()) made.part = part;
    chapter.rows.push_back(made);
  }
  return chapter;
}

// Rows over the whole options struct.
template <class Options>
Chapter chapter(std::string_view title, std::span<const typename In<Options>::Row> rows,
                const Part* part = nullptr) {
  return make_chapter<Options>(title, rows, part, [](const Values& options) -> const void* {
    return static_cast<const Options*>(&options);
  });
}

// Rows over one member of it, such as the struct of a component:
// chapter_of<&Options::replication>("Replication", replicate::directives(), &replicate::kPart).
template <auto Member>
struct MemberOf;
template <class Options, class Group, Group Options::*Member>
struct MemberOf<Member> {
  using Rows = std::span<const typename In<Group>::Row>;
  static Chapter chapter(std::string_view title, Rows rows, const Part* part) {
    return make_chapter<Group>(title, rows, part, [](const Values& options) -> const void* {
      return &(static_cast<const Options&>(options).*Member);
    });
  }
};
template <auto Member>
Chapter chapter_of(std::string_view title, typename MemberOf<Member>::Rows rows,
                   const Part* part = nullptr) {
  return MemberOf<Member>::chapter(title, rows, part);
}

// A keyword of configuration files that is no directive: invisible to CONFIG GET and CONFIG SET.
struct FileWord {
  std::string_view name;
  size_t min_args;
  size_t max_args;
  // Null: the line is ignored.
  Status (*read)(Values& options, Arguments args, const LoadEnvironment& environment);
  // CONFIG REWRITE keeps the lines; otherwise they become comments.
  bool kept = false;
};
inline constexpr size_t kAnyCount = SIZE_MAX;

// Properties of the program that configuration needs, apart from directives.
struct Program {
  std::string_view version;                         // "Redis 7.2.4", in errors about files
  std::span<const std::string_view> preamble = {};  // paragraphs of the documented file
  std::span<const FileWord> file_words = {};
  // The error for a word that is neither in the table nor in `file_words`; empty: the usual one.
  std::string (*unknown_word)(std::string_view name, Arguments args) = nullptr;
  // Clamps valid but unreasonable values. Called after a load and CONFIG SET.
  void (*normalize)(Values& options) = nullptr;
  // Rejects contradictory values. Called after a load.
  Status (*check)(const Values& options) = nullptr;
};

// Immutable. Rows and words are views that outlive it.
class Table {
 public:
  Table(std::unique_ptr<const Values> defaults, std::vector<Chapter> chapters,
        const Program& program);
  Table(const Table&) = delete;
  Table& operator=(const Table&) = delete;

  std::span<const Chapter> chapters() const { return chapters_; }
  // The rows of all chapters, in order.
  std::span<const Directive* const> rows() const { return rows_; }
  const Program& program() const { return program_; }
  const Values& defaults() const { return *defaults_; }

  // Finds a row by name or alias, case-insensitively; null: none.
  const Directive* find(std::string_view name) const;
  const FileWord* find_file_word(std::string_view name) const;

 private:
  std::unique_ptr<const Values> defaults_;
  std::vector<Chapter> chapters_;
  std::vector<const Directive*> rows_;
  Program program_;
};

}  // namespace sorrel::config
