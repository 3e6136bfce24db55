"""Safetensors files, read and written independently of the project's own code."""

import array
import json
import struct


def read(path):
    """{name: (shape, array of float32)}"""
    with open(path, "rb") as file:
        data = file.read()
    (length,) = struct.unpack_from("<Q", data)
    header = json.loads(data[8:8 + length])
    header.pop("__metadata__", None)
    tensors = {}
    for name, entry in header.items():
        begin, end = (8 + length + at for at in entry["data_offsets"])
        if entry["dtype"] != "F32":
            raise RuntimeError(f"{name} is {entry['dtype']}")
        tensors[name] = (entry["shape"], array.array("f", data[begin:end]))
    return tensors


def write(path, tensors):
    header, parts, at = {}, [], 0
    for name, (shape, values) in tensors.items():
        raw = array.array("f", values).tobytes()
        header[name] = {"dtype": "F32", "shape": list(shape),
                        "data_offsets": [at, at + len(raw)]}
        parts.append(raw)
        at += len(raw)
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + b"".join(parts))
