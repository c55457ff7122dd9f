"""Numbers in units that people read: 1.24 ms, 12.3 MB, 1.2M."""

from __future__ import annotations


def time_text(seconds: float) -> str:
    """
    >>> time_text(0.00124), time_text(4.2e-9), time_text(0.0)
    ('1.24 ms', '4.2 ns', '0 ns')
    """
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}" if seconds < 1000 * size else f"{seconds / size:,.0f} {unit}"
    return f"{seconds / 1e-9:.3g} ns"


def count_text(n: float) -> str:
    """
    >>> count_text(1_000_000), count_text(8_192), count_text(90)
    ('1M', '8.2k', '90')
    """
    for unit, size in (("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if n >= size:
            return f"{n / size:.2g}{unit}" if n < 100 * size else f"{n / size:.0f}{unit}"
    return f"{n:.0f}"


def bytes_text(n: float) -> str:
    """
    >>> bytes_text(12_300_000), bytes_text(512)
    ('12.3 MB', '512 B')
    """
    for unit, size in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if n >= size:
            return f"{n / size:.3g} {unit}"
    return f"{n:.0f} B"


def share_text(part: float, whole: float) -> str:
    """
    >>> share_text(1, 3), share_text(1, 1_000_000), share_text(3, 3)
    ('33.3%', '<0.1%', '100%')
    """
    if not whole:
        return "0%"
    share = part / whole
    return "100%" if share == 1 else "<0.1%" if 0 < share < 0.001 else f"{share:.1%}"
