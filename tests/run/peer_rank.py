"""The project's GPT trained by PyTorch's own pipeline runtime, on tables.

usage: peer_rank.py JOBS.json      (with a Python that has torch)

Each job names a table, its format, the shape of the model and of the batch, a
safetensors file of initial weights, and the text. Every rank is a process;
they talk through Gloo. The mean losses of the steps go to standard output, a
JSON line a job; weights after the last step to the job's "save", a file a rank.

Nothing here is the project's code: model, data, and reading of weights are
written again, from their description.
"""

import json
import os
import re
import sys
import tempfile
import traceback

os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch.distributed.pipelining import PipelineStage
from torch.distributed.pipelining.schedules import _PipelineScheduleRuntime

import safetensors_file

MASK = (1 << 64) - 1
GAMMA = 0x9e3779b97f4a7c15


def mix(z):
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9 & MASK
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb & MASK
    return z ^ (z >> 31)


def window_start(seed, step, row, bound):
    """SplitMix64 from (seed, "data.window", step, row): a number below bound."""
    key = 0xcbf29ce484222325
    for byte in b"data.window":
        key = (key ^ byte) * 0x100000001b3 & MASK
    state = mix(mix((seed + GAMMA) & MASK) ^ key)
    state = mix(state ^ mix((step + GAMMA) & MASK))
    state = mix(state ^ mix((row + 2 * GAMMA) & MASK))
    return mix((state + GAMMA) & MASK) * bound >> 64


def batch_of(text, job, step):
    rows = []
    for row in range(job["batch"]):
        start = window_start(job["seed"], step, row,
                             len(text) - job["context"])
        rows.append(list(text[start:start + job["context"] + 1]))
    tokens = torch.tensor(rows)
    return tokens[:, :-1].contiguous(), tokens[:, 1:].contiguous()


def layers_of(stage, stages, layers):
    each, more = divmod(layers, stages)
    begin = stage * each + min(stage, more)
    return range(begin, begin + each + (stage < more))


class Stage(torch.nn.Module):
    def __init__(self, stage, stages, job, weights):
        super().__init__()
        self.first, self.last = stage == 0, stage == stages - 1
        self.heads = job["heads"]
        self.blocks = [f"blocks.{i}."
                       for i in layers_of(stage, stages, job["layers"])]
        ends = (("embed.", "positions.") if self.first else ()) + (
            ("ln_f.", "head.") if self.last else ())
        self.named = {}
        for name, (shape, values) in weights.items():
            if not name.startswith((*self.blocks, *ends)):
                continue
            value = torch.frombuffer(values, dtype=torch.float32).clone()
            self.named[name] = torch.nn.Parameter(value.reshape(shape))
            self.register_parameter(name.replace(".", "_"), self.named[name])

    def linear(self, x, name):
        return F.linear(x, self.named[name + ".weight"],
                        self.named.get(name + ".bias"))

    def norm(self, x, name):
        return F.layer_norm(x, x.shape[-1:], self.named[name + ".weight"],
                            self.named[name + ".bias"])

    def attention(self, x, at):
        rows, time, dim = x.shape
        q, k, v = (part.view(rows, time, self.heads, -1).transpose(1, 2)
                   for part in self.linear(x, at + "qkv").chunk(3, -1))
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.linear(mixed.transpose(1, 2).reshape(rows, time, dim),
                           at + "proj")

    def forward(self, x):
        if self.first:
            positions = self.named["positions.weight"][:x.shape[1]]
            x = F.embedding(x, self.named["embed.weight"]) + positions
        for block in self.blocks:
            x = x + self.attention(self.norm(x, block + "ln1"), block + "attn.")
            up = self.linear(self.norm(x, block + "ln2"), block + "mlp.up")
            x = x + self.linear(F.gelu(up), block + "mlp.down")
        if self.last:
            x = self.linear(self.norm(x, "ln_f"), "head")
        return x


