"""Texts in the compiler: every method and format, lane by lane against Python, on texts that are elements."""

from __future__ import annotations

import itertools
import linecache
import math
import random
import string
import struct

import pytest

from compiled import Compiled, check, refusal
from upshift.compiler.prelude import digits, formats
from upshift.compiler.prelude.registry import METHODS

INTS = [0, 1, -1, 7, 9, 10, -10, 99, 100, 255, 256, -255, 12345, 1234567, 2**31, 2**53 + 1, 2**63 - 1, -(2**63), 10**18]
FLOATS = [0.0, -0.0, 1.0, -1.0, 0.1, 0.5, 1.5, 2.5, 0.125, 1e15, 1e16, 1e17, 123456789.125, 1e22, 1e23, 9.5, 99999.95,
          1e-4, 9.999e-5, 1e-5, 1e100, 1e300, 1.7976931348623157e308, 5e-324, 2.2250738585072014e-308, 2.0**-44,
          9007199254740993.0, 1 / 3, -2 / 3, 0.30000000000000004, 1e-300, math.inf, -math.inf, math.nan, 100.0,
          999999.5, 0.0001234, 1234.5, 3.0e-10]  # fmt: skip
TEXTS = [
    *(
        "",
        "a",
        "b",
        "ab",
        "ba",
        "aa",
        "abab",
        "aaaa",
        " a  b ",
        "Hello, World",
        "they're Bill's",
        "x,y,,z",
        "AbC1",
        "ABC",
    ),
    *("\ta\nb\r\nc", "0", "-12", "+7", "12_3", "0x1F", "0b101", " 42\n", "3.25", "1e5", "nan", "\x1c\x1d a\x1f\x0b"),
    *("ABC", "abc", "A B", "_x1", 'it\'s "q"', "back\\slash\x00\x7f", "1 2 3", "zz" * 20, "a" * 100, "a\x0cb\x1ec"),
]
SHORT = ["", "a", "b", "ab", "aa", " ", ",", "\n", "z"]
ALL = 10**9
"""Where many lanes may be left: only what is made has to be right."""


def written(body: str, names: str = "x", **space):
    """A function of these names, with its source."""
    text = f"def f({names}):\n" + "\n".join(f"    {line}" for line in body.split("\n")) + "\n"
    name = f"<text test {next(_COUNT)}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    exec(compile(text, name, "exec"), space)
    return space["f"]


_COUNT = itertools.count()


# ---- methods of one text

