"""Each rule of scripts/house/lint_kernels.py finds its fault in a small tree, and only there."""

import pytest

from scripts.house import lint_kernels, plain_words, rooms, sources

_, _, ANEW, _, IS_NO = plain_words.FRAMES  # these files are searched for them too

CLEAN = {
    "README.md": "`make test` plays kernels/envs/pole.hpp, gpu_envs/CartPole-v0.\n",
    "docs/use.md": "GPU_ENVS_CPU\n",
    "Makefile": "asan tsan: setup\nsetup test:\n\tscripts/run\n",
    "scripts/run": "#!/usr/bin/env bash\ncd ../tree && ls /usr/include/c++\n",
    "kernels/flags.txt": "numbers: -O3 -ffp-contract=off\nnvcc: -O3 --fmad=false\n",
    "kernels/cmake/flags.cmake": "set(host ${GE_FLAGS_numbers})",
    "gpu_envs/building/toolchain.py": "import os\nfrom . import flags\n"
    'x = _named(effort, "numbers"), _named("nvcc")\n',
    "kernels/envs/pole.hpp": '#include "engine/world/world.hpp"\n#include "physics/joints.hpp"\n'
    "GE_FN void move(const World& w, float& x) { x += 1; }  // not std::sin(x)\n",
    "kernels/envs/rooms/rooms.hpp": '#include "envs/rooms/rules.hpp"\n',
    "kernels/envs/rooms/rules.hpp": '#include <cstdint>\n#include "engine/maths/math.hpp"\n',
    "kernels/engine/base/platform.hpp": "#if defined(__CUDACC__)\n#endif\n#include <cmath>\n",
}


def lint(tmp_path, changes=None):
    for path, text in {**CLEAN, **(changes or {})}.items():
        target = tmp_path / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)
    return lint_kernels.lint(tmp_path)


@pytest.fixture(autouse=True)
def no_phrase_is_allowed(monkeypatch):
    monkeypatch.setattr(plain_words, "allowed", dict)


def test_clean_tree_has_no_problem(tmp_path):
    assert lint(tmp_path) == []


