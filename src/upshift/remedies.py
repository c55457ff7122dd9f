"""One thing to do about each refusal."""

from __future__ import annotations

REMEDIES: tuple[tuple[str, str], ...] = (
    ("switched off", "take UPSHIFT_DISABLE or disable=True away"),
    ("not installed", "install it, or leave the choice of the gear to Upshift"),
    ("driver", "install NVIDIA's driver, or leave the choice of the gear to Upshift"),
    ("is not the loop's", "none is needed, since the loop's result is kept; please report it with the function"),
    ("is not the plain function's", "none is needed, since the plain result is kept; please report it"),
    ("not allowed", "allow the gear, or leave exact=True out"),
    ("few instructions", "decorate the function that calls it in a loop"),
    ("generator or a coroutine", "return a list or an array in place of yielding"),
    ("value of a yield", "return a list or an array in place of yielding"),
    ("streams of their own", 'use the gear "numpy", or draw the numbers outside and map over them, too'),
    ("draws", 'draw the numbers outside and map over them, too, or pass randomness="independent"'),
    ("random", 'draw the numbers outside and map over them, too, or pass randomness="independent"'),
    ("clock", "read the clock outside, and pass the time as a shared keyword"),
    ("prints", "print outside of the mapped function"),
    ("locale", "format without the letter n, or outside of the mapped function"),
    ("last bits", "leave exact=True out, or choose a gear with NumPy's own functions: numpy or llvm"),
    ("64 bits", "compute with floats, or with smaller ints"),
    ("which the other ways run", "none is needed: the other ways run its graph"),
    ("several kinds", "make all elements of one class, for instance all floats"),
    ("classes that cannot be stored alike", "give results of one class for all elements"),
    ("kinds, too few of each", "make all elements of one class and shape, for instance all floats"),
    ("different forms", "give results of one form for all elements"),
    ("different shapes", "give arrays of one shape for all elements"),
    ("ints here and floats there", "give floats on all paths, for instance 0.0 in place of 0"),
    ("no faster than the loop", "none is needed: use arrays inside it, or more elements, for a batch to pay"),
    ("path for nearly every one", "none is needed: machine code or the loop takes such functions"),
    ("of one length", "pass columns of one length"),
    ("no elements", "pass at least one element"),
    ("changes while it runs", "change nothing that the function reads while it runs: pass it as a keyword"),
    ("changed while it ran", "change nothing that the function reads while it runs: pass it as a keyword"),
    ("changes", "return the new value in place of changing what others hold"),
    ("writes", "write into a copy: x = x.copy()"),
    ("deletes", "assign None in place of deleting"),
    ("variadic", "give it plain arguments by their position"),
    ("finaliser", "take __del__ out of that class, or use a plain tuple"),
    ("captured", "pass numbers or arrays as keywords in place of it"),
    ("captures", "pass numbers or arrays as keywords in place of it"),
    ("is given a", "pass it as a keyword of a function around this one"),
    ("its argument", "give it numbers, tuples or NumPy arrays"),
    ("returns", "return numbers, arrays, or tuples and dicts of them"),
    ("its results are not numbers", "return numbers, arrays, or tuples and dicts of them"),
    ("async", "use a plain comprehension"),
    ("raise", "raise an exception by its class and a text"),
    ("has no source", "define it in a file, by def or lambda"),
    ("not defined", "define that name before the first call"),
    ("XLA", 'use the gear "numpy" or "llvm", which have no such limit'),
    ("JAX", 'use the gear "numpy" or "llvm", which have no such limit'),
    ("GPU", "leave the choice of the gear to Upshift, which then computes on the CPU"),
    ("opens a file", "read or write files outside, and pass what is in them"),
    ("asks for input", "ask outside, and pass the answer as a keyword"),
    ("stores to the global", "return the value in place of storing it"),
    ("stores to the nonlocal", "return the value in place of storing it"),
    ("its file has changed", "import it again, or start anew"),
    ("does not do the same twice", "take out what differs from call to call, or pass it as a keyword"),
    ("slower than the loop", "none is needed: the loop takes such functions"),
    ("calls itself", "write it as a loop, or leave it to the loop"),
    ("is the plain function's", "see what is left to the plain function: elements that raise, or ints beyond 64 bits"),
    ("is not compiled", "leave the choice of the gear to Upshift: another one may take it, and else the loop does"),
)
"""The first row whose words are in the reason."""
ELSE = "write that part with plain numbers and NumPy, or take it out of the function; until then the loop runs it"


def remedy_for(reason: str) -> str:
    """
    >>> remedy_for("reads the clock: time.time")
    'read the clock outside, and pass the time as a shared keyword'
    """
    return next((remedy for words, remedy in REMEDIES if words in reason), ELSE)
