"""What `--json` prints, as JSON Schemas (draft 2020-12): one a command, of one line of its output.

docs/json.md is made of this table.  Names may be added later; none is taken away or changes its
meaning without a line in the changelog.
"""

from __future__ import annotations

from typing import Final

__all__ = ["SCHEMAS"]

Schema = dict[str, object]


def _record(*optional: str, **properties: Schema) -> Schema:
    """An object with these properties, which are all there but for the optional ones."""
    return {
        "type": "object",
        "properties": properties,
        "required": [name for name in properties if name not in optional],
        "additionalProperties": False,
    }


def _list(of: Schema) -> Schema:
    return {"type": "array", "items": of}


def _by_name(of: Schema) -> Schema:
    return {"type": "object", "additionalProperties": of}


def _or_null(of: Schema) -> Schema:
    return {"anyOf": [of, {"type": "null"}]}


_TEXT: Final[Schema] = {"type": "string"}
_COUNT: Final[Schema] = {"type": "integer", "minimum": 0}
_NUMBER: Final[Schema] = {"type": "number"}
_SIZES: Final = _list(_COUNT)

_PLACE: Final = _record(line=_COUNT, column=_COUNT)

_MODULE: Final[Schema] = _record(
    name=_TEXT,
    methods=_list(_TEXT),
    tensors=_list(
        _record(name=_TEXT, kind=_TEXT, dtype=_TEXT, shape=_SIZES, numel=_COUNT, bytes=_COUNT)
    ),
    parameters=_COUNT,
    bytes=_COUNT,
    modules=_list({"$ref": "#/$defs/module"}),
    **{"class": _TEXT},
)

_VALUE: Final[Schema] = {
    "anyOf": [
        {"type": ["null", "boolean", "number", "string"]},
        _list({"$ref": "#/$defs/value"}),
        _record(dtype=_TEXT, shape=_SIZES, data={"$ref": "#/$defs/value"}),
        _by_name({"$ref": "#/$defs/value"}),
    ],
    "description": "a tensor is an object with dtype, shape and data; nan, inf, -inf and complex "
    "numbers are strings",
}

_FRAME: Final[Schema] = _record(
    name=_TEXT,
    kind=_TEXT,
    place=_TEXT,
    module=_TEXT,
    calls=_COUNT,
    us=_NUMBER,
    inside=_list({"$ref": "#/$defs/frame"}),
)

_DIAGNOSTIC: Final = _record(
    schema={"const": 1},
    code=_TEXT,
    severity={"enum": ["error", "warning", "bug"]},
    message=_TEXT,
    function=_TEXT,
    spans=_list(
        _record(
            file=_or_null(_TEXT),
            start=_PLACE,
            end=_PLACE,
            primary={"type": "boolean"},
            label=_TEXT,
        )
    ),
    notes=_list(_TEXT),
    values=_list(_record(expression=_TEXT, value=_TEXT)),
    stack=_list(_record(function=_TEXT, file=_or_null(_TEXT), line=_COUNT, text=_TEXT)),
    helps=_list(
        _record(
            message=_TEXT,
            applicability=_TEXT,
            edits=_list(
                _record(file=_or_null(_TEXT), line=_COUNT, remove=_list(_TEXT), insert=_list(_TEXT))
            ),
        )
    ),
    torch_message=_TEXT,
    explain=_TEXT,
)

_DIFFERENCE: Final[dict[str, Schema]] = {
    "norms": _list(_NUMBER),
    "norm of difference": _NUMBER,
    "largest difference": _NUMBER,
    "elements": _COUNT,
}
"""What is told of weights of the same dtype and sizes."""

_VIEWS: Final = ("code", "graph", "inlined-graph", "instructions", "tree")

SCHEMAS: Final[dict[str, Schema]] = {
    "audit": _record(
        file=_TEXT,
        kind=_TEXT,
        severity={"enum": ["none", "note", "odd", "unreadable", "danger"]},
        findings=_list(_record(severity=_TEXT, code=_TEXT, text=_TEXT)),
        operators=_by_name(_list(_TEXT)),
        classes=_list(_TEXT),
        records=_COUNT,
    ),
    "check": _DIAGNOSTIC,
    "convert": _record(source=_TEXT, written=_list(_TEXT)),
    "diff": _record(
        first=_TEXT,
        second=_TEXT,
        code=_list(_record(file=_TEXT, diff=_TEXT)),
        constants=_list(_record(name=_TEXT, first=_or_null(_TEXT), second=_or_null(_TEXT))),
        weights=_list(
            _record(
                *_DIFFERENCE,
                name=_TEXT,
                first=_or_null(_TEXT),
                second=_or_null(_TEXT),
                **_DIFFERENCE,
            )
        ),
    ),
    "explain": {
        "oneOf": [
            _record(code=_TEXT, line=_TEXT),
            _record(asked=_TEXT, text=_TEXT),
            _record(operator=_TEXT, text=_TEXT),
        ]
    },
    "profile": {
        **_record(
            file=_TEXT,
            name=_TEXT,
            calls=_COUNT,
            first_us=_NUMBER,
            usual_us=_NUMBER,
            timed_calls=_COUNT,
            timed_us=_NUMBER,
            functions=_list({"type": "object"}),
            operators=_list({"type": "object"}),
            lines=_list({"type": "object"}),
            modules=_list({"type": "object"}),
            tree={"$ref": "#/$defs/frame"},
        ),
        "$defs": {"frame": _FRAME},
    },
    "run": {
        **_record("input", file=_TEXT, method=_TEXT, input=_TEXT, result={"$ref": "#/$defs/value"}),
        "$defs": {"value": _VALUE},
    },
    "show": {
        "oneOf": [
            *(_record(file=_TEXT, method=_TEXT, **{view: _TEXT}) for view in _VIEWS),
            _record(file=_TEXT, modules={"$ref": "#/$defs/module"}),
            _record(file=_TEXT, constants=_by_name(_TEXT)),
            _record(file=_TEXT, extra=_by_name(_COUNT)),
            _record(file=_TEXT, bytecode=_TEXT),
        ],
        "$defs": {"module": _MODULE},
    },
    "summary": _record(
        file=_TEXT,
        model=_TEXT,
        inputs=_or_null(_list(_SIZES)),
        parameters=_COUNT,
        trainable=_COUNT,
        bytes=_COUNT,
        multiply_adds=_or_null(_COUNT),
        layers=_list(
            _record(
                name=_TEXT,
                depth=_COUNT,
                outputs=_or_null(_list(_SIZES)),
                parameters=_COUNT,
                multiply_adds=_or_null(_COUNT),
                tensors=_by_name(_SIZES),
                **{"class": _TEXT},
            )
        ),
    ),
    "view": _record(file=_TEXT, written=_TEXT),
    "warm-up": _record(folder=_TEXT, files=_COUNT, new=_COUNT),
    "what": _record(file=_TEXT, kind=_TEXT, hint=_TEXT, **{"is": _TEXT}),
}
"""By command: the schema of a line."""