BODY = "  x += 1;\n" * 130
FAULTS = [
    ("file-size", "kernels/engine/base/big.hpp", "int x;\n" * 801),
    ("file-size", "gpu_envs/core/big.py", "x = 1\n" * 601),
    ("file-size", "kernels/envs/long.hpp", "int x;\n" * 351),
    (
        "function-size",
        "kernels/engine/base/f.cpp",
        f"namespace ge {{\nint f(int x) {{\n{BODY}}}\n}}\n",
    ),
    (
        "function-size",
        "kernels/engine/base/f.cpp",
        f"struct S {{\n  S(int x) : a(x), b{{x}} {{\n{BODY}}}\n}};\n",
    ),
    ("function-size", "gpu_envs/core/f.py", "def f():\n" + "    x = 1\n" * 81),
    (
        "parameters",
        "kernels/engine/base/f.cpp",
        "int f(int a, A<B, C> b, int c, int d, int e, int f, int g, int h, int i) {}",
    ),
    ("parameters", "gpu_envs/core/f.py", "def f(a, b, c, d, e, f, g, h, i): ...\n"),
    ("plain-words", "docs/page.md", f"Rooms are drawn {ANEW}.\n"),
    ("plain-words", "gpu_envs/core/a.py", f'error = "it {IS_NO} number"\n'),
    ("include-direction", "kernels/engine/base/f.hpp", '#include "envs/pole.hpp"\n'),
    ("include-direction", "kernels/physics/f.hpp", '#include "pictures/camera.hpp"\n'),
    ("columns", "tests/kernels/f_test.cpp", f"int x;\n// {'x' * 98}\n"),
    ("columns", "tests/kernels/f.hpp", f"int {'x' * 96};\n"),
    ("columns", "tests/oracles/f.c", f"int {'x' * 96};\n"),
    ("wrapped", "docs/page.md", f"# Page\n\n{'word ' * 30}\n"),
    ("wrapped", "docs/page.md", "short\nlines\n"),
    ("include-direction", "kernels/physics/f.hpp", '#include "render/camera.hpp"\n'),
    ("include-direction", "kernels/envs/other.hpp", '#include "envs/pole.hpp"\n'),
    ("include-direction", "kernels/envs/other.hpp", '#include "../engine/world.hpp"\n'),
    ("include-direction", "kernels/bindings/module.cpp", '#include "physics/joints.hpp"\n'),
    ("include-direction", "kernels/engine/simulator/f.cpp", '#include "engine/cpu/tile.hpp"\n'),
    ("include-direction", "kernels/engine/cuda/f.cu", '#include "engine/cpu/tile.hpp"\n'),
    ("include-direction", "kernels/engine/graph/f.hpp", '#include "engine/environment.hpp"\n'),
    ("include-direction", "kernels/envs/other.hpp", '#include "engine/cpu/tile.hpp"\n'),
    ("include-direction", "kernels/physics/f.hpp", '#include "sight/eye.hpp"\n'),
    ("rooms", "kernels/sight/eye.hpp", '#include "engine/world/world.hpp"\n'),
    ("rooms", "kernels/engine/cpu/deep/f.hpp", "int x;\n"),
    ("rooms", "kernels/engine/loose.hpp", "int x;\n"),
    ("rooms", "kernels/loose.hpp", "int x;\n"),
    ("package-rooms", "gpu_envs/loose.py", "x = 1\n"),
    (
        "package-rooms",
        "gpu_envs/errors.py",
        "from gpu_envs.building import toolchain\ndef f():\n    from gpu_envs.train import run\n",
    ),
    ("machine-test", "kernels/envs/pole.hpp", "#ifdef __CUDA_ARCH__\n#endif\n"),
    ("machine-test", "kernels/physics/f.hpp", "#if defined(_WIN32)\n#endif\n"),
    ("machine-test", "kernels/engine/world/world.hpp", "#if defined(__CUDA_ARCH__)\n#endif\n"),
    ("machine-test", "kernels/engine/maths/packs.hpp", "#elif defined(__AVX512F__)\n#endif\n"),
    ("machine-test", "kernels/engine/base/types.hpp", "#if GE_LANES\n#endif\n"),
    ("libm", "kernels/envs/pole.hpp", "float f(float x) { return std::sin(x); }\n"),
    ("libm", "kernels/envs/pole.hpp", "float f(float x) { return cosf(x); }\n"),
    ("libm", "kernels/pictures/f.hpp", "#include <cmath>\n"),
    ("atomic", "kernels/envs/pole.hpp", "void f(int* x) { atomicAdd(x, 1); }\n"),
    ("atomic", "kernels/envs/pole.hpp", "std::atomic<int> x;\n"),
    ("flags", "kernels/flags.txt", "numbers: -O3\nnvcc: --fmad=false\n# -ffp-contract=off"),
    ("flags", "kernels/flags.txt", "numbers: -O3 -ffp-contract=off\nnvcc: -O3"),
    ("flags", "kernels/cmake/flags.cmake", "-O3"),
    ("flags", "gpu_envs/building/toolchain.py", '_named("nvcc")\n'),
    ("flags", "kernels/cmake/other.cmake", "-march=native"),
    ("flags", "gpu_envs/building/other.py", "flag = '-Ofast'\n"),
    ("builder", "gpu_envs/building/other.py", "import numpy as np\n"),
    ("builder", "gpu_envs/building/other.py", "def f():\n    from gpu_envs import native\n"),
    ("builder", "gpu_envs/building/other.py", "from .. import native\n"),
    ("comparison", "kernels/geometry/f.hpp", "auto near = both(hit<far, hit> kNear);\n"),
    ("comparison", "examples/pond/pond.hpp", "bool in = all(at.x<reach, at.x> - reach);\n"),
    ("bindings", "kernels/bindings/module.cpp", "int pole = 1;\n"),
    (
        "environment-id",
        "gpu_envs/commands/play.py",
        '"""Such as Pole-v0."""\nbars = {"Pole-v0": 3}\n',
    ),
    ("stale-path", "README.md", "See kernels/envs/gone.hpp.\n"),
    ("stale-path", "Makefile", "test:\n\tscripts/gone\n"),
    ("stale-target", "README.md", "Run `make gone`.\n"),
    ("foreign-path", "README.md", "It lies in /home/someone/tree\n"),
    ("foreign-path", "kernels/engine/base/f.hpp", "// see ../../../../elsewhere/notes.md\n"),
    ("foreign-host", "README.md", "See https://files.example.net/x\n"),
    ("variables", "gpu_envs/core/f.py", '"GPU_ENVS_NEW"\n'),
]


@pytest.mark.parametrize(("rule", "path", "text"), FAULTS)
def test_fault_is_found_by_its_rule_alone(tmp_path, rule, path, text):
    problems = lint(tmp_path, {path: text})
    assert [(problem.rule, problem.path) for problem in problems] == [(rule, path)]


@pytest.mark.parametrize(
    ("room", "below", "message"),
    [
        ("engine/maths", {"pictures"}, "circle: engine/maths - geometry - pictures"),
        ("engine/maths", {"cellar"}, "engine/maths names cellar, which has no row"),
    ],
)
def test_table_without_an_order_is_refused(tmp_path, monkeypatch, room, below, message):
    monkeypatch.setitem(rooms.ROOMS, room, below)
    problems = lint(tmp_path)
    assert [(problem.rule, problem.message) for problem in problems] == [("rooms", message)]


