"""What people and checks run. `setup`, `train`, `test`, `integration` and `benchmark` lie here.

    checks/    what `make` and .ci/run call besides: native tests, proofs, goldens, minutes
    gpu/       what needs a GPU, or a compiler for one
    house/     lint and measures of this tree
    release/   wheels, and what is tried in them
    studies/   measurements that a page or a result in benchmarks/ came from

A script imports another one by its place, `from scripts.checks import nearest`, as the package
`gpu_envs` does. Whoever can be run puts the root of the tree first on `sys.path` before; pytest
does it for tests (pyproject.toml). `setup` and `minutes.py` come before all of it: they need
nothing that is installed.
"""
