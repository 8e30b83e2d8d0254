"""The interpreter against nvcc's own arithmetic: an expression of variables, which the interpreter
runs, and the same over literals, of which nvcc leaves constants in the PTX. What nvcc does not fold
(NaN, infinite results, fma, rounding to nearest) the native tests have alone."""

from __future__ import annotations

import ctypes
import itertools
import math
import re
import struct
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from gpu_envs.building import toolchain
from scripts.checks import ptx_lint

# C++ type: bytes, format of struct, mnemonic of its literals.
SIZES = {"int": 4, "unsigned": 4, "long long": 8, "unsigned long long": 8, "float": 4, "double": 8}
FORMATS = {"float": "<f", "double": "<d"}
NAN, NAN64 = 0x7FC00001, 0x7FF8000000000001

WHOLE = (0, 1, 2, 3, 7, 31, 255, 0x8000, 0xFFFF, 0x12345678, 0x7FFFFFFF, 0x80000000, 0xFFFFFFF9,
         0xFFFFFFFF, 0x80FF7F01)  # fmt: skip
LONG = (
    0,
    1,
    3,
    0xFFFFFFFF,
    0x100000000,
    0x123456789ABCDEF0,
    2**63 - 1,
    2**63,
    2**64 - 7,
    2**64 - 1,
)
SHIFTS = (0, 1, 4, 15, 16, 31)
FLOATS = (0.0, -0.0, 1.0, -1.5, 2.5, 3.5, -0.5, 1e-45, -1.1754942e-38, 3.4028234e38, 16777217.0,
          2147483648.0, -2147483904.0, 0.1, 1e10, -7.25)  # fmt: skip
DOUBLES = (0.0, -0.0, 1.0, -1.5, 2.5, 3.5, -0.5, 5e-324, 1.7976931348623157e308, 9007199254740993.0,
           2147483647.5, -2147483648.5, 0.1, 1e20, 1e300, -7.25, 1.0000000596046448)  # fmt: skip


def bits_of(kind: str, value: float) -> int:
    """The bits of a value of a C++ type."""
    if kind in FORMATS:
        wide = "<Q" if kind == "double" else "<I"
        return int(struct.unpack(wide, struct.pack(FORMATS[kind], value))[0])
    return int(value) & (1 << 8 * SIZES[kind]) - 1


def number_of_bits(kind: str, bits: int) -> float:
    """What the bits of a float mean; whole numbers stay bits."""
    if kind not in FORMATS:
        return bits
    wide = "<Q" if kind == "double" else "<I"
    return float(struct.unpack(FORMATS[kind], struct.pack(wide, bits))[0])


def values_of(kind: str) -> list[int]:
    """Values of a C++ type worth trying, as bits."""
    if kind in FORMATS:
        given = FLOATS if kind == "float" else DOUBLES
        infinite = [bits_of(kind, float("inf")), bits_of(kind, float("-inf"))]
        return [
            *(bits_of(kind, one) for one in given),
            *infinite,
            NAN if kind == "float" else NAN64,
        ]
    return list(WHOLE if SIZES[kind] == 4 else LONG)


def constant(kind: str, name: str, bits: int) -> str:
    """The declaration of a constant of those bits in C++."""
    if kind in FORMATS:
        number = number_of_bits(kind, bits)
        if math.isfinite(number):
            return f"constexpr {kind} {name} = {number.hex()}{'f' if kind == 'float' else ''}; "
        made = "__int_as_float(0x" if kind == "float" else "__longlong_as_double(0x"
        return f"const {kind} {name} = {made}{bits:x}{'' if kind == 'float' else 'll'}); "
    suffix = "ull" if SIZES[kind] == 8 else "u"
    return f"constexpr {kind} {name} = static_cast<{kind}>(0x{bits:x}{suffix}); "