ONE = r"""
s.upper(); s.lower(); s.casefold(); s.swapcase(); s.title(); s.capitalize(); s.isdigit(); s.isdecimal(); s.isnumeric()
s.isalpha(); s.isalnum(); s.isspace(); s.isupper(); s.islower(); s.istitle(); s.isascii(); s.isprintable()
s.isidentifier(); str.lower(s); s.lower() == s.lower()[::-1]
s.split(); s.rsplit(); s.splitlines(); s.splitlines(True); s.splitlines(keepends=False); s.split(None, 1)
s.rsplit(None, 1); s.split(maxsplit=0); s.split(","); s.split(sep=",", maxsplit=1); s.rsplit(",", 1); s.split("ab")
s.rsplit("b", 1); s.strip().split(",")[0]; [float(p) for p in s.split()]
s.strip(); s.lstrip(); s.rstrip(); s.strip(None); s.strip("a "); s.lstrip("ab"); s.rstrip("c\n")
s.partition("a"); s.rpartition("a"); s.removeprefix("a"); s.removesuffix("b")
s.expandtabs(); s.expandtabs(3); s.expandtabs(tabsize=0); s.zfill(5); s.zfill(0); s.ljust(6); s.rjust(6); s.center(7)
s.center(8, "*"); s.ljust(3, "-"); s.rjust(9, "-"); s.rjust(True)
s[::-1]; s[1:]; s[:-1]; s[1:-1]; s[::2]; s[::-2]; s[5:1]; s[-2:]; s[2::-1]; s[:0]; s[:3:1]; s[1::3]; s[0]; s[-1]; s[2]
s * 3; s * 0; 3 * s; s * -1; s * True; s + s; s + "x" + s; len(s); bool(s); not s
list(s); tuple(s); sorted(s); list(reversed(s)); list(enumerate(s)); list(zip(s, s[1:])); [s] * 2; (s, (s, "a"))
"".join(s); "-".join(s); "".join(sorted(s)); "".join(reversed(s)); "".join(c.upper() + c.lower() for c in s)
", ".join(s.split()); "".join([]); "x".join(s.split(",")); "".join((s, s, "!")); "".join(map(str.upper, s))
"".join(filter(str.isalpha, s)); str.join(",", s); "".join(dict.fromkeys(s)); "".join({c: 1 for c in s})
len(set(s)); sorted(set(s)); sorted(set(s), reverse=True); min(s); max(s); min(set(s)); min(s, default="?")
max(s.split(), key=len); sorted(s.split(), key=str.lower); any(c == "a" for c in s); s in ("a", "ab"); s in ["a", s]
[ord(c) for c in s]; sum(ord(c) for c in s); [c.isdigit() for c in s]; "".join(chr(ord(c) + 1) for c in s if c < "z")
s.replace("a", "xyz"); s.replace("ab", ""); s.replace("", "-"); s.replace("", "-", 2); s.replace("a", "b", 1)
s.replace("aa", "a", -1); s.replace("a", "a", 0)
s.translate({97: "xx", 98: None, 32: 95}); s.translate(str.maketrans("abc", "xyz"))
s.translate(str.maketrans("ab", "ba", "c ")); s.translate(str.maketrans({"a": "long", "b": None, "c": 100}))
s.startswith(("a", "H")); s.endswith(("b", "s", "")); s.startswith(()); s.startswith("a", 1); s.endswith("b", 0, -1)
s.startswith("", 5); s.find("b"); s.rfind("a", 1); s.index("a"); s.rindex("b", 0, -1); s.count("a", 1, 5)
s.find("", 3); s.find("", 200); s.rfind("", 0, 2); s.count(""); s.count("", 2); s.find("b", None, -1); s[s.find("a"):]
"a" in s; "ab" in s; "" in s; "b" not in s; s in "abab"; s not in "hello abc"; [c in "aeiou" for c in s]
s < "ab"; s <= "b"; s > "B"; s >= s; s == "ab"; s != "aa"; "ab" == s; s == ""; "a" <= s < "b"; (s, len(s)) < ("b", 3)
s == "abc"; s == "Hello, World"; s[:2] == s[-2:]; s == 3; s != None; [s == t for t in ("abab", "aaaa", "zz")]
[s.count(c) for c in "ab "]; {c: s.count(c) for c in s}["a"]; {s: 1}.get("ab", 0); {"a": 1, "ab": 2}[s]
repr(s); ascii(s); str(s); f"{s!r}"; f"{s!s:>5}"; f"{s!a:<4}|"; f"<{s:^9}>"; f"{s:*<5}"; f"{s:.2}"; f"{s:>6.3s}"
f"{s:05}"; format(s); format(s, "4"); "%s|%5s|%-5s|%.2s|%r" % (s, s, s, s, s); "%s" % s; "%s" % (s,); "%05s" % s
"100%% %s" % s; "{}:{!r}".format(s, s); "{0:>5}{0}".format(s); "{a}{b:3}".format(a=s, b=s); "{{{}}}".format(s)
s if s else "none"; s or "none"; s and "some"; s.isalpha() or s
int(s); int(s, 16); int(s, 0); int(s, 2); int(s, base=36); float(s)
"""
NOT_COMPILED = 's.encode("ascii"); hash(s); s.format(1); s % 3; id(s); s.upper(1); sum([s, s], ""); complex(s)'


def expressions(text):
    return [one.strip() for line in text.splitlines() for one in line.split(";") if one.strip()]


