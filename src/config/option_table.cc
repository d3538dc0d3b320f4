#include "config/option_table.h"

#include "base/bytes.h"

namespace sorrel::config {

Table::Table(std::unique_ptr<const Values> defaults, std::vector<Chapter> chapters,
             const Program& program)
    : defaults_(std::move(defaults)), chapters_(std::move(chapters)), program_(program) {
  for (const Chapter& chapter : chapters_) {
    for (const Directive& row : chapter.rows) rows_.push_back(&row);
  }
}

const Directive* Table::find(std::string_view name) const {
  for (const Directive* row : rows_) {
    if (iequals(row->name, name)) return row;
    if (!row->alias.empty() && iequals(row->alias, name)) return row;
  }
  return nullptr;
}

const FileWord* Table::find_file_word(std::string_view name) const {
  for (const FileWord& word : program_.file_words) {
    if (iequals(word.name, name)) return &word;
  }
  return nullptr;
}

}  // namespace sorrel::config
