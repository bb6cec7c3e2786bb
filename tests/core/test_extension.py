"""Every class that the extension exports, used in every way that Python knows: exceptions are fine,
a process that ends is not."""

from __future__ import annotations

import subprocess
import sys

import pytest

from pullback import _core

CLASSES = [name for name in dir(_core) if isinstance(getattr(_core, name), type)]


def test_all_classes_are_here() -> None:
    expected = {"ClosedGraph", "Function", "NumberCheck", "Rule", "Structure", "Tape"}
    expected |= {
        "BatchScope",
        "Body",
        "BodyTrace",
        "Pattern",
        "Tensor",
        "Trace",
        "Variable",
    }
    assert set(CLASSES) == expected  # a new one needs an object in USE


# Each class and step prints its name first, so that the last lines name the one that ended the
# process.
WALK = """if True:
    import sys
    use, *names = sys.argv[1:]
    for name in names:
        print(name)
        exec(use, {"name": name})
    """
USE = """if True:
    import copy, gc, inspect, pickle, pydoc, sys, warnings, weakref
    import numpy as np
    import pullback as pb
    from pullback import _core
    warnings.simplefilter("ignore")
    cls = getattr(_core, name)
    variable = pb.Variable([1.0, 2.0])
    def recorded():
        trace = _core.BodyTrace("scan", "f")
        trace.open()
        return trace.close([trace.argument(np.dtype("float32"), ())], False)
    def closed():
        x = _core.Trace().argument("float32", (2,), False)
        return _core.ClosedGraph([x * 2.0], [x])

    objects = {
        "Function": lambda: pb.function(lambda x: 2 * x),
        "Rule": lambda: _core.Rule(lambda op, g: g, "rule"),
        "Structure": lambda: _core.flatten([1, {"a": variable}])[1],
        "NumberCheck": _core.NumberCheck,
        "Pattern": lambda: _core.dependence(variable * 2.0, variable.read(), "test"),
        "ClosedGraph": closed,
        "BatchScope": _core.BatchScope,
        "Body": recorded,
        "BodyTrace": lambda: _core.BodyTrace("scan", "f"),
        "Tape": lambda: _core.Tape(True),
        "Tensor": lambda: variable * 2.0,
        "Trace": lambda: _core.Trace("trace"),
        "Variable": lambda: pb.Variable([1.0, 2.0]),
    }
    made = objects[name]

    def attempt(what, f):
        print(what, flush=True)
        try:
            return f()
        except Exception:
            return None

    def protocols(what, x):
        for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
            attempt(f"{what} pickled {protocol}", lambda: pickle.loads(pickle.dumps(x, protocol)))
            attempt(f"{what} reduced {protocol}", lambda: x.__reduce_ex__(protocol))
        for f in (copy.copy, copy.deepcopy, repr, str, dir, hash, bool, len, iter, vars, float, int,
                  list, sys.getsizeof, pydoc.render_doc, inspect.getmembers, np.asarray, pb.sin,
                  lambda x: x == x, lambda x: x != 3, lambda x: x < x, lambda x: x + 1,
                  lambda x: x[0], lambda x: x(1.0), lambda x: weakref.ref(x)(),
                  lambda x: setattr(x, "other", 1), lambda x: setattr(x, "__class__", int),
                  lambda x: pb.gradients(x, [x]), lambda x: pb.gradients(x, variable),
                  lambda x: pb.gradients(variable, x, unconnected_gradients="zero"),
                  lambda x: _core.Tape(True).watch(x), lambda x: pb.function(lambda y: y)(x),
                  lambda x: pb.evaluate(x), lambda x: pb.stack([x, x]),
                  lambda x: variable.assign(x), lambda x: variable.at[0].set(x)):
            attempt(f"{what} {getattr(f, '__name__', f)}", lambda: f(x))

    def methods(what, x):
        for attribute in dir(x):
            f = attempt(f"{what}.{attribute}", lambda: getattr(x, attribute))
            skipped = ("__class__", "__init_subclass__", "__subclasshook__", "__dir__")
            if not callable(f) or attribute in skipped:
                continue
            for arguments in ((), (1,), (x,), ("x",), (None, None), (object(),), (1, 2, 3)):
                attempt(f"{what}.{attribute} of {len(arguments)}", lambda: f(*arguments))

    def bare():
        return cls.__new__(cls)

    def twice():
        x = bare()
        for arguments in ((), (1.0,), (2.0,), (lambda: 0, "name"), (), (1.0,)):
            attempt(f"init{arguments!r}", lambda: x.__init__(*arguments))
        return x

    def derived(with_init):
        def init(self, *args):
            if with_init:
                cls.__init__(self, *args)
        return type("Derived", (cls,), {"__init__": init})(*([1.0] if with_init else []))

    def cycle():
        x = made()
        x.me = x
        return x

    for what, make in {
        "made": made,
        "bare": bare,
        "twice": twice,
        "derived": lambda: derived(True),
        "derived bare": lambda: derived(False),
        "cycle": cycle,
    }.items():
        x = attempt(what, make)
        if x is not None:
            protocols(what, x)
            methods(what, x)
            protocols(what + " again", x)
        del x
        gc.collect()
    methods("class", cls)
    attempt("help", lambda: pydoc.render_doc(cls))
    print("end")
    """


def test_no_use_of_a_class_ends_the_process() -> None:
    command = [sys.executable, "-X", "faulthandler", "-c", WALK, USE, *CLASSES]
    done = subprocess.run(command, capture_output=True, text=True, timeout=150)
    steps = done.stdout.splitlines()
    name = [step for step in steps if step in CLASSES][-1:]
    assert done.returncode == 0, f"{name}: {steps[-1:]}\n{done.stderr[-2000:]}"
    assert steps.count("end") == len(CLASSES)


@pytest.mark.parametrize("protocol", range(6))
def test_what_cannot_be_pickled_says_so(protocol: int) -> None:
    import pickle

    import pullback as pb

    for x in (_core.Tape(True), _core.Trace("t"), _core.flatten([1])[1], pb.GradientTape()):
        with pytest.raises(TypeError, match="cannot be pickled or copied"):
            pickle.dumps(x, protocol)
