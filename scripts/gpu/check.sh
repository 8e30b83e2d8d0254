#!/usr/bin/env bash
# Everything that needs a GPU, in an order by value, so that a short visit to one brings the most home: what each launch
# looks like, recorded hashes, bars, profiles, choices one against the other, graphs, sanitizers, then the rest.
# Usage: scripts/gpu/check.sh --out DIR [--plan first|second|third] [--only STEP,...] [--environments NAME,...]
#        [--budget SECONDS] [--list] [--dry-run]; $OUT is DIR where it is set; --help says what each step does.
# DIR gets rows.jsonl and report.md, renewed with every row that is found: a kill at any second loses one row. What one
# command found stays when the next adds to it. scripts/gpu/bundle makes beforehand what a bare machine lacks (compiled
# modules, wheels); the first line says whether it is for this machine, and what is missing is built from source.
# PYTHON names the interpreter (default: the first of .venv's and python3 whose torch sees the GPU). What else is missing
# is skipped and named: torch, ncu, compute-sanitizer, the GPU itself.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

# The first whose torch sees the GPU; else .venv, else python3.
sees_gpu() { "$1" -c 'import sys, torch; sys.exit(not torch.cuda.is_available())' 2>/dev/null; }

python="${PYTHON:-}"
if [[ -z $python ]]; then
  python=python3
  if [[ -x .venv/bin/python ]] && { sees_gpu .venv/bin/python || ! sees_gpu python3; }; then
    python=.venv/bin/python
  fi
fi
exec "$python" scripts/gpu/check.py "$@"
