"""Texts: slices, methods, conversions; f-strings and format specifications."""

from __future__ import annotations

CONSTANTS = {
    "str": ["''", "'a'", "'abc'", "'12'", "' x '", "'Hello World'", "'a,b,,c'", "'-7'", "'\\t'", "'aXbX'", "'zz'"],
    "letter": ["'a'", "'X'", "' '", "','", "'0'", "'-'"],
    "digits": ["'0'", "'12'", "'-7'", "' 42 '", "'ff'", "'0x1f'", "'1_000'", "'1011'", "'9'*25", "'x'", "''", "'+5'"],
    "decimals": [
        "'0'", "'1.5'", "'-2.25'", "'1e3'", "'nan'", "'inf'", "'-inf'", "' 7.5 '", "'1_0.5'", "'1e-400'", "'1e400'",
        "'0.1'", "'123456789012345678'", "'.5'", "'5.'", "'abc'", "'5e-324'", "'1.7976931348623157e308'",
    ],
}  # fmt: skip

FORMS = """
4 str = ({str} + {str})
2 str = ({str} * {small})
2 str = ({small} * {str})
3 str = {str}[{bound}:{bound}]
2 str = {str}[::-1]
1 str = {str}[{bound}:{bound}:{step}]
1 str = {str}[{offset}]
2 str = ({str} or 'q')[0]
2 str = ({str} + 'xy')[{bit}]
1 str = ({str} or {str} or 'k')[-1]
3 str = ({str} if {bool} else {str})
2 str = ({str} or {str})
2 str = str({int})
2 str = str({float})
1 str = str({bool})
1 str = str({num})
1 str = repr({float})
1 str = repr({int})
1 str = bin({int})
1 str = hex({int})
1 str = oct({int})
1 str = chr(97 + {int} % 26)
1 str = {str}.upper()
1 str = {str}.lower()
1 str = {str}.title()
1 str = {str}.capitalize()
1 str = {str}.swapcase()
1 str = {str}.casefold()
1 str = {str}.strip()
1 str = {str}.strip({str})
1 str = {str}.lstrip({letter})
1 str = {str}.rstrip()
2 str = {str}.replace({letter}, {str})
1 str = {str}.replace({str}, {str}, {small})
1 str = {str}.zfill({small} * 2)
1 str = {str}.center({small} * 3, {letter})
1 str = {str}.ljust({small} * 3)
1 str = {str}.rjust({small} * 3, {letter})
1 str = {str}.removeprefix({str})
1 str = {str}.removesuffix({str})
1 str = {str}.expandtabs({small})
1 str = {str}.translate(str.maketrans('ab', 'xy'))
2 str = {letter}.join({list[str]})
1 str = ''.join({str|c:str} for {c!} in {str})
1 str = ''.join(reversed({str}))
1 str = ''.join(sorted({str}))
1 str = max({str}, {str})
1 str = min({str}, key=ord, default='?')
1 str = {str}.partition({letter})[{bit}]
1 str = {str}.rpartition({letter})[{bit}]
1 str = {str}.split({letter})[0]
1 str = {str}.rsplit({letter}, 1)[-1]
1 str = format({int}, 'x')
2 letter = {str}[:1]
2 digits = str({int})
1 digits = bin({int} % 9)
1 digits = {str}
2 decimals = str({float})
1 decimals = {str}
2 list[str] = {str}.split()
2 list[str] = {str}.split({letter})
1 list[str] = {str}.split({letter}, {small})
1 list[str] = {str}.rsplit(None, {small})
1 list[str] = {str}.splitlines()
2 list[str] = list({str})
1 list[str] = sorted({str}, reverse={bool})
2 list[int] = [ord({c!}) for {c!} in {str}]
1 list[int] = [int({c!}) for {c!} in str(abs({int}))]
3 int = len({str})
2 int = {str}.count({letter})
1 int = {str}.count({str}, {offset})
2 int = {str}.find({letter})
1 int = {str}.rfind({str}, {bound})
1 int = {str}.index({letter})
1 int = ('a' + {str} + 'a').index('a', {bit})
1 int = ({str} + {w!} + {str}).rindex({w!}) if ({w!} := {str}) else 1
1 int = ord({str}[:1] or 'q')
1 int = sum(map(int, str(abs({int}))))
1 int = int(str({int})[::-1].strip('-'))
1 int = int(str({int}) + str({small}))
2 bool = ({str} == {str})
2 bool = ({str} < {str})
2 bool = ({letter} in {str})
1 bool = ({str} not in {str})
1 bool = {str}.startswith({letter})
1 bool = {str}.startswith(({str}, {str}), {small})
1 bool = {str}.endswith({str})
1 bool = {str}.isdigit()
1 bool = {str}.isalpha()
1 bool = {str}.isalnum()
1 bool = {str}.isupper()
1 bool = {str}.islower()
1 bool = {str}.isspace()
1 bool = {str}.istitle()
1 bool = {str}.isidentifier()
1 bool = {str}.isprintable()
1 bool = {str}.isnumeric()
1 bool = {str}.isdecimal()
1 bool = {str}.isascii()
1 bool = bool({str})
2 str : {self} += {str}
1 str : {self} *= {small}
"""

FORMATS = """
3 str = f"{{{int}}}"
2 str = f"{{{float}}}"
2 str = f"<{{{str}}}|{{{int}}}>"
2 str = f"{{{float}:.2f}}"
1 str = f"{{{float}:.3e}}"
1 str = f"{{{float}:g}}"
1 str = f"{{{float}:.4g}}"
1 str = f"{{{float}:+10.1f}}"
1 str = f"{{{float}:.1%}}"
1 str = f"{{{float}:,.2f}}"
1 str = f"{{{float}:012.3f}}"
1 str = f"{{{int}:5d}}"
1 str = f"{{{int}:05d}}"
1 str = f"{{{int}:+d}}"
1 str = f"{{{int}:<6}}"
1 str = f"{{{int}:*^9}}"
1 str = f"{{{int}:x}}"
1 str = f"{{{int}:#010b}}"
1 str = f"{{{int}:o}}"
1 str = f"{{{int}:,}}"
1 str = f"{{{int}:_}}"
1 str = f"{{{int}:e}}"
1 str = f"{{{str}:>8}}"
1 str = f"{{{str}:^7.2}}"
1 str = f"{{{str}!r}}"
1 str = f"{{{float}!r:>8}}"
1 str = f"{{{bool}}}"
1 str = f"{{{bool}:d}}"
1 str = f"{{{int}:{{{small}}}}}"
1 str = f"{{{float}:.{{{small}}}f}}"
1 str = f"{{{opt[int]}}}"
2 str = "%d" % {int}
1 str = "%05.1f" % {float}
1 str = "%s and %s" % ({int}, {str})
1 str = "%x" % {int}
1 str = "%r" % {float}
1 str = "%g" % {float}
1 str = "%-6s|" % {str}
1 str = "{{}}-{{}}".format({int}, {str})
1 str = "{{1:>4}}{{0}}".format({int}, {float})
1 str = "{{:.2f}}".format({float})
1 str = "{{a}}{{b:3d}}".format(a={str}, b={int})
1 str = format({float}, ".3f")
1 str = format({int}, "08b")
1 str = format({str}, ">6")
1 str = str({list[int]})
1 str = f"{{{list[float]}}}"
1 str = str({(int,float)})
1 str = repr({str})
"""
