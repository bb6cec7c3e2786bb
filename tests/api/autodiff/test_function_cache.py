"""What `function` keeps: no instance, a bounded number of traces; and its warning where signatures
keep changing."""

import gc
import warnings
import weakref
from dataclasses import dataclass

import numpy as np
import pytest

import pullback as pb


class Model:
    def __init__(self, k):
        self.w = pb.Variable([1.0, k])

    @pb.function
    def step(self, x):
        return pb.sum(self.w * x)

    @pb.function(static_argnums=0)
    def fixed(self, x):
        return pb.sum(self.w * x)


@pytest.mark.parametrize("method", ["step", "fixed"])
def test_methods_keep_no_instance(method):
    traced = getattr(Model, method)
    traced.clear_cache()
    models = [Model(float(k)) for k in range(3)]
    for _ in range(2):
        assert [float(getattr(m, method)(2.0)) for m in models] == [2.0, 4.0, 6.0]
    assert traced.cache_info().currsize == 3
    variables = [weakref.ref(m.w) for m in models]
    instances = [weakref.ref(m) for m in models]
    del models[0]
    assert instances[0]() is None and variables[0]() is None
    assert traced.cache_info().currsize == 2
    assert float(getattr(models[0], method)(1.0)) == 2.0
    models.clear()
    assert not any(ref() for ref in (*instances, *variables))
    assert traced.cache_info().currsize == 0


def test_a_new_instance_at_the_same_address_is_another():
    @pb.function
    def f(box, x):
        return box.k * x

    class Box:
        def __init__(self, k):
            self.k = k

    assert [float(f(Box(float(k)), 2.0)) for k in range(12)] == [2.0 * k for k in range(12)]
    assert f.cache_info().currsize == 0


def test_instances_in_cycles_go_with_their_methods():
    class Owner:
        def __init__(self):
            self.call = pb.function(self.double)

        def double(self, x):
            return 2 * x

    owner = Owner()
    assert float(owner.call(3.0)) == 6.0
    reference = weakref.ref(owner)
    del owner
    gc.collect()
    assert reference() is None


def test_functions_go_before_their_instances():
    model = Model(3.0)
    f = pb.function(lambda m, x: pb.sum(m.w * x))
    assert float(f(model, 1.0)) == 4.0
    del f
    gc.collect()
    assert float(model.step(1.0)) == 4.0


def test_equal_values_share_a_trace_and_are_kept():
    @dataclass(frozen=True)
    class Entry:
        k: int

    class Wrapped:
        def __init__(self, k):
            self.k = k

        def __eq__(self, other):
            return self.k == other.k

        def __hash__(self):
            return hash(self.k)

    f = pb.function(lambda w, x: w.k * x)
    assert float(f(Wrapped(2), 1.0)) == float(f(Wrapped(2), 1.0)) == 2.0
    assert f.cache_info() == (1, 1, 1)
    assert float(f(Entry(2), 1.0)) == 2.0


def test_the_oldest_trace_goes():
    @pb.function(cache_size=3)
    def f(x, n):
        return x * n

    for n in (1, 2, 3, 1, 4):  # 2 was not used for the longest time
        assert float(f(2.0, n)) == 2.0 * n
    assert f.cache_info() == (1, 4, 3)
    for n in (1, 3, 4):
        f(2.0, n)
    assert f.cache_info() == (4, 4, 3)
    f(2.0, 2)
    assert f.cache_info() == (4, 5, 3)


def test_the_default_bound():
    f = pb.function(lambda x, n: x * n)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for n in range(300):
            f(1.0, n)
    assert f.cache_info() == (0, 300, 256)


def test_cache_size_is_checked():
    for wrong in (0, -1):
        with pytest.raises(ValueError, match="cache_size"):
            pb.function(lambda x: x, cache_size=wrong)
    with pytest.raises(TypeError):
        pb.function(lambda x: x, cache_size=1.5)
    assert float(pb.function(lambda x: x, cache_size=np.int64(2))(1.0)) == 1.0


