"""Builds the native half of the package with Python and a compiler alone.

Engine, pictures and bindings are compiled once per machine and instruction set (a *target*, such as
`cpu_v4` or `cuda`); every environment is a module, a shared object of its own. `setup.py`,
`python -m gpu_envs build` and `gymnasium.make` in a source tree all come here. Nothing in this
package imports the rest of gpu_envs or anything outside the standard library (but pybind11 where
its headers are looked for), so that it works before the package is installed: `setup.py` and CMake
load it from its folder.

    places     where sources and results are, in a source tree and in an installed package
    flags      what kernels/flags.txt says
    processor  which instruction sets run here
    labels     what a built file says of itself: length, hash, engine, inputs
    manifest   the files of an installed package, by hash
    toolchain  the compilers
    limits     the time and memory that a compiler may take
    store      what was compiled on this machine, for all trees and wheels
    compilers  which compiler runs, and what of the environment reaches it
    objects    objects named by what made them
    launcher   the same for CMake
    rules      what rules may not say, such as the functions of libm
    symbols    what an object file calls and keeps
    purity     what compiled rules may not use: clocks, static state, libm
    jobs       commands side by side, with progress on one line
    recipes    what is compiled and linked for an engine and for a module
    upkeep     brings one file up to date, one process at a time
    kept       what the user's cache says of headers; read at every import
    outside    modules of headers outside the tree, and the cache that holds them
    shipping   what `pip install` asks for
"""
