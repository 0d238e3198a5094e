"""`torch.jit`: compile, save and load TorchScript."""

from __future__ import annotations

from typing import Final

from ..frontend.exceptions import ScriptError as Error
from ..frontend.exceptions import ScriptWarning
from ..typecheck.names import SpecialForm
from .archives import load, save
from .classes import interface
from .decorators import Attribute, annotate, export, ignore, is_scripting, unused
from .function import ScriptFunction, ScriptMethod
from .module import RecursiveScriptModule, ScriptModule
from .overloads import overload as _overload
from .overloads import overload_method as _overload_method
from .resolver import register_special
from .script import script, script_method
from .session import collecting

__all__ = [
    "Attribute",
    "Error",
    "Final",
    "RecursiveScriptModule",
    "ScriptFunction",
    "ScriptMethod",
    "ScriptModule",
    "ScriptWarning",
    "_overload",
    "_overload_method",
    "annotate",
    "collecting",
    "export",
    "ignore",
    "interface",
    "is_scripting",
    "load",
    "save",
    "script",
    "script_method",
    "unused",
]

register_special(annotate, SpecialForm("annotate"))
register_special(is_scripting, SpecialForm("is_scripting"))