def called(f, calls):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for args, kwargs in calls:
            f(*args, **kwargs)
    return [str(w.message) for w in caught]


@pytest.mark.parametrize(
    ("calls", "words"),
    [
        ([((1.0, n), {}) for n in range(16)], ["argument 'n' was 14 and is 15"]),
        ([((1.0,), {"n": n}) for n in range(16)], ["argument 'n' was 14 and is 15"]),
        (
            [((np.ones(k), 1), {}) for k in range(16)],
            ["argument 'x' was float64 of shape (14,) and is float64 of shape (15,)"],
        ),
        (
            [(({"a": 1.0, "b": k},), {}) for k in range(16)],
            ["argument 'x' was a pytree of a float, 14 and is a pytree of a float, 15"],
        ),
        ([((1.0, object()), {}) for _ in range(16)], ["argument 'n' was a object with id"]),
    ],
    ids=["position", "name", "shape", "nest", "identity"],
)
def test_changing_signatures_are_warned_about(calls, words):
    def g(x, n=0):
        return x

    found = called(pb.function(g), calls * 2)
    assert len(found) == 1, found  # once
    assert all(word in found[0] for word in ["g (", "test_function_cache.py", *words])
    assert "argument 'x'" not in found[0] or "argument 'x'" in words[0]


def test_a_warm_up_of_some_signatures_is_none():
    f = pb.function(lambda x, n: x * n)
    assert not called(f, [((1.0, n % 15), {}) for n in range(200)])


def test_no_code_of_others_runs_for_the_warning():
    class Loud:
        def __repr__(self):
            raise AssertionError("asked for its repr")

    f = pb.function(lambda x, loud: x)
    assert len(called(f, [((1.0, Loud()), {}) for _ in range(20)])) == 1


class Chained:
    """Its methods return the instance, alone or in a nest."""

    def __init__(self, k):
        self.w = pb.Variable([1.0, k])

    @pb.function
    def add(self, x):
        self.w.assign_add(x)
        return self

    @pb.function(static_argnums=0)
    def both(self, x):
        return {"loss": pb.sum(self.w * x), "who": (self, 3)}


def test_methods_that_return_the_instance_do_not_keep_it():
    a, b = Chained(2.0), Chained(5.0)
    for _ in range(2):
        assert a.add([1.0, 1.0]) is a and b.add([1.0, 1.0]) is b
        for m in (a, b):
            answer = m.both(2.0)
            assert answer["who"] == (m, 3)
            assert float(answer["loss"]) == 2.0 * float(pb.sum(m.w))
    assert a.w.read().numpy().tolist() == [3.0, 4.0]
    gone = weakref.ref(a), weakref.ref(a.w)
    del a, m, answer
    assert [ref() for ref in gone] == [None, None]
    assert Chained.add.cache_info().currsize == 1
    assert b.add([0.0, 0.0]) is b


@pytest.mark.usefixtures("processor")
def test_what_a_signature_looks_like_copies_no_array():
    f = pb.function(lambda a: pb.sum(a))
    array = np.ones(4_000_000, np.float32)  # 16 MB
    pb._core.reset_peak_bytes()
    before = pb._core.status()["live_bytes"]
    f(array)
    assert pb._core.status()["peak_bytes"] - before < 1.5 * array.nbytes


def test_the_warning_names_arrays_and_floats_of_any_class():
    class Mine(float):
        pass

    f = pb.function(lambda a, b: pb.sum(a) + b)
    with pytest.warns(
        RuntimeWarning, match=r"was int32 of shape \(15,\) and is int32 of shape \(16,\)"
    ):
        for n in range(1, 20):
            f(np.ones(n, np.int32), Mine(1.0))


def test_results_as_arguments_are_no_new_trace():
    made = []

    @pb.function
    def step(x):
        made.append(1)
        return x * 2.0

    x = pb.constant([1.0, 2.0])
    for _ in range(3):
        x = step(x)
    assert x.numpy().tolist() == [8, 16] and len(made) == 1
