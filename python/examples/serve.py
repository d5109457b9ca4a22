"""Requests of many clients in one event loop: await, a time limit, and cancellation.

    python3 python/examples/serve.py glyphs.rai
"""

import asyncio
import sys

import numpy as np

import millrace


async def answer(model: millrace.Model, request: int) -> str:
    picture = np.random.default_rng(request).random(model.inputs[0].shape, np.float32)
    scores = await model.submit(picture, deadline=5.0)
    return f"request {request}: class {scores.argmax()}"


async def serve(model: millrace.Model) -> None:
    answers = await asyncio.gather(*(answer(model, request) for request in range(20)))
    print(answers[0])
    print(f"{len(answers)} requests answered")
    late = asyncio.ensure_future(answer(model, 20))
    await asyncio.sleep(0)
    late.cancel()  # cancels the job, too
    await asyncio.wait([late])
    print("cancelled" if late.cancelled() else late.result())


if __name__ == "__main__":
    asyncio.run(serve(millrace.load(sys.argv[1])))
