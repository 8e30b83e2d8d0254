"""Holds this repository's own rules, those that clang-format, ruff and mypy do not know.

Usage: scripts/house/lint_kernels.py [ROOT]

Prints one line per problem, `path:line: rule: message`, and fails if there is any. A rule is
broken on purpose with a comment on the line or on the one above, or for `file-size` among the
first ten lines: `lint: allow RULE: reason`. Each rule is a function below; RULES lists them.
"""

from __future__ import annotations

import ast
import fnmatch
import json
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # the tree this script belongs to

from gpu_envs.building import rules
from gpu_envs.building.rules import ALLOW, LIBM, NO_LIBM, occurrences
from gpu_envs.terminal import broken_pipes
from scripts.house import package_rooms, plain_words, rooms, wrap_pages
from scripts.house.sources import File, Tree, functions_of, read_tree

MAX_CPP_FILE, MAX_CPP_FUNCTION = 800, 120
MAX_PYTHON_MODULE, MAX_PYTHON_FUNCTION = 600, 80
MAX_PARAMETERS = 8
MAX_COLUMNS = 100  # of C++, comments included, which clang-format leaves as they are
MAX_ENVIRONMENT_HEADER, MAX_ENVIRONMENT_FOLDER = 350, 900
UNCOUNTED = set(
    "layout presets settings picture pictures scene symmetries text".split()
)  # run on the host
MAX_VARIABLES = 6
VARIABLES_PAGE = "docs/use.md"

COUNTED_FOLDERS = (  # by columns
    "kernels/bindings",
    "kernels/engine",
    "kernels/envs",
    "kernels/geometry",
    "kernels/learning",
    "tests",
)
# Compiled for both machines.
RULE_FOLDERS = ("envs", "geometry", "learning", "physics", "spatial", "voxel", "pictures")

MACHINE_TEST = re.compile(
    r"^\s*#\s*(?:if|ifdef|ifndef|elif)\b.*\b(__CUDA\w*|__NVCC__|_WIN32|_MSC_VER|__GNUC__|__clang__|"
    r"__linux__|__APPLE__|__x86_64__|__aarch64__|__AVX\w*|__SSE\w*|__ARM\w*|__FMA__|GE_CUDA\w*|"
    r"GE_BLOCK|GE_LANES)\b"
)
MACHINE_FILES = (
    "kernels/engine/base/platform",
    "kernels/engine/cpu/",
    "kernels/engine/cuda/",
    "kernels/engine/checking/",
)
ATOMIC = re.compile(
    r"#\s*include\s*<atomic>|\bstd::atomic|\batomic[A-Z]\w*\s*\(|\b__(?:sync|atomic)_\w+|"
    r"\b__(?:shared__|syncthreads|syncwarp|shfl\w*|ballot\w*)\b"
)
# Names of values, in what would be a template's list of arguments, before another value.
TEMPLATE_LIKE = re.compile(r"(?<![\w:])[a-z]\w*<-?[a-z][\w.]*, -?[a-z][\w.]*> -? ?\w")
NEEDED_FLAGS = {  # said once, and used by both that compile
    "kernels/flags.txt": [r"^numbers:.* -ffp-contract=off\b", r"^nvcc:.* --fmad=false\b"],
    "kernels/cmake/flags.cmake": [r"GE_FLAGS_numbers"],
    "gpu_envs/building/toolchain.py": [r'_named\(.*"numbers"', r'_named\("nvcc"\)'],
}
FLAG_FILES = (".cmake", "CMakeLists.txt", "CMakePresets.json", "flags.txt", "setup.py")
FORBIDDEN_FLAGS = re.compile(r"-ffast-math|-Ofast|use_fast_math|-march=native|-funsafe-math\S*")

