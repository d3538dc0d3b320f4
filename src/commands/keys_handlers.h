#pragma once

#include "dispatch/call.h"

// The handlers of keys_bindings(), by file.
namespace sorrel::commands::keys {

// keys.cc
void copy(Call& call);
void del(Call& call);
void exists(Call& call);
void move(Call& call);
void rename(Call& call);
void renamenx(Call& call);
void touch(Call& call);
void type(Call& call);
void unlink(Call& call);

// keys_expire.cc
void expire(Call& call);
void expireat(Call& call);
void expiretime(Call& call);
void persist(Call& call);
void pexpire(Call& call);
void pexpireat(Call& call);
void pexpiretime(Call& call);
void pttl(Call& call);
void ttl(Call& call);

// keys_walk.cc
void keys(Call& call);
void randomkey(Call& call);
void scan(Call& call);

// keys_object.cc
void object_encoding(Call& call);
void object_freq(Call& call);
void object_help(Call& call);
void object_idletime(Call& call);
void object_refcount(Call& call);

inline constexpr Event kDelEvent{EventClass::kGeneric, "del"};

}  // namespace sorrel::commands::keys
