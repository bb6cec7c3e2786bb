"""The option `wrt` of grad and value_and_grad, and fields of classes that are not floating."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from support.each import each

import pullback as pb

W, B = np.array([1.0, -2.0, 0.5]), np.array(0.3)


@dataclass
class Layer:
    w: Any
    name: str = "dense"
    power: int = 2


@dataclass
class Marked:
    w: Any
    power: int = field(default=2, metadata={"static": True})


def loss(model: Any, x: Any) -> Any:
    encoder, bias = model["encoder"], model["tail"][0]
    return pb.sum(encoder.w**encoder.power * x) * bias


def model() -> dict[str, Any]:
    return {"encoder": Layer(W), "tail": [B, "unused"]}


X = np.array([1.0, 2.0, 3.0])
BY_W = 2 * W * X * B
BY_B = np.sum(W**2 * X)
SELECTIONS: list[tuple[Any, bool, bool]] = [
    ("['encoder'].w", True, False),
    ("['tail'][0]", False, True),
    (["['encoder'].w", "['tail'][0]"], True, True),
    (("['tail'][0]",), False, True),
    (lambda path, leaf: isinstance(leaf, np.ndarray), True, True),
    (lambda path, leaf: path.endswith(".w"), True, False),
]


@each(("wrt", "by_w", "by_b"), SELECTIONS)
def test_selected_leaves_have_gradients(wrt: Any, by_w: bool, by_b: bool) -> None:
    value, got = pb.value_and_grad(loss, wrt=wrt)(model(), X)
    for found in (got, pb.grad(loss, wrt=wrt)(model(), X)):
        assert isinstance(found["encoder"], Layer)
        assert found["encoder"].name is None and found["tail"][1] is None
        for slope, wanted, selected in (
            (found["encoder"].w, BY_W, by_w),
            (found["tail"][0], BY_B, by_b),
        ):
            assert (slope is not None) == selected
            if selected:
                np.testing.assert_allclose(slope.numpy(), wanted, rtol=1e-14)
    assert value.item() == pytest.approx(BY_B * B)


def test_selections_compose() -> None:
    slope = pb.grad(lambda m, x: pb.sum(m["w"] ** m["n"] * x), wrt="['w']")
    args = {"w": W, "n": 3}, X
    want = 3 * W**2 * X
    np.testing.assert_allclose(slope(*args)["w"].numpy(), want)
    assert slope(*args)["n"] is None
    rows = pb.vmap(slope, in_axes=({"w": 0, "n": None}, None))({"w": np.stack([W, W]), "n": 3}, X)
    np.testing.assert_allclose(rows["w"].numpy(), np.stack([want, want]))
    traced = pb.function(pb.grad(loss, wrt="['encoder'].w"))(model(), X)
    np.testing.assert_allclose(traced["encoder"].w.numpy(), BY_W)
    second = pb.grad(lambda m: pb.sum(slope(m, X)["w"]), wrt="['w']")({"w": W, "n": 3})
    np.testing.assert_allclose(second["w"].numpy(), 6 * W * X)
    by_x, by_y = pb.grad(lambda a, b: a["x"] * b["y"], argnums=(0, 1), wrt="['x']")(
        {"x": 2.0, "z": "text"}, {"y": 3.0}
    )
    assert by_x["x"].item() == 3.0 and by_x["z"] is None and by_y == {"y": None}
    (_, aux), found = pb.value_and_grad(
        lambda m: (pb.sum(m.w), m.name), has_aux=True, wrt=lambda path, leaf: path == ".w"
    )(Layer(W))
    assert aux == "dense" and found.w.tolist() == [1.0] * 3 and found.power is None
    assert pb.grad(lambda x: x * x, wrt="")(3.0).item() == 6.0


def test_a_leaf_that_is_not_selected_is_a_constant() -> None:
    v = pb.Variable(W)
    found = pb.grad(lambda m: pb.sum(m["v"] * m["u"]), wrt="['u']")({"u": v * 2.0, "v": v})
    np.testing.assert_array_equal(found["u"].numpy(), W)
    assert found["v"] is None


@pytest.mark.parametrize(
    ("wrt", "error", "text"),
    [
        ("['encodr'].w", ValueError, r"^grad: wrt=.* is the path of no leaf; did you mean .*encod"),
        (["['tail'][0]", "[9]"], ValueError, r"^grad: wrt='\[9\]' is the path of no leaf; the pa"),
        ("['tail'][", ValueError, "no leaf"),
        ([], ValueError, "^grad: expected at least one path for wrt"),
        (lambda path, leaf: False, ValueError, "^grad: expected a predicate wrt that selects"),
        (3, TypeError, "^grad: expected a path, a list of paths or a function"),
        ([0], TypeError, "^grad: expected a path, a list of paths or a function"),
        ("['tail']", TypeError, r"^grad: argument 0\['tail'\]\[1\]: expected numbers, got a str"),
    ],
)
def test_wrong_selections(wrt: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        pb.grad(loss, wrt=wrt)(model(), X)


def test_fields_that_are_not_floating_name_the_metadata() -> None:
    def f(m: Any) -> Any:
        return pb.sum(m.w**m.power)

    for call in (pb.grad, pb.value_and_grad, pb.jacobian, pb.hessian):
        for name in ("name", "power"):
            m = Layer(W, **{"name": 1.0, "power": 2.0} | {name: 2 if name == "power" else "a"})  # type: ignore[arg-type]
            with pytest.raises(TypeError, match=rf"\.{name}: .*metadata={{'static': True}}"):
                call(f)(m)
    np.testing.assert_allclose(pb.grad(f)(Marked(W)).w.numpy(), 2 * W)
    assert pb.grad(f)(Marked(W)).power == 2
    # Numbers elsewhere count as floats.
    assert pb.grad(lambda m: m["a"] * m["b"][0])({"a": 2, "b": [3]})["b"][0].item() == 2.0
    assert pb.grad(lambda x: x * x)(3).item() == 6.0
