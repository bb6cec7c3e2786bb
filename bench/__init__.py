"""How fast pullback is, beside other libraries: `python -m bench` from the top of a checkout.

    python -m bench                    the table, in a few minutes, of the installed pullback
    python -m bench --install-peers    first makes .bench/torch and .bench/jax to compare with
    python -m bench --native           first builds the C++ benches under bench/native
    python -m bench --rows op mlp      these rows only
    python -m bench --smoke            one repetition of everything, in seconds; no figures

What is timed is in the files of rows: models.py (value and gradient, and training steps, of two
networks), overhead.py (one operation), package.py (import, first call, size). Each names a function
per library and style that returns a Case (case.py). A library runs in a process of its own
(worker.py), in the virtual environment that peers.py finds for it; harness.py lets the processes
take turns, A B A B, and checks that they computed the same numbers; report.py prints the table.
"""
