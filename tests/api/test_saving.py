"""`pb.save` and `pb.load`: round trips, errors of damaged files, nothing is pickled."""

import json
import os
import zipfile
from collections import OrderedDict, namedtuple
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

import pullback as pb

Pair = namedtuple("Pair", "w b")


@dataclass(frozen=True)
class Layer:
    w: Any
    activation: str = field(default="tanh", metadata={"static": True})


class Interval:
    def __init__(self, low, high, name):
        self.low, self.high, self.name = low, high, name

    def tree_flatten(self):
        return (self.low, self.high), self.name

    @classmethod
    def tree_unflatten(cls, name, children):
        return cls(*children, name)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "tree.npz"


def again(path, tree, classes=()):
    pb.save(path, tree)
    assert os.listdir(path.parent) == [path.name]
    return pb.load(path, classes)


DTYPES = [
    "bool",
    "bfloat16",
    "float16",
    "float32",
    "float64",
    "complex64",
    "complex128",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
]


def test_dtypes(path):
    tree = {d: pb.constant([[0, 1, 1]]).astype("float32").astype(d) for d in DTYPES}
    tree |= {
        "nan": pb.constant([np.nan, -0.0, np.inf]),
        "empty": pb.zeros((0, 3)),
        "s": pb.ones(()),
    }
    tree["fine"] = pb.constant([1 / 3, 3e38]).astype("bfloat16")
    found = again(path, tree)
    assert list(found) == list(tree)
    for key, x in tree.items():
        assert (found[key].dtype, found[key].shape) == (x.dtype, x.shape), key
        wide = [y.astype("float32") if y.dtype == "bfloat16" else y for y in (x, found[key])]
        assert wide[0].numpy().tobytes() == wide[1].numpy().tobytes(), key


def test_containers_and_python_values(path):
    tree = {
        "numbers": [1, -(2**70), True, None, "text", 0.1, 1 + 2j],
        "pair": Pair((1,), [OrderedDict([("z", 1), ("a", ())])]),
        3: {(1, "k"): {}, None: [], 2.5: "x"},
    }
    found = again(path, tree, [Pair])
    assert found == tree and type(found["pair"]) is Pair and type(found["numbers"][2]) is bool
    assert type(found["pair"].b[0]) is OrderedDict and list(found["pair"].b[0]) == ["z", "a"]
    inf, nan = again(path, (float("-inf"), float("nan")))
    assert inf == float("-inf") and nan != nan
    z = again(path, complex(float("nan"), -0.0))
    assert np.isnan(z.real) and np.signbit(z.imag)
    array, scalar = again(path, [np.arange(6).reshape(2, 3).T, np.float64(0.5)])
    assert isinstance(array, np.ndarray) and array.tolist() == [[0, 3], [1, 4], [2, 5]]
    assert type(scalar) is np.float64 and scalar == 0.5


def test_classes(path):
    tree = [Layer(pb.ones(2), "relu"), Interval(1.0, pb.zeros(1), "name")]
    layer, interval = again(path, tree, [Layer, Interval])
    assert layer.activation == "relu" and layer.w.numpy().tolist() == [1.0, 1.0]
    assert (interval.low, interval.name) == (1.0, "name")
    with pytest.raises(
        ValueError, match=r"tree\.npz'.*expected the class Layer.*classes=\[Layer\]"
    ):
        pb.load(path)

    @dataclass
    class Other:
        w: Any

    Other.__name__ = "Layer"
    with pytest.raises(ValueError, match="expected the fields w, activation of Layer"):
        pb.load(path, [Other, Interval])
    without_registration = type("Interval", (), {})
    with pytest.raises(TypeError, match="load: expected a registered class, got Interval"):
        pb.load(path, [Layer, without_registration])
    with pytest.raises(ValueError, match="distinct names"):
        pb.load(path, [Other, Layer])
    with pytest.raises(ValueError, match="distinct names"):
        pb.save(path, [Other(1), Layer(1)])