@pytest.mark.parametrize("expression", expressions(ONE))
def test_expressions_of_one_text(expression):
    check(written(f"return {expression}", "s"), TEXTS, left=2 if "int(s, " in expression else 0)


@pytest.mark.parametrize("expression", expressions(NOT_COMPILED))
def test_expressions_that_are_left_to_python(expression):
    assert refusal(written(f"return {expression}", "s"), "a") is not None


# ---- of two texts and two ints

TWO = """
s.find(t); s.rfind(t); s.index(t); s.rindex(t); s.count(t); s.startswith(t); s.endswith(t); t in s; t not in s; s + t
s.find(t, i); s.find(t, i, j); s.rfind(t, i, j); s.index(t, i, j); s.rindex(t, i); s.count(t, i, j)
s.startswith(t, i); s.startswith(t, i, j); s.endswith(t, i, j); s.split(t); s.rsplit(t); s.split(t, i); s.rsplit(t, i)
s.split(None, i); s.rsplit(None, i); s.partition(t); s.rpartition(t); s.removeprefix(t); s.removesuffix(t); s.strip(t)
s.lstrip(t); s.rstrip(t); s.replace(t, "--"); s.replace("a", t); s.replace(t, t + t, i); t.join(s); t.join([s, t, s])
s.ljust(i, t); s.rjust(i, t); s.center(i, t); s.zfill(i); s[i]; s[i:j]; s[::j]; s[i::j]; s[:i:j]; s * i
s == t; s != t; s < t; s <= t; s > t; s >= t; min(s, t); max(s, t); sorted([s, t]); (s, i) == (t, j); [s, t] < [t, s]
(s, i) < (t, j); {s: i, t: j}[s]; {s, t} == {t, s}; len({s, t}); f"{s:>{i}}|{t}"; f"{s:{t}}"; f"{i:{t}}"
f"{s}{i:>{j}}"; "%s %d" % (s, i); "%-*d" % (i, j) if False else s; "{} {:3d}".format(s, i)
"""


@pytest.mark.parametrize("expression", expressions(TWO))
def test_expressions_of_two_texts(expression):
    bounds = [(0, 5), (-1, 2), (2, -1), (7, -3), (-200, 200), (1, 0)]
    check(
        written(f"return {expression}", "s, t, i, j"), [(s, t, i, j) for s in TEXTS for t in SHORT for i, j in bounds]
    )


# ---- numbers as text

INT_SPECS = """
d b o x X n #b #o #x #X 5 05 032b 08b 016x #010x , _ _b _x _o 12, 012, 020_ 030_b +d -d +5 <8 >8 ^8 ^9 =8 *<8 x>8 0>8
0<8 08,d +,d +012,d .2f .3e g G % 10.1f 010.2f +.1f ,.2f c 5c
""".split()
FLOAT_SPECS = """
.2f .0f .10f .22f .25f f F e E g G % .1% .3e .0e .3g .1g .12g .17g .20g 10.2f 010.2f <10.2f ^12.3e +.2f ,.2f _.1f
015,.2f + 8 .3 .1 .17 , 020 =+10.1f *^12 .4F .2E .5G +,.3f
""".split()


@pytest.mark.parametrize("spec", ["", " d", " ,", *INT_SPECS])
def test_formats_of_ints(spec):
    f = written(f"return f'{{x:{spec}}}', format(x, {spec!r}), '{{:{spec}}}'.format(x)")
    if spec[-1:] in ("n", "c"):  # of a country, or beyond ASCII
        assert refusal(f, 1) is not None
    else:
        check(f, INTS)


@pytest.mark.parametrize("spec", ["", " .1f", *FLOAT_SPECS])
def test_formats_of_floats(spec):
    check(written(f"return f'{{x:{spec}}}', format(x, {spec!r})"), FLOATS)


