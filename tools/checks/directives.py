"""Directives that nothing acts on: their rows say so, and only theirs.

A row of src/server/option_table_*.cc names the field of Options where its value lives. A field that no other code reads has
no effect, so the row carries kNoEffectYet, kNeedless or kUnsupported; a row that carries one of them has a field that
nothing reads but the code listed here, which does not act on it.
"""

import os
import re

from checks.text import Verdict

FLAGS = ("kNoEffectYet", "kNeedless", "kUnsupported")

# Readers that show a value, bring it into range, or compare it with another: none of them makes the directive act.
ONLY_LOOKS = {
    # Says that there is no test.
    "src/server/crash_witness.cc": {"logging.crash_memcheck"},
    "src/server/config_file.cc": {"cluster.enabled", "replication.primary_host", "replication.backlog_bytes"},
    "src/server/info_sections_server.cc": {"cluster.enabled", "replication.backlog_bytes"},
    "src/server/process_title.cc": {"cluster.enabled"},
    # Keys are loaded for connections that nothing opens yet.
    "src/server/tls_door.cc": {"tls.replication", "tls.cluster"},
}

GROUP = re.compile(r"^  (\w+Options) (\w+);$", re.MULTILINE)
ROW = re.compile(r'\{\.name = "([^"]+)",(.*?)\.help =', re.DOTALL)
FIELD = re.compile(r"&Options::(\w+),\s*&\w+::(\w+)>")
MEMBER = re.compile(r"[.>](\w+)")
SPECIAL = re.compile(r"\.kind = k(\w+)Kind\b")
SPECIAL_FUNCTIONS = re.compile(r"SpecialKind k(\w+)Kind\{&\w+,\s*&(\w+),")


def check_directives(tree):
    groups = {name: kind for kind, name in GROUP.findall(tree.text("src/server/options.h"))}
    rows = [row for path in tree.sources if is_table(path) for row in rows_of(tree, path)]
    members = {path: set(MEMBER.findall(tree.text(path))) for path in tree.sources if may_act(path)}
    broken, without = [], 0
    for path, name, flags, fields in rows:
        if not fields:
            broken.append(f"{path}: {name}: the field of its value was not found")
        acting = [
            reader
            for reader, named in members.items()
            if any(field.split(".")[1] in named and reads(tree, reader, groups, field) for field in fields)
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


def is_table(path):
    return path.startswith("src/server/option_table_") and not path.endswith("_test.cc")


def may_act(path):
    """Not the table, the values themselves, and what parses and shows them; not tests."""
    if path.endswith(("_test.cc", "_fuzz.cc")) or is_table(path):
        return False
    return path != "src/server/options.h" and not path.startswith("src/server/option_special.")


def rows_of(tree, path):
    """(path, name, flags that say it has no effect, fields as "group.member") of each row."""
    for name, body in ROW.findall(tree.text(path)):
        fields = [".".join(field) for field in FIELD.findall(body)]
        special = SPECIAL.search(body)
        if special:
            fields = fields_of_special(tree, special.group(1))
        yield path, name, [flag for flag in FLAGS if re.search(rf"\b{flag}\b", body)], fields


def fields_of_special(tree, kind):
    """What the function that shows the value looks at."""
    show = dict(SPECIAL_FUNCTIONS.findall(tree.text("src/server/option_special.h")))[kind]
    body = re.search(rf"^std::string {show}\(.*?^}}", tree.text("src/server/option_special.cc"), re.DOTALL | re.MULTILINE)
    text = body.group()
    for name, group in re.findall(r"(\w+) = options\.(\w+);", text):
        text = re.sub(rf"\b{name}\.", f"options.{group}.", text)
    return sorted({".".join(field) for field in re.findall(r"\boptions\.(\w+)\.(\w+)", text)})


def reads(tree, path, groups, field):
    """As options.group.member, or as a member of something that the file knows under a name of the group's type."""
    if field in ONLY_LOOKS.get(path, ()):
        return False
    text = tree.text(path)
    group, member = field.split(".")
    if re.search(rf"\b{group}(?:\(\))?(?:\.|->){member}\b", text):
        return True
    types = [groups[group]] + (["TlsSettings"] if group == "tls" else [])
    names = {name for kind in types for name in re.findall(rf"\b{kind}&? (\w+)\b", text)}
    names |= set(re.findall(rf"\b(\w+) = [\w.>()-]*\b{group}(?:\(\))?;", text))
    return any(re.search(rf"\b{name}\.{member}\b", text) for name in names)
