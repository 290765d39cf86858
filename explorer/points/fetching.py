"""Asking for memory ahead of time: kernels that look up tables far apart mostly wait for them."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic


def _fetch(_typing: Any, array: Any, index: Any) -> Any:
    """Begin to load the cache line of an entry of a flat array; changes nothing.

    For kernels. A position beyond the array's end is harmless. LLVM's `llvm.prefetch`, for reading
    and to be kept in all caches.
    """

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        values = context.make_array(signature.args[0])(context, builder, args[0])
        place = builder.bitcast(builder.gep(values.data, [args[1]]), ir.IntType(8).as_pointer())
        word = ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [place.type, word, word, word])
        call = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0i8")
        builder.call(call, [place, word(0), word(3), word(1)])
        return context.get_dummy_value()

    return types.void(array, index), generate


fetch: Any = intrinsic(_fetch)
