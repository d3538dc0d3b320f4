#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/crc.h"
#include "rdb/file_reader.h"
#include "rdb/file_writer.h"
#include "rdb/value_fixture.h"

// Whole files for tests: built from parts, as any version has written them, and listed as lines of
// text.
namespace sorrel::rdb::testing {

// Builds a file by hand, so that it can contain encodings that current versions no longer write.
class FileBuilder {
 public:
  explicit FileBuilder(std::string_view header) : bytes_(header) {}

  FileBuilder& raw(std::string_view bytes) {
    bytes_ += bytes;
    return *this;
  }
  FileBuilder& opcode(Opcode opcode) { return raw(std::string(1, static_cast<char>(opcode))); }
  FileBuilder& length(uint64_t value) {
    Writer(bytes_, false).length(value);
    return *this;
  }
  FileBuilder& text(std::string_view text) {
    Writer(bytes_, false).string(text);
    return *this;
  }
  template <class T>
  FileBuilder& number(T value) {
    Writer(bytes_, false).little_endian(value);
    return *this;
  }
  FileBuilder& aux(std::string_view name, std::string_view value) {
    return opcode(Opcode::kAux).text(name).text(value);
  }
  FileBuilder& database(uint64_t db) { return opcode(Opcode::kDatabase).length(db); }
  // `value`: the object type and the bytes that follow, as the functions of old_forms.h return it.
  FileBuilder& key(std::string_view name, std::string_view value) {
    return raw(value.substr(0, 1)).text(name).raw(value.substr(1));
  }
  std::string end() {
    opcode(Opcode::kEnd);
    return number(crc64(0, bytes_)).bytes_;
  }
  std::string end_without_sum() { return opcode(Opcode::kEnd).bytes_; }

 private:
  std::string bytes_;
};

// Every element that a file reports, a line each.
class Listing final : public FileVisitor {
 public:
  Texts lines;

  Status on_version(int version) override { return add("version " + std::to_string(version)); }
  Status on_aux(std::string_view name, std::string_view value) override {
    return add("aux " + std::string(name) + "=" + std::string(value));
  }
  Status on_function(std::string_view code) override {
    return add("function " + std::string(code));
  }
  Status on_module_aux(std::string_view module) override {
    return add("module " + std::string(module));
  }
  Status on_database(uint64_t db) override { return add("db " + std::to_string(db)); }
  Status on_sizes(uint64_t keys, uint64_t expiring) override {
    return add("sizes " + std::to_string(keys) + " " + std::to_string(expiring));
  }
  Status on_slot_info(uint64_t slot, uint64_t keys) override {
    return add("slot " + std::to_string(slot) + " " + std::to_string(keys));
  }
  Status on_string(const FileKey& key, std::string_view text) override {
    return add(facts_of(key) + " \"" + std::string(text) + "\"");
  }
  Status on_collection(const FileKey& key, Value& value) override {
    std::string line = facts_of(key);
    for (const std::string& text : texts_of(value)) line += " " + text;
    return add(line);
  }
  Status on_empty(const FileKey& key) override { return add(facts_of(key) + " (empty)"); }

 private:
  Status add(std::string line) {
    lines.push_back(std::move(line));
    return {};
  }
  static std::string facts_of(const FileKey& key) {
    std::string line = "key " + std::to_string(key.db) + ":" + std::string(key.name);
    if (key.expiry != kNoExpiry) line += " until " + std::to_string(key.expiry);
    if (key.idle_seconds) line += " idle " + std::to_string(*key.idle_seconds);
    if (key.frequency) line += " used " + std::to_string(*key.frequency);
    return line;
  }
};

class StringSink final : public ByteSink {
 public:
  std::string bytes;
  Status write(std::string_view more) override {
    bytes += more;
    return {};
  }
};

// A file of every version with every encoding that it may contain; the names say which.
struct NamedFile {
  std::string name;
  std::string bytes;
};
inline std::vector<NamedFile> files_of_all_versions();

}  // namespace sorrel::rdb::testing

#include "rdb/file_fixture_versions.h"
