"""Random commands on collections: lists, sets, hashes, sorted sets, streams, counters of distinct elements.

Each family mostly keeps to keys of its own, so that values grow and change their encoding; now and then it takes a key of
all families, which must be refused in the same words when it holds something else.
"""

LISTS = [f"list{n}" for n in range(4)]
SETS = [f"set{n}" for n in range(5)]
HASHES = [f"hash{n}" for n in range(4)]
ZSETS = [f"zset{n}" for n in range(5)]
# Only here all scores are equal; elsewhere ranges of members mean nothing, and Redis answers by its own way of searching.
LEXES = [f"lex{n}" for n in range(3)]
STREAMS = [f"stream{n}" for n in range(3)]
COUNTERS = [f"hll{n}" for n in range(4)]
# Taken now and then by every family; whichever comes first decides their type. Nobody asks for their encoding, which is
# another in 7.0 for lists and sets.
ALL = ["text", "shared1", "shared2", "shared3", "none"]

ELEMENTS = ["a", "b", "c", "d", "", "10", "-3", "9223372036854775807", "x" * 64, "x" * 65, "\x00\xff\r\n", "07", "1.5"]
SCORES = ["0", "1", "2", "-1", "3.5", "1e3", "inf", "-inf", "+inf", "0.25", "100", "2"]
BAD_SCORES = ["nan", "abc", "", "1e400", " 1"]
SCORE_BOUNDS = ["-inf", "+inf", "0", "1", "(1", "(2", "3.5", "(-1", "100", "abc", "(", ""]
LEX_BOUNDS = ["-", "+", "[a", "(a", "[c", "(c", "[", "(", "[10", "a", "", "[zz"]
INDEXES = ["0", "1", "-1", "2", "-2", "5", "100", "-100"]
COUNTS = ["0", "1", "2", "3", "10", "100"]
BAD_INTEGERS = ["abc", "", "1.5", "9223372036854775808", "-"]


def key(m, own):
    return m.one(own) if m.random.random() < 0.97 else m.one(ALL)


def keys(m, own, most=3):
    return [key(m, own) for _ in range(m.random.randint(1, most))]


def element(m):
    """Mostly few, so that they meet; sometimes many, so that values grow."""
    if m.random.random() < 0.4:
        return str(m.random.randrange(300))
    if m.random.random() < 0.2:
        return "member:" + str(m.random.randrange(200))
    return m.one(ELEMENTS)


def elements(m, most=6):
    return [element(m) for _ in range(m.random.choice([1, 1, 2, 3, most, 40 if m.random.random() < 0.1 else 1]))]


def index(m):
    return m.one(INDEXES) if m.random.random() < 0.96 else m.one(BAD_INTEGERS)


def count(m):
    return m.one(COUNTS) if m.random.random() < 0.95 else m.one(["-1", "-5"], BAD_INTEGERS)


def side(m):
    return m.one(["LEFT", "RIGHT", "left"]) if m.random.random() < 0.97 else "MIDDLE"


def numkeys(m, names):
    return [str(len(names)) if m.random.random() < 0.95 else m.one(["0", "-1", "abc", str(len(names) + 1)]), *names]


def of(family, name, *shape):
    """As commands.simple, on the keys of a family: k key, K keys, e element, E elements, i index, c count."""

    def make(m):
        out = [name]
        for kind in shape:
            out += {
                "k": lambda: [key(m, family)],
                "K": lambda: keys(m, family),
                "e": lambda: [element(m)],
                "E": lambda: elements(m),
                "i": lambda: [index(m)],
                "c": lambda: [count(m)],
                "c?": lambda: m.maybe(0.4, count(m)),
            }[kind]()
        return out

    return make


def lpos(m):
    out = ["LPOS", key(m, LISTS), element(m)]
    out += m.maybe(0.3, "RANK", index(m)) + m.maybe(0.3, "COUNT", count(m)) + m.maybe(0.3, "MAXLEN", count(m))
    return out + m.maybe(0.03, "JUNK")


