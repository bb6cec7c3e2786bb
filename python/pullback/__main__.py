"""Commands: `python -m pullback demo`, `doctor`, `explain`, `bench` and `report`.

`demo` trains a model on digits, `doctor` describes the setup, `explain` runs a script and explains
gradients that are None, zero or not finite, `bench` measures five gradients on this machine, and
`report` lists the names of TensorFlow that programs use and those that `pullback.compat.tf1` has.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence


def main(argv: Sequence[str] | None = None) -> int:
    about = "Try pullback, describe its setup, and explain and measure gradients."
    parser = argparse.ArgumentParser(prog="python -m pullback", description=about)
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")

    demo = commands.add_parser("demo", help="train a softmax regression on MNIST digits")
    demo.add_argument("--data", metavar="DIR", help="the four MNIST files (default: a sample)")
    demo.add_argument("--epochs", type=int, default=10, help="passes over the digits (default: 10)")
    demo.add_argument("--out", metavar="PNG", default="demo.png", help="default: demo.png")
    demo.add_argument(
        "--gradient",
        choices=["straight-through", "reversed", "clipped"],
        help="swap in a custom gradient and compare it with the plain one",
    )
    commands.add_parser("doctor", help="print the hardware and the libraries in use")
    script = commands.add_parser("explain", help="run a script and explain its gradients")
    script.add_argument("file", metavar="FILE", help="a program of Python")
    script.add_argument("arguments", metavar="...", nargs=argparse.REMAINDER, help="its arguments")
    commands.add_parser("bench", help="measure five gradients beside NumPy, in ten seconds")
    names = commands.add_parser("report", help="list the names of TensorFlow in programs")
    names.add_argument("path", metavar="PATH", help="a program, or a folder of programs")

    options = parser.parse_args(argv)
    if options.command is None:
        parser.print_help(sys.stderr)
        return 2
    if options.command == "doctor":
        from ._cli.doctor import doctor

        doctor()
        return 0
    if options.command == "explain":
        from ._cli.explain import explain_script

        try:
            return explain_script(options.file, options.arguments)
        except OSError as error:  # of the file itself: the errors of the script are caught
            parser.error(f"explain: cannot read {options.file!r}: {error.strerror}")
    if options.command == "bench":
        from ._cli.bench import bench

        bench()
        return 0
    if options.command == "report":
        from .compat.tf1.report import report

        try:
            found = report(options.path)
        except FileNotFoundError as error:
            parser.error(str(error))
        try:
            print(found, flush=True)
        except BrokenPipeError:  # the reader, such as `head`, has enough; nothing is left to flush
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1 if found.absent or found.unread else 0
    if options.epochs < 1:
        parser.error(f"--epochs: expected at least 1, got {options.epochs}")

    from ._cli.demo import demo as run_demo

    try:
        run_demo(options.data, options.epochs, options.out, options.gradient)
    except (FileNotFoundError, ValueError) as error:  # of --data or --out
        print(f"python -m pullback demo: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
