#!/usr/bin/python3
"""What scripts and functions can reach, and what cmsgpack makes of numbers: on Sorrel exactly what the reference has.

Every global, every field of every table that can be reached from it, and what stands behind their metatables is listed
by both servers: in EVAL, while a library is loaded, and while its functions run. ALLOWED holds what is more here, with
the reason.

    tests/compat/scripts.py [--server PATH] [--threads N]
"""

import argparse
import os
import struct
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(ROOT, "tests"))

from lib.resp import Error  # noqa: E402
from lib.server import Server  # noqa: E402
from lib.verdict import attempt, same, summary  # noqa: E402

REFERENCE = "/usr/bin/redis-server"

# Where Sorrel and Redis 7.0 and 7.2 are meant to differ, and why. What has a name here has all that is in it.
ALLOWED = {
    "server": "the name of `redis` since Valkey 8",
    "cjson.decode_array_with_array_mt": "Redis 8",
    "__redis__err__handler": "a part of how Redis is made, which scripts have no use for",
    "cmsgpack._COPYRIGHT": "this one is another's work",
    "cmsgpack._DESCRIPTION": "likewise",
}

# Names that a Lua has, whether or not it is told of them when it lists its globals.
NAMES = """assert collectgarbage coroutine debug dofile error gcinfo getfenv getmetatable io ipairs load loadfile
loadstring module newproxy next os package pairs pcall print rawequal rawget rawset require select setfenv setmetatable
string table tonumber tostring type unpack xpcall _G _VERSION KEYS ARGV redis server cjson cmsgpack struct bit math jit
ffi rawlen utf8 bit32 __redis__err__handler __index __newindex""".split()

WALK = """
local found, seen = {}, {[_G] = true}
local function note(line) found[#found + 1] = line end
local function walk(path, value)
  note(path .. ':' .. type(value))
  if type(value) ~= 'table' or seen[value] then return end
  seen[value] = true
  local fields = {}
  for name in next, value do fields[#fields + 1] = name end
  table.sort(fields, function(a, b) return tostring(a) < tostring(b) end)
  for _, name in ipairs(fields) do walk(path .. '.' .. tostring(name), value[name]) end
end
local names = {%s}
local globals = {}
for name in pairs(_G) do globals[#globals + 1] = tostring(name) end
table.sort(globals)
for _, name in ipairs(globals) do walk(name, _G[name]) end
for _, name in ipairs(names) do
  local there, value = pcall(loadstring('return ' .. name))
  if there then note(name .. ' can be named: ' .. type(value)) else note(name .. ' cannot be named') end
end
for kind, value in pairs({string = '', number = 0, boolean = true, func = function() end}) do
  note('metatable of ' .. kind .. ': ' .. type(getmetatable(value)))
end
table.sort(found)
""" % ", ".join(f"'{name}'" for name in NAMES)

EVAL = WALK + "return found"
# A library that is loaded has next to nothing, so that one name is asked for at a time.
WHILE_LOADED = "#!lua name=walk\nlocal x = %s redis.register_function('found', function() end)"
WHILE_CALLED = "#!lua name=walk\nredis.register_function('found', function() " + WALK + " return found end)"

# Around every width of an integer, and what is no integer.
EDGES = sorted({sign * 2**bits + step for sign in (1, -1) for bits in (0, 4, 5, 7, 8, 15, 16, 31, 32, 52, 53, 62, 63, 64)
                for step in (-1025, -1, 0, 1, 1025)})
TEXTS = [str(edge) for edge in EDGES] + ["0.5", "-0.5", "1e300", "-1e300", "1e19", "1.5e9", "3.4e38", "3.5e38", "1/0", "-1/0",
                                         "0/0", "-0", "1e-300", "2^63", "-2^63", "2^64", "2^63 - 1024", "2^53 + 1"]
FORMS = {0xcc: "B", 0xcd: "H", 0xce: "I", 0xcf: "Q"}
VALUES = {"B": 8, "H": 16, "I": 32, "Q": 64}


