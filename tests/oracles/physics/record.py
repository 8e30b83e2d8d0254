"""Records how MuJoCo moves the bodies of a few scenes, for tests/kernels/physics/oracle_test.cpp.

    pip install mujoco==4.0.0
    python tests/oracles/physics/record.py

writes mujoco.txt beside this file: each scene as it is laid out, then where its bodies are and how
they move at some times. The scenes are listed here and nowhere else; the native test lays them out
from the text. MuJoCo's contacts are springs: its time step and springs here are so short and stiff
that they give way by less than a millimetre.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import mujoco
import numpy as np

RECORDING = Path(__file__).with_name("mujoco.txt")
TIME_STEP = 2e-4  # [s]
FRAME = 1 / 30  # [s] one step of ours
FLOOR = ((0.0, 0.0, 0.0), (0.0, 0.0, 1.0))
UPRIGHT = (1.0, 0.0, 0.0, 0.0)
HALF = {"cube": (1.0, 1.0, 1.0), "long": (4.0, 0.75, 1.0)}

Vector = tuple[float, ...]


@dataclass
class Body:
    kind: str  # cube, long, round
    position: Vector
    orientation: Vector = UPRIGHT
    velocity: Vector = (0.0, 0.0, 0.0)
    spin: Vector = (0.0, 0.0, 0.0)  # in the world
    locked: bool = False
    held: tuple[str, int, Vector] | None = None  # by a joint: its type, the other body, where


@dataclass
class Scene:
    name: str
    frames: int
    bodies: list[Body]
    settings: dict[str, float] = field(default_factory=dict)
    plane: tuple[Vector, Vector] | None = None  # a point and the normal

    def setting(self, name: str) -> float:
        usual = {"gravity": 9.8, "friction": 0.5, "mass": 2.0, "radius": 1.0, "length": 0.0}
        return self.settings.get(name, usual.get(name, 0.0))


def about(axis: str, angle: float) -> Vector:
    turned = [math.cos(angle / 2), 0.0, 0.0, 0.0]
    turned["xyz".index(axis) + 1] = math.sin(angle / 2)
    return tuple(turned)


def slope(angle: float, above: float) -> tuple[tuple[Vector, Vector], Vector]:
    """A plane that falls towards +x, and a point at a distance above its middle."""
    normal = (math.sin(angle), 0.0, math.cos(angle))
    middle = (0.0, 0.0, 50.0)
    return (middle, normal), tuple(m + above * n for m, n in zip(middle, normal, strict=True))


def on_slope(
    name: str, degrees: float, friction: float, kind: str, turn: str = "", **settings: float
) -> Scene:
    angle = math.radians(degrees)
    plane, place = slope(angle, settings.get("radius", 1.0))
    orientation = {
        "": UPRIGHT,
        "down": about("y", angle + math.pi / 2),
        "across": about("x", math.pi / 2),
    }
    body = Body(kind, place, about("y", angle) if kind == "cube" else orientation[turn])
    return Scene(name, 45, [body], {"friction": friction, **settings}, plane)


def tilted_cube() -> Scene:
    """On its lower edge, which does not slip, and about to fall back on its side."""
    tilt = 0.6
    reach, angle = math.sqrt(2), math.pi / 4 + tilt  # from the edge to the centre
    place = (-reach * math.cos(angle), 0.0, reach * math.sin(angle))
    return Scene(
        "cube_falls_off_its_edge", 24, [Body("cube", place, about("y", tilt))], {"friction": 2.0}
    )


def scenes() -> list[Scene]:
    tumbling = Body("long", (0, 0, 50), about("z", 0.3), (3, -1, 5), (2, 1.5, 3))
    turn = about("y", 1.0)  # of a long box, by one end
    end = (-4 * math.cos(1.0), 0.0, 50 + 4 * math.sin(1.0))
    swing = (0.0, -0.5 * end[0], 0.0)  # of its centre, with a spin of 0.5 about z
    log = {"radius": 0.5, "length": 2.0}
    bowled = Body("round", (0, 0, 1), velocity=(4, 0, 0))
    cubes = [Body("cube", (0, 0, 1 + 2 * k), about("z", 0.1 * k)) for k in range(3)]
    halves = [
        Body("cube", (1.1 * side, 0, 50), UPRIGHT, (2, 1.1 * side, 4), (0.5, 0, 1.0))
        for side in (-1, 1)
    ]
    halves[1].held = ("fixed", 0, (0, 0, 50))
    return [
        Scene("throw", 30, [Body("long", (0, 0, 50), about("y", 0.7), (3, -1, 5))]),
        Scene("tumble", 30, [tumbling]),
        Scene("tumble_log", 30, [Body("round", (0, 0, 50), UPRIGHT, (0, 0, 0), (1, 0.5, 6))], log),
        on_slope("slide_0.1", 25, 0.1, "cube"),
        on_slope("slide_0.3", 25, 0.3, "cube"),
        on_slope("slide_0.45", 25, 0.45, "cube"),
        on_slope("hold_0.5", 25, 0.5, "cube"),
        on_slope("ball_rolls", 20, 0.8, "round"),
        on_slope("ball_slips", 30, 0.05, "round"),
        on_slope("log_rolls", 20, 0.8, "round", "across", **log),
        on_slope("log_slides", 30, 0.2, "round", "down", **log),
        Scene("ball_is_bowled", 60, [bowled], {"friction": 0.2}),
        tilted_cube(),
        Scene("stack", 60, cubes),
        Scene(
            "heavy_on_light",
            60,
            [Body("cube", (0, 0, 1)), Body("long", (0, 0, 3), about("z", 0.2))],
            {"long_mass": 40.0},
        ),
        Scene(
            "pendulum",
            60,
            [
                Body("cube", (0, 0, 60), locked=True),
                Body("long", (0, 0, 50), turn, swing, (0.0, 0.0, 0.5), held=("ball", 0, end)),
            ],
        ),
        Scene("thrown_beam", 30, halves),
    ]


# ---- the same in MuJoCo


def text_of(values: Vector) -> str:
    return " ".join(f"{value:.9g}" for value in values)


def conjugate(q: Vector) -> Vector:
    return (q[0], -q[1], -q[2], -q[3])


def rotated(q: Vector, v: Vector) -> Vector:
    result = np.zeros(3)
    mujoco.mju_rotVecQuat(result, np.array(v, float), np.array(q, float))
    return tuple(float(x) for x in result)


def geom_of(scene: Scene, body: Body) -> str:
    radius, length = scene.setting("radius"), scene.setting("length")
    mass = scene.setting("mass")
    if body.kind == "long":
        mass = scene.setting("long_mass") or mass
    if body.kind in HALF:
        shape = f'type="box" size="{text_of(HALF[body.kind])}"'
    elif length > 0:
        shape = f'type="capsule" size="{radius} {length / 2}"'
    else:
        shape = f'type="sphere" size="{radius}"'
    return f'<geom {shape} mass="{mass}"/>'


def placed(scene: Scene, number: int) -> str:
    """A body with those that it holds rigidly, whose places are in its frame."""
    body = scene.bodies[number]
    position, orientation, joint = body.position, body.orientation, "<freejoint/>"
    if body.locked:
        joint = ""
    elif body.held and body.held[0] == "ball":
        at = tuple(a - p for a, p in zip(body.held[2], position, strict=True))
        joint = f'<joint type="ball" pos="{text_of(rotated(conjugate(orientation), at))}"/>'
    elif body.held:
        holder, joint = scene.bodies[body.held[1]], ""
        assert holder.orientation == UPRIGHT, "kept simple"
        position = tuple(a - b for a, b in zip(position, holder.position, strict=True))
    inner = "".join(
        placed(scene, k)
        for k, other in enumerate(scene.bodies)
        if other.held and other.held[:2] == ("fixed", number)
    )
    where = f'pos="{text_of(position)}" quat="{text_of(orientation)}"'
    return f'<body name="{number}" {where}>{joint}{geom_of(scene, body)}{inner}</body>'


def model_of(scene: Scene) -> mujoco.MjModel:
    planes = ""
    for point, normal in [FLOOR, *([scene.plane] if scene.plane else [])]:
        where = f'pos="{text_of(point)}" zaxis="{text_of(normal)}"'
        planes += f'<geom type="plane" size="200 200 1" {where}/>'
    free = [k for k, b in enumerate(scene.bodies) if not (b.held and b.held[0] == "fixed")]
    bodies = "".join(placed(scene, k) for k in free)
    friction = f"{scene.setting('friction')} 0 0"
    return mujoco.MjModel.from_xml_string(f"""
      <mujoco>
        <option timestep="{TIME_STEP}" gravity="0 0 -{scene.setting("gravity")}" cone="elliptic"
                impratio="1000" integrator="RK4" tolerance="1e-14" iterations="200"/>
        <default>
          <geom condim="3" friction="{friction}" solref="0.001 1" solimp="0.99 0.9999 0.001"/>
        </default>
        <worldbody>{planes}{bodies}</worldbody>
      </mujoco>""")


def start(scene: Scene, model: mujoco.MjModel) -> mujoco.MjData:
    data = mujoco.MjData(model)
    for number, body in enumerate(scene.bodies):
        joint = model.body(str(number)).jntadr[0]
        if joint < 0:
            continue
        first = model.jnt_dofadr[joint]
        if not body.held:
            data.qvel[first : first + 3] = body.velocity
            first += 3
        data.qvel[first : first + 3] = rotated(conjugate(body.orientation), body.spin)
    mujoco.mj_forward(model, data)
    return data


def state_of(model: mujoco.MjModel, data: mujoco.MjData, number: int) -> Vector:
    """Position, orientation, velocity and spin in the world."""
    body = model.body(str(number)).id
    speed = np.zeros(6)
    mujoco.mj_objectVelocity(model, data, mujoco.mjtObj.mjOBJ_BODY, body, speed, 0)
    parts = (data.xpos[body], data.xquat[body], speed[3:], speed[:3])
    return tuple(float(x) for part in parts for x in part)


def layout(scene: Scene) -> Iterator[str]:
    yield f"scene {scene.name}"
    for name, value in scene.settings.items():
        yield f"set {name} {value:.9g}"
    if scene.plane:
        yield f"plane {text_of(scene.plane[0])} {text_of(scene.plane[1])}"
    for body in scene.bodies:
        state = (*body.position, *body.orientation, *body.velocity, *body.spin)
        yield f"{'locked' if body.locked else 'body'} {body.kind} {text_of(state)}"
    for number, body in enumerate(scene.bodies):
        if body.held:
            yield f"{body.held[0]} {body.held[1]} {number} {text_of(body.held[2])}"


def recording(scene: Scene) -> Iterator[str]:
    """The scene, and every sixth of its duration where the bodies are."""
    yield from layout(scene)
    model = model_of(scene)
    data = start(scene, model)
    steps = 0
    for frame in range(scene.frames // 6, scene.frames + 1, scene.frames // 6):
        while steps < round(frame * FRAME / TIME_STEP):
            mujoco.mj_step(model, data)
            steps += 1
        # The nearest whole number of MuJoCo's steps is up to half of one away.
        mujoco.mj_forward(model, data)
        late = frame * FRAME - steps * TIME_STEP
        for number in range(len(scene.bodies)):
            state = list(state_of(model, data, number))
            for axis in range(3):
                state[axis] += late * state[7 + axis]
            yield f"at {frame} {number} " + " ".join(f"{value:.6f}" for value in state)


def lines() -> Iterator[str]:
    yield f"# By record.py with MuJoCo {mujoco.__version__}."
    yield "# body: kind, position, orientation, velocity, spin. at: 1/30 s, body, the same."
    for scene in scenes():
        yield from recording(scene)


if __name__ == "__main__":
    RECORDING.write_text("\n".join(lines()) + "\n")
    print(f"wrote {RECORDING}")
