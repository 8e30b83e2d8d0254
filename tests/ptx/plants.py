"""Faults that test_plants.py plants, and by what each of them is found.

Most change the PTX of a module as it is read: a regular expression, and its replacement. Added code
runs in the step of CartPole-v0 behind `griddepcontrol.launch_dependents`, where all lanes of a warp
are. Faults of barriers and of shared memory are planted into kernels that have them. BUFFER and
HOST in a replacement become addresses: of memory of the device, and of memory of the host.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

# What is found without a message.
DIFFER = "hashes differ"  # from those of the CPU
POISONS = "hashes differ from poison to poison"
ORDERS = "hashes differ in another order"
NOTHING = "not found"
KINDS = (DIFFER, POISONS, ORDERS, NOTHING)

BUFFER_BYTES = 1024


@dataclass(frozen=True)
class Run:
    """Worlds that are stepped. `tuning`: options of the simulator that only a GPU has."""

    name: str
    worlds: int
    steps: int
    parameters: Mapping[str, Any] = field(default_factory=dict)
    tuning: Mapping[str, Any] = field(default_factory=dict)

    def tuned(self, **tuning: Any) -> Run:
        return replace(self, tuning=tuning)


CARTPOLE = Run("CartPole-v0", 37, 40)
WARPS = CARTPOLE.tuned(block=64)  # one block of two warps
BLOCKS = CARTPOLE.tuned(block=32)  # two blocks of one
TAG_GRID = Run("TagGrid-v0", 5, 12, {"num_taggers": 31, "grid_length": 9})  # a warp per world
FLOCKING = Run("Flocking-v0", 2, 4, {"agent_count": 70, "sector_count": 37})  # 4 warps per world


@dataclass(frozen=True)
class Plant:
    """A fault, and the words of the message that finds it, or one of KINDS."""

    title: str
    found: str
    edits: tuple[tuple[str, str], ...]
    run: Run = CARTPOLE
    settings: Mapping[str, int] = field(default_factory=dict)
    frees: bool = False  # BUFFER, before the last steps


@dataclass(frozen=True)
class HostPlant:
    """A mistake of the host. `fault` is its name in host_faults.cpp, "" for a test of its own."""

    title: str
    found: str
    fault: str = ""
    run: Run = CARTPOLE


RACES = {"races": 1}
SHORT = {"limit": 100_000}
HERE = r"griddepcontrol\.launch_dependents;"
NAMES = """griddepcontrol.launch_dependents;
.reg .b32 %plant<9>;
.reg .b64 %plantd<9>;
.reg .pred %plantp<9>;
.local .align 8 .b8 plant_local[8];
mov.u32 %plant0, 0;
mov.u32 %plant1, %tid.x;
mov.u32 %plant2, %ctaid.x;
mov.u32 %plant3, %laneid;
setp.ge.u32 %plantp1, %plant1, 32;
setp.ge.u32 %plantp2, %plant3, 16;
setp.eq.u32 %plantp3, %plant3, 0;
and.pred %plantp4, %plantp1, %plantp3;
setp.eq.u32 %plantp5, %plant1, 0;
mov.u64 %plantd1, BUFFER;
"""
ACTION = r"setp\.eq\.s32 (%p\d+), (%r\d+), 1;\n(selp\.f32 %f\d+, 0f41200000, 0fC1200000, \1;)"


def added(code: str) -> tuple[tuple[str, str], ...]:
    """Return the edit that runs code in every thread of a kernel, as CartPole's step."""
    return ((HERE, NAMES + code + "\n"),)


def pushed(code: str) -> tuple[tuple[str, str], ...]:
    """Return the edits that turn an action round where code sets the lowest bit of %plant0."""
    turned = "and.b32 %plant0, %plant0, 1;\nxor.b32 $2, $2, %plant0;\nsetp.eq.s32 $1, $2, 1;\n$3"
    return (*added(code), (ACTION, turned))


def moved(address: str, by: int) -> tuple[str, str]:
    """Return the edit that adds bytes to a register where it gets an address."""
    return address, f"$&\nadd.s64 $1, $1, {by};"


