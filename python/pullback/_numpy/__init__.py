"""Functions of arrays with NumPy's names: those of the main namespace, one file for each topic.

arithmetic.py describes what all elementwise functions share. `methods`,
`array_function` and `sparse_products` have no public names.
"""
