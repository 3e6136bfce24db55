#!/bin/bash
# large_group.sh N: two ranks, N micro-batches, all activations in one group.
n=$1
last=$((n - 1))
each() { for i in $(seq 0 "$last"); do echo "    ${1//@/$i}"; done; }
echo "ppasm 1
module
  micro_batches $n
  stages 2
  replicas 1
  lanes 2
rank 0
  chunk c0 s0
  slots $((2 * n))
  stashes $n
  code"
each 'forward c0 m@ - -> %@ $@'
echo "    group_begin"
each 'send r1 l0 %@ act s0 m@'
echo "    group_end"
for i in $(seq 0 "$last"); do
  echo "    recv r1 l1 %$((n + i)) grad s1 m$i
    wait %$((n + i))
    backward c0 m$i %$((n + i)) -> - \$$i
    free %$((n + i))"
done
each 'wait %@'
each 'free %@'
echo "    scale c0
    update c0
rank 1
  chunk c0 s1
  slots $((2 * n))
  stashes $n
  code
    group_begin"
each 'recv r0 l0 %@ act s0 m@'
echo "    group_end"
each 'wait %@'
each 'forward c0 m@ %@ -> - $@'
each 'free %@'
for i in $(seq 0 "$last"); do
  echo "    backward c0 m$i - -> %$((n + i)) \$$i
    send r0 l1 %$((n + i)) grad s1 m$i"
done
for i in $(seq 0 "$last"); do
  echo "    wait %$((n + i))
    free %$((n + i))"
done
echo "    scale c0
    update c0"