SYSTEM_FOLDERS = set("bin dev etc lib lib64 opt path proc run sys tmp usr var".split())
ABSOLUTE_PATH = re.compile(r"(?<![\w./~$*}\])>-])/([A-Za-z_][\w.-]*)/[\w.*-]+")
LEAVING_PATH = re.compile(r"(?<![\w./$}\"])(?:\.\./)+[\w.-]+")
HOST = re.compile(r"https?://([\w.-]+)")
KNOWN_HOSTS = {"arxiv.org", "doi.org", "github.com", "gymnasium.farama.org", "openai.com"}
KNOWN_HOSTS.add("minari.farama.org")
KNOWN_HOSTS |= {"pettingzoo.farama.org", "docs.nvidia.com", "keepachangelog.com"}
KNOWN_HOSTS |= {"creativecommons.org", "www.apache.org"}  # licences
KNOWN_HOSTS.add("www.w3.org")  # the name of a format: nobody fetches it
KNOWN_HOSTS.add("localhost")  # where the site is shown and tested

NAMED_PATH = re.compile(
    r"(?<![\w/.<>{}$\"'-])((?:kernels|gpu_envs|tests|scripts|docs|benchmarks|changes|\.ci)/[\w./*-]+)"
    r"(?![\w<{$-])"
)
ENVIRONMENT_ID = re.compile(r"gpu_envs/[A-Z]\w*-v\d+")
EXACT_ID = re.compile(r"(?:gpu_envs/)?[A-Z]\w*-v\d+")
GENERATED = {"gpu_envs/modules*", "gpu_envs/kernels*", "benchmarks/results/*"}
NAMED_TARGET = re.compile(r"(?:`|^\s*|&& )make ([a-z][\w-]*)", re.MULTILINE)
VARIABLE = re.compile(r"\bGPU_ENVS_[A-Z_]+\b")
MEASURING = {"GPU_ENVS_CUDA_LANES", "GPU_ENVS_CUDA_LINES"}  # what `build -h` says suffices
TESTING = (
    "GPU_ENVS_CUDA_RUNTIME"  # of an executor for tests, as are the settings of its interpreter
)
OF_THE_INTERPRETER = "GPU_ENVS_PTX_"
BUILDER = "gpu_envs/building"  # runs before the package or anything else is installed


@dataclass(frozen=True)
class Problem:
    """One line of the report."""

    path: str
    line: int
    rule: str
    message: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.rule}: {self.message}"


def file_sizes(tree: Tree) -> Iterator[Problem]:
    """No file longer than anyone reads."""
    for file in tree.files:
        suffix = Path(file.path).suffix
        limit = {
            ".py": MAX_PYTHON_MODULE,
            ".hpp": MAX_CPP_FILE,
            ".cpp": MAX_CPP_FILE,
            ".cu": MAX_CPP_FILE,
        }
        if len(file.lines) > limit.get(suffix, len(file.lines)):
            yield Problem(
                file.path, 1, "file-size", f"{len(file.lines)} lines (at most {limit[suffix]})"
            )
    for stem, files in tree.environments().items():
        entry = next((file for file in files if file.parts[-1] == f"{stem}.hpp"), files[0])
        counted = [file for file in files if Path(file.path).stem not in UNCOUNTED]
        total = sum(len(file.lines) for file in counted)
        single = len(files) == 1 and len(entry.parts) in (3, 5)  # a header, or a task
        most = MAX_ENVIRONMENT_HEADER if single else MAX_ENVIRONMENT_FOLDER
        if total > most:
            advice = "make it a folder" if single else "the engine lacks a service"
            message = f"{stem}: {total} lines of rules (at most {most}): {advice}"
            yield Problem(entry.path, 1, "file-size", message)


def function_sizes(tree: Tree) -> Iterator[Problem]:
    """No function longer than a screen or two, none with a row of parameters."""
    for file in tree.under("kernels", "tests"):
        for function in functions_of(file.text):
            lines = function.last_line - function.first_line + 1
            if lines > MAX_CPP_FUNCTION:
                message = f"{function.name} has {lines} lines (at most {MAX_CPP_FUNCTION})"
                yield Problem(file.path, function.first_line, "function-size", message)
            is_system = function.parameters and "World" in function.parameters[0]
            if len(function.parameters) > MAX_PARAMETERS and not is_system:
                message = f"{function.name} has {len(function.parameters)}: pass a struct"
                yield Problem(file.path, function.first_line, "parameters", message)
    for file in tree.files:
        if not file.path.endswith(".py"):
            continue
        try:
            tree_of_file = ast.parse(file.text)
        except SyntaxError as problem:
            yield Problem(file.path, problem.lineno or 1, "syntax", str(problem.msg))
            continue
        for node in ast.walk(tree_of_file):
            if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                continue
            lines = (node.end_lineno or node.lineno) - node.lineno + 1
            if lines > MAX_PYTHON_FUNCTION:
                message = f"{node.name} has {lines} lines (at most {MAX_PYTHON_FUNCTION})"
                yield Problem(file.path, node.lineno, "function-size", message)
            names = [argument.arg for argument in node.args.posonlyargs + node.args.args]
            count = len([name for name in names if name not in ("self", "cls")])
            if count > MAX_PARAMETERS:
                message = f"{node.name} has {count} positional ones: make options keyword-only"
                yield Problem(file.path, node.lineno, "parameters", message)


