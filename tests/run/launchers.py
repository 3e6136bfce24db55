#!/usr/bin/env python3
"""Real launchers: each starts four ranks, and the run is that of threads.

usage: launchers.py PPC PPRUN ROOT [LAUNCHER...]

Launchers: nproc, torchrun, openmpi, mpich, slurm, hosts (two network
namespaces, as two machines). One that is not installed is skipped with the
reason; the exit status is 77 when none could be tried. Prints the table.
"""

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time

RANKS = 4
MODEL = ["--model", "gpt", "--layers", "4", "--dim", "32", "--heads", "2",
         "--context", "16", "--steps", "3", "--timeout", "30",
         "--verify-gradients"]


class Skip(Exception):
    pass


def need(*programs):
    for program in programs:
        if not shutil.which(program):
            raise Skip(f"{program} is not installed")


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def execute(command, env=None, timeout=180):
    done = subprocess.run(command, capture_output=True, text=True,
                          timeout=timeout, env={**os.environ, **(env or {})},
                          check=False)
    return done.returncode, done.stdout + done.stderr


def nproc(run, _):
    return execute(run + ["--nproc", str(RANKS)])


def torchrun(run, _):
    candidates = [os.environ.get("PP_TORCHRUN"), shutil.which("torchrun")]
    home = os.environ.get("PP_HOME", os.path.expanduser("~/.cache/pp"))
    if os.path.isdir(home):
        candidates += [os.path.join(home, d, "bin", "torchrun")
                       for d in sorted(os.listdir(home))]
    for program in candidates:
        if not program or not os.path.exists(program):
            continue
        if execute([program, "--help"])[0] != 0:
            continue
        return execute([program, "--no-python", "--nproc-per-node",
                        str(RANKS), "--master-port", str(free_port())] + run)
    raise Skip("no torchrun that starts")


def openmpi(run, _):
    need("mpirun.openmpi")
    return execute(["mpirun.openmpi", "--allow-run-as-root", "--oversubscribe",
                    "-n", str(RANKS)] + run,
                   {"MASTER_PORT": str(free_port())})


def mpich(run, _):
    need("mpirun.mpich")
    return execute(["mpirun.mpich", "-n", str(RANKS)] + run,
                   {"MASTER_PORT": str(free_port())})


SLURM_CONF = """
ClusterName=pp
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge/munge.socket
CredType=cred/munge
SlurmctldPort={port}
SlurmdPort={port1}
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
ReturnToService=2
MpiDefault=none
NodeName={host} NodeAddr=127.0.0.1 CPUs={cpus} State=UNKNOWN
PartitionName=all Nodes={host} Default=YES MaxTime=INFINITE State=UP OverSubscribe=FORCE:8
"""


class Slurm:
    """A controller and a node of one's own, ended with it."""

    def __init__(self, folder):
        need("slurmctld", "slurmd", "srun", "munged")
        if os.geteuid() != 0:
            raise Skip("slurmd needs root")
        self.folder = folder
        self.processes = []
        os.makedirs(f"{folder}/state")
        os.makedirs(f"{folder}/spool")
        self.start_munge()
        host = socket.gethostname().split(".")[0]
        port = free_port()
        conf = f"{folder}/slurm.conf"
        with open(conf, "w", encoding="utf-8") as out:
            out.write(SLURM_CONF.format(host=host, folder=folder, port=port,
                                        port1=free_port(),
                                        cpus=os.cpu_count()))
        self.env = {"SLURM_CONF": conf}
        for daemon in ("slurmctld", "slurmd"):
            self.start([shutil.which(daemon), "-D"], self.env)
        for _ in range(60):
            status, text = execute(["sinfo", "-h", "-o", "%t"], self.env)
            if status == 0 and "idle" in text:
                return
            time.sleep(0.5)
        self.stop()
        raise Skip("slurm did not come up: " + text.strip())

    def start(self, command, env):
        self.processes.append(subprocess.Popen(
            command, env={**os.environ, **env}, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL))

    def start_munge(self):
        home = f"{self.folder}/munge"
        os.makedirs(home)
        with open(f"{home}/key", "wb") as key:
            key.write(os.urandom(1024))
        os.chmod(f"{home}/key", 0o400)
        os.chmod(self.folder, 0o755)
        os.chmod(home, 0o755)
        self.start([shutil.which("munged"), "--foreground", "--force",
                    f"--socket={home}/munge.socket", f"--key-file={home}/key",
                    f"--log-file={home}/log", f"--pid-file={home}/pid",
                    f"--seed-file={home}/seed"], {})

    def stop(self):
        for process in reversed(self.processes):
            process.terminate()
        for process in self.processes:
            try:
                process.wait(timeout=20)
            except subprocess.TimeoutExpired:
                process.kill()


