"""Headers that nobody should build: each ends, is refused by name and cause, and leaves nothing."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from gpu_envs.building import kept, limits, places
from gpu_envs.commands import build
from gpu_envs.known import native, registration

COUNTER = (Path(__file__).parent / "counter.hpp").read_text()
RULE = "  total.sum = total.sum + 1.0f * float(action.amount);\n"
FIRST = '#include "engine/environment.hpp"\n'
SOON = 300.0  # [s]; all have ended long before, but machines may be busy
ENDLESS = "GE: it was ended"

Make = Callable[[Path], Path]


def _text(text: str, name: str = "counter.hpp") -> Make:
    def make(folder: Path) -> Path:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    return make


def _with(*lines: str) -> Make:
    """Counter with lines at its beginning."""
    return _text(COUNTER.replace(FIRST, FIRST + "\n".join(lines) + "\n"))


def _rule(line: str, *before: str) -> Make:
    """Counter with another line in its rule, which the optimiser cannot remove."""
    assert RULE in COUNTER
    text = COUNTER.replace(FIRST, "\n".join([FIRST, *before, ""]))
    return _text(text.replace(RULE, f"{RULE}  {line}\n"))


def _other(old: str, new: str) -> Make:
    assert old in COUNTER
    return _text(COUNTER.replace(old, new))


def _at(name: str, do: Callable[[Path], object], *lines: str) -> Make:
    """Counter beside something of that name."""

    def make(folder: Path) -> Path:
        do(folder / name)
        return _with(*lines)(folder)

    return make


def _is(do: Callable[[Path], object], name: str = "counter.hpp") -> Make:
    def make(folder: Path) -> Path:
        do(folder / name)
        return folder / name

    return make


def _sparse(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(1 << 40)


def _link(to: str) -> Callable[[Path], object]:
    return lambda path: path.symlink_to(to)


NOT_REGULAR = "it is not a regular file"
SELF = "is a link that leads to itself"
NO_NAME = "which no `#include` can name: rename the folder"
NO_IDENTIFIER = "name must be a C++ identifier"
UNITS = "kUnits of an environment is at most 8"
STEERED = "bits are equal on every machine, which this changes or reads"
AT_ONCE: dict[str, tuple[Make, str]] = {
    "an endless include": (
        _with('#include "/dev/zero"'),
        f"hpp:6: GE: `/dev/zero` is included, but {NOT_REGULAR}",
    ),
    "an endless include in angles": (_with("#include </dev/zero>"), NOT_REGULAR),
    "an include of a link to what is endless": (
        _at("two.hpp", _link("/dev/urandom"), '#include "two.hpp"'),
        NOT_REGULAR,
    ),
    "an include of a pipe": (_at("two.hpp", os.mkfifo, '#include "two.hpp"'), NOT_REGULAR),
    "an include of what waits": (_with('#include "/proc/kmsg"'), NOT_REGULAR),
    "an include that is too large": (
        _at("two.hpp", _sparse, '#include "two.hpp"'),
        "has more than",
    ),
    "a link to itself": (_is(_link("counter.hpp")), SELF),
    "a link to nothing": (_is(_link("nowhere.hpp")), "nowhere.hpp, which does not exist"),
    "a link to what is endless": (_is(_link("/dev/zero")), "is not a regular file"),
    "a folder": (_is(os.mkdir), "has no environment"),
    "a pipe": (_is(os.mkfifo), "is not a regular file"),
    "a file that is too large": (_is(_sparse), "it has more than 16 MiB"),
    "a double quote in the path": (_text(COUNTER, 'a"b/counter.hpp'), NO_NAME),
    "a line's end in the path": (_text(COUNTER, "a\nb/counter.hpp"), NO_NAME),
    "a tab in the path": (_text(COUNTER, "a\tb/counter.hpp"), NO_NAME),
    "a backslash before a space": (_text(COUNTER, "a\\ b/counter.hpp"), NO_NAME),
    "a path that is not UTF-8": (_text(COUNTER, "a\udcff/counter.hpp"), "is not UTF-8"),
    "a name with a dash": (_text(COUNTER, "my-env.hpp"), NO_IDENTIFIER),
    "a name that is a number": (_text(COUNTER, "2048.hpp"), NO_IDENTIFIER),
    "a name of many dots": (_text(COUNTER, "a.b.hpp"), NO_IDENTIFIER),
    "many units": (_with("constexpr int kUnits = 999999999;"), UNITS),
    "a number of units that has no end": (_with(f"constexpr int kUnits = {'9' * 9999};"), UNITS),
    "other flags": (_with('#pragma GCC optimize("fast-math")'), STEERED),
    "a function of other flags": (_with("__attribute__((optimize(3))) int f();"), STEERED),
    "an instruction's clock": (_rule("total.sum += float(__builtin_ia32_rdtsc());"), STEERED),
    "assembly": (_with('asm(".incbin \\"/dev/zero\\"");'), STEERED),
    "a function of libm": (_rule("total.sum += std::sin(total.sum);"), "use engine/maths/math.hpp"),
}

CHRONO = "reward.value = float(std::chrono::steady_clock::now().time_since_epoch().count());"
CLOCK = "time outside of the world differs from run to run: count steps in a column"
RANDOM = "it differs from run to run: use engine/random"
STATE = "it outlives a step, so batches and saves change results"
FORM = "which Gymnasium refuses: an id is <Name>-v<number> without a namespace"
GREEDY = "for (;;) std::memset(new char[1 << 24], 1, 1 << 24);"
CONSTRUCTOR = "__attribute__((constructor)) static void begin() {{ {} }}"
DOUBLING = (
    "template <int N, int M> struct Two { static constexpr int value = "
    "Two<N - 1, 2 * M>::value + Two<N - 1, 2 * M + 1>::value; };",
    "template <int M> struct Two<0, M> { static constexpr int value = 1; };",
    "static_assert(Two<28, 0>::value == 0);",
)
BOMB = ("#define A0 0,0,0,0", *(f"#define A{n + 1} A{n},A{n},A{n},A{n}" for n in range(16)))
QUICK = {"the time, behind a macro"}
COMPILED: dict[str, tuple[Make, str]] = {
    "the time": (
        _rule("reward.value = float(time(nullptr));", "#include <ctime>"),
        f"GE: the call of `time`: {CLOCK}",
    ),
    "the time, behind a macro": (
        _rule(
            "reward.value = float(NOW(nullptr));",
            "#include <ctime>",
            "#define GLUE(a, b) a##b",
            "#define NOW GLUE(ti, me)",
        ),
        f"GE: the call of `time`: {CLOCK}",
    ),
    "a clock": (_rule(CHRONO, "#include <chrono>"), f"GE: the call of `steady_clock`: {CLOCK}"),
    "another clock": (_rule("reward.value = float(clock());", "#include <ctime>"), CLOCK),
    "rand": (
        _rule("reward.value = float(std::rand());", "#include <cstdlib>"),
        f"GE: the call of `rand`: {RANDOM}",
    ),
    "a random device": (
        _rule("reward.value = float(std::random_device{}());", "#include <random>"),
        f"GE: the call of `random_device`: {RANDOM}",
    ),
    "the process's number": (
        _rule("reward.value = float(getpid());", "#include <unistd.h>"),
        "it differs from process to process",
    ),
    "the user's settings": (
        _rule('reward.value = std::getenv("HOME") ? 1.0f : 0.0f;', "#include <cstdlib>"),
        "it differs from process to process",
    ),
    "libm under another name": (
        _rule("total.sum = __builtin_sinf(total.sum);"),
        "the call of `sinf`: use engine/maths/math.hpp",
    ),
    "a variable of a function": (
        _rule("static int calls = 0; reward.value = float(++calls);"),
        f"GE: the variable `calls`: {STATE}",
    ),
    "a variable of a thread": (
        _rule("thread_local int calls = 0; reward.value = float(++calls);"),
        f"GE: the variable `calls`: {STATE}",
    ),
    "a global variable": (
        _rule("reward.value = float(++calls);", "inline int calls = 0;"),
        f"hpp:7: GE: the variable `calls`: {STATE}",
    ),
    "a variable of a class": (
        _rule(
            "reward.value = float(++Held::calls);", "struct Held { inline static int calls = 3; };"
        ),
        f"GE: the variable `calls`: {STATE}",
    ),
    "an id with a namespace": (
        _other('"Counter-v0"', '"mine/Task-v0"'),
        f"the id 'mine/Task-v0', {FORM}",
    ),
    "an id with a space": (_other('"Counter-v0"', '"My Env-v0"'), f"the id 'My Env-v0', {FORM}"),
    "an id of the package": (
        _other('"Counter-v0"', '"CartPole-v0"'),
        "defines CartPole-v0, which gpu_envs has already",
    ),
    "an id without a version": (
        _other('"Counter-v0"', '"Counter"'),
        "GE: an id is a name and a version",
    ),
    "two ids alike": (
        _other("Build<", 'Build<"Counter-v0", Environment>, Build<'),
        "GE: an id stands twice in Builds",
    ),
    "a text that is not UTF-8": (
        _other('"A number that grows."', '"\\xff\\xfe"'),
        "cannot be loaded",
    ),
    "an end while it is loaded": (
        _with("#include <cstdlib>", CONSTRUCTOR.format("std::_Exit(0);")),
        "cannot be loaded: it ended with 0",
    ),
    "a crash while it is loaded": (
        _with(CONSTRUCTOR.format("__builtin_trap();")),
        "cannot be loaded",
    ),
    "no end while it is loaded": (
        _with(CONSTRUCTOR.format("for (volatile int k = 0;;) k = 1;")),
        "cannot be loaded: it was stopped after 5 s",
    ),
    "too much memory while it is loaded": (
        _with("#include <cstring>", CONSTRUCTOR.format(GREEDY)),
        "cannot be loaded",
    ),
    "an endless include, behind a macro": (
        _with('#define ZERO "/dev/zero"', "#include ZERO"),
        "GE: it takes more than 1 GiB of memory",
    ),
    "templates without an end": (_with(*DOUBLING), f"{ENDLESS} after 8 s, its time limit"),
    "a macro that doubles": (_with(*BOMB, "constexpr int kMany[] = {A16};"), "GE: it "),
    "an include of itself": (_text('#include "counter.hpp"\n'), "counter.hpp"),
    "nothing": (_text(""), "counter"),
    "bytes that are no text": (_text("\x00\x01\x7f" * 1000), "counter"),
    "comments that do not end": (_text("/*" * 50_000), "counter.hpp"),
    "literals that do not end": (_text('R"(' * 50_000), "counter.hpp"),
    "a million empty lines": (_text("\n" * 1_000_000 + "x"), "counter.hpp:1000001"),
    "another namespace": (
        _other("namespace gpu_envs::envs::counter {", "namespace mine {"),
        "counter",
    ),
}


@pytest.fixture
def hostile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder for a header, with a cache and limits of its own."""
    for name, folder in (("GPU_ENVS_CACHE", "cache"), ("GPU_ENVS_BUILD_DIR", "build")):
        monkeypatch.setenv(name, str(tmp_path / folder))
    monkeypatch.setenv("CXXFLAGS", "-O1")
    monkeypatch.setattr(limits, "memory", lambda: 1 << 30)
    monkeypatch.setattr(build, "_PATIENCE", 5.0)
    registration.refresh()
    folder = tmp_path / "mine"
    folder.mkdir()
    begun = time.monotonic()
    yield folder
    assert time.monotonic() - begun < SOON
    assert kept.read() == ([], [])
    kinds = (".so", ".json", ".data")
    assert not [path for path in (tmp_path / "cache").rglob("*") if path.suffix in kinds]
    monkeypatch.undo()
    registration.refresh()


def _refused(make: Make, folder: Path, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    header = make(folder)
    limit = "8" if message.startswith(ENDLESS) else "600"
    words = ["--target", native.cpu_target(), "--time-limit", limit, str(header)]
    assert build.main(words) == 1
    said = capsys.readouterr().err
    assert message in said
    assert "Traceback" not in said
    assert len(said.splitlines()) < 55


@pytest.mark.parametrize(("make", "message"), AT_ONCE.values(), ids=AT_ONCE.keys())
def test_what_need_not_be_compiled_is_refused_at_once(
    hostile: Path, capsys, make: Make, message: str
) -> None:
    _refused(make, hostile, message, capsys)
    assert not (hostile.parent / "build" / "units").exists()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        pytest.param(*case, id=name, marks=() if name in QUICK else pytest.mark.slow)
        for name, case in COMPILED.items()
    ],
)
def test_what_is_compiled_is_refused_by_name_and_cause(
    hostile: Path, capsys, make: Make, message: str
) -> None:
    _refused(make, hostile, message, capsys)
    environment = os.environ | {"PYTHONPATH": str(places.PACKAGE.parent)}
    command = [sys.executable, "-W", "error", "-m", "gpu_envs", "list"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
