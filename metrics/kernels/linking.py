"""Compiling what only kernels call: as far as it takes to be linked into them, where it is optimised with the rest.

Numba optimises every function and makes machine code of it, of which none is ever run here. All of this is Numba's own.
"""

# mypy: disable-error-code="no-untyped-call"

from __future__ import annotations

from typing import Any

from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import register_pass
from numba.core.typed_passes import NativeLowering


class _NoEngine:
    """Where machine code would know its globals."""

    def set_env(self, name: str, environment: object) -> None:
        """There is none."""


class _Linked(JITCodeLibrary):
    """What a function is translated to, never made machine code."""

    codegen = _NoEngine()

    def get_pointer_to_function(self, name: str) -> int:
        return 0

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True


@register_pass(mutates_CFG=True, analysis_only=False)
class _Lowering(NativeLowering):
    _name = "lowering_to_be_linked"

    def run_pass(self, state: Any) -> bool:
        state.library = _Linked(state.targetctx.codegen(), state.func_id.func_qualname)
        return bool(super().run_pass(state))


class LinkedOnly(CompilerBase):
    """Numba's compiler of nopython functions, up to the translation."""

    def define_pipelines(self) -> list[Any]:
        """The one way, with another last step."""
        steps = DefaultPassBuilder.define_nopython_pipeline(self.state)
        steps.passes = [(_Lowering if step is NativeLowering else step, what) for step, what in steps.passes]
        steps._finalized = False
        steps.finalize()
        return [steps]
