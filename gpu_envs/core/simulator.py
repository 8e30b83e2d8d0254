"""Owns one native simulator: its arrays, steps, resets, columns and saves.

Everything that presents environments to a library (`vector`, `single`, ...) is a thin layer over
this class. Outputs are shaped (worlds, agents, ...); the `*_arrays` methods hand the same memory to
those layers as rows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from typing import Any

import numpy as np

from gpu_envs import errors
from gpu_envs.core import arrays as array_libraries
from gpu_envs.core import copies, faults, layout, options, own_values, resets, roles, spaces
from gpu_envs.core.actions import ActionReader
from gpu_envs.core.autoreset import AutoresetMode
from gpu_envs.core.kind_layout import KindLayout
from gpu_envs.core.options import Options, picture_layers
from gpu_envs.core.parameters import checked_parameters
from gpu_envs.core.pictures import Traces
from gpu_envs.core.resets import ResetOptions
from gpu_envs.core.role_actions import RoleActions
from gpu_envs.core.roles import Role
from gpu_envs.core.streams import Streams
from gpu_envs.core.varying import Changes
from gpu_envs.core.world_views import WorldViews
from gpu_envs.known import fields, native, outputs, registration
from gpu_envs.known.fields import read as read_fields
from gpu_envs.known.outputs import Outputs

_MASK_TYPES = ("int8", "uint8", "bool")


@options.documented()
class Simulator(WorldViews):
    """N worlds of one environment on one machine.

    Args:
        name: Id of the environment, with or without "gpu_envs/".
        num_worlds: How many worlds.
        (options): Each field of `Options` (core/options.py) is a keyword; `help` lists them.
        **parameters: The environment's own parameters (`python -m gpu_envs info ID`).
    """

    def __init__(
        self,
        name: str,
        num_worlds: int,
        *,
        device: str = "auto",
        arrays: str | None = None,
        threads: int | None = None,
        first_world: int = 0,
        level_count: int = 0,
        first_level: int = 0,
        autoreset_mode: AutoresetMode | str = "SameStep",
        ends: str = "agent",
        max_episode_steps: int | None = None,
        varies: Sequence[str] = (),
        strict: bool = False,
        reuse: bool = False,
        outputs: Sequence[str] | None = None,
        actions: str | None = None,
        observation: str = "flat",
        dtype: str | None = None,
        final_rows: str = "zero",
        roles: str = "padded",
        **parameters: Any,
    ) -> None:
        given = Options(**options.among(locals()))
        self._make_again = partial(type(self), name, num_worlds, **vars(given), **parameters)
        machine, ordinal = native.prepare(device, name)
        description = registration.find(name)
        self.name: str = description["id"]
        worlds = errors.whole(num_worlds, "num_worlds", 1, options.WORLD_LIMIT)
        made = given.checked(machine, description, worlds)
        described = read_fields(description["parameters"])
        common, by_world = own_values.split(described, parameters | picture_layers(observation))
        own = checked_parameters(description, common)
        laws = {name: own_values.law_of(name, value, worlds) for name, value in by_world.items()}
        made["varies"] = tuple(dict.fromkeys([*made["varies"], *laws]))
        self.device = "cpu" if machine == "cpu" else f"cuda:{ordinal}"
        self.arrays: str = made["arrays"]
        self.strict: bool = made["strict"]
        self.reuse: bool = made["reuse"]
        self.observation: str = made["observation"]
        self.ends: str = made["ends"]
        self._keeps_rows = made["final_rows"] == "keep"
        config = {option: made[option] for option in options.NATIVE}
        self._native: Any = native.make(
            machine, self.name, worlds, device=ordinal, parameters=own, changes=laws, **config
        )
        self._adopt(machine, ordinal, made["outputs"] or ())

    def _adopt(self, machine: str, ordinal: int, wanted: Sequence[str]) -> None:
        """Read the native description and build what every step uses."""
        self.instance: dict[str, Any] = layout.instance(self._native)
        self.num_worlds: int = self.instance["num_worlds"]
        self.agents_per_world: int = self.instance["agents_per_world"]
        self.agent_names: list[str] = self.instance["agent_names"]
        self.autoreset_mode = AutoresetMode(self.instance["autoreset_mode"])
        self.max_episode_steps: int = self.instance["time_limit"]
        self._parameter_fields = read_fields(self.instance["parameters"])
        self._read_parameters()
        self.np_random_seed: int | tuple[int, ...] | None = None
        layout.check_existing(self.instance, wanted)
        written = self._native.outputs
        self.layout = layout.read(self.instance, written, array_libraries.ALIGNMENT[machine])
        bindings, place = native.module(machine), (machine, ordinal)
        found = [self.layout.output(name) for name in written]
        self.written = tuple(output for output in found if output is not None)  # in their order
        self._arrays = array_libraries.make(
            self.arrays, self._native, bindings.Addresses, self.layout, place
        )
        self._streams = Streams(bindings, ordinal, self._arrays)
        shape = (self.num_worlds, self.agents_per_world)
        self.action_fields = action_fields = read_fields(self.instance["action"])
        self.kinds = KindLayout(self.instance)
        to_device, device_of = self._arrays.to_device, bindings.device_of
        self._actions = ActionReader(self.kinds.action_form, place, to_device, device_of)
        self._masks = resets.MaskReader(*shape, place, to_device, device_of)
        self._reset_fields = read_fields(self.instance["reset_options"])
        self.observation_fields = read_fields(self.instance["observation"])
        seen = self._read_spaces()
        self.single_observation_space: Any = seen[0]  # None where roles are split
        self.views = seen[1]
        self.reward_fields = tuple(read_fields(self.instance["reward_parts"]))
        self.reward_parts = tuple(field.name for field in self.reward_fields)
        self.measure_fields = tuple(read_fields(self.instance.get("measures", [])))
        self.single_action_space: Any = (
            None if self.kinds.is_split else spaces.action_space(action_fields)
        )
        self._own: dict[bool, array_libraries.Binding] = {}
        # Whether the reused arrays tell which rows of final_obs a step has to clear.
        final = self.layout.output("final_obs")
        self._marks_rows = self.reuse and final is not None and not self._keeps_rows
        self._pooled = self._arrays.pooled and not self.reuse
        self._converts = self._arrays.converts
        self._mirror, self._traces = None, Traces()
        has_mask = "action_mask" in self.instance["outputs"]
        if not self.strict:
            self.report_illegal(partial(faults.warn_illegal, self.name, has_mask))
        self._is_ready = self._is_written = False
        self.changes = 0  # of the worlds, but for steps
        self._has_sampled = False
        self._step: Callable[..., Any] = faults.refuse_unready
        self._step_numpy: Callable[..., Any] = faults.refuse_unready

    def _read_spaces(self) -> spaces.Seen:
        """Read what an agent observes; of roles, whose rows are their own, nothing here."""
        observation = self.layout.output("obs")
        assert observation is not None  # of the required outputs
        if not self.kinds.is_one and self.observation != "flat":
            raise ValueError(f"observation='dict' is not offered for the roles of {self.name}")
        if self.kinds.is_split:
            return None, None
        row = observation.shape[2:]
        if self.instance["packed"]:
            self.observation_fields = (fields.packed(row[0]),)
        if self.instance.get("pictures"):
            numbers = self.kinds.kinds[0].numbers
            return spaces.of_pictures(self.observation_fields, self.observation, numbers)
        return spaces.of_rows(self.observation_fields, row, observation.type, self.observation)

    # The two calls of every loop.

    def step(
        self,
        actions: object,
        *,
        out: object = None,
        stream: object = None,
        worlds: object = None,
    ) -> Outputs:
        """Run one step of every world, or of some.

        Args:
            actions: (worlds, agents[, k]); anything that speaks DLPack, or a list; or a dict by
                role of (worlds, agents of the role[, k]). With `roles="split"` one array has all
                roles, one after the other.
            out: Arrays to write into by output name; outputs not named are fresh.
            stream: CUDA stream to enqueue on; default the array library's current one. It waits for
                the current stream first, and that one for it afterwards.
            worlds: Which worlds step: a bool or uint8 per world, or per row with the rows of a
                world equal; None for all. The others stay as they are: their actions may be
                anything, their rewards are 0 and their flags False, but those of a finished world,
                which repeats its own. On a GPU the mask may lie on the device.
        """
        results = self.step_arrays(actions, False, out, stream, worlds)
        return results if self.views is None else self._presented(results)

    def reset(
        self,
        *,
        seed: int | Sequence[int] | None = None,
        mask: object = None,
        options: Mapping[str, Any] | None = None,
        out: object = None,
        stream: object = None,
    ) -> Outputs:
        """Begin new episodes in all worlds, or in those of `mask`; the whole batch comes back.

        Args:
            seed: An int for the batch, or a list with one per world; None continues the random
                streams.
            mask: Bool per world, or per row with the rows of a world equal.
            options: Described options of the environment, for this call only.
            out: As in `step`.
            stream: As in `step`.
        """
        request = dict(resets.checked_options(options))
        if mask is not None:
            request["reset_mask"] = mask
        return self._presented(self.reset_arrays(seed, request, False, out, stream))

    def observe(self, out: object = None, *, stream: object = None) -> Outputs:
        """Return the current observation again; arguments as in `step`."""
        return self._presented(self.observe_arrays(False, out, stream))

    def observe_arrays(self, flat: bool, out: object = None, stream: object = None) -> Outputs:
        """Observe and return all outputs but those that only a step writes."""
        self._require_ready("observe")
        addresses, results = self._destination(flat, out)
        native = self._native
        self._streams.enqueue(lambda on: native.observe(addresses, on), stream, None, results)
        finished = zip(self.layout.outputs, self._arrays.finish(results), strict=True)
        return Outputs(*(None if o is None or o.by_a_step else array for o, array in finished))

    def step_arrays(
        self,
        actions: object,
        flat: bool,
        out: object = None,
        stream: object = None,
        worlds: object = None,
    ) -> Outputs:
        """Step and return all outputs; flat ones are (worlds * agents, ...)."""
        if worlds is not None:
            return self._step_some(actions, flat, out, stream, worlds)
        if type(actions) is dict:
            actions = self._read_actions(actions)
        if out is None and self._pooled:
            results: Outputs | None = None
            try:  # the native reader judges type and shape before any world moves
                results = self._step_numpy(actions, flat)
            except (TypeError, ValueError):
                if self._actions.is_native(actions):
                    raise
            if results is None:
                results = self._step_numpy(self._read_actions(actions), flat)
        else:
            if isinstance(actions, Mapping):
                actions = self._read_actions(actions)
            address, kind, alive, maker = self._actions.locate(actions)
            addresses, results = self._destination(flat, out)
            if stream is None and maker is None:
                self._step(address, kind, addresses, self._arrays.stream())
            else:
                self._streams.enqueue(
                    lambda on: self._step(address, kind, addresses, on),
                    stream,
                    maker,
                    (alive, *results),
                )
        if self._converts:
            results = self._arrays.finish(results)
        if self.strict:
            self.check()
        return results

    def step_into(self, actions: object, results: Sequence[Any]) -> None:
        """Step, and write rows into arrays that are right: nothing of them is checked.

        Args:
            actions: As in `step`.
            results: Contiguous arrays of this simulator's library on its machine in the order of
                `Outputs`; None for what is not written.
        """
        address, kind, _kept, _ = self._actions.locate(actions)
        self._step(address, kind, self._arrays.addresses_of(results), self._arrays.stream())

    def _step_some(
        self, actions: object, flat: bool, out: object, stream: object, worlds: object
    ) -> Outputs:
        self._require_ready("step")
        mask, mask_kept, mask_maker = self._masks.locate(resets.STEP_MASK, worlds)
        if isinstance(actions, Mapping):
            actions = self._read_actions(actions)
        native = self._native
        if out is None and self._pooled:
            results: Outputs | None = None
            try:  # as in step_arrays
                results = native.step_some_numpy(actions, flat, mask)
            except (TypeError, ValueError):
                if self._actions.is_native(actions):
                    raise
            if results is None:
                results = native.step_some_numpy(self._actions.host(actions), flat, mask)
        else:
            address, kind, kept, maker = self._actions.locate(actions)
            addresses, results = self._destination(flat, out)
            self._streams.enqueue(
                lambda on: native.step_some(address, kind, addresses, on, mask),
                stream,
                (maker, mask_maker),
                (kept, mask_kept, *results),
            )
        if self._converts:
            results = self._arrays.finish(results)
        if self.strict:
            self.check()
        return results

    def _read_actions(self, actions: object) -> Any:
        """Return actions as NumPy's, or those by role as one array; the same object where it is."""
        if not isinstance(actions, Mapping):
            return self._actions.host(actions)
        if self.is_closed:
            self.check()  # says so
        return self.role_actions.read(actions)

    def reset_arrays(
        self,
        seed: object,
        options: ResetOptions,
        flat: bool,
        out: object = None,
        stream: object = None,
    ) -> Outputs:
        """Reset as `reset` does, with the mask among the options, and return all outputs."""
        seeds = resets.checked_seed(seed, self.num_worlds)
        options = dict(resets.checked_options(options))
        given = self._reset_laws(options)
        key, mask, values = resets.split_options(options, self._reset_fields, self.name)
        address, alive, maker = (0, None, None) if key is None else self._masks.locate(key, mask)
        if not self._is_ready:
            if key is not None:
                raise errors.ResetNeeded(f"{key}: the first reset has to be of all worlds")
            seeds = resets.fresh_seed() if seeds is None else seeds
        changes, worlds = self._changes_of_reset(given, key, mask)
        addresses, results = self._destination(flat, out)
        own = (changes, worlds) if changes else ()
        if changes:
            self._streams.settle("reset() with parameters")
        self._streams.enqueue(
            lambda on: self._native.reset(seeds, address, values, addresses, on, *own),
            stream,
            maker,
            (alive, *results),
        )
        if seeds is not None:
            self.np_random_seed = tuple(seeds) if isinstance(seeds, list) else seeds
            self._traces.clear()  # episodes are numbered again from 0
        if changes and not self.varies:
            self._read_parameters()
        self.changes += 1
        self._set_ready()
        return self._arrays.finish(results)

    def _changes_of_reset(
        self, given: Mapping[str, Any], key: str | None, mask: Any
    ) -> tuple[Changes, list[int] | None]:
        """Return parameters for a reset, and the worlds that it resets; None for all."""
        changes = self._laws(given, self.num_worlds)
        if not changes or key is None:
            return changes, None
        chosen = np.flatnonzero(self._masks.on_host(key, mask))
        for name, (law, numbers) in changes.items():
            if law == "given" and len(numbers) > 1:
                changes[name] = law, [numbers[world] for world in chosen]
        return changes, chosen.tolist()

    def sample_actions(
        self, mask: Any = None, *, seed: int = 0, out: Any = None, stream: object = None
    ) -> Any:
        """Draw a uniformly random action for every agent, natively, on the simulator's machine.

        Floats are drawn evenly between their bounds; within 1 of the only bound where there is one,
        and between -1 and 1 where there is none.

        Args:
            mask: The `action_mask` of the last call, whose zeros are not drawn; None allows all.
                Of several categories a row has the mask of the first, then that of the second, ...
                Where none is allowed, the action is 0. Contiguous int8, uint8 or bool of the
                simulator's library and device; NumPy's do for any on the CPU.
            seed: Of the draws, in [0, 2^64); each call draws other actions, by its number, and so
                does each replay of a call that was captured into a CUDA graph.
            out: Array to write into, of the simulator's library, with the type and shape of what
                is returned.
            stream: As in `step`.

        Returns:
            Actions for `step`: int32 categories or float32 numbers of shape (worlds, agents[, k]).
            With `roles="split"` those of all roles, one after the other; where some roles act in
            floats and some in categories, all are int32, floats by their bits.
        """
        whole_seed = errors.whole(seed, "seed", 0, resets.SEED_LIMIT - 1)
        form = self.kinds.action_form
        shape, kind = form.drawn_shape, "float32" if form.is_float else "int32"
        address, kept = 0, None
        if mask is not None:
            shapes = self.kinds.mask_shapes()
            wanted = array_libraries.Wanted("mask", _MASK_TYPES, shapes, is_written=False)
            address, kept = self._arrays.locate(mask, wanted)
        actions = self._arrays.empty(shape, kind) if out is None else out
        if out is not None:
            self._arrays.check(out, array_libraries.Wanted("out", (kind,), (shape,)))
        to = self._arrays.address(actions)
        self._streams.enqueue(
            lambda on: self._native.sample_actions(address, whole_seed, to, on),
            stream,
            None,
            (kept, actions),
        )
        self._has_sampled = True
        return actions

    def require_array(self, array: Any, wanted: array_libraries.Wanted) -> None:
        """Refuse an array of another form, library or device."""
        self._arrays.check(array, wanted)

    def require_options(self, options: ResetOptions) -> None:
        """Refuse options that `reset` would refuse."""
        given = dict(resets.checked_options(options))
        self._laws(self._reset_laws(given), self.num_worlds)
        resets.split_options(given, self._reset_fields, self.name)

    def empty(self, shape: tuple[int, ...], kind: str) -> Any:
        """Return an array of this simulator's library on its machine, not filled."""
        return self._arrays.empty(shape, kind)

    # Who is what.

    @cached_property
    def roles(self) -> tuple[Role, ...]:
        """Roles of the agents, in the order of their first agents; one where nothing is said."""
        return roles.roles_of(self)

    @cached_property
    def role_actions(self) -> RoleActions:
        """The array of all actions, written role by role."""
        return RoleActions(self, self.kinds, self.roles)

    def by_role(self, array: Any, name: str | None = None) -> dict[str, Any]:
        """Return each role's part, (worlds, agents of the role, ...), of an output with agents.

        Parts are views where the agents of a role stand beside each other, and the library's
        arrays have views. `name` says which output it is, as of `roles="split"` two may have the
        same form.
        """
        return roles.by_role(self, array, name)

    # What went wrong, and the end.

    def check(self) -> None:
        """Raise what went wrong since the last check: bad actions, full tables, frozen steps.

        On a GPU this, `get`, `set`, `save`, `load`, `copy_worlds` and `render` wait for the array
        library's current stream, and for the one that was current at the call before.
        """
        self._streams.settle("check()")
        faults.raise_faults(self._native.faults(), self.name)

    def report_illegal(self, report: Callable[[int], object] | None) -> None:
        """Call `report` with the number of illegal actions after the first step that has any (CPU).

        By default the report is a warning. None is for a caller that calls `check` after each step.
        """
        self._native.set_illegal_report(report)

    @property
    def memory_bytes(self) -> int:
        """Bytes held by the native simulator."""
        return int(self._native.memory_bytes)

    def open_session(self, call: str, settles: bool = False) -> tuple[int, int]:
        """Return the number by which programs find the worlds, and how many calls they had.

        The calls are steps, resets, and whatever else changed worlds.

        Args:
            call: Who asks, for a message.
            settles: Wait for a GPU's work so far: programs run on streams that do not.
        """
        self._require_ready(call)
        if settles:
            self._streams.settle(call)
        session: tuple[int, int] = self._native.open_session()
        return session

    def close(self) -> None:
        """Release everything; a second call does nothing."""
        if self.is_closed:
            return
        self._native.close()
        if self._mirror is not None:
            self._mirror.close()
        self._native = faults.Closed(self.name)
        self._arrays.native = self._native
        self._step = self._step_numpy = self._native.refuse
        self._own.clear()

    @property
    def has_begun(self) -> bool:
        """Whether anything was done to the worlds that another simulator would have to repeat."""
        return self._is_ready or self._is_written or self._has_sampled

    def __reduce__(self) -> copies.Recipe:
        """Return how to make another one, which is all there is before the first reset."""
        return copies.recipe(self, self._make_again, self.has_begun, self.is_closed)

    def __repr__(self) -> str:
        """Return name, size and device."""
        size = layout.size_in_words(self.num_worlds, self.agents_per_world)
        state = "closed" if self.is_closed else f"{size} on {self.device}"
        return f"<Simulator {self.name}: {state}>"

    # Helpers.

    def _destination(self, flat: bool, out: object) -> array_libraries.Binding:
        if out is None:
            return self._own_arrays(flat) if self.reuse else self._arrays.fresh(flat)
        if not self._arrays.rewritable:
            raise ValueError(
                f"out= is not possible with arrays={self.arrays!r}: they are immutable"
            )
        if isinstance(out, Outputs):
            first = self.observation_fields[0].name  # of several layers the one that `obs` is
            are_layers = self.instance.get("pictures", False)
            out = {
                name: array[first] if are_layers and isinstance(array, Mapping) else array
                for name, array in out._asdict().items()
                if array is not None
            }
        if not isinstance(out, Mapping):
            raise TypeError(
                f"out must be a dict of arrays by output name, got {type(out).__name__}"
            )
        binding = self._arrays.bind(out, flat, self._own_arrays(flat) if self.reuse else None)
        marked = [
            name in out for name in ("ended", *outputs.FINAL_LAYERS) if self.layout.output(name)
        ]
        if any(marked) and not all(marked):
            self._mark_rows(False)
        return binding

    def _own_arrays(self, flat: bool) -> array_libraries.Binding:
        """Return the arrays of `reuse=`, of which a step clears no more than it has to.

        Their `ended` says which rows of `final_obs` the step before has filled. Not so once a call
        wrote one of the two elsewhere; nor for sure in a capture, which may be replayed after that.
        """
        if flat not in self._own:
            own = self._own[flat] = self._arrays.own(flat)
            for name in ("ended", *outputs.FINAL_LAYERS):
                self._arrays.clear(getattr(own[1], name))
            # Cleared while a capture goes on, they are empty once it was replayed.
            self._mark_rows(self._marks_rows and not self._streams.is_capturing())
        elif self._marks_rows and self._streams.can_capture:
            self._own[flat][0].clear_ended = not self._streams.is_capturing()
        return self._own[flat]

    def _mark_rows(self, on: bool) -> None:
        self._marks_rows = on
        for addresses, _ in self._own.values():
            addresses.clear_ended = on

    def _presented(self, results: Outputs) -> Outputs:
        """Observations by field or by layer, where they were asked for as dicts."""
        if self.views is None:
            return results
        return results._replace(
            obs=self.views.observed(results), final_obs=self.views.last(results)
        )
