"""Calls of handlers as XLA makes them on a GPU: frames of its C interface (xla_c_api.h)."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

import numpy as np

_MINOR = 3
_TYPES = {"bool": 1, "int8": 2, "int32": 4, "uint8": 6, "uint16": 7, "uint32": 8, "float32": 11}
_EXECUTE, _BUFFER, _STRING = 3, 1, 4
_Any = ctypes.c_void_p


def _structure(name: str, fields: Sequence[tuple[str, Any]]) -> Any:
    first = [("struct_size", ctypes.c_size_t), ("extension_start", _Any)]
    return type(name, (ctypes.Structure,), {"_fields_": [*first, *fields]})


class _Text(ctypes.Structure):
    _fields_ = [("ptr", ctypes.c_char_p), ("len", ctypes.c_size_t)]


_Buffer = _structure(
    "_Buffer",
    [("dtype", ctypes.c_int), ("data", _Any), ("rank", ctypes.c_int64), ("dims", _Any)],
)
_List = _structure("_List", [("size", ctypes.c_int64), ("types", _Any), ("all", _Any)])
_Attrs = _structure(
    "_Attrs", [("size", ctypes.c_int64), ("types", _Any), ("names", _Any), ("all", _Any)]
)
_Version = _structure("_Version", [("major", ctypes.c_int), ("minor", ctypes.c_int)])
_NewError = _structure("_NewError", [("message", ctypes.c_char_p), ("code", ctypes.c_int)])
_GetStream = _structure("_GetStream", [("ctx", _Any), ("stream", _Any)])
_FUNCTIONS = 18  # of the interface
_Api = _structure(
    "_Api", [("version", _Version), ("internal", _Any), ("functions", _Any * _FUNCTIONS)]
)
_Frame = _structure(
    "_Frame",
    [
        ("api", _Any),
        ("ctx", _Any),
        ("stage", ctypes.c_int),
        ("args", _List),
        ("rets", _List),
        ("attrs", _Attrs),
        ("future", _Any),
    ],
)
_Function = ctypes.CFUNCTYPE(_Any, _Any)


def _pointers(objects: Sequence[Any]) -> Any:
    return (_Any * len(objects))(*map(ctypes.addressof, objects))


class Xla:
    """What calls handlers, on one stream.

    Args:
        handlers: Of `bindings.xla_handlers`, by name.
        stream: Handle of a stream.
    """

    def __init__(self, handlers: dict[str, Any], stream: int) -> None:
        find = ctypes.pythonapi.PyCapsule_GetPointer
        find.restype, find.argtypes = _Any, [ctypes.py_object, _Any]
        self._handlers = {name: _Function(find(one, None)) for name, one in handlers.items()}
        self._stream, self._problem = stream, ""
        self._kept = [_Function(self._new_error), _Function(self._get_stream)]
        self._api = _Api(struct_size=ctypes.sizeof(_Api))
        for place, function in zip((0, 4), self._kept, strict=True):
            self._api.functions[place] = ctypes.cast(function, _Any).value

    def _new_error(self, given: int) -> int:
        self._problem = _NewError.from_address(given).message.decode()
        return 1  # whatever is not null

    def _get_stream(self, given: int) -> int:
        _GetStream.from_address(given).stream = self._stream
        return 0

    def call(self, name: str, given: Sequence[Any], results: Sequence[Any], outputs: str) -> None:
        """Call a handler with arrays of the device; an error of it is raised.

        Args:
            name: step or reset.
            given: Its arguments.
            results: What it writes.
            outputs: Names between commas.
        """
        alive: list[Any] = []

        def listed(arrays: Sequence[Any]) -> Any:
            buffers = []
            for array in arrays:
                dims = (ctypes.c_int64 * len(array.shape))(*array.shape)
                data = getattr(array, "__cuda_array_interface__", None) or array.__array_interface__
                buffer = _Buffer(dtype=_TYPES[np.dtype(array.dtype).name], data=data["data"][0])
                buffer.rank, buffer.dims = len(dims), ctypes.addressof(dims)
                alive.append(dims)
                buffers.append(buffer)
            types, all_ = (ctypes.c_int * len(buffers))(_BUFFER), _pointers(buffers)
            alive.extend((buffers, types, all_))
            at = [ctypes.addressof(one) for one in (types, all_)]
            return _List(ctypes.sizeof(_List), None, len(buffers), *at)

        texts = [_Text(text, len(text)) for text in (b"outputs", outputs.encode())]
        places = [_pointers([text]) for text in texts]
        kinds = (ctypes.c_int * 1)(_STRING)
        own = [ctypes.addressof(one) for one in (kinds, *places)]
        frame = _Frame(struct_size=ctypes.sizeof(_Frame), stage=_EXECUTE)
        frame.api = ctypes.addressof(self._api)
        frame.args, frame.rets = listed(given), listed(results)
        frame.attrs = _Attrs(ctypes.sizeof(_Attrs), None, 1, *own)
        if self._handlers[name](ctypes.addressof(frame)):
            raise RuntimeError(self._problem)