OWN_WORD = """mul.wide.u32 %plantd2, %plant1, 4;
add.s64 %plantd2, %plantd2, %plantd1;
"""
NEXT_WORD = """xor.b32 %plant4, %plant1, 1;
mul.wide.u32 %plantd3, %plant4, 4;
add.s64 %plantd3, %plantd3, %plantd1;
"""
BY_SIDE = """and.b32 %plant4, %plant3, 1;
setp.eq.u32 %plantp6, %plant4, 0;
@%plantp6 bra PLANT_EVEN;
mov.u32 %plant5, 0;
st.global.u32 [%plantd1], %plant5;
bra.uni PLANT_MET;
PLANT_EVEN:
mov.u32 %plant5, 1;
st.global.u32 [%plantd1], %plant5;
PLANT_MET:
ld.global.u32 %plant0, [%plantd1];
"""
ATOMIC = r"atom\.shared\.add\.u32 (%r\d+), (\[[^\]]*\]), ([^;]*);"
PLAIN = "ld.shared.u32 $1, $2;\nadd.u32 $1, $1, $3;\nst.shared.u32 $2, $1;"
MULTIPLY_ADD = (
    r"mul\.rn\.f32 (%f\d+), (%f\d+), ([^;]+);\nadd\.rn\.f32 (%f\d+), \1, ([^;]+);",
    "mul.rn.f32 $1, $2, $3;\nfma.rn.f32 $4, $2, $3, $5;",
)
END_EARLY = "mov.u32 %r1, %tid.x;\nsetp.gt.s32 %p1, %r1, 20;\n@%p1 exit;\ngriddepcontrol.wait;"
LAST_WORLD = (r"(setp\.(ge|lt)\.s64 %p\d+, %rd\d+, )(%rd\d+);", "add.s64 $3, $3, 1;\n$1$3;")
CONSTANT = (r"\.address_size 64", "$&\n.const .align 4 .b8 plant_const[4];")
TO_CONSTANT = added("mov.b64 %plantd2, plant_const;\nst.global.u32 [%plantd2], %plant1;")
TO_PARAMETERS = "$&\nmov.u32 %r1, 5;\nst.global.u32 [$1+12], %r1;"
PARAMETERS = r"^mov\.b64 (%rd\d+), (\w+_param_1);"  # whose last word is loaded, and no other
FOREVER = HERE.replace("\\", "") + "\nPLANT_AGAIN:\nbra PLANT_AGAIN;"
AT_BARRIERS = "PLANT_AGAIN:\nbar.sync 0;\nsetp.lt.u32 %plantp6, %plant1, 64;\n"
AT_BARRIERS += "@%plantp6 bra PLANT_AGAIN;"
TWO_BARRIERS = "@%plantp1 bra PLANT_THERE;\nbar.sync 0;\nbra PLANT_MET;\n"
TWO_BARRIERS += "PLANT_THERE:\nbar.sync 1;\nPLANT_MET:"
TABLE = "PLANT_TABLE: .branchtargets PLANT_ONE, PLANT_TWO;\nbrx.idx %plant3, PLANT_TABLE;\n"
TABLE += "PLANT_ONE:\nPLANT_TWO:"
STRONG = """@%plantp4 st.relaxed.gpu.global.u32 [%plantd1], %plant1;
@%plantp5 ld.volatile.global.u32 %plant4, [%plantd1];
@%plantp4 atom.global.add.u32 %plant5, [%plantd1], 1;
"""
MASKS = "selp.b32 %plant4, -1, 65535, %plantp2;\nbar.warp.sync %plant4;"
ENDED = "@%plantp2 exit;\nxor.b32 %plant4, %plant3, 16;\n"
ENDED += "shfl.sync.idx.b32 %plant5, %plant3, %plant4, 31, -1;"
SHARED_STORE = r"^st\.shared\.(u32|v4\.u32) (\[%r\d+(\+\d+)?\]), [^;]*;"

