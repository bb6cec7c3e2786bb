"""What there is of TensorFlow 1.15's names, and that it takes what it took there.

tensorflow_1_15.txt has the names and their arguments; missing.txt those that pullback does not
have, so that what is missing is known: a name that comes or goes changes that file.
"""

from __future__ import annotations

import ast
import fnmatch
import inspect
import re
import sys
import warnings
from enum import Enum
from pathlib import Path

import numpy as np
import pytest
from support.check import Check
from support.each import each
from support.tf1 import fresh_graph  # noqa: F401
from support.words import opening

import pullback as pb
import pullback.compat.tf1 as tf
from pullback.compat.tf1._graph.opdef import OPS, caller_of
from pullback.compat.tf1.names import absent, advice_of, table

FOLDER = Path(__file__).parent
LINES = [
    line for line in (FOLDER / "tensorflow_1_15.txt").read_text().splitlines()
    if line.startswith("tf.")
]  # fmt: skip
MISSING = (FOLDER / "missing.txt").read_text().split()

BUILT_IN = frozenset(OPS)  # without the types that tests define

# Where the arguments differ, and why.
DIFFERS = {
    "tf.group": "the keyword is named",
    "tf.logical_xor": "the default name is that of the operation, which is the same",
    "tf.matrix_diag": "diagonals beside the main one are not part of pullback",
    "tf.matrix_set_diag": "diagonals beside the main one are not part of pullback",
    "tf.matrix_diag_part": "diagonals beside the main one are not part of pullback",
    "tf.train.FtrlOptimizer": "beta, which came later",
    "tf.initializers.he_normal": "takes a dtype, as the others",
    "tf.initializers.he_uniform": "takes a dtype, as the others",
    "tf.initializers.lecun_normal": "takes a dtype, as the others",
    "tf.initializers.lecun_uniform": "takes a dtype, as the others",
}


def found(name):
    thing = tf
    for part in name.split(".")[1:]:
        thing = getattr(thing, part)
    return thing


def wanted(arguments):
    """Names and defaults, as texts, of what is written in the list."""
    given = ast.parse(f"def f({arguments}): pass").body[0].args
    defaults = [None] * (len(given.args) - len(given.defaults)) + given.defaults
    pairs = [
        (arg.arg, "" if default is None else ast.unparse(default))
        for arg, default in zip(given.args, defaults, strict=True)
    ]
    return pairs + [("*", "")] * bool(given.vararg) + [("**", "")] * bool(given.kwarg)


def as_text(default):
    if isinstance(default, Enum):
        default = default.value
    if isinstance(default, str) and default in ("int32", "int64", "float32"):
        return f"tf.{default}"
    return f"tf.{default.name}" if isinstance(default, tf.DType) else repr(default)


def taken(thing):
    pairs = []
    for name, parameter in inspect.signature(thing).parameters.items():
        if parameter.kind is parameter.VAR_POSITIONAL:
            pairs.append(("*", ""))
        elif parameter.kind is parameter.VAR_KEYWORD:
            pairs.append(("**", ""))
        else:
            empty = parameter.default is parameter.empty
            pairs.append((name, "" if empty else as_text(parameter.default)))
    return pairs


def test_the_lists_are_whole():
    names = [line.partition("(")[0] for line in LINES]
    assert len(names) == len(set(names)) > 850
    assert sorted(MISSING) == MISSING and set(MISSING) < set(names)
    there = [name for name in names if name not in MISSING]
    for name in there:
        found(name)
    assert len(there) > 350


@each("name", MISSING)
def test_what_is_missing_says_so(name):
    with pytest.raises(AttributeError, match=f"has no {name.rpartition('.')[2]}") as caught:
        found(name)
    text = str(caught.value)
    assert "it is not part of pullback" in text or "it is compat.tf1" in text
    assert caught.value.__cause__ is None


@each("line", [x for x in LINES if x.endswith(")") and x.partition("(")[0] not in MISSING])
def test_arguments(line):
    name, _, arguments = line[:-1].partition("(")
    if name in DIFFERS:
        assert taken(found(name)) != wanted(arguments), "it does not differ any more"
    else:
        assert taken(found(name)) == wanted(arguments)


def test_a_near_name_or_another_place_is_named():
    for name, text in (
        ("tf.reduce_summ", "did you mean 'reduce_sum'"), ("tf.softmax", "it is compat.tf1.nn.sof"),
        ("tf.AdamOptimizer", "it is compat.tf1.train.AdamOptimizer"),
        ("tf.train.Saber", "did you mean 'Saver'"), ("tf.layers.dens", "did you mean '[dD]ense'"),
        ("tf.trian", "did you mean 'train'"), ("tf.Grahp", "did you mean 'Graph'"),
        ("tf.Constant", "part of pullback$"), ("tf.placeholdr", "did you mean 'placeholder'[?]$"),
    ):  # fmt: skip
        with pytest.raises(AttributeError, match=text):
            found(name)
    assert not hasattr(tf.nn, "__wrapped__")


PATTERNS = [pattern for pattern, _ in table()]
SPACES = [
    module for name, module in sorted(sys.modules.items())
    if name.startswith(tf.__name__) and "__getattr__" in vars(module)
]  # fmt: skip