def lmpop(m):
    return ["LMPOP"] + numkeys(m, keys(m, LISTS)) + [side(m)] + m.maybe(0.4, "COUNT", count(m))


LIST = [
    (4, of(LISTS, "RPUSH", "k", "E")),
    (4, of(LISTS, "LPUSH", "k", "E")),
    (1, of(LISTS, "RPUSHX", "k", "E")),
    (1, of(LISTS, "LPUSHX", "k", "E")),
    (1, of(LISTS, "LPOP", "k", "c?")),
    (1, of(LISTS, "RPOP", "k", "c?")),
    (1, of(LISTS, "LLEN", "k")),
    (2, of(LISTS, "LINDEX", "k", "i")),
    (2, of(LISTS, "LRANGE", "k", "i", "i")),
    (2, of(LISTS, "LSET", "k", "i", "e")),
    (0.4, of(LISTS, "LTRIM", "k", "i", "i")),
    (1, lambda m: ["LREM", key(m, LISTS), m.one(["0", "1", "-1", "2", "-2", "abc"]), element(m)]),
    (2, lambda m: ["LINSERT", key(m, LISTS), m.one(["BEFORE", "after", "NEAR"], ["BEFORE", "AFTER"]), element(m), element(m)]),
    (2, lpos),
    (1, of(LISTS, "RPOPLPUSH", "k", "k")),
    (2, lambda m: ["LMOVE", key(m, LISTS), key(m, LISTS), side(m), side(m)]),
    (1, lmpop),
    (0.2, of(LISTS, "DEL", "k")),
    (0.5, lambda m: ["OBJECT", "ENCODING", m.one(LISTS)]),
]

SET = [
    (6, of(SETS, "SADD", "k", "E")),
    (2, of(SETS, "SREM", "k", "E")),
    (1, of(SETS, "SCARD", "k")),
    (1, of(SETS, "SISMEMBER", "k", "e")),
    (1, of(SETS, "SMISMEMBER", "k", "E")),
    (1, of(SETS, "SMEMBERS", "k")),
    (1, lambda m: ["SMOVE", key(m, SETS), key(m, SETS), element(m)]),
    (1, of(SETS, "SINTER", "K")),
    (1, of(SETS, "SUNION", "K")),
    (1, of(SETS, "SDIFF", "K")),
    (0.5, of(SETS, "SINTERSTORE", "k", "K")),
    (0.5, of(SETS, "SUNIONSTORE", "k", "K")),
    (0.5, of(SETS, "SDIFFSTORE", "k", "K")),
    (1, lambda m: ["SINTERCARD"] + numkeys(m, keys(m, SETS)) + m.maybe(0.4, "LIMIT", count(m))),
    (0.3, lambda m: ["SPOP", key(m, SETS), m.one(["0", "1000000", "-1", "abc"])]),
    (0.3, lambda m: ["SRANDMEMBER", key(m, SETS), m.one(["0", "1000000", "abc"])]),
    (0.2, of(SETS, "DEL", "k")),
    (0.5, lambda m: ["OBJECT", "ENCODING", m.one(SETS)]),
]


def field_values(m, name):
    out = [name, key(m, HASHES)]
    for field in elements(m, 4):
        out += [field, element(m)]
    return out + m.maybe(0.03, "odd")


HASH = [
    (5, lambda m: field_values(m, "HSET")),
    (1, lambda m: field_values(m, "HMSET")),
    (1, of(HASHES, "HSETNX", "k", "e", "e")),
    (2, of(HASHES, "HGET", "k", "e")),
    (1, of(HASHES, "HMGET", "k", "E")),
    (1, of(HASHES, "HGETALL", "k")),
    (1, of(HASHES, "HKEYS", "k")),
    (1, of(HASHES, "HVALS", "k")),
    (1, of(HASHES, "HLEN", "k")),
    (1, of(HASHES, "HEXISTS", "k", "e")),
    (1, of(HASHES, "HSTRLEN", "k", "e")),
    (2, of(HASHES, "HDEL", "k", "E")),
    (2, lambda m: ["HINCRBY", key(m, HASHES), element(m), m.integer()]),
    (1, lambda m: ["HINCRBYFLOAT", key(m, HASHES), element(m), m.one(["0.5", "1", "-2.25", "1e3", "abc", "inf", "nan", ""])]),
    (0.3, lambda m: ["HRANDFIELD", key(m, HASHES), m.one(["0", "1000000", "abc"])] + m.maybe(0.4, "WITHVALUES")),
    (0.2, of(HASHES, "DEL", "k")),
    (0.5, lambda m: ["OBJECT", "ENCODING", m.one(HASHES)]),
]