PLANTS = (
    # ---- arithmetic
    Plant("a product and a sum contracted", DIFFER, (MULTIPLY_ADD,)),
    Plant(
        "a sum that may be contracted",
        "without .rn it may be contracted",
        ((r"add\.rn\.f32", "add.f32"),),
    ),
    Plant("a flush to zero", "unknown modifier .ftz", ((r"mul\.rn\.f32", "mul.rn.ftz.f32"),)),
    Plant(
        "a quotient that is approximate", "unknown modifier .approx", ((r"div\.rn", "div.approx"),)
    ),
    Plant(
        "an unordered comparison instead of an ordered one",
        NOTHING,
        ((r"setp\.lt\.f32", "setp.ltu.f32"),),
    ),
    # ---- launches one behind the other
    Plant(
        "no `griddepcontrol.wait`",
        "global memory before griddepcontrol.wait",
        ((r"griddepcontrol\.wait;", ""),),
    ),
    Plant(
        "`griddepcontrol.wait` behind the first load",
        "global memory before griddepcontrol.wait",
        ((r"griddepcontrol\.wait;", ""), (r"^ld\.global\.[^;]*;", "$&\ngriddepcontrol.wait;")),
    ),
    Plant(
        "threads that end before they wait",
        "a thread ends without griddepcontrol.wait",
        ((r"griddepcontrol\.wait;", END_EARLY),),
    ),
    # ---- memory
    Plant(
        "a vector load four bytes off",
        "misaligned access",
        ((r"ld\.global\.v4\.u32 (\{[^}]*\}), \[(%rd\d+)\]", "ld.global.v4.u32 $1, [$2+4]"),),
    ),
    Plant("a world too many", "illegal store", (LAST_WORLD,)),
    Plant(
        "a load one byte beyond an allocation",
        "illegal load",
        added(f"ld.global.u8 %plant4, [%plantd1+{BUFFER_BYTES}];"),
    ),
    Plant(
        "a load of freed memory",
        "illegal load",
        added("ld.global.u8 %plant4, [%plantd1];"),
        frees=True,
    ),
    Plant(
        "a load of the host's memory",
        "illegal load",
        added("mov.u64 %plantd2, HOST;\nld.global.u8 %plant4, [%plantd2];"),
    ),
    Plant("a store into constant memory", "illegal store", (*TO_CONSTANT, CONSTANT)),
    Plant(
        "a store into the parameters",
        "bad access of a kernel's parameters",
        ((r"^mov\.b64 (%rd\d+), (\w+_param_0);", TO_PARAMETERS),),
    ),
    Plant("another parameter", "illegal load", (moved(PARAMETERS, -8),)),
    Plant("a load behind the parameters", "illegal load", (moved(PARAMETERS, 8),)),
    Plant(
        "a load behind a thread's local memory",
        "access outside of local memory",
        added("ld.local.u32 %plant4, [plant_local+8];"),
    ),
    Plant(
        "an address of shared memory taken for one of global memory",
        "illegal store",
        added("cvta.shared.u64 %plantd2, 0;\nst.global.u32 [%plantd2], %plant1;"),
    ),
    Plant("a lost store", DIFFER, ((r"^st\.global\.cs\.v4\.u32 [^;]*;", ""),)),
    # ---- what nobody wrote
    Plant("a register that nobody wrote", POISONS, pushed("add.u32 %plant0, %plant6, 1;")),
    Plant(
        "local memory that nobody wrote", POISONS, pushed("ld.local.u32 %plant0, [plant_local];")
    ),
    Plant("shared memory that nobody wrote", POISONS, ((SHARED_STORE, ""),), TAG_GRID),
    # ---- lanes together
    Plant(
        "a warp's barrier for some lanes",
        "which are elsewhere",
        (*added(""), (r"bar\.warp\.sync -1;", "@%plantp2 bar.warp.sync -1;")),
        TAG_GRID,
    ),
    Plant(
        "a shuffle for some lanes",
        "which are elsewhere",
        (*added(""), (r"^shfl\.sync", "@%plantp2 shfl.sync")),
        TAG_GRID,
    ),
    Plant("a shuffle from a lane that has ended", "which is not here", added(ENDED)),
    Plant("a mask without the lane itself", "is not in its mask", added("bar.warp.sync 65535;")),
    Plant("lanes with different masks", "have different masks", added(MASKS)),
    # ---- barriers of a block
    Plant(
        "a block's barrier for some lanes",
        "divergent barrier",
        (*added(""), (r"bar\.sync 0;", "@%plantp2 bar.sync 0;")),
        FLOCKING,
    ),
    Plant(
        "a vote of a block that a warp does not reach",
        "warps never arrive",
        added("@%plantp1 exit;\nbar.red.or.pred %plantp6, 0, %plantp3;"),
        WARPS,
    ),
    Plant("warps at two barriers", "warps wait at different barriers", added(TWO_BARRIERS), WARPS),
    # ---- races and orders
    Plant("no barriers of a warp", "race in", ((r"bar\.warp\.sync -1;", ""),), TAG_GRID, RACES),
    Plant("no barriers of a block", "race in", ((r"bar\.sync 0;", ""),), FLOCKING, RACES),
    Plant(
        "no barriers of a block, and nobody looks for races",
        "store outside of shared memory",
        ((r"bar\.sync 0;", ""),),
        FLOCKING,
    ),
    Plant(
        "blocks that write one word",
        "race in global memory",
        added("@%plantp3 st.global.u32 [%plantd1], %plant2;"),
        BLOCKS,
        RACES,
    ),
    Plant(
        "a warp that reads what another block writes",
        "race in global memory",
        added(
            "setp.ne.u32 %plantp6, %plant2, 0;\n@!%plantp6 ld.global.u32 %plant4, [%plantd1];\n"
            "and.pred %plantp6, %plantp6, %plantp5;\n@%plantp6 st.global.u32 [%plantd1], %plant2;"
        ),
        BLOCKS,
        RACES,
    ),
    Plant(
        "a warp that reads what another one writes",
        "race in global memory",
        added(
            "@!%plantp1 ld.global.u32 %plant4, [%plantd1];\n@%plantp1 bar.warp.sync -1;\n"
            "@%plantp4 st.global.u32 [%plantd1], %plant2;"
        ),
        WARPS,
        RACES,
    ),
    Plant(
        "a lane that reads what its neighbour wrote",
        "race in global memory",
        added(
            OWN_WORD
            + NEXT_WORD
            + "st.global.u32 [%plantd2], %plant3;\nld.global.u32 %plant5, [%plantd3];"
        ),
        WARPS,
        RACES,
    ),
    Plant(
        "a load beside an atomic",
        "race in global memory",
        added(
            "@%plantp4 atom.global.add.u32 %plant5, [%plantd1], 1;\n"
            "@%plantp5 ld.global.u32 %plant4, [%plantd1];"
        ),
        WARPS,
        RACES,
    ),
    Plant("atomics made plain", "race in shared memory", ((ATOMIC, PLAIN),), FLOCKING, RACES),
    Plant("a value by the order of a branch's sides", ORDERS, pushed(BY_SIDE)),
    # ---- control flow
    Plant(
        "a loop without an exit, as of a host function",
        "a kernel that does not end",
        ((HERE, FOREVER),),
        settings=SHORT,
    ),
    Plant(
        "a loop without an exit through a barrier",
        "a kernel that does not end",
        added(AT_BARRIERS),
        WARPS,
        SHORT,
    ),
    Plant(
        "a kernel that does nothing, as of a host function",
        DIFFER,
        ((HERE, HERE.replace("\\", "") + "\nret;"),),
    ),
    Plant("a branch beyond its table", "brx.idx beyond its table", added(TABLE)),
    Plant("a trap", "trap", added("trap;")),
    # ---- what the interpreter does not know
    Plant("an unknown opcode", "unknown opcode", added("tanh.approx.f32 %plant4, %plant4;")),
    Plant(
        "an unknown special register", "unknown register %nsmid", added("mov.u32 %plant4, %nsmid;")
    ),
    Plant(
        "a register that was not declared",
        "unknown register %plant9",
        added("mov.u32 %plant4, %plant9;"),
    ),
    Plant(
        "a call of a function without a body", "which has no body", added("call.uni nobody, ();")
    ),
    Plant(
        "a body that is cut off", "a body without an end", ((r"ret;\n+\}\n*$(?![\s\S])", "ret;"),)
    ),
    # ---- launches
    Plant("a kernel that is not there", "has no kernel", ((r"(ELi1ELi0ELi1ELb0EEE)v", "$1w"),)),
    Plant(
        "a block above the launch bounds",
        "with 256 threads fits on this GPU",
        ((r"\.maxntid 256", ".maxntid 128"),),
        CARTPOLE.tuned(block=256),
    ),
)

LEGACY_LAUNCH = HostPlant(
    "a launch on the legacy stream during a capture", "the legacy stream waits for a captured one"
)
CAPTURED_MALLOC = HostPlant("memory allocated during a capture", "a capture forbids this call")
LATER_CALL = HostPlant("a call after a fault", "misaligned access")
HOST_PLANTS = (
    HostPlant(
        "16 bytes of shared memory too few",
        "outside of shared memory",
        "short of shared memory",
        TAG_GRID,
    ),
    HostPlant(
        "no permission for more than 48 KiB of shared memory",
        "allowed are 49152",
        "no permission",
        Run("Flocking-v0", 1, 1, {"agent_count": 1500}),
    ),
    HostPlant("a block too few", DIFFER, "a block too few", BLOCKS),
    HostPlant("a copy in the wrong direction", "are not the host's", "wrong direction"),
    HostPlant("a memset of one byte too many", "reach beyond an allocation", "a byte too many"),
)
ALL = (*PLANTS, *HOST_PLANTS, LEGACY_LAUNCH, CAPTURED_MALLOC, LATER_CALL)