@pytest.mark.parametrize("spec", ["", "d", "5", "05", "x", "s", ".2f"])
def test_formats_of_bools(spec):
    if spec == "s":
        assert refusal(written(f"return f'{{x:{spec}}}'"), True) is not None
    else:
        check(written(f"return f'{{x:{spec}}}'"), [True, False])


PERCENTS = (
    "%d %5d %-5d| %05d %+d %i %x %X %o %#x %08x %s %r %6s %.2f %8.3f %-8.1f| %e %g %.3g %+.1f %08.2f %5.1f%% %c %.3d"
)


@pytest.mark.parametrize("spec", ["% d", *PERCENTS.split()])
def test_percent_formats(spec):
    f = written(f"return {'a' + spec + 'b'!r} % x, {spec!r} % (x,), {spec + spec!r} % (x, x)")
    if spec in ("%c", "%.3d"):
        assert refusal(f, 1) is not None
        return
    check(f, INTS)
    if spec[-1] in "xXo":
        assert refusal(f, 1.5) is not None
    else:
        check(f, FLOATS, left=10 if spec[-1] in "di|" else 0)


@pytest.mark.parametrize(
    "f", ["str", "repr", "ascii", "bin", "hex", "oct", "lambda x: f'{x}'", "lambda x: str([x, (x,), {x: x}])"]
)
def test_texts_of_ints(f):
    rows = INTS + [random.Random(7).randint(-(2**63), 2**63 - 1) >> k for k in range(63)]
    check(written(f"return ({f})(x)"), rows)


def test_texts_of_floats():
    rng = random.Random(3)
    some = [struct.unpack("<d", struct.pack("<Q", rng.getrandbits(64)))[0] for _ in range(3000)]
    some += [2.0**k for k in range(-1074, 1024)] + [math.nextafter(2.0**k, 0) for k in range(-1073, 1024)]
    some += [10.0**k for k in range(-323, 309)] + [rng.randint(-(10**9), 10**9) / 1000 for _ in range(2000)]
    check(written("return str(x), repr([x])"), FLOATS + some)
    check(written("return str(x)"), [complex(a, b) for a in FLOATS for b in FLOATS])


def test_texts_of_other_values():
    check(written("return str(x), repr(x), f'{x!r:>6}', str(None), str(), repr(None)"), [True, False])
    check(
        written("return str(x), str((x, 1.5)), f'{x}', str({'a': x}), str([]), str({k: 'v' for k in x})"),
        [[1, 2], [], [3]],
    )
    check(written("return str((x,)), str(((x, 'a'), None, [True]))"), [1, -5])
    check(written("return str({x, x + 1}), str(set())"), [1, 1000, -7])


# ---- texts as numbers


def number_texts(count):
    rng = random.Random(11)
    parts = ["0", "1", "2", "7", "9", "_", "+", "-", " ", "x", "b", "o", "a", "f", "z", "e", ".", "E", "inf", "nan",
             "0x", "0b", "\n", "\x1c", "00", "infinity", "NaN", "5", "123456789", "e-", "e+3", "1_0"]  # fmt: skip
    return ["".join(rng.choices(parts, k=rng.randint(0, 6))) for _ in range(count)]


def test_ints_of_texts():
    texts = TEXTS + number_texts(3000) + [str(n) for n in INTS] + [hex(n) for n in INTS] + [bin(n) for n in INTS]
    check(written("return int(s)", "s"), texts, left=60)
    bases = [0, 2, 8, 10, 16, 36, 1, 37, -1]
    check(written("return int(s, b)", "s, b"), [(s, b) for s in texts for b in bases], left=2000)
    check(written("try:\n    return int(s)\nexcept ValueError:\n    return -1", "s"), texts, left=60)


def test_floats_of_texts():
    rng = random.Random(5)
    some = [struct.unpack("<d", struct.pack("<Q", rng.getrandbits(64)))[0] for _ in range(1500)]
    texts = TEXTS + number_texts(3000) + [form % x for x in FLOATS + some for form in ("%r", "%.25e", "%.3g", "%.12f")]
    texts += ["1e400", "-1e400", "1e-400", "0e999999999999", "1e-99999999999", "." + "0" * 400 + "1e401", "9" * 400]
    check(written("return float(s)", "s"), texts)