def score(m):
    return m.one(SCORES) if m.random.random() < 0.96 else m.one(BAD_SCORES)


def zadd(m):
    out = ["ZADD", key(m, ZSETS)]
    for option in ("NX", "XX", "GT", "LT", "CH"):
        out += m.maybe(0.1, m.case(option))
    out += m.maybe(0.08, "INCR")
    for member in elements(m, 4):
        out += [score(m), member]
    return out + m.maybe(0.02, "odd")


def limit(m):
    return m.maybe(0.3, "LIMIT", index(m), count(m))


def zrange(m, name="ZRANGE"):
    kind = m.one(["", "", "BYSCORE", "BYLEX"])
    source = m.one(LEXES) if kind == "BYLEX" else key(m, ZSETS)
    out = [name, source] if name == "ZRANGE" else [name, key(m, ZSETS), source]
    pool = {"": INDEXES + ["abc"], "BYSCORE": SCORE_BOUNDS, "BYLEX": LEX_BOUNDS}[kind]
    out += [m.one(pool), m.one(pool)] + ([kind] if kind else []) + m.maybe(0.3, "REV") + limit(m)
    return out + (m.maybe(0.3, "WITHSCORES") if name == "ZRANGE" else [])


def by_score(name):
    return lambda m: [name, key(m, ZSETS), m.one(SCORE_BOUNDS), m.one(SCORE_BOUNDS)] + m.maybe(0.3, "WITHSCORES") + limit(m)


def by_lex(name):
    return lambda m: [name, m.one(LEXES), m.one(LEX_BOUNDS), m.one(LEX_BOUNDS)] + limit(m)


def bounds(name, pool):
    return lambda m: [name, m.one(LEXES) if pool is LEX_BOUNDS else key(m, ZSETS), m.one(pool), m.one(pool)]


def algebra(name, store):
    def make(m):
        names = keys(m, ZSETS)
        out = [name] + ([key(m, ZSETS)] if store else []) + numkeys(m, names)
        if "DIFF" not in name:
            if m.random.random() < 0.3:
                out += ["WEIGHTS"] + [m.one(["1", "2", "-1", "0.5", "inf", "abc"], ["1", "2"]) for _ in names]
            out += m.maybe(0.3, "AGGREGATE", m.one(["SUM", "MIN", "max", "AVG"], ["SUM", "MIN", "MAX"]))
        return out + ([] if store else m.maybe(0.4, "WITHSCORES"))

    return make


