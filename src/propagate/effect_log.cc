#include "propagate/effect_log.h"

#include <algorithm>

#include "resp/reply_writer.h"

namespace sorrel {
namespace {

constexpr size_t kKeepBytes = 256 * 1024;
constexpr std::string_view kMulti[] = {"MULTI"};
constexpr std::string_view kExec[] = {"EXEC"};

}  // namespace

void EffectStream::attach(EffectSink* sink) {
  const std::lock_guard lock(mutex_);
  // Numbers drawn while nobody listened were never submitted; nothing waits for them.
  const uint64_t next = next_.load(std::memory_order_relaxed);
  if (readers_.empty()) emitted_ = next - 1;
  readers_.push_back({sink, next});
  active_.store(true, std::memory_order_relaxed);
}

void EffectStream::detach(EffectSink* sink) {
  const std::lock_guard lock(mutex_);
  std::erase_if(readers_, [sink](const Reader& reader) { return reader.sink == sink; });
  if (readers_.empty()) {
    active_.store(false, std::memory_order_relaxed);
    waiting_.clear();
  }
}

void EffectStream::emit(uint64_t sequence, int db, std::string_view body) {
  const Effect effect{sequence, db, body};
  for (const Reader& reader : readers_) {
    if (sequence >= reader.first) reader.sink->on_effect(effect);
  }
  emitted_ = sequence;
}

void EffectStream::submit(std::span<const Item> items, std::string_view bytes) {
  const std::lock_guard lock(mutex_);
  if (readers_.empty()) return;
  for (const Item& item : items) {
    const std::string_view body = bytes.substr(item.begin, item.end - item.begin);
    if (item.sequence == emitted_ + 1) {
      emit(item.sequence, item.db, body);
    } else if (item.sequence > emitted_) {
      waiting_.emplace(item.sequence, Waiting{item.db, std::string(body)});
    }
    while (!waiting_.empty() && waiting_.begin()->first == emitted_ + 1) {
      const auto first = waiting_.begin();
      emit(first->first, first->second.db, first->second.body);
      waiting_.erase(first);
    }
  }
}

void EffectLog::encode(std::span<const std::string_view> args) {
  resp::append_array_header(bytes_, args.size());
  for (std::string_view arg : args) resp::append_bulk(bytes_, arg);
}

void EffectLog::encode_select(int db) {
  const std::string number = std::to_string(db);
  const std::string_view select[] = {"SELECT", number};
  encode(select);
}

void EffectLog::append(int db, std::span<const std::string_view> args) {
  if (!active()) return;
  if (unit_.depth == 0) {
    const size_t begin = bytes_.size();
    encode(args);
    items_.push_back({stream_.draw(), db, begin, bytes_.size()});
    return;
  }
  if (unit_.commands++ == 0) {
    unit_.begin = bytes_.size();
    encode(kMulti);
    unit_.first = bytes_.size();
    unit_.began_db = unit_.db = db;
  }
  if (db != unit_.db) encode_select(db);
  unit_.db = db;
  encode(args);
}

void EffectLog::begin_unit() {
  if (unit_.depth++ == 0) unit_.commands = 0;
}

void EffectLog::end_unit() {
  if (--unit_.depth > 0 || unit_.commands == 0) return;
  size_t begin = unit_.first;
  if (unit_.commands > 1) {
    begin = unit_.begin;
    if (unit_.db != unit_.began_db) encode_select(unit_.began_db);
    encode(kExec);
  }
  items_.push_back({stream_.draw(), unit_.began_db, begin, bytes_.size()});
}

void EffectLog::flush() {
  if (items_.empty()) return;
  stream_.submit(items_, bytes_.view());
  items_.clear();
  // What is open is not whole yet and stays where it is.
  if (unit_.depth > 0) return;
  bytes_.clear(kKeepBytes);
}

}  // namespace sorrel
