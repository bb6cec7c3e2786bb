"""Words and phrases that docstrings, messages and comments do not contain."""

import re

# A docstring begins with a verb or a noun. The docstring of a module may begin with a gerund:
# "Pooling over axes".
QUESTION = re.compile(r"(What|Whether|Where|Of|Who|Whose|Whoever|How|When|That)\b")
PARTICIPLE = re.compile(r"\w+(ing|ed)\b")
CODE = re.compile(r"`[^`]*`")
PHRASES = {
    "name the input, the operand, the result": r"[Ww]hat (?:is|was|are|were|it|they)\b",
    "name the caller, the thread": r"\b(?:\w*(?:no|some|any)body|who(?:m|se)?ever)\b",
    "'is invalid', 'no … is'": r"(?<!here )\b(?:is|are) (?:no|none)\b(?! of)",
    "'after', 'cause'": r"(?<!nothing )\bbehind\b",
    "code returns, raises, requires": r"\b(?:asks?|asked for|knows?|tells?|told|wants?|says?)\b",
    "'evaluate', 'read'": r"\blook(?:s|ed|ing)? at\b",
    "'placeholder', 'abstract value'": r"\bstand-?ins?\b",
    "'pytree'": r"\b(?:a|an|the|this|of|same|another) nests?\b",
    "'closed graph', 'subgraph', 'parts'": r"\b(?:pieces?)\b",
    "'donated', 'in flight'": r"\b(?:lent|dying|donors?)\b",
    "'batched'": r"\bof many\b",
    "'interleave'": r"\b(?:weaves?|woven)\b",
    "'path'": r"\bon the way\b",
    "'scanned inputs'": r"\b(?:go|goes|going) along\b",
    "'transposed', 'in the other direction'": r"\bturned round\b",
    "'rebuilt', 'that of'": r"(?<![Aa]li)\b(?:made again|as of)\b",
    "'callback'": r"\bhost functions?\b",
    "'agree', 'broadcast'": r"\bgo together\b",
    "'is documented'": r"\bwhere it is said\b",
}
BANNED = {advice: re.compile(pattern) for advice, pattern in PHRASES.items()}


def opening(text: str, module: bool = False) -> str | None:
    """Return the first word of a docstring if it is neither a verb nor a noun."""
    found = QUESTION.match(text) or (not module and PARTICIPLE.match(text))
    return found[0] if found else None


def phrases(text: str) -> list[str]:
    """Return the places of banned phrases outside of code in backticks, with advice."""
    text = CODE.sub("x", text)
    return [
        f"{' '.join(text[max(hit.start() - 30, 0) : hit.end() + 20].split())!r}; write {advice}"
        for advice, pattern in BANNED.items()
        for hit in pattern.finditer(text)
    ]
