"""The notation of transcripts: how commands and replies are written down, compared and printed.

Two directions share one notation: `parse_command` and `parse_reply` read what a person wrote, `show` prints a
reply the way that person would have written it. What `show` prints, `parse_reply` reads back and matches.
"""

import re
from dataclasses import dataclass, field

from lib.resp import Aggregate, BigNumber, Double, Error, Nil, Simple, Verbatim


class NotationError(Exception):
    """The transcript itself is written wrongly."""


ESCAPES = {"n": "\n", "r": "\r", "t": "\t", "a": "\a", "b": "\b", "\\": "\\", '"': '"', "'": "'", "0": "\0"}


# ---------------------------------------------------------------- commands


def read_quoted(text, at, variables):
    """Reads the quoted word that starts at text[at]; gives its bytes and the place after it.

    "ab"*3 is "ababab": long values stay readable.
    """
    quote, at, out = text[at], at + 1, bytearray()
    while True:
        if at >= len(text):
            raise NotationError("quote is not closed")
        char = text[at]
        if char == quote:
            at += 1
            break
        if char == "\\" and at + 1 < len(text):
            if quote == "'" and text[at + 1] not in "'\\":
                out += b"\\"
                at += 1
            elif text[at + 1] == "x":
                out.append(int(text[at + 2 : at + 4], 16))
                at += 4
            elif text[at + 1] in ESCAPES:
                out += ESCAPES[text[at + 1]].encode()
                at += 2
            else:
                raise NotationError(f"unknown escape \\{text[at + 1]}")
        elif char == "$" and text[at + 1 : at + 2] == "{" and quote == '"':
            value, at = read_variable(text, at, variables)
            out += value
        else:
            out += char.encode()
            at += 1
    times = re.match(r"\*(\d+)", text[at:])
    if times:
        return bytes(out) * int(times.group(1)), at + times.end()
    return bytes(out), at


def read_variable(text, at, variables):
    end = text.find("}", at)
    name = text[at + 2 : end]
    if end < 0 or name not in variables:
        raise NotationError(f"no value named {name!r}")
    return variables[name], end + 1


def parse_command(text, variables=None):
    """Splits a command line into its arguments (bytes), with shell-like quoting."""
    variables, args, at = variables or {}, [], 0
    while at < len(text):
        if text[at].isspace():
            at += 1
            continue
        word = bytearray()
        while at < len(text) and not text[at].isspace():
            if text[at] in "\"'":
                part, at = read_quoted(text, at, variables)
                word += part
            elif text[at : at + 2] == "${":
                value, at = read_variable(text, at, variables)
                word += value
            else:
                word += text[at].encode()
                at += 1
        args.append(bytes(word))
    if not args:
        raise NotationError("empty command")
    return args


# ---------------------------------------------------------------- expectations


@dataclass
class Exact:
    value: object

    def matches(self, reply):
        want = self.value
        if isinstance(want, Nil):
            return isinstance(reply, Nil) and (reply.kind == want.kind or reply.kind == "resp3")
        return type(want) is type(reply) and want == reply


@dataclass
class Any:
    def matches(self, reply):
        return True


@dataclass
class Regex:
    """Matches the text of any kind of string (not of errors, unless asked for)."""

    pattern: str
    of_error: bool = False

    def matches(self, reply):
        if self.of_error:
            return isinstance(reply, Error) and self._search(reply.text)
        if isinstance(reply, bytes):
            return self._search(reply)
        return isinstance(reply, (Simple, Verbatim)) and self._search(reply.text)

    def _search(self, text):
        return re.search(self.pattern.encode(), text, re.DOTALL | re.MULTILINE) is not None


@dataclass
class ErrorPrefix:
    prefix: bytes

    def matches(self, reply):
        return isinstance(reply, Error) and reply.text.startswith(self.prefix)


@dataclass
class Range:
    """A number between low and high, both included; None is no bound."""

    kind: type
    low: object
    high: object

    def matches(self, reply):
        if type(reply) is not self.kind:
            return False
        number = float(reply.text) if self.kind is Double else reply
        return (self.low is None or number >= self.low) and (self.high is None or number <= self.high)


