"""Random commands for the comparison, a function per family. Everything comes from one random source: a seed replays a run.

Rules of the game: no command may depend on the moment (times to live are long, or over), and none may answer with
something that is random by nature (DBSIZE counts keys that are over but not yet deleted). Answers whose order is free are
named in UNORDERED.
"""

import dumps
import places
import sorting
import values

KEYS = [f"key{n}" for n in range(10)] + ["{tag}a", "{tag}b", ""]
NUMBERS = ["0", "1", "-1", "2", "10", "100", "-7"]
EDGES = [
    "2147483647",
    "2147483648",
    "-2147483649",
    "4294967296",
    "9223372036854775807",
    "9223372036854775808",
    "-9223372036854775808",
    "-9223372036854775809",
    "18446744073709551615",
    "99999999999999999999999",
    "abc",
    "",
    " 1",
    "1 ",
    "+1",
    "-0",
    "01",
    "1.5",
    "0x10",
    "1e3",
    "-",
]
# Without those that are good relative times: see Maker.seconds.
TIME_EDGES = [e for e in EDGES if e not in ("2147483647", "2147483648", "4294967296")]
FLOATS = ["0.5", "-2.25", "1e3", "3.0", "0.1", "1e-5", "123456789.125", "inf", "-inf", "nan", "1e400", ".5", "5.", "--1"]
VALUES = ["", "a", "value", "x" * 44, "x" * 45, "y" * 300, "\x00\xff\r\n", "é", "12 34"]
PATTERNS = ["*", "key*", "key[0-4]", "k?y1", "nothing", "[^k]*", "key\\*", "*[", ""]

# Replies whose elements may come in any order.
UNORDERED = {"KEYS"} | values.UNORDERED
# Since 7.4 their mistakes are answered before the key is looked up; the reference answers for a missing key first.
LOOKS_FIRST = {"BITCOUNT", "BITPOS"}
# Replies that depend on the clock: numbers may be apart by so much.
CLOCK = {"TTL": 2, "PTTL": 3000, "EXPIRETIME": 2, "PEXPIRETIME": 3000, "OBJECT": 2}


class Maker:
    def __init__(self, random):
        self.random = random

    def one(self, *pools):
        return self.random.choice(self.random.choice(pools))

    def key(self):
        return self.random.choice(KEYS)

    def keys(self, most=4):
        return [self.key() for _ in range(self.random.randint(1, most))]

    def integer(self):
        return self.one(NUMBERS, NUMBERS, NUMBERS, EDGES)

    def value(self):
        return self.one(VALUES, NUMBERS, NUMBERS, FLOATS, EDGES)

    def maybe(self, chance, *words):
        return list(words) if self.random.random() < chance else []

    def seconds(self):
        """Relative times are never near each other, or the order of two of them (GT, LT) would depend on the moment."""
        return self.random.randrange(100, 10_000_000)

    def expiry(self):
        """An option with a time that does not run out, or did long ago, or is no time at all."""
        name = self.one(["EX", "PX", "EXAT", "PXAT"])
        times = {
            "EX": [str(self.seconds())],
            "PX": [str(self.seconds() * 1000)],
            "EXAT": ["33177117420", "1", "33177117421"],
            "PXAT": ["33177117420000", "1", "33177117420999"],
        }[name]
        return [name, self.one(times, times, times, ["0", "-1"], TIME_EDGES)]

    def case(self, word):
        return word.lower() if self.random.random() < 0.2 else word


def set_command(m):
    out = ["SET", m.key(), m.value()]
    out += m.maybe(0.2, "NX") + m.maybe(0.2, "XX") + m.maybe(0.2, "GET") + m.maybe(0.15, "KEEPTTL")
    out += m.expiry() if m.random.random() < 0.3 else []
    # Some options may be given twice, and then the last one counts.
    out += m.expiry() if m.random.random() < 0.05 else []
    out += m.maybe(0.05, m.one(["NX", "XX", "GET", "KEEPTTL"]))
    tail = out[3:]
    return out[:3] + [m.case(word) for word in tail] + m.maybe(0.03, "JUNK")