def test_variables_and_optimizers_continue(path):
    def steps(v, optimizer, count):
        for _ in range(count):
            optimizer.minimize(lambda: pb.sum(v**4), [v])
        return v.numpy()

    for make in (
        lambda: pb.optimizers.Adam(0.1, beta1=0.5),
        lambda: pb.optimizers.Momentum(pb.optimizers.Cosine(0.1, steps=10), 0.9),
        lambda: pb.optimizers.Accumulated(pb.optimizers.RMSProp(0.1), every=3),
    ):
        v, optimizer = pb.Variable([1.0, 2.0], name="v"), make()
        steps(v, optimizer, 4)
        found = again(path, {"v": v, "same": [v], "optimizer": optimizer})
        assert found["v"] is found["same"][0] and found["v"].name == "v"
        assert type(found["optimizer"]) is type(optimizer)
        expected = steps(v, optimizer, 4)
        np.testing.assert_array_equal(steps(found["v"], found["optimizer"], 4), expected)
    frozen = again(path, pb.Variable([1, 2], trainable=False, name="n"))
    assert not frozen.trainable and frozen.dtype == "int64"
    with pytest.raises(TypeError, match=r"at tree\.learning_rate, got"):
        pb.save(path, pb.optimizers.Adam(lambda: 0.1))


def test_generators_continue(path):
    generator = pb.random.Generator(2**63 + 5)
    generator.normal(3)
    generator.spawn(2)
    draw = pb.function(lambda: generator.uniform(2))
    draw()
    one, two = again(path, [generator, generator])
    assert one is two and one.state_dict() == generator.state_dict()
    np.testing.assert_array_equal(one.spawn(1)[0].normal(2), generator.spawn(1)[0].normal(2))
    np.testing.assert_array_equal(one.normal(4).numpy(), generator.normal(4).numpy())
    state = generator.state_dict()
    first = draw().numpy()
    generator.load_state_dict(state)
    np.testing.assert_array_equal(draw().numpy(), first)
    for wrong in (
        {},
        {**state, "draws": -1},
        {**state, "draws": 2**63 - 1},
        {**state, "seed": -1},
        {**state, "more": 1},
    ):
        with pytest.raises(ValueError, match="load_state_dict: expected"):
            generator.load_state_dict(wrong)
    with pytest.raises(TypeError, match="load_state_dict: expected a dict"):
        generator.load_state_dict([1])
    with pytest.raises(RuntimeError, match="load_state_dict"):
        pb.function(lambda: generator.load_state_dict(state))()
    assert generator.state_dict()["seed"] == 2**63 + 5


def test_what_cannot_be_saved(path):
    path.write_bytes(b"before")
    for wrong, place in (
        ({"a": [object()]}, r"tree\['a'\]\[0\]"),
        ([{1}], r"tree\[0\]"),
        (len, "tree"),
    ):
        with pytest.raises(TypeError, match=f"save: expected .* at {place}, got"):
            pb.save(path, wrong)
    with pytest.raises(ValueError, match="Python objects"):
        pb.save(path, [np.array([object()])])
    assert path.read_bytes() == b"before" and os.listdir(path.parent) == [path.name]


def test_damaged_and_foreign_files(path):
    pb.save(path, {"w": pb.arange(1000.0)})
    whole = path.read_bytes()
    for size in range(0, len(whole), 97):
        path.write_bytes(whole[:size])
        with pytest.raises(
            ValueError, match=r"load: '.*tree\.npz': expected a file written by save"
        ):
            pb.load(path)
    at = whole.index(b"NUMPY") + 1500
    path.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
    with pytest.raises(ValueError, match=r"load: '.*tree\.npz'.*damaged"):
        pb.load(path)
    np.savez(path, w=np.ones(3))
    with pytest.raises(ValueError, match=r"got an archive of 'w.npy'"):
        pb.load(path)
    with pytest.raises(FileNotFoundError):
        pb.load(path.parent / "absent.npz")


def rewritten(path, structure, array=b""):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("tree.json", json.dumps(structure))
        archive.writestr("0.npy", array)


def test_nothing_in_a_file_runs(path):
    header = {"format": "pullback.save", "version": 1}
    pickled = path.parent / "pickled.npy"
    np.save(pickled, np.array([{}], object), allow_pickle=True)
    rewritten(path, {**header, "tree": {"type": "array", "array": 0}}, pickled.read_bytes())
    with pytest.raises(ValueError, match=r"load: '.*': expected an array in '0.npy'"):
        pb.load(path)
    for node in ({"type": "_init__"}, {"type": "class", "class": "os"}, {"type": "tuple"}, {}):
        rewritten(path, {**header, "tree": node})
        with pytest.raises(ValueError, match="expected a structure written by save"):
            pb.load(path)
    rewritten(path, {**header, "version": 2, "tree": None})
    with pytest.raises(ValueError, match="expected version 1"):
        pb.load(path)


