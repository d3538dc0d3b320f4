"""Checks that only read: format, includes, length, READMEs, words, scripts."""

import ast
import os
import re
import subprocess
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

MAX_FILE_LINES = 800
MAX_FUNCTION_LINES = 70
MAX_README_LINES = 15


@dataclass
class Verdict:
    summary: str
    broken: list = field(default_factory=list)
    warnings: list = field(default_factory=list)


# ---------------------------------------------------------------- format


def check_format(tree):
    def one(path):
        done = subprocess.run(
            ["clang-format", "--dry-run", "-Werror", path], cwd=tree.root, capture_output=True, text=True, check=False
        )
        first = next((line for line in done.stderr.splitlines() if "error:" in line), "")
        return f"{first.split(' error:')[0] or path} run clang-format -i" if done.returncode else None

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        broken = [line for line in pool.map(one, tree.sources) if line]
    return Verdict(f"{len(tree.sources)} files are as clang-format writes them", broken)


# ---------------------------------------------------------------- includes


def check_includes(tree):
    """The table of rooms is law: a file includes its own room, base, and what its room's row names."""
    rooms, broken, count = tree.rooms, [], 0
    seen = set()
    for room, uses in rooms.items():  # The order of the table is the order of dependency, so there are no cycles.
        broken += [f"cmake/rooms.table: {room} uses {u}, which does not stand above it" for u in uses if u not in seen]
        seen.add(room)
    for path in tree.sources:
        parts = path.split("/")
        room = parts[1]
        if len(parts) < 3:
            broken.append(f"{path}: stands in no room")
            continue
        if room not in rooms:
            broken.append(f"{path}: {room} is not in cmake/rooms.table")
            continue
        for include in tree.includes(path):
            count += 1
            used = include.split("/")[0]
            if "/" not in include:
                broken.append(f'{path}: write #include "{room}/{include}", from the root of src/')
            elif used not in rooms:
                broken.append(f"{path}: {include} is in no room (foreign headers go in <>)")
            elif used not in (room, "base") and used not in rooms[room]:
                broken.append(f"{path}: {room} may not include {include}")
            elif not os.path.exists(os.path.join(tree.root, "src", include)):
                broken.append(f"{path}: {include} does not exist")
    return Verdict(f"{count} includes follow cmake/rooms.table", broken)


# ---------------------------------------------------------------- length

STRIPPED = re.compile(
    r'R"(?P<tag>[^()\s]*)\(.*?\)(?P=tag)"'
    r'|"(?:\\.|[^"\\\n])*"'
    r"|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'"
    r"|//[^\n]*|/\*.*?\*/",
    re.DOTALL,
)
NOT_FUNCTION = re.compile(r"^\s*(namespace|class|struct|enum|union|extern|using)\b|=\s*\{?$|\bstruct\b.*\{$")


def check_length(tree):
    broken, warnings = [], []
    for path in tree.sources:
        text = tree.text(path)
        lines = text.count("\n")
        if lines > MAX_FILE_LINES:
            broken.append(f"{path}: {lines} lines, at most {MAX_FILE_LINES}")
        for line, length in long_functions(text):
            warnings.append(f"{path}:{line}: a function of {length} lines, at most {MAX_FUNCTION_LINES}")
    return Verdict(f"files have at most {MAX_FILE_LINES} lines, {len(warnings)} functions are too long", broken, warnings)


def long_functions(text):
    """(line, length) of functions over the limit, by a rough measure: the braces opened by a line with a parameter list."""
    # Comments and literals are blanked, their line ends kept.
    text = STRIPPED.sub(lambda m: re.sub(r"[^\n]", " ", m.group()), text)
    depth, open_functions, previous = 0, [], ""
    for number, line in enumerate(text.split("\n"), 1):
        stripped = line.rstrip()
        head = (previous + " " + stripped.strip()).strip()
        indented = len(line) - len(line.lstrip())
        starts = stripped.endswith("{") and ")" in head and indented <= 4 and not NOT_FUNCTION.search(head)
        if starts and not open_functions and not re.match(r"\s*(if|for|while|switch|else|do|catch|\})", line):
            open_functions.append((number, depth))
        depth += line.count("{") - line.count("}")
        if open_functions and depth <= open_functions[-1][1]:
            start, _ = open_functions.pop()
            if number - start + 1 > MAX_FUNCTION_LINES:
                yield start, number - start + 1
        previous = "" if stripped.endswith((";", "}", "{", ":")) or not stripped else stripped.strip()


# ---------------------------------------------------------------- READMEs


def check_readmes(tree):
    broken, count = [], 0
    for top in ("src", "tests"):
        for name in sorted(os.listdir(os.path.join(tree.root, top))):
            folder = os.path.join(tree.root, top, name)
            if not os.path.isdir(folder) or name.startswith(("_", ".")):
                continue
            if not any(not n.startswith((".", "__")) for n in os.listdir(folder)):
                continue  # An empty folder is nothing in the repository.
            readme = os.path.join(folder, "README.md")
            if not os.path.exists(readme):
                broken.append(f"{top}/{name}: has no README.md")
                continue
            count += 1
            lines = tree.text(os.path.relpath(readme, tree.root)).count("\n")
            if lines > MAX_README_LINES:
                broken.append(f"{top}/{name}/README.md: {lines} lines, at most {MAX_README_LINES}")
    return Verdict(f"{count} folders have a README of at most {MAX_README_LINES} lines", broken)


# ---------------------------------------------------------------- words

# Spelled in pieces, so that this file does not find itself.
UNFINISHED = re.compile(r"\b(TO" r"DO|FIX" r"ME|XX" r"X)\b")
MACHINE_PATHS = re.compile(r"(?<![\w.}])/(wo" r"rk|ro" r"ot|ho" r"me)/\w")


def check_words(tree):
    broken = []
    tracked = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=tree.root,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    for path in sorted(set(tracked)):
        full = os.path.join(tree.root, path)
        if not os.path.isfile(full) or os.path.getsize(full) > 1 << 20:
            continue
        with open(full, "rb") as file:
            data = file.read()
        if b"\0" in data:
            continue
        for number, line in enumerate(data.decode("utf-8", "replace").split("\n"), 1):
            if path.startswith("src/") and UNFINISHED.search(line):
                broken.append(f"{path}:{number}: unfinished work is finished or left out, not marked")
            if MACHINE_PATHS.search(line):
                broken.append(f"{path}:{number}: names a folder of one machine")
    return Verdict(f"{len(tracked)} files without marks of unfinished work", broken)


# ---------------------------------------------------------------- scripts


def check_scripts(tree):
    """Python parses and bash parses; a broken helper is found before the day it is needed."""
    broken, count = [], 0
    for top in ("tools", "tests"):
        for folder, folders, names in os.walk(os.path.join(tree.root, top)):
            folders[:] = [f for f in folders if f not in ("node_modules", "__pycache__")]
            for name in sorted(n for n in names if n.endswith(".py")):
                path = os.path.relpath(os.path.join(folder, name), tree.root)
                count += 1
                try:
                    ast.parse(tree.text(path), path)
                except SyntaxError as error:
                    broken.append(f"{path}:{error.lineno}: {error.msg}")
    for path in ("dev", ".ci/run"):
        count += 1
        done = subprocess.run(["bash", "-n", path], cwd=tree.root, capture_output=True, text=True, check=False)
        if done.returncode:
            broken.append(done.stderr.strip())
        if not os.access(os.path.join(tree.root, path), os.X_OK):
            broken.append(f"{path}: is not executable")
    return Verdict(f"{count} scripts parse", broken)
