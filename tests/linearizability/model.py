"""What the commands do, one at a time, to a few keys. A state is a tuple of values (None: no such key), one per key."""

INT_MIN, INT_MAX = -(2**63), 2**63 - 1
NOT_INTEGER = "ERR value is not an integer or out of range"
NO_KEY = "ERR no such key"
OK = "OK"


def as_integer(text):
    """The integer a value spells, as strictly as the server reads it; None when it spells none."""
    digits = text[1:] if text.startswith("-") else text
    if not digits.isdigit() or (digits[0] == "0" and text != "0"):
        return None
    number = int(text)
    return number if INT_MIN <= number <= INT_MAX else None


def put(state, at, value):
    return state[:at] + (value,) + state[at + 1 :]


def put_pairs(state, pairs):
    for at, value in pairs:
        state = put(state, at, value)
    return state


def increment(state, at, amount):
    number = 0 if state[at] is None else as_integer(state[at])
    if number is None:
        return state, NOT_INTEGER
    if not INT_MIN <= number + amount <= INT_MAX:
        return state, "ERR increment or decrement would overflow"
    return put(state, at, str(number + amount)), number + amount


def rename(state, source, target, only_new):
    value = state[source]
    if value is None:
        return state, NO_KEY
    if only_new:
        if state[target] is not None:
            return state, 0
        return put(put(state, source, None), target, value), 1
    return put(put(state, source, None), target, value), OK


def copy(state, source, target, replace):
    if state[source] is None or (state[target] is not None and not replace):
        return state, 0
    return put(state, target, state[source]), 1


def delete(state, places):
    count = 0
    for at in places:
        if state[at] is not None:
            state, count = put(state, at, None), count + 1
    return state, count


def append(state, at, tail):
    value = (state[at] or "") + tail
    return put(state, at, value), len(value)


def apply(state, op):
    """(the next state, the answer). An op is a tuple: its name, then positions of keys and values."""
    name, *args = op
    return RULES[name](state, *args)


RULES = {
    "GET": lambda s, k: (s, s[k]),
    "STRLEN": lambda s, k: (s, len(s[k] or "")),
    "SET": lambda s, k, v: (put(s, k, v), OK),
    "SETNX": lambda s, k, v: (put(s, k, v), 1) if s[k] is None else (s, 0),
    "SETXX": lambda s, k, v: (s, None) if s[k] is None else (put(s, k, v), OK),
    "GETSET": lambda s, k, v: (put(s, k, v), s[k]),
    "GETDEL": lambda s, k: (put(s, k, None), s[k]),
    "INCR": lambda s, k: increment(s, k, 1),
    "INCRBY": lambda s, k, n: increment(s, k, n),
    "APPEND": append,
    "DEL": lambda s, *ks: delete(s, ks),
    "DELEX": lambda s, k, v: delete(s, [k]) if s[k] == v else (s, 0),
    "EXISTS": lambda s, *ks: (s, sum(s[k] is not None for k in ks)),
    "MGET": lambda s, *ks: (s, tuple(s[k] for k in ks)),
    "MSET": lambda s, *pairs: (put_pairs(s, pairs), OK),
    "MSETNX": lambda s, *pairs: (s, 0) if any(s[k] is not None for k, _ in pairs) else (put_pairs(s, pairs), 1),
    "MSETXX": lambda s, *pairs: (s, 0) if any(s[k] is None for k, _ in pairs) else (put_pairs(s, pairs), 1),
    "RENAME": lambda s, a, b: rename(s, a, b, False),
    "RENAMENX": lambda s, a, b: rename(s, a, b, True),
    "COPY": lambda s, a, b: copy(s, a, b, False),
    "COPYOVER": lambda s, a, b: copy(s, a, b, True),
    "KEYS": lambda s: (s, tuple(k for k, v in enumerate(s) if v is not None)),
}


READERS = {"GET", "STRLEN", "EXISTS", "MGET", "KEYS"}
REFUSALS = {
    "SETNX": 0, "SETXX": None, "GETDEL": None, "DEL": 0, "DELEX": 0, "MSETNX": 0, "MSETXX": 0, "RENAME": NO_KEY, "COPY": 0,
    "COPYOVER": 0, "INCR": NOT_INTEGER, "INCRBY": NOT_INTEGER,
}  # fmt: skip


def is_quiet(op, answer):
    """Does this answer say that the command changed nothing, in whatever state it came?"""
    if op[0] == "RENAMENX":
        return answer in (0, NO_KEY)
    return op[0] in READERS or (op[0] in REFUSALS and answer == REFUSALS[op[0]])


def words(op, names, prefix):
    """The command to send for an op; `names` are the keys' names."""
    name, *args = op
    if name == "KEYS":
        return ["KEYS", prefix + "*"]
    if name == "SETXX":
        return ["SET", names[args[0]], args[1], "XX"]
    if name == "DELEX":
        return ["DELEX", names[args[0]], "IFEQ", args[1]]
    if name == "MSETXX":
        return ["MSETEX", str(len(args))] + [w for k, v in args for w in (names[k], v)] + ["XX"]
    if name in ("MSET", "MSETNX"):
        return [name] + [w for k, v in args for w in (names[k], v)]
    if name == "COPYOVER":
        return ["COPY", names[args[0]], names[args[1]], "REPLACE"]
    if name in ("SET", "SETNX", "GETSET", "APPEND"):
        return [name, names[args[0]], args[1]]
    if name == "INCRBY":
        return [name, names[args[0]], str(args[1])]
    return [name] + [names[k] for k in args]


def random_op(random, keys, unique):
    """One command. `unique()` gives a value that nobody else writes, so that a read names its writer."""
    k = random.randrange(keys)
    pair = random.sample(range(keys), 2)
    name = random.choices(list(WEIGHTS), WEIGHTS.values())[0]
    if name in ("SET", "SETNX", "SETXX", "GETSET"):
        return (name, k, unique())
    if name == "APPEND":
        return (name, k, str(random.randrange(10)))
    if name == "INCRBY":
        return (name, k, random.choice([-7, 10, 1000]))
    if name == "DELEX":
        return (name, k, str(random.randrange(3)))
    if name in ("MSET", "MSETNX", "MSETXX"):
        return (name, *((place, unique()) for place in pair))
    if name in ("MGET", "EXISTS"):
        return (name, *random.sample(range(keys), random.randint(2, keys)))
    if name in ("RENAME", "RENAMENX", "COPY", "COPYOVER"):
        return (name, *pair)
    if name == "KEYS":
        return (name,)
    return (name, k)


WEIGHTS = {
    "GET": 10, "STRLEN": 2, "SET": 8, "SETNX": 3, "SETXX": 3, "GETSET": 6, "GETDEL": 4, "INCR": 8, "INCRBY": 4, "APPEND": 5,
    "DEL": 3, "DELEX": 2, "EXISTS": 3, "MGET": 8, "MSET": 8, "MSETNX": 3, "MSETXX": 3, "RENAME": 8, "RENAMENX": 3, "COPY": 3,
    "COPYOVER": 5, "KEYS": 2,
}  # fmt: skip
