"""Processes that parse shards."""

import multiprocessing
import os
import threading
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from typing import Any

from tqdm import tqdm
from transformers.utils import logging

from .shard_parser import ShardParser
from .shards import Shard, choose_columns

__all__ = ["parse_shards"]

logger = logging.get_logger(__name__)

OWN: list[ShardParser] = []  # of a worker process


def parse_shards(
    shards: Iterable[Shard], job: ShardParser, settings: Mapping[str, Any], workers: int
) -> list[dict[str, Any]]:
    """Parses the shards that are not there yet, with a progress bar.

    Args:
        shards: All of them, in order; a few are read ahead.
        job: What parses one.
        settings: What is written before the first one is parsed.
        workers: Number of processes; 1 parses in this one.

    Returns:
        What the journal notes of each, in order.

    Raises:
        ValueError: If a row cannot be parsed, or a worker dies.
    """
    shard_pool = ShardPool(job, settings, workers)
    try:
        for shard in shards:
            shard_pool.submit(shard)
        shard_pool.collect(0)
    except BrokenProcessPool as error:
        whole = f"{len(shard_pool.notes)} shards are whole: run the same again, with fewer workers"
        raise ValueError(f"a worker process died, perhaps for lack of memory; {whole}") from error
    finally:
        shard_pool.close()
    return [note for _, note in sorted(shard_pool.notes.items())]


class ShardPool:
    """Keeps workers busy with shards, and notes each as soon as it is written."""

    def __init__(self, job: ShardParser, settings: Mapping[str, Any], workers: int) -> None:
        self.job, self.settings, self.workers = job, settings, workers
        self.done, self.notes = job.corpus.done(), dict[int, dict[str, Any]]()
        self.call: Callable[..., dict[str, Any]] = job if workers == 1 else work
        self.executor, self.pending = make_executor(job, workers), set[Future]()
        self.bar, self.num_kept, self.is_started = tqdm(desc="Parsing", unit=" texts", smoothing=0.05), 0, False

    def submit(self, shard: Shard) -> None:
        """Hands on a shard, unless it is there and made of the same rows; waits while enough are in work."""
        columns, digest = choose_columns(shard.table.schema, self.job.options, shard.places[0][0]), shard.digest()
        note = self.done.get(shard.number, {})
        if (note.get("made_of"), note.get("text_columns")) == (digest, columns):
            self.notes[shard.number] = note
            self.num_kept += len(shard.table) * len(columns)
        else:
            self.start()
            if note:
                logger.warning(f"{note['file']} was made of other rows: it is parsed again")
            self.pending.add(self.executor.submit(self.call, shard, digest))
        self.collect(2 * self.workers - 1)

    def start(self) -> None:
        """Notes, before the first shard is parsed, that the corpus is not complete; drops lines that were cut."""
        if not self.is_started:
            self.job.corpus.write_settings(self.settings)
            self.job.corpus.write_journal(self.done.values())
            self.is_started = True

    def collect(self, limit: int) -> None:
        """Waits until no more than so many shards are in work."""
        while len(self.pending) > limit:
            finished, self.pending = wait(self.pending, timeout=0.5, return_when=FIRST_COMPLETED)
            for future in finished:
                note = future.result()
                self.job.corpus.note(note)
                self.notes[note["shard"]] = note
            self.bar.update(self.num_kept + self.job.progress.count.value - self.bar.n)

    def close(self) -> None:
        """Ends the workers, soon also those that are not done."""
        self.job.progress.stop.set()
        self.executor.shutdown(cancel_futures=True)
        self.bar.close()


def make_executor(job: ShardParser, workers: int) -> Executor:
    """Makes what runs the shards: a thread for one worker, else processes."""
    if workers == 1:
        return ThreadPoolExecutor(1)
    return ProcessPoolExecutor(workers, initializer=start_worker, initargs=(job,))


def start_worker(job: ShardParser) -> None:
    """Prepares a worker process, which ends with the process that started it."""
    OWN.append(job)
    threading.Thread(target=end_with_parent, daemon=True).start()


def end_with_parent() -> None:
    """Ends this process when its parent has ended, however that was."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def work(shard: Shard, digest: str) -> dict[str, Any]:
    """Parses a shard in a worker process."""
    return OWN[0](shard, digest)
