#!/usr/bin/env python3
"""The clients of scripts/soak-serve.sh, and their ledger.

usage: soak_serve_load.py PORT PID SECONDS LEDGER      load the server, and write the ledger
       soak_serve_load.py --compare LEDGER ACCESS_LOG  compare it with the access log

The ledger has each request with what became of it: the status of its answer, or "gone" if its client
did not wait for one. An answer that never comes, a second one, and one of another request are errors.
"""
import asyncio
import collections
import json
import os
import random
import socket
import statistics
import struct
import sys
import time

CLIENTS = 16
TENSOR = struct.pack("<1024f", *(i % 97 / 97 for i in range(1024)))
ANSWER_SECONDS = 30
# The server may answer with one of these: a result, a full queue, a fault, or a deadline.
EXPECTED = {200, 429, 500, 503, 504}
LOAD_PATH = "/v2/repository/models/glyphs/load"


def post(path, body, fields=""):
    return f"POST {path} HTTP/1.1\r\nHost: soak\r\nContent-Length: {len(body)}\r\n{fields}\r\n".encode() + body


def request_text(name, timeout=None):
    header = json.dumps({
        "id": name,
        "inputs": [{"name": "image", "datatype": "FP32", "shape": [1, 1, 32, 32],
                    "parameters": {"binary_data_size": len(TENSOR)}}],
    }).encode()
    fields = f"Inference-Header-Content-Length: {len(header)}\r\n"
    if timeout is not None:
        fields += f"X-Request-Timeout: {timeout}\r\n"
    return post("/v2/models/glyphs/infer", header + TENSOR, fields)


async def read_answer(reader):
    head = await reader.readuntil(b"\r\n\r\n")
    lines = head.decode().split("\r\n")
    fields = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines[1:])}
    return int(lines[0].split()[1]), await reader.readexactly(int(fields.get("content-length", 0)))


class Soak:
    def __init__(self, port, pid):
        self.port, self.pid = port, pid
        self.ledger, self.errors, self.memory = {}, [], []
        self.reloads = 0

    def new_name(self):
        name = f"r{len(self.ledger)}"
        self.ledger[name] = "open"
        return name

    async def take(self, reader, name):
        status, body = await asyncio.wait_for(read_answer(reader), ANSWER_SECONDS)
        if self.ledger[name] != "open":
            self.errors.append(f"{name} was answered twice")
        self.ledger[name] = status
        if status not in EXPECTED:
            self.errors.append(f"{name} got {status}: {body[:200]!r}")
        if status == 200 and json.loads(body).get("id") != name:
            self.errors.append(f"{name} got the answer of another request")

    async def wait_for_answers(self, reader, writer, count, timeout=None):
        names = [self.new_name() for _ in range(count)]
        writer.write(b"".join(request_text(name, timeout) for name in names))
        for name in names:
            await self.take(reader, name)

    # Leaves at some time: with half a request, without an answer, in order or by a reset.
    async def vanish(self, writer):
        name = self.new_name()
        self.ledger[name] = "gone"
        text = request_text(name)
        writer.write(text[: random.choice((len(text) // 2, len(text)))])
        await asyncio.sleep(random.choice((0, 0.001, 0.01)))
        if random.random() < 0.5:
            writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        writer.close()

    async def client(self, end):
        while time.monotonic() < end:
            reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
            try:
                await self.wait_for_answers(reader, writer, 1)
                await self.wait_for_answers(reader, writer, random.randint(2, 5))
                await self.wait_for_answers(reader, writer, 1, timeout="2ms")
                await self.vanish(writer)
            finally:
                writer.close()

    async def reload(self, end):
        while time.monotonic() < end:
            await asyncio.sleep(2)
            reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
            writer.write(post(LOAD_PATH, b""))
            status, body = await asyncio.wait_for(read_answer(reader), 60)
            writer.close()
            self.reloads += 1
            if status != 200:
                self.errors.append(f"the model was not loaded again: {status} {body[:200]!r}")

    async def watch_memory(self, end):
        while time.monotonic() < end:
            with open(f"/proc/{self.pid}/statm") as file:
                self.memory.append(int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE"))
            await asyncio.sleep(0.5)

    async def run(self, seconds):
        end = time.monotonic() + seconds
        tasks = [self.client(end) for _ in range(CLIENTS)] + [self.reload(end), self.watch_memory(end)]
        await asyncio.gather(*tasks)


# The last quarter of the time must not need more than the second one, but for some noise.
def memory_problem(samples):
    quarter = len(samples) // 4
    if quarter < 4:
        return None
    before = statistics.median(samples[quarter:2 * quarter])
    after = statistics.median(samples[-quarter:])
    print(f"memory: {before / 2**20:.1f} MB in the second quarter, {after / 2**20:.1f} MB in the last one")
    return None if after <= before * 1.1 + 2**23 else "the memory of the server grew"


def load(port, pid, seconds, path):
    soak = Soak(int(port), int(pid))
    asyncio.run(soak.run(float(seconds)))
    soak.errors += [f"{name} was not answered" for name, what in soak.ledger.items() if what == "open"]
    if problem := memory_problem(soak.memory):
        soak.errors.append(problem)
    with open(path, "w") as file:
        json.dump(soak.ledger, file)
    counts = collections.Counter(str(what) for what in soak.ledger.values())
    print(f"requests: {len(soak.ledger)}, {soak.reloads} reloads;", ", ".join(f"{n} {w}" for w, n in counts.items()))
    return soak.errors


def compare(ledger_path, log_path):
    with open(ledger_path) as file:
        ledger = json.load(file)
    lines = collections.defaultdict(list)
    with open(log_path) as file:
        for line in map(json.loads, file):
            if "id" in line:
                lines[line["id"]].append(line["status"])
    errors = [f"{name} has the lines {own} in the log" for name, own in lines.items() if len(own) > 1]
    for name, what in ledger.items():
        own = lines.get(name, [])
        if what == 200 and own != [200]:
            errors.append(f"{name} was answered, and has the lines {own} in the log")
        if isinstance(what, int) and own and own[0] != what:
            errors.append(f"{name} got {what}, and the log says {own[0]}")
    print(f"log: {sum(map(len, lines.values()))} lines of requests with an id")
    return errors


def main():
    errors = compare(*sys.argv[2:]) if sys.argv[1] == "--compare" else load(*sys.argv[1:])
    for error in errors[:20]:
        print(f"soak-serve: {error}", file=sys.stderr)
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
