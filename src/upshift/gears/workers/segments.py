"""Objects in shared memory: pickles, with the data of arrays beside them.

The memory has no name in any folder: it is a file without one, whose descriptor travels over a socket. So nothing is
left behind, however the processes end.
"""

from __future__ import annotations

import io
import mmap
import os
import pickle
import socket
import struct
import tempfile
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

ALIGNED = 64
LEAST_BUFFER = 1 << 12
"""Bytes of an array from which on its data are not part of the pickle: the reader sees them where they lie."""
Extents = list[tuple[int, int]]
"""Where a parcel lies in its segment: the pickle's offset and length, then those of its buffers."""


class Segment:
    """Memory that is shared with another process; it grows by being replaced."""

    def __init__(self, fd: int | None = None) -> None:
        self.size = 0
        self.fd = -1
        self.memory: mmap.mmap | None = None
        if fd is not None:
            self.fd, self.size = fd, os.fstat(fd).st_size
            self.memory = mmap.mmap(fd, self.size)

    def reserve(self, size: int) -> bool:
        """Make room; whether it is another piece of memory now, of which the reader must be told."""
        if size <= self.size:
            return False
        self.close()
        self.size = max(1 << (size - 1).bit_length(), mmap.PAGESIZE)
        self.fd = _nameless()
        os.ftruncate(self.fd, self.size)
        self.memory = mmap.mmap(self.fd, self.size)
        return True

    def close(self) -> None:
        """Give the memory back, as soon as nobody sees it any more."""
        if self.memory is not None:
            try:
                self.memory.close()
            except BufferError:  # an array still looks at it: it goes with the array
                pass
            self.memory = None
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1
        self.size = 0


def _nameless() -> int:
    if hasattr(os, "memfd_create"):
        return os.memfd_create("upshift", os.MFD_CLOEXEC)
    with tempfile.TemporaryFile(prefix="upshift-") as file:
        return os.dup(file.fileno())


class Parcel:
    """One object as bytes: its pickle, and the data of its arrays, not copied yet."""

    def __init__(self, value: Any, pickler: Callable[..., pickle.Pickler] = pickle.Pickler) -> None:
        buffers: list[memoryview] = []

        def aside(buffer: pickle.PickleBuffer) -> bool:
            raw = buffer.raw()
            if raw.nbytes < LEAST_BUFFER:
                return True
            buffers.append(raw)
            return False

        file = io.BytesIO()
        pickler(file, protocol=5, buffer_callback=aside).dump(value)
        self.parts: list[memoryview] = [file.getbuffer(), *buffers]
        self.nbytes = sum(part.nbytes for part in self.parts)

    def arrays(self) -> list[Any]:
        """Its parts as arrays, which others move without copies."""
        return [np.frombuffer(part, np.uint8) for part in self.parts]

    def write(self, segment: Segment) -> tuple[Extents, bool]:
        """Copy it into shared memory: where it lies there, and whether the memory is new."""
        extents, at = [], 0
        for part in self.parts:
            extents.append((at, part.nbytes))
            at += -(-part.nbytes // ALIGNED) * ALIGNED
        new = segment.reserve(max(at, 1))
        assert segment.memory is not None
        with memoryview(segment.memory) as view:
            for (start, length), part in zip(extents, self.parts):
                view[start : start + length] = part
        return extents, new


def read(segment: Segment, extents: Extents, keep: bool, load: Callable[..., Any] = pickle.loads) -> Any:
    """The object of a parcel. `keep`: with arrays of its own; else they are read-only views of the shared memory."""
    assert segment.memory is not None
    view = memoryview(segment.memory)
    pieces = [view[start : start + length] for start, length in extents]
    buffers: Sequence[Any] = [bytearray(piece) if keep else piece.toreadonly() for piece in pieces[1:]]
    return load(pieces[0], buffers=buffers)


_HEAD = struct.Struct("<QB")
MOST_DESCRIPTORS = 4


class Channel:
    """Brief messages, and descriptors of shared memory, between two processes. What is long goes by segments."""

    def __init__(self, end: socket.socket) -> None:
        self.socket = end

    def fileno(self) -> int:
        """Of its socket, so that it can be waited for."""
        return self.socket.fileno()

    def send(self, message: Any, descriptors: Sequence[int] = ()) -> None:
        """Sends a message, and descriptors of shared memory with it."""
        data = pickle.dumps(message, 5)
        head = _HEAD.pack(len(data), len(descriptors))
        socket.send_fds(self.socket, [head], list(descriptors))
        self.socket.sendall(data)

    def receive(self) -> tuple[Any, list[int]]:
        """The next message; EOFError where the other process is gone."""
        head, descriptors, _, _ = socket.recv_fds(self.socket, _HEAD.size, MOST_DESCRIPTORS)
        while 0 < len(head) < _HEAD.size:
            head += self._some(_HEAD.size - len(head))
        if not head:
            raise EOFError
        length, _ = _HEAD.unpack(head)
        data = b""
        while len(data) < length:
            data += self._some(length - len(data))
        return pickle.loads(data), descriptors

    def _some(self, most: int) -> bytes:
        found = self.socket.recv(most)
        if not found:
            raise EOFError
        return found

    def close(self) -> None:
        self.socket.close()
