#!/bin/bash
# run_golden.sh TOOLS FILECHECK FILE: runs the `// RUN:` lines of one golden file.
#
# TOOLS is the folder of ppc and pprun. In a RUN line %s is the file, %S its
# folder and %t a scratch path of its own. What they print, on both streams, is
# compared with the file's CHECK lines by FileCheck. The exit status has to be
# 0, or that of an `// EXIT: N` line; a name that begins with fail_ means 1.
set -u -o pipefail
tools=$1 filecheck=$2 file=$3
name=$(basename "$file")
cd "$(dirname "$file")" || exit 1
PATH=$tools:$PATH

scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT

# The values of `// KEY: value` lines.
values() { sed -n "s,^.*\(//\|;\|#\) $1: *,,p" "$name" | tr -d '\r'; }

want=$(values EXIT)
case $name in
  fail_*) want=${want:-1}
          [ "$want" != 0 ] || { echo "$name: fail_ but EXIT: 0"; exit 1; } ;;
  *)      want=${want:-0}
          [ "$want" = 0 ] || { echo "$name: exits $want: name it fail_"; exit 1; } ;;
esac

mapfile -t lines < <(values RUN)
[ ${#lines[@]} -gt 0 ] || { echo "$name: no RUN line"; exit 1; }

for line in "${lines[@]}"; do
  command=${line//%s/$name}
  command=${command//%S/.}
  command=${command//%t/$scratch/$name}
  bash -c "set -o pipefail; $command" > "$scratch/out" 2>&1
  got=$?
  if [ $got != "$want" ]; then
    echo "$name: exit status $got, expected $want, of: $command"
    cat "$scratch/out"
    exit 1
  fi
  cat "$scratch/out" >> "$scratch/all"
done
"$filecheck" --dump-input=fail --allow-empty "$name" < "$scratch/all"