def sum_of_losses(output, target):
    each = F.cross_entropy(output.reshape(-1, 256), target.reshape(-1),
                           reduction="none")
    return each.sum(dtype=torch.float64)


def stages_on(job, rank):
    """The stages that the rank computes, and how many there are."""
    with open(job["table"], encoding="utf-8") as file:
        rows = file.read().splitlines()
    stages = [sorted({int(s) for s in re.findall(r"(\d+)F\d+", row)})
              for row in rows]
    return stages[rank], 1 + max(max(row) for row in stages)


def make_stage(index, count, job, weights):
    rows = job["batch"] // job["M"]
    hidden = torch.empty(rows, job["context"], job["dim"], device="meta")
    tokens = torch.empty(rows, job["context"], dtype=torch.int64, device="meta")
    logits = torch.empty(rows, job["context"], 256, device="meta")
    stage = PipelineStage(
        Stage(index, count, job, weights), index, count, torch.device("cpu"),
        input_args=(tokens if index == 0 else hidden,),
        output_args=(logits if index == count - 1 else hidden,))
    # The greeting of neighbours opens NCCL's communicators. Gloo has its own
    # already, and where neighbours share a rank (V placement) the rank would
    # send to itself, which Gloo cannot.
    stage._get_init_p2p_neighbors_ops = list
    return stage


def step(schedule, own, count, tokens, target):
    arguments = (tokens,) if 0 in own else ()
    losses = []
    if count - 1 in own:
        schedule.step(*arguments, target=target, losses=losses)
    else:
        schedule.step(*arguments)
    return float(sum(losses)) if losses else None


@torch.no_grad()
def update(stages, scale, rate):
    for stage in stages:
        for weight in stage.submod.parameters():
            gradient = weight.grad * scale
            weight -= rate * gradient
            weight.grad = None


def train(job, rank):
    with open(job["data"], "rb") as file:
        text = file.read()
    own, count = stages_on(job, rank)
    weights = safetensors_file.read(job["init"])
    stages = [make_stage(s, count, job, weights) for s in own]
    schedule = _PipelineScheduleRuntime(stages, job["M"], sum_of_losses,
                                        scale_grads=False)
    schedule._load_csv(job["table"], format=job["format"])
    units = job["batch"] * job["context"]
    losses = []
    for number in range(job["steps"]):
        tokens, target = batch_of(text, job, number)
        loss = step(schedule, own, count, tokens, target)
        if loss is not None:
            losses.append(loss / units)
        update(stages, 1.0 / units, job["lr"])
    saved = {name: (list(w.shape), w.detach().flatten().tolist())
             for stage in stages for name, w in stage.submod.named.items()}
    safetensors_file.write(f"{job['save']}.{rank}", saved)
    return losses


def run_rank(job, rank, folder):
    """In a process of its own; its exit status."""
    try:
        torch.set_num_threads(1)
        dist.init_process_group("gloo", rank=rank, world_size=job["P"],
                                init_method=f"file://{folder}/store")
        losses = train(job, rank)
        if losses:
            with open(f"{folder}/losses", "w", encoding="utf-8") as file:
                json.dump(losses, file)
        dist.barrier()
        dist.destroy_process_group()
        return 0
    except Exception:
        traceback.print_exc()
        return 1


def run_job(job):
    with tempfile.TemporaryDirectory() as folder:
        children = []
        for rank in range(job["P"]):
            child = os.fork()
            if child == 0:
                status = run_rank(job, rank, folder)
                sys.stderr.flush()
                os._exit(status)
            children.append(child)
        failed = [rank for rank, child in enumerate(children)
                  if os.waitpid(child, 0)[1] != 0]
        if failed:
            return {"error": f"ranks {failed} failed"}
        with open(f"{folder}/losses", encoding="utf-8") as file:
            return {"losses": json.load(file)}


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        jobs = json.load(file)
    print(json.dumps({"torch": torch.__version__}), flush=True)
    for job in jobs:
        print(json.dumps(run_job(job)), flush=True)


if __name__ == "__main__":
    main()