@dataclass
class Length:
    low: int
    high: int

    def matches(self, reply):
        return isinstance(reply, Aggregate) and self.low <= len(reply.items) <= self.high


@dataclass
class Items:
    """An aggregate, element by element. order: "exact", "any", "pairs" (flat key value list) or "contains"."""

    kind: str
    items: list = field(default_factory=list)
    order: str = "exact"

    def matches(self, reply):
        if not isinstance(reply, Aggregate) or reply.kind != self.kind:
            return False
        if self.order == "contains":
            step = 2 if self.kind == "map" else 1
        else:
            if len(reply.items) != len(self.items):
                return False
            if self.order == "exact" and self.kind != "set":
                return all(want.matches(got) for want, got in zip(self.items, reply.items))
            step = 2 if self.kind == "map" or self.order == "pairs" else 1
        return match_groups(groups(self.items, step), groups(reply.items, step))


def groups(items, size):
    return [items[i : i + size] for i in range(0, len(items), size)]


def match_groups(wanted, got):
    """Every wanted group finds a group of its own, whatever the order."""
    left = list(got)
    # The exact ones choose first, so that a wildcard does not take what only they can match.
    for want in sorted(wanted, key=lambda g: sum(not isinstance(e, Exact) for e in g)):
        for index, have in enumerate(left):
            if len(have) == len(want) and all(w.matches(h) for w, h in zip(want, have)):
                del left[index]
                break
        else:
            return False
    return True


SIGILS = {")": "array", "#": "map", "~": "set", ">": "push"}
ITEM = re.compile(r"\s*(\d+)([)#~>]) ")
OPENERS = (("[", "]", "array"), ("{", "}", "map"), ("~[", "]", "set"), (">[", "]", "push"))
ORDERS = {"(unordered)": "any", "(unordered pairs)": "pairs", "(contains)": "contains"}


class ReplyParser:
    """Reads the lines below a command. Columns matter: an element's lines are indented below its first one."""

    def __init__(self, lines, variables):
        self.lines = lines
        self.variables = variables or {}
        self.row = 0

    def parse(self):
        if not self.lines:
            raise NotationError("no reply is expected here; write one (or use >> to send only)")
        value = self.value(0)
        if self.row != len(self.lines):
            raise NotationError(f"text after the reply: {self.lines[self.row]!r}")
        return value

    def value(self, column):
        text = self.lines[self.row][column:]
        for word, order in ORDERS.items():
            if text.startswith(word):
                rest = text[len(word) :].lstrip()
                if rest:
                    column = len(self.lines[self.row]) - len(rest)
                else:
                    self.row += 1
                    if self.row >= len(self.lines):
                        raise NotationError(f"{word} needs the elements below it")
                value = self.value(column)
                if not isinstance(value, Items):
                    raise NotationError(f"{word} is for arrays, maps and sets")
                value.order = order
                return value
        if ITEM.match(text):
            return self.list(column)
        self.row += 1
        value, rest = parse_atom(text, self.variables, ())
        if rest.strip():
            raise NotationError(f"cannot read {rest!r}")
        return value

    def list(self, column):
        result = None
        while self.row < len(self.lines):
            line = self.lines[self.row]
            found = None if line[:column].strip() else ITEM.match(line, column)
            if not found:
                break
            kind = SIGILS[found.group(2)]
            if result is None:
                result = Items(kind)
            step = 2 if kind == "map" else 1
            if kind != result.kind or int(found.group(1)) != len(result.items) // step + 1:
                raise NotationError(f"element out of order: {line.strip()!r}")
            start = found.end()
            if kind == "map":
                key, rest = parse_atom(line[start:], self.variables, (" =>",))
                if not rest.startswith("=> "):
                    raise NotationError(f"a map element is written: 1# key => value, not {line.strip()!r}")
                result.items.append(key)
                start = len(line) - len(rest) + 3
            # From here on the line belongs to the element, whatever stands before it.
            self.lines[self.row] = " " * start + line[start:]
            result.items.append(self.value(start))
        return result


def parse_reply(lines, variables=None):
    return ReplyParser([line.rstrip("\n") for line in lines], variables).parse()