ZSET = [
    (7, zadd),
    (2, lambda m: ["ZADD", m.one(LEXES)] + [word for member in elements(m, 4) for word in ("0", member)]),
    (1, lambda m: ["ZINCRBY", key(m, ZSETS), score(m), element(m)]),
    (2, of(ZSETS, "ZREM", "k", "E")),
    (1, of(ZSETS, "ZCARD", "k")),
    (1, of(ZSETS, "ZSCORE", "k", "e")),
    (1, of(ZSETS, "ZMSCORE", "k", "E")),
    (1, of(ZSETS, "ZRANK", "k", "e")),
    (1, of(ZSETS, "ZREVRANK", "k", "e")),
    (1, bounds("ZCOUNT", SCORE_BOUNDS)),
    (1, bounds("ZLEXCOUNT", LEX_BOUNDS)),
    (3, zrange),
    (0.5, lambda m: zrange(m, "ZRANGESTORE")),
    (1, by_score("ZRANGEBYSCORE")),
    (1, by_score("ZREVRANGEBYSCORE")),
    (1, by_lex("ZRANGEBYLEX")),
    (1, by_lex("ZREVRANGEBYLEX")),
    (1, lambda m: ["ZREVRANGE", key(m, ZSETS), index(m), index(m)] + m.maybe(0.3, "WITHSCORES")),
    (0.3, of(ZSETS, "ZREMRANGEBYRANK", "k", "i", "i")),
    (0.3, bounds("ZREMRANGEBYSCORE", SCORE_BOUNDS)),
    (0.3, bounds("ZREMRANGEBYLEX", LEX_BOUNDS)),
    (0.5, of(ZSETS, "ZPOPMIN", "k", "c?")),
    (0.5, of(ZSETS, "ZPOPMAX", "k", "c?")),
    (0.5, lambda m: ["ZMPOP"] + numkeys(m, keys(m, ZSETS)) + [m.one(["MIN", "MAX", "min", "MID"])] + m.maybe(0.4, "COUNT", count(m))),
    (0.5, algebra("ZUNION", False)),
    (0.5, algebra("ZINTER", False)),
    (0.5, algebra("ZDIFF", False)),
    (0.3, algebra("ZUNIONSTORE", True)),
    (0.3, algebra("ZINTERSTORE", True)),
    (0.3, algebra("ZDIFFSTORE", True)),
    (0.5, lambda m: ["ZINTERCARD"] + numkeys(m, keys(m, ZSETS)) + m.maybe(0.4, "LIMIT", count(m))),
    (0.2, of(ZSETS, "DEL", "k")),
    (0.5, lambda m: ["OBJECT", "ENCODING", m.one(ZSETS)]),
]


def stream_id(m):
    if m.random.random() < 0.06:
        return m.one(["abc", "1-", "-1", "1-x", "18446744073709551616", "", "0-0"])
    return f"{m.random.randrange(1, 60)}-{m.random.randrange(0, 4)}"


def bound_id(m):
    return m.one(["-", "+"]) if m.random.random() < 0.4 else m.one(["", "("]) + stream_id(m)


def xadd(m):
    m.stream_clock = getattr(m, "stream_clock", 0) + m.random.randrange(0, 3)
    fresh = f"{m.stream_clock}-{m.random.randrange(0, 9)}"
    out = ["XADD", key(m, STREAMS)] + m.maybe(0.1, "NOMKSTREAM")
    out += m.maybe(0.15, "MAXLEN", m.one(["=", "=", "3", "10"]), count(m)) if m.random.random() < 0.5 else m.maybe(0.15, "MINID", stream_id(m))
    out += [fresh if m.random.random() < 0.9 else stream_id(m)]
    for _ in range(m.random.choice([1, 1, 2])):
        out += [m.one(["f", "g", "temperature"]), element(m)]
    return out + m.maybe(0.03, "odd")


def xrange(m, name):
    return [name, key(m, STREAMS), bound_id(m), bound_id(m)] + m.maybe(0.4, "COUNT", count(m))


def xread(m):
    names = keys(m, STREAMS, 2)
    return ["XREAD"] + m.maybe(0.5, "COUNT", count(m)) + ["STREAMS", *names] + [m.one(["$", "0", stream_id(m)]) for _ in names]


GROUPS = ["g1", "g2", "g3"]
CONSUMERS = ["alice", "bob"]


def xreadgroup(m):
    out = ["XREADGROUP", "GROUP", m.one(GROUPS), m.one(CONSUMERS)] + m.maybe(0.5, "COUNT", m.one(["1", "2", "5"])) + m.maybe(0.1, "NOACK")
    return out + ["STREAMS", key(m, STREAMS), m.one([">", ">", "0", stream_id(m)])]


