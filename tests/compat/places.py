"""Random places and searches: the geo family.

Searches keep to where the reference finds everybody: away from the poles, or with a radius that is the whole world; and no
two members are at the same place, as the order of who is equally far away is nobody's promise.
"""

from values import key

MAPS = [f"map{n}" for n in range(4)]
STORED = ["found0", "found1"]
# Only asked for by name: places at the ends of the map, and scores that nobody encoded.
EDGES = ["edge0", "edge1"]
EDGE_LONGITUDES = ["180", "-180", "0", "179.9999999", "-179.9999999", "13.361389"]
EDGE_LATITUDES = ["85.05112878", "-85.05112878", "0", "85", "-85.0511", "38.115556"]
BAD_NUMBERS = ["abc", "", "nan", "1e400", " 1", "181", "-200.5", "inf", "-inf", "1e30"]
UNITS = ["m", "km", "ft", "mi", "KM", "Mi"]
METERS = {"m": 1, "km": 1000, "ft": 0.3048, "mi": 1609.34}
ODD_SCORES = ["-1", "1.5", "1e18", "inf", "-inf", "9223372036854775808", "1e30", "-5e18", "4503599627370496", "3479099956230698"]
EVERYWHERE_M = 5_100_000
FARTHEST_M = 1_500_000


def member(m):
    return f"m{m.random.randrange(200)}"


def place(m):
    """Mostly in few regions, so that searches find some; one of them lies across the line of date."""
    if m.random.random() < 0.03:
        return m.random.choice([[m.one(BAD_NUMBERS), "2"], ["1", m.one(BAD_NUMBERS, ["90", "-85.06"])]])
    longitude = m.random.choice([m.random.uniform(-180, 180), m.random.uniform(10, 18), m.random.choice([-1, 1]) * m.random.uniform(176, 179.9999)])
    latitude = m.random.choice([m.random.uniform(-55, 55), m.random.uniform(35, 40), m.random.uniform(-2, 2)])
    return [f"{longitude:.9f}", f"{latitude:.9f}"]


def geoadd(m):
    out = ["GEOADD", key(m, MAPS)]
    for option in ("NX", "XX", "CH"):
        out += m.maybe(0.1, m.case(option))
    for _ in range(m.random.choice([1, 2, 5, 20])):
        out += place(m) + [member(m)]
    return out + m.maybe(0.02, "odd")


def edge_add(m):
    return ["GEOADD", m.one(EDGES), m.one(EDGE_LONGITUDES), m.one(EDGE_LATITUDES), member(m)]


def unit(m):
    return m.one(UNITS) if m.random.random() < 0.97 else m.one(["", "yard", "k", "mm"])


def length(m, name, share=1.0):
    """In that unit: next to nothing, some distance, or the world."""
    if m.random.random() < 0.03:
        return m.one(["abc", "", "-1", "-0", "nan", "inf", "0"])
    meters = m.random.choice([10 ** m.random.uniform(-1, 6.17), FARTHEST_M, EVERYWHERE_M * 2 * m.random.uniform(1, 9)])
    if 0 < meters <= FARTHEST_M:
        meters *= share
    return repr(meters / METERS.get(name.lower(), 1))


def box(m):
    name = unit(m)
    width = length(m, name, 0.7)
    # Both or none of them as wide as the world.
    return [width, width if m.random.random() < 0.5 else "0" if m.random.random() < 0.2 else width, name]


def shared_options(m):
    out = m.maybe(0.3, m.one(["ASC", "DESC", "desc"]))
    out += m.maybe(0.3, "COUNT", m.one(["1", "3", "10", "1000"], ["0", "-1", "abc", "2"]))
    out += m.maybe(0.15, "ANY")
    for option in ("WITHDIST", "WITHHASH", "WITHCOORD"):
        out += m.maybe(0.15, m.case(option))
    m.random.shuffle(out) if m.random.random() < 0.05 else None
    return out + m.maybe(0.02, "JUNK")


def search(m, store):
    out = ["GEOSEARCHSTORE", key(m, STORED), key(m, MAPS)] if store else ["GEOSEARCH", key(m, MAPS)]
    center = ["FROMMEMBER", member(m)] if m.random.random() < 0.5 else ["FROMLONLAT"] + place(m)
    name = unit(m)
    shape = ["BYRADIUS", length(m, name), name] if m.random.random() < 0.5 else ["BYBOX"] + box(m)
    parts = [center, shape]
    if m.random.random() < 0.02:
        parts.append(m.random.choice([["FROMMEMBER", "m1"], ["BYRADIUS", "1", "km"], ["BYBOX", "1", "1", "km"]]))
    if m.random.random() < 0.02:
        parts.pop()
    m.random.shuffle(parts)
    options = shared_options(m)
    if store and m.random.random() < 0.9:
        options = [word for word in options if not word.upper().startswith("WITH")]
    return out + sum(parts, []) + options + (m.maybe(0.3, "STOREDIST") if store else m.maybe(0.01, "STOREDIST"))


def radius(m):
    name, read_only = m.one(["GEORADIUS", "GEORADIUSBYMEMBER"]), m.random.random() < 0.3
    unit_name = unit(m)
    center = [member(m)] if "MEMBER" in name else place(m)
    out = [name + ("_RO" if read_only else ""), key(m, MAPS)] + center + [length(m, unit_name), unit_name]
    if m.random.random() < (0.03 if read_only else 0.4):
        stores = sum((m.maybe(0.9, m.one(["STORE", "storedist"]), key(m, STORED)) for _ in range(m.random.choice([1, 1, 2]))), [])
        options = [word for word in shared_options(m) if m.random.random() < 0.1 or not word.upper().startswith("WITH")]
        return out + stores + options
    return out + shared_options(m)


def distance(m):
    source = m.one(MAPS, MAPS, EDGES)
    return ["GEODIST", source, member(m), member(m)] + m.maybe(0.5, unit(m))


def members_of(name):
    return lambda m: [name, m.one(MAPS, MAPS, EDGES)] + [member(m) for _ in range(m.random.randint(0, 4))]


GEO = [
    (5, geoadd),
    (1, edge_add),
    (1, lambda m: ["ZADD", m.one(EDGES), m.one(ODD_SCORES), member(m)]),
    (0.5, lambda m: ["ZREM", m.one(MAPS), member(m)]),
    (2, distance),
    (1, members_of("GEOHASH")),
    (1, members_of("GEOPOS")),
    (5, lambda m: search(m, False)),
    (2, lambda m: search(m, True)),
    (5, radius),
    (0.1, lambda m: ["DEL", m.one(MAPS, STORED)]),
    (0.3, lambda m: ["OBJECT", "ENCODING", m.one(MAPS, STORED)]),
    (0.3, lambda m: ["ZRANGE", m.one(STORED), "0", "-1", "WITHSCORES"]),
]

FAMILIES = {"geo": GEO}