def getex_command(m):
    out = ["GETEX", m.key()]
    out += m.expiry() if m.random.random() < 0.5 else []
    out += m.expiry() if m.random.random() < 0.1 else []
    return out + m.maybe(0.2, "PERSIST") + m.maybe(0.05, "PERSIST") + m.maybe(0.03, "JUNK")


def lcs_command(m):
    out = ["LCS", m.key(), m.key()] + m.maybe(0.2, "LEN") + m.maybe(0.3, "IDX") + m.maybe(0.2, "WITHMATCHLEN")
    out += ["MINMATCHLEN", m.integer()] if m.random.random() < 0.3 else []
    return out + m.maybe(0.05, m.one(["JUNK", "MINMATCHLEN", "LEN"]))


def pairs(m, name):
    out = [name]
    for key in m.keys():
        out += [key, m.value()]
    return out + m.maybe(0.05, "odd")


def expire_command(m):
    name = m.one(["EXPIRE", "PEXPIRE", "EXPIREAT", "PEXPIREAT"])
    times = {
        "EXPIRE": [str(m.seconds()), str(m.seconds()), "-1"],
        "PEXPIRE": [str(m.seconds() * 1000), str(m.seconds() * 1000), "-1"],
        "EXPIREAT": ["33177117420", "33177117421", "1"],
        "PEXPIREAT": ["33177117420000", "33177117420999", "1"],
    }[name]
    out = [name, m.key(), m.one(times, times, times, TIME_EDGES)]
    for option in ("NX", "XX", "GT", "LT"):
        out += m.maybe(0.12, m.case(option))
    return out + m.maybe(0.02, "JUNK")


def copy_command(m):
    out = ["COPY", m.key(), m.key()] + m.maybe(0.3, "REPLACE")
    return out + (["DB", m.one(["0", "1", "2", "16", "-1", "abc"])] if m.random.random() < 0.2 else [])


def bit_range(m, least):
    """Only what is a range: see LOOKS_FIRST."""
    edges = ["9223372036854775807", "-9223372036854775808", "4294967296"]
    out = [m.one(NUMBERS, NUMBERS, NUMBERS, edges) for _ in range(m.random.choice([0, least, 2]))]
    return out + (m.maybe(0.5, m.one(["BIT", "byte"])) if len(out) == 2 else [])


def bitpos_command(m):
    return ["BITPOS", m.key(), m.one(["0", "1"], ["0", "1"], ["2", "x"])] + bit_range(m, 1)


def bitfield_command(m):
    """Offsets stay small: a string of half a gigabyte per command helps nobody."""
    out = [m.one(["BITFIELD", "BITFIELD", "BITFIELD_RO"]), m.key()]
    for _ in range(m.random.randint(0, 4)):
        if m.random.random() < 0.4:
            out += ["OVERFLOW", m.one(["WRAP", "SAT", "FAIL"], ["WRAP", "sat", "FAIL", "NEVER"])]
        width = m.random.randint(1, 64)
        field = m.one(["u", "i"]) + str(width) if m.random.random() < 0.95 else m.one(["u64", "i65", "u0", "8", "x8", ""])
        offset = m.one(["0", "1", "7", "13", "100", "#0", "#1", "#5"], ["0", "3", "64", "#2", "-1", "#-1", "#", "x", "4294967296"])
        word = m.one(["GET", "SET", "INCRBY"])
        out += [m.case(word), field, offset] + ([] if word == "GET" else [m.integer()])
        if word == "SET" and out[-1] == "-9223372036854775808":  # The reference saturates it upwards, by an overflow of its own.
            out[-1] = "-4611686018427387904"
    return out


def simple(name, *shape):
    """A command that is its name and arguments of the given kinds: k key, K keys, v value, i integer, f float, p pattern."""

    def make(m):
        out = [name]
        for kind in shape:
            out += {
                "k": lambda: [m.key()],
                "K": m.keys,
                "v": lambda: [m.value()],
                "i": lambda: [m.integer()],
                "f": lambda: [m.one(FLOATS, FLOATS, NUMBERS, EDGES)],
                "p": lambda: [m.one(PATTERNS)],
                "bit": lambda: [m.one(["0", "1"], ["0", "1"], ["2", "-1", "x"])],
                "offset": lambda: [m.one(["0", "1", "7", "8", "100", "1000"], ["-1", "4294967296", "x", "1.5"])],
                "db": lambda: [m.one(["0", "0", "0", "1", "2"], ["15", "16", "-1", "abc"])],
            }[kind]()
        return out

    return make