STREAM = [
    (8, xadd),
    (1, of(STREAMS, "XLEN", "k")),
    (2, lambda m: xrange(m, "XRANGE")),
    (2, lambda m: xrange(m, "XREVRANGE")),
    (1, lambda m: ["XDEL", key(m, STREAMS)] + [stream_id(m) for _ in range(m.random.randint(1, 3))]),
    (0.4, lambda m: ["XTRIM", key(m, STREAMS), "MAXLEN", m.one(["5", "20", "100", "abc", "-1"])]),
    (0.4, lambda m: ["XTRIM", key(m, STREAMS), "MINID", stream_id(m)]),
    (1, xread),
    (0.2, lambda m: ["XSETID", key(m, STREAMS), stream_id(m)]),
    (1, lambda m: ["XGROUP", "CREATE", key(m, STREAMS), m.one(GROUPS), m.one(["0", "$", stream_id(m)])] + m.maybe(0.3, "MKSTREAM")),
    (0.2, lambda m: ["XGROUP", "DESTROY", key(m, STREAMS), m.one(GROUPS)]),
    (0.3, lambda m: ["XGROUP", "SETID", key(m, STREAMS), m.one(GROUPS), m.one(["0", "$", stream_id(m)])]),
    # No CREATECONSUMER: since 7.2 who reads or claims nothing becomes a consumer, too.
    (0.2, lambda m: ["XGROUP", "DELCONSUMER", key(m, STREAMS), m.one(GROUPS), m.one(CONSUMERS)]),
    (4, xreadgroup),
    (1, lambda m: ["XACK", key(m, STREAMS), m.one(GROUPS), stream_id(m), stream_id(m)]),
    (1, lambda m: ["XPENDING", key(m, STREAMS), m.one(GROUPS)]),
    (1, lambda m: ["XCLAIM", key(m, STREAMS), m.one(GROUPS), m.one(CONSUMERS), "0", stream_id(m), "JUSTID"] + m.maybe(0.2, "FORCE")),
    (1, lambda m: ["XAUTOCLAIM", key(m, STREAMS), m.one(GROUPS), m.one(CONSUMERS), "0", "0", "JUSTID"]),
    (0.2, of(STREAMS, "DEL", "k")),
]

HYPERLOGLOG = [
    (0.3, lambda m: ["SET", "text", m.value()]),
    (4, of(COUNTERS, "PFADD", "k", "E")),
    (2, of(COUNTERS, "PFCOUNT", "K")),
    (1, of(COUNTERS, "PFMERGE", "k", "K")),
    (0.2, lambda m: ["PFDEBUG", m.one(["TODENSE", "ENCODING", "JUNK"]), key(m, COUNTERS)]),
    (0.2, of(COUNTERS, "DEL", "k")),
]

FAMILIES = {"list": LIST, "set": SET, "hash": HASH, "zset": ZSET, "stream": STREAM, "hyperloglog": HYPERLOGLOG}
# Random but for the arguments that are made here.
RANDOM = {"SPOP", "SRANDMEMBER", "HRANDFIELD"}
# Since 7.2 the error of an odd list of streams names the command; and the reference cuts what it quotes at a NUL.
REWORDED = {"XREAD", "XREADGROUP", "XCLAIM"}
UNORDERED = {"SMEMBERS", "SINTER", "SUNION", "SDIFF", "HKEYS", "HVALS", "HGETALL", "SPOP", "SRANDMEMBER", "HRANDFIELD"}
# Their scores are written in another way since 7.2 (0.1 was 0.10000000000000001); the number counts.
SCORED = {
    "ZADD", "ZINCRBY", "ZSCORE", "ZMSCORE", "ZRANGE", "ZRANGEBYSCORE", "ZREVRANGEBYSCORE", "ZREVRANGE", "ZPOPMIN", "ZPOPMAX",
    "ZMPOP", "ZUNION", "ZINTER", "ZDIFF",
}  # fmt: skip
# What OBJECT ENCODING answers since 7.2 (first), where the reference has the second.
NEWER_ENCODINGS = {(b"listpack", b"quicklist"): LISTS, (b"listpack", b"hashtable"): SETS}
# How to see the whole of a value.
WHOLE = {
    b"string": ["GET", None],
    b"list": ["LRANGE", None, "0", "-1"],
    b"set": ["SMEMBERS", None],
    b"hash": ["HGETALL", None],
    b"zset": ["ZRANGE", None, "0", "-1", "WITHSCORES"],
    b"stream": ["XRANGE", None, "-", "+"],
}