def columns(tree: Tree) -> Iterator[Problem]:
    """No line of C++ wider than the page."""
    for file in tree.under(*COUNTED_FOLDERS, suffixes=(".hpp", ".cpp", ".cu", ".c")):
        for number, line in enumerate(file.lines, start=1):
            if len(line) > MAX_COLUMNS:
                message = f"{len(line)} columns (at most {MAX_COLUMNS})"
                yield Problem(file.path, number, "columns", message)


def pages(tree: Tree) -> Iterator[Problem]:
    """Pages are wrapped."""
    for page in wrap_pages.pages_of(tree.root):
        lines = page.read_text(encoding="utf-8").splitlines()
        for number, line in enumerate(wrap_pages.wrapped("\n".join(lines)).splitlines()):
            if number >= len(lines) or lines[number] != line:
                path = page.relative_to(tree.root).as_posix()
                message = "not wrapped at 100 columns: `make fmt` does it"
                yield Problem(path, number + 1, "wrapped", message)
                break


def plain_words_only(tree: Tree) -> Iterator[Problem]:
    """No place has more phrases that are foreign to read than its recorded number."""
    found, most = list(plain_words.search(tree)), plain_words.allowed()
    for place, count in plain_words.counts(found).items():
        limit = most.get(place, 0)
        if count <= limit:
            continue
        own = [one for one in found if one.place == place]
        for one in own[:1] if limit else own:
            what = f"{count} phrases in {place} (at most {limit})" if limit else one.phrase
            how = f"`scripts/house/plain_words.py --list '{place}'` names all: mend as many"
            yield Problem(one.path, one.line, "plain-words", f"{what}; {how}")


def include_direction(tree: Tree) -> Iterator[Problem]:
    """Includes run down, as the table of rooms says."""
    for file in tree.under("kernels"):
        path = file.path.removeprefix("kernels/")
        for number, target in rooms.includes(file):
            if rooms.row_of(path) is None or rooms.allows(path, target):
                continue
            message = f"{rooms.room_of(path)} may not include {rooms.room_of(target)}"
            if rooms.row_of(target) is None or ".." in target:
                message = f'"{target}" is not a path from kernels/ into a room'
            yield Problem(file.path, number, "include-direction", message)


def rooms_known(tree: Tree) -> Iterator[Problem]:
    """Every folder is a room of the table, and the table has an order."""
    for fault in rooms.faults():
        yield Problem("scripts/house/rooms.py", 1, "rooms", fault)
    for file in tree.under("kernels"):
        if rooms.row_of(file.path.removeprefix("kernels/")) is None:
            yield Problem(file.path, 1, "rooms", "scripts/house/rooms.py has no such room")


def package_imports(tree: Tree) -> Iterator[Problem]:
    """Imports of the package run down, as its table of rooms says, and in no circle."""
    for path, line, message in package_rooms.problems_of(tree):
        yield Problem(path, line, "package-rooms", message)


def search(
    files: list[File], pattern: re.Pattern[str], rule: str, message: str
) -> Iterator[Problem]:
    """One problem per line of code on which the pattern occurs."""
    for file in files:
        for number, words in occurrences(file.text, pattern):
            yield Problem(file.path, number, rule, f"`{words}`: {message}")


