"""Large arrays that a function gives back are made in memory of their own, so that nothing is copied in the end.

A few words of the context say where such arrays are. What is not given back after all is freed when the call ends.
"""

from __future__ import annotations

import string

FIRST, COUNT = 18, 4
"""The first word of the context that is used, and how many arrays there may be: an address and a size for each."""
LEAST = 1 << 18
"""Bytes from which on a copy costs more than memory of its own."""
HUGE = 1 << 22
"""Bytes from which on large pages are asked for, as NumPy does."""


def _slots(text: str) -> str:
    """Lines of IR for every such array."""
    made = []
    for i in range(COUNT):
        words = {"I": i, "NEXT": i + 1, "WORD": FIRST + 2 * i, "SIZE": FIRST + 2 * i + 1}
        made.append(string.Template(text.strip("\n")).substitute(words))
    return "\n".join(made)


_PLACE = """
slot$I:
  %w$I = getelementptr ptr, ptr %context, i64 $WORD
  %v$I = load ptr, ptr %w$I"""
_FREE_ONE = _slots(f"""{_PLACE}
  %f$I = icmp eq ptr %v$I, null
  br i1 %f$I, label %take, label %slot$NEXT""")
_THIS_ONE = _slots(f"""{_PLACE}
  %s$I = getelementptr i64, ptr %context, i64 $SIZE
  %n$I = load i64, ptr %s$I
  %a$I = icmp eq ptr %v$I, %p
  %b$I = icmp eq i64 %n$I, %bytes
  %f$I = and i1 %a$I, %b$I
  br i1 %f$I, label %take, label %slot$NEXT""")
_AROUND = _slots(f"""{_PLACE}
  %s$I = getelementptr i64, ptr %context, i64 $SIZE
  %n$I = load i64, ptr %s$I
  %i$I = ptrtoint ptr %v$I to i64
  %d$I = sub i64 %at, %i$I
  %a$I = icmp ule i64 %d$I, %n$I
  %b$I = icmp ne i64 %i$I, 0
  %f$I = and i1 %a$I, %b$I
  br i1 %f$I, label %yes, label %slot$NEXT""")
_FREED = _slots(f"""{_PLACE}
  %f$I = icmp eq ptr %v$I, null
  br i1 %f$I, label %slot$NEXT, label %free$I
free$I:
  call void @free(ptr %v$I)
  store ptr null, ptr %w$I
  br label %slot$NEXT""")
_FOUND = ", ".join(f"[ %w{i}, %slot{i} ]" for i in range(COUNT))
IR = f"""
declare ptr @malloc(i64)
declare void @free(ptr)
declare i32 @madvise(ptr, i64, i32)
define internal ptr @up_result(ptr %context, i64 %bytes) noinline nounwind {{
entry:
  %large = icmp uge i64 %bytes, {LEAST}
  %some = icmp ult i64 %bytes, 1099511627776
  %own = and i1 %large, %some
  br i1 %own, label %slot0, label %slot{COUNT}
{_FREE_ONE}
slot{COUNT}:
  %small = call ptr @up_alloc(ptr %context, i64 %bytes)
  ret ptr %small
take:
  %w = phi ptr {_FOUND}
  %p = call ptr @malloc(i64 %bytes)
  %none = icmp eq ptr %p, null
  br i1 %none, label %end, label %keep
keep:
  store ptr %p, ptr %w
  %s = getelementptr i64, ptr %w, i64 1
  store i64 %bytes, ptr %s
  %huge = icmp uge i64 %bytes, {HUGE}
  br i1 %huge, label %ask, label %end
ask:
  %at = ptrtoint ptr %p to i64
  %up = add i64 %at, 4095
  %page = and i64 %up, -4096
  %before = sub i64 %page, %at
  %rest = sub i64 %bytes, %before
  %first = inttoptr i64 %page to ptr
  %asked = call i32 @madvise(ptr %first, i64 %rest, i32 14)
  br label %end
end:
  ret ptr %p
}}
"""
"""An array of this size: in memory of its own while there is a word for it, else in the arena."""
ENDING = f"""
define internal i1 @up_hand_over(ptr %context, ptr %p, i64 %bytes) noinline nounwind {{
entry:
  br label %slot0
{_THIS_ONE}
slot{COUNT}:
  ret i1 false
take:
  %w = phi ptr {_FOUND}
  store ptr null, ptr %w
  ret i1 true
}}
define internal i1 @up_is_own(ptr %context, i64 %at) noinline nounwind {{
entry:
  br label %slot0
{_AROUND}
slot{COUNT}:
  ret i1 false
yes:
  ret i1 true
}}
define internal void @up_clear(ptr %context) noinline nounwind {{
entry:
  br label %slot0
{_FREED}
slot{COUNT}:
  ret void
}}
"""
"""Whether an array has memory of its own, which is given away; whether an address lies in such memory; and its end."""