def parse_atom(text, variables, stops):
    """One value written on one line. Bare text ends at one of `stops` (or at the end of the line)."""
    for opener, closer, kind in OPENERS:
        if text.startswith(opener):
            return parse_inline(text[len(opener) :], closer, kind, variables)
    if text[:1] == '"':
        data, end = read_quoted(text, 0, variables)
        while text[end : end + 1] == '"':  # "x"*1000"tail"
            more, end = read_quoted(text, end, variables)
            data += more
        return Exact(data), text[end:].lstrip()
    if text[:2] == "${":
        data, end = read_variable(text, 0, variables)
        return Exact(data), text[end:].lstrip()
    if text.startswith("~ /"):
        return parse_regex(text[2:])
    if text.startswith("(verbatim "):
        kind, _, rest = text[10:].partition(") ")
        data, end = read_quoted(rest, 0, variables)
        return Exact(Verbatim(kind.encode(), data)), rest[end:].lstrip()
    quoted = re.match(r'\((error|status)\) (?=")', text)
    if quoted:  # Texts with spaces at their ends, or with commas within an inline array.
        rest = text[quoted.end() :]
        data, end = read_quoted(rest, 0, variables)
        return Exact((Error if quoted.group(1) == "error" else Simple)(data)), rest[end:].lstrip()
    if text.startswith("(error) ~ /"):
        value, rest = parse_regex(text[10:])
        value.of_error = True
        return value, rest
    end = len(text)
    for stop in stops:
        place = text.find(stop)
        if place >= 0:
            end = min(end, place)
    return parse_bare(text[:end].rstrip()), text[end:].lstrip()


def parse_regex(text):
    end = 1
    while end < len(text) and text[end] != "/":
        end += 2 if text[end] == "\\" else 1
    if end >= len(text):
        raise NotationError("a regular expression is written ~ /.../")
    pattern = text[1:end].replace("\\/", "/")
    try:
        re.compile(pattern.encode())
    except re.error as error:
        raise NotationError(f"bad regular expression: {error}") from error
    return Regex(pattern), text[end + 1 :].lstrip()


def parse_inline(text, closer, kind, variables):
    result = Items(kind)
    text = text.lstrip()
    while not text.startswith(closer):
        order = next((w for w in ORDERS if text.startswith(w)), None)
        if order:
            text = text[len(order) :].lstrip()
        stops = (" =>",) if kind == "map" and len(result.items) % 2 == 0 else (",", closer)
        value, text = parse_atom(text, variables, stops)
        if order:
            value.order = ORDERS[order]
        result.items.append(value)
        text = text.lstrip()
        if kind == "map" and len(result.items) % 2 == 1:
            if not text.startswith("=>"):
                raise NotationError("a map is written {key => value, ...}")
            text = text[2:].lstrip()
        elif text.startswith(","):
            text = text[1:].lstrip()
        elif not text.startswith(closer):
            raise NotationError(f"expected , or {closer} before {text!r}")
    return result, text[1:].lstrip()


CONSTANTS = {
    "(nil)": lambda: Exact(Nil("bulk")),
    "(nil array)": lambda: Exact(Nil("array")),
    "(null)": lambda: Exact(Nil("resp3")),
    "(true)": lambda: Exact(True),
    "(false)": lambda: Exact(False),
    "(any)": Any,
    "(empty array)": lambda: Items("array"),
}


def parse_bare(text):
    if text in CONSTANTS:
        return CONSTANTS[text]()
    word = re.match(r"\((integer|double|bignum|error|array|status)\) ?", text)
    if not word:
        if not text or text[0] in "(\"'[{~<>@#":
            raise NotationError(f"not a reply: {text!r}")
        return Exact(Simple(text.encode()))
    kind, rest = word.group(1), text[word.end() :]
    if kind == "status":  # For simple strings that look like notation.
        return Exact(Simple(rest.encode()))
    if kind == "error":
        if rest.endswith(" ..."):
            return ErrorPrefix(rest[:-3].encode())
        return Exact(Error(rest.encode()))
    if kind == "bignum":
        return Exact(BigNumber(rest.encode()))
    return parse_number(kind, rest)