@each("pattern", PATTERNS)
def test_well_known_names_are_absent_and_say_what_to_use(pattern):
    for space in SPACES:
        names = getattr(space, "__all__", [n for n in vars(space) if n[0] != "_"])
        paths = [f"{space.__name__}.{name}".removeprefix(f"{tf.__name__}.") for name in names]
        assert not fnmatch.filter(paths, pattern)
    name = pattern.replace("*", "x").replace("?", "")
    module, _, last = f"{tf.__name__}.{name}".rpartition(".")
    with pytest.raises(AttributeError) as caught:
        absent(module)(last)
    assert str(caught.value).endswith(f"part of pullback; {advice_of(name)}")


def test_what_is_advised_exists():
    assert len(PATTERNS) == len(set(PATTERNS)) > 200
    advice = " ".join(text for _, text in table())
    for name in re.findall(r"`((?:tf|pb|np)\.[^`]*)`", advice):
        thing = {"tf": tf, "pb": pb, "np": np}[name[:2]]
        for part in name.split(".")[1:]:
            thing = getattr(thing, part)


@each(
    "statement",
    {
        "from pullback.compat.tf1.python.framework import ops": "tf1.python'.*tf.RegisterGradient",
        "import pullback.compat.tf1.python.ops.nn_ops": "TensorFlow's internal modules",
        "from pullback.compat.tf1 import resource_loader": "no files of TensorFlow",
        "import pullback.compat.tf1.trian": "no module named '.*trian'.*did you mean 'train'[?]$",
        "from pullback.compat.tf1.keras.layers import Dense": "use `tf.layers`",
        "import pullback.compat.tf1.conv99d": "it is not part of pullback$",
    }.items(),
)
def test_modules_that_do_not_exist_say_what_to_use(statement):
    program, text = statement
    with pytest.raises(ModuleNotFoundError, match=text):
        exec(program, {})


def test_every_name_that_is_announced_is_there():
    spaces = (tf.nn, tf.train, tf.layers, tf.losses, tf.initializers, tf.math, tf.random,
              tf.summary, tf.errors, tf.raw_ops, tf.keras, tf.keras.backend, tf.linalg, tf.app,
              tf.debugging, tf.flags, tf.gfile, tf.image, tf.logging, tf.saved_model,
              tf.data, tf.metrics, tf.distributions)  # fmt: skip
    for space in spaces:
        assert sorted(set(space.__all__)) == sorted(space.__all__)
        for name in space.__all__:
            assert hasattr(space, name), f"{space.__name__}.{name}"


def test_older_names_of_arguments_can_be_given_by_position():
    x = tf.constant([[1.0, 2.0]])
    assert tf.reduce_sum(x, None, True, None, [1]).shape.as_list() == [1, 1]
    assert tf.argmax(x, None, None, 1).shape.as_list() == [1]
    with pytest.raises(ValueError, match="expected axis or dim, got both"):
        tf.nn.softmax(x, 1, dim=1)
    assert tf.matmul(x, x, adjoint_b=True).shape.as_list() == [1, 1]
    with pytest.raises(ValueError, match="at most one of transpose and adjoint"):
        tf.matmul(x, x, transpose_b=True, adjoint_b=True)
    first = tf.layers.flatten(tf.constant(np.arange(8).reshape(1, 2, 4)), None, "channels_first")
    with tf.Session() as session, warnings.catch_warnings():
        warnings.simplefilter("error")
        assert session.run(first).tolist() == [[0, 4, 1, 5, 2, 6, 3, 7]]


# Types whose rows cannot fail, or that are named when they are recorded.
UNNAMED = {
    "AllAxes", "CandidateSampler", "Const", "LoopArgument", "ReadVariableOp", "Scatter",
    "VariableV2",
}  # fmt: skip


def test_messages_name_public_functions():
    spaces = [tf, *(m for m in vars(tf).values() if inspect.ismodule(m))]
    public = {name for m in spaces for name in vars(m)}
    methods = {f"{c}.{n}" for m in spaces for c, v in vars(m).items()
               if inspect.isclass(v) for n in dir(v)}  # fmt: skip
    optimizers = {"apply_gradients": "Optimizer.apply_gradients"}
    for type, row in OPS.items():
        name = caller_of(row, type)
        known = optimizers.get(name, name) in public | methods
        assert known or type in UNNAMED or type not in BUILT_IN, (type, name)


def test_docstrings_begin_with_a_verb_or_a_noun():
    check = Check()
    for name, module in [("tf", tf), *((n, m) for n, m in vars(tf).items() if inspect.ismodule(m))]:
        for key in dir(module):
            thing = getattr(module, key)
            if key[0] == "_" or not callable(thing) or not hasattr(thing, "__module__"):
                continue
            if str(thing.__module__).startswith(tf.__name__):
                text = inspect.getdoc(thing) or ""
                begins = text[:1].isupper() and not opening(text)
                check.that(begins or isinstance(thing, type), f"{name}.{key}: {text[:60]!r}")
    check.done()