@dataclass(frozen=True)
class Case:
    """An expression of a, b and c, and the opcodes that it must compile to."""

    text: str
    result: str
    given: tuple[str, ...]
    opcodes: str  # a regular expression
    choices: Mapping[int, Sequence[int]] = field(
        default_factory=dict, hash=False
    )  # values by operand
    skips: str = "False"  # of a, b, c, whole numbers as bits: where C++ leaves the result open
    folds: str = ""  # another expression of the same value, where nvcc does not fold this one

    def operands(self) -> list[tuple[int, ...]]:
        """At most 400 tuples of operands, spread over all of them."""
        lists = [self.choices.get(k, values_of(kind)) for k, kind in enumerate(self.given)]
        rows = list(itertools.product(*lists))
        rows = rows[:: len(rows) // 400 + 1]
        names = "abc"[: len(self.given)]

        def is_open(row: tuple[int, ...]) -> bool:
            numbers = (number_of_bits(k, bits) for k, bits in zip(self.given, row, strict=True))
            return bool(eval(self.skips, dict(zip(names, numbers, strict=True))))

        return [row for row in rows if not is_open(row)]


BOTH = {"int": "s32", "unsigned": "u32", "long long": "s64", "unsigned long long": "u64"}
WIDE = "unsigned long long"
REAL = {"float": ("f32", "f"), "double": ("f64", "")}  # type in PTX, end of CUDA's names


def _whole_numbers() -> Iterator[Case]:
    for kind, name in BOTH.items():
        two, bits = (kind, kind), name[1:]
        open_quotient = f"b == 0 or (b == {2 ** int(bits) - 1} and {name[0] == 's'})"
        shift = f"s{bits}" if name[0] == "s" else f"[ub]{bits}"
        yield Case("a + b", kind, two, rf"add\.s{bits}")
        yield Case("a - b", kind, two, rf"sub\.s{bits}")
        yield Case("a * b", kind, two, rf"mul\.lo\.s{bits}")
        yield Case("a / b", kind, two, rf"div\.{name}", skips=open_quotient)
        yield Case("a % b", kind, two, rf"rem\.{name}", skips=open_quotient)
        yield Case("min(a, b)", kind, two, rf"min\.{name}")
        yield Case("max(a, b)", kind, two, rf"max\.{name}")
        yield Case("a < b ? a : b + 1", kind, two, rf"setp\.(lt|ge)\.{name}")
        yield Case("a <= b", "int", two, rf"setp\.(le|gt)\.{name}")
        yield Case("a == b", "int", two, rf"setp\.(eq|ne)\.s{bits}")
        yield Case("a & b", kind, two, rf"and\.b{bits}")
        yield Case("a | b", kind, two, rf"or\.b{bits}")
        yield Case("a ^ b", kind, two, rf"xor\.b{bits}")
        yield Case("~a", kind, (kind,), rf"not\.b{bits}")
        yield Case("a << b", kind, (kind, "int"), rf"shl\.b{bits}", {1: SHIFTS})
        yield Case("a >> b", kind, (kind, "int"), rf"shr\.{shift}", {1: SHIFTS})
    for kind, most in (("int", 2**31), ("long long", 2**63)):
        yield Case("-a", kind, (kind,), r"neg\.s\d+", skips=f"a == {most}")
        yield Case("abs(a)", kind, (kind,), r"abs\.s\d+", skips=f"a == {most}")


def _products() -> Iterator[Case]:
    for call, kind, twice, width in (
        ("__mulhi", "int", "long long", 32),
        ("__umulhi", "unsigned", WIDE, 32),
        ("__mul64hi", "long long", "__int128", 64),
        ("__umul64hi", WIDE, "unsigned __int128", 64),
    ):
        folds = f"({kind})(({twice})a * b >> {width})"
        yield Case(f"{call}(a, b)", kind, (kind, kind), rf"mul\.hi\.{BOTH[kind]}", folds=folds)
    yield Case("(long long)a * b", "long long", ("int", "int"), r"mul\.wide\.s32")
    yield Case(f"({WIDE})a * b", WIDE, ("unsigned", "unsigned"), r"mul\.wide\.u32")
    yield Case("a * b + c", "int", ("int", "int", "int"), r"mad\.lo\.s32")


def _bits() -> Iterator[Case]:
    three, pair = ("unsigned", "unsigned", "unsigned"), f"(({WIDE})b << 32 | a)"
    for side, form in (("l", "(unsigned)({} << ({}) >> 32)"), ("r", "(unsigned)({} >> ({}))")):
        for suffix, mode, count in (("", "wrap", "c & 31"), ("c", "clamp", "c < 32 ? c : 32")):
            yield Case(
                f"__funnelshift_{side}{suffix}(a, b, c)", "unsigned", three,
                rf"shf\.{side}\.{mode}\.b32", {2: (*SHIFTS, 32, 33, 40)},
                folds=form.format(pair, count),
            )  # fmt: skip
    byte = f"((unsigned)({pair} >> 8 * (c >> {{k}} & 7)) & 255u) << {{to}}"
    yield Case(
        "__byte_perm(a, b, c)", "unsigned", three, r"prmt\.b32",
        {2: (0x3210, 0x7654, 0x0123, 0x5410, 0x7362, 0x1177)},
        folds=" | ".join(f"({byte.format(k=4 * k, to=8 * k)})" for k in range(4)),
    )  # fmt: skip
    yield Case(
        "__usad(a, b, c)", "unsigned", three, r"sad\.u32", folds="(a < b ? b - a : a - b) + c"
    )
    yield Case("__popc(a)", "int", ("unsigned",), r"popc\.b32")
    yield Case("__popcll(a)", "int", (WIDE,), r"popc\.b64")
    yield Case("__clz(a)", "int", ("int",), r"clz\.b32")
    yield Case("__clzll(a)", "int", ("long long",), r"clz\.b64")
    yield Case("__brev(a)", "unsigned", ("unsigned",), r"brev\.b32")
    yield Case("__brevll(a)", WIDE, (WIDE,), r"brev\.b64")
    lowest = "32 - __builtin_clz(a & -a)"
    yield Case("__ffs(a)", "int", ("int",), r"brev\.b32", folds=lowest, skips="a == 0")


def _floats() -> Iterator[Case]:
    for kind, (name, short) in REAL.items():
        two = (kind, kind)
        yield Case("a + b", kind, two, rf"add\.rn\.{name}")
        yield Case("a - b", kind, two, rf"sub\.rn\.{name}")
        yield Case("a * b", kind, two, rf"mul\.rn\.{name}")
        yield Case("a / b", kind, two, rf"div\.rn\.{name}")
        # C++ leaves open which of two zeros it is, and nvcc folds it to the first.
        yield Case(f"fmin{short}(a, b)", kind, two, rf"min\.{name}", skips="a == b == 0")
        yield Case(f"fmax{short}(a, b)", kind, two, rf"max\.{name}", skips="a == b == 0")
        yield Case(f"fabs{short}(a)", kind, (kind,), rf"abs\.{name}")
        yield Case("-a", kind, (kind,), rf"neg\.{name}")
        yield Case(f"copysign{short}(a, b)", kind, two, rf"copysign\.{name}|and\.b|or\.b")
        yield Case(f"sqrt{short}(a)", kind, (kind,), rf"sqrt\.rn\.{name}")
        for operator in ("<", "<=", ">", ">=", "==", "!="):
            yield Case(f"a {operator} b", "int", two, rf"setp\.\w+\.{name}")
            yield Case(f"!(a {operator} b) ? 5 : 6", "int", two, rf"setp\.\w+\.{name}")
        for call, mode in (("floor", "rmi"), ("ceil", "rpi")):
            # nvcc 13.0 folds ceil of doubles beyond 2^63 to -2^63.
            opcode = rf"cvt\.{mode}\.{name}\.{name}"
            yield Case(f"{call}{short}(a)", kind, (kind,), opcode, skips="abs(a) >= 2**63")
        yield Case(
            f"trunc{short}(a)", kind, (kind,), rf"cvt\.rzi\.{name}\.{name}",
            skips="not 1 <= abs(a) < 2**62", folds=f"({kind})(long long)a",
        )  # fmt: skip


def _conversions() -> Iterator[Case]:
    yield Case("(int)(signed char)a", "int", ("int",), r"cvt\.s32\.s8|ld\.global\.s8")
    yield Case("(int)(short)a", "int", ("int",), r"cvt\.s32\.s16|ld\.global\.s16")
    yield Case("(long long)a", "long long", ("int",), r"cvt\.s64\.s32|ld\.global\.s32")
    yield Case(f"({WIDE})a + b", WIDE, ("unsigned", WIDE), r"cvt\.u64\.u32|ld\.global\.u32")
    yield Case("(int)a", "int", (WIDE,), r"cvt\.u32\.u64|ld\.global\.u64")
    yield Case("(double)a", "double", ("float",), r"cvt\.f64\.f32")
    yield Case("(float)a", "float", ("double",), r"cvt\.rn\.f32\.f64")
    names = dict(zip(BOTH, ("int", "uint", "ll", "ull"), strict=True))
    moves = {"rz": "", "rd": "- (a < {})", "ru": "+ (a > {})"}
    opcodes = {"rz": "rzi", "rd": "rmi", "ru": "rpi"}
    for kind, (of, _) in REAL.items():
        for to, name in BOTH.items():
            yield Case(f"({kind})a", kind, (to,), rf"cvt\.rn\.{of}\.{name}")
            bits, whole = int(name[1:]), f"({to})a"
            low, above = (-(2 ** (bits - 1)), 2 ** (bits - 1)) if name[0] == "s" else (0, 2**bits)
            for mode, move in moves.items():
                yield Case(
                    f"__{kind}2{names[to]}_{mode}(a)", to, (kind,),
                    rf"cvt\.{opcodes[mode]}\.{name}\.{of}",
                    skips=f"not {low} <= a <= {above - 1025}",
                    folds=whole + move.format(f"({kind}){whole}"),
                )  # fmt: skip


CASES = [*_whole_numbers(), *_products(), *_bits(), *_floats(), *_conversions()]
_STORE = re.compile(r"st\.global\.(?:v[24]\.)?\w+ \[%\w+(?:\+(\d+))?\], \{?([^};]+)\}?;")


def source() -> str:
    """Two kernels a case: of variables, `v`, and of literals, `f`."""
    lines = []
    for number, case in enumerate(CASES):
        names = "abc"[: len(case.given)]
        given = "".join(f"const {kind}* {n}s, " for kind, n in zip(case.given, names, strict=True))
        read = "".join(
            f"const {kind} {n} = {n}s[k]; " for kind, n in zip(case.given, names, strict=True)
        )
        lines.append(
            f'extern "C" __global__ void v{number}({given}{case.result}* out) '
            f"{{ const int k = threadIdx.x; {read}out[k] = {case.text}; }}"
        )
        lines.append(f'extern "C" __global__ void f{number}({case.result}* out) {{')
        for k, row in enumerate(case.operands()):
            kinds = zip(case.given, names, row, strict=True)
            consts = "".join(constant(kind, name, bits) for kind, name, bits in kinds)
            made = f"out[{k}] = {case.text};"
            if case.folds:  # the compiler's front end evaluates it
                made = f"constexpr {case.result} made = {case.folds}; out[{k}] = made;"
            lines.append(f"  {{ {consts}{made} }}")
        lines.append("}")
    return "\n".join(lines)


def body_of(text: str, kernel: str) -> str:
    """The statements of an entry."""
    begin = text.index(f".entry {kernel}(")
    return text[text.index("{", begin) : text.index("\n}", begin)]


def number_of(word: str, wide: bool) -> int:
    """The bits of a constant in PTX."""
    if word[:2] in ("0f", "0d"):
        return int(word[2:], 16)
    return int(word, 0) & (2**64 - 1 if wide else 2**32 - 1)


def folded(text: str, kernel: str, size: int) -> dict[int, int]:
    """What nvcc has folded: bits by place. Values that it left to compute are not there."""
    constants: dict[str, str] = {}
    found = {}
    for line in (" ".join(line.split()) for line in body_of(text, kernel).splitlines()):
        if move := re.match(r"mov\.\w+ (%\w+), ([-\w]+);", line):
            constants[move[1]] = move[2]
        elif kept := _STORE.match(line):
            for k, word in enumerate(kept[2].split(",")):
                held = constants.get(word.strip(), word.strip())
                if not held.startswith("%"):
                    found[int(kept[1] or 0) // size + k] = number_of(held, size == 8)
        elif result := re.match(r"[\w.]+ (%\w+),", line):
            constants.pop(result[1], None)
    return found


@pytest.fixture(scope="module")
def ptx(interpreted: None, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, ctypes.CDLL]:
    """All kernels, and the interpreter."""
    nvcc = toolchain.nvcc()
    folder: Path = tmp_path_factory.mktemp("folds")
    (folder / "a.cu").write_text(source())
    command = [nvcc.path, "-std=c++20", "-O3", "--fmad=false", "-arch=compute_90", "-ptx"]
    command += [str(folder / "a.cu"), "-o", str(folder / "a.ptx")]
    subprocess.run(command, check=True, capture_output=True)
    loaded = ctypes.CDLL(str(ptx_lint.Library.built().file))
    loaded.ge_ptx_run_text.restype = ctypes.c_char_p
    return (folder / "a.ptx").read_text(), loaded


def computed(ptx: tuple[str, ctypes.CDLL], number: int, case: Case) -> list[int]:
    """What the interpreter makes of each row of operands."""
    text, library = ptx
    rows = case.operands()
    kinds = [*case.given, case.result]
    arrays = [[row[k] for row in rows] for k in range(len(case.given))] + [[0] * len(rows)]
    data, places = b"", []
    for kind, array in zip(kinds, arrays, strict=True):
        places.append(len(data))
        data += struct.pack(f"<{len(array)}{'Q' if SIZES[kind] == 8 else 'I'}", *array)
        data += b"\0" * (-len(data) % 16)
    memory = ctypes.create_string_buffer(data, len(data))
    params = (ctypes.c_void_p * len(places))(*(ctypes.addressof(memory) + at for at in places))
    why = library.ge_ptx_run_text(
        _module(text, f"v{number}"), f"v{number}".encode(), len(rows), params,
        ctypes.c_size_t(len(places)), memory, ctypes.c_size_t(len(data)),
    )  # fmt: skip
    assert why is None, why.decode()
    wide = "Q" if SIZES[case.result] == 8 else "I"
    return list(struct.unpack_from(f"<{len(rows)}{wide}", memory.raw, places[-1]))


def _module(text: str, kernel: str) -> bytes:
    """A module of that kernel alone: the whole would be read for each."""
    begin = text.index(f".visible .entry {kernel}(")
    head = text[: text.index(".visible .entry")]
    return f"{head}{text[begin : text.index(chr(10) + '}', begin)]}\n}}\n".encode()


def is_nan(kind: str, bits: int) -> bool:
    """Whether a result is NaN, whose bits are the machine's own."""
    return kind in FORMATS and bits & ~(1 << 8 * SIZES[kind] - 1) > bits_of(kind, float("inf"))


@pytest.mark.parametrize("number", range(len(CASES)), ids=lambda n: f"{n}: {CASES[n].text}")
def test_the_interpreter_agrees_with_nvcc(ptx: tuple[str, ctypes.CDLL], number: int) -> None:
    case = CASES[number]
    body = body_of(ptx[0], f"v{number}")
    assert re.search(rf"\b({case.opcodes})\b", body), body
    constants = folded(ptx[0], f"f{number}", SIZES[case.result])
    made = computed(ptx, number, case)
    wrong = []
    for place, bits in constants.items():
        same = made[place] == bits or (
            is_nan(case.result, bits) and is_nan(case.result, made[place])
        )
        if not same:
            row = ", ".join(f"{bits:#x}" for bits in case.operands()[place])
            wrong.append(f"{case.text} of {row}: {made[place]:#x} against {bits:#x}")
    assert not wrong, "\n".join(wrong[:9])
    assert 2 * len(constants) >= len(made) > 3, f"nvcc folds {len(constants)} of {len(made)}"