def parse_number(kind, text):
    convert = float if kind == "double" else int
    python = Double if kind == "double" else int
    if text == "any" and kind != "array":
        return Range(python, None, None)
    low, dots, high = text.partition("..")
    try:
        if kind == "array":
            return Length(int(low), (int(high) if high else 1 << 62) if dots else int(low))
        if dots:
            return Range(python, convert(low) if low else None, convert(high) if high else None)
        return Exact(Double(text.encode()) if kind == "double" else int(text))
    except ValueError as error:
        raise NotationError(f"not a number: {text!r}") from error


# ---------------------------------------------------------------- printing


def quote(data):
    out = []
    for byte in data:
        char = chr(byte)
        if char in '"\\':
            out.append("\\" + char)
        elif char == "$":
            out.append("$")
        elif 32 <= byte < 127:
            out.append(char)
        elif char in "\n\r\t\a\b":
            out.append({"\n": "\\n", "\r": "\\r", "\t": "\\t", "\a": "\\a", "\b": "\\b"}[char])
        else:
            out.append(f"\\x{byte:02x}")
    return '"' + "".join(out).replace("${", "\\x24{") + '"'


def plain_text(data):
    """The text when it can stand unquoted on a line, else None."""
    text = data.decode("ascii", "replace")
    plain = re.fullmatch(r"[!#-~]([ -~]*[!-~])?", text) and not ITEM.match(text + " ") and text[-3:] != "..."
    return text if plain else None


def show_atom(value):
    """A reply on one line, or None when it is an aggregate with elements."""
    if isinstance(value, bytes):
        return quote(value)
    if isinstance(value, bool):
        return "(true)" if value else "(false)"
    if isinstance(value, int):
        return f"(integer) {value}"
    if isinstance(value, Nil):
        return {"bulk": "(nil)", "array": "(nil array)", "resp3": "(null)"}[value.kind]
    if isinstance(value, Simple):
        plain = plain_text(value.text)
        return plain if plain and plain[0] not in "([{~<>@#" else f"(status) {quote(value.text)}"
    if isinstance(value, Error):
        return "(error) " + (plain_text(value.text) or quote(value.text))
    if isinstance(value, Double):
        return f"(double) {value.text.decode()}"
    if isinstance(value, BigNumber):
        return f"(bignum) {value.text.decode()}"
    if isinstance(value, Verbatim):
        return f"(verbatim {value.kind.decode()}) {quote(value.text)}"
    if not value.items:
        return {"array": "[]", "map": "{}", "set": "~[]", "push": ">[]"}[value.kind]
    return None


def show_inline(value):
    """A short flat aggregate on one line, or None when it deserves several."""
    parts = [show_atom(item) for item in value.items]
    if any(p is None for p in parts):
        return None
    # Bare text would run into the comma or the bracket.
    if any(isinstance(i, (Simple, Error)) and re.search(r",|=>|[\]}]", p) for i, p in zip(value.items, parts)):
        return None
    if value.kind == "map":
        parts = [f"{key} => {item}" for key, item in zip(parts[::2], parts[1::2])]
    opener, closer = {"array": "[]", "map": "{}", "set": ("~[", "]"), "push": (">[", "]")}[value.kind]
    text = opener + ", ".join(parts) + closer
    return text if len(text) <= 100 else None


def show(value):
    """The lines that describe a reply."""
    atom = show_atom(value)
    if atom is not None:
        return [atom]
    inline = show_inline(value)
    if inline is not None:
        return [inline]
    sigil = {"array": ")", "map": "#", "set": "~", "push": ">"}[value.kind]
    step = 2 if value.kind == "map" else 1
    elements = groups(value.items, step)
    width = len(str(len(elements)))
    lines = []
    for number, element in enumerate(elements, 1):
        head = f"{number:>{width}}{sigil} "
        if step == 2:
            head += (show_atom(element[0]) or show_inline(element[0]) or "(any)") + " => "
        body = show(element[-1])
        lines.append(head + body[0])
        lines.extend(" " * len(head) + line for line in body[1:])
    return lines
