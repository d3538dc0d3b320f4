#pragma once

#include <lua5.1/lua.hpp>

namespace sorrel::script {

// Lua 5.1 has no read-only tables, so scripts never get references to the shared tables: they get a
// view, an empty table in front of the real one.
//
//   script ──> view {} ──metatable──> { __index = real, __newindex = refuse, __metatable = locked }
//                                                 │
//                                                 └──> real { call = ..., pcall = ... }
//
// Lua code cannot bypass the metatable: `__metatable` hides it, and there is no debug library. C
// functions can, as most of them access tables raw. Hence invariant 1: every function of the
// sandbox that writes to a table given by the script calls check_writable() first. Invariant 2: no
// function returns a real table.

// Replaces the table on top of the stack by a view of it.
void make_read_only(lua_State* state);
// Pushes the result of getmetatable() for views and strings: a view of an empty table.
void push_locked_metatable(lua_State* state);

bool is_read_only(lua_State* state, int index);
// Raises Redis's error when the value there is a view.
void check_writable(lua_State* state, int index);
// For functions that only read, raw: pushes the real table when there is a view at `index`. False,
// and nothing is pushed, when there is none. The pushed table must not reach the script.
bool push_real(lua_State* state, int index);

// Raises "Attempt to modify a readonly table"; never returns.
int refuse_change(lua_State* state);

// Gives the table on top of the stack a metatable that makes reading an absent field an error, with
// Redis's text for global variables.
void refuse_absent_fields(lua_State* state);

}  // namespace sorrel::script
