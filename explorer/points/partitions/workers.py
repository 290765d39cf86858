"""Counting on Dask: processes or threads of this computer, or a cluster.

Dask promises that a result exists, not that it was computed once: a task may run any number of
times, and its key is added once, here. Nothing else is shared. The job, with the plan in it, is a
plugin of the workers, because a plugin is there again on a worker that starts later; data that is
scattered is gone with the last worker that held it. No worker draws noise, keeps a sum or writes.
"""

from __future__ import annotations

import logging
import os
import queue
import time
import uuid
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack
from typing import Any

from explorer.errors import InputError
from explorer.points.counting import Counted
from explorer.points.partitions.listing import Part

CountPart = Callable[[Part], Counted]

#: A task is given up when so many workers died with it in their hands.
ALLOWED_FAILURES = 25
#: Seconds to find a scheduler, and a worker.
PATIENCE = 20
#: Seconds to reach a worker.
CONNECT = 3
#: Seconds without any worker before counting is given up, and between looks at that.
ALONE, LOOK = 120.0, 5.0
_NAME = "explorer-counting"


def count_by_dask(
    count: CountPart, parts: list[Part], workers: str
) -> Generator[tuple[Part, Counted]]:
    """Yield every part and its counts, in any order, once.

    Parameters
    ----------
    count : what counts a part: a pure function that can be pickled
    parts : with different keys
    workers : "auto", "threads" or the address of a scheduler

    Raises
    ------
    InputError
        Without Dask, without a scheduler at the address, for what a part itself refuses, and
        where a part was lost too often.
    """
    distributed = _distributed()
    if not parts:
        return
    # Others may count on the same cluster: results of a task are handed to all who ask by its key.
    name = f"{_NAME}-{uuid.uuid4().hex}"
    with ExitStack() as stack:
        client = stack.enter_context(_client(distributed, workers, stack))
        client.register_plugin(_plugin(distributed, count), name=name)
        stack.callback(_quietly, client.unregister_worker_plugin, name)
        by_key = {f"{name}-{part.key}": part for part in parts}
        futures = [
            client.submit(_count, name, part, key=key, pure=False) for key, part in by_key.items()
        ]
        for future, counted in _results(client, futures):
            yield by_key[future.key], counted


def _results(client: Any, futures: list[Any]) -> Iterator[tuple[Any, Counted]]:
    """Every task and its result as they come; not for ever without a worker."""
    import distributed

    done: queue.Queue[Any] = queue.Queue()
    for future in futures:
        future.add_done_callback(done.put)
    left, alone_since = len(futures), time.monotonic()
    while left:
        future = None
        try:
            future = done.get(timeout=LOOK)
            # Done, and yet begun anew if the worker died that held the result.
            counted = future.result(timeout=LOOK)
        except (queue.Empty, TimeoutError):
            if future is not None:
                done.put(future)
            if client.nthreads():
                alone_since = time.monotonic()
            elif time.monotonic() - alone_since > ALONE:
                raise InputError(
                    "All workers are gone and none came back; look at why, and count again: what "
                    "was counted is kept if there is a checkpoint."
                ) from None
            continue
        except distributed.KilledWorker as error:
            raise InputError(
                "The workers died too often over one part of the points; look at their memory, "
                "or count without --dask."
            ) from error
        except (OSError, distributed.CancelledError, ModuleNotFoundError) as error:
            raise InputError(
                f"The workers could not count ({str(error)[:200]}); they need this program "
                "and the files at the same place."
            ) from error
        future.release()
        left, alone_since = left - 1, time.monotonic()
        yield future, counted


def _client(distributed: Any, workers: str, stack: ExitStack) -> Any:
    """A client of the cluster that was asked for."""
    import dask

    quiet = {
        "distributed.scheduler.allowed-failures": ALLOWED_FAILURES,
        # What a dead worker held is asked for so long before it is computed anew.
        "distributed.comm.timeouts.connect": f"{CONNECT}s",
        "distributed.worker.daemon": True,
    }
    stack.enter_context(dask.config.set(quiet))
    if workers in ("auto", "threads"):
        logging.getLogger("distributed").setLevel(logging.CRITICAL)
        processes = workers == "auto"
        cores = os.cpu_count() or 1
        cluster = distributed.LocalCluster(
            n_workers=cores if processes else 1,
            threads_per_worker=1 if processes else cores,
            processes=processes,
            dashboard_address=None,
            # Some free port: without, it complains where another cluster runs.
            scheduler_kwargs={"dashboard_address": "127.0.0.1:0"},
            silence_logs=logging.CRITICAL,
        )
        stack.enter_context(cluster)
        return distributed.Client(cluster, set_as_default=False)
    try:
        client = distributed.Client(workers, timeout=PATIENCE, set_as_default=False)
    except (OSError, ValueError, TimeoutError) as error:
        raise InputError(
            f"There is no Dask scheduler at {workers[:100]}; check the address, or use --dask auto."
        ) from error
    client.run_on_scheduler(_allow_failures)
    try:
        client.wait_for_workers(1, timeout=PATIENCE)
    except TimeoutError as error:
        client.close()
        raise InputError(
            f"The Dask scheduler at {workers[:100]} has no workers; start some, or use --dask auto."
        ) from error
    return client


def _allow_failures(dask_scheduler: Any = None) -> None:
    dask_scheduler.allowed_failures = max(dask_scheduler.allowed_failures, ALLOWED_FAILURES)


def _plugin(distributed: Any, count: CountPart) -> Any:
    class Counting(distributed.WorkerPlugin):
        """Keeps the job on a worker."""

        def __init__(self) -> None:
            self.count = count

    return Counting()


def _count(name: str, part: Part) -> Counted:
    """Count a part on a worker, in the fewest bytes."""
    from distributed import get_worker

    job: CountPart = get_worker().plugins[name].count  # type: ignore[attr-defined]
    return job(part).packed()


def _quietly(call: Callable[..., Any], *arguments: Any) -> None:
    """A cluster that is gone needs no tidying up."""
    try:
        call(*arguments)
    except Exception:
        logging.getLogger(__name__).debug("The cluster was gone before its plugin.")


def _distributed() -> Any:
    try:
        import distributed
    except ImportError as error:
        raise InputError(
            "Counting on workers needs Dask, which is not installed; run pip install distributed."
        ) from error
    return distributed