def slurm(run, folder):
    cluster = Slurm(os.path.join(folder, "slurm"))
    try:
        return execute(["srun", "-n", str(RANKS), "--overcommit"] + run,
                       cluster.env)
    finally:
        cluster.stop()


def hosts(run, _):
    """Two ranks on each of two namespaces joined by a cable."""
    need("ip")
    names = ("pp_test_a", "pp_test_b")
    setup = [f"ip netns add {names[0]}", f"ip netns add {names[1]}",
             "ip link add pp_a type veth peer name pp_b",
             f"ip link set pp_a netns {names[0]}",
             f"ip link set pp_b netns {names[1]}"]
    for i, (name, end) in enumerate(zip(names, ("pp_a", "pp_b"))):
        setup += [f"ip -n {name} addr add 10.77.0.{i + 1}/24 dev {end}",
                  f"ip -n {name} link set {end} up",
                  f"ip -n {name} link set lo up"]
    try:
        for line in setup:
            status, text = execute(line.split())
            if status != 0:
                raise Skip(f"`{line}`: {text.strip()}")
        processes = []
        for rank in range(RANKS):
            env = {**os.environ, "RANK": str(rank), "WORLD_SIZE": str(RANKS),
                   "LOCAL_RANK": str(rank % 2), "LOCAL_WORLD_SIZE": "2",
                   "MASTER_ADDR": "10.77.0.1", "MASTER_PORT": "29777"}
            processes.append(subprocess.Popen(
                ["ip", "netns", "exec", names[rank // 2]] + run, env=env,
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True))
        texts = [p.communicate(timeout=120)[0] for p in processes]
        return max(p.returncode for p in processes), "".join(texts)
    finally:
        for name in names:
            execute(["ip", "netns", "delete", name])


LAUNCHERS = {f.__name__: f for f in
             (nproc, torchrun, openmpi, mpich, slurm, hosts)}


def losses(path):
    with open(path, encoding="utf-8") as report:
        run = json.load(report)
    return [step["loss"] for step in run["steps"]], run["gradients"]


def main():
    ppc, pprun, root = (os.path.abspath(a) for a in sys.argv[1:4])
    wanted = sys.argv[4:] or list(LAUNCHERS)
    bad = tried = 0
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "run.ppb")
        subprocess.run([ppc, "compile", "schedules/one_f_one_b.sched", "-P",
                        str(RANKS), "-M", "8", "-o", program], cwd=root,
                       check=True, capture_output=True)
        data = os.path.join(root, "experiments/data/kjv_genesis_exodus.txt")
        report = os.path.join(folder, "run.json")
        run = [pprun, program, *MODEL, "--data", data, "--report", report]
        status, text = execute(run)
        if status != 0:
            sys.exit(text)
        expected = losses(report)[0]
        print(f"{'launcher':<10}{'status':>7}{'seconds':>9}  losses  gradients")
        for name in wanted:
            if os.path.exists(report):
                os.remove(report)
            begin = time.monotonic()
            try:
                status, text = LAUNCHERS[name](run, folder)
            except Skip as why:
                print(f"{name:<10}skipped: {why}", flush=True)
                continue
            tried += 1
            seconds = time.monotonic() - begin
            ok = status == 0 and os.path.exists(report)
            if ok:
                got, gradients = losses(report)
                ok = got == expected and gradients["bitwise_equal"]
            bad += not ok
            print(f"{name:<10}{status:>7}{seconds:>9.1f}  "
                  + ("equal   bitwise equal" if ok else f"WRONG\n{text}"),
                  flush=True)
    sys.exit(1 if bad else 0 if tried else 77)


if __name__ == "__main__":
    main()