def test_tasks_share_their_family_and_no_other():
    rows = {"engine": set(), "envs/*": {"engine"}, "envs/*/tasks": {"envs/*"}}
    flee = "envs/maze/tasks/flee.hpp"
    assert rooms.allows(flee, "envs/maze/walls.hpp", rows)
    assert rooms.allows(flee, "engine/world.hpp", rows)
    assert not rooms.allows(flee, "envs/pole.hpp", rows)
    assert not rooms.allows(flee, "envs/town/tasks/trade.hpp", rows)
    assert not rooms.allows("envs/maze/walls.hpp", flee, rows)


def test_row_of_one_file_stands_above_its_folder():
    rows = {"engine": set(), "engine/cpu": {"engine"}, "engine/all.hpp": {"engine/cpu"}}
    assert rooms.allows("engine/all.hpp", "engine/cpu/pool.hpp", rows)
    assert not rooms.allows("engine/world.hpp", "engine/all.hpp", rows)


def test_rules_count_towards_the_size_of_an_environment_and_what_users_set_does_not(tmp_path):
    long, folder = "int x;\n" * 600, "kernels/envs/rooms"
    assert lint(tmp_path, {f"{folder}/rules.hpp": long, f"{folder}/layout.hpp": long}) == []
    problems = lint(tmp_path, {f"{folder}/rules.hpp": long, f"{folder}/level.hpp": long})
    assert [(problem.rule, problem.path) for problem in problems] == [
        ("file-size", f"{folder}/rooms.hpp")
    ]


MACHINE_TEST = "#if defined(__CUDACC__)\n#endif\n"


@pytest.mark.parametrize(
    "path", ["base/platform_lanes.hpp", "cpu/f.hpp", "cuda/f.cu", "checking/f.hpp"]
)
def test_executors_and_platform_may_ask_for_the_machine(tmp_path, path):
    assert lint(tmp_path, {f"kernels/engine/{path}": MACHINE_TEST}) == []


def test_line_of_as_many_columns_as_are_allowed_passes(tmp_path):
    lines = f"int {'x' * 95};\n// {chr(0xE9) * 97}\n"  # columns, not bytes
    assert lint(tmp_path, {"tests/kernels/f.hpp": lines}) == []


def test_too_many_variables_are_refused(tmp_path):
    names = " ".join(f"GPU_ENVS_{letter}" for letter in "ABCDEFG")
    problems = lint(tmp_path, {"docs/use.md": names, "gpu_envs/core/f.py": f'"{names}"\n'})
    assert [problem.rule for problem in problems] == ["variables"]


def test_variables_for_measuring_do_not_count(tmp_path):
    names = "GPU_ENVS_CPU GPU_ENVS_CUDA_LANES GPU_ENVS_CUDA_LINES"
    assert lint(tmp_path, {"gpu_envs/core/f.py": f'"{names}"\n'}) == []


def test_systems_may_have_many_parameters(tmp_path):
    text = (
        "void f(const World& w, int a, int b, int c, int d, int e, int f, int g, int h, int i) {}\n"
    )
    assert lint(tmp_path, {"kernels/envs/pole.hpp": text}) == []


@pytest.mark.parametrize(
    "comment", ["  // lint: allow libm: measured", "  // lint: allow atomic: why"]
)
def test_comment_lifts_only_the_rule_it_names(tmp_path, comment):
    problems = lint(
        tmp_path, {"kernels/envs/pole.hpp": f"float f(float x) {{ return sinf(x); }}{comment}\n"}
    )
    assert [problem.rule for problem in problems] == ([] if "libm" in comment else ["libm"])


def test_comment_without_reason_lifts_nothing(tmp_path):
    problems = lint(
        tmp_path, {"kernels/envs/pole.hpp": "float y = sinf(x);  // lint: allow libm:\n"}
    )
    assert [problem.rule for problem in problems] == ["libm"]


def test_functions_are_measured_from_head_to_brace():
    text = """
template <class T>
struct S {
  int member = 0;
  int short_one() const { return [&] { return 1; }(); }
  void
  long_one(std::map<int, int> a, const char* b = "{") noexcept {
    if (a) { for (;;) { } }
    int table[] = {1, 2};
  }
};
enum class E { a, b };
inline constexpr int kTable[] = {1, 2};
auto trailing(int x) -> std::vector<int> { return {x}; }
"""
    found = [
        (f.name, f.first_line, f.last_line, len(f.parameters)) for f in sources.functions_of(text)
    ]
    assert found == [("short_one", 5, 5, 0), ("long_one", 6, 10, 2), ("trailing", 14, 14, 1)]
