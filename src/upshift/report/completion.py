"""Writes the scripts that complete the words of the command line in bash, zsh and fish."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

SHELLS = ("bash", "zsh", "fish")
Words = Mapping[str, Sequence[str]]
"""By command, the words that may follow it; files are completed everywhere else."""

_BASH = """_upshift() {{
    local word="${{COMP_WORDS[COMP_CWORD]}}" words=""
    if [ "$COMP_CWORD" = 1 ]; then
        words="{commands}"
    else
        case "${{COMP_WORDS[1]}}" in
{cases}
        esac
    fi
    COMPREPLY=($(compgen -W "$words" -- "$word"))
}}
complete -o default -F _upshift upshift
"""


def script(shell: str, words: Words) -> str:
    """
    >>> print(script("fish", {"cache": ("info", "clear")}))
    complete -c upshift -n __fish_use_subcommand -a cache
    complete -c upshift -n '__fish_seen_subcommand_from cache' -a 'info clear'
    """
    if shell == "fish":
        lines = [f"complete -c upshift -n __fish_use_subcommand -a {command}" for command in words]
        for command, more in words.items():
            if more:
                lines.append(f"complete -c upshift -n '__fish_seen_subcommand_from {command}' -a '{' '.join(more)}'")
        return "\n".join(lines)
    cases = "\n".join(f'            {name}) words="{" ".join(more)}" ;;' for name, more in words.items() if more)
    made = _BASH.format(commands=" ".join(words), cases=cases)
    return ("autoload -U +X bashcompinit && bashcompinit\n" if shell == "zsh" else "") + made.rstrip("\n")
