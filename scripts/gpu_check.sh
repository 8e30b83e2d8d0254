#!/usr/bin/env bash
# Everything that needs a GPU, in one command of under eight minutes on a bare machine: builds the CUDA module for the GPU
# at hand, compares it with the recorded hashes, runs compute-sanitizer's four tools, captures and replays steps in a CUDA
# graph, runs the tests, measures and tunes; writes one JSON and one Markdown file into benchmarks/results.
# Usage: scripts/gpu_check.sh [--out DIR] [--only STAGE,...] [--list]; PYTHON names the interpreter (default: .venv's, else
# python3). What is missing is skipped and named: torch, gymnasium with pettingzoo, compute-sanitizer, the GPU itself.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# The first whose torch sees the GPU; else .venv, else python3.
sees_gpu() { "$1" -c 'import sys, torch; sys.exit(not torch.cuda.is_available())' 2>/dev/null; }

python="${PYTHON:-}"
if [[ -z $python ]]; then
  python=python3
  if [[ -x .venv/bin/python ]] && { sees_gpu .venv/bin/python || ! sees_gpu python3; }; then
    python=.venv/bin/python
  fi
fi
exec "$python" scripts/gpu_check.py "$@"
