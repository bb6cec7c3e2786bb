"""`python -m pullback explain FILE`: the script runs as it would alone, and is explained after."""

import subprocess
import sys

import pytest

from pullback.__main__ import main

HEAD = "import sys\nimport numpy as np\nimport pullback as pb\n"


@pytest.fixture
def run(tmp_path):
    def run(source, *arguments, explain=True):
        (tmp_path / "script.py").write_text(HEAD + source)
        command = ["-m", "pullback", "explain"] * explain
        return subprocess.run(
            [sys.executable, *command, "script.py", *arguments],
            cwd=tmp_path,
            capture_output=True,
            encoding="utf-8",
        )

    return run


def test_healthy_gradients(run):
    done = run(
        "w = pb.Variable([1.0, 2.0])\n"
        "print(pb.gradients(pb.sum(w * w), w), pb.grad(pb.sin)(0.5))\n"
        "for k in (0.0, 1.0):\n"  # zero at the start only
        "    pb.gradients(pb.sum(w * k), {'w': [w]})\n"
    )
    assert done.returncode == 0
    assert done.stderr == "\nexplain: 4 requests for gradients, no findings\n"
    assert done.stdout.startswith("[Tensor([2., 4.], dtype=float32)]")


def test_none_zero_and_nan_with_their_lines(run):
    done = run(
        "w = pb.Variable([0.0, 1.0], name='w')\n"
        "v = pb.Variable(1.0, name='v')\n"
        "for _ in range(3):\n"
        "    y = pb.sum(pb.sqrt(w) * w * 0)\n"
        "    pb.gradients(y, (w, v))\n"
        "with pb.GradientTape() as tape:\n"
        "    y = pb.round(v) * 2\n"
        "tape.gradient(y, v)\n"
        "pb.grad(lambda x: pb.sum(pb.sign(x)))(pb.ones(2))\n"
        "pb.optimizers.Adam(0.1).minimize(lambda: pb.log(v - 2), [v])\n"
    )
    assert done.returncode == 1, done.stderr
    expected = (
        "script.py:8: the gradient by Variable 'w' has NaN (3 of 3 times)\n",
        "              y = pb.sum(pb.sqrt(w) * w * 0)\n",
        "script.py:8: the gradient by Variable 'v' is None (3 of 3 times)\n",
        "script.py:11: the gradient by Variable 'v' is zero (once)\n",
        "    where script.py:10\n",
        "script.py:12: the gradient by source 0 is zero (once)\n",
        "    why   sign is flat between its jumps",
    )
    for text in expected:
        assert text in done.stderr, done.stderr
    assert "explain: 6 requests for gradients, 5 findings" in done.stderr
    assert done.stdout == ""


def test_only_structure_inside_of_traced_functions(run):
    done = run(
        "w, v = pb.Variable(1.0, name='w'), pb.Variable(1.0, name='v')\n"
        "@pb.function\n"
        "def step():\n"
        "    return pb.gradients(w * w, [w, v])[0]\n"
        "step()\n"
    )
    assert done.returncode == 1
    assert "script.py:7 in step: the gradient by Variable 'v' is None" in done.stderr
    assert "1 gradient of traced functions, loops or graphs had no value" in done.stderr


def test_a_variable_that_a_traced_function_made_nan(run):
    done = run(
        "w, v = pb.Variable(1.0, name='w'), pb.Variable(1.0, name='v')\n"
        "@pb.function\n"
        "def step():\n"
        "    for x, g in zip((w, v), pb.gradients(pb.log(w - 2) + v, [w, v])):\n"
        "        x.assign_sub(g)\n"
        "step()\n"
    )
    assert done.returncode == 1
    assert "script.py:7 in step: Variable 'w' has NaN in the end" in done.stderr, done.stderr
    assert "Variable 'v'" not in done.stderr


def test_graphs_of_tf1(run):
    done = run(
        "import pullback.compat.tf1 as tf\n"
        "w = tf.Variable(2.0, name='w')\n"
        "tf.gradients(tf.stop_gradient(w) * 3.0, [w])\n"
        "tf.gradients(w * 3.0, [w])\n"
    )
    assert done.returncode == 1
    assert "script.py:6: the gradient by source 0 is None (once)" in done.stderr, done.stderr
    assert "stop_gradient makes its argument a constant" in done.stderr
    assert "2 requests for gradients, 1 finding\n1 gradient of traced" in done.stderr


