"""What kernels ask of the processor and numba has no word for."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic


def _fetch(_typing: Any, array: Any, index: Any) -> Any:
    """Begin to load the cache line of an entry of a flat array; changes nothing.

    For kernels that look up tables far apart: they mostly wait for them. A position beyond the
    array's end is harmless. LLVM's `llvm.prefetch`, for reading and to be kept in all caches.
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


def _distance(_typing: Any, _value: Any, _times: Any, _less: Any) -> Any:
    """|value x times - less| of three int32, as an int32; it wraps round beyond.

    Numba would multiply in 64 bits, and a compiler could then take half as many at a time.
    """

    def generate(_context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        apart = builder.sub(builder.mul(args[0], args[1]), args[2])
        other_way = builder.neg(apart)
        return builder.select(builder.icmp_signed(">", apart, other_way), apart, other_way)

    return types.int32(types.int32, types.int32, types.int32), generate


fetch: Any = intrinsic(_fetch)
distance: Any = intrinsic(_distance)
