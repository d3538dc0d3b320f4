#pragma once

#include "dispatch/call.h"

// The handlers of stream_bindings(), by file.
namespace sorrel::commands::stream {

// stream.cc
void xdel(Call& call);
void xlen(Call& call);
void xrange(Call& call);
void xrevrange(Call& call);
void xsetid(Call& call);

// stream_add.cc
void xadd(Call& call);
void xtrim(Call& call);

// stream_refs.cc
void xackdel(Call& call);
void xdelex(Call& call);

// stream_read.cc
void xread(Call& call);
void xreadgroup(Call& call);

// stream_group.cc
void xack(Call& call);
void xgroup_create(Call& call);
void xgroup_createconsumer(Call& call);
void xgroup_delconsumer(Call& call);
void xgroup_destroy(Call& call);
void xgroup_help(Call& call);
void xgroup_setid(Call& call);

// stream_pending.cc
void xautoclaim(Call& call);
void xclaim(Call& call);
void xpending(Call& call);

// stream_info.cc
void xinfo_consumers(Call& call);
void xinfo_groups(Call& call);
void xinfo_help(Call& call);
void xinfo_stream(Call& call);

}  // namespace sorrel::commands::stream