def test_characters():
    check(written("return chr(x)"), [*range(128), 128, 255, 1114111, 1114112, -1], left=3)
    check(written("return ord(x)"), ["a", "\0", "\x7f", "", "ab"])
    check(written("return chr(x), chr(65 + x)"), [True, False])
    check(written("return chr((ord(c) - 97 + k) % 26 + 97)", "c, k"), [("a", 3), ("z", 1), ("m", -30)])


# ---- programs


def caesar(text, key):
    result = ""
    for c in text:
        if c.isupper():
            result += chr((ord(c) - 65 + key) % 26 + 65)
        elif c.islower():
            result += chr((ord(c) - 97 + key) % 26 + 97)
        else:
            result += c
    return result


def digits_of(n):
    total = 0
    for d in str(abs(n)):
        total += int(d) ** 2
    return total, [int(c) for c in str(abs(n))], str(n) == str(n)[::-1], "".join(sorted(str(n)))


def counts(text):
    seen = {}
    for c in text:
        seen[c] = seen.get(c, 0) + 1
    return [(k, v) for k, v in seen.items()], max(seen.values(), default=0)


def words(text):
    longest = ""
    for word in text.lower().split():
        word = word.strip(".,!?'")
        if len(word) > len(longest):
            longest = word
    return longest, " ".join(w.capitalize() for w in text.split()), text.title()


def run_lengths(text):
    if not text:
        return ""
    parts = []
    last, count = text[0], 1
    for c in text[1:]:
        if c == last:
            count += 1
        else:
            parts.append(f"{last}{count}" if count > 1 else last)
            last, count = c, 1
    parts.append(f"{last}{count}" if count > 1 else last)
    return "".join(parts)


