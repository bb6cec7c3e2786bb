"""The public objects and their docstrings, and numpydoc's checks of them.

`python -m support.docstrings` prints what numpydoc finds; tools/docstrings runs it.
"""

import importlib
import inspect
import re
import sys

from pullback.stats._absent import Family

NAMESPACES = [
    "cuda",
    "fft",
    "implicit",
    "initializers",
    "integrate",
    "interop",
    "interpolate",
    "linalg",
    "nn",
    "optimize",
    "optimizers",
    "random",
    "special",
    "stats",
    "testing",
    "tree",
]
MODULES = ["pullback"] + [f"pullback.{name}" for name in ("datasets", *NAMESPACES)]
# Classes that a user receives and does not create: they document attributes, not parameters.
RECEIVED = {
    "pullback.Drawing",
    "pullback.Explanation",
    "pullback.GradientPath",
    "pullback.Profile",
    "pullback.MemoryLine",
    "pullback.MemoryProfile",
    "pullback.ProfileStep",
    "pullback.Tensor",
    "pullback.datasets.Mnist",
    "pullback.integrate.OdeResult",
    "pullback.integrate.OdeSolution",
    "pullback.optimize.CurveFit",
    "pullback.optimize.OptimizeResult",
}
# numpydoc's checks but for those of an extended summary (ES01), which is optional; of See Also
# (SA01, SA04), an optional list of names; of type names (PR06), since "array_like, integer" names
# a kind of dtype; of Yields (YD01), since a context manager documents what it returns.
CHECKS = {
    *("GL01", "GL02", "GL03", "GL05", "GL06", "GL07", "GL08", "GL09", "GL10"),
    *("SS01", "SS02", "SS03", "SS04", "SS05", "SS06"),
    *("PR01", "PR02", "PR03", "PR04", "PR05", "PR07", "PR08", "PR09", "PR10"),
    *("RT01", "RT02", "RT03", "RT04", "RT05", "SA02", "SA03", "EX01"),
}


def callables(module):
    """Return the public callables of a module by name, without exceptions and distributions."""
    module = importlib.import_module(module)
    return {
        f"{module.__name__}.{key}": value
        for key in module.__all__
        if callable(value := getattr(module, key))
        and not (isinstance(value, type) and issubclass(value, Exception))
        and not isinstance(value, Family)  # a call of a distribution is an error with a hint
    }


def documented():
    """Return every public function, class, method and property once, by name."""
    found = {}
    for module in MODULES:
        for key in importlib.import_module(module).__all__:
            thing = getattr(sys.modules[module], key)
            thing = getattr(thing, "__func__", thing)  # of the generator behind pb.random
            cls = thing if isinstance(thing, type) else type(thing)
            if inspect.isroutine(thing):
                found.setdefault(id(thing), (f"{module}.{key}", thing))
            elif cls.__module__.partition(".")[0] == "pullback":
                found.setdefault(id(cls), (f"{module}.{key}", cls))
                for name, member in _members(cls):
                    found.setdefault(id(member), (f"{module}.{key}.{name}", member))
    return dict(found.values())


def text_of(thing):
    """Return a docstring without the signature that docstrings from C++ start with."""
    return re.sub(r"\A\w+\(self\b.*\n\n", "", inspect.getdoc(thing) or "")


def errors_of(name, thing):
    """Return what numpydoc finds in a docstring, as (code, message)."""
    from numpydoc.docscrape import get_doc_object
    from numpydoc.validate import validate

    skipped = set()
    if name not in PUBLIC:
        skipped = {"EX01"}  # test_docs.py names the classes whose methods have an example each
    if name in RECEIVED:
        skipped = {"PR01"}
    doc = text_of(thing)
    if doc.startswith("Alias of "):
        skipped |= {"SS05"}  # not a verb in the third person
    found = validate(get_doc_object(thing, doc=doc))["errors"]
    return [(code, text) for code, text in found if code in CHECKS - skipped]


def _members(cls):
    for base in cls.__mro__:
        if base.__module__.partition(".")[0] == "pullback":
            for name, member in vars(base).items():
                attribute = isinstance(member, property) or inspect.isgetsetdescriptor(member)
                # A method with __wrapped__ repeats the docstring of a public function.
                method = inspect.isroutine(member) and not hasattr(member, "__wrapped__")
                if not name.startswith("_") and (attribute or method):
                    yield name, member


PUBLIC = {name: value for module in MODULES for name, value in callables(module).items()}


def main():
    count = 0
    for name, thing in documented().items():
        for code, text in errors_of(name, thing):
            count += 1
            print(f"{name}: {code} {text}")
    return f"numpydoc: {count} errors" if count else None


if __name__ == "__main__":
    sys.exit(main())
