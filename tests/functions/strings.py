"""Functions to be mapped: text made from numbers and numbers made from text."""

from __future__ import annotations

import re

from functions.data import FEW_FLOATS, FEW_INTS, FEW_REALS, SMALL_INTS, one
from functions.table import Table

table = Table("strings")
row = table.row
WORDS = (one("words", ["apple", "pear", "", "fig", "kiwi fruit", "ünïcode"] * 10, easy=False),)
NUMERALS = (one("numerals", ["1", "22", "-3", "4.5", " 7 ", "1e3"] * 10, easy=False),)
BROKEN = (one("broken numerals", ["1", "2", "x3", "4"] * 10, easy=False),)
BYTES = (one("bytes", [b"a", b"bc", b""] * 10, easy=False),)


@row(FEW_REALS, must_batch=False)
def formatted(x):
    return f"{x}"


@row(FEW_FLOATS, must_batch=False)
def formatted_with_digits(x):
    return f"{x:.3f} and {x!r:>8}"


@row(FEW_REALS, must_batch=False)
def text_of_it(x):
    return str(x) + repr(x)


@row(FEW_REALS, must_batch=False)
def format_call(x):
    return format(x, "10.2e")


@row(FEW_REALS, must_batch=False)
def percent_format(x):
    return "%8.3f" % x


@row(FEW_REALS, must_batch=False)
def format_method(x):
    return "{:>6} {y}".format(1, y=x)


@row(FEW_INTS, must_batch=False)
def number_of_characters(x):
    return len(str(x))


@row(FEW_INTS, must_batch=False)
def digits_by_text(x):
    return sum(int(c) for c in str(abs(int(x))))


@row(SMALL_INTS, must_batch=False)
def text_decides(x):
    return 1 if str(x).startswith("1") else 0


@row(FEW_REALS)
def constant_text_inside(x):
    label = "positive" if x > 0 else "other"
    return len(label)


@row(SMALL_INTS, must_batch=False)
def repeated_text(x):
    return "ab" * int(x)


@row(SMALL_INTS, must_batch=False)
def character_by_index(x):
    return "abcdefghijklm"[x]


@row(FEW_REALS, must_batch=False)
def returns_text_and_number(x):
    return f"{x:.1f}", x


@row(WORDS, must_batch=False)
def word_length(word):
    return len(word)


@row(WORDS, must_batch=False)
def word_changed(word):
    return word.upper()[::-1].replace("P", "-")


@row(WORDS, must_batch=False)
def count_vowels(word):
    return sum(1 for c in word if c in "aeiou")


@row(WORDS, must_batch=False)
def by_pattern(word):
    return re.findall(r"[a-i]+", word)


@row(NUMERALS, must_batch=False)
def float_of_text(text):
    return float(text) * 2


@row(BROKEN, must_batch=False)
def int_of_text(text):
    return int(text)


@row(BROKEN, must_batch=False)
def int_of_text_caught(text):
    try:
        return int(text)
    except ValueError:
        return -1


@row(BYTES, must_batch=False)
def bytes_to_numbers(b):
    return sum(b)


@row(WORDS, must_batch=False)
def words_to_dict(word):
    return {"first": word[:1], "length": len(word)}


@row(FEW_REALS, must_batch=False)
def keyed_by_text(x):
    return {"1": 10, "0": 20}.get(str(int(x > 0)), 0)


@row(FEW_REALS, must_batch=False)
def joined(x):
    return ",".join([str(x), "a"])
