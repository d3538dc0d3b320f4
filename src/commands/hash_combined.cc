// HGETDEL, HGETEX, HSETEX: reading or writing fields together with their expire times.

#include <fmt/format.h>

#include <limits>

#include "base/bytes.h"
#include "base/numbers.h"
#include "commands/families.h"
#include "commands/hash_parts.h"

namespace sorrel::commands {
namespace {

// Both answer the values. Fields are processed in order, so a field that is named twice may be gone
// the second time.
void hgetdel(Call& call) {
  Entry entry = call.keys.open(call.key(1));
  if (!check_type(call, entry, Type::kHash)) return;
  const auto fields = parse_numbered_fields(call, 2);
  if (!fields) return;
  entry.expire_fields(*fields);
  const HashLimits limits = hash_limits(call);
  HashEdit hash(entry.edit(Type::kHash), limits, call.now_ms());
  std::vector<std::string> effect = {"HDEL", std::string(call.arg(1))};
  bool any = false;
  call.reply.array(static_cast<int64_t>(fields->size()));
  for (std::string_view field : *fields) {
    const auto value = hash.get(field);
    if (!value) {
      call.reply.null();
      continue;
    }
    answer_text(call, *value);
    hash.remove(field);
    any = true;
    if (call.wants_effect()) effect.emplace_back(field);
  }
  if (!any) return;
  entry.changed(kHdelEvent);
  if (call.wants_effect()) call.rewrite.as(std::move(effect));
}

struct HgetexRequest {
  enum class Act : uint8_t { kNothing, kPersist, kExpire };
  Act act = Act::kNothing;
  int64_t at_ms = kNoExpiry;
  std::span<const std::string_view> fields;
};

std::optional<HgetexRequest> parse_hgetex(Call& call) {
  HgetexRequest request;
  size_t at = 2;
  if (auto clause = expiry_word(call.arg(at))) {
    clause->amount = call.arg(at + 1);
    const auto at_ms = parse_field_deadline(call, *clause);
    if (!at_ms) return std::nullopt;
    request = {HgetexRequest::Act::kExpire, *at_ms, {}};
    at += 2;
  } else if (iequals(call.arg(at), "PERSIST")) {
    request.act = HgetexRequest::Act::kPersist;
    at++;
  }
  const auto fields = parse_numbered_fields(call, at);
  if (!fields) return std::nullopt;
  request.fields = *fields;
  return request;
}

// The outcome of HGETEX for the fields, notified and propagated as the equivalent simple command.
void report_hgetex(Call& call, Entry& entry, const HgetexRequest& request,
                   const TouchedFields& touched) {
  const std::string key(call.arg(1));
  if (request.act == HgetexRequest::Act::kPersist) {
    entry.changed(kHpersistEvent);
    touched.rewrite_as({"HPERSIST", key});
  } else if (has_passed(call, request.at_ms)) {
    touched.report_expired(entry);
  } else {
    entry.changed(kHexpireEvent);
    touched.rewrite_as({"HPEXPIREAT", key, to_text(request.at_ms)});
  }
}

void hgetex(Call& call) {
  Entry entry = call.keys.open(call.key(1));
  if (!check_type(call, entry, Type::kHash)) return;
  const auto request = parse_hgetex(call);
  if (!request) return;
  entry.expire_fields(request->fields);
  const bool over = has_passed(call, request->at_ms);
  const HashLimits limits = hash_limits(call);
  HashEdit hash(entry.edit(Type::kHash), limits, call.now_ms());
  TouchedFields touched(call);
  call.reply.array(static_cast<int64_t>(request->fields.size()));
  for (std::string_view field : request->fields) {
    const auto item = hash.find(field);
    if (!item) {
      call.reply.null();
      continue;
    }
    answer_text(call, item->value);
    if (request->act == HgetexRequest::Act::kNothing) continue;
    if (request->act == HgetexRequest::Act::kPersist && item->expiry == kNoExpiry) continue;
    apply_deadline(hash, field, request->at_ms, over);
    touched.add(field);
  }
  if (touched.count() > 0) report_hgetex(call, entry, *request, touched);
}

struct HsetexRequest {
  bool fnx = false;  // only if none of the fields exists
  bool fxx = false;  // only if all exist
  bool keep_ttl = false;
  size_t expiry_at = 0;  // position of EX, PX, EXAT or PXAT; 0: not given
  int64_t at_ms = kNoExpiry;
  std::span<const std::string_view> pairs;

