"""The service as people usually write it: FastAPI, numpy, lru_cache."""

from functools import lru_cache

from fastapi import FastAPI, Response
from recipes import numpy_table

app = FastAPI()


@lru_cache(maxsize=128)
def cached_bytes(length, dim):
    return numpy_table(length, dim).tobytes()


@app.get("/cached")
async def cached(length: int, dim: int):
    return Response(content=cached_bytes(length, dim), media_type="application/octet-stream")


@app.get("/computed")
async def computed(length: int, dim: int):
    array = numpy_table(length, dim)
    return Response(content=array.tobytes(), media_type="application/octet-stream")
