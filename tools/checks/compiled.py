"""Checks that need the compiler or its output: self-contained headers, process-wide state, clang-tidy."""

import hashlib
import json
import os
import re
import subprocess
from concurrent.futures import ThreadPoolExecutor

from checks.text import Verdict

# ---------------------------------------------------------------- headers

COMPILE = ["g++", "-std=c++20", "-fno-rtti", "-Wall", "-Wextra", "-Werror", "-Isrc"]


def check_headers(tree):
    """A header compiles alone. x.cc that includes x.h before all else proves it in every build; the others are compiled."""
    cache_path = os.path.join(tree.build, "check-cache", "headers.json")
    try:
        with open(cache_path, encoding="utf-8") as file:
            cache = set(json.load(file))
    except (OSError, ValueError):
        cache = set()
    headers = [h for h in tree.headers if not proved_by_source(tree, h)]
    keys = {h: closure_hash(tree, h) for h in headers}
    todo = [h for h in headers if keys[h] not in cache]

    def compile_alone(header):
        # Through another file, as #pragma once in the main file is a warning.
        program = f'#include "{header[len("src/"):]}"\n'
        done = subprocess.run(
            [*COMPILE, "-fsyntax-only", "-x", "c++", "-"],
            cwd=tree.root,
            input=program,
            capture_output=True,
            text=True,
            check=False,
        )
        first = next((line for line in done.stderr.splitlines() if "error" in line), done.stderr[:200])
        return header, done.returncode == 0, first

    broken = []
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for header, good, error in pool.map(compile_alone, todo):
            if good:
                cache.add(keys[header])
            else:
                broken.append(f"{header}: {error}")
    os.makedirs(os.path.dirname(cache_path), exist_ok=True)
    with open(cache_path, "w", encoding="utf-8") as file:
        json.dump(sorted(cache & set(keys.values())), file)
    proved = len(tree.headers) - len(headers)
    return Verdict(f"{len(tree.headers)} headers stand alone, {proved} proved by the build, {len(todo)} compiled now", broken)


def proved_by_source(tree, header):
    source = header[:-2] + ".cc"
    if source not in tree.sources:
        return False
    first = re.search(r'^\s*#\s*include\s+(["<][^">]+)', tree.text(source), re.MULTILINE)
    return bool(first) and first.group(1) == '"' + header[len("src/") :]


def closure_hash(tree, header):
    """Of the header, all that it includes from src/, and how it is compiled."""
    seen, todo = set(), [header]
    while todo:
        path = todo.pop()
        if path in seen or path not in tree.sources:
            continue
        seen.add(path)
        todo += ["src/" + include for include in tree.includes(path)]
    digest = hashlib.sha256(" ".join(COMPILE).encode())
    for path in sorted(seen):
        digest.update(path.encode() + b"\0" + tree.text(path).encode() + b"\0")
    return digest.hexdigest()


# ---------------------------------------------------------------- state

MUTABLE = re.compile(r"^\.(data(?!\.rel\.ro)|bss|tbss|tdata|sdata|sbss)")
FOREIGN = re.compile(r"@GLIBC|^(DW\.ref\..*|completed\.0|__TMC_END__|__dso_handle|__cpu_model|__cpu_features2)$")
ALLOWED = "tools/state_allowed.txt"


def check_state(tree):
    """No process-wide mutable state: nothing in our programs lies in a writable section, thread-local or not."""
    folder = os.path.join(tree.build, "bin")
    programs = sorted(n for n in os.listdir(folder) if n.startswith("sorrel-")) if os.path.isdir(folder) else []
    if not programs:
        return Verdict("needs a build", [f"no programs in {folder}: run ./dev build"])
    allowed, broken = read_allowed(tree), []
    used = set()
    for program in programs:
        for section, symbol in writable_symbols(os.path.join(folder, program)):
            match = next((pattern for pattern in allowed if re.search(pattern, symbol)), None)
            if match:
                used.add(match)
            else:
                broken.append(f"{program}: {symbol} lies in {section}")
    broken += [f"{ALLOWED}: nothing matches {p!r} any more" for p in allowed if p not in used]
    return Verdict(f"{len(programs)} programs hold no mutable state, {len(used)} argued exceptions", broken)


def read_allowed(tree):
    """Lines "expression : reason"; a line without a reason is refused by being no exception."""
    allowed = []
    for line in tree.text(ALLOWED).splitlines():
        pattern, colon, reason = line.partition(" : ")
        if colon and reason.strip() and not line.startswith("#"):
            allowed.append(pattern.strip())
    return allowed


def writable_symbols(program):
    """(section, name) of each, but for what the C library and the compiler bring."""
    out = subprocess.run(["readelf", "-SsW", program], capture_output=True, text=True, check=True).stdout
    sections, found = {}, []
    for line in out.splitlines():
        section = re.match(r"\s*\[\s*(\d+)\] (\S+)\s", line)
        if section:
            sections[section.group(1)] = section.group(2)
            continue
        symbol = re.match(r"\s*\d+: [0-9a-f]+\s+\S+\s+(OBJECT|TLS)\s+\S+\s+\S+\s+(\d+)\s+(\S+)", line)
        if symbol and not FOREIGN.search(symbol.group(3)) and MUTABLE.match(sections.get(symbol.group(2), "")):
            # What the link has made private has a number behind its name.
            found.append((sections[symbol.group(2)], re.sub(r"\.lto_priv\.\d+$", "", symbol.group(3))))
    names = demangle([name for _, name in found])
    return [(section, name) for (section, _), name in zip(found, names)]


def demangle(names):
    if not names:
        return []
    done = subprocess.run(["c++filt"], input="\n".join(names), capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


# ---------------------------------------------------------------- tidy


def check_tidy(tree, everything):
    """clang-tidy with the checks of .clang-tidy, over the changed sources (or all of them)."""
    files = [p for p in tree.sources if p.endswith(".cc")]
    if not everything:
        changed = subprocess.run(
            ["git", "status", "--porcelain"], cwd=tree.root, capture_output=True, text=True, check=True
        ).stdout
        last = subprocess.run(
            ["git", "diff", "--name-only", "HEAD~1"], cwd=tree.root, capture_output=True, text=True, check=False
        ).stdout
        names = {line[3:] for line in changed.splitlines()} | set(last.splitlines())
        files = [p for p in files if p in names or os.path.dirname(p) + "/" in names]

    # The build's own flags are g++'s; clang need not know them all.
    extra = ["--extra-arg=-Wno-unknown-warning-option", "--extra-arg=-Wno-ignored-optimization-argument"]

    def one(path):
        done = subprocess.run(
            ["clang-tidy", "--quiet", "-p", tree.build, *extra, path], cwd=tree.root, capture_output=True, text=True, check=False
        )
        return [line.replace(tree.root + "/", "") for line in done.stdout.splitlines() if re.search(r" (warning|error): ", line)]

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        broken = sorted({line for lines in pool.map(one, files) for line in lines})
    return Verdict(f"{len(files)} files", broken)
