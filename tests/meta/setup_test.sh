#!/usr/bin/env bash
# `setup` on machines that are not ready, without touching this one: dpkg,
# apt-get and Python are stand-ins that note what they are asked for.
set -uo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/bin"
export PP_HOME="$scratch/home" PP_PYTHON="$scratch/bin/python3"
export PATH="$scratch/bin:$PATH" CALLS="$scratch/calls"
unset PP_TORCH_ROOT CMAKE_PREFIX_PATH CUDACXX PP_SKIP_PACKAGES
failures=0

stand_in() { # NAME SCRIPT
  printf '#!/bin/bash\necho "%s $*" >>"$CALLS"\n%s\n' "$1" "$2" \
    >"$scratch/bin/$1"
  chmod +x "$scratch/bin/$1"
}

# All that is asked for is installed; a Python whose pip makes a torch.
ready_machine() {
  rm -rf "$PP_HOME" "${scratch:?}/bin"/*
  : >"$CALLS"
  stand_in dpkg-query 'shift 2; for p; do echo "ii  $p"; done'
  stand_in apt-get 'exit 0'
  stand_in apt-cache 'exit 0'
  stand_in sudo 'exit 1'
  stand_in nvcc 'exit 1'
  stand_in python3 'if [[ $1 == -m && $2 == venv ]]; then
      mkdir -p "$3/bin" "$3/lib/python3.11/site-packages"
      cp "$0" "$3/bin/python"
      exit
    fi
    torch=$(dirname "$0")/../lib/python3.11/site-packages/torch
    mkdir -p "$torch/lib"
    touch "$torch/lib/libtorch_cpu.so"'
}

# expect NAME STATUS PATTERN ARGUMENTS...: runs ./setup, looks at both.
expect() {
  local name=$1 status=$2 pattern=$3 got=0
  shift 3
  "$root/setup" "$@" >"$scratch/out" 2>&1 || got=$?
  if [[ $got != "$status" ]] || ! grep -qE -- "$pattern" "$scratch/out"; then
    echo "FAILED $name: exit status $got, not $status, or no \`$pattern\` in"
    sed 's/^/  | /' "$scratch/out"
    failures=$((failures + 1))
  fi
}

check() { # NAME COMMAND...
  local name=$1
  shift
  if ! "$@"; then
    echo "FAILED $name: $*"
    failures=$((failures + 1))
  fi
}

called() { grep -qE "$1" "$CALLS"; }
not_called() { ! called "$1"; }

torch_in() { # FOLDER VERSION
  mkdir -p "$1/lib"
  touch "$1/lib/libtorch_cpu.so"
  echo "$2" >"$1/build-version"
}

ready_machine
expect "unknown option" 2 'unknown option .--gpu' --gpu

expect "first run installs" 0 'ready: LibTorch .*torch-2.11.0-cpu' --cpu
check "with pip" called 'pip .*torch==2.11.0'
check "without apt" not_called '^apt-get'
: >"$CALLS"
expect "second run" 0 'ready: LibTorch' --cpu
check "second run asks no registry" not_called 'pip|apt-get'

ready_machine
stand_in dpkg-query 'exit 1'
stand_in id 'echo 1000'
expect "packages missing, not root" 3 \
  'apt-get install --no-install-recommends .*ninja-build' --no-torch
stand_in id 'echo 0'
expect "no network for apt" 0 'installing Debian packages: ' --no-torch
stand_in apt-get 'echo "E: no route"; exit 100'
expect "apt-get's own words" 3 'E: no route' --no-torch

ready_machine
sed -i 's|^    mkdir -p "$torch/lib"|    mkdir -p "$torch"; echo "no such host" >\&2; exit 1|' \
  "$scratch/bin/python3"
expect "no network for pip" 3 'no such host' --cpu
check "nothing is left of it" test ! -e "$PP_HOME/torch-2.11.0-cpu" -a \
  ! -e "$PP_HOME/.torch-2.11.0-cpu.partial"

ready_machine
mkdir -p "$PP_HOME/.torch-2.11.0-cpu.partial/lib/python3.11/site-packages/torch"
expect "an interrupted install never counts" 0 'installing LibTorch' --cpu
check "nothing aside is left" test ! -e "$PP_HOME/.torch-2.11.0-cpu.partial"

ready_machine
stand_in df 'echo "a b c d e f"; echo "/dev/x 1 1 12 1% /"'
expect "a full disk" 3 'needs 2500 MB in .*, only 12 MB are free' --cpu

ready_machine
torch_in "$scratch/own" 2.5.1
PP_TORCH_ROOT="$scratch/own" expect "a LibTorch of one's own" 0 \
  "ready: LibTorch $scratch/own" --cpu
CMAKE_PREFIX_PATH="$scratch/none:$scratch/own" expect "from CMAKE_PREFIX_PATH" \
  0 "ready: LibTorch $scratch/own" --cpu
torch_in "$scratch/own" 2.1.0
PP_TORCH_ROOT="$scratch/own" expect "too old" 3 'is version 2.1.0; 2.4' --cpu
PP_TORCH_ROOT="$scratch/none" expect "none there" 3 'holds no LibTorch' --cpu
check "and nothing was installed" not_called 'pip'

ready_machine
PP_HOME=/proc/nowhere expect "a home that cannot be" 3 'cannot write to /proc' \
  --cpu

ready_machine
mkdir -p "$PP_HOME"
(flock 9 && sleep 1) 9>"$PP_HOME/.lock" &
sleep 0.2
expect "two at once" 0 'another set-up is at work' --cpu
wait

if [[ $failures != 0 ]]; then exit 1; fi
echo "setup: all as it should be"