ROMAN = [(10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I")]
VALUES = {"X": 10, "V": 5, "I": 1}


def roman(n):
    text = ""
    for value, letters in ROMAN:
        while n >= value:
            text += letters
            n -= value
    total = 0
    for a, b in zip(text, text[1:] + " "):
        total += VALUES[a] if VALUES[a] >= VALUES.get(b, 0) else -VALUES[a]
    return text, total


def captured(text):
    found = [string.ascii_lowercase.index(c) for c in text if c in string.ascii_lowercase]
    a, *rest = text or "?"
    return found, string.digits[len(text) % 10], a, rest


def text_or_number(n):
    if n % 15 == 0:
        return "FizzBuzz"
    if n % 3 == 0:
        return "Fizz"
    return n if n % 5 else "Buzz"


def base(n, b):
    if n == 0:
        return "0"
    shown = ""
    while n > 0:
        shown = "0123456789abcdef"[n % b] + shown
        n //= b
    return shown


def anagrams(text):
    from collections import Counter

    half = len(text) // 2
    a, b = text[:half], text[half:]
    return Counter(a) == Counter(b), sorted(a) == sorted(b), Counter(text).most_common(2)


def message(x):
    text = f"the value {x:.3f} of {x!r} is bad"
    if x < 0:
        raise ValueError(text)
    return x * 2


def unpacked(text):
    a, b, c, d = (int(part) for part in text.split("."))
    first, *middle, last = text
    return a + b + c + d, first, middle, last


def two_grow(n):
    a = b = ""
    for i in range(n):
        a += str(i)
        b = b + "xy"
        if i % 7 == 0:
            a += b[:3]
        c = a
        c += "!"
    return len(a), len(b), a[-20:], b[-3:], c[-5:] if n else ""


TEXT_ROWS = [*TEXTS, "The quick brown fox, it's jumping!", "aaabbbccd", "zzzaaa", "abcabc"]


@pytest.mark.parametrize(
    ("f", "rows"),
    [
        (caesar, [(t, k) for t in TEXT_ROWS for k in (0, 3, -5, 100)]),
        (digits_of, INTS[:-3]),
        (counts, TEXT_ROWS),
        (words, TEXT_ROWS),
        (run_lengths, TEXT_ROWS),
        (roman, [0, 1, 4, 9, 14, 48, 89]),
        (captured, TEXT_ROWS),
        (text_or_number, list(range(31))),
        (base, [(n, b) for n in (0, 1, 5, 255, 10**15) for b in (2, 10, 16)]),
        (anagrams, TEXT_ROWS),
        (message, [1.0, -1.0, 0.0]),
        (unpacked, ["1.2.3.4", "1.2.3", "1.2.3.4.5", "a.b.c.d"]),
        (two_grow, [0, 1, 10, 1000]),
    ],
)
def test_programs(f, rows):
    check(f, rows)


def test_a_text_that_grows_takes_room_for_itself_only():
    """Three texts in turn, one character after the other: a copy for each would need a hundred times the arena."""

    def grow(n):
        a = b = c = ""
        for i in range(n):
            a += "x"
            b += str(i % 10)
            if i % 3 == 0:
                c = c + chr(65 + i % 26)
            else:
                c += "-"
        return len(a), len(b), len(c), b[-3:], c[-4:], a[5]

    check(grow, [10, 300_000])


def test_texts_share_memory_but_not_changes():
    def forks(s):
        a = s + "1"
        b = a + "2"
        c = a + "3"
        a += "4"
        d = a[:2]
        d += "5"
        a += "6"
        e = s
        e += "7"
        s += "8"
        return a, b, c, d, e, s

    check(forks, TEXTS)


def test_messages_are_not_written():
    """Nothing of a message that is only raised is compiled."""

    def raises(x):
        text = f"{x:>10.3f} and {x}" + "!"
        if x < 0:
            raise ValueError(text)
        return x

    compiled = Compiled(raises, [(1.0,)])
    names = {spec.code.name for spec in compiled.checked.unit.specs.values()}
    assert not names & {"format_float", "text_of_float"}
    check(raises, [1.0, -1.0])


def test_letters_beyond_ascii():
    check(written("y = 'é' + x\nif x == 'b':\n    raise ValueError(y)\nreturn x + 'e'"), ["a", "b"])
    assert refusal(written("return 'é' + x"), "a") is not None
    check(written("return chr(x) + '!'"), [65, 233, 66], left=1)


def test_every_method_of_the_prelude_has_a_test():
    names = {name for cls, name in METHODS if cls == "str"}
    assert [name for name in names if f".{name}(" not in ONE + TWO] == []


# ---- the prelude as plain Python


SPEC_PARTS = [["", "<", "*^", "="], ["", "+", " "], ["", "0"], ["", "12", "30"], ["", ",", "_"],
              ["", ".0", ".3", ".17"], "eEfFgG%"]  # fmt: skip


def test_digits_and_formats_as_plain_python():
    rng = random.Random(1)
    for _ in range(3000):
        x = struct.unpack("<d", struct.pack("<Q", rng.getrandbits(64)))[0]
        assert digits.text_of_float(x) == repr(x)
        n = rng.getrandbits(64) - 2**63
        assert digits.text_of_int(n) == str(n)
        spec = "".join(map(rng.choice, SPEC_PARTS))
        assert formats.format_by(x, spec) == format(x, spec), (x, spec)


def test_lists_of_texts_and_other_things():
    def joined(s, n):
        items = [n, s]
        if n > 0:
            items.pop(0)
        return "".join(items)

    def sorts(s):
        return "".join(sorted(list(s), key=len)) + "".join(sorted(s))

    check(joined, [("a", 1), ("b", 0), ("", 2)])
    check(sorts, TEXTS)


def test_a_method_is_looked_for_before_its_arguments_are_made():
    def asks(s):
        try:
            return len((s, 1).zfill(int(s)))  # type: ignore[attr-defined]
        except ValueError:
            return -1
        except AttributeError:
            return -2

    check(asks, ["1", "x"])
