"""How fast pullback is, beside other libraries: `python -m bench` from the top of a checkout.

    python -m bench                    the table of the installed pullback; long, with all peers
    python -m bench --install-peers    first makes .bench/torch and the others to compare with
    python -m bench --native           first builds bench/native (with Google Benchmark, which is
                                       libbenchmark-dev on Debian and Ubuntu)
    python -m bench --rows op mlp      these rows only
    python -m bench --smoke            one repetition of everything, small, in seconds; no figures
    python -m bench --json FILE        also writes every sample, for python -m bench.report

What is timed is in the files of rows: formulas.py (value and gradient of formulas), classifiers.py
(of two networks, and training steps), recompute.py (memory for time), attention.py (also by its
memory), overhead.py (one operation), package.py (import, first call, size), machine.py (what the
machine can do), training_programs.py, science_programs.py and fitting_programs.py (steps of whole
programs); growth.py has long chains. What the rows compute is in workloads.py (data) and in a
by_LIBRARY.py each; limits.py is what nobody can beat, goals.py what is wanted.

A library runs in a process of its own (worker.py), in the virtual environment that peers.py finds
for it; harness.py lets the processes take turns, A B A B, and checks that they computed the same
numbers; report.py prints the table.
"""
