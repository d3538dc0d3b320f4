"""Random SORT: lists, sets and sorted sets of numbers or words, by themselves or by other keys.

No number is too large: once any command has seen one, the reference may take others for such ones, and so this family plays
alone. Nothing is asked whose order is free: a
set that is not sorted, or equal texts behind ALPHA and BY in what has no order, or cut by LIMIT.
"""

from values import ALL

NUMBERS = {"list": ["nlist0", "nlist1"], "set": ["nset0", "nset1"], "zset": ["nzset0"]}
WORDS = {"list": ["wlist0", "wlist1"], "set": ["wset0"], "zset": ["wzset0"]}
STORED = ["sorted0", "sorted1"]
SOURCES = {key for names in (NUMBERS, WORDS) for keys in names.values() for key in keys}
NUMBER_POOL = [str(n) for n in range(-5, 25)] + ["1.5", "-2.25", "1e3", "007", " 7", "0x10", "inf", "-inf", "", "+4", "9007199254740993"]
WORD_POOL = ["apple", "banana", "Cherry", "", "10", "9", "a b", "\xff", "é", "zz", "apple pie", "*", "->", "w_1", "y" * 70]
PATTERNS = ["w_*", "w_*", "h_*->f", "h_*->g", "none_*", "w_*_more", "h_*->", "x*y"]
GETS = ["#", "#", "w_*", "h_*->f", "h_*->none", "constant", "h_*", "h_*->"]


def pool(names):
    return NUMBER_POOL if names is NUMBERS else WORD_POOL


def source(m):
    names = m.random.choice([NUMBERS, WORDS])
    kind = m.random.choice(["list", "list", "set", "zset"])
    return names, kind, m.one(names[kind])


def fill(m):
    names, kind, key = source(m)
    some = [m.one(pool(names)) for _ in range(m.random.choice([1, 3, 8]))]
    if kind == "zset":
        return ["ZADD", key] + sum(([str(m.random.randrange(9)), member] for member in some), [])
    return [{"list": m.one(["RPUSH", "LPUSH"]), "set": "SADD"}[kind], key] + some


def weight(m):
    element = m.one(NUMBER_POOL, WORD_POOL)
    value = m.one(NUMBER_POOL, NUMBER_POOL, NUMBER_POOL, WORD_POOL)
    if m.random.random() < 0.5:
        return ["SET", "w_" + element, value]
    return ["HSET", "h_" + element, m.one(["f", "g"]), value]


def sort(m):
    names, kind, key = source(m)
    if m.random.random() < 0.03:
        key, names, kind = m.one(ALL, STORED), NUMBERS, "any"
    out, store = [], m.maybe(0.3, "STORE", m.one(STORED, [key]))
    alpha = kind != "any" and m.random.random() < (0.8 if names is WORDS else 0.3)
    by = m.random.choice(["", "", "nosort", "pattern"])
    if by == "nosort" and (kind in ("list", "zset") or (kind == "set" and store)):
        out += ["BY", m.one(["nosort", "constant", "w_"])]
    tied = by == "pattern" and alpha
    if by == "pattern" and not (tied and kind != "list"):
        out += [m.case("BY"), m.one(PATTERNS)]
    out += m.maybe(0.3, m.one(["ASC", "DESC", "desc"])) + (["ALPHA"] if alpha else [])
    for _ in range(m.random.choice([0, 0, 0, 1, 2])):
        out += ["GET", m.one(GETS)]
    if not tied:
        out += m.maybe(0.3, "LIMIT", m.one(["0", "1", "5", "-1", "100", "x"], ["0", "2"]), m.one(["0", "3", "10", "-1", "-7", "abc"], ["4", "8"]))
    if not store and m.random.random() < 0.3:
        return ["SORT_RO", key] + out + m.maybe(0.03, "STORE", "sorted0")
    return ["SORT", key] + out + store + m.maybe(0.02, m.one(["JUNK", "STORE", "LIMIT", "GET"]))


SORT = [
    (4, fill),
    (2, weight),
    (8, sort),
    (0.5, lambda m: ["DEL", m.one(["w_", "h_"]) + m.one(NUMBER_POOL)]),
    (0.3, lambda m: ["DEL", source(m)[2]]),
    (0.5, lambda m: ["LRANGE", m.one(STORED), "0", "-1"]),
]

FAMILIES = {"sort": SORT}