def machine_tests(tree: Tree) -> Iterator[Problem]:
    """Only the engine knows which machine runs, and in it only `platform*.hpp` and executors."""
    rules, engine = [], []
    for file in tree.under("kernels"):
        if file.parts[1] != "engine":
            rules.append(file)
        elif not file.path.startswith(MACHINE_FILES):
            engine.append(file)
    yield from search(rules, MACHINE_TEST, "machine-test", "only the engine asks for the machine")
    advice = "ask platform.hpp for a service with one meaning"
    yield from search(engine, MACHINE_TEST, "machine-test", advice)


def numbers(tree: Tree) -> Iterator[Problem]:
    """Equal bits everywhere: our own functions instead of libm's, nothing that depends on order."""
    files = tree.under(*(f"kernels/{folder}" for folder in RULE_FOLDERS))
    yield from search(files, LIBM, "libm", NO_LIBM)
    yield from search(files, ATOMIC, "atomic", "rules never synchronise: use a stage of the engine")


def flags(tree: Tree) -> Iterator[Problem]:
    """The numeric compiler flags stand, in the build files and in what the build really ran."""
    texts = {file.path: file.text for file in tree.files}
    for path, needed in NEEDED_FLAGS.items():
        for pattern in needed:
            if not re.search(pattern, texts.get(path, ""), re.MULTILINE):
                yield Problem(
                    path, 1, "flags", f"nothing is like {pattern}: results would differ by machine"
                )
    for file in tree.files:
        if not file.path.endswith(FLAG_FILES) and not file.path.startswith(BUILDER + "/"):
            continue
        for number, line in enumerate(file.lines, start=1):
            found = FORBIDDEN_FLAGS.search(line)
            if found:
                yield Problem(file.path, number, "flags", f"{found.group()} changes results")
    commands = tree.root / "build/dev/compile_commands.json"
    if commands.exists():
        for entry in json.loads(commands.read_text()):
            if "-ffp-contract=off" not in entry["command"]:
                yield Problem(
                    Path(entry["file"]).name, 1, "flags", "compiled without -ffp-contract=off"
                )


def builder(tree: Tree) -> Iterator[Problem]:
    """The builder needs Python alone: the standard library and itself."""
    for file in tree.under(BUILDER, suffixes=(".py",)):
        for node in ast.walk(ast.parse(file.text)):
            names: list[str] = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                names = [node.module or ""] if node.level == 0 else [".."] * (node.level > 1)
            for name in names:
                if name.partition(".")[0] not in sys.stdlib_module_names:
                    message = f"{name or '..'} is neither of the standard library nor of it"
                    yield Problem(file.path, node.lineno, "builder", message)


def comparisons(tree: Tree) -> Iterator[Problem]:
    """Two comparisons are laid out as such: clang-format takes `a < b, c > d` for a template."""
    advice = "turn one comparison round, or it is laid out as a template"
    files = tree.under("kernels", "tests/kernels", "examples")
    yield from search(files, TEMPLATE_LIKE, "comparison", advice)


def bindings(tree: Tree) -> Iterator[Problem]:
    """The bindings are generic: no environment is named there."""
    for stem in tree.environments():
        pattern = re.compile(rf"\b{stem}\b", re.IGNORECASE)
        files = tree.under("kernels/bindings")
        yield from search(files, pattern, "bindings", "no environment is named in the bindings")


def environment_ids(tree: Tree) -> Iterator[Problem]:
    """The package names no environment: what is known of one is data beside its header."""
    for file in tree.under("gpu_envs", suffixes=(".py",)):
        for node in ast.walk(ast.parse(file.text)):
            if isinstance(node, ast.Constant) and EXACT_ID.fullmatch(str(node.value)):
                message = f"{node.value} belongs into data (docs/measures.md)"
                yield Problem(file.path, node.lineno, "environment-id", message)


def stale_names(tree: Tree) -> Iterator[Problem]:
    """Paths and make targets that text names exist; a result keeps the command of its day."""
    makefile = next((file.text for file in tree.files if file.path == "Makefile"), "")
    targets = {
        name
        for line in re.findall(r"^([a-z][\w -]*):", makefile, re.MULTILINE)
        for name in line.split()
    }
    for file in tree.files:
        own = ("scripts/lint_kernels", "CHANGELOG", "benchmarks/results/", "tests/")
        if file.path.startswith(own):
            continue
        for number, line in enumerate(file.lines, start=1):
            for path in NAMED_PATH.findall(ENVIRONMENT_ID.sub("", line)):
                path = path.rstrip("./")
                if not any(fnmatch.fnmatch(path, known) for known in GENERATED) and not any(
                    tree.root.glob(path)
                ):
                    yield Problem(file.path, number, "stale-path", f"{path} does not exist")
        if file.path.endswith(".md"):
            for found in NAMED_TARGET.finditer(file.text):
                if found[1] not in targets:
                    number = file.text.count("\n", 0, found.start(1)) + 1
                    yield Problem(
                        file.path, number, "stale-target", f"make {found[1]} does not exist"
                    )