STRING = [
    (6, set_command),
    (2, getex_command),
    (4, simple("GET", "k")),
    (1, simple("GETSET", "k", "v")),
    (1, simple("GETDEL", "k")),
    (1, simple("SETNX", "k", "v")),
    (1, simple("APPEND", "k", "v")),
    (1, simple("STRLEN", "k")),
    (2, simple("INCR", "k")),
    (1, simple("DECR", "k")),
    (2, simple("INCRBY", "k", "i")),
    (1, simple("DECRBY", "k", "i")),
    (2, simple("INCRBYFLOAT", "k", "f")),
    (1, simple("GETRANGE", "k", "i", "i")),
    (1, simple("SUBSTR", "k", "i", "i")),
    (1, simple("SETRANGE", "k", "offset", "v")),
    (1, simple("MGET", "K")),
    (2, lcs_command),
    (1, lambda m: pairs(m, "MSET")),
    (1, lambda m: pairs(m, "MSETNX")),
    (1, lambda m: ["SETEX", m.key(), m.one([str(m.seconds())], TIME_EDGES), m.value()]),
    (1, lambda m: ["PSETEX", m.key(), m.one([str(m.seconds() * 1000)], TIME_EDGES), m.value()]),
]

BITMAP = [
    (1, simple("SETBIT", "k", "offset", "bit")),
    (1, simple("GETBIT", "k", "offset")),
    (1, lambda m: ["BITCOUNT", m.key()] + bit_range(m, 2)),
    (1, bitpos_command),
    (1, lambda m: ["BITOP", m.one(["AND", "OR", "XOR", "NOT", "NAND"]), m.key()] + m.keys()),
    (3, bitfield_command),
]

GENERIC = [
    (2, simple("DEL", "K")),
    (1, simple("UNLINK", "K")),
    (2, simple("EXISTS", "K")),
    (1, simple("TOUCH", "K")),
    (1, simple("TYPE", "k")),
    (1, simple("RENAME", "k", "k")),
    (1, simple("RENAMENX", "k", "k")),
    (1, copy_command),
    (1, simple("MOVE", "k", "db")),
    (1, simple("KEYS", "p")),
    (1, simple("PERSIST", "k")),
    (4, expire_command),
    (1, simple("TTL", "k")),
    (1, simple("PTTL", "k")),
    (1, simple("EXPIRETIME", "k")),
    (1, simple("PEXPIRETIME", "k")),
    (1, lambda m: ["OBJECT", "ENCODING", m.key()]),
    (0.3, lambda m: ["SELECT", m.one(["0", "0", "1"], ["16", "-1", "x"])]),
    (0.1, lambda m: ["SWAPDB", m.one(["0", "1"]), m.one(["0", "1", "x"])]),
    (0.05, lambda m: [m.one(["FLUSHDB", "FLUSHALL"])] + m.maybe(0.3, m.one(["ASYNC", "SYNC", "JUNK"]))),
]

FAMILIES = {"string": STRING, "bitmap": BITMAP, "generic": GENERIC, "dump": dumps.DUMP, **values.FAMILIES}
FAMILIES |= places.FAMILIES | sorting.FAMILIES
# Families that play alone, see there why.
ALONE = sorted(sorting.FAMILIES)


def wrong_arity(m, command):
    """Sometimes an argument too few or too many: arity and grammar errors must read the same."""
    if command[0] in LOOKS_FIRST or command[0] in values.RANDOM | values.REWORDED:
        return command
    if m.random.random() < 0.02 and len(command) > 1:
        return command[:-1]
    if m.random.random() < 0.02:
        return command + [m.value() if command[1:2] == [] or command[1] not in sorting.SOURCES else "17"]
    return command


def all_commands(only=None):
    return [entry for name, family in FAMILIES.items() if (name in only if only else name not in ALONE) for entry in family]