def packed_integers():
    for mark, form in FORMS.items():
        width = VALUES[form]
        for bits in range(width):
            for step in (-1, 0, 1):
                value = 2**bits + step
                if 0 <= value < 2**width:
                    yield bytes([mark]) + struct.pack(">" + form, value)
        for value in (0, 2**width - 1, 2**width - 1024 if width == 64 else 2**width - 2):
            yield bytes([mark]) + struct.pack(">" + form, value)
            yield bytes([mark + 4]) + struct.pack(">" + form, value)
        for bits in range(width):
            yield bytes([mark + 4]) + struct.pack(">" + form, 2**bits)
            yield bytes([mark + 4]) + struct.pack(">" + form, 2**width - 2**bits)
    yield from (bytes([first]) for first in range(256))


class Side:
    def __init__(self, path, threads):
        self.server = Server(path, threads).start()
        self.here = self.server.connect(timeout=30)

    def call(self, *words):
        reply = self.here.call(*words)
        if isinstance(reply, Error):
            raise AssertionError(reply.text.decode("utf-8", "replace"))
        return reply

    def load(self, code):
        reply = self.here.call("FUNCTION", "LOAD", "REPLACE", code)
        return "nonexistent" if isinstance(reply, Error) and b"nonexistent global" in reply.text else reply

    def lines(self, *words):
        return {line.decode() for line in self.call(*words).items}


def is_allowed(line):
    path = line.split(":")[0].split(" ")[0]
    return path in ALLOWED or path.split(".")[0] in ALLOWED


def compare_lines(ours, theirs):
    missing = sorted(line for line in theirs - ours if not is_allowed(line))
    more = sorted(line for line in ours - theirs if not is_allowed(line))
    same((missing, more), ([], []))


def globals_of_eval(ours, theirs):
    """EVAL"""
    compare_lines(*(side.lines("EVAL", EVAL, "0") for side in (ours, theirs)))


def globals_while_loaded(ours, theirs):
    """A library while it is loaded"""
    names = {line.split(":")[0] for line in theirs.lines("EVAL", EVAL, "0") | ours.lines("EVAL", EVAL, "0") if ":" in line}
    names = {name for name in names | set(NAMES) | {"redis.register_function"} if " " not in name}
    found = [{f"{name}: {side.load(WHILE_LOADED % name)}" for name in names} for side in (ours, theirs)]
    compare_lines(*found)


def globals_of_functions(ours, theirs):
    """A function that runs"""
    for side in (ours, theirs):
        side.call("FUNCTION", "LOAD", "REPLACE", WHILE_CALLED)
    compare_lines(*(side.lines("FCALL", "found", "0") for side in (ours, theirs)))


def packing(ours, theirs):
    """cmsgpack.pack of numbers at every edge, and back"""
    script = """local number = loadstring('return ' .. ARGV[1])()
        local bytes = cmsgpack.pack(number)
        return {bytes, string.format('%.17g', cmsgpack.unpack(bytes))}"""
    for text in TEXTS:
        got, wanted = (side.call("EVAL", script, "0", text).items for side in (ours, theirs))
        same((text, got), (text, wanted))


def unpacking(ours, theirs):
    """cmsgpack.unpack of integers of every width, and of every first byte"""
    script = """local good, value = pcall(cmsgpack.unpack, ARGV[1])
        if type(value) == 'number' then return string.format('%.17g', value) end
        if type(value) == 'table' then return 'table ' .. #value end
        return tostring(good) .. tostring(value)"""
    for packed in packed_integers():
        got, wanted = (side.call("EVAL", script, "0", packed) for side in (ours, theirs))
        same((packed.hex(), got), (packed.hex(), wanted))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--server", default=os.path.join(ROOT, "build", "bin", "sorrel-server"))
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    options.server = os.path.abspath(options.server)
    ours, theirs = Side(options.server, options.threads), Side(REFERENCE, None)
    tests = [globals_of_eval, globals_while_loaded, globals_of_functions, packing, unpacking]
    verdicts = [attempt(test.__doc__, lambda test=test: test(ours, theirs)) for test in tests]
    for side in (ours, theirs):
        side.server.end()
        side.server.remove()
    return summary(verdicts)


if __name__ == "__main__":
    sys.exit(main())
