"""Directives that nothing acts on: their rows say so, and only theirs.

A row of a table (an array of In<Struct>::Row) names the field where its value lives. A field that no other code reads has no
effect, so the row carries kNoEffectYet, kNeedless or kUnsupported; a row that carries one of them has a field that nothing
reads but the code listed here, which does not act on it.
"""

import os
import re

from checks.text import Verdict

FLAGS = ("kNoEffectYet", "kNeedless", "kUnsupported")

# Readers that show a value, bring it into range, or compare it with another: none of them makes the directive act.
ONLY_LOOKS = {
    # Says that there is no test.
    "src/server/crash_witness.cc": {"logging.crash_memcheck"},
    "src/server/server_directives.cc": {"cluster.enabled", "replication.primary_host", "replication.backlog_bytes"},
    "src/server/info_sections_server.cc": {"cluster.enabled", "replication.backlog_bytes"},
    "src/server/process_title.cc": {"cluster.enabled"},
    # Keys are loaded for connections that nothing opens yet.
    "src/server/tls_door.cc": {"tls.replication", "tls.cluster"},
}

OPTIONS = re.compile(r"^struct Options : .*?^};", re.DOTALL | re.MULTILINE)
GROUP = re.compile(r"^  ([\w:]+) (\w+);$", re.MULTILINE)
STRUCT = re.compile(r"^struct (\w+)", re.MULTILINE)
TABLE = re.compile(r"^constexpr \w+::Row k\w+\[\] = ", re.MULTILINE)
ROW = re.compile(r'\{\.name = "([^"]+)",(.*?)\.help =', re.DOTALL)
PATH = re.compile(r"<((?:&[\w:]+,\s*)*&[\w:]+)>")
NAME = re.compile(r"\w+")
SPECIAL = re.compile(r"\.kind = k(\w+)Kind\b")
SPECIAL_FUNCTIONS = re.compile(r"Value k(\w+)Kind =\s*InOptions::special<&\w+, &(\w+),")


class Field:
    """Where a value lives: a member of a struct, which is the member `group` of Options (None: of a component's own table)."""

    def __init__(self, group, struct, member):
        self.group, self.struct, self.member = group, struct.split("::")[-1], member
        self.name = f"{group}.{member}"


def check_directives(tree):
    options = tree.text("src/server/options.h")
    groups = {name: kind for kind, name in GROUP.findall(OPTIONS.search(options).group())}
    own = set(STRUCT.findall(options))
    rows = [row for path in tree.sources if is_table(tree, path) for row in rows_of(tree, path, groups)]
    names = {path: set(NAME.findall(tree.text(path))) for path in tree.sources if may_act(tree, path)}
    broken, without = [], 0
    for path, name, flags, fields in rows:
        if not fields:
            broken.append(f"{path}: {name}: the field of its value was not found")
        acting = [
            reader
            for reader, named in names.items()
            if any(field.member in named and reads(tree, reader, groups, own, field) for field in fields)
        ]
        without += not acting
        if not acting and not flags:
            broken.append(f"{path}: {name}: nothing reads its value, but its row has none of {', '.join(FLAGS)}")
        if acting and flags:
            broken.append(f"{path}: {name}: {acting[0]} reads its value, but its row has {flags[0]}")
        if len(flags) > 1:
            broken.append(f"{path}: {name}: {' and '.join(flags)} exclude each other")
    if not rows:
        broken.append("src/server: no rows of directives were found")
    return Verdict(f"{len(rows)} directives, {without} of them without effect as their rows say", broken)


def is_table(tree, path):
    return not path.endswith("_test.cc") and TABLE.search(tree.text(path)) is not None


def may_act(tree, path):
    """Not the table, the values themselves, and the functions that parse and show them; not tests."""
    if path.endswith(("_test.cc", "_fuzz.cc")) or is_table(tree, path):
        return False
    return path != "src/server/options.h" and not path.startswith("src/server/option_special.")


def rows_of(tree, path, groups):
    """(path, name, flags that say it has no effect, fields) of each row."""
    for name, body in ROW.findall(tree.text(path)):
        fields = [field_of(steps) for steps in PATH.findall(body)]
        special = SPECIAL.search(body)
        if special:
            fields = fields_of_special(tree, special.group(1), groups)
        yield path, name, [flag for flag in FLAGS if re.search(rf"\b{flag}\b", body)], fields


def field_of(steps):
    """Of "&Options::tls, &TlsOptions::port"; the first step names the group, the last one struct and member."""
    steps = [step.strip()[1:].rpartition("::") for step in steps.split(",")]
    group = steps[0][2] if steps[0][0] == "Options" else None
    return Field(group, steps[-1][0], steps[-1][2])


def fields_of_special(tree, kind, groups):
    """The fields that the function reads that shows the value."""
    show = dict(SPECIAL_FUNCTIONS.findall(tree.text("src/server/option_special.h")))[kind]
    body = re.search(rf"^std::string {show}\(.*?^}}", tree.text("src/server/option_special.cc"), re.DOTALL | re.MULTILINE)
    text = body.group()
    for name, group in re.findall(r"(\w+) = options\.(\w+);", text):
        text = re.sub(rf"\b{name}\.", f"options.{group}.", text)
    found = sorted(set(re.findall(r"\boptions\.(\w+)\.(\w+)", text)))
    return [Field(group, groups[group], member) for group, member in found]


def reads(tree, path, groups, own, field):
    """As options.group.member, or as a member of something that the file knows under a name of the group's type. A
    component's struct is handed over whole: there every use of the name counts."""
    if field.name in ONLY_LOOKS.get(path, ()):
        return False
    text = tree.text(path)
    if field.struct not in own:
        return re.search(rf"^struct {field.struct}\b", text, re.MULTILINE) is None
    group, member = field.group, field.member
    if re.search(rf"\b{group}(?:\(\))?(?:\.|->){member}\b", text):
        return True
    types = [groups[group]] + (["TlsSettings"] if group == "tls" else [])
    names = {name for kind in types for name in re.findall(rf"\b{kind}&? (\w+)\b", text)}
    names |= set(re.findall(rf"\b(\w+) = [\w.>()-]*\b{group}(?:\(\))?;", text))
    return any(re.search(rf"\b{name}\.{member}\b", text) for name in names)