  size_t count() const { return pairs.size() / 2; }
  std::string_view field(size_t i) const { return pairs[2 * i]; }
  std::string_view value(size_t i) const { return pairs[2 * i + 1]; }
};

// Everything from the number of the fields on. False: an error has been answered.
bool parse_pairs(Call& call, size_t at, HsetexRequest& request) {
  if (at + 2 >= call.argc()) {
    answer::wrong_arity(call);
    return false;
  }
  constexpr int64_t kMostFields = std::numeric_limits<int32_t>::max();
  const auto count = parse_int64(call.arg(at));
  if (!count || *count < 1 || *count > kMostFields) {
    call.reply.error("ERR invalid number of fields");
    return false;
  }
  request.pairs = call.args.subspan(at + 1);
  if (request.pairs.size() != 2 * static_cast<uint64_t>(*count)) {
    answer::wrong_arity(call);
    return false;
  }
  return true;
}

// One option at `at`, which moves after it. False: an error has been answered.
bool parse_hsetex_option(Call& call, size_t& at, HsetexRequest& request) {
  const std::string_view word = call.arg(at);
  auto clause = expiry_word(word);
  const bool keep = iequals(word, "KEEPTTL");
  if (clause || keep) {
    if (request.expiry_at != 0 || request.keep_ttl) {
      call.reply.error("ERR Only one of EX, PX, EXAT, PXAT or KEEPTTL arguments can be specified");
      return false;
    }
    request.keep_ttl = keep;
    if (keep) return at++, true;
    if (at + 1 >= call.argc()) {
      call.reply.error("ERR missing expire time");
      return false;
    }
    clause->amount = call.arg(at + 1);
    const auto at_ms = parse_field_deadline(call, *clause);
    if (!at_ms) return false;
    request.at_ms = *at_ms;
    request.expiry_at = at;
    at += 2;
    return true;
  }
  const bool fnx = iequals(word, "FNX");
  if (!fnx && !iequals(word, "FXX")) {
    call.reply.error(fmt::format("ERR unknown argument: {}", word.substr(0, word.find('\0'))));
    return false;
  }
  if (request.fnx || request.fxx) {
    call.reply.error("ERR Only one of FXX or FNX arguments can be specified");
    return false;
  }
  (fnx ? request.fnx : request.fxx) = true;
  at++;
  return true;
}

std::optional<HsetexRequest> parse_hsetex(Call& call) {
  HsetexRequest request;
  for (size_t at = 2; at < call.argc();) {
    if (iequals(call.arg(at), "FIELDS")) {
      if (!parse_pairs(call, at + 1, request)) return std::nullopt;
      return request;
    }
    if (!parse_hsetex_option(call, at, request)) return std::nullopt;
  }
  answer::wrong_arity(call);
  return std::nullopt;
}

bool may_set(const HsetexRequest& request, const Hash& hash) {
  if (!request.fnx && !request.fxx) return true;
  for (size_t i = 0; i < request.count(); i++) {
    if (hash.contains(request.field(i)) != request.fxx) return false;
  }
  return true;
}

// The effect of HSETEX: an expire time is absolute; with one that has passed, the fields are
// deleted.
void rewrite_hsetex(Call& call, const HsetexRequest& request, bool over) {
  if (request.expiry_at == 0 || !call.wants_effect()) return;
  if (over) {
    TouchedFields gone(call);
    for (size_t i = 0; i < request.count(); i++) gone.add(request.field(i));
    return gone.rewrite_as_deletions();
  }
  std::vector<std::string> args(call.args.begin(), call.args.end());
  args[request.expiry_at] = "PXAT";
  args[request.expiry_at + 1] = to_text(request.at_ms);
  call.rewrite.as(std::move(args));
}

void hsetex(Call& call) {
  const auto request = parse_hsetex(call);
  if (!request) return;
  Entry entry = call.keys.open(call.key(1));
  if (!check_type(call, entry, Type::kHash)) return;
  // Only if the outcome depends on whether a field exists.
  if (request->fnx || request->fxx || request->keep_ttl) {
    std::vector<std::string_view> fields;
    for (size_t i = 0; i < request->count(); i++) fields.push_back(request->field(i));
    entry.expire_fields(fields);
  }
  const HashLimits limits = hash_limits(call);
  HashEdit hash(entry.edit(Type::kHash), limits, call.now_ms());
  if (!may_set(*request, hash)) return call.reply.integer(0);

  hash.expect(request->pairs);
  const bool over = has_passed(call, request->at_ms);
  const auto old = request->keep_ttl ? HashEdit::Deadline::kStays : HashEdit::Deadline::kGoes;
  for (size_t i = 0; i < request->count(); i++) {
    hash.set(request->field(i), request->value(i), old);
    if (over) {
      hash.remove(request->field(i));
    } else if (request->at_ms != kNoExpiry) {
      hash.set_expiry(request->field(i), request->at_ms);
    }
  }
  entry.changed(kHsetEvent);
  if (request->expiry_at != 0) entry.also(over ? kHdelEvent : kHexpireEvent);
  if (over) entry.count_expired_fields(request->count());
  rewrite_hsetex(call, *request, over);
  call.reply.integer(1);
}

}  // namespace

std::span<const Binding> hash_combined_bindings() {
  static constexpr Binding kBindings[] = {
      {"hgetdel", &hgetdel},
      {"hgetex", &hgetex},
      {"hsetex", &hsetex},
  };
  return kBindings;
}

}  // namespace sorrel::commands