def test_the_safetensors_format(tmp_path):
    path = tmp_path / "model.safetensors"
    adam, v = pb.optimizers.Adam(0.1), pb.Variable([1.0, 2.0], name="v")
    adam.apply_gradients([(pb.ones(2), v)])
    tree = {
        "encoder": {"w": pb.ones((2, 3)).T, "b": pb.asarray([1.5, -2.25], "bfloat16")},
        "layers": [np.arange(3), (pb.asarray(3.0), None)],
        "name": "text",
        "empty": pb.zeros((0, 3), "float16"),
        "v": v,
        "adam": adam,
        "a.b": pb.ones(1),
        "a": {"b": pb.zeros(1)},
    }
    pb.save(path, tree)
    got = pb.load(path)
    assert got["encoder"]["w"].numpy().tolist() == [[1.0, 1.0]] * 3
    assert got["encoder"]["b"].dtype == "bfloat16"
    assert got["encoder"]["b"].tolist() == [1.5, -2.25]
    assert got["layers"][0].tolist() == [0, 1, 2] and got["layers"][1][0].item() == 3.0
    assert got["layers"][1][1] is None and got["name"] == "text"
    assert (got["empty"].shape, got["empty"].dtype) == ((0, 3), "float16")
    assert got["a.b"].tolist() == [1.0] and got["a"]["b"].tolist() == [0.0]
    for model in (tree, got):  # the optimizer goes on as it was
        model["adam"].apply_gradients([(pb.ones(2), model["v"])])
    assert got["v"].numpy().tolist() == v.numpy().tolist()
    data = path.read_bytes()
    header = json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])
    start = int.from_bytes(data[:8], "little") + 8
    assert start % 8 == 0
    entry = header["encoder.b"]
    assert (entry["dtype"], entry["shape"]) == ("BF16", [2])
    first, last = entry["data_offsets"]
    assert data[start + first : start + last] == bytes.fromhex("c03f10c0")  # little-endian
    with pytest.raises(TypeError, match=r"^save: the safetensors format has no dtype complex128"):
        pb.save(path, [np.ones(1, complex)])
    assert path.read_bytes() == data and len(list(tmp_path.iterdir())) == 1


def safetensors_of(header, body=b""):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + body


def test_safetensors_of_other_libraries(tmp_path):
    path = tmp_path / "model.safetensors"
    x = {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}
    y = {"dtype": "BOOL", "shape": [], "data_offsets": [8, 9]}
    numbers = np.array([0.5, -1.0], "<f4").tobytes() + b"\x01"
    path.write_bytes(safetensors_of({"__metadata__": {"format": "pt"}, "x": x, "y": y}, numbers))
    got = pb.load(path)
    assert got["x"].tolist() == [0.5, -1.0] and got["y"].item() is True
    for damaged in (
        b"", b"\xff" * 8, safetensors_of(b"[]"), safetensors_of(b"{"), safetensors_of({"x": 1}),
        safetensors_of({"x": x}, numbers[:7]),
        safetensors_of({"x": {**x, "dtype": "F99"}}, numbers),
        safetensors_of({"x": {**x, "shape": [-2]}}, numbers),
        safetensors_of({"x": {**x, "shape": [3]}}, numbers),
        safetensors_of({"x": {**x, "shape": ["2"]}}, numbers),
        safetensors_of({"x": {**x, "data_offsets": [-1, 7]}}, numbers),
        safetensors_of({"__metadata__": {"pullback.save": "{}"}}),
        safetensors_of({"__metadata__": {"pullback.save": "[", "names": "[]"}}),
    ):  # fmt: skip
        path.write_bytes(damaged)
        with pytest.raises(ValueError, match=r"^load: .*model\.safetensors"):
            pb.load(path)


def test_the_library_safetensors_reads_and_writes_the_same(tmp_path):
    library = pytest.importorskip("safetensors.numpy", reason="safetensors is not installed")
    path = tmp_path / "model.safetensors"
    pb.save(path, {"w": pb.asarray([[1.0, 2.0]], "float64"), "n": [pb.asarray(7)]})
    got = library.load_file(path)
    assert got["w"].tolist() == [[1.0, 2.0]] and got["n.0"].tolist() == 7
    library.save_file({"x": np.arange(4, dtype=np.int16).reshape(2, 2)}, path)
    assert pb.load(path)["x"].tolist() == [[0, 1], [2, 3]]