def foreign_names(tree: Tree) -> Iterator[Problem]:
    """Nothing names a developer's folders, files outside the repository, or hosts nobody knows."""
    for file in tree.files:
        if "lint_kernels" in file.path:  # the rule and its test have to spell examples
            continue
        for number, line in enumerate(file.lines, start=1):
            for found in ABSOLUTE_PATH.finditer(line):
                if found[1] not in SYSTEM_FOLDERS and not (
                    line[: found.start()].endswith(("http:", "https:"))
                ):
                    yield Problem(
                        file.path,
                        number,
                        "foreign-path",
                        f"{found.group()} exists on one machine only",
                    )
            for found in LEAVING_PATH.finditer(line):
                up = found.group().count("../")
                if up > len(file.parts) - 1 and file.path.endswith(
                    (".md", ".py", ".hpp", ".cpp", ".cu")
                ):
                    yield Problem(
                        file.path, number, "foreign-path", f"{found.group()} leaves the repository"
                    )
            for host in HOST.findall(line):
                if host not in KNOWN_HOSTS:
                    yield Problem(
                        file.path, number, "foreign-host", f"{host} is not among the known hosts"
                    )


def variables(tree: Tree) -> Iterator[Problem]:
    """Few environment variables change behaviour, and one page lists them."""
    page = next((file.text for file in tree.files if file.path == VARIABLES_PAGE), "")
    first: dict[str, tuple[str, int]] = {}
    for file in tree.files:
        if file.parts[0] == "tests" or file.path == VARIABLES_PAGE:
            continue
        for number, line in enumerate(file.lines, start=1):
            for name in VARIABLE.findall(line):
                first.setdefault(name, (file.path, number))
    first = {name: at for name, at in first.items() if not name.startswith(OF_THE_INTERPRETER)}
    for name, (path, number) in first.items():
        if name not in page and name not in MEASURING:
            yield Problem(path, number, "variables", f"{name} is not described in {VARIABLES_PAGE}")
    counted = first.keys() - MEASURING - {TESTING}
    if len(counted) > MAX_VARIABLES:
        names = ", ".join(sorted(counted))
        yield Problem(VARIABLES_PAGE, 1, "variables", f"{names}: at most {MAX_VARIABLES}")


RULES: list[Callable[[Tree], Iterator[Problem]]] = [
    file_sizes,
    function_sizes,
    columns,
    pages,
    plain_words_only,
    include_direction,
    rooms_known,
    package_imports,
    machine_tests,
    numbers,
    flags,
    builder,
    comparisons,
    bindings,
    environment_ids,
    stale_names,
    foreign_names,
    variables,
]


def allows(file: File, rule: str, line: int) -> bool:
    """Whether a comment lifts `rule` for the 1-based `line`."""
    if rule == "file-size":
        return any(rule in ALLOW.findall(text) for text in file.lines[:10])
    return rules.allows(file.lines, rule, line)


def lint(root: Path) -> list[Problem]:
    """All problems of a tree that no comment allows."""
    tree = read_tree(root)
    files = {file.path: file for file in tree.files}
    problems = [problem for rule in RULES for problem in rule(tree)]
    return [
        problem
        for problem in problems
        if problem.path not in files or not allows(files[problem.path], problem.rule, problem.line)
    ]


def main() -> int:
    """Lint the repository, or the folder in the first argument."""
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parents[2]
    problems = lint(root)
    for problem in problems:
        print(problem)
    print(f"lint_kernels: {len(problems)} problem{'' if len(problems) == 1 else 's'}")
    return 1 if problems else 0


if __name__ == "__main__":
    broken_pipes.end_quietly()
    sys.exit(main())