def test_requests_of_many_threads(run):
    done = run(
        "from concurrent.futures import ThreadPoolExecutor\n"
        "def work(i):\n"
        "    w = pb.Variable([1.0, 2.0], name='w')\n"
        "    for _ in range(20):\n"
        "        pb.gradients(pb.sum(w * w), w)\n"
        "        pb.grad(lambda x: x * x)(3.0)\n"
        "    return i\n"
        "with ThreadPoolExecutor(4) as pool:\n"
        "    print(list(pool.map(work, range(8))))\n"
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "[0, 1, 2, 3, 4, 5, 6, 7]\n"
    assert done.stderr == "\nexplain: 320 requests for gradients, no findings\n"


def test_many_findings_are_counted(run):
    done = run(
        "vs = [pb.Variable(1.0) for _ in range(150)]\n"
        "pb.gradients(sum(pb.round(v) for v in vs), vs)\n"
    )
    assert done.stderr.count(" is zero (once)") == 20
    assert "130 more gradients are None, zero or not finite." in done.stderr
    assert "explain: 1 request for gradients, 150 findings" in done.stderr


def test_threads_and_a_closed_output(run):
    done = run(
        "import threading, time\n"
        "def work():\n"
        "    time.sleep(0.5)\n"
        "    pb.gradients(pb.Variable(1.0) * 2, pb.Variable(1.0, name='late'))\n"
        "threading.Thread(target=work).start()\n"
        "sys.stdout.close()\n"
    )
    assert "gradient by Variable 'late' is None" in done.stderr
    assert done.returncode == 1


def test_the_script_is_not_changed(run):
    source = (
        "import __main__, os, pickle, warnings\n"
        "warnings.simplefilter('error')\n"  # debugging warns of arrays that leave the graph
        "class Point: pass\n"
        "pickle.loads(pickle.dumps(Point()))\n"
        "assert __main__.Point is Point and __name__ == '__main__' and os.path.isabs(__file__)\n"
        "print(sys.argv, os.path.basename(sys.path[0]), globals().get('main'))\n"
        "w = pb.Variable([0.5, -1.0], dtype='float64')\n"
        "wrong = pb.custom_gradient(lambda x: (x * x, lambda g: g))\n"  # not verified
        "random = pb.random.Generator(1)\n"
        "for _ in range(3):\n"
        "    y = pb.sum(wrong(w) * random.normal((2,), dtype='float64'))\n"
        "    w.assign_sub(0.1 * pb.gradients(y, w)[0])\n"
        "    print(w.numpy().tolist(), pb.grad(pb.sqrt)(0.0))\n"
        "pb.linalg.cholesky(-pb.eye(2)) if '-c' in sys.argv else None\n"
        "sys.exit(int(sys.argv[1]))\n"
    )
    for arguments in (("0",), ("3", "--help"), ("x",)):
        alone, explained = run(source, *arguments, explain=False), run(source, *arguments)
        assert explained.stdout == alone.stdout and alone.stdout, alone.stderr
        assert explained.returncode == (alone.returncode or 1)
        assert explained.stderr.startswith(alone.stderr)
        if arguments == ("x",):
            assert "ValueError: invalid literal" in alone.stderr


def test_rules_run_as_often_as_without_it(run):
    source = (
        "w = pb.Variable([1.0, 2.0], name='w')\n"
        "calls = []\n"
        "@pb.custom_gradient\n"
        "def f(x):\n"
        "    def rule(g):\n"
        "        calls.append(np.random.rand())\n"
        "        print('rule')\n"
        "        return g * 0\n"
        "    return x * x, rule\n"
        "pb.gradients(pb.sum(f(w)), w)\n"
        "pb.grad(lambda x: pb.sum(f(x)))(pb.ones(2))\n"
        "pb.gradients(pb.scan(lambda c, x: (c * f(x), None), 1.0, w)[0], w)\n"
        "print(len(calls))\n"
    )
    alone, explained = run(source, explain=False), run(source)
    assert explained.stdout == alone.stdout and "rule\n" in alone.stdout
    assert "script.py:13: the gradient by Variable 'w' is zero (once)" in explained.stderr
    assert "custom_gradient with the rule" in explained.stderr, explained.stderr
    assert "3 findings" in explained.stderr


def test_errors_of_a_gradient_remain_those_of_the_script(run):
    source = (
        "w = pb.Variable(np.zeros((2, 2)), name='w')\n"
        "g = pb.gradients(pb.sum(pb.linalg.inv(w)), w)\n"
        "print('requested')\n"
        "print(g)\n"
    )
    alone, explained = run(source, explain=False), run(source)
    assert alone.stdout == explained.stdout
    assert alone.returncode == explained.returncode
    assert ("Error" in alone.stderr) == ("Error" in explained.stderr)


def test_ends_of_a_script(run):
    done = run("sys.exit('message')\n")
    assert (done.returncode, done.stderr.splitlines()[0]) == (1, "message")
    assert run("def f(:\n").stderr.splitlines()[0].endswith('script.py", line 4')
    done = run("pb.set_debug(True)\npb.set_debug(False)\npb.gradients(pb.Variable(0.0) ** 2, [])\n")
    assert done.returncode == 0, done.stderr


def test_a_missing_file(tmp_path):
    command = [sys.executable, "-m", "pullback", "explain", str(tmp_path / "absent.py")]
    done = subprocess.run(command, capture_output=True, encoding="utf-8")
    assert done.returncode == 2 and "absent.py" in done.stderr.splitlines()[-1]


def test_no_command_prints_the_commands(capsys):
    assert main([]) == 2
    printed = capsys.readouterr().err
    assert all(name in printed for name in ("demo", "doctor", "explain", "bench", "report"))
