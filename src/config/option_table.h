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

// The one table of a program's directives: chapters of rows, each chapter brought by the component
// that receives its values or by the program.

// A chapter: its title in the documented file and its rows.
struct Chapter {
  std::string_view title;
  std::vector<Directive> rows;
};

// `rows` point into the struct that `find_group` answers. `part` receives the changes of those rows
// that name no other part.
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

// A word of configuration files that is no directive: CONFIG neither shows nor sets it.
struct FileWord {
  std::string_view name;
  size_t min_args;
  size_t max_args;
  // Null: the line is ignored.
  Status (*read)(Values& options, Arguments args, const LoadEnvironment& environment);
  // CONFIG REWRITE keeps its lines; otherwise it makes them comments.
  bool kept = false;
};
inline constexpr size_t kAnyCount = SIZE_MAX;

// What configuration needs to know of the program, besides its directives.
struct Program {
  std::string_view version;                         // "Redis 7.2.4", in the errors of files
  std::span<const std::string_view> preamble = {};  // paragraphs of the documented file
  std::span<const FileWord> file_words = {};
  // The error for a word that neither the table nor `file_words` knows; empty: the usual one.
  std::string (*unknown_word)(std::string_view name, Arguments args) = nullptr;
  // Brings values into range that are allowed but make no sense. After a load and CONFIG SET.
  void (*normalize)(Values& options) = nullptr;
  // Refuses values that exclude each other. After a load.
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

  // By name (or alias), in any case; null when there is none.
  const Directive* find(std::string_view name) const;
  const FileWord* find_file_word(std::string_view name) const;

 private:
  std::unique_ptr<const Values> defaults_;
  std::vector<Chapter> chapters_;
  std::vector<const Directive*> rows_;
  Program program_;
};

}  // namespace sorrel::config
